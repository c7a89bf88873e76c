//! INSERT, with values or JSON.

use super::super::Scope;
use super::super::expr::bind_term;
use super::super::markers::Markers;
use super::{by_column, check, column, masks, target, using};
use crate::CqlError;
use cql_syntax::ast::{self, InsertSource};
use model::types::DataType;
use query::expr::{Expr, Node};
use query::write::{
    Assignment, AssignmentKind, ConditionPlan, JsonSource, Keys, Masks, WriteKind, WritePlan,
};
use schema::{Column, ColumnKind, Compact, Table};
use std::collections::HashSet;
use std::sync::Arc;

pub fn bind(scope: Scope<'_>, insert: &ast::Insert, markers: &mut Markers) -> Result<WritePlan, CqlError> {
    let table = target(scope, &insert.table)?;
    markers.enter(table);
    if table.is_counter() {
        let text = "INSERT statements are not allowed on counter tables, use UPDATE instead";
        return Err(CqlError::invalid(text));
    }
    let (values, json) = match &insert.source {
        InsertSource::Values { columns, values } => {
            (columns_and_values(scope, table, columns, values, markers)?, None)
        }
        InsertSource::Json { value, default_unset } => {
            let document = bind_term(scope, value, &DataType::Text, "[json]", markers)?;
            let columns = table.columns().map(|c| (c.name.clone(), c.data_type.clone())).collect();
            (json_markers(table), Some(JsonSource { document, default_unset: *default_unset, columns }))
        }
    };
    let (timestamp, ttl) = using(scope, &insert.using, markers)?;
    let plan = assemble(table, values, json)?;
    let condition = insert.if_not_exists.map(|_| ConditionPlan::NotExists);
    let plan = WritePlan { timestamp, ttl, condition, calls: markers.take_calls(), ..plan };
    check(&plan)?;
    masks::with_masks(scope, plan)
}

fn columns_and_values<'t>(
    scope: Scope<'_>,
    table: &'t Table,
    names: &[ast::Ident],
    values: &[ast::Expr],
    markers: &mut Markers,
) -> Result<Vec<(&'t Column, Expr)>, CqlError> {
    if names.is_empty() {
        return Err(CqlError::invalid("No columns provided to INSERT"));
    }
    if names.len() != values.len() {
        return Err(CqlError::invalid("Unmatched column names/values"));
    }
    let mut seen = HashSet::with_capacity(names.len());
    if !names.iter().all(|name| seen.insert(name.as_str())) {
        return Err(CqlError::invalid("The column names contains duplicates"));
    }
    // What is wrong with the key is said last, as Cassandra does.
    let mut bound: Vec<(&Column, Expr)> = Vec::with_capacity(names.len());
    let mut keys = Vec::new();
    for (name, value) in names.iter().zip(values) {
        let column = column(table, name)?;
        match column.kind.is_primary_key() {
            true => keys.push((column, value)),
            false => bound.push((column, bind_term(scope, value, &column.data_type, &column.name, markers)?)),
        }
    }
    for (column, value) in keys {
        bound.push((column, bind_term(scope, value, &column.data_type, &column.name, markers)?));
    }
    Ok(bound)
}

/// Every column, each as the marker the document fills in.
fn json_markers(table: &Table) -> Vec<(&Column, Expr)> {
    let marker = |(index, column)| {
        let column: &Column = column;
        (column, Expr::new(column.data_type.clone(), Node::Marker(index)))
    };
    (0u32..).zip(table.columns()).map(marker).collect()
}

fn assemble(
    table: &Arc<Table>,
    values: Vec<(&Column, Expr)>,
    json: Option<JsonSource>,
) -> Result<WritePlan, CqlError> {
    let mut partition: Vec<Option<Expr>> = vec![None; table.partition_key.len()];
    let mut clustering: Vec<Option<Expr>> = vec![None; table.clustering.len()];
    let mut assignments = Vec::new();
    for (column, expr) in values {
        match column.kind {
            ColumnKind::PartitionKey => partition[column.position] = Some(expr),
            ColumnKind::Clustering => clustering[column.position] = Some(expr),
            ColumnKind::Static | ColumnKind::Regular => assignments.push(Assignment {
                column: column.id,
                name: column.name.clone(),
                is_static: column.kind == ColumnKind::Static,
                data_type: column.data_type.clone(),
                kind: AssignmentKind::Set(expr),
            }),
        }
    }
    let missing = |columns: &[Column], exprs: &[Option<Expr>]| {
        let names = columns.iter().zip(exprs).filter(|(_, e)| e.is_none()).map(|(c, _)| c.name.to_string());
        names.collect::<Vec<_>>().join(", ")
    };
    let entity = table.entity_key().len();
    if partition.get(entity..).is_some_and(|buckets| buckets.iter().all(Option::is_none)) {
        // They are computed.
        partition.truncate(entity);
    }
    for (slot, column) in partition.iter_mut().zip(&table.partition_key).skip(entity) {
        slot.get_or_insert_with(|| Expr::null(column.data_type.clone()));
    }
    if partition.iter().any(Option::is_none) {
        let names = missing(table.entity_key(), &partition);
        return Err(CqlError::invalid(format!("Some partition key parts are missing: {names}")));
    }
    let statics_only = !assignments.is_empty() && assignments.iter().all(|a| a.is_static);
    let no_row = statics_only
        && (json.is_none() || table.compact == Some(Compact::Static))
        && clustering.iter().all(Option::is_none);
    if no_row {
        clustering.clear();
    } else if clustering.iter().any(Option::is_none) {
        let names = missing(&table.clustering, &clustering);
        return Err(CqlError::invalid(format!("Some clustering keys are missing: {names}")));
    }
    if let (Some(Compact::Dense), true, [value]) =
        (table.compact, assignments.is_empty(), table.regulars.as_slice())
    {
        return Err(CqlError::invalid(format!(
            "Column {} is mandatory for this COMPACT STORAGE table",
            value.name
        )));
    }
    let keys = Keys::Values {
        partition: partition.into_iter().flatten().collect(),
        clustering: clustering.into_iter().flatten().collect(),
    };
    Ok(WritePlan {
        table: table.clone(),
        kind: WriteKind::Insert,
        keys,
        assignments: by_column(assignments),
        statics_only: no_row && !table.clustering.is_empty(),
        timestamp: None,
        ttl: None,
        condition: None,
        masks: Masks::default(),
        checked: table.is_looked_at(),
        json,
        calls: Vec::new(),
    })
}
