//! Syntax errors.

use std::fmt;

use crate::span::{Position, Span};

/// A text that is not CQL, with the place where it stops being so.
///
/// The message begins with Cassandra's sentence (tools match it), `line L:C no viable alternative at input 'x'` and
/// its kin, where C counts from 0; then, after a colon, ours. The fields count lines and columns from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The offending token; empty at the end of the text.
    pub span: Span,
    /// Line of the offending token, from 1.
    pub line: u32,
    /// Character within the line, from 1.
    pub column: u32,
    /// What to tell the user.
    pub message: String,
}

impl SyntaxError {
    /// The place, as one value.
    pub fn position(&self) -> Position {
        Position { line: self.line, column: self.column }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}
