//! Functions of the query language: what they take, what they give, how they compute.
//!
//! Scalar functions only; aggregates are in `select`. A function is chosen by name and argument types
//! ([`candidates`]); its types are then fixed, and calls see wire bytes. Old spellings (`toDate`,
//! `blobAsInt`, ...) name the same functions.

mod blob;
mod collection;
pub mod foreign;
mod format;
mod json;
mod mask;
mod number;
mod time;
mod token;
pub mod user;
mod vector;

pub use number::{cast_function, negate_function, operator_function};
pub use token::token_function;
pub use user::{Choice, User};

use crate::context::Ids;
use crate::error::QueryError;
use crate::fault::FunctionFault;
use model::types::DataType;
use model::value::ValueError;
use std::fmt;
use std::sync::Arc;

/// What a function may look at besides its arguments.
pub struct CallContext<'c> {
    pub now_micros: i64,
    pub ids: &'c dyn Ids,
}

impl CallContext<'_> {
    pub fn now_millis(&self) -> i64 {
        self.now_micros.div_euclid(1000)
    }
}

/// The arguments of one call.
pub type Args<'a> = [Option<&'a [u8]>];

pub type CallResult = Result<Option<Vec<u8>>, QueryError>;

/// Computes one result from wire values; `None` is null.
pub type Body = fn(&Function, &Args<'_>, &CallContext<'_>) -> CallResult;

/// One scalar function with its types fixed.
#[derive(Clone)]
pub struct Function {
    /// As it appears in messages, for example `system.to_json`.
    pub name: Arc<str>,
    pub args: Vec<DataType>,
    pub returns: DataType,
    pub body: Body,
    /// Keeps the order of its argument: may end a GROUP BY.
    pub monotonic: bool,
    /// The user's function; `None`: it is built in.
    pub user: Option<Arc<User>>,
}

impl Function {
    pub fn new(name: &str, args: Vec<DataType>, returns: DataType, body: Body) -> Function {
        Function { name: format!("system.{name}").into(), args, returns, body, monotonic: false, user: None }
    }

    pub fn monotonic(mut self) -> Function {
        self.monotonic = true;
        self
    }

    pub fn call(&self, args: &Args<'_>, context: &CallContext<'_>) -> CallResult {
        (self.body)(self, args, context)
    }

    /// The failure of a call, for the client.
    pub fn failure(&self, error: ValueError) -> QueryError {
        FunctionFault::Failed {
            function: self.name.strip_prefix("system.").unwrap_or(&self.name).into(),
            arguments: self.args.iter().map(|t| t.to_string()).collect(),
            why: error,
        }
        .into()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `system.to_date : (timeuuid) -> date`, as messages list signatures.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: Vec<String> = self.args.iter().map(|t| t.to_string()).collect();
        write!(f, "{} : ({}) -> {}", self.name, args.join(", "), self.returns)
    }
}

/// An argument as far as it is known before the function is chosen.
pub struct Argument {
    pub data_type: Option<DataType>,
    /// As written, for messages.
    pub text: String,
}

/// The functions of a name. `args` are the types of the arguments as far as they are known, `wanted`
/// is the type of the place the result goes to; functions of any type need them. `None`: no such name.
pub fn candidates(
    name: &str,
    args: &[Argument],
    wanted: Option<&DataType>,
) -> Option<Result<Vec<Function>, QueryError>> {
    let groups = [time::find(name), blob::find(name), number::find(name)];
    if let Some(found) = groups.into_iter().flatten().next() {
        return Some(Ok(found));
    }
    json::find(name, args, wanted)
        .or_else(|| collection::find(name, args))
        .or_else(|| vector::find(name, args))
        .or_else(|| mask::find(name, args))
        .or_else(|| format::find(name, args))
}

/// The type of an argument that a function of any type must know.
fn known(name: &str, args: &[Argument], at: usize) -> Result<DataType, QueryError> {
    match args.get(at).map(|arg| &arg.data_type) {
        None => {
            Err(FunctionFault::WrongArguments { function: name.to_string(), signature: "any".to_string() }
                .into())
        }
        Some(Some(data_type)) => Ok(data_type.clone()),
        _ => Err(FunctionFault::Untyped {
            function: name.to_string(),
            argument: args.get(at).map_or(String::new(), |arg| arg.text.clone()),
        }
        .into()),
    }
}

fn wrong_count(name: &str, wanted: &'static str, given: usize) -> QueryError {
    FunctionFault::WrongCount { function: name.to_string(), wanted, given }.into()
}

/// The argument, when it is there and means something.
fn present<'a>(function: &Function, args: &Args<'a>, at: usize) -> Option<&'a [u8]> {
    let bytes = args.get(at).copied().flatten()?;
    let meaningless = function.args.get(at).is_some_and(DataType::is_empty_meaningless);
    (!(bytes.is_empty() && meaningless)).then_some(bytes)
}

fn as_i32(bytes: &[u8]) -> Option<i32> {
    bytes.try_into().ok().map(i32::from_be_bytes)
}

fn as_i64(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(i64::from_be_bytes)
}

fn as_u32(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}
