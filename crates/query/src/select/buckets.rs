//! Reads of bucketed tables: how an entity is read.
//!
//! Rows come as if the entity were one partition. With time buckets alone, buckets follow each other in the order of rows, so they are read
//! one after the other, and only as far as the page or LIMIT wants. With hash buckets, several entities, or columns before the time
//! in the clustering key, the buckets are merged.

use super::collector::Collector;
use super::execute::{Ended, KEYS_PER_TURN, Scan};
use super::merge::{Bounds, Merged, Places, Stream, set_of};
use super::paging::{PagingState, malformed};
use crate::buckets::{Bucket, Pruned, Reading, Walk, partitions_of, prune};
use crate::error::QueryError;
use crate::fault::BucketFault;
use crate::restrict::PartitionSet;
use model::key::PartitionKey;
use rt::turn::give_way;
use schema::Bucketing;
use std::cell::RefCell;
use std::rc::Rc;
use store::{Ahead, AheadMax, Partitions, Position, Store};

/// Most partitions that one read merges, and most that one without order reads.
const STREAMS_MAX: usize = 4096;
const PARTITIONS_MAX: usize = 1 << 20;
/// Rows of a bucket on another shard come in pieces of this size at first.
const AHEAD_BYTES: usize = 64 << 10;

/// How the entities of a statement are read.
pub enum Chosen {
    Partitions(PartitionSet),
    Merge(Merged),
    /// Merged and grouped.
    Groups(Merged),
}

/// Decides how entities are read; `limits` of the scan mean entities from then on.
pub async fn choose<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    entities: Vec<PartitionKey>,
    state: &Option<PagingState>,
) -> Result<Chosen, QueryError> {
    let plan = scan.plan;
    let Some(bucketing) = plan.table.bucketing() else { return Err(not_bucketed()) };
    let grouped = plan.grouping.as_ref().is_some_and(|grouping| grouping.rows.is_some());
    if grouped {
        return merged(scan, bucketing, entities, state).await.map(Chosen::Groups);
    }
    if plan.distinct || plan.grouping.is_some() || plan.ann.is_some() {
        // The order does not matter: every existing partition, one after the other.
        let mut keys = Vec::new();
        for entity in &entities {
            let reading = scan.reading();
            keys.extend(partitions_of(&reading, &plan.table, bucketing, entity, &scan.read.slices).await?);
            if keys.len() > PARTITIONS_MAX {
                return Err(too_many(keys.len(), PARTITIONS_MAX));
            }
        }
        return Ok(Chosen::Partitions(PartitionSet::Keys(keys)));
    }
    if let [_] = &entities[..] {
        // PER PARTITION LIMIT means the entity.
        let (limit, per_partition) = scan.limits;
        scan.limits = (limit.into_iter().chain(per_partition).min(), None);
        let pruned = pruned(scan, bucketing);
        if pruned.in_order && pruned.hashes(bucketing).nth(1).is_none() {
            return Ok(Chosen::Partitions(PartitionSet::Entities(entities)));
        }
    }
    merged(scan, bucketing, entities, state).await.map(Chosen::Merge)
}

fn pruned<S: Store, T: Store>(scan: &Scan<'_, '_, S, T>, bucketing: &Bucketing) -> Pruned {
    prune(&scan.plan.table, bucketing, &scan.read.slices, scan.read.now_seconds)
}

fn not_bucketed() -> QueryError {
    BucketFault::NotBucketed.into()
}

fn too_many(found: usize, most: usize) -> QueryError {
    BucketFault::TooManyPartitions { found, most }.into()
}

/// Whether the order of the rows is from the newest time bucket to the oldest.
fn newest_first<S: Store, T: Store>(scan: &Scan<'_, '_, S, T>, bucketing: &Bucketing) -> bool {
    let time = bucketing.time.as_ref();
    time.is_some_and(|time| scan.plan.table.clustering[time.by].descending != scan.plan.reverse)
}

/// The streams of all entities. After a page they start at its place, so that buckets before it are not looked at again.
async fn merged<S: Store, T: Store>(
    scan: &Scan<'_, '_, S, T>,
    bucketing: &Bucketing,
    entities: Vec<PartitionKey>,
    state: &Option<PagingState>,
) -> Result<Merged, QueryError> {
    let plan = scan.plan;
    // Without ORDER BY entities follow each other; one entity is in the order of its clustering key in any case.
    let columns = match plan.merge_columns {
        Some(columns) if entities.len() > 1 => columns,
        _ => 0,
    };
    let set = set_of(entities.iter().map(PartitionKey::prefix), columns, plan.reverse);
    let state = match state {
        Some(PagingState::Merge(state)) => Some(state),
        _ => None,
    };
    let bounds = Bounds::new(scan, columns, state);
    let newest_first = newest_first(scan, bucketing);
    let mut streams = Vec::new();
    for (group, entity) in entities.iter().enumerate() {
        let slices = bounds.of(group, &scan.read.slices);
        let pruned = prune(&plan.table, bucketing, slices, scan.read.now_seconds);
        if pruned.nothing {
            continue;
        }
        let walk = Walk::new(&scan.reading(), &plan.table, entity.clone(), &pruned, newest_first);
        match pruned.in_order {
            true => {
                let walk = Rc::new(RefCell::new(Some(walk)));
                streams.extend(pruned.hashes(bucketing).map(|hash| {
                    let (walk, entity) = (walk.clone(), entity.clone());
                    Stream::new(group, Places::Buckets { walk, entity, hash, next: 0 })
                }));
            }
            false => every_bucket(scan, bucketing, (group, entity), &pruned, walk, &mut streams).await?,
        }
        if streams.len() > STREAMS_MAX {
            return Err(too_many(streams.len(), STREAMS_MAX));
        }
    }
    Ok(Merged { streams, groups: entities.len(), columns, set })
}

