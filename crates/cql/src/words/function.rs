//! Words for calls of functions.

use super::{CqlError, of_kind};
use query::fault::{FunctionFault, Kind};
use sandbox::Failure;

pub fn error(fault: FunctionFault, kind: Kind) -> CqlError {
    let failure = |function: String, arguments: Vec<String>, message: String| CqlError::FunctionFailure {
        keyspace: "system".into(),
        function,
        arguments,
        message,
    };
    let from_json = |message: String| failure("from_json".into(), vec!["text".into()], message);
    let wrong_count = |function: &str| format!("Invalid number of arguments for function system.{function}");
    let text = match fault {
        FunctionFault::Failed { function, arguments, why } => {
            return failure(function, arguments, why.to_string());
        }
        FunctionFault::UserFailed { function, arguments, why } => {
            let (keyspace, name) = function.split_once('.').unwrap_or(("", &function));
            return CqlError::FunctionFailure {
                keyspace: keyspace.into(),
                function: name.into(),
                message: format!(
                    "execution of '{function}[{}]' failed: {}",
                    arguments.join(", "),
                    failure_words(&why)
                ),
                arguments,
            };
        }
        FunctionFault::UnreadableJson { text } => {
            return from_json(format!("Could not decode JSON string '{text}'"));
        }
        FunctionFault::MismatchedJson { why } => {
            return from_json(format!("org.apache.cassandra.serializers.MarshalException: {why}"));
        }
        FunctionFault::WrongCount { function, wanted, given } => {
            format!("{}: {wanted} required but {given} provided", wrong_count(&function))
        }
        FunctionFault::WrongArguments { function, signature } => {
            format!("{}({signature})", wrong_count(&function))
        }
        FunctionFault::Untyped { function, argument } => format!(
            "Cannot infer type of argument {argument} in call to function system.{function}(any): use type casts to disambiguate"
        ),
        FunctionFault::ArgumentOfKind { function, wanted, argument, found } => format!(
            "Function system.{function} requires a {wanted} argument, but found argument {argument} of type {found}"
        ),
        FunctionFault::ArgumentOfTypes { function, wanted, argument, found } => format!(
            "Function system.{function} requires an argument of type [{wanted}], but found argument {argument} of type {found}"
        ),
        FunctionFault::NotBinary { function, value, returns } => {
            let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
            format!(
                "In call to function system.{function}, value 0x{hex} is not a valid binary representation for type {returns}"
            )
        }
        FunctionFault::NotANumber { text } => {
            format!("unable to convert string '{text}' to a value of type long")
        }
        FunctionFault::Negative => "value must be non-negative".into(),
        FunctionFault::UnknownUnit { what, name, known } => {
            format!("Unsupported {what} unit: {name}. Supported units are: {}", known.join(", "))
        }
        FunctionFault::NotInSelection { function } => {
            format!("{function}() cannot be used in the selection clause of a SELECT statement")
        }
        FunctionFault::UnknownHash { name } => format!("Hash algorithm not found: {name}"),
        FunctionFault::LongPadding => {
            "The padding argument for function mask should be single-character".into()
        }
        FunctionFault::FloorBelowDay { duration } => format!(
            "The floor on date values cannot be computed for the {duration} duration as precision is below 1 day"
        ),
        FunctionFault::FloorBelowMillisecond { duration } => format!(
            "The floor cannot be computed for the {duration} duration as precision is below 1 millisecond"
        ),
        FunctionFault::Dimensions => "All arguments must have the same vector dimensions".into(),
        FunctionFault::ZeroVector => {
            "Function system.similarity_cosine doesn't support all-zero vectors.".into()
        }
        FunctionFault::ResultTooLarge { function, bytes_max } => {
            format!("The result of {function} is larger than {bytes_max} bytes, which is the limit")
        }
        FunctionFault::NotRun { function } => format!(
            "{function} cannot be called: functions and aggregates written in Java or JavaScript are kept with the schema, but \
             Partita runs no code inside the server. Compute the value in the application, or use the native functions"
        ),
        FunctionFault::NotEnabled { function } => format!(
            "{function} cannot be called: this server keeps functions and does not run them. Start it with --functions \
             (PARTITA_FUNCTIONS=true, or functions = true in partita.toml) to run those written in Lua and WebAssembly"
        ),
        FunctionFault::NotSummable { data_type } => format!("{data_type} is not a number type"),
    };
    of_kind(kind, text)
}

/// Why a function of a user has no result.
pub fn failure_words(why: &Failure) -> String {
    match why {
        Failure::NotRun => "nothing here runs its language".into(),
        Failure::Broken(text) => format!("it cannot be compiled: {text}"),
        Failure::Failed(text) => text.clone(),
        Failure::TooLong => {
            "it was stopped, because the functions of one row or statement may work for a few milliseconds only".into()
        }
        Failure::TooMuchMemory { bytes_max } => {
            format!("it was stopped, because it wanted more than {bytes_max} bytes of memory")
        }
        Failure::LargeArguments { bytes_max } => {
            format!("its arguments are larger than {bytes_max} bytes, which is the limit")
        }
        Failure::LargeResult { bytes_max } => {
            format!("its result is larger than {bytes_max} bytes, which is the limit")
        }
        Failure::WrongResult(text) => format!("its result is not of its type: {text}"),
    }
}
