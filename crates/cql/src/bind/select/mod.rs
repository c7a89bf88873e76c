//! SELECT -> `query::select`.

mod advice;
mod grouping;
mod hints;
#[cfg(test)]
mod index_answers;
#[cfg(test)]
mod index_tests;
mod ordering;
mod selection;
#[cfg(test)]
mod tests;

use super::Scope;
use super::expr::{RowScope, bind_term};
use super::markers::Markers;
use super::restrictions::{NEEDS_FILTERING, Rules, StatementKind, Where, bind_where};
use crate::CqlError;
use cql_syntax::ast::{self, Select};
use model::types::DataType;
use query::expr::Expr;
use query::restrict::{PartitionRestriction, Terms};
use query::select::{SelectParts, SelectPlan};
use schema::{ColumnKind, Table};
use std::sync::Arc;

/// Binds a SELECT against the catalogue.
pub fn bind(scope: Scope<'_>, select: &Select, markers: &mut Markers) -> Result<SelectPlan, CqlError> {
    if let Some(hints) = &select.hints {
        return hints::bind(scope, select, hints, markers);
    }
    let mut plan = bind_for(scope, select, false, markers)?;
    if plan.table.columns().any(|column| column.mask.is_some()) {
        plan.masked = Some(Box::new(bind_for(scope, select, true, markers)?));
        plan.queried_masked = queried_masked(&plan.table, select);
    }
    Ok(plan)
}

/// A view that nobody keeps in step has missed writes, and a projection that is being filled lacks rows: an answer from either would
/// be wrong.
fn refuse_unfit(table: &Table) -> Result<(), CqlError> {
    let Some(view) = &table.view else { return Ok(()) };
    let (keyspace, name, id) = (&table.keyspace, &table.name, table.id);
    if let Some(reason) = &view.disabled {
        return Err(CqlError::invalid(format!(
            "The materialized view {keyspace}.{name} is disabled: {reason}. Drop it and create it again"
        )));
    }
    if view.projection.is_some() && !view.built {
        return Err(CqlError::invalid(format!(
            "The projection {keyspace}.{name} is being built and does not have all rows yet. How far it is: SELECT state, progress, \
             ends_at FROM system_views.jobs WHERE id = {id}"
        )));
    }
    Ok(())
}

/// Masked columns that relations are on, or whose similarity decides the order, in the table's order.
fn queried_masked(table: &Table, select: &Select) -> Vec<Arc<str>> {
    let is_on = |relation: &ast::Relation, name: &str| match &relation.subject {
        ast::Subject::Column(column)
        | ast::Subject::Element { column, .. }
        | ast::Subject::Field { column, .. } => column.as_str() == name,
        ast::Subject::Columns(columns) | ast::Subject::Token(columns) => {
            columns.iter().any(|column| column.as_str() == name)
        }
        ast::Subject::Index(_) => false,
    };
    let masked = table.columns().filter(|column| column.mask.is_some());
    let compared = |name: &str| {
        select.order_by.iter().any(|order| order.ann_of.is_some() && order.column.as_str() == name)
    };
    let queried = masked.filter(|column| {
        select.relations.iter().any(|relation| is_on(relation, &column.name)) || compared(&column.name)
    });
    queried.map(|column| column.name.clone()).collect()
}