/// Rows of every time bucket may be next: each is a stream of its own.
async fn every_bucket<S: Store, T: Store>(
    scan: &Scan<'_, '_, S, T>,
    bucketing: &Bucketing,
    (group, entity): (usize, &PartitionKey),
    pruned: &Pruned,
    mut walk: Walk,
    streams: &mut Vec<Stream>,
) -> Result<(), QueryError> {
    let mut at = 0;
    while let Some(time) = walk.at(at, &scan.reading()).await? {
        at += 1;
        for hash in pruned.hashes(bucketing) {
            let key = Bucket { time, hash }.key(entity)?;
            streams.push(Stream::new(group, Places::One(key)));
        }
        if streams.len() > STREAMS_MAX {
            return Err(too_many(streams.len(), STREAMS_MAX));
        }
    }
    Ok(())
}

impl<'a, S: Store, T: Store> Scan<'a, '_, S, T> {
    /// For reading records of buckets.
    pub(super) fn reading(&self) -> Reading<'a, T> {
        Reading {
            store: self.store,
            now_seconds: self.read.now_seconds,
            scan_limit: self.read.scan_limit,
            tombstone_limit: self.read.tombstone_limit,
            account: self.read.account.clone(),
        }
    }

    /// The first rows of the partition at hand, if it is on another shard: no more than the page wants of it.
    async fn first_rows(&self, collector: &Collector<'_, '_>) -> Result<Option<Box<dyn Ahead>>, QueryError> {
        if !self.store.reads_ahead() || self.read.statics {
            return Ok(None);
        }
        let budget = self.budget();
        let page = budget.rows.saturating_sub(collector.count);
        let rows = page.min(collector.limit_left.unwrap_or(u64::MAX)).max(1);
        let max = AheadMax { rows, bytes: AHEAD_BYTES };
        Ok(self.store.read_ahead(vec![self.read.clone()], max).await?.pop().flatten())
    }

    /// The buckets of one entity, one after the other, until the collector has enough.
    pub(super) async fn each_bucket(
        &mut self,
        entities: Vec<PartitionKey>,
        after: Option<Position>,
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        let table = &self.plan.table;
        let (Some(bucketing), [entity]) = (table.bucketing(), &entities[..]) else {
            return Err(not_bucketed());
        };
        let newest_first = newest_first(self, bucketing);
        let mut pruned = pruned(self, bucketing);
        let mut after = after;
        if let Some(position) = &after {
            let of_key = Bucket::of_key(bucketing, &position.key);
            let (of, bucket) = of_key.filter(|(of, _)| *of == entity.bytes()).ok_or_else(malformed)?;
            debug_assert_eq!(of.len(), entity.bytes().len());
            resume_at(&mut pruned, bucket.time, newest_first);
        }
        let hash = pruned.hashes(bucketing).next().flatten();
        let reading = self.reading();
        let mut walk = Walk::new(&reading, table, entity.clone(), &pruned, newest_first);
        let mut at = 0;
        while let Some(time) = walk.at(at, &reading).await? {
            at += 1;
            let key = Bucket { time, hash }.key(entity)?;
            self.read.after = after.take().filter(|position| position.key == key);
            if self.read.after.as_ref().is_some_and(|position| position.clustering.is_none()) {
                continue;
            }
            self.read.partitions = Partitions::One(key);
            if at % KEYS_PER_TURN == 0 {
                give_way().await;
            }
            let ahead = self.first_rows(collector).await?;
            match self.drive_from(ahead, collector).await? {
                Ended::Complete => {}
                ended => return Ok(ended),
            }
        }
        Ok(Ended::Complete)
    }
}

/// Leaves the buckets from this one on, in the order of the walk.
fn resume_at(pruned: &mut Pruned, time: Option<i64>, newest_first: bool) {
    let Some(time) = time else { return };
    match newest_first {
        true => pruned.last = Some(pruned.last.map_or(time, |last| last.min(time))),
        false => pruned.first = pruned.first.max(Some(time)),
    }
}
