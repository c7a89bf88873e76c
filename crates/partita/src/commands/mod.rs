//! One file per subcommand.

pub mod backup;
pub mod cluster;
mod csv;
pub mod design;
pub mod dynamo;
mod files;
pub mod keys;
pub mod lsp;
pub mod patterns;
mod progress;
mod query_log;
pub mod review;
pub mod serve;
mod server_at;
pub mod simulate;
mod tally;
pub mod top;
pub mod transfer;
pub mod verify;

/// Why a command ends without success.
pub enum Failure {
    /// The command line or configuration is wrong: exit 2.
    Usage(String),
    /// It worked, and what it printed is bad news: exit 1.
    Findings,
    /// It was right, but did not work: exit 1.
    Failed(String),
}
