//! The next generation of a table: the same rows in other partitions, kept in step with every commit.
//!
//! When the buckets of a table change, its rows get other partition keys. Until all rows are copied, the store writes every row
//! that a commit touches a second time, where the new plan puts it, in the same commit and under the lock of its partition.
//!
//! Guarantees: a row that was touched is in the mirror with the cells, timestamps and times to live that it has in its table.
//! Touching a row without changing it ([`Mutation::touch`]) copies it. Images merge, so the order and the number of copies do not matter.

use crate::TableId;
use crate::buckets::BucketsConfig;
use crate::error::StoreError;
use crate::index::{IndexConfig, additions};
use crate::mutation::Mutation;
use crate::read::Slice;
use crate::refused::Refused;
use model::deletion::Deletion;
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW, PartitionKey};
use model::merge::RowMerger;
use model::row::{CellState, RowView, RowWriter};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Where rows of one generation are in another.
pub trait Homes: fmt::Debug + Send + Sync {
    /// The partition of a row; `None` when the other plan has none for it.
    fn home(&self, key: &PartitionKey, clustering: &[u8]) -> Option<PartitionKey>;
}

/// The mirror of a table, as its store must know it.
#[derive(Clone, Debug)]
pub struct MirrorConfig {
    /// Holds the rows.
    pub table: TableId,
    pub homes: Arc<dyn Homes>,
    /// The mirror's own record of buckets and its own indexes.
    pub buckets: Option<BucketsConfig>,
    pub indexes: Vec<IndexConfig>,
}

/// Generations have ids of their own, and what their rows' homes are never changes.
impl PartialEq for MirrorConfig {
    fn eq(&self, other: &MirrorConfig) -> bool {
        self.table == other.table && self.buckets == other.buckets && self.indexes == other.indexes
    }
}

/// Rows of one partition: clustering and image, ascending.
pub type Images<'r> = BTreeMap<&'r [u8], RowView<'r>>;

impl MirrorConfig {
    /// What a mutation does to the mirror. `before` and `after` are the live rows that it touches, as they are and as they will be.
    pub fn follow(
        &self,
        mutation: &Mutation,
        before: &Images<'_>,
        after: &Images<'_>,
    ) -> Result<Vec<Mutation>, StoreError> {
        let written = Written::of(mutation);
        let mut positions: Vec<&[u8]> = before.keys().chain(after.keys()).copied().collect();
        positions.extend(written.rows.keys());
        positions.sort_unstable();
        positions.dedup();
        let mut homes: BTreeMap<PartitionKey, Mutation> = BTreeMap::new();
        let mut merger = RowMerger::new();
        for clustering in positions {
            let image = after.get(clustering).copied();
            if !written.image(clustering, image, &mut merger) {
                continue;
            }
            let Some(home) = self.homes.home(&mutation.key, clustering) else {
                match image {
                    // A row that has no home was never copied, so there is nothing to delete.
                    None => continue,
                    Some(_) => return Err(homeless()),
                }
            };
            let into = homes.entry(home).or_insert_with_key(|key| Mutation::new(self.table, key.clone()));
            into.row(clustering, merger.row());
        }
        let rows: Vec<Mutation> = homes.into_values().collect();
        let entries = rows.iter().filter_map(|rows| self.buckets.as_ref()?.entry(rows));
        let indexed = rows.iter().flat_map(|rows| additions(&self.indexes, rows));
        let beside: Vec<Mutation> = entries.chain(indexed).collect();
        Ok(rows.into_iter().chain(beside).collect())
    }
}

impl MirrorConfig {
    /// Whether every row that a mutation writes has a home.
    pub fn check(&self, mutation: &Mutation) -> Result<(), StoreError> {
        let homeless = mutation.adds_data()
            && mutation.entries().any(|entry| {
                let row = entry.position.split_first().filter(|(kind, _)| **kind == KIND_ROW);
                row.is_some_and(|(_, clustering)| self.homes.home(&mutation.key, clustering).is_none())
            });
        if homeless { Err(self::homeless()) } else { Ok(()) }
    }
}

