//! What the indexes of a table do for a WHERE clause: which relations they support, whether one of them (or the storage-attached
//! ones together) supports all that would otherwise be filtered, and which one to read through.
//!
//! The rules are Cassandra's, so that the same statements need ALLOW FILTERING. An index of which not every row is known yet
//! does nothing here.

use super::merge::{Merged, Restriction};
use super::relation::Test;
use model::text::TextChange;
use model::types::DataType;
use query::expr::{Expr, Node};
use query::restrict::Terms;
use query::select::{Filter, IndexPath, Lookup};
use schema::{Column, ColumnKind, Index, IndexPart, Table};
use std::collections::BTreeMap;
use store::Comparison;

/// Indexes that are read beside the first one; a statement may have hundreds of conditions.
const BESIDE_MAX: usize = 7;

/// What a relation asks of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    Equal,
    Range,
    Contains,
    ContainsKey,
    /// `m[k] = v`
    Entry,
    /// What no index answers.
    Other,
}

impl Ask {
    fn of(op: Comparison) -> Ask {
        match op {
            Comparison::Contains => Ask::Contains,
            Comparison::ContainsKey => Ask::ContainsKey,
            _ => Ask::Other,
        }
    }

    fn of_values(terms: &Terms) -> Ask {
        if terms.is_equality() { Ask::Equal } else { Ask::Other }
    }

    /// About a part of a collection: one column may be asked several times.
    fn is_part(self) -> bool {
        matches!(self, Ask::Contains | Ask::ContainsKey | Ask::Entry)
    }
}

/// What is asked of one column, or of several that are compared as a tuple.
struct Unit {
    columns: Vec<Column>,
    asks: Vec<(Ask, Option<Lookup>)>,
}

/// The relations of a clause, where some index supports at least one of them.
pub struct Indexed<'t> {
    table: &'t Table,
    partition: Vec<Unit>,
    clustering: Vec<Unit>,
    others: Vec<Unit>,
}

/// Which relations would be filters if there were no index.
pub struct Filtered {
    pub partition: bool,
    pub clustering: bool,
}

impl<'t> Indexed<'t> {
    /// `None` when no index supports any relation.
    pub fn of(table: &'t Table, merged: &Merged<'_>) -> Option<Indexed<'t>> {
        if !table.indexes.iter().any(serves) {
            return None;
        }
        let units = |of: &BTreeMap<usize, Restriction>| of.values().map(unit).collect();
        let mut others: Vec<Unit> = merged.others.iter().map(unit).collect();
        for (column, part, test) in &merged.parts {
            let ask = entry(part, test);
            match others.iter_mut().find(|unit| unit.columns.iter().any(|c| c.id == column.id)) {
                Some(unit) => unit.asks.push(ask),
                None => others.push(Unit { columns: vec![column.clone()], asks: vec![ask] }),
            }
        }
        let (partition, clustering) = (units(&merged.partition), units(&merged.clustering));
        let indexed = Indexed { table, partition, clustering, others };
        let mut all = indexed.partition.iter().chain(&indexed.clustering).chain(&indexed.others);
        let found = all.any(|unit| indexed.is_supported(unit));
        found.then_some(indexed)
    }

    pub fn supports_clustering(&self) -> bool {
        self.clustering.iter().any(|unit| self.is_supported(unit))
    }

    /// Whether nothing is left to filter: one index supports all relations, or the storage-attached ones together do.
    pub fn supports_all(&self, filtered: &Filtered) -> bool {
        let partition = self.partition.iter().filter(|_| filtered.partition);
        let clustering = self.clustering.iter().filter(|_| filtered.clustering);
        let units: Vec<&Unit> = partition.chain(clustering).chain(&self.others).collect();
        let built = || self.table.indexes.iter().filter(|index| serves(index));
        let attached: Vec<&Index> = built().filter(|index| index.is_storage_attached()).collect();
        let alone = built().filter(|index| !index.is_storage_attached()).map(|index| vec![index]);
        let covers = |group: &[&Index]| units.iter().all(|unit| unit.is_covered(group));
        covers(&attached) || alone.into_iter().any(|group| covers(&group))
    }

    /// The index to read through: of a regular column rather than of one that leads to more rows, and with it those of further
    /// conditions. With `named` partitions only relations behind the first `bound` clustering columns count: those before are in the
    /// key anyway; and no ranges, of which the entries of a whole slice would be read.
    pub fn path(&self, named: Option<usize>) -> Option<IndexPath> {
        let bound = named.unwrap_or(0);
        let partition = self.partition.iter().filter(|_| named.is_none());
        let clustering = self.clustering.iter();
        let clustering = clustering.filter(|unit| unit.columns.first().is_some_and(|c| c.position >= bound));
        let mut paths: Vec<(u32, IndexPath)> = Vec::new();
        for unit in self.others.iter().chain(clustering).chain(partition) {
            for (ask, lookup) in &unit.asks {
                let Some(lookup) = lookup else { continue };
                for (at, column) in unit.columns.iter().enumerate() {
                    let can_read = |index: &&Index| *ask != Ask::Range || (index.sorted && named.is_none());
                    let mut indexes = self.table.indexes.iter().filter(can_read);
                    let index = indexes.find(|index| supports(index, column, *ask));
                    let lookup = lookup_at(lookup, at);
                    let path = index.and_then(|index| IndexPath::new(self.table, index, lookup));
                    paths.extend(path.map(|path| (rank(column, *ask), path)));
                }
            }
        }
        paths.sort_by_key(|(rank, _)| *rank);
        let mut paths = paths.into_iter().map(|(_, path)| path);
        let mut first = paths.next()?;
        first.beside = paths.filter(|path| path.whole_partitions == first.whole_partitions).collect();
        first.beside.truncate(BESIDE_MAX);
        Some(first)
    }

    fn is_supported(&self, unit: &Unit) -> bool {
        let asked = |column: &Column| {
            let supported = |index: &Index| unit.asks.iter().any(|(ask, _)| supports(index, column, *ask));
            self.table.indexes.iter().any(supported)
        };
        unit.columns.iter().any(asked)
    }
}

