//! Running a read plan against a store.

use super::buckets::{self, Chosen};
use super::collector::{Collector, PageBudget, Stop};
use super::earlier;
use super::filter::Filter;
use super::limits::bind_limit;
use super::merge;
use super::nearest::{NearPath, Nearest};
use super::paging::{PagingState, SequenceState, malformed};
use super::plan::SelectPlan;
use crate::context::{Context, too_large};
use crate::error::QueryError;
use crate::fault::{NullIn, RestrictionFault};
use crate::held::Held;
use crate::restrict::{PartitionRestriction, PartitionSet, Terms};
use crate::spec::Rows;
use crate::tenant;
use model::key::PartitionKey;
use rt::turn::give_way;
use store::{Ahead, Partitions, Position, Read, ReadEnd, Slice, Store, TableId};

/// A filtering page ends, however few rows it has, after this many pauses of the scan.
const FILTER_PAUSES_MAX: u32 = 10;

/// Partitions of an IN that are read, one after the other, before others have their turn.
pub(super) const KEYS_PER_TURN: usize = 256;

/// Keys and slices that are not worth counting.
const FEW: usize = 16;

/// Most rows that ANN OF may ask for, as in Cassandra.
pub const ANN_ROWS_MAX: u64 = 1000;

/// Runs a plan and gives one page of rows.
pub async fn execute<S: Store>(plan: &SelectPlan, context: &Context<'_, S>) -> Result<Rows, QueryError> {
    // Once is enough: many clients log every warning, and a scan may have thousands of pages.
    if context.request.paging_state.is_none() {
        plan.warnings.iter().for_each(|warning| context.warn(warning.clone()));
    }
    warn_about_aggregation(plan, context);
    if plan.table.is_virtual() {
        let rows = context.virtuals.rows(&plan.table, context.request.gate)?;
        run(plan, &rows, context).await
    } else {
        run(plan, context.store, context).await
    }
}

async fn run<S: Store, T: Store>(
    plan: &SelectPlan,
    store: &T,
    context: &Context<'_, S>,
) -> Result<Rows, QueryError> {
    let (request, ids) = (&context.request, context.ids);
    let limit = bind_limit(&plan.limit, request, ids)?;
    let per_partition = bind_limit(&plan.per_partition_limit, request, ids)?;
    if is_straight(plan) && request.paging_state.is_none() {
        let table = &plan.table;
        if let Some(key) = plan.restrictions.partitions.bind_only(table, request, ids)? {
            tenant::read_one(plan, &key, request, ids)?;
            return one_partition(plan, store, context, (limit, per_partition), key).await;
        }
    }
    let partitions = plan.restrictions.partitions(request, ids)?;
    tenant::read(plan, &partitions, request, ids)?;
    if plan.ann.is_some() && limit.is_none_or(|limit| limit > ANN_ROWS_MAX) {
        return Err(RestrictionFault::NearestWithoutLimit { limit, most: ANN_ROWS_MAX }.into());
    }
    let slices = if plan.distinct { vec![Slice::all()] } else { plan.restrictions.slices(request, ids)? };
    let mut held = Held::default();
    if let PartitionSet::Keys(keys) = &partitions {
        plan.restrictions.check_product(keys.len(), slices.len())?;
        if keys.len() + slices.len() > FEW {
            held = context.held();
            held.hold(keys_bytes(keys) + slices_bytes(&slices))?;
        }
    }
    let mut moved = None;
    let mut state = match request.paging_state {
        Some(bytes) => Some(match PagingState::decode(bytes, plan.table.id) {
            Ok(state) => state,
            Err(error) => {
                let (place, from) = earlier::translate(bytes, plan, &partitions)?.ok_or(error)?;
                moved = Some(from);
                PagingState::Merge(place)
            }
        }),
        None => None,
    };
    let read = first_read(plan, Partitions::all(), slices, context);
    let mut scan = Scan::new(plan, store, context, (limit, per_partition), read);
    let partitions = match partitions {
        PartitionSet::Entities(entities) => match buckets::choose(&mut scan, entities, &state).await? {
            Chosen::Partitions(partitions) => partitions,
            Chosen::Merge(merged) => {
                now_of(&mut state, moved.is_some(), merged.set);
                let rows = Box::pin(merge::run(&mut scan, merged, state)).await?;
                scan.warn_about_tombstones(rows.count);
                return Ok(rows);
            }
            Chosen::Groups(merged) => {
                now_of(&mut state, moved.is_some(), merged.set);
                let rows = Box::pin(merge::run_groups(&mut scan, merged, state)).await?;
                scan.warn_about_tombstones(rows.count);
                return Ok(rows);
            }
        },
        other => other,
    };
    let rows = match (plan.merge_columns, partitions) {
        (Some(columns), PartitionSet::Keys(keys)) if keys.len() > 1 && plan.grouping.is_some() => {
            merge::sorted_groups(&mut scan, keys, columns).await?
        }
        (Some(columns), PartitionSet::Keys(keys)) if keys.len() > 1 => {
            let merged = merge::Merged::of_keys(keys, columns, plan.reverse);
            now_of(&mut state, moved.is_some(), merged.set);
            // In a box: common plans shall not carry the room that a merge takes.
            Box::pin(merge::run(&mut scan, merged, state)).await?
        }
        (_, partitions) => {
            let state = match state {
                None => None,
                Some(PagingState::Sequence(state)) => Some(state),
                Some(PagingState::Merge(place)) => match moved {
                    Some(earlier) => Some(earlier.sequence(plan, place)?),
                    None => return Err(malformed()),
                },
            };
            scan.sequence(partitions, state).await?
        }
    };
    scan.warn_about_tombstones(rows.count);
    drop(held);
    Ok(rows)
}

