//! What a filtering query costs, and the table that would serve it, as DDL.

use super::super::restrictions::{Where, relation_text};
use cql_syntax::ast::{Relation, RelationOp, Select, Subject};
use model::types::quote_identifier;
use query::restrict::PartitionRestriction;
use schema::{Column, ColumnKind, Table};

/// The warnings of a query that filters.
pub fn filtering(table: &Table, select: &Select, clause: &Where) -> Vec<String> {
    let scans = matches!(clause.restrictions.partitions, PartitionRestriction::Range(_));
    if select.order_by.iter().any(|o| o.ann_of.is_some()) {
        let name = format!("{}.{}", table.keyspace, table.name);
        return vec![format!(
            "ANN OF compares every vector it reads in {name}: the answer is exact, its cost grows with the data read"
        )];
    }
    let filters = !clause.filters.is_empty() || (scans && clause.on_clustering);
    if !filters || table.is_virtual() {
        return Vec::new();
    }
    let name = format!("{}.{}", table.keyspace, table.name);
    let scope = match &clause.restrictions.partitions {
        PartitionRestriction::Keys { .. } => {
            format!("reads every row of the partitions it names in {name}")
        }
        PartitionRestriction::Range(tokens) if tokens.is_all() => format!("reads every partition of {name}"),
        PartitionRestriction::Range(_) => format!("reads every partition of {name} in the token range"),
    };
    let filters = select.relations.iter().filter(|r| is_filter(table, clause, r));
    let filters: Vec<String> = filters.map(relation_text).collect();
    let mut text = format!(
        "ALLOW FILTERING: this query {scope} and returns only rows where {}; its cost grows with the data \
         read, not with the result.",
        filters.join(" AND ")
    );
    if let Some(ddl) = serving_table(table, select) {
        text.push_str(" A table that serves it: ");
        text.push_str(&ddl);
    }
    vec![text]
}

fn is_filter(table: &Table, clause: &Where, relation: &Relation) -> bool {
    let name = match &relation.subject {
        Subject::Column(name)
        | Subject::Element { column: name, .. }
        | Subject::Field { column: name, .. } => name,
        Subject::Columns(names) => match names.first() {
            Some(name) => name,
            None => return false,
        },
        Subject::Token(_) | Subject::Index(_) => return false,
    };
    let Some(column) = table.column(name.as_str()) else { return false };
    let scans = matches!(clause.restrictions.partitions, PartitionRestriction::Range(_));
    clause.filters.iter().any(|f| f.column == *column.name)
        || (scans && column.kind == ColumnKind::Clustering)
}

/// A table whose partition key holds the equalities and whose clustering starts with the ranges.
fn serving_table(table: &Table, select: &Select) -> Option<String> {
    let plain = |relation: &Relation| match &relation.subject {
        Subject::Column(name) => table.column(name.as_str()).map(|c| (c.clone(), relation.op)),
        _ => None,
    };
    let relations: Vec<(Column, RelationOp)> = select.relations.iter().map(plain).collect::<Option<_>>()?;
    let equal = |op: &RelationOp| matches!(op, RelationOp::Eq | RelationOp::In);
    let usable = |c: &Column| !c.data_type.is_multi_cell() && c.kind != ColumnKind::Static;
    if !relations.iter().all(|(c, op)| usable(c) && (equal(op) || op.is_slice())) {
        return None;
    }
    let partition: Vec<&Column> = relations.iter().filter(|(_, op)| equal(op)).map(|(c, _)| c).collect();
    let ranges: Vec<&Column> = relations.iter().filter(|(_, op)| op.is_slice()).map(|(c, _)| c).collect();
    if partition.is_empty() {
        return None;
    }
    let mut clustering: Vec<&Column> = Vec::new();
    for column in ranges.into_iter().chain(table.primary_key()) {
        if !partition.iter().chain(&clustering).any(|c| c.id == column.id) {
            clustering.push(column);
        }
    }
    let names = |columns: &[&Column]| {
        columns.iter().map(|c| quote_identifier(&c.name)).collect::<Vec<_>>().join(", ")
    };
    let mut columns: Vec<&Column> = partition.iter().chain(&clustering).copied().collect();
    for column in &table.regulars {
        if !columns.iter().any(|c| c.id == column.id) {
            columns.push(column);
        }
    }
    let columns: Vec<String> =
        columns.iter().map(|c| format!("{} {}", quote_identifier(&c.name), c.data_type)).collect();
    let by = partition.iter().map(|c| &*c.name).collect::<Vec<_>>().join("_");
    let new_name = quote_identifier(&format!("{}_by_{by}", table.name));
    let keyspace = quote_identifier(&table.keyspace);
    let key = match clustering.is_empty() {
        true => format!("({})", names(&partition)),
        false => format!("({}), {}", names(&partition), names(&clustering)),
    };
    Some(format!("CREATE TABLE {keyspace}.{new_name} ({}, PRIMARY KEY ({key}));", columns.join(", ")))
}
