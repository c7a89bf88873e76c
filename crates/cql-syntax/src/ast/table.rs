//! Tables, user-defined types and materialized views.

use super::check::ColumnCheck;
use super::expr::Expr;
use super::name::{Ident, QualifiedName};
use super::property::Property;
use super::relation::Relation;
use super::select::Selection;
use super::types::DataType;
use crate::span::Span;

/// `CREATE TABLE [IF NOT EXISTS] name (...) [WITH ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTable {
    pub if_not_exists: bool,
    pub name: QualifiedName,
    pub columns: Vec<ColumnDef>,
    /// Every PRIMARY KEY of the statement, inline (`k int PRIMARY KEY`) or as a clause; exactly one is legal, which is
    /// for the binder to say.
    pub primary_keys: Vec<PrimaryKey>,
    pub options: Vec<TableOption>,
}

/// `name type [STATIC] [TTL] [MASKED WITH ...] [CHECK ...]`. An inline PRIMARY KEY is in [`CreateTable::primary_keys`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDef {
    pub name: Ident,
    pub data_type: DataType,
    pub is_static: bool,
    /// `TTL`: rows expire at the moment that the column says.
    pub is_ttl: bool,
    pub mask: Option<ColumnMask>,
    /// `[NOT NULL] [CHECK ...]`
    pub checks: Vec<ColumnCheck>,
    pub span: Span,
}

/// `MASKED WITH function(args)`; `MASKED WITH DEFAULT` is read as `mask_default()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMask {
    pub function: QualifiedName,
    pub args: Vec<Expr>,
    pub span: Span,
}

/// `PRIMARY KEY (partition, clustering...)` with or without inner parentheses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryKey {
    /// Never empty.
    pub partition: Vec<Ident>,
    pub clustering: Vec<Ident>,
    /// From the word PRIMARY to the closing parenthesis (inline: to the word KEY).
    pub span: Span,
}

/// One item of the WITH clause of CREATE TABLE and CREATE MATERIALIZED VIEW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableOption {
    Property(Property),
    /// `CLUSTERING ORDER BY (c ASC, d DESC)`; never empty
    ClusteringOrder(Vec<ClusteringItem>, Span),
    /// `COMPACT STORAGE`; refused by the binder
    CompactStorage(Span),
}

/// `column ASC|DESC`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusteringItem {
    pub column: Ident,
    pub order: SortOrder,
    pub span: Span,
}

/// A direction of sorting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SortOrder {
    #[default]
    Asc,
    Desc,
}

impl CreateTable {
    /// The items of all CLUSTERING ORDER BY clauses, in order.
    pub fn clustering_order(&self) -> impl Iterator<Item = &ClusteringItem> {
        clustering_order(&self.options)
    }

    /// The ordinary properties.
    pub fn properties(&self) -> impl Iterator<Item = &Property> {
        properties(&self.options)
    }
}

fn clustering_order(options: &[TableOption]) -> impl Iterator<Item = &ClusteringItem> {
    options.iter().flat_map(|option| match option {
        TableOption::ClusteringOrder(items, _) => items.as_slice(),
        _ => &[],
    })
}

fn properties(options: &[TableOption]) -> impl Iterator<Item = &Property> {
    options.iter().filter_map(|option| match option {
        TableOption::Property(property) => Some(property),
        _ => None,
    })
}

/// `ALTER TABLE [IF EXISTS] name change`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterTable {
    pub if_exists: bool,
    pub name: QualifiedName,
    pub change: TableChange,
}

/// What ALTER TABLE does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableChange {
    /// `ALTER column TYPE type`; no longer supported by Cassandra, which the binder says
    ColumnType { column: Ident, data_type: DataType },
    /// `ALTER [IF EXISTS] column MASKED WITH ...` or, without mask, `... DROP MASKED`
    Mask { if_exists: bool, column: Ident, mask: Option<ColumnMask> },
    /// `ALTER [IF EXISTS] column CHECK ...` or, without constraints, `... DROP CHECK`
    Check { if_exists: bool, column: Ident, checks: Vec<ColumnCheck> },
    /// `ADD [IF NOT EXISTS] column | (columns)`; never empty
    Add { if_not_exists: bool, columns: Vec<ColumnDef> },
    /// `DROP [IF EXISTS] column | (columns) [USING TIMESTAMP t]`; never empty
    Drop { if_exists: bool, columns: Vec<Ident>, timestamp: Option<i64> },
    /// `RENAME [IF EXISTS] a TO b [AND ...]`; never empty
    Rename { if_exists: bool, renames: Vec<Rename> },
    /// `TTL column`, or `TTL NULL` without one
    RowTtl(Option<Ident>),
    /// `DROP COMPACT STORAGE`
    DropCompactStorage,
    /// `REPLACE PROJECTION old WITH new`; both are of the table's keyspace
    Replace { old: Ident, new: Ident },
    /// `WITH ...`; never empty
    With(Vec<Property>),
}

/// `from TO to`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    pub from: Ident,
    pub to: Ident,
}

/// `CREATE TYPE [IF NOT EXISTS] name (...)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateType {
    pub if_not_exists: bool,
    pub name: QualifiedName,
    /// Never empty.
    pub fields: Vec<FieldDef>,
}

/// `name type`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDef {
    pub name: Ident,
    pub data_type: DataType,
    pub span: Span,
}

/// `ALTER TYPE [IF EXISTS] name change`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterType {
    pub if_exists: bool,
    pub name: QualifiedName,
    pub change: TypeChange,
}

/// What ALTER TYPE does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeChange {
    /// `ALTER field TYPE type`; no longer supported by Cassandra, which the binder says
    FieldType { field: Ident, data_type: DataType },
    /// `ADD [IF NOT EXISTS] field type`
    Add { if_not_exists: bool, field: FieldDef },
    /// `RENAME [IF EXISTS] a TO b [AND ...]`; never empty
    Rename { if_exists: bool, renames: Vec<Rename> },
}

/// `CREATE MATERIALIZED VIEW [IF NOT EXISTS] name AS SELECT ... FROM base [WHERE ...] PRIMARY KEY (...) [WITH ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateView {
    /// Ours: written as `CREATE PROJECTION name ON base AS ...`, whose key may have any columns.
    pub is_projection: bool,
    pub if_not_exists: bool,
    pub name: QualifiedName,
    pub selection: Selection,
    pub base: QualifiedName,
    pub relations: Vec<Relation>,
    pub primary_key: PrimaryKey,
    pub options: Vec<TableOption>,
}

impl CreateView {
    /// The items of all CLUSTERING ORDER BY clauses, in order.
    pub fn clustering_order(&self) -> impl Iterator<Item = &ClusteringItem> {
        clustering_order(&self.options)
    }

    /// The ordinary properties.
    pub fn properties(&self) -> impl Iterator<Item = &Property> {
        properties(&self.options)
    }
}

/// `ALTER MATERIALIZED VIEW [IF EXISTS] name WITH ...`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterView {
    pub if_exists: bool,
    pub name: QualifiedName,
    /// Never empty.
    pub properties: Vec<Property>,
}
