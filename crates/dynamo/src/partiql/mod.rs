//! PartiQL: statements to typed trees, and those to the same requests that the other operations make.

mod keywords;
mod lexer;
mod parser;
mod plan;
mod statement;
mod values;

pub use plan::{Options, Plan};
pub use statement::{Columns, Parsed, Returning, SelectStatement, WriteStatement};

use crate::error::ApiError;
use crate::request::Statement;

/// Reads a statement with its parameters filled in.
pub fn parse(statement: &Statement) -> Result<Parsed, ApiError> {
    parser::parse(&statement.text, &statement.parameters)
}

#[cfg(test)]
mod tests;
