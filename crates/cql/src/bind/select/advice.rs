//! What a filtering query costs, and the table that would serve it, as DDL.

use super::super::restrictions::{Where, relation_text};
use cql_syntax::ast::{Relation, RelationOp, Select, Subject};
use model::types::{DataType, quote_identifier};
use query::restrict::PartitionRestriction;
use query::select::IndexPath;
use schema::{Column, ColumnKind, Index, Table};
use store::index::Source;

/// Longer names of tables are refused.
const NAME_LENGTH_MAX: usize = 48;

/// The warnings of a query that filters.
pub fn filtering(table: &Table, select: &Select, clause: &Where, allow_filtering: bool) -> Vec<String> {
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
    let mut filters: Vec<&Relation> =
        select.relations.iter().filter(|r| is_filter(table, clause, r)).collect();
    let served = clause.uses_index && !clause.needs_filtering;
    if let Some(path) = &clause.index {
        filters.retain(|relation| !path.all().any(|path| is_served(path, table, relation)));
        if filters.is_empty() || served {
            return Vec::new();
        }
    } else if served && !scans && clause.restrictions.names_rows() {
        return Vec::new();
    }
    let scope = scope(table, clause);
    let filters: Vec<String> = filters.into_iter().map(relation_text).collect();
    let what = if served && !allow_filtering { "SAI" } else { "ALLOW FILTERING" };
    let why = match unsorted(table, select).filter(|_| scans && served && !allow_filtering) {
        Some(index) => format!(
            ": index {} was made by an earlier release and leads to equal values alone; made anew, it serves ranges",
            quote_identifier(index)
        ),
        None => String::new(),
    };
    let mut text = format!(
        "{what}: this query {scope} and returns only rows where {}{why}; its cost grows with the data \
         read, not with the result.",
        filters.join(" AND ")
    );
    if let Some(ddl) = serving_table(table, select) {
        text.push_str(" A table that serves it: ");
        text.push_str(&ddl);
    }
    vec![text]
}

/// An index that could answer a range of the statement, had it been made by this release.
fn unsorted<'t>(table: &'t Table, select: &Select) -> Option<&'t str> {
    let ranges = select.relations.iter().filter(|relation| is_range(relation.op));
    let mut names = ranges.filter_map(|relation| match &relation.subject {
        Subject::Column(name) => Some(name.as_str()),
        _ => None,
    });
    names.find_map(|name| {
        let column = table.column(name)?;
        let could = |index: &&Index| *index.column == *name && index.answers_ranges(&column.data_type);
        table.indexes.iter().filter(could).find(|index| !index.sorted).map(|index| &*index.name)
    })
}

fn is_range(op: RelationOp) -> bool {
    op.is_slice() || op == RelationOp::Between
}

/// What is read.
fn scope(table: &Table, clause: &Where) -> String {
    let name = format!("{}.{}", table.keyspace, table.name);
    let (partitions, among) = match &clause.restrictions.partitions {
        PartitionRestriction::Keys { .. } | PartitionRestriction::Entities { .. } => {
            (format!("every row of the partitions it names in {name}"), ", in the partitions it names")
        }
        PartitionRestriction::Range(tokens) if tokens.is_all() => (format!("every partition of {name}"), ""),
        PartitionRestriction::Range(_) => {
            (format!("every partition of {name} in the token range"), ", in the token range")
        }
    };
    match &clause.index {
        None => format!("reads {partitions}"),
        Some(path) => {
            let what = if path.whole_partitions { "partitions" } else { "rows" };
            let names: Vec<String> =
                path.all().map(|path| quote_identifier(&path.name).to_string()).collect();
            match names.as_slice() {
                [only] => format!("reads the {what} of {name} that index {only} leads to{among}"),
                _ => format!("reads the {what} of {name} that indexes {} lead to{among}", names.join(", ")),
            }
        }
    }
}

