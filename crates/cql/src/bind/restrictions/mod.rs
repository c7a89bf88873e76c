//! WHERE clauses -> `query::restrict`, with every rule of the language; shared by SELECT, UPDATE, DELETE.
//!
//! Four steps: each relation is bound to its columns and values ([`relation`]), relations on the
//! same columns are merged ([`merge`]), indexes are asked what they can do for them ([`indexes`]), and
//! what is merged becomes keys, slices and filters ([`analyse`]). Texts of refusals are Cassandra's, so that tools that match them go on working.

mod analyse;
mod foreign;
mod indexes;
mod merge;
mod relation;
mod text;
mod view;

pub use analyse::NEEDS_FILTERING;
pub use text::relation_text;
pub use view::bind_view_where;

use super::Scope;
use super::expr::RowScope;
use super::markers::Markers;
use crate::CqlError;
use cql_syntax::ast::Relation;
use query::restrict::{PartitionRestriction, Restrictions};
use query::select::{Filter, IndexPath};
use schema::Table;
use std::sync::Arc;

/// The statement the clause belongs to; the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    Select,
    Update,
    Delete,
    /// The definition of a materialized view.
    View,
}

impl StatementKind {
    pub fn name(self) -> &'static str {
        match self {
            StatementKind::Select => "SELECT",
            StatementKind::Update => "UPDATE",
            StatementKind::Delete => "DELETE",
            StatementKind::View => "CREATE MATERIALIZED VIEW",
        }
    }
}

/// What the rules depend on besides the clause.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub kind: StatementKind,
    /// The statement reads or writes static columns only.
    pub statics_only: bool,
    pub allow_filtering: bool,
}

/// A WHERE clause, bound.
#[derive(Debug)]
pub struct Where {
    pub restrictions: Restrictions,
    /// Conditions left over; never in writes.
    pub filters: Vec<Filter>,
    /// Some relation is on a clustering column.
    pub on_clustering: bool,
    /// Some relation is on a regular column.
    pub on_regulars: bool,
    /// Rows are looked at that no key, slice or index names: without ALLOW FILTERING the statement is
    /// refused, after everything else was checked.
    pub needs_filtering: bool,
    /// By Cassandra's rules an index has a part in the statement; then it has no ORDER BY.
    pub uses_index: bool,
    /// The index to read through, where one leads to the rows.
    pub index: Option<IndexPath>,
}

impl Where {
    /// Whether the partitions are named by equalities and INs.
    pub fn names_partitions(&self) -> bool {
        !matches!(self.restrictions.partitions, PartitionRestriction::Range(_))
    }
}

/// Binds a WHERE clause. `row` collects the inputs of filters.
pub fn bind_where(
    scope: Scope<'_>,
    table: &Arc<Table>,
    relations: &[Relation],
    rules: Rules,
    row: &mut RowScope,
    markers: &mut Markers,
) -> Result<Where, CqlError> {
    let mut merged = merge::Merged::new(table, rules);
    for written in relations {
        for bound in relation::bind(scope, table, written, rules.kind, row, markers)? {
            merged.add(bound)?;
        }
    }
    analyse::analyse(table, merged, rules, row)
}

/// Binds the WHERE clause of an UPDATE or DELETE.
pub fn bind_write_where(
    scope: Scope<'_>,
    table: &Arc<Table>,
    relations: &[Relation],
    kind: StatementKind,
    statics_only: bool,
    markers: &mut Markers,
) -> Result<Where, CqlError> {
    let rules = Rules { kind, statics_only, allow_filtering: false };
    bind_where(scope, table, relations, rules, &mut RowScope::new(table.clone()), markers)
}
