//! Whether a table's key serves a read or write. Shared by the rules about patterns; finds nothing itself.

use crate::catalogue::{Access, Catalogue, Column, Index, IndexKind, Restriction, Table, Verb};
use cql_syntax::ast::RelationOp;

/// How much of the partition key a statement gives.
pub enum Serving<'t> {
    /// All of it.
    Whole,
    /// Nothing is asked for: every partition, or a token range.
    Scan,
    /// By an index instead; what else is asked for is found by looking at each row that the index gives.
    Index { column: String, filtered: Vec<String> },
    /// Some of it.
    Part { missing: Vec<&'t Column> },
    /// None of it, though something else is restricted.
    None,
}

/// What of the partition key the statement gives.
pub fn partition<'t>(catalogue: &Catalogue, at: usize, table: &'t Table, access: &Access) -> Serving<'t> {
    if access.verb == Verb::Insert || access.restrictions.iter().any(|r| r.is_token) {
        return Serving::Whole;
    }
    if access.restrictions.is_empty() {
        return Serving::Scan;
    }
    let (given, missing): (Vec<&Column>, Vec<&Column>) =
        table.partition_columns().partition(|column| access.point(&column.name).is_some());
    if missing.is_empty() {
        return Serving::Whole;
    }
    if let Some(serving) = by_index(catalogue, at, table, access) {
        return serving;
    }
    if given.is_empty() { Serving::None } else { Serving::Part { missing } }
}

/// The index that finds rows of this table by what the statement asks for, if one does.
fn by_index<'t>(catalogue: &Catalogue, at: usize, table: &'t Table, access: &Access) -> Option<Serving<'t>> {
    let served = |r: &&Restriction| index_of(catalogue, at, table, r).is_some();
    let used: Vec<&Restriction> = access.restrictions.iter().filter(|r| !r.is_token).filter(served).collect();
    let first = used.first()?;
    // Attached indexes are combined; of the others one is used and the rest is a filter.
    let is_attached = |r: &Restriction| {
        index_of(catalogue, at, table, r).is_some_and(|index| index.kind == IndexKind::Attached)
    };
    let is_left = |r: &&Restriction| {
        let combined =
            used.iter().any(|u| u.span.start == r.span.start) && is_attached(r) && is_attached(first);
        r.span.start != first.span.start && !combined && r.op != RelationOp::IsNotNull
    };
    let filtered =
        access.restrictions.iter().filter(is_left).flat_map(|r| r.columns.iter().cloned()).collect();
    Some(Serving::Index { column: first.columns.first()?.clone(), filtered })
}

/// The index that serves a relation.
pub fn index_of<'c>(
    catalogue: &'c Catalogue,
    at: usize,
    table: &Table,
    restriction: &Restriction,
) -> Option<&'c Index> {
    let name = restriction.columns.first()?;
    if restriction.is_index {
        return catalogue.indexes_of(at).find(|index| index.name.as_ref() == Some(name));
    }
    let column = table.column(name)?;
    catalogue
        .indexes_of(at)
        .find(|index| index.column == *name && index.serves(restriction.op, restriction.is_entry, column))
}

/// What stands in the way of reading one run of rows inside a partition.
#[derive(Debug, Default)]
pub struct Inside {
    /// A range on a clustering column with an earlier one open: (column, open column).
    pub range_gap: Option<(String, String)>,
    /// Restricted columns that only a filter can serve.
    pub filtered: Vec<String>,
    /// Number of leading clustering columns that have one value.
    pub fixed: usize,
}

/// How the restrictions beside the partition key meet the clustering key.
pub fn inside(catalogue: &Catalogue, at: usize, table: &Table, access: &Access) -> Inside {
    let mut inside = Inside::default();
    let clustering: Vec<&Column> = table.clustering_columns().collect();
    inside.fixed = clustering.iter().take_while(|c| access.point(&c.name).is_some()).count();
    // The first column that is not fixed may have a range; behind it nothing may be restricted.
    let open = clustering.get(inside.fixed).map(|c| c.name.as_str());
    for restriction in access.restrictions.iter().filter(|r| !r.is_token) {
        // A multi-column slice begins at its first column.
        let Some(name) = restriction.columns.first() else { continue };
        let is_indexed = |_: &str| index_of(catalogue, at, table, restriction).is_some();
        let position = clustering.iter().position(|c| c.name == *name);
        match position {
            Some(position) if position < inside.fixed => {}
            Some(position) if position == inside.fixed && restriction.op.is_slice() => {}
            Some(_) if is_indexed(name) => {}
            Some(position) if restriction.op.is_slice() && position > inside.fixed => {
                let has_range = open.is_some_and(|open| access.slice(open).is_some());
                match open {
                    Some(open) if !has_range => inside.range_gap = Some((name.clone(), open.to_string())),
                    _ => inside.filtered.push(name.clone()),
                }
            }
            Some(_) => inside.filtered.push(name.clone()),
            None => {
                let is_partition =
                    table.partition_columns().any(|c| c.name == *name) || table.is_server_bucket(name);
                let known = table.column(name).is_some();
                if known && !is_partition && !is_indexed(name) && restriction.op != RelationOp::IsNotNull {
                    inside.filtered.push(name.clone());
                }
            }
        }
    }
    inside
}

/// Whether some read of the table gives the whole partition key.
pub fn has_whole_read(catalogue: &Catalogue, at: usize, table: &Table) -> bool {
    catalogue
        .accesses_of(at)
        .any(|access| access.is_read() && matches!(partition(catalogue, at, table, access), Serving::Whole))
}
