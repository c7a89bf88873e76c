//! ORDER BY: a prefix of the clustering columns, all of them as stored or all of them reversed; or
//! the similarity of vectors.

use super::super::Scope;
use super::super::expr::{RowScope, bind_term, undefined};
use super::super::markers::Markers;
use super::super::restrictions::Where;
use crate::CqlError;
use cql_syntax::ast::{Ordering, Select, SortOrder};
use model::types::DataType;
use query::expr::Node;
use query::select::{Ann, NearPath, Similarity};
use schema::{ColumnKind, Index, Table};

/// How rows are ordered.
pub struct Order {
    pub reverse: bool,
    /// Leading clustering columns that decide the order across partitions.
    pub columns: Option<usize>,
}

pub fn bind(
    select: &Select,
    table: &Table,
    clause: &Where,
    allow_filtering: bool,
) -> Result<Order, CqlError> {
    let refuse = |text: String| Err(CqlError::Invalid(text));
    if select.order_by.is_empty() || select.order_by.iter().any(|o| o.ann_of.is_some()) {
        return Ok(Order { reverse: false, columns: None });
    }

    if let Some(unknown) = select.order_by.iter().find(|o| table.column(o.column.as_str()).is_none()) {
        return Err(undefined(table, unknown.column.as_str()));
    }
    if clause.uses_index && !allow_filtering {
        return refuse(
            "ORDER BY with 2ndary indexes is not supported, except for ANN queries. With ALLOW FILTERING the rows of \
             the partitions that are named by key are read in order and filtered"
                .into(),
        );
    }
    if !clause.names_partitions() {
        return refuse(
            "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.".into(),
        );
    }
    let mut next = 0;
    let mut reverse = None;
    for (place, ordering) in select.order_by.iter().enumerate() {
        let name = ordering.column.as_str();
        // A column that is named twice stays in its first place, in the order that was said last: mappers rely on it.
        let named = |other: &&Ordering| other.column.as_str() == name;
        if select.order_by.iter().take(place).any(|other| named(&other)) {
            continue;
        }
        let ordering = select.order_by.iter().rfind(named).unwrap_or(ordering);
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
            return step.terms.is_equality();
        }
        at += step.columns;
    }
    false
}

fn is_near(index: &Index) -> bool {
    index.built || index.is_storage_attached()
}

/// The way through an index on a vector, if it has lists and every row is in them.
fn near_path(table: &Table, index: &Index) -> Option<NearPath> {
    let lists = index.lists.clone().filter(|_| index.built)?;
    let recall = index.options.get("optimize_for").is_some_and(|what| what.eq_ignore_ascii_case("recall"));
    let config = query::index::config(table, index)?;
    Some(NearPath { name: index.name.clone(), config, lists, thorough: recall })
}

/// `ORDER BY v ANN OF [...]`, if the statement has it.
pub fn bind_ann(
    scope: Scope<'_>,
    select: &Select,
    row: &mut RowScope,
    markers: &mut Markers,
) -> Result<Option<Ann>, CqlError> {
    let refuse = |text: String| Err(CqlError::Invalid(text));
    let Some((ordering, target)) = select.order_by.iter().find_map(|o| Some((o, o.ann_of.as_ref()?))) else {
        return Ok(None);
    };
    if select.order_by.len() > 1 {
        return refuse("ANN ordering does not support any other ordering".into());
    }
    if ordering.order == SortOrder::Desc {
        return refuse("Descending ANN ordering is not supported".into());
    }
    let column = row.column(ordering.column.as_str())?;
    match &column.data_type {
        DataType::Vector { element, .. } if **element == DataType::Float => {}
        DataType::Vector { .. } | DataType::List { .. } => {
            return refuse("ANN ordering is only supported on float vector indexes".into());
        }
        other => {
            return refuse(format!("Unexpected receiver type '{other}'; only list and vector are expected"));
        }
    }
    if !select.group_by.is_empty() || !row.aggregates.is_empty() {
        return refuse("ANN ordering does not support aggregation".into());
    }
    if select.per_partition_limit.is_some() {
        return refuse("ANN ordering does not support PER PARTITION LIMIT".into());
    }
    let target = bind_term(scope, target, &column.data_type, &column.name, markers)?;
    match row.value(&column).node {
        Node::Input(slot) => {
            let mut indexes = row.table.indexes.iter().filter(|i| i.column == column.name && is_near(i));
            // An index that is being filled anew says what counts, too.
            let function = indexes.clone().find_map(|i| i.options.get("similarity_function"));
            let similarity = function.and_then(|name| Similarity::named(name)).unwrap_or_default();
            let near = indexes.find_map(|index| near_path(&row.table, index));
            Ok(Some(Ann { slot, target, similarity, near }))
        }
        _ => refuse("ANN ordering needs a stored vector".into()),
    }
}
