//! The result of reading a file of statements.

use crate::ast::ParsedStatement;
use crate::error::SyntaxError;
use crate::lex::Comment;

/// What a file of statements holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The statements that could be read, in order.
    pub statements: Vec<ParsedStatement>,
    /// Every syntax error, in order: at most one per statement, in a batch one per inner statement.
    pub errors: Vec<SyntaxError>,
    /// Every comment, in order.
    pub comments: Vec<Comment>,
}
