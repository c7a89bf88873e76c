//! INSERT, UPDATE, DELETE, BATCH.

use super::expr::Expr;
use super::name::{Ident, QualifiedName};
use super::relation::Relation;
use crate::span::Span;

/// `INSERT INTO table ...`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insert {
    pub table: QualifiedName,
    pub source: InsertSource,
    /// Where `IF NOT EXISTS` stands.
    pub if_not_exists: Option<Span>,
    pub using: Using,
    pub span: Span,
}

/// Where an INSERT has its values from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InsertSource {
    /// `(columns) VALUES (values)`; that there are as many of both is for the binder to check.
    Values { columns: Vec<Ident>, values: Vec<Expr> },
    /// `JSON value [DEFAULT NULL|UNSET]`; the value is a string literal or a marker.
    Json { value: Expr, default_unset: bool },
}

/// `UPDATE table [USING ...] SET ... WHERE ... [IF ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    pub table: QualifiedName,
    pub using: Using,
    /// Never empty.
    pub assignments: Vec<Assignment>,
    pub relations: Vec<Relation>,
    pub condition: Option<Condition>,
    pub span: Span,
}

/// One item of a SET clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub target: Target,
    pub op: AssignmentOp,
    pub value: Expr,
    pub span: Span,
}

/// What an assignment does with its value. Other than [`AssignmentOp::Set`] only on whole columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssignmentOp {
    /// `c = x`, `c[k] = x`, `c.f = x`
    Set,
    /// `c = c + x`, `c += x`. Also `c = c -3`, which reads as `c` plus the literal `-3`, as in Cassandra.
    Add,
    /// `c = c - x`, `c -= x`
    Subtract,
    /// `c = x + c`
    Prepend,
}

/// A column or a part of one, as SET and DELETE name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Column(Ident),
    Element { column: Ident, key: Expr },
    Field { column: Ident, field: Ident },
}

impl Target {
    /// The column, whole or not.
    pub fn column(&self) -> &Ident {
        match self {
            Target::Column(column) | Target::Element { column, .. } | Target::Field { column, .. } => column,
        }
    }
}

/// `DELETE [targets] FROM table [USING TIMESTAMP t] WHERE ... [IF ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delete {
    /// Empty: whole rows.
    pub targets: Vec<Target>,
    pub table: QualifiedName,
    pub using: Using,
    pub relations: Vec<Relation>,
    pub condition: Option<Condition>,
    pub span: Span,
}

/// The IF clause of UPDATE and DELETE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// `IF EXISTS`
    Exists(Span),
    /// `IF a = 1 AND m['k'] IN (...)`; never empty.
    Relations(Vec<Relation>),
}

/// A USING clause; empty when there is none. Items keep their order, because bind markers are numbered by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Using {
    pub items: Vec<UsingItem>,
}

/// One item of a USING clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsingItem {
    pub kind: UsingKind,
    /// An integer literal or a marker; for TIMEOUT a duration literal or a marker.
    pub value: Expr,
    pub span: Span,
}

/// What a USING item sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UsingKind {
    Timestamp,
    Ttl,
    /// ScyllaDB's, accepted and kept.
    Timeout,
}

impl Using {
    /// The item of this kind; the last one wins, as in Cassandra.
    pub fn get(&self, kind: UsingKind) -> Option<&UsingItem> {
        self.items.iter().rev().find(|item| item.kind == kind)
    }

    /// The value of `TIMESTAMP`.
    pub fn timestamp(&self) -> Option<&Expr> {
        self.get(UsingKind::Timestamp).map(|item| &item.value)
    }

    /// The value of `TTL`.
    pub fn ttl(&self) -> Option<&Expr> {
        self.get(UsingKind::Ttl).map(|item| &item.value)
    }

    /// The value of `TIMEOUT`.
    pub fn timeout(&self) -> Option<&Expr> {
        self.get(UsingKind::Timeout).map(|item| &item.value)
    }
}

/// `BEGIN [UNLOGGED|COUNTER] BATCH [USING TIMESTAMP t] ... APPLY BATCH`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub kind: BatchKind,
    pub using: Using,
    /// May be empty.
    pub statements: Vec<Modification>,
    pub span: Span,
}

/// The kinds of batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchKind {
    Logged,
    Unlogged,
    Counter,
}

/// A statement that may stand in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modification {
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
}

impl Modification {
    /// The table that is written.
    pub fn table(&self) -> &QualifiedName {
        match self {
            Modification::Insert(insert) => &insert.table,
            Modification::Update(update) => &update.table,
            Modification::Delete(delete) => &delete.table,
        }
    }

    /// The place of the statement.
    pub fn span(&self) -> Span {
        match self {
            Modification::Insert(insert) => insert.span,
            Modification::Update(update) => update.span,
            Modification::Delete(delete) => delete.span,
        }
    }
}
