//! CQL text to syntax trees and back, with source positions.
//!
//! [`parse_statement`] reads one statement, [`parse_script`] a file of many. The tree is in [`ast`]; every node of it
//! prints as canonical CQL through [`std::fmt::Display`], and reading that text again gives an equal tree.
//!
//! The language is that of Cassandra 5.0 and, beside it, `BETWEEN`, `NOT IN` and `NOT CONTAINS` of its successor,
//! ScyllaDB's `BYPASS CACHE` and `USING TIMEOUT`, and our own `EXPLAIN` and `ACCESS PATTERN` statements.
//!
//! This crate is pure: it knows no schema, resolves no name and checks no rule that needs one. Any text whatsoever
//! gives a tree or an error, never a panic and never an endless loop; nesting is bounded by [`DEPTH_MAX`].

pub mod ast;
pub mod duration;
mod error;
mod lex;
mod parse;
mod print;
pub mod quote;
mod script;
mod span;

pub use ast::{ParsedStatement, Statement};
pub use error::SyntaxError;
pub use lex::{Comment, Keyword, KeywordClass};
pub use parse::{DEPTH_MAX, OPERATORS_MAX};
pub use quote::maybe_quote;
pub use script::Script;
pub use span::{LineIndex, Position, Span};

/// Reads one statement. It may end with semicolons; anything else behind it is an error.
pub fn parse_statement(text: &str) -> Result<ParsedStatement, SyntaxError> {
    parse::parse_one(text)
}

/// Reads a file: statements separated by semicolons. Collects all errors and goes on behind each.
pub fn parse_script(text: &str) -> Script {
    parse::parse_all(text)
}
