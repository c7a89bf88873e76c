//! Spilling: a time bucket that has grown too large continues in finer ones.
//!
//! From a point of time on, which lies behind all rows of the bucket when it is set and never changes, its rows are in finer buckets. So
//! the home of a row follows from that point and its clustering key, and no row ever moves. The store sets points and keeps them.

use super::{Every, TimeBuckets};
use crate::column::Column;
use crate::fault::{BucketingFault, SchemaError};
use crate::options::size_in_bytes;
use model::types::DataType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most finer buckets that one bucket may have: an entity's record has a row for each.
const FINER_MAX: u64 = 10_000;

/// The threshold of a plan that names none, and of a table whose limit names none.
const AT_BYTES: u64 = 50_000_000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spill {
    /// The length of the finer buckets.
    pub every: Every,
    /// How many bytes a bucket may have; `None`: what the limit of the table says, or 50 MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The table in which the store keeps the points.
    pub points: u32,
}

impl Spill {
    /// How many bytes a bucket may have unless the table has a limit that spills.
    pub fn bytes(&self) -> u64 {
        self.at.unwrap_or(AT_BYTES)
    }

    /// The start of the finer bucket that holds a moment.
    pub fn start(&self, data_type: &DataType, value: &[u8]) -> Option<i64> {
        self.every.start(super::millis(data_type, value)?)
    }
}

impl TimeBuckets {
    /// Whether this is the start of a bucket of the plan, and not of a finer one.
    pub fn is_coarse(&self, start: i64) -> bool {
        self.every.start(start) == Some(start)
    }

    /// From which point on a bucket goes on in finer ones whose newest row is this (wire form); `None` when it is too late: the finer bucket of that
    /// row is the last one.
    pub fn point(&self, spill: &Spill, coarse: i64, data_type: &DataType, newest: &[u8]) -> Option<i64> {
        let point = spill.every.next(spill.start(data_type, newest)?.max(coarse));
        (coarse < point && point < self.every.next(coarse)).then_some(point)
    }
}

/// Reads 'spill' and 'at' of a plan.
pub(super) fn read(
    map: &BTreeMap<String, String>,
    time: Option<&TimeBuckets>,
    clustering: Option<&str>,
) -> Result<Option<Spill>, SchemaError> {
    let Some(text) = map.get("spill") else {
        return match map.get("at") {
            None => Ok(None),
            Some(_) => Err(BucketingFault::AtWithoutSpill.into()),
        };
    };
    let Some(time) = time else {
        return Err(BucketingFault::SpillWithoutTime.into());
    };
    let Some(every) = Every::parse(text) else {
        return Err(BucketingFault::SpillMalformed { text: text.to_string() }.into());
    };
    if time.by != 0 {
        return Err(
            BucketingFault::SpillNotFirst { first: clustering.unwrap_or("another").to_string() }.into()
        );
    }
    let (coarse, fine) = (time.every.seconds(), every.seconds());
    if fine >= coarse || coarse / fine > FINER_MAX {
        return Err(BucketingFault::SpillLength { spill: every, every: time.every, most: FINER_MAX }.into());
    }
    let at = match map.get("at") {
        None => None,
        Some(text) => match size_in_bytes(text).filter(|bytes| *bytes > 0) {
            Some(bytes) => Some(bytes),
            None => return Err(BucketingFault::AtMalformed { text: text.to_string() }.into()),
        },
    };
    Ok(Some(Spill { every, at, points: 0 }))
}

/// The name of the first clustering column.
pub(super) fn first_name(columns: &[String]) -> Option<&str> {
    columns.first().map(String::as_str)
}

impl crate::table::Table {
    /// How long the finer buckets of the table are, and the columns and plans that say where rows go.
    pub fn spilling(&self) -> Option<(&TimeBuckets, &Spill, &Column)> {
        let plan = self.bucketing()?;
        let time = plan.time.as_ref()?;
        Some((time, plan.spill.as_ref()?, self.clustering.get(time.by)?))
    }
}

/// Refuses a limit that spills where nothing can.
pub(crate) fn check_limit(table: &crate::table::Table) -> Result<(), SchemaError> {
    let spills = table.options.partition_limit().is_some_and(|limit| limit.spill);
    let next = table.rebucketing().and_then(|next| next.plan.as_ref()?.spill.as_ref());
    match spills && table.spilling().is_none() && next.is_none() {
        false => Ok(()),
        true => Err(BucketingFault::LimitSpills.into()),
    }
}
