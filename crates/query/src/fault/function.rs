//! Calls of functions that are impossible, or that failed.

use super::Kind;
use model::value::ValueError;

#[derive(Clone, Debug, PartialEq)]
pub enum FunctionFault {
    /// `wanted` is a number, or several.
    WrongCount {
        function: String,
        wanted: &'static str,
        given: usize,
    },
    /// `signature` says what the function takes.
    WrongArguments {
        function: String,
        signature: String,
    },
    /// The type of an argument does not follow from anything.
    Untyped {
        function: String,
        argument: String,
    },
    /// `wanted` says what kind of type it takes.
    ArgumentOfKind {
        function: String,
        wanted: &'static str,
        argument: String,
        found: String,
    },
    /// `wanted` lists the types it takes.
    ArgumentOfTypes {
        function: String,
        wanted: &'static str,
        argument: String,
        found: String,
    },
    NotBinary {
        function: String,
        value: Vec<u8>,
        returns: String,
    },
    NotANumber {
        text: String,
    },
    Negative,
    UnknownUnit {
        what: &'static str,
        name: String,
        known: Vec<String>,
    },
    /// The function needs to know what its result is for.
    NotInSelection {
        function: String,
    },
    UnknownHash {
        name: String,
    },
    LongPadding,
    FloorBelowDay {
        duration: String,
    },
    FloorBelowMillisecond {
        duration: String,
    },
    Dimensions,
    ZeroVector,
    ResultTooLarge {
        function: String,
        bytes_max: usize,
    },
    NotSummable {
        data_type: String,
    },
    /// The function is kept with the schema, but not run.
    NotRun {
        function: String,
    },
    /// The server was not started to run functions.
    NotEnabled {
        function: String,
    },
    /// A user's function ran and failed, or was stopped.
    UserFailed {
        function: String,
        arguments: Vec<String>,
        why: sandbox::Failure,
    },
    /// It ran and failed.
    Failed {
        function: String,
        arguments: Vec<String>,
        why: ValueError,
    },
    UnreadableJson {
        text: String,
    },
    MismatchedJson {
        why: ValueError,
    },
}

impl FunctionFault {
    pub fn kind(&self) -> Kind {
        match self {
            FunctionFault::Failed { .. }
            | FunctionFault::UserFailed { .. }
            | FunctionFault::UnreadableJson { .. }
            | FunctionFault::MismatchedJson { .. } => Kind::FunctionFailed,
            FunctionFault::ResultTooLarge { .. } => Kind::TooLarge,
            FunctionFault::WrongCount { .. }
            | FunctionFault::WrongArguments { .. }
            | FunctionFault::Untyped { .. }
            | FunctionFault::ArgumentOfKind { .. }
            | FunctionFault::ArgumentOfTypes { .. }
            | FunctionFault::NotBinary { .. }
            | FunctionFault::NotANumber { .. }
            | FunctionFault::Negative
            | FunctionFault::UnknownUnit { .. }
            | FunctionFault::NotInSelection { .. }
            | FunctionFault::UnknownHash { .. }
            | FunctionFault::LongPadding
            | FunctionFault::FloorBelowDay { .. }
            | FunctionFault::FloorBelowMillisecond { .. }
            | FunctionFault::Dimensions
            | FunctionFault::ZeroVector
            | FunctionFault::NotSummable { .. }
            | FunctionFault::NotRun { .. }
            | FunctionFault::NotEnabled { .. } => Kind::Invalid,
        }
    }
}
