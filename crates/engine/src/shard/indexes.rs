//! Entries of indexes: found on the shard that owns the rows, logged in the commit that changes them.
//!
//! No lock is taken. If somebody else changes a row at the same moment, an old entry may stay behind; readers of an index
//! expect that. A needed entry is never missing (see `store::index`).

use super::Shard;
use super::reads::CurrentRows;
use store::index::{self, Needs};
use store::{Mutation, Partitions, Read, RowPosition, Slice, StoreError};

/// Entries of a partition that a commit looks at to find those that it makes obsolete. A deletion of more rows than that leaves
/// the entries of the others behind.
const OBSOLETE_SCAN_MAX: u64 = 10_000;

impl Shard {
    /// What a mutation of a partition of this shard does to the indexes of its table.
    pub(super) fn index_delta(
        &self,
        mutation: &Mutation,
        now_seconds: u32,
    ) -> Result<Vec<Mutation>, StoreError> {
        // Borrowed while its rows are read: nothing changes tables meanwhile, and a copy of the settings per write is dear.
        let tables = self.tables.borrow();
        let table = tables.get(&mutation.table).ok_or(StoreError::UnknownTable(mutation.table))?;
        let indexes = &table.config.indexes;
        if indexes.is_empty() {
            return Ok(Vec::new());
        }
        let needs = index::needs(indexes, mutation);
        let mut old = CurrentRows::default();
        if !needs.is_empty() {
            let read = Read {
                statics: true,
                scan_limit: OBSOLETE_SCAN_MAX,
                ..Read::of(mutation.table, Partitions::One(mutation.key.clone()), slices(needs), now_seconds)
            };
            self.read_stored(&read, &mut old)?;
        }
        Ok(index::delta(indexes, mutation, old.rows(), now_seconds))
    }
}

/// Rows and ranges as slices: ascending, and no two overlap.
pub(super) fn slices(needs: Needs) -> Vec<Slice> {
    let rows = needs.rows.iter().filter_map(|position| match position {
        RowPosition::Static => None,
        RowPosition::Row(clustering) => Some(Slice::one(clustering)),
    });
    apart(rows.chain(needs.ranges).collect())
}

/// The same of slices in any order.
pub(super) fn apart(mut slices: Vec<Slice>) -> Vec<Slice> {
    slices.retain(|slice| !slice.is_empty());
    slices.sort_by(|a, b| a.start.cmp(&b.start));
    let mut apart: Vec<Slice> = Vec::with_capacity(slices.len());
    for slice in slices {
        match apart.last_mut() {
            Some(last) if slice.start <= last.end => last.end = slice.end.max(std::mem::take(&mut last.end)),
            _ => apart.push(slice),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_apart_and_in_order() {
        let range = |start: &[u8], end: &[u8]| Slice { start: start.to_vec(), end: end.to_vec() };
        let row = |clustering: &[u8]| RowPosition::Row(clustering.to_vec());
        let needs = Needs {
            rows: vec![row(b"\x20d"), RowPosition::Static, row(b"\x20b"), row(b"\x20b"), row(b"\x20z")],
            ranges: vec![range(b"\x20c", b"\x20f"), range(b"\x20e", b"\x20g"), range(b"\x20q", b"\x20q")],
        };
        let expected = vec![Slice::one(b"\x20b"), range(b"\x20c", b"\x20g"), Slice::one(b"\x20z")];
        assert_eq!(slices(needs), expected);
    }
}
