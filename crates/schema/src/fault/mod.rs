//! Why a change of the schema is refused, or not all of it taken: facts, sorted by topic. The words are a dialect's.
//!
//! A sentence that clients of Cassandra know has a variant of its own here, because only that says which one it is; what tells one
//! object from another is a field.

mod bucketing;
mod column;
mod compaction;
mod index;
mod keyspace;
mod option;
mod routine;
mod row_ttl;
mod table;
mod view;
mod warning;

pub use bucketing::BucketingFault;
pub use column::{ColumnFault, ConstraintFault, TypeFault};
pub use compaction::{CompactionFault, CompressionFault};
pub use index::{AttachedFault, IndexFault};
pub use keyspace::{KeyspaceFault, NoteFault, ReplicationFault, Resource, SystemFault};
pub use option::{LimitFault, OptionFault, PropertyFault, TenantFault};
pub use routine::RoutineFault;
pub use row_ttl::RowTtlFault;
pub use table::{CompactFault, ForeignFault, KeyFault, TableFault};
pub use view::{ProjectionFault, TotalsFault, Unkept, ViewFault};
pub use warning::{NoEffect, Warning};

use crate::json::Damage;

/// What the caller must do next, whatever the facts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ask in another way: the statement or its values break a rule.
    Invalid,
    /// Ask for less at a time.
    TooLarge,
    /// Create it first, or look for the right name.
    NotFound,
    /// It is there already.
    AlreadyExists,
    /// A setting has a value that makes no sense.
    Misconfigured,
    /// The words themselves are wrong.
    Syntax,
    /// Bytes that only this server makes were changed on the way, such as a paging state.
    Malformed,
    /// A function failed on its arguments.
    FunctionFailed,
    /// Somebody else may, this role may not.
    Unauthorized,
    /// The same may succeed later.
    Overloaded,
    /// Nobody can read it: an operator must look.
    Corrupt,
    /// Nobody can tell whether it was done; look before asking again.
    Unknown,
    /// The server is not in a state to do this, and says why in its log.
    Unavailable,
}

/// One refusal. Each topic has a type of its own, so that a function can say in its signature what may be wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaError {
    KeyspaceExists(String),
    TableExists {
        keyspace: String,
        table: String,
    },
    TypeExists {
        keyspace: String,
        name: String,
    },
    PatternExists {
        keyspace: String,
        name: String,
    },
    KeyspaceMissing(String),
    TableMissing {
        keyspace: String,
        table: String,
    },
    TypeMissing {
        keyspace: String,
        name: String,
    },
    PatternMissing {
        keyspace: String,
        name: String,
    },
    System(SystemFault),
    Keyspace(KeyspaceFault),
    Replication(ReplicationFault),
    Note(NoteFault),
    Table(TableFault),
    Key(KeyFault),
    Compact(CompactFault),
    Foreign(ForeignFault),
    Column(ColumnFault),
    Type(TypeFault),
    Constraint(ConstraintFault),
    Index(IndexFault),
    Attached(AttachedFault),
    View(ViewFault),
    Projection(ProjectionFault),
    Totals(TotalsFault),
    Routine(RoutineFault),
    RowTtl(RowTtlFault),
    Bucketing(BucketingFault),
    Property(PropertyFault),
    Option(OptionFault),
    Limit(LimitFault),
    Tenant(TenantFault),
    Compaction(CompactionFault),
    Compression(CompressionFault),
    /// The stored catalogue cannot be read.
    Damaged(Damage),
}

impl SchemaError {
    pub fn kind(&self) -> Kind {
        match self {
            SchemaError::KeyspaceExists(_)
            | SchemaError::TableExists { .. }
            | SchemaError::TypeExists { .. }
            | SchemaError::PatternExists { .. } => Kind::AlreadyExists,
            SchemaError::KeyspaceMissing(_)
            | SchemaError::TableMissing { .. }
            | SchemaError::TypeMissing { .. }
            | SchemaError::PatternMissing { .. } => Kind::NotFound,
            SchemaError::System(fault) => fault.kind(),
            SchemaError::Keyspace(fault) => fault.kind(),
            SchemaError::Replication(fault) => fault.kind(),
            SchemaError::Note(fault) => fault.kind(),
            SchemaError::Table(fault) => fault.kind(),
            SchemaError::Key(fault) => fault.kind(),
            SchemaError::Compact(fault) => fault.kind(),
            SchemaError::Foreign(fault) => fault.kind(),
            SchemaError::Column(fault) => fault.kind(),
            SchemaError::Type(fault) => fault.kind(),
            SchemaError::Constraint(fault) => fault.kind(),
            SchemaError::Index(fault) => fault.kind(),
            SchemaError::Attached(fault) => fault.kind(),
            SchemaError::View(fault) => fault.kind(),
            SchemaError::Projection(fault) => fault.kind(),
            SchemaError::Totals(fault) => fault.kind(),
            SchemaError::Routine(fault) => fault.kind(),
            SchemaError::RowTtl(fault) => fault.kind(),
            SchemaError::Bucketing(fault) => fault.kind(),
            SchemaError::Property(fault) => fault.kind(),
            SchemaError::Option(fault) => fault.kind(),
            SchemaError::Limit(fault) => fault.kind(),
            SchemaError::Tenant(fault) => fault.kind(),
            SchemaError::Compaction(fault) => fault.kind(),
            SchemaError::Compression(fault) => fault.kind(),
            SchemaError::Damaged(_) => Kind::Corrupt,
        }
    }
}

macro_rules! from_topics {
    ($($topic:ident($fault:ty)),+ $(,)?) => {$(
        impl From<$fault> for SchemaError {
            #[cold]
            fn from(fault: $fault) -> SchemaError {
                SchemaError::$topic(fault)
            }
        }
    )+};
}

from_topics!(
    System(SystemFault),
    Keyspace(KeyspaceFault),
    Replication(ReplicationFault),
    Note(NoteFault),
    Table(TableFault),
    Key(KeyFault),
    Compact(CompactFault),
    Foreign(ForeignFault),
    Column(ColumnFault),
    Type(TypeFault),
    Constraint(ConstraintFault),
    Index(IndexFault),
    Attached(AttachedFault),
    View(ViewFault),
    Projection(ProjectionFault),
    Totals(TotalsFault),
    Routine(RoutineFault),
    RowTtl(RowTtlFault),
    Bucketing(BucketingFault),
    Property(PropertyFault),
    Option(OptionFault),
    Limit(LimitFault),
    Tenant(TenantFault),
    Compaction(CompactionFault),
    Compression(CompressionFault),
    Damaged(Damage),
);
