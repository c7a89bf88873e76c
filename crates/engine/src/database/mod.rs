//! A database: its directory, how it is opened and recovered, and the handle to it.

pub mod catalogue;
mod engine;
mod error;
mod files;
mod layout;
mod open;
mod options;
mod replay;
pub(crate) mod shared;
mod snapshot;
mod verify;

pub use engine::{Engine, Opened};
pub use error::OpenError;
pub use options::EngineOptions;
pub use snapshot::Snapshot;
pub use verify::{VerifyProgress, VerifyReport, verify};
