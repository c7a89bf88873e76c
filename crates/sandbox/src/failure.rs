//! Why a call has no result.

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing here runs its language.
    NotRun,
    /// Its source cannot be compiled, or does not have what it must have.
    Broken(String),
    /// It ran and failed, in its own words.
    Failed(String),
    /// It did more than it may between two turns of others.
    TooLong,
    /// It wanted more memory than it may have.
    TooMuchMemory { bytes_max: usize },
    /// Its arguments are larger than what a call takes.
    LargeArguments { bytes_max: usize },
    /// What it gave is larger than what a call gives.
    LargeResult { bytes_max: usize },
    /// What it gave is not of its type.
    WrongResult(String),
}
