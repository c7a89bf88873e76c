//! SELECT.

use super::expr::Expr;
use super::name::{Ident, QualifiedName};
use super::relation::Relation;
use super::table::SortOrder;
use crate::span::Span;

/// `SELECT [JSON] [DISTINCT] selection FROM table ...`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub json: bool,
    pub distinct: bool,
    pub selection: Selection,
    pub table: QualifiedName,
    /// Joined by AND; empty without WHERE.
    pub relations: Vec<Relation>,
    pub group_by: Vec<Expr>,
    pub order_by: Vec<Ordering>,
    /// An integer literal or a marker.
    pub per_partition_limit: Option<Expr>,
    /// An integer literal or a marker.
    pub limit: Option<Expr>,
    /// Where `ALLOW FILTERING` stands.
    pub allow_filtering: Option<Span>,
    /// `BYPASS CACHE` (ScyllaDB)
    pub bypass_cache: bool,
    /// `USING TIMEOUT t` (ScyllaDB): a duration literal or a marker.
    pub timeout: Option<Expr>,
    /// `WITH included_indexes = {...} AND excluded_indexes = {...}`
    pub hints: Option<IndexHints>,
    pub span: Span,
}

/// Which indexes must and must not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexHints {
    pub included: Vec<Ident>,
    pub excluded: Vec<Ident>,
}

/// What is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// `*`
    All(Span),
    /// Never empty.
    Items(Vec<Selector>),
}

/// `expr [AS alias]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    pub expr: Expr,
    pub alias: Option<Ident>,
    pub span: Span,
}

/// `column [ANN OF vector] [ASC|DESC]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordering {
    pub column: Ident,
    /// The vector of `ANN OF`.
    pub ann_of: Option<Expr>,
    /// Ascending when nothing is written.
    pub order: SortOrder,
    pub span: Span,
}
