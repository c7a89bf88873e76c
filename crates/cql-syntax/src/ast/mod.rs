//! The syntax tree of CQL.
//!
//! It says what the text says and no more: names are not resolved, types of values are not known, rules that need a
//! schema are not checked. Every node that a diagnostic may point at has a span. Equality ignores spans.

mod check;
mod describe;
mod expr;
mod function;
mod index;
mod keyspace;
mod name;
mod note;
mod pattern;
mod projection;
mod property;
mod relation;
mod role;
mod select;
mod service_level;
mod table;
mod transaction;
mod types;
mod write;

pub use check::{CheckKind, ColumnCheck};
pub use describe::{Describe, DescribeTarget};
pub use expr::{BinaryOp, BindMarker, CellInfo, Expr, ExprKind, Literal};
pub use function::{
    CreateAggregate, CreateFunction, CreateTrigger, DropFunction, DropTrigger, FunctionArg, NullInput,
};
pub use index::{CreateIndex, IndexTarget, IndexTargetKind};
pub use keyspace::{AlterKeyspace, CreateKeyspace, DropKeyspace, DropNamed};
pub use name::{Ident, QualifiedName, Text};
pub use note::{CopyTable, NoteObject, SetNote};
pub use pattern::{AlterPattern, CreatePattern, Explain};
pub use projection::{CheckProjection, JobOrder, OrderJob};
pub use property::{MapEntry, Property, PropertyValue};
pub use relation::{Operand, Relation, RelationOp, Subject};
pub use role::{
    AddIdentity, AlterRole, CreateRole, DropIdentity, DropRole, GrantPermissions, GrantRole, ListPermissions,
    ListRoles, Permission, Permissions, Resource, RevokePermissions, RevokeRole, RoleKeyword, RoleOption,
    RoleOptionKind, Secret,
};
pub use select::{IndexHints, Ordering, Select, Selection, Selector};
pub use service_level::ServiceLevel;
pub use table::{
    AlterTable, AlterType, AlterView, ClusteringItem, ColumnDef, ColumnMask, CreateTable, CreateType,
    CreateView, FieldDef, PrimaryKey, Rename, SortOrder, TableChange, TableOption, TypeChange,
};
pub use transaction::{Let, Place, REFERENCE_BASE, Reference, Returning, Transaction, TransactionCondition};
pub use types::{DataType, NativeType, TypeKind};
pub use write::{
    Assignment, AssignmentOp, Batch, BatchKind, Condition, Delete, Insert, InsertSource, Modification,
    Target, Update, Using, UsingItem, UsingKind,
};

use crate::span::Span;

/// One statement with what belongs to the whole of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedStatement {
    /// The statement itself.
    pub statement: Statement,
    /// The bind markers in order of appearance; `markers[i]` is the marker whose `index` is `i`.
    /// A name that occurs twice is two markers, as in Cassandra.
    pub markers: Vec<BindMarker>,
    /// From the first word to the last, without the closing semicolon.
    pub span: Span,
}

/// Any CQL statement, and ours (`EXPLAIN`, access patterns, projections, jobs).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    Select(Box<Select>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Batch(Batch),
    Transaction(Box<Transaction>),
    /// `USE keyspace`
    Use(Ident),
    /// `TRUNCATE [TABLE] table`
    Truncate(QualifiedName),

    CreateKeyspace(CreateKeyspace),
    AlterKeyspace(AlterKeyspace),
    DropKeyspace(DropKeyspace),

    CreateTable(Box<CreateTable>),
    CopyTable(Box<CopyTable>),
    SetNote(Box<SetNote>),
    AlterTable(AlterTable),
    DropTable(DropNamed),

    CreateType(CreateType),
    AlterType(AlterType),
    DropType(DropNamed),

    CreateIndex(Box<CreateIndex>),
    DropIndex(DropNamed),

    CreateView(Box<CreateView>),
    AlterView(AlterView),
    DropView(DropNamed),

    CreateFunction(Box<CreateFunction>),
    DropFunction(DropFunction),
    CreateAggregate(Box<CreateAggregate>),
    DropAggregate(DropFunction),
    CreateTrigger(CreateTrigger),
    DropTrigger(DropTrigger),

    CreateRole(CreateRole),
    AlterRole(AlterRole),
    DropRole(DropRole),
    GrantRole(GrantRole),
    RevokeRole(RevokeRole),
    GrantPermissions(Box<GrantPermissions>),
    RevokePermissions(Box<RevokePermissions>),
    ListRoles(ListRoles),
    ListUsers,
    ListSuperUsers,
    ListPermissions(Box<ListPermissions>),
    AddIdentity(AddIdentity),
    DropIdentity(DropIdentity),

    Describe(Describe),
    /// ScyllaDB's: `CREATE SERVICE LEVEL ...`
    ServiceLevel(Box<ServiceLevel>),

    /// Ours: `EXPLAIN statement`
    Explain(Explain),
    /// Ours: `CREATE ACCESS PATTERN ...`
    CreatePattern(Box<CreatePattern>),
    /// Ours: `ALTER ACCESS PATTERN ...`
    AlterPattern(Box<AlterPattern>),
    /// Ours: `DROP ACCESS PATTERN [IF EXISTS] name`
    DropPattern(DropNamed),
    /// Ours: `CHECK PROJECTION name`, `REPAIR PROJECTION name`
    CheckProjection(CheckProjection),
    /// Ours: `PAUSE JOB id`, ...
    OrderJob(OrderJob),
}
