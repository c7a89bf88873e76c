//! COMMENT ON, SECURITY LABEL ON, and tables like others.

use super::name::{Ident, QualifiedName, Text};
use super::property::Property;

/// `COMMENT ON object IS 'text' | NULL`, `SECURITY LABEL [FOR provider] ON object IS 'text' | NULL`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetNote {
    pub is_label: bool,
    pub provider: Option<Ident>,
    pub object: NoteObject,
    pub text: Option<Text>,
}

/// What a note is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteObject {
    Keyspace(Ident),
    Table(QualifiedName),
    /// `[keyspace.]table.column`
    Column(QualifiedName, Ident),
    Type(QualifiedName),
    /// `[keyspace.]type.field`
    Field(QualifiedName, Ident),
}

/// `CREATE TABLE [IF NOT EXISTS] name LIKE source [WITH [INDEXES] [AND] property AND ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyTable {
    pub if_not_exists: bool,
    pub name: QualifiedName,
    pub source: QualifiedName,
    pub with_indexes: bool,
    pub properties: Vec<Property>,
}
