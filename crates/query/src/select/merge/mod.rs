//! Ordered reads over several partitions: a merge of one stream per partition.
//!
//! Rows come in the order of (what ORDER BY names, group, clustering). A group is what the statement names as one partition: a
//! partition, or an entity whose rows are in many buckets. Because the order is total, one place in it says what was returned: the
//! cursor holds that place, however many streams there are, and every stream continues after it. Rows written behind the
//! place are not seen, rows written ahead of it may be.

mod bounds;
mod entity_groups;
mod groups;
mod stream;

pub use bounds::Bounds;
pub use entity_groups::run_groups;
pub use groups::sorted_groups;
pub use stream::{Places, Stream};

use super::execute::{KEYS_PER_TURN, Scan};
use super::paging::{MergeState, PagingState, malformed};
use crate::context::too_large;
use crate::error::QueryError;
use crate::fault::ReadFault;
use crate::spec::Rows;
use bounds::ordered_prefix;
use model::key::PartitionKey;
use model::token::murmur3_h1;
use rt::turn::give_way;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use store::{AheadMax, Store};

/// Rows fetched from a partition at a time.
const CHUNK_MAX: u64 = 1024;
/// Streams whose first rows are read at the same time where they are on other shards.
const STREAMS_AHEAD: usize = 64;

/// Rows of this many pages may wait for their turn; each partition has at least one there.
const WAITING_PAGES_MAX: usize = 4;

/// What is merged.
pub struct Merged {
    /// In the order of their groups.
    pub streams: Vec<Stream>,
    /// How many groups there are; streams name theirs by number.
    pub groups: usize,
    /// Leading clustering columns that decide before the group does. None: the groups come one after the other.
    pub columns: usize,
    /// Names the statement's partitions and order: a cursor of others is refused.
    pub set: i64,
}

impl Merged {
    /// One stream for each partition, and each is a group.
    pub fn of_keys(keys: Vec<PartitionKey>, columns: usize, reverse: bool) -> Merged {
        let set = set_of(keys.iter().map(PartitionKey::prefix), columns, reverse);
        let groups = keys.len();
        let streams = keys.into_iter().enumerate().map(|(group, key)| Stream::new(group, Places::One(key)));
        Merged { streams: streams.collect(), groups, columns, set }
    }
}

/// A number for the partitions that are read and the order that is wanted.
pub fn set_of<'k>(keys: impl Iterator<Item = &'k [u8]>, columns: usize, reverse: bool) -> i64 {
    let mut bytes = vec![u8::from(reverse)];
    bytes.extend_from_slice(&(columns as u32).to_be_bytes());
    keys.for_each(|key| bytes.extend_from_slice(key));
    murmur3_h1(&bytes)
}

pub async fn run<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    merged: Merged,
    state: Option<PagingState>,
) -> Result<Rows, QueryError> {
    let state = state_of(&merged, state)?;
    scan.short_pages = false;
    let mut merge = Merge::new(scan, merged, state)?;
    let more = merge.page().await?;
    merge.finish(more)
}

/// Where this merge continues; a place of another merge is refused.
fn state_of(merged: &Merged, state: Option<PagingState>) -> Result<Option<MergeState>, QueryError> {
    match state {
        None => Ok(None),
        Some(PagingState::Merge(state)) if state.set == merged.set && state.group < merged.groups => {
            Ok(Some(state))
        }
        Some(_) => Err(malformed()),
    }
}

/// One page of a merge in progress.
struct Merge<'m, 'a, 'r, S: Store, T: Store> {
    scan: &'m mut Scan<'a, 'r, S, T>,
    streams: Vec<Stream>,
    columns: usize,
    set: i64,
    bounds: Bounds,
    heads: BinaryHeap<Head>,
    /// Streams from here on are not opened yet.
    unopened: usize,
    /// The first rows of streams before this one have been read ahead, or need not be.
    prepared: usize,
    /// Rows that the page has at most.
    wanted: u64,
    chunk_bytes: usize,
    /// Bytes of rows that wait for their turn, and of those that were read ahead last.
    waiting: usize,
    ahead: usize,
    waiting_max: usize,
    held: crate::held::Held,
    limit_left: Option<u64>,
    /// Rows given of each group, where PER PARTITION LIMIT counts them.
    taken: Vec<u64>,
    last: Option<(usize, Vec<u8>)>,
    body: Vec<u8>,
    count: u64,
}

