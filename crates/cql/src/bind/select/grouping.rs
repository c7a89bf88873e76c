//! GROUP BY: a prefix of the primary key, the last part perhaps under a function that keeps order.

use super::super::Scope;
use super::super::expr::{Binder, RowScope};
use super::super::markers::Markers;
use super::super::restrictions::Where;
use super::ordering::restricted_by_eq;
use crate::CqlError;
use cql_syntax::ast::{ExprKind, Select};
use query::expr::{Expr, Node};
use query::restrict::{PartitionRestriction, Terms};
use query::select::Source;
use schema::{Column, ColumnKind};

const OUT_OF_ORDER: &str =
    "Group by currently only support groups of columns following their declared order in the PRIMARY KEY";

pub fn bind(
    scope: Scope<'_>,
    select: &Select,
    clause: &Where,
    row: &mut RowScope,
    markers: &mut Markers,
) -> Result<Vec<Expr>, CqlError> {
    let refuse = |text: String| Err(CqlError::Invalid(text));
    if select.group_by.is_empty() {
        return Ok(Vec::new());
    }
    let table = row.table.clone();
    // The rows of an entity are one partition for whoever names no bucket.
    let buckets = match clause.restrictions.partitions {
        PartitionRestriction::Entities { .. } => table.bucket_columns(),
        _ => &[],
    };
    let mut key_columns = table.primary_key().filter(|column| !buckets.contains(column));
    let mut keys = Vec::with_capacity(select.group_by.len());
    let mut by_function = false;
    let mut on_clustering = false;
    for written in &select.group_by {
        let bound = Binder::new(scope, markers, Some(row), None).selector(written)?;
        let column = match (&written.kind, &bound.node) {
            (ExprKind::Column(name), _) => {
                let column = row.column(name.as_str())?;
                if buckets.contains(&column) {
                    return refuse(format!(
                        "GROUP BY {0} needs {0} in WHERE: without it the rows of all buckets are read in the order of the clustering key. \
                         GROUP BY a clustering column, perhaps under floor(…), gives groups of time",
                        column.name
                    ));
                }
                if !column.kind.is_primary_key() {
                    return refuse(format!(
                        "Group by is currently only supported on the columns of the PRIMARY KEY, got {}",
                        column.name
                    ));
                }
                if by_function {
                    return refuse(
                        "Functions are only supported on the last element of the GROUP BY clause".into(),
                    );
                }
                column
            }
            (_, Node::Call(function, args)) => {
                if !function.monotonic {
                    return refuse(format!(
                        "Only monotonic functions are supported in the GROUP BY clause. Got: {} ",
                        function.name
                    ));
                }
                by_function = true;
                function_column(args, row)?
            }
            _ => {
                return refuse(
                    "Only column names and monotonic functions are supported in the GROUP BY clause".into(),
                );
            }
        };
        on_clustering |= column.kind == ColumnKind::Clustering;
        loop {
            let Some(key_column) = key_columns.next() else { return refuse(OUT_OF_ORDER.into()) };
            if key_column.id == column.id && key_column.kind == column.kind {
                break;
            }
            if !equality(clause, key_column) {
                return refuse(OUT_OF_ORDER.into());
            }
        }
        keys.push(bound);
    }
    if key_columns.next().is_some_and(|c| c.kind == ColumnKind::PartitionKey) {
        return refuse("Group by is not supported on only a part of the partition key".into());
    }
    if on_clustering && select.distinct {
        return refuse("Grouping on clustering columns is not allowed for SELECT DISTINCT queries".into());
    }
    Ok(keys)
}

/// The one clustering column inside a function of GROUP BY.
fn function_column(args: &[Expr], row: &RowScope) -> Result<Column, CqlError> {
    let mut slots = Vec::new();
    args.iter().for_each(|arg| inputs(arg, &mut slots));
    let [slot] = slots.as_slice() else {
        return Err(CqlError::invalid(
            "GROUP BY functions must have one clustering column name as parameter",
        ));
    };
    let refuse = |name: &str| {
        let text = format!("Group by functions are only supported on clustering columns, got {name}");
        Err(CqlError::Invalid(text))
    };
    match row.inputs.get(*slot).map(|input| &input.source) {
        Some(Source::Clustering(at)) => Ok(row.table.clustering[*at].clone()),
        Some(Source::PartitionKey(at)) => refuse(&row.table.partition_key[*at].name),
        Some(Source::Cell(place)) => {
            let mut stored = row.table.statics.iter().chain(&row.table.regulars);
            refuse(stored.find(|c| c.id == place.column).map_or("", |c| &c.name))
        }
        _ => refuse("something else"),
    }
}

fn inputs(expr: &Expr, slots: &mut Vec<usize>) {
    match &expr.node {
        Node::Input(slot) => slots.push(*slot),
        Node::Call(_, args) => args.iter().for_each(|arg| inputs(arg, slots)),
        _ => {}
    }
}

fn equality(clause: &Where, column: &Column) -> bool {
    match column.kind {
        ColumnKind::PartitionKey => match &clause.restrictions.partitions {
            PartitionRestriction::Keys { columns, .. } | PartitionRestriction::Entities { columns } => {
                columns.get(column.position).is_some_and(Terms::is_equality)
            }
            PartitionRestriction::Range(_) => false,
        },
        _ => restricted_by_eq(clause, column.position),
    }
}
