//! The time buckets of one entity, one after the other, in either direction, as far as the caller wants to go.
//!
//! They come from the record of buckets, a few at first and more with every look, so that a read of the newest rows reads
//! little of it.

use super::{Bucket, Pruned};
use crate::error::QueryError;
use model::key::PartitionKey;
use model::row::RowView;
use schema::{Table, TimeBuckets};
use store::buckets::{bucket_at, clustering};
use store::{Accounted, AheadMax, Flow, Partitions, Position, Read, ReadEnd, Sink, Slice, Store, TableId};

/// Buckets that the first look at a record takes, and most that a later one does.
const LOOK_MIN: usize = 4;
const LOOK_MAX: usize = 256;
/// Of a record on another shard: more than that many buckets ever take.
const LOOK_BYTES_MAX: usize = 64 << 10;

/// What reading the record needs of the request.
pub struct Reading<'a, S: Store> {
    pub store: &'a S,
    pub now_seconds: u32,
    pub scan_limit: u64,
    pub tombstone_limit: u64,
    pub account: Accounted,
}

/// The time buckets of an entity. Where a plan has none there is one, `None`.
pub struct Walk {
    entity: PartitionKey,
    record: TableId,
    newest_first: bool,
    slice: Slice,
    /// Finer buckets before this moment are left out.
    spilled: Option<(TimeBuckets, i64)>,
    found: Vec<Option<i64>>,
    /// The last one that the record has given.
    behind: Option<i64>,
    /// Everything is in `found`.
    complete: bool,
}

impl Walk {
    pub fn new<S: Store>(
        reading: &Reading<'_, S>,
        table: &Table,
        entity: PartitionKey,
        pruned: &Pruned,
        newest_first: bool,
    ) -> Walk {
        let place = |bucket: Option<i64>| bucket.and_then(|bucket| clustering(&bucket.to_be_bytes()));
        let start = place(pruned.first).unwrap_or_default();
        let end = match place(pruned.last) {
            Some(last) => [&last[..], &[0]].concat(),
            None => vec![0xff],
        };
        let plan = table.bucketing();
        let time = plan.and_then(|plan| plan.time.as_ref());
        let mut found: Vec<Option<i64>> = match (time, &pruned.exact) {
            (_, _) if pruned.nothing => Vec::new(),
            (None, _) => vec![None],
            (Some(_), Some(exact)) => {
                let mut exact = homes(reading, table, &entity, pruned, exact);
                // A page behind the first one begins inside.
                exact.retain(|bucket| pruned.first.is_none_or(|first| *bucket >= first));
                exact.retain(|bucket| pruned.last.is_none_or(|last| *bucket <= last));
                exact.into_iter().map(Some).collect()
            }
            (Some(_), None) => Vec::new(),
        };
        if newest_first {
            found.reverse();
        }
        let complete = pruned.nothing || time.is_none() || pruned.exact.is_some();
        let spilled = time.cloned().zip(pruned.finer_first);
        let record = TableId(plan.map_or(0, |plan| plan.record));
        Walk {
            entity,
            record,
            newest_first,
            slice: Slice { start, end },
            spilled,
            found,
            behind: None,
            complete,
        }
    }

    /// The bucket with this number; `None` when there are fewer.
    pub async fn at<S: Store>(
        &mut self,
        at: usize,
        reading: &Reading<'_, S>,
    ) -> Result<Option<Option<i64>>, QueryError> {
        while at >= self.found.len() && !self.complete {
            self.look(reading).await?;
        }
        Ok(self.found.get(at).copied())
    }

    /// How many buckets are known so far, and whether there are no more.
    pub fn known(&self) -> (usize, bool) {
        (self.found.len(), self.complete)
    }

    /// Takes the next buckets out of the record.
    async fn look<S: Store>(&mut self, reading: &Reading<'_, S>) -> Result<(), QueryError> {
        let wanted = (2 * self.found.len()).clamp(LOOK_MIN, LOOK_MAX);
        let behind = self.behind.and_then(|last| clustering(&last.to_be_bytes()));
        let position = |clustering| Position { key: self.entity.clone(), clustering: Some(clustering) };
        let mut read = Read {
            table: self.record,
            partitions: Partitions::One(self.entity.clone()),
            slices: vec![self.slice.clone()],
            reverse: self.newest_first,
            statics: false,
            after: behind.map(position),
            now_seconds: reading.now_seconds,
            scan_limit: reading.scan_limit,
            tombstone_limit: reading.tombstone_limit,
            account: reading.account.clone(),
        };
        let mut taker = Taker { found: Vec::new(), wanted };
        // A record on another shard comes with no more buckets than are wanted.
        let mut ahead = match reading.store.reads_ahead() {
            true => {
                let max = AheadMax { rows: wanted as u64, bytes: LOOK_BYTES_MAX };
                reading.store.read_ahead(vec![read.clone()], max).await?.pop().flatten()
            }
            false => None,
        };
        loop {
            let outcome = match ahead.take() {
                Some(ahead) => ahead.play(&mut taker)?,
                None => reading.store.read(&read, &mut taker).await?,
            };
            match outcome.end {
                ReadEnd::Complete => {
                    self.complete = true;
                    break;
                }
                ReadEnd::Stopped => break,
                ReadEnd::Paused(position) => {
                    read.after = Some(position);
                    rt::turn::give_way().await;
                }
            }
        }
        let behind = taker.found.last().copied();
        if let Some((time, first)) = &self.spilled {
            taker.found.retain(|bucket| bucket >= first || time.is_coarse(*bucket));
        }
        self.found.extend(taker.found.into_iter().map(Some));
        self.behind = behind.or(self.behind);
        Ok(())
    }
}

/// The buckets that have the rows of some slices, each of which is inside one: the buckets of the plan, and finer ones where those have spilled.
fn homes<S: Store>(
    reading: &Reading<'_, S>,
    table: &Table,
    entity: &PartitionKey,
    pruned: &Pruned,
    exact: &[(i64, Option<i64>)],
) -> Vec<i64> {
    let Some(plan) = table.bucketing() else { return Vec::new() };
    let mut found = Vec::with_capacity(exact.len());
    for (bucket, finer) in exact {
        let Some(finer) = finer else {
            found.push(*bucket);
            continue;
        };
        let key = |hash| Bucket { time: Some(*bucket), hash }.key(entity).ok();
        let is_finer = |hash| {
            let point = key(hash).and_then(|key| reading.store.point(TableId(table.id), &key));
            point.is_some_and(|point| point <= *finer)
        };
        let (some, all) =
            pruned.hashes(plan).map(is_finer).fold((false, true), |(some, all), is| (some | is, all & is));
        found.extend((!all).then_some(*bucket));
        found.extend(some.then_some(*finer));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Takes buckets until there are enough.
struct Taker {
    found: Vec<i64>,
    wanted: usize,
}

impl Sink for Taker {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        self.found.extend(bucket_at(clustering));
        if self.found.len() >= self.wanted { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