/// A place of an earlier generation is one of what is merged now.
fn now_of(state: &mut Option<PagingState>, moved: bool, set: i64) {
    if let Some(PagingState::Merge(place)) = state
        && moved
    {
        place.set = set;
    }
}

/// Whether rows of a partition go to the client as they are met.
fn is_straight(plan: &SelectPlan) -> bool {
    plan.index.is_none() && plan.grouping.is_none() && plan.ann.is_none() && !plan.distinct
}

/// The first page of one partition: what most reads are. What [`run`] would give, without what other reads need.
async fn one_partition<S: Store, T: Store>(
    plan: &SelectPlan,
    store: &T,
    context: &Context<'_, S>,
    limits: (Option<u64>, Option<u64>),
    key: PartitionKey,
) -> Result<Rows, QueryError> {
    let (request, ids) = (&context.request, context.ids);
    let slices = plan.restrictions.slices(request, ids)?;
    let mut held = Held::default();
    if slices.len() > FEW {
        plan.restrictions.check_product(1, slices.len())?;
        held = context.held();
        held.hold(slices_bytes(&slices))?;
    }
    let read = first_read(plan, Partitions::One(key), slices, context);
    let mut scan = Scan::new(plan, store, context, limits, read);
    let budget = scan.budget();
    let mut collector = Collector::new(plan, request, ids, budget, limits)?;
    let mut ended = scan.drive(&mut collector).await?;
    // Nothing more is wanted of the partition: then nothing follows.
    if ended == Ended::Stopped && collector.ended_with_partition() {
        collector.stopped = None;
        ended = Ended::Complete;
    }
    let rows = scan.page(&mut collector, ended, budget)?;
    scan.warn_about_tombstones(rows.count);
    drop(held);
    Ok(rows)
}

fn keys_bytes(keys: &[PartitionKey]) -> usize {
    keys.iter().map(|key| size_of::<PartitionKey>() + key.prefix().len()).sum()
}

fn slices_bytes(slices: &[Slice]) -> usize {
    slices.iter().map(|slice| size_of::<Slice>() + slice.start.len() + slice.end.len()).sum()
}

#[inline]
fn first_read<S: Store>(
    plan: &SelectPlan,
    partitions: Partitions,
    slices: Vec<Slice>,
    context: &Context<'_, S>,
) -> Read {
    Read {
        table: TableId(plan.table.id),
        partitions,
        slices,
        reverse: plan.reverse,
        statics: plan.layout.wants_statics || (plan.static_rows && plan.table.has_statics()),
        after: None,
        now_seconds: context.request.now_seconds,
        scan_limit: context.limits.scan_entries,
        tombstone_limit: context.limits.tombstones_fail,
        account: context.request.account(),
    }
}

/// One execution in progress.
pub struct Scan<'a, 'r, S: Store, T: Store> {
    pub plan: &'a SelectPlan,
    pub(super) store: &'a T,
    pub context: &'a Context<'r, S>,
    pub limits: (Option<u64>, Option<u64>),
    pub read: Read,
    pub(super) tombstones: u64,
    pub(super) pauses: u32,
    /// Places that an index led to, since the last pause.
    places: u64,
    /// A filtering page may end before it is full.
    pub short_pages: bool,
}

