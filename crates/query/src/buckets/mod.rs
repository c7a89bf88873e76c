//! Bucketed tables: from rows to their partitions, and from restrictions to the buckets that can have rows.
//!
//! An entity is what a statement names as one partition. Its key is that of its record: the values of the partition key columns
//! without buckets, as a composite. The keys of its partitions begin with the same bytes and end with their buckets.

mod homes;
mod prune;
mod spill;
mod walk;

pub use homes::{Moved, entity_of, entity_of_plan, partition_of};
pub use prune::{Pruned, prune};
pub use spill::{Spilling, may_be_in};
pub use walk::{Reading, Walk};

use crate::error::QueryError;
use crate::fault::{BucketFault, KeyFault};
use model::comparable;
use model::key::{PARTITION_KEY_BYTES_MAX, PartitionKey};
use schema::{Bucketing, Table};
use store::{Slice, Store};

/// The buckets of one row or one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    /// The start of the time bucket, in milliseconds.
    pub time: Option<i64>,
    pub hash: Option<i32>,
}

impl Bucket {
    /// The partition of an entity that has the rows of this bucket.
    pub fn key(self, entity: &PartitionKey) -> Result<PartitionKey, QueryError> {
        let mut bytes = Vec::with_capacity(entity.bytes().len() + 18);
        bytes.extend_from_slice(entity.bytes());
        if let Some(time) = self.time {
            bytes.extend_from_slice(&[0, 8]);
            bytes.extend_from_slice(&time.to_be_bytes());
            bytes.push(0);
        }
        if let Some(hash) = self.hash {
            bytes.extend_from_slice(&[0, 4]);
            bytes.extend_from_slice(&hash.to_be_bytes());
            bytes.push(0);
        }
        PartitionKey::of(&bytes).ok_or_else(|| {
            KeyFault::TooLong { bytes: bytes.len(), bytes_max: PARTITION_KEY_BYTES_MAX }.into()
        })
    }

    /// The bucket that a partition is, and the bytes of its entity; `None` if the key is not one of the plan's.
    pub fn of_key<'k>(plan: &Bucketing, key: &'k PartitionKey) -> Option<(&'k [u8], Bucket)> {
        fn last<'b, const N: usize>(bytes: &mut &'b [u8]) -> Option<&'b [u8; N]> {
            let (front, value) = bytes.strip_suffix(&[0])?.split_last_chunk::<N>()?;
            *bytes = front.strip_suffix(&[0, N as u8])?;
            Some(value)
        }
        let mut rest = key.bytes();
        let hash = match &plan.hash {
            Some(_) => Some(i32::from_be_bytes(*last::<4>(&mut rest)?)),
            None => None,
        };
        let time = match &plan.time {
            Some(_) => Some(i64::from_be_bytes(*last::<8>(&mut rest)?)),
            None => None,
        };
        Some((rest, Bucket { time, hash }))
    }

    /// The bucket of the row with this clustering key.
    pub fn of_row(table: &Table, plan: &Bucketing, clustering: &[u8]) -> Result<Bucket, QueryError> {
        let time = match &plan.time {
            None => None,
            Some(time) => {
                let column = &table.clustering[time.by];
                let value = component(table, clustering, time.by);
                let bucket = value.and_then(|value| time.bucket(&column.data_type, &value));
                Some(bucket.ok_or_else(|| BucketFault::NoBucket { column: column.name.to_string() })?)
            }
        };
        let hash = match &plan.hash {
            None => None,
            Some(hash) => {
                let value = component(table, clustering, hash.by);
                Some(hash.bucket(&value.ok_or(KeyFault::MalformedClustering)?))
            }
        };
        Ok(Bucket { time, hash })
    }

    /// As the bucket columns show it.
    pub fn values(self) -> impl Iterator<Item = Vec<u8>> {
        let time = self.time.map(|time| time.to_be_bytes().to_vec());
        time.into_iter().chain(self.hash.map(|hash| hash.to_be_bytes().to_vec()))
    }
}

/// The value (wire form) of one clustering column inside a clustering key.
fn component(table: &Table, clustering: &[u8], at: usize) -> Option<Vec<u8>> {
    let mut rest = clustering;
    for column in table.clustering.get(..at)? {
        rest = rest.get(comparable::skip(&column.data_type, column.descending, rest).ok()?..)?;
    }
    let column = table.clustering.get(at)?;
    let mut value = Vec::with_capacity(16);
    comparable::decode(&column.data_type, column.descending, rest, &mut value).ok()?;
    Some(value)
}

/// The key of an entity, of one wire value per column.
pub fn entity_key<V: AsRef<[u8]>>(values: &[V]) -> Result<PartitionKey, QueryError> {
    PartitionKey::composite(values).ok_or_else(|| {
        let bytes: usize = values.iter().map(|value| value.as_ref().len() + 3).sum();
        KeyFault::TooLong { bytes, bytes_max: PARTITION_KEY_BYTES_MAX }.into()
    })
}

/// Every partition of an entity that may have rows in the slices, in the order of time.
pub async fn partitions_of<S: Store>(
    reading: &Reading<'_, S>,
    table: &Table,
    plan: &Bucketing,
    entity: &PartitionKey,
    slices: &[Slice],
) -> Result<Vec<PartitionKey>, QueryError> {
    let pruned = prune(table, plan, slices, reading.now_seconds);
    let mut walk = Walk::new(reading, table, entity.clone(), &pruned, false);
    let mut keys = Vec::new();
    let mut at = 0;
    while let Some(time) = walk.at(at, reading).await? {
        at += 1;
        for hash in pruned.hashes(plan) {
            keys.push(Bucket { time, hash }.key(entity)?);
        }
    }
    Ok(keys)
}
