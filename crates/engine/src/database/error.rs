//! Why a database does not open. Every message says which file and what the operator can do.

use crate::log::LogOpenError;
use crate::manifest::ManifestError;
use std::fmt;
use std::io;
use store::StoreError;

#[derive(Debug)]
pub enum OpenError {
    /// The options contradict each other or the machine.
    Invalid(String),
    /// Another process has the database open.
    Locked {
        dir: String,
    },
    Log(LogOpenError),
    Manifest(ManifestError),
    /// There are data files but no manifest that says what they mean.
    ManifestMissing {
        dir: String,
    },
    CatalogueDamaged {
        file: String,
        offset: u64,
        what: String,
    },
    /// There is data, but no catalogue that says which tables it belongs to.
    CatalogueMissing {
        file: String,
    },
    /// A table file the manifest names is not there.
    FileMissing {
        file: String,
    },
    /// A table file cannot be read.
    Table {
        file: String,
        error: StoreError,
    },
    Io {
        context: String,
        error: io::Error,
    },
}

impl OpenError {
    pub(crate) fn io(context: impl fmt::Display) -> impl FnOnce(io::Error) -> OpenError {
        let context = context.to_string();
        move |error| OpenError::Io { context, error }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Invalid(text) => f.write_str(text),
            OpenError::Locked { dir } => {
                write!(f, "the database in {dir} is open in another process; stop that one first")
            }
            OpenError::Log(error) => error.fmt(f),
            OpenError::Manifest(error) => error.fmt(f),
            OpenError::ManifestMissing { dir } => write!(
                f,
                "{dir} holds data but no MANIFEST. Put the file back, or restore the database from a backup; to \
                 begin an empty database, use another directory"
            ),
            OpenError::CatalogueDamaged { file, offset, what } => write!(
                f,
                "the catalogue is damaged: {file} at offset {offset}: {what}. Nothing was changed. Restore it from a copy, or restore the database from a backup"
            ),
            OpenError::CatalogueMissing { file } => write!(
                f,
                "the catalogue {file} is missing although the database holds data. Put it back, or restore the \
                 database from a backup"
            ),
            OpenError::FileMissing { file } => write!(
                f,
                "the table file {file} is missing. Put it back, or restore the database from a backup"
            ),
            OpenError::Table { file, error } => write!(f, "the table file {file} does not open: {error}"),
            OpenError::Io { context, error } => write!(f, "{context}: {error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<LogOpenError> for OpenError {
    fn from(error: LogOpenError) -> OpenError {
        OpenError::Log(error)
    }
}

impl From<ManifestError> for OpenError {
    fn from(error: ManifestError) -> OpenError {
        OpenError::Manifest(error)
    }
}