fn homeless() -> StoreError {
    Refused::NoBucket.into()
}

/// What a mutation says of rows and ranges.
struct Written<'m> {
    partition: Deletion,
    ranges: Vec<(&'m [u8], &'m [u8], Deletion)>,
    rows: BTreeMap<&'m [u8], Vec<RowView<'m>>>,
}

impl<'m> Written<'m> {
    fn of(mutation: &'m Mutation) -> Written<'m> {
        let mut written = Written { partition: Deletion::NONE, ranges: Vec::new(), rows: BTreeMap::new() };
        for entry in mutation.entries() {
            let Some((&kind, clustering)) = entry.position.split_first() else { continue };
            match (kind, Deletion::decode(entry.payload)) {
                (KIND_PARTITION_DELETION, Some((deletion, _))) => {
                    written.partition = written.partition.max(deletion);
                }
                (KIND_RANGE, Some((deletion, end))) => written.ranges.push((clustering, end, deletion)),
                (KIND_ROW, _) => {
                    let rows = written.rows.entry(clustering).or_default();
                    rows.extend(RowView::from_payload(entry.payload));
                }
                _ => {}
            }
        }
        written
    }

    /// The strongest deletion of the mutation that covers a row from outside.
    fn covering(&self, clustering: &[u8]) -> Deletion {
        let inside = |(start, end, _): &&(&[u8], &[u8], Deletion)| *start <= clustering && clustering < *end;
        self.ranges.iter().filter(inside).map(|range| range.2).fold(self.partition, Deletion::max)
    }

    /// The image of a row for the mirror: what the row will be, and every deletion that the mutation has for it. False: there is
    /// nothing to write.
    fn image(&self, clustering: &[u8], after: Option<RowView<'_>>, merger: &mut RowMerger) -> bool {
        let covering = self.covering(clustering);
        let mut deleted = RowWriter::new();
        deleted.begin(covering.timestamp, None, covering);
        let own = self.rows.get(clustering).map_or(&[][..], Vec::as_slice);
        let deletions: Vec<Vec<u8>> = own.iter().filter_map(|row| deletions_of(*row)).collect();
        let mut versions: Vec<RowView<'_>> = after.into_iter().collect();
        if !covering.is_none() {
            versions.push(deleted.view());
        }
        versions.extend(deletions.iter().filter_map(|payload| RowView::from_payload(payload)));
        !versions.is_empty() && merger.merge(&versions, Deletion::NONE, None)
    }
}

/// A row without what lives in it; `None` when nothing is left.
fn deletions_of(row: RowView<'_>) -> Option<Vec<u8>> {
    let dead = |state: &CellState<'_>| {
        matches!(state, CellState::Tombstone { .. } | CellState::ComplexDeletion { .. })
    };
    let mut cells = row.cells().filter(|cell| dead(&cell.state)).peekable();
    if row.deletion().is_none() && cells.peek().is_none() {
        return None;
    }
    let mut writer = RowWriter::new();
    writer.begin(row.base(), None, row.deletion());
    cells.for_each(|cell| writer.cell(&cell));
    Some(writer.view().to_payload())
}

/// Whether a mutation deletes more than the rows it names: then the existing rows must be looked at.
pub fn deletes_ranges(mutation: &Mutation) -> bool {
    mutation
        .entries()
        .any(|entry| matches!(entry.position.first(), Some(&(KIND_PARTITION_DELETION | KIND_RANGE))))
}

