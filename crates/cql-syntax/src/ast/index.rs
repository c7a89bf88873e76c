//! Indexes.

use super::name::{Ident, QualifiedName, Text};
use super::property::Property;
use crate::span::Span;

/// `CREATE [CUSTOM] INDEX [IF NOT EXISTS] [name] ON table (targets) [USING 'class'] [WITH OPTIONS = {...}]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateIndex {
    pub custom: bool,
    pub if_not_exists: bool,
    pub name: Option<Ident>,
    pub table: QualifiedName,
    /// May be empty (some custom indexes are on the row, not on a column).
    pub targets: Vec<IndexTarget>,
    pub using: Option<Text>,
    pub properties: Vec<Property>,
}

/// `column`, `keys(column)`, ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexTarget {
    pub kind: IndexTargetKind,
    pub column: Ident,
    pub span: Span,
}

/// Which part of the column is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexTargetKind {
    /// Just the column; of a collection this means its values.
    Simple,
    Values,
    Keys,
    Entries,
    Full,
}

impl IndexTargetKind {
    /// The word before the parentheses; empty for [`IndexTargetKind::Simple`].
    pub const fn word(self) -> &'static str {
        match self {
            IndexTargetKind::Simple => "",
            IndexTargetKind::Values => "values",
            IndexTargetKind::Keys => "keys",
            IndexTargetKind::Entries => "entries",
            IndexTargetKind::Full => "full",
        }
    }
}
