//! Where the rows of a spilled bucket go.

use super::{Bucket, component};
use model::key::PartitionKey;
use schema::{Bucketing, Spill, Table, TimeBuckets};
use std::sync::Arc;

/// The plan of a table that spills, as its store must know it.
#[derive(Debug)]
pub struct Spilling(pub Arc<Table>);

impl Spilling {
    fn plan(&self) -> Option<(&Bucketing, &TimeBuckets, &Spill)> {
        let plan = self.0.bucketing()?;
        Some((plan, plan.time.as_ref()?, plan.spill.as_ref()?))
    }
}

impl store::Finer for Spilling {
    fn may_spill(&self, key: &PartitionKey) -> bool {
        let time = self.plan().and_then(|(plan, time, _)| Some((time, Bucket::of_key(plan, key)?.1.time?)));
        time.is_some_and(|(time, start)| time.is_coarse(start))
    }

    fn point(&self, key: &PartitionKey, newest: &[u8]) -> Option<i64> {
        let (plan, time, spill) = self.plan()?;
        let coarse = Bucket::of_key(plan, key)?.1.time?;
        let column = self.0.clustering.get(time.by)?;
        time.point(spill, coarse, &column.data_type, &component(&self.0, newest, time.by)?)
    }

    fn home(&self, key: &PartitionKey, point: i64, clustering: &[u8]) -> Option<PartitionKey> {
        let (plan, time, spill) = self.plan()?;
        let (entity, Bucket { time: coarse, hash }) = Bucket::of_key(plan, key)?;
        let column = self.0.clustering.get(time.by)?;
        let value = component(&self.0, clustering, time.by)?;
        // A deletion may name a bucket that the row is not in.
        if time.bucket(&column.data_type, &value) != coarse {
            return None;
        }
        let finer = spill.start(&column.data_type, &value).filter(|finer| *finer >= point);
        Bucket { time: Some(finer?), hash }.key(&PartitionKey::of(entity)?).ok()
    }

    fn newest_first(&self) -> bool {
        let column = self.plan().and_then(|(_, time, _)| self.0.clustering.get(time.by));
        column.is_some_and(|column| column.descending)
    }
}

/// Whether a row may be said to be in a bucket: in the one of the plan, or in the finer one that it is in if that bucket has spilled.
pub fn may_be_in(table: &Table, clustering: &[u8], own: Bucket, given: Bucket) -> bool {
    if given == own {
        return true;
    }
    let Some((time, spill, column)) = table.spilling() else { return false };
    let value = component(table, clustering, time.by);
    let finer = value.and_then(|value| spill.start(&column.data_type, &value));
    let is_of_own = |start: i64| time.every.start(start) == own.time;
    given.hash == own.hash && given.time == finer && given.time.is_some_and(is_of_own)
}
