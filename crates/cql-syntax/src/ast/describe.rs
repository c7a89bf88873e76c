//! DESCRIBE.

use super::name::{Ident, QualifiedName};

/// `DESC[RIBE] target [WITH INTERNALS]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Describe {
    pub target: DescribeTarget,
    pub internals: bool,
}

/// What is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribeTarget {
    Cluster,
    /// `[FULL] SCHEMA`
    Schema {
        full: bool,
    },
    Keyspaces,
    /// `[ONLY] KEYSPACE [name]`; without a name the current keyspace
    Keyspace {
        only: bool,
        name: Option<Ident>,
    },
    Tables,
    Table(QualifiedName),
    Index(QualifiedName),
    View(QualifiedName),
    Types,
    Type(QualifiedName),
    Functions,
    Function(QualifiedName),
    Aggregates,
    Aggregate(QualifiedName),
    /// `DESCRIBE name`: a keyspace, else a table, index or view
    Any(QualifiedName),
    /// Ours: `DESCRIBE ACCESS PATTERNS`
    Patterns,
    /// Ours: `DESCRIBE ACCESS PATTERN name`
    Pattern(QualifiedName),
}