/// Binds a SELECT for readers who see clear values, or for those who see masks.
fn bind_for(
    scope: Scope<'_>,
    select: &Select,
    masked: bool,
    markers: &mut Markers,
) -> Result<SelectPlan, CqlError> {
    let table = scope.table(&select.table)?;
    refuse_unfit(table)?;
    markers.enter(table);
    let mut row = RowScope::new(table.clone());
    row.masked = masked;
    let selected = selection::bind(scope, select, &mut row, markers)?;
    let rules = Rules {
        kind: StatementKind::Select,
        statics_only: selected.statics_only,
        allow_filtering: select.allow_filtering.is_some() || filters_implicitly(table),
    };
    // Conditions and groups look at clear values: only what is shown is masked.
    row.masked = false;
    let mut clause = bind_where(scope, table, &select.relations, rules, &mut row, markers)?;
    if select.distinct {
        check_distinct(select, table, &selected, &clause)?;
    }
    let keys = grouping::bind(scope, select, &clause, &mut row, markers)?;
    let per_partition_limit = limit(scope, &select.per_partition_limit, "[per_partition_limit]", markers)?;
    let limit = limit(scope, &select.limit, "[limit]", markers)?;
    if let Some(timeout) = &select.timeout {
        bind_term(scope, timeout, &DataType::Duration, "[timeout]", markers)?;
    }
    let ann = ordering::bind_ann(scope, select, &mut row, markers)?;
    let aggregates = std::mem::take(&mut row.aggregates);
    if !aggregates.is_empty() && select.group_by.is_empty() && per_partition_limit.is_some() {
        return Err(CqlError::invalid("PER PARTITION LIMIT is not allowed with aggregate queries."));
    }
    let order = ordering::bind(select, table, &clause, rules.allow_filtering)?;
    if order.columns.is_some() && !select.group_by.is_empty() && names_entities(&clause) {
        return Err(CqlError::invalid(
            "GROUP BY with ORDER BY works for one entity of a bucketed table, not with IN: ask for each of them, or leave out ORDER BY",
        ));
    }
    if clause.needs_filtering && !rules.allow_filtering {
        return Err(CqlError::invalid(NEEDS_FILTERING));
    }
    // Entries come in the order of the table, which ORDER BY may turn around.
    clause.index = clause.index.filter(|_| order.columns.is_none());
    let mut ann = ann;
    if let Some(ann) = &mut ann {
        // Rows that are named, or that conditions with an index lead to, are all compared.
        let is_open = matches!(clause.restrictions.partitions, PartitionRestriction::Range(_));
        ann.near = ann.near.take().filter(|_| is_open && clause.index.is_none());
    }
    let is_near = ann.as_ref().is_some_and(|ann| ann.near.is_some());
    let warnings = match is_near {
        true => Vec::new(),
        false => advice::filtering(table, select, &clause, rules.allow_filtering),
    };
    let static_rows = !clause.on_clustering && !clause.on_regulars;
    let single =
        matches!(&clause.restrictions.partitions, p @ PartitionRestriction::Keys { .. } if p.is_single());
    let mut plan = SelectPlan::new(SelectParts {
        columns: selected.columns,
        restrictions: clause.restrictions,
        filters: clause.filters,
        inputs: row.inputs,
        output: selected.output,
    });
    plan.index = clause.index;
    plan.distinct = select.distinct;
    plan.static_rows = static_rows;
    plan.reverse = order.reverse;
    plan.ann = ann;
    plan.limit = limit;
    plan.per_partition_limit = per_partition_limit;
    plan.warnings = warnings;
    plan.calls = markers.take_calls();
    if !aggregates.is_empty() || !select.group_by.is_empty() {
        plan.group_by(aggregates, keys);
    }
    if !single {
        plan.merge_columns = order.columns;
    }
    Ok(plan)
}

/// Whether several entities of a bucketed table may be named.
fn names_entities(clause: &Where) -> bool {
    matches!(&clause.restrictions.partitions, PartitionRestriction::Entities { columns } if !columns.iter().all(Terms::is_equality))
}

fn limit(
    scope: Scope<'_>,
    written: &Option<ast::Expr>,
    name: &str,
    markers: &mut Markers,
) -> Result<Option<Expr>, CqlError> {
    written.as_ref().map(|w| bind_term(scope, w, &DataType::Int, name, markers)).transpose()
}

/// Virtual tables that Cassandra has too are filtered without being asked.
fn filters_implicitly(table: &Table) -> bool {
    table.is_virtual() && matches!(&*table.keyspace, "system_views" | "system_virtual_schema")
}

fn check_distinct(
    select: &Select,
    table: &Arc<Table>,
    selected: &selection::Selected,
    clause: &Where,
) -> Result<(), CqlError> {
    let refuse = |text: String| Err(CqlError::Invalid(text));
    if select.per_partition_limit.is_some() {
        return refuse("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries".into());
    }
    if clause.on_clustering || clause.on_regulars {
        return refuse(
            "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns."
                .into(),
        );
    }
    let wrong = |c: &&schema::Column| !matches!(c.kind, ColumnKind::PartitionKey | ColumnKind::Static);
    if let Some(column) = selected.named.iter().find(wrong) {
        return refuse(format!(
            "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {})",
            column.name
        ));
    }
    // Rows of several partitions are sorted by columns that DISTINCT does not have.
    let several = matches!(&clause.restrictions.partitions,
        PartitionRestriction::Keys { columns, .. } | PartitionRestriction::Entities { columns }
        if !columns.iter().all(Terms::is_equality));
    if let (Some(ordering), true) = (select.order_by.first(), several) {
        return refuse(format!(
            "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {})",
            ordering.column.as_str()
        ));
    }
    let missing = table.partition_key.iter().find(|key| !selected.named.iter().any(|c| c.id == key.id));
    if let (Some(missing), false) = (missing, clause.names_partitions()) {
        return refuse(format!(
            "SELECT DISTINCT queries must request all the partition key columns (missing {})",
            missing.name
        ));
    }
    Ok(())
}