impl Unit {
    fn is_covered(&self, group: &[&Index]) -> bool {
        let attached = group.first().is_some_and(|index| index.is_storage_attached());
        let supported = |column: &Column, ask: Ask| group.iter().any(|index| supports(index, column, ask));
        let parts = self.asks.iter().filter(|(ask, _)| ask.is_part()).count();
        self.columns.iter().all(|column| {
            let mut whole = self.asks.iter().filter(|(ask, _)| !ask.is_part());
            let mut some = self.asks.iter().filter(|(ask, _)| ask.is_part());
            // Of several parts of one collection, storage-attached indexes need to know one.
            whole.all(|(ask, _)| supported(column, *ask))
                && (parts == 0 || ((parts == 1 || attached) && some.any(|(ask, _)| supported(column, *ask))))
        })
    }
}

/// Whether an index supports a relation on these columns, by itself.
pub fn supports_test(table: &Table, columns: &[Column], test: &Test) -> bool {
    let ask = match test {
        Test::Among(terms) => Ask::of_values(terms),
        Test::Bound { .. } if columns.len() == 1 => Ask::Range,
        Test::Bound { .. } => Ask::Other,
        Test::Other(op, _) => Ask::of(*op),
    };
    columns.iter().any(|column| table.indexes.iter().any(|index| supports(index, column, ask)))
}

/// Whether a column is a vector with an index, which does nothing but order by similarity.
pub fn is_indexed_vector(table: &Table, column: &Column) -> bool {
    matches!(column.data_type, DataType::Vector { .. })
        && table.indexes.iter().any(|index| index.built && index.column == column.name)
}

fn unit(restriction: &Restriction) -> Unit {
    let mut asks = Vec::new();
    if let Some(terms) = &restriction.among {
        asks.push((Ask::of_values(terms), Some(Lookup::Value { terms: terms.clone(), at: 0 })));
    }
    if !restriction.except.is_empty() {
        asks.push((Ask::Other, None));
    }
    if restriction.start.is_some() || restriction.end.is_some() {
        let lookup = Lookup::Range { start: restriction.start.clone(), end: restriction.end.clone() };
        asks.push(match restriction.columns.len() {
            1 => (Ask::Range, Some(lookup)),
            _ => (Ask::Other, None),
        });
    }
    for (_, op, terms) in &restriction.others {
        asks.push((Ask::of(*op), Some(Lookup::Value { terms: terms.clone(), at: 0 })));
    }
    Unit { columns: restriction.columns.clone(), asks }
}

/// What `m[k] = v` or `u.f = v` asks.
fn entry(part: &Expr, test: &Test) -> (Ask, Option<Lookup>) {
    match (&part.node, test) {
        (Node::Element(_, key), Test::Among(terms)) if terms.is_equality() => {
            (Ask::Entry, Some(Lookup::Entry { key: (**key).clone(), terms: terms.clone() }))
        }
        _ => (Ask::Other, None),
    }
}

fn lookup_at(lookup: &Lookup, at: usize) -> Lookup {
    match lookup {
        Lookup::Value { terms, .. } => Lookup::Value { terms: terms.clone(), at },
        other => other.clone(),
    }
}

/// Whether statements may rely on an index: it knows every row, and its entries are of what its options say.
fn serves(index: &Index) -> bool {
    index.built && (index.changed || index.text_change().is_none())
}

/// What counts of the texts that a filter compares: what counts for the index that serves it. It is the one that is read, if any is.
pub fn change_of(table: &Table, filter: &Filter) -> TextChange {
    let ask = match filter.op {
        Comparison::Equal => Ask::Equal,
        Comparison::In if filter.terms.is_equality() => Ask::Equal,
        op => Ask::of(op),
    };
    let is_whole = matches!(filter.subjects.as_slice(), [subject] if matches!(subject.node, Node::Input(_)));
    let Some(column) = table.column(&filter.column).filter(|_| is_whole) else {
        return TextChange::default();
    };
    let index = table.indexes.iter().find(|index| supports(index, column, ask));
    index.map_or(TextChange::default(), Index::in_force)
}

fn supports(index: &Index, column: &Column, ask: Ask) -> bool {
    if index.column != column.name || !serves(index) {
        return false;
    }
    match (index.part, ask) {
        (IndexPart::Whole | IndexPart::Full, Ask::Equal) => {
            !matches!(column.data_type, DataType::Vector { .. })
        }
        (IndexPart::Whole, Ask::Range) => index.answers_ranges(&column.data_type),
        (IndexPart::Values, Ask::Contains)
        | (IndexPart::Keys, Ask::ContainsKey)
        | (IndexPart::Entries, Ask::Entry) => true,
        _ => false,
    }
}

/// Lower is better: fewer rows are looked at in vain.
fn rank(column: &Column, ask: Ask) -> u32 {
    match column.kind {
        ColumnKind::Regular if ask == Ask::Equal => 0,
        ColumnKind::Regular if ask != Ask::Range => 1,
        ColumnKind::Clustering if ask != Ask::Range => 2,
        ColumnKind::Regular => 3,
        ColumnKind::Clustering => 4,
        ColumnKind::Static => 5,
        ColumnKind::PartitionKey => 6,
    }
}
