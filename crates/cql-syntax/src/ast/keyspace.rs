//! Keyspaces, and the shape that most DROP statements share.

use super::name::{Ident, QualifiedName};
use super::property::Property;

/// `CREATE KEYSPACE [IF NOT EXISTS] name WITH ...`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateKeyspace {
    pub if_not_exists: bool,
    pub name: Ident,
    /// Never empty.
    pub properties: Vec<Property>,
}

/// `ALTER KEYSPACE [IF EXISTS] name WITH ...`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterKeyspace {
    pub if_exists: bool,
    pub name: Ident,
    /// Never empty.
    pub properties: Vec<Property>,
}

/// `DROP KEYSPACE [IF EXISTS] name`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropKeyspace {
    pub if_exists: bool,
    pub name: Ident,
}

/// `DROP TABLE|TYPE|INDEX|MATERIALIZED VIEW|ACCESS PATTERN [IF EXISTS] name`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropNamed {
    pub if_exists: bool,
    pub name: QualifiedName,
}