/// What a mutation touches: rows that it names, ranges that it deletes, and what is only to be copied.
pub fn touched(mutation: &Mutation) -> Vec<Slice> {
    let mut slices: Vec<Slice> = mutation.touched.iter().map(|slice| Slice::clone(slice)).collect();
    for entry in mutation.entries() {
        match entry.position.split_first() {
            Some((&KIND_PARTITION_DELETION, _)) => slices.push(Slice::all()),
            Some((&KIND_RANGE, start)) => {
                let end = Deletion::decode(entry.payload).map(|(_, end)| end.to_vec());
                slices.extend(end.map(|end| Slice { start: start.to_vec(), end }));
            }
            Some((&KIND_ROW, clustering)) => slices.push(Slice::one(clustering)),
            _ => {}
        }
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::deletion::Marker;

    /// Two partitions by the last byte of the clustering key.
    #[derive(Debug)]
    struct Halves;

    impl Homes for Halves {
        fn home(&self, key: &PartitionKey, clustering: &[u8]) -> Option<PartitionKey> {
            let half = clustering.last().filter(|last| **last < 0xf0)? % 2;
            PartitionKey::of(&[key.bytes(), &[half]].concat())
        }
    }

    fn config() -> MirrorConfig {
        MirrorConfig { table: TableId(9), homes: Arc::new(Halves), buckets: None, indexes: Vec::new() }
    }

    fn row(timestamp: i64, value: &[u8]) -> Vec<u8> {
        let mut writer = RowWriter::new();
        writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
        writer.live(3, value);
        writer.view().to_payload()
    }

    fn images(rows: &[(&'static [u8], Vec<u8>)]) -> Vec<(&'static [u8], Vec<u8>)> {
        rows.to_vec()
    }

    fn views<'r>(rows: &'r [(&'static [u8], Vec<u8>)]) -> Images<'r> {
        rows.iter().map(|(at, row)| (*at, RowView::from_payload(row).unwrap())).collect()
    }

    #[test]
    fn rows_go_home_and_ranges_become_deletions_of_rows() {
        let key = PartitionKey::of(b"k").unwrap();
        let deletion = Deletion { timestamp: 10, local_seconds: 1 };
        let mut mutation = Mutation::new(TableId(7), key.clone());
        mutation.delete_range(b"a", b"c", deletion);
        let before = images(&[(b"a", row(5, b"x")), (b"b", row(20, b"y"))]);
        let after = images(&[(b"b", row(20, b"y"))]);
        let out = config().follow(&mutation, &views(&before), &views(&after)).unwrap();
        assert_eq!(out.len(), 2, "each row has its own home");
        let found: Vec<(Deletion, bool)> = out
            .iter()
            .map(|m| RowView::from_payload(m.entries().next().unwrap().payload).unwrap())
            .map(|row| (row.deletion(), row.marker().is_some()))
            .collect();
        assert!(found.contains(&(deletion, true)) && found.contains(&(deletion, false)), "{found:?}");
    }

    #[test]
    fn what_is_dead_on_arrival_is_not_copied_and_its_deletions_are() {
        let key = PartitionKey::of(b"k").unwrap();
        let mut mutation = Mutation::new(TableId(7), key.clone());
        let payload = row(5, b"x");
        mutation.row(b"a", RowView::from_payload(&payload).unwrap());
        assert_eq!(config().follow(&mutation, &Images::new(), &Images::new()).unwrap(), Vec::new());
        let mut writer = RowWriter::new();
        writer.begin(8, None, Deletion { timestamp: 8, local_seconds: 1 });
        let mut deleting = Mutation::new(TableId(7), key);
        deleting.row(b"a", writer.view());
        assert_eq!(config().follow(&deleting, &Images::new(), &Images::new()).unwrap().len(), 1);
    }

    #[test]
    fn a_row_without_a_home_is_refused_and_its_deletion_is_not() {
        let key = PartitionKey::of(b"k").unwrap();
        let mut touching = Mutation::new(TableId(7), key.clone());
        touching.touch(Slice::all());
        let rows = images(&[(b"\xff", row(5, b"x"))]);
        let after = views(&rows);
        assert!(config().follow(&touching, &after, &after).is_err());
        let mut deleting = Mutation::new(TableId(7), key);
        deleting.delete_partition(Deletion { timestamp: 9, local_seconds: 1 });
        assert_eq!(config().follow(&deleting, &after, &Images::new()).unwrap(), Vec::new());
    }
}
