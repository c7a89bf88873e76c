//! What a SELECT returns: columns, their names and types.

use super::super::Scope;
use super::super::expr::{Binder, RowScope, selector_name};
use super::super::markers::Markers;
use super::super::types::native_type;
use crate::CqlError;
use cql_syntax::ast::{self, ExprKind, Select, Selection, Selector, TypeKind};
use model::json::quote_json;
use model::types::DataType;
use query::ColumnSpec;
use query::expr::Expr;
use query::select::Output;
use schema::{Column, ColumnKind};
use std::sync::Arc;

pub struct Selected {
    pub columns: Vec<ColumnSpec>,
    pub output: Output,
    /// Columns that selectors name, in any form.
    pub named: Vec<Column>,
    /// Static columns, perhaps with partition key columns, and nothing else.
    pub statics_only: bool,
}

pub fn bind(
    scope: Scope<'_>,
    select: &Select,
    row: &mut RowScope,
    markers: &mut Markers,
) -> Result<Selected, CqlError> {
    let items = match &select.selection {
        Selection::All(_) => all_columns(scope, row, markers)?,
        Selection::Items(items) => {
            items.iter().map(|item| bind_item(scope, item, row, markers)).collect::<Result<Vec<_>, _>>()?
        }
    };
    let named = match &select.selection {
        Selection::All(_) if select.distinct => row.table.columns().cloned().collect(),
        Selection::All(_) => Vec::new(),
        Selection::Items(_) => named_columns(row),
    };
    let of = |kind: ColumnKind| named.iter().any(|c| c.kind == kind);
    let statics_only = of(ColumnKind::Static) && !of(ColumnKind::Clustering) && !of(ColumnKind::Regular);
    let table = &row.table;
    let spec = |name: Arc<str>, data_type: DataType| ColumnSpec {
        keyspace: table.keyspace.clone(),
        table: table.name.clone(),
        name,
        data_type,
    };
    let (columns, output) = if select.json {
        let member = |(name, expr): (Arc<str>, Expr)| (json_name(&name), expr);
        (vec![spec("[json]".into(), DataType::Text)], Output::Json(items.into_iter().map(member).collect()))
    } else {
        let columns = items.iter().map(|(name, expr)| spec(name.clone(), expr.data_type.clone())).collect();
        (columns, Output::Exprs(items.into_iter().map(|(_, expr)| expr).collect()))
    };
    Ok(Selected { columns, output, named, statics_only })
}

/// `*`. DISTINCT * is refused later, with the name of the first column that cannot be had.
fn all_columns(
    scope: Scope<'_>,
    row: &mut RowScope,
    markers: &mut Markers,
) -> Result<Vec<(Arc<str>, Expr)>, CqlError> {
    let table = row.table.clone();
    let mut binder = Binder::new(scope, markers, Some(row), None);
    table.columns().map(|column| Ok((column.name.clone(), binder.shown(column)?))).collect()
}

fn bind_item(
    scope: Scope<'_>,
    item: &Selector,
    row: &mut RowScope,
    markers: &mut Markers,
) -> Result<(Arc<str>, Expr), CqlError> {
    let mut binder = Binder::new(scope, markers, Some(row), None);
    // A cast to the type a value has anyway is not there, not even in the name.
    let mut written = &item.expr;
    while let ExprKind::Cast { expr, to } = &written.kind
        && binder.type_of(expr, None).is_some_and(|found| found == cast_target(to))
    {
        written = expr;
    }
    let expr = binder.selector(written)?;
    let name: Arc<str> = match (&item.alias, &written.kind) {
        (Some(alias), _) => alias.as_str().into(),
        (None, ExprKind::Column(column)) => column.as_str().into(),
        (None, _) => selector_name(written, &|name| binder.keyspace_of_function(name)).into(),
    };
    Ok((name, expr))
}

/// The target of a cast: native, or something no cast has.
fn cast_target(to: &ast::DataType) -> DataType {
    match to.kind {
        TypeKind::Native(native) => native_type(native),
        _ => DataType::Empty,
    }
}

/// The columns behind the inputs that selectors made so far.
fn named_columns(row: &RowScope) -> Vec<Column> {
    use query::select::Source;
    let table = &row.table;
    let column = |source: &Source| match source {
        Source::PartitionKey(at) => table.partition_key.get(*at),
        Source::Clustering(at) => table.clustering.get(*at),
        Source::Cell(place)
        | Source::WriteTime(place, _)
        | Source::MaxWriteTime(place, _)
        | Source::Ttl(place, _) => table.statics.iter().chain(&table.regulars).find(|c| c.id == place.column),
        Source::Aggregate(_) => None,
    };
    row.inputs.iter().filter_map(|input| column(&input.source)).cloned().collect()
}

/// A member name of SELECT JSON: names that are not all lower case carry their own quotes.
fn json_name(name: &str) -> Arc<str> {
    let shown = if name == name.to_lowercase() { name.to_string() } else { format!("\"{name}\"") };
    let mut quoted = String::from("\"");
    quote_json(&mut quoted, &shown);
    quoted.push('"');
    quoted.into()
}
