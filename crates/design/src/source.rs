//! The files under review and places in them.

use cql_syntax::{LineIndex, Position, Span};

/// One text with its name and line starts.
#[derive(Debug, Clone)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
    lines: LineIndex,
}

impl SourceFile {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        SourceFile { name: name.into(), lines: LineIndex::new(&text), text }
    }

    /// Line and column of a byte offset, both from 1.
    pub fn position(&self, offset: u32) -> Position {
        self.lines.position(&self.text, offset)
    }

    /// The line (from 1) without its end; empty when there is none.
    pub fn line(&self, line: u32) -> &str {
        self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("")
    }
}

/// A span in one of the files.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Index into the list of files.
    pub file: usize,
    pub span: Span,
}
