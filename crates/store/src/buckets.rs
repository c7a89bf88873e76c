//! The record of buckets: which time buckets each entity of a bucketed table has.
//!
//! A bucketed table has the bucket in its partition key, after the columns that name the entity. The record is a table of its
//! own: its partition is the entity, its rows are the starts of the buckets. An entry joins the commit of the first row of its
//! bucket, so a row is never in a bucket that is not recorded. An entry may lead to a bucket that has become empty: readers
//! find nothing there.

use crate::TableId;
use crate::mutation::Mutation;
use model::comparable;
use model::deletion::{Deletion, Marker};
use model::key::{KIND_ROW, PartitionKey};
use model::row::{RowView, RowWriter};
use model::types::DataType;

/// What a store must know to keep the record of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketsConfig {
    /// The table of the record.
    pub record: TableId,
    /// A hash bucket stands behind the time bucket in the partition key. It is not recorded.
    pub hashed: bool,
}

/// A component of a partition key: two bytes of length, the value, a zero.
const TIME_BYTES: usize = 2 + 8 + 1;
const HASH_BYTES: usize = 2 + 4 + 1;

impl BucketsConfig {
    /// The entity and the time bucket (wire form) of a partition; `None` for a key that is not of this form.
    pub fn split<'k>(&self, key: &'k PartitionKey) -> Option<(&'k [u8], &'k [u8])> {
        let bytes = key.bytes();
        let bytes = if self.hashed { bytes.get(..bytes.len().checked_sub(HASH_BYTES)?)? } else { bytes };
        let (entity, bucket) = bytes.split_at_checked(bytes.len().checked_sub(TIME_BYTES)?)?;
        bucket.starts_with(&[0, 8]).then(|| (entity, &bucket[2..10]))
    }

    /// The entry that a mutation needs; `None` for one that writes no rows.
    pub fn entry(&self, mutation: &Mutation) -> Option<Mutation> {
        if !writes_rows(mutation) {
            return None;
        }
        let (entity, bucket) = self.split(&mutation.key)?;
        // As young as its rows: what would delete the entry must be able to delete them.
        let timestamp = mutation.max_timestamp()?;
        let mut writer = RowWriter::new();
        writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
        let mut entry = Mutation::new(self.record, PartitionKey::of(entity)?);
        entry.row(&clustering(bucket)?, writer.view());
        Some(entry)
    }
}

/// The place of a bucket (wire form of a timestamp) in the record of its entity.
pub fn clustering(bucket: &[u8]) -> Option<Vec<u8>> {
    let mut clustering = Vec::with_capacity(9);
    comparable::encode(&DataType::Timestamp, false, bucket, &mut clustering).ok()?;
    Some(clustering)
}

/// The bucket at a place in a record, in milliseconds.
pub fn bucket_at(clustering: &[u8]) -> Option<i64> {
    let mut wire = Vec::with_capacity(8);
    comparable::decode(&DataType::Timestamp, false, clustering, &mut wire).ok()?;
    wire.try_into().ok().map(i64::from_be_bytes)
}

/// Whether a mutation writes rows: deletions alone need no entry.
pub fn writes_rows(mutation: &Mutation) -> bool {
    mutation.entries().any(|entry| {
        entry.position.first() == Some(&KIND_ROW)
            && RowView::from_payload(entry.payload)
                .is_some_and(|row| row.marker().is_some() || row.cells().next().is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_of_a_bucket_makes_an_entry_and_deletions_make_none() {
        for hashed in [false, true] {
            let config = BucketsConfig { record: TableId(8), hashed };
            let bucket = 86_400_000i64.to_be_bytes();
            let mut values: Vec<&[u8]> = vec![b"tenant", b"", &bucket];
            if hashed {
                values.push(&[0, 0, 0, 3]);
            }
            let key = PartitionKey::composite(&values).unwrap();
            let mut mutation = Mutation::new(TableId(7), key);
            mutation.delete_partition(Deletion { timestamp: 9, local_seconds: 1 });
            let mut writer = RowWriter::new();
            writer.begin(8, None, Deletion { timestamp: 8, local_seconds: 1 });
            mutation.row(&[1], writer.view());
            assert_eq!(config.entry(&mutation), None);
            writer.begin(5, Some(Marker::new(5)), Deletion::NONE);
            mutation.row(&[2], writer.view());
            let entry = config.entry(&mutation).unwrap();
            assert_eq!(entry.key, PartitionKey::composite(&[&b"tenant"[..], b""]).unwrap());
            assert_eq!(entry.max_timestamp(), Some(9));
            let at = entry.entries().next().unwrap().position[1..].to_vec();
            assert_eq!(bucket_at(&at), Some(86_400_000));
            let foreign = Mutation::new(TableId(7), PartitionKey::of(b"short").unwrap());
            assert_eq!(config.split(&foreign.key), None);
        }
    }
}