impl<'m, 'a, 'r, S: Store, T: Store> Merge<'m, 'a, 'r, S, T> {
    fn new(
        scan: &'m mut Scan<'a, 'r, S, T>,
        merged: Merged,
        state: Option<MergeState>,
    ) -> Result<Self, QueryError> {
        let Merged { mut streams, groups, columns, set } = merged;
        let (limit_left, mut taken) = match &state {
            None => (scan.limits.0, Vec::new()),
            Some(state) => (state.limit_left, state.taken.clone()),
        };
        if scan.limits.1.is_some() && state.is_none() {
            taken = vec![0; groups];
        }
        if taken.len() != if scan.limits.1.is_some() { groups } else { 0 } {
            return Err(malformed());
        }
        let bounds = Bounds::new(scan, columns, state.as_ref());
        for stream in &mut streams {
            stream.resume(scan.plan.reverse, state.as_ref());
        }
        let wanted = scan.budget().rows.min(limit_left.unwrap_or(u64::MAX));
        let prepared = if scan.store.reads_ahead() && !scan.read.statics { 0 } else { usize::MAX };
        let waiting_max = scan.context.limits.page_bytes_max.saturating_mul(WAITING_PAGES_MAX);
        let held = scan.context.held();
        let last = state.map(|state| (state.group, state.clustering));
        Ok(Merge {
            chunk_bytes: (waiting_max / streams.len().max(1)).min(stream::CHUNK_BYTES_MAX),
            heads: BinaryHeap::new(),
            scan,
            streams,
            columns,
            set,
            bounds,
            unopened: 0,
            prepared,
            wanted,
            waiting: 0,
            ahead: 0,
            waiting_max,
            held,
            limit_left,
            taken,
            last,
            body: Vec::new(),
            count: 0,
        })
    }

    /// Fills the page; whether there are more rows behind it.
    async fn page(&mut self) -> Result<bool, QueryError> {
        let budget = self.scan.budget();
        loop {
            if self.limit_left == Some(0) {
                return Ok(false);
            }
            let Some(next) = self.head().await? else { return Ok(false) };
            if self.count >= budget.rows || (self.body.len() >= budget.bytes && self.count > 0) {
                return Ok(true);
            }
            self.take(next);
            if self.limit_left != Some(0) {
                self.advance(next).await?;
            }
        }
    }

    /// The stream whose row is next. Streams are opened as late as their order allows.
    async fn head(&mut self) -> Result<Option<usize>, QueryError> {
        loop {
            let open = self.unopened;
            let group = self.heads.peek().map(|head| head.group);
            let wanted = match (self.streams.get(open), group) {
                (None, _) => false,
                // Groups that come one after the other: the next one begins when the last one has nothing left.
                (Some(stream), Some(group)) => self.columns > 0 || stream.group == group,
                (Some(_), None) => true,
            };
            if !wanted {
                return Ok(self.heads.peek().map(|head| head.stream));
            }
            if open >= self.prepared {
                self.prepare(open).await?;
            }
            self.unopened += 1;
            self.fill(open).await?;
            if open % KEYS_PER_TURN == KEYS_PER_TURN - 1 {
                give_way().await;
            }
        }
    }

    /// Reads the first rows of the streams from this one on that are opened together.
    async fn prepare(&mut self, first: usize) -> Result<(), QueryError> {
        let group = self.streams.get(first).map(|stream| stream.group);
        let together = |stream: &&mut Stream| self.columns > 0 || Some(stream.group) == group;
        let (mut reads, mut places) = (Vec::new(), Vec::new());
        self.prepared = first;
        let some = self.streams.iter_mut().skip(first).take(STREAMS_AHEAD);
        for stream in some.take_while(together) {
            if let Some(read) = stream.first_read(self.scan, &self.bounds).await? {
                reads.push(read);
                places.push(self.prepared);
            }
            self.prepared += 1;
        }
        let max = AheadMax { rows: self.rows_ahead(first), bytes: self.chunk_bytes };
        let ahead = self.scan.store.read_ahead(reads, max).await?;
        self.ahead = ahead.iter().flatten().map(|ahead| ahead.bytes()).sum();
        self.held.hold(self.waiting + self.ahead)?;
        for (place, ahead) in places.into_iter().zip(ahead) {
            if let Some(stream) = self.streams.get_mut(place) {
                stream.put_ahead(ahead);
            }
        }
        Ok(())
    }

    /// How many rows a stream should have ready: its share of the rows that are still wanted, as the rows given so far tell it, and the spread of
    /// such a share. One in six is asked again then, which costs less than more rows of each.
    fn rows_ahead(&self, at: usize) -> u64 {
        let given = self.streams.get(at).map_or(0, |stream| stream.given);
        let share = (given + 1) as f64 / (self.count + self.streams.len() as u64) as f64;
        let mean = self.wanted.saturating_sub(self.count) as f64 * share;
        ((mean + mean.sqrt() + 1.0) as u64).clamp(1, CHUNK_MAX)
    }