/// Whether a relation is the one whose value is looked up in the index.
fn is_served(path: &IndexPath, table: &Table, relation: &Relation) -> bool {
    let (name, element) = match &relation.subject {
        Subject::Column(name) => (name, false),
        Subject::Columns(names) => match names.as_slice() {
            [name] => (name, false),
            _ => return false,
        },
        Subject::Element { column, .. } => (column, true),
        Subject::Field { .. } | Subject::Token(_) | Subject::Index(_) => return false,
    };
    let is_map = || table.column(&path.column).is_some_and(|c| matches!(c.data_type, DataType::Map { .. }));
    let op = match &path.config.source {
        Source::Entry { .. } => return *path.column == *name.as_str() && element,
        Source::Path { .. } if is_map() => RelationOp::ContainsKey,
        Source::Path { .. } | Source::Value { .. } => RelationOp::Contains,
        Source::Cell { .. } | Source::Clustering { .. } | Source::Partition { .. } | Source::Near { .. } => {
            RelationOp::Eq
        }
    };
    if path.is_range() {
        return *path.column == *name.as_str() && !element && is_range(relation.op);
    }
    let asked = if relation.op == RelationOp::In { RelationOp::Eq } else { relation.op };
    *path.column == *name.as_str() && !element && asked == op
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

/// A column of the table that would serve the query.
#[derive(Clone, PartialEq)]
struct Part {
    name: String,
    data_type: String,
}

impl Part {
    fn of(column: &Column) -> Part {
        Part { name: column.name.to_string(), data_type: column.data_type.to_string() }
    }
}

/// How a relation would be served by a table made for it.
enum Serves {
    Partition(Part),
    Range(Part),
    /// A row for every element of the collection.
    Element(Part),
}

fn serves(table: &Table, relation: &Relation) -> Option<Serves> {
    let Subject::Column(name) = &relation.subject else { return None };
    let column = table.column(name.as_str())?;
    let element = |of: &DataType| {
        let name = format!("{}_element", column.name);
        (!of.is_multi_cell()).then(|| Serves::Element(Part { name, data_type: of.to_string() }))
    };
    match (relation.op, &column.data_type) {
        _ if column.kind == ColumnKind::Static => None,
        (RelationOp::Contains, DataType::List { element: of, .. } | DataType::Set { element: of, .. }) => {
            element(of)
        }
        (RelationOp::Contains, DataType::Map { value: of, .. }) => element(of),
        (RelationOp::ContainsKey, DataType::Map { key: of, .. }) => element(of),
        // Not allowed in a key.
        (_, DataType::Counter | DataType::Duration) => None,
        (_, data_type) if data_type.is_multi_cell() => None,
        (RelationOp::Eq | RelationOp::In, _) => Some(Serves::Partition(Part::of(column))),
        (op, _) if op.is_slice() => Some(Serves::Range(Part::of(column))),
        _ => None,
    }
}

/// A table whose partition key holds the equalities and whose clustering starts with the range. A range alone needs a
/// partition key that spreads it: a bucket.
fn serving_table(table: &Table, select: &Select) -> Option<String> {
    let (mut partition, mut ranges, mut notes) = (Vec::<Part>::new(), Vec::<Part>::new(), "");
    for relation in &select.relations {
        let (parts, part) = match serves(table, relation)? {
            Serves::Partition(part) => (&mut partition, part),
            Serves::Range(part) => (&mut ranges, part),
            Serves::Element(part) => {
                notes = " It has one row for every element.";
                (&mut partition, part)
            }
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    // Only one range can be read in order; with another one the new table would filter, too.
    if ranges.len() > 1 {
        return None;
    }
    let by = if partition.is_empty() { &ranges } else { &partition };
    let by: Vec<String> = by.iter().map(|part| part.name.clone()).collect();
    if partition.is_empty() {
        let taken = |name: &str| table.column(name).is_some();
        let name = if taken("bucket") { "bucket_of_rows" } else { "bucket" };
        partition.push(Part { name: name.into(), data_type: "int".into() });
        notes = " The bucket spreads the rows: write a hash of the key modulo a small number into it, and ask for every \
                 bucket.";
    }
    let mut clustering: Vec<Part> = Vec::new();
    for part in ranges.into_iter().chain(table.primary_key().map(Part::of)) {
        if !partition.contains(&part) && !clustering.contains(&part) {
            clustering.push(part);
        }
    }
    let names =
        |parts: &[Part]| parts.iter().map(|p| quote_identifier(&p.name)).collect::<Vec<_>>().join(", ");
    let mut columns: Vec<Part> = partition.iter().chain(&clustering).cloned().collect();
    for part in table.regulars.iter().map(Part::of) {
        if !columns.contains(&part) {
            columns.push(part);
        }
    }
    let columns: Vec<String> =
        columns.iter().map(|p| format!("{} {}", quote_identifier(&p.name), p.data_type)).collect();
    let new_name: String =
        format!("{}_by_{}", table.name, by.join("_")).chars().take(NAME_LENGTH_MAX).collect();
    let (keyspace, new_name) = (quote_identifier(&table.keyspace), quote_identifier(&new_name));
    let key = match clustering.is_empty() {
        true => format!("({})", names(&partition)),
        false => format!("({}), {}", names(&partition), names(&clustering)),
    };
    Some(format!("CREATE TABLE {keyspace}.{new_name} ({}, PRIMARY KEY ({key}));{notes}", columns.join(", ")))
}