/// How the reading of some partitions ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Complete,
    /// The collector has what it wants, or nothing more is allowed.
    Stopped,
    /// A filtering page has looked at enough.
    Budget,
}

impl<'a, 'r, S: Store, T: Store> Scan<'a, 'r, S, T> {
    #[inline]
    fn new(
        plan: &'a SelectPlan,
        store: &'a T,
        context: &'a Context<'r, S>,
        limits: (Option<u64>, Option<u64>),
        read: Read,
    ) -> Self {
        Scan { plan, store, context, limits, read, tombstones: 0, pauses: 0, places: 0, short_pages: true }
    }

    pub fn budget(&self) -> PageBudget {
        let (limits, request) = (&self.context.limits, &self.context.request);
        let (rows, bytes) = match request.page_size {
            Some(rows) => (u64::from(rows.max(1)), limits.page_bytes_max),
            None => (u64::MAX, limits.unpaged_bytes_max()),
        };
        PageBudget { rows, bytes: bytes.min(request.result_bytes_max.unwrap_or(usize::MAX)) }
    }

    /// Partitions one after the other.
    async fn sequence(
        &mut self,
        partitions: PartitionSet,
        state: Option<SequenceState>,
    ) -> Result<Rows, QueryError> {
        let budget = self.budget();
        let (request, ids) = (&self.context.request, self.context.ids);
        let limits = if self.plan.ann.is_some() { (None, None) } else { self.limits };
        let mut collector = Collector::new(self.plan, request, ids, budget, limits)?;
        if self.plan.grouping.is_some() || self.plan.ann.is_some() {
            collector.held = self.context.held();
        }
        if let Some(ann) = &self.plan.ann {
            let target = ann.target.evaluate(request, ids)?;
            let target = target.bytes().ok_or(NullIn::NearestVector)?;
            collector.nearest = Some(Nearest::new(ann, target, self.limits.0.unwrap_or(ANN_ROWS_MAX)));
            self.short_pages = false;
        }
        if let Some(state) = &state {
            collector.resume(state);
        }
        let after = state.map(|s| s.position);
        let mut ended = Ended::Complete;
        if collector.limit_left != Some(0) {
            ended = match (&self.plan.index, partitions) {
                // In a box: plans without an index shall not carry the room that its reading takes.
                (Some(path), partitions) => {
                    Box::pin(self.through_index(path, partitions, after, &mut collector)).await?
                }
                (None, PartitionSet::Range { start, end }) if self.near().is_some() => {
                    Box::pin(self.through_lists((start, end), &mut collector)).await?
                }
                (None, PartitionSet::Range { start, end }) => {
                    self.read.partitions = Partitions::Range { start, end };
                    self.read.after = after;
                    self.drive(&mut collector).await?
                }
                (None, PartitionSet::Keys(keys)) => self.each_key(keys, after, &mut collector).await?,
                (None, PartitionSet::Entities(entities)) => {
                    Box::pin(self.each_bucket(entities, after, &mut collector)).await?
                }
            };
        }
        self.page(&mut collector, ended, budget)
    }