    /// Gives the first row of a stream.
    fn take(&mut self, at: usize) {
        let Some(stream) = self.streams.get_mut(at) else { return };
        let group = stream.group;
        let Some((clustering, row)) = stream.pop() else { return };
        self.waiting -= clustering.len() + row.len();
        if let (Some(limit), Some(taken)) = (self.scan.limits.1, self.taken.get_mut(group)) {
            if *taken >= limit {
                self.waiting -= stream.close();
                return;
            }
            *taken += 1;
        }
        self.body.extend_from_slice(row);
        stream.given += 1;
        self.count += 1;
        self.limit_left = self.limit_left.map(|left| left - 1);
        self.last = Some((group, clustering));
    }

    /// The first row of the first stream was taken: its next one finds its place among the heads.
    async fn advance(&mut self, at: usize) -> Result<(), QueryError> {
        let next = self.streams.get(at).and_then(|stream| self.head_of(at, stream));
        let Some(mut first) = self.heads.peek_mut() else { return Ok(()) };
        debug_assert_eq!(first.stream, at, "rows are taken from the first stream");
        match next {
            // In place, which is cheaper than out and in again.
            Some(next) => {
                *first = next;
                Ok(())
            }
            None => {
                PeekMut::pop(first);
                self.fill(at).await
            }
        }
    }

    /// What stands for a stream among the heads.
    fn head_of(&self, at: usize, stream: &Stream) -> Option<Head> {
        let (clustering, _) = stream.front()?;
        let prefix = ordered_prefix(&self.scan.plan.table, clustering, self.columns).len();
        let (group, reverse) = (stream.group, self.scan.plan.reverse);
        Some(Head {
            start: start_of(clustering),
            clustering: clustering.to_vec(),
            prefix,
            group,
            stream: at,
            reverse,
        })
    }

    /// Fetches rows of a stream that has none, and puts its first among the heads.
    async fn fill(&mut self, at: usize) -> Result<(), QueryError> {
        let rows = self.rows_ahead(at);
        let Some(stream) = self.streams.get_mut(at) else { return Ok(()) };
        let taken = self.taken.get(stream.group).copied().unwrap_or(0);
        let allowed = self.scan.limits.1.map_or(u64::MAX, |limit| limit.saturating_sub(taken));
        let fetch = stream::Fetch { rows: rows.min(allowed), bytes: self.chunk_bytes };
        self.waiting += stream.fill(self.scan, &mut self.bounds, fetch).await?;
        if self.waiting > self.waiting_max {
            let (streams, bytes_max) = (self.streams.len(), self.waiting_max);
            return Err(ReadFault::SortTooLarge { streams, bytes_max }.into());
        }
        self.held.hold(self.waiting + self.ahead)?;
        let head = self.streams.get(at).and_then(|stream| self.head_of(at, stream));
        self.heads.extend(head);
        Ok(())
    }

    fn finish(self, more: bool) -> Result<Rows, QueryError> {
        if more && self.scan.context.request.page_size.is_none() {
            return Err(too_large(self.scan.budget().bytes));
        }
        let place = self.last.filter(|_| more);
        let paging_state = place.map(|(group, clustering)| {
            let state = MergeState {
                set: self.set,
                limit_left: self.limit_left,
                group,
                clustering,
                taken: self.taken,
            };
            PagingState::Merge(state).encode(self.scan.plan.table.id)
        });
        Ok(Rows {
            columns: self.scan.plan.columns.clone(),
            count: u32::try_from(self.count).unwrap_or(u32::MAX),
            body: self.body,
            paging_state,
        })
    }
}

/// The first row of a stream, by its place in the order.
struct Head {
    clustering: Vec<u8>,
    /// Its first bytes, as a number of the same order: nearly always they decide.
    start: u128,
    /// How many bytes of it ORDER BY names.
    prefix: usize,
    group: usize,
    stream: usize,
    reverse: bool,
}

/// The first bytes of a clustering key, with zeros where it is shorter.
fn start_of(clustering: &[u8]) -> u128 {
    let mut start = [0; 16];
    let count = clustering.len().min(start.len());
    start[..count].copy_from_slice(&clustering[..count]);
    u128::from_be_bytes(start)
}

impl Head {
    fn directed(&self, order: Ordering) -> Ordering {
        if self.reverse { order } else { order.reverse() }
    }
}

/// The greatest is the next to be taken; of equal ones that of the first group.
impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        if self.group == other.group && self.start != other.start {
            return self.directed(self.start.cmp(&other.start));
        }
        let by_prefix = self.clustering[..self.prefix].cmp(&other.clustering[..other.prefix]);
        let by_clustering = || self.clustering.cmp(&other.clustering);
        self.directed(by_prefix)
            .then_with(|| other.group.cmp(&self.group))
            .then_with(|| self.directed(by_clustering()))
            .then_with(|| other.stream.cmp(&self.stream))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}
