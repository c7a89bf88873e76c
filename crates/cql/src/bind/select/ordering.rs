//! ORDER BY: a prefix of the clustering columns, all of them as stored or all of them reversed.

use super::super::expr::undefined;
use super::super::restrictions::Where;
use cql_syntax::ast::{Select, SortOrder};
use query::QueryError;
use query::restrict::Terms;
use schema::{ColumnKind, Table};

/// How rows are ordered.
pub struct Order {
    pub reverse: bool,
    /// Leading clustering columns that decide the order across partitions.
    pub columns: Option<usize>,
}

pub fn bind(select: &Select, table: &Table, clause: &Where) -> Result<Order, QueryError> {
    let refuse = |text: String| Err(QueryError::Invalid(text));
    if select.order_by.is_empty() {
        return Ok(Order { reverse: false, columns: None });
    }
    if select.order_by.iter().any(|o| o.ann_of.is_some()) {
        return refuse("ANN ordering by vector requires the column to be indexed".into());
    }
    if !clause.names_partitions() {
        return refuse(
            "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.".into(),
        );
    }
    let mut next = 0;
    let mut reverse = None;
    for ordering in &select.order_by {
        let name = ordering.column.as_str();
        let column = table.column(name).ok_or_else(|| undefined(table, name))?;
        if column.kind != ColumnKind::Clustering {
            return refuse(format!(
                "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got {name}"
            ));
        }
        while next != column.position {
            if next > column.position || !restricted_by_eq(clause, next) {
                return refuse(
                    "Order by currently only supports the ordering of columns following their declared order in \
                     the PRIMARY KEY"
                        .into(),
                );
            }
            next += 1;
        }
        next += 1;
        let wanted = (ordering.order == SortOrder::Desc) != column.descending;
        if reverse.is_some_and(|reverse| reverse != wanted) {
            return refuse("Unsupported order by relation".into());
        }
        reverse = Some(wanted);
    }
    Ok(Order { reverse: reverse.unwrap_or(false), columns: Some(next) })
}

/// Whether the clustering column at a position is restricted by an equality.
pub fn restricted_by_eq(clause: &Where, position: usize) -> bool {
    let mut at = 0;
    for step in &clause.restrictions.clustering.steps {
        if (at..at + step.columns).contains(&position) {
            return matches!(step.terms, Terms::One(_));
        }
        at += step.columns;
    }
    false
}