    /// The index that knows which rows are near, if they are wanted by that.
    pub(super) fn near(&self) -> Option<&'a NearPath> {
        self.plan.ann.as_ref()?.near.as_ref()
    }

    /// What the collector has, as a page.
    fn page(
        &self,
        collector: &mut Collector<'_, '_>,
        ended: Ended,
        budget: PageBudget,
    ) -> Result<Rows, QueryError> {
        let mut more = match (ended, collector.stopped) {
            (Ended::Budget, _) | (_, Some(Stop::PageFull)) => true,
            (_, Some(Stop::LimitReached) | None) => false,
        };
        if more && self.context.request.page_size.is_none() {
            return Err(too_large(budget.bytes));
        }
        if !more && collector.stopped.is_none() {
            collector.finish()?;
            // Groups are rows to the client: a page full of them is followed by another, as with rows.
            let grouped = self.plan.grouping.as_ref().is_some_and(|grouping| !grouping.keys.is_empty());
            more = grouped && collector.stopped.is_none() && collector.count >= budget.rows;
        }
        let paging_state = match more {
            true => collector.state().map(|s| PagingState::Sequence(s).encode(self.plan.table.id)),
            false => None,
        };
        Ok(Rows {
            columns: self.plan.columns.clone(),
            count: u32::try_from(collector.count).unwrap_or(u32::MAX),
            body: std::mem::take(&mut collector.body),
            paging_state,
        })
    }

    pub async fn each_key(
        &mut self,
        keys: Vec<PartitionKey>,
        after: Option<Position>,
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        let start = match &after {
            None => 0,
            Some(after) => keys.iter().position(|key| *key == after.key).ok_or_else(malformed)?,
        };
        let mut after = after;
        let last = keys.len().saturating_sub(1);
        for (place, key) in keys.into_iter().enumerate().skip(start) {
            self.read.after = after.take();
            if self.read.after.as_ref().is_some_and(|a| a.clustering.is_none()) {
                continue;
            }
            self.read.partitions = Partitions::One(key);
            if place % KEYS_PER_TURN == KEYS_PER_TURN - 1 {
                give_way().await;
            }
            match self.drive(collector).await? {
                Ended::Complete => {}
                // Nothing more is wanted of the last partition: then nothing follows.
                Ended::Stopped if place == last && collector.ended_with_partition() => {
                    collector.stopped = None;
                    return Ok(Ended::Complete);
                }
                ended => return Ok(ended),
            }
        }
        Ok(Ended::Complete)
    }

    /// Reads until the partitions are exhausted or the collector has enough, giving way to other
    /// work of the shard at every pause.
    pub async fn drive(&mut self, collector: &mut Collector<'_, '_>) -> Result<Ended, QueryError> {
        self.drive_from(None, collector).await
    }

    /// The same where the first rows have been read ahead.
    pub async fn drive_from(
        &mut self,
        first: Option<Box<dyn Ahead>>,
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        let mut first = first;
        loop {
            let outcome = match first.take() {
                Some(ahead) => ahead.play(collector)?,
                None => self.store.read(&self.read, collector).await?,
            };
            self.tombstones += outcome.tombstones;
            if let Some(error) = collector.error.take() {
                return Err(error);
            }
            let end = match (outcome.end, collector.turn_over.take()) {
                (ReadEnd::Stopped, Some(position)) => {
                    self.read.after = Some(position);
                    give_way().await;
                    continue;
                }
                (end, _) => end,
            };
            match end {
                ReadEnd::Complete => return Ok(Ended::Complete),
                ReadEnd::Stopped => return Ok(Ended::Stopped),
                ReadEnd::Paused(position) => {
                    self.pauses += 1;
                    // The one who leaves a partition open knows best where a page may end in it.
                    if !collector.open && self.looked_enough() {
                        collector.paused_at(&position);
                        return Ok(Ended::Budget);
                    }
                    self.read.after = Some(position);
                    give_way().await;
                }
            }
        }
    }

    /// Whether a filtering page has looked at so much that it ends, however few rows it has.
    pub(super) fn looked_enough(&self) -> bool {
        let paged = self.context.request.page_size.is_some();
        let filters = self.plan.is_filtering() || self.plan.index.is_some();
        let short = self.short_pages && paged && filters && self.plan.grouping.is_none();
        short && self.pauses >= FILTER_PAUSES_MAX
    }

    /// Counts places that an index led to. After as many as a read may examine at once, there is a pause.
    pub(super) fn examined(&mut self, places: u64) {
        self.places += places;
        if self.places >= self.context.limits.scan_entries {
            self.places = 0;
            self.pauses += 1;
        }
    }

    fn warn_about_tombstones(&self, rows: u32) {
        if self.tombstones > self.context.limits.tombstones_warn {
            self.context.warn(format!(
                "Read {rows} live rows and {} tombstone cells for query on table {}.{} (see tombstone_warn_threshold)",
                self.tombstones, self.plan.table.keyspace, self.plan.table.name
            ));
        }
    }
}

fn warn_about_aggregation<S: Store>(plan: &SelectPlan, context: &Context<'_, S>) {
    if plan.grouping.is_none() || plan.table.is_virtual() {
        return;
    }
    let restricts_key = |filter: &Filter| {
        let name = filter.column.as_str();
        plan.table.partition_key.iter().any(|column| *column.name == *name)
    };
    match &plan.restrictions.partitions {
        PartitionRestriction::Range(range) => {
            let restricted =
                range.start.is_some() || range.end.is_some() || plan.filters.iter().any(restricts_key);
            if !restricted {
                context.warn("Aggregation query used without partition key");
            }
        }
        PartitionRestriction::Keys { columns, .. } | PartitionRestriction::Entities { columns }
            if !columns.iter().all(Terms::is_equality) =>
        {
            context.warn("Aggregation query used on multiple partition keys (IN restriction)");
        }
        PartitionRestriction::Keys { .. } | PartitionRestriction::Entities { .. } => {}
    }
}
