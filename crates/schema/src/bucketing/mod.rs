//! Bucketing: the rows of what a statement calls one partition are in many, by time, by hash, or both.
//!
//! Each bucket column is a real column at the end of the partition key, so tools and exports see an ordinary table. Its value
//! follows from the row's clustering key alone, so who knows the row knows its bucket. This module says what buckets are; the query
//! crate has how statements go through them, and the store keeps the record of which time buckets exist.

mod every;
mod generation;
mod read;
mod spill;
#[cfg(test)]
mod tests;

pub use every::Every;
pub use generation::{Former, Rebucketing};
pub(crate) use generation::{begin, check_under_way, refuse_under_way};
pub(crate) use read::{adopt, refuse_on_view, retention, static_in_buckets};
pub use spill::Spill;
pub(crate) use spill::check_limit;

use crate::column::Column;
use crate::table::Table;
use model::timeuuid;
use model::token::murmur3;
use model::types::DataType;
use serde::{Deserialize, Serialize};

/// Under this name DESCRIBE puts the plan among the extensions of a table, where Cassandra accepts and ignores it.
pub const EXTENSION: &str = "partita.bucketing";

/// A number of hash buckets above this would make every read of an entity a read of as many partitions.
pub const HASH_BUCKETS_MAX: u32 = 256;

/// How a table is bucketed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bucketing {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeBuckets>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<HashBuckets>,
    /// The table in which the store records which time buckets each entity has; 0 without time buckets.
    pub record: u32,
    /// How a time bucket that has grown too large goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<Spill>,
    /// Rows of time buckets that ended longer ago than this are not there any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_seconds: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeBuckets {
    /// The place of the column among the clustering columns.
    pub by: usize,
    pub every: Every,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashBuckets {
    /// The place of the column among the clustering columns.
    pub by: usize,
    pub into: u32,
}

impl Bucketing {
    /// Gives the tables that the store keeps beside the plan's own their ids, from this one on; the next free id.
    pub(crate) fn number(&mut self, mut next_id: u32) -> u32 {
        let mut fresh = || {
            next_id += 1;
            next_id - 1
        };
        self.record = if self.time.is_some() { fresh() } else { 0 };
        if let Some(spill) = &mut self.spill {
            spill.points = fresh();
        }
        next_id
    }

    /// The ids of the tables that the store keeps beside the plan's own.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        let points = self.spill.as_ref().map(|spill| spill.points);
        [self.record].into_iter().chain(points).filter(|id| *id != 0)
    }

    /// How many columns of the partition key are buckets.
    pub fn columns(&self) -> usize {
        usize::from(self.time.is_some()) + usize::from(self.hash.is_some())
    }

    /// How many partitions each time bucket has, or the entity where there are no time buckets.
    pub fn fan_out(&self) -> u32 {
        self.hash.as_ref().map_or(1, |hash| hash.into)
    }

    /// The start of the oldest time bucket that is kept, in milliseconds.
    pub fn oldest_kept(&self, now_seconds: i64) -> Option<i64> {
        let (time, kept) = (self.time.as_ref()?, self.retention_seconds?);
        let now = now_seconds.saturating_mul(1000);
        // A bucket ends where the next one starts: the one that holds the edge is kept whole.
        time.every.start(now.saturating_sub(i64::try_from(kept).ok()?.saturating_mul(1000)))
    }
}

impl Bucketing {
    /// Whether the table has the columns that the plan speaks of.
    pub(crate) fn check(&self, table: &Table) -> Result<(), String> {
        let places = self.time.iter().map(|time| time.by).chain(self.hash.iter().map(|hash| hash.by));
        if self.columns() == 0 || places.max().is_none_or(|at| at >= table.clustering.len()) {
            return Err("the bucketing plan names columns that are not there".into());
        }
        if self.spill.is_some() && self.time.as_ref().is_none_or(|time| time.by != 0) {
            return Err("only buckets of a leading time column spill".into());
        }
        if table.partition_key.len() <= self.columns() || table.has_statics() {
            return Err("the bucketing plan does not fit the table".into());
        }
        let mut types = table.bucket_columns().iter().map(|column| &column.data_type);
        let expected =
            [self.time.as_ref().map(|_| DataType::Timestamp), self.hash.as_ref().map(|_| DataType::Int)];
        match expected.iter().flatten().all(|expected| types.next() == Some(expected)) {
            true => Ok(()),
            false => Err("the bucket columns are of other types".into()),
        }
    }
}

impl TimeBuckets {
    /// The start of the bucket of a value (wire form) of a column of this type; `None` when no bucket can hold it.
    pub fn bucket(&self, data_type: &DataType, value: &[u8]) -> Option<i64> {
        self.every.start(millis(data_type, value)?)
    }
}

impl HashBuckets {
    /// The bucket of a value (wire form): `token(value)` modulo the number of buckets, so that every driver can compute it.
    pub fn bucket(&self, value: &[u8]) -> i32 {
        murmur3(value).0.rem_euclid(i64::from(self.into)) as i32
    }
}

/// The moment that a value of a time type says, in milliseconds.
fn millis(data_type: &DataType, value: &[u8]) -> Option<i64> {
    match data_type {
        DataType::Timestamp => value.try_into().ok().map(i64::from_be_bytes),
        DataType::Date => {
            let days = i64::from(u32::from_be_bytes(value.try_into().ok()?)) - (1 << 31);
            days.checked_mul(every::DAY)
        }
        DataType::TimeUuid => Some(timeuuid::unix_millis(value.try_into().ok()?)),
        _ => None,
    }
}

/// Whether time buckets can be made of a column of this type.
fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp | DataType::Date | DataType::TimeUuid)
}

impl Table {
    pub fn bucketing(&self) -> Option<&Bucketing> {
        self.options.bucketing.as_ref()
    }

    /// The partition key as statements name it: without the bucket columns at its end.
    pub fn entity_key(&self) -> &[Column] {
        let buckets = self.bucketing().map_or(0, Bucketing::columns);
        &self.partition_key[..self.partition_key.len().saturating_sub(buckets)]
    }

    /// The bucket columns.
    pub fn bucket_columns(&self) -> &[Column] {
        &self.partition_key[self.entity_key().len()..]
    }

    /// The plan as DESCRIBE writes it, and as a property of CREATE TABLE reads it back.
    pub fn bucketing_text(&self) -> Option<String> {
        let plan = self.bucketing()?;
        let name = |at: usize| self.clustering.get(at).map_or("", |column| &*column.name);
        let mut parts = Vec::new();
        if let Some(time) = &plan.time {
            parts.push(format!("by={}", name(time.by)));
            parts.push(format!("every={}", time.every));
        }
        if let Some(hash) = &plan.hash {
            parts.push(format!("{}={}", if plan.time.is_some() { "hash" } else { "by" }, name(hash.by)));
            parts.push(format!("into={}", hash.into));
        }
        if let Some(spill) = &plan.spill {
            parts.push(format!("spill={}", spill.every));
            parts.extend(spill.at.map(|bytes| format!("at={bytes}")));
        }
        let first = self.bucket_columns().first().map_or("", |column| &*column.name);
        if first != read::COLUMN {
            parts.push(format!("column={first}"));
        }
        parts.extend(plan.retention_seconds.map(|seconds| format!("retention={seconds}s")));
        Some(parts.join("; "))
    }
}
