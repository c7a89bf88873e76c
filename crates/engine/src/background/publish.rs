//! From finished files to files that count.

use crate::compaction::Output;
use crate::database::shared::Shared;
use crate::manifest::{FileId, FileRecord};
use crate::table::Table;
use model::key::token_of;
use std::fmt;
use std::sync::Arc;
use store::{StoreError, TableConfig};

/// Why a background job did not finish. Logged once, where the job ends.
#[derive(Debug)]
pub(crate) enum JobError {
    Log(String),
    Compaction(crate::compaction::CompactionError),
    Manifest(crate::manifest::ManifestError),
    Open(StoreError),
    Io(std::io::Error),
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobError::Log(reason) => f.write_str(reason),
            JobError::Compaction(error) => error.fmt(f),
            JobError::Manifest(error) => error.fmt(f),
            JobError::Open(error) => error.fmt(f),
            JobError::Io(error) => error.fmt(f),
        }
    }
}

impl JobError {
    /// Whether a later attempt may succeed: the disk was full or failed, or the job was cancelled.
    pub fn may_pass(&self) -> bool {
        !matches!(
            self,
            JobError::Compaction(crate::compaction::CompactionError::Read(StoreError::Corrupt { .. }))
                | JobError::Open(StoreError::Corrupt { .. })
        )
    }
}

/// Makes the names of written files durable and opens them.
pub(crate) fn open_outputs(shared: &Shared, outputs: &[Output]) -> Result<Vec<Arc<Table>>, JobError> {
    if outputs.is_empty() {
        return Ok(Vec::new());
    }
    shared.disk.sync_dir(&shared.layout.tables).map_err(JobError::Io)?;
    let open = |output: &Output| {
        let table = Table::open(&*shared.disk, &output.path, output.number)?;
        // Before it replaces anything, what was written is what is read.
        assert_eq!(table.bytes(), output.finished.bytes, "{}", table.name());
        assert_eq!(*table.statistics(), output.finished.statistics, "{}", table.name());
        Ok(Arc::new(table))
    };
    outputs.iter().map(open).collect::<Result<_, _>>().map_err(JobError::Open)
}

/// What the manifest says about a file.
pub(crate) fn file_record(config: &TableConfig, table: &Table) -> FileRecord {
    let properties = table.properties();
    assert!(properties.first_prefix <= properties.last_prefix, "{}", table.name());
    assert_eq!(
        (properties.table, properties.incarnation),
        (config.id.0, config.incarnation),
        "{}",
        table.name()
    );
    FileRecord {
        id: FileId(table.number()),
        table: config.id,
        incarnation: config.incarnation,
        first_token: token_of(&properties.first_prefix),
        last_token: token_of(&properties.last_prefix),
        bytes: table.bytes(),
        log_max: table.statistics().log_max,
        details: Vec::new(),
    }
}
