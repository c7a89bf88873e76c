//! Where the files of a database lie.
//!
//! ```text
//! <dir>/LOCK  CATALOGUE  MANIFEST  log/<segment>.log  tables/<file>.table
//! ```

use crate::manifest::FileId;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub dir: PathBuf,
    pub log: PathBuf,
    pub tables: PathBuf,
}

impl Layout {
    pub fn new(dir: &Path) -> Layout {
        Layout { dir: dir.to_owned(), log: dir.join("log"), tables: dir.join("tables") }
    }

    pub fn lock(&self) -> PathBuf {
        self.dir.join("LOCK")
    }

    pub fn table(&self, id: FileId) -> PathBuf {
        self.tables.join(format!("{:016x}.table", id.0))
    }

    /// The number in a table file's name; `None` for any other file.
    pub fn parse_table_name(name: &Path) -> Option<FileId> {
        let hex = name.to_str()?.strip_suffix(".table")?;
        let id = (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok())??;
        Some(FileId(id))
    }
}
