//! A database: its directory, how it is opened and recovered, and the handle to it.

pub mod catalogue;
mod copy;
mod engine;
mod error;
mod files;
pub(crate) mod late;
mod layout;
pub(crate) mod limits;
mod open;
mod options;
pub(crate) mod points;
pub(crate) mod replace;
mod replay;
pub(crate) mod shared;
mod sizes;
mod snapshot;
mod verify;

pub use copy::{Copied, CopyError, copy_database};
pub use engine::{Engine, Opened};
pub use error::OpenError;
pub use options::EngineOptions;
pub use snapshot::Snapshot;
pub use verify::{TornEnd, VerifyProgress, VerifyReport, verify};
