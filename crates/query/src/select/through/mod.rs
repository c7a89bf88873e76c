//! Reading through an index: its entries say where to look, and the rows found there are treated like all rows.
//!
//! Entries are read in bounded chunks; if several conditions have an index, their entries are combined ([`joined`]). Places in
//! one partition become one read of that partition. If a chunk ends inside a partition, the next one continues it, so that limits
//! and groups per partition see it as one. The order is that of reading everything. A page ends and continues at a place in the
//! source table, so its state is that of any other read.

mod joined;
mod near;
mod postings;

use super::collector::Collector;
use super::execute::{Ended, Scan};
use super::index_path::{IndexPath, Sought};
use super::paging::malformed;
use crate::error::QueryError;
use crate::restrict::PartitionSet;
use joined::{Condition, Found, Joined};
use model::key::{KIND_END, KIND_ROW, PartitionKey};
use model::row::RowView;
use rt::turn::give_way;
use std::sync::Arc;
use store::index::{Candidate, Place, candidate, partitions_slice};
use store::{Flow, IndexWork, Partitions, Position, Read, ReadEnd, Sink, Slice, Store};

/// Entries read at a time: few where few rows are wanted (some lead to rows that match no longer), then twice as many each time.
const CHUNK_MIN: u64 = 4;
const CHUNK_MAX: u64 = 256;
/// A chunk ends early when its places take this many bytes: one clustering key may have 64 KiB.
const CHUNK_BYTES_MAX: usize = 1 << 20;

/// Where to look.
enum Leads {
    /// Where one value of one index leads.
    One(Entries),
    Several(Joined),
}

impl Leads {
    /// Leaves out what else leads to a partition.
    fn skip(&mut self, key: &PartitionKey) {
        match self {
            Leads::One(entries) => entries.skip(key),
            Leads::Several(joined) => joined.skip_to(key.entry(KIND_END, &[])),
        }
    }

    fn is_exhausted(&self) -> bool {
        match self {
            Leads::One(entries) => entries.exhausted,
            Leads::Several(joined) => joined.exhausted,
        }
    }
}

/// Entries of the index, taken up chunk by chunk.
struct Entries {
    name: Arc<str>,
    read: Read,
    /// Where they end, as a storage key of the source table.
    end: Vec<u8>,
    chunk: u64,
    exhausted: bool,
    /// Entries that were read and are in no account yet.
    untold: u64,
}

impl Entries {
    fn skip(&mut self, key: &PartitionKey) {
        let slice = partitions_slice(&key.entry(KIND_END, &[]), &self.end);
        self.exhausted |= slice.is_empty();
        self.read.slices = vec![slice];
    }
}

impl<S: Store, T: Store> Scan<'_, '_, S, T> {
    /// What [`Scan::drive`] would give for these partitions, by way of the index.
    pub(super) async fn through_index(
        &mut self,
        path: &IndexPath,
        partitions: PartitionSet,
        mut after: Option<Position>,
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        let Some(conditions) = self.conditions(path)? else { return Ok(Ended::Complete) };
        let wanted = std::mem::take(&mut self.read.slices);
        match partitions {
            PartitionSet::Range { start, end } => {
                let start = after.as_ref().map_or(start, |after| resume_at(path, after));
                let leads = self.leads(&conditions, (start, end), None, collector);
                self.follow(leads, &wanted, after, collector).await
            }
            // Binding reads entities without an index.
            PartitionSet::Entities(_) => Err(malformed()),
            PartitionSet::Keys(keys) => {
                let first = match &after {
                    None => 0,
                    Some(after) => keys.iter().position(|key| *key == after.key).ok_or_else(malformed)?,
                };
                for key in keys.into_iter().skip(first) {
                    let after = after.take();
                    if after.as_ref().is_some_and(|after| after.clustering.is_none()) {
                        continue;
                    }
                    let start = match &after {
                        None => key.prefix().to_vec(),
                        Some(after) => resume_at(path, after),
                    };
                    let range = (start, key.entry(KIND_END, &[]));
                    let leads = self.leads(&conditions, range, Some(&key), collector);
                    match self.follow(leads, &wanted, after, collector).await? {
                        Ended::Complete => {}
                        ended => return Ok(ended),
                    }
                }
                Ok(Ended::Complete)
            }
        }
    }

    /// All conditions that have an index to read, with their values. `None`: no row has one of the values.
    fn conditions(&self, path: &IndexPath) -> Result<Option<Vec<Condition>>, QueryError> {
        let (request, ids) = (&self.context.request, self.context.ids);
        let bytes_max = self.context.limits.key_bytes_max;
        let mut conditions = Vec::with_capacity(1 + path.beside.len());
        for path in path.all() {
            let Some(sought) = path.sought(request, ids, bytes_max)? else { return Ok(None) };
            conditions.push(Condition { name: path.name.clone(), config: path.config.clone(), sought });
        }
        Ok(Some(conditions))
    }

    /// What leads to places in a range of storage keys, all in one partition where there is a `key`.
    fn leads(
        &self,
        conditions: &[Condition],
        (start, end): (Vec<u8>, Vec<u8>),
        key: Option<&PartitionKey>,
        collector: &Collector<'_, '_>,
    ) -> Leads {
        let rows = self.budget().rows.min(collector.limit_left.unwrap_or(u64::MAX));
        let entries_of = match conditions {
            [Condition { config, sought: Sought::Form(form), .. }] if key.is_some() || !config.sorted => {
                config.partition(form, key.map_or(&[], |key| key.prefix()))
            }
            _ => None,
        };
        let (Some(entries_of), Some(first)) = (entries_of, conditions.first()) else {
            let held = self.context.held();
            return Leads::Several(Joined::new(conditions.to_vec(), (start, end), rows, held));
        };
        let read = Read {
            table: first.config.table,
            partitions: Partitions::One(entries_of),
            slices: vec![partitions_slice(&start, &end)],
            reverse: false,
            statics: false,
            after: None,
            ..self.read.clone()
        };
        let chunk = rows.saturating_add(2).clamp(CHUNK_MIN, CHUNK_MAX);
        Leads::One(Entries { name: first.name.clone(), read, end, chunk, exhausted: false, untold: 0 })
    }

    /// Looks at every place that there is. `done` is the last one that was dealt with.
    async fn follow(
        &mut self,
        mut leads: Leads,
        wanted: &[Slice],
        mut done: Option<Position>,
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        loop {
            let found = match &mut leads {
                Leads::One(entries) => self.next_places(entries).await.map(Found::Places),
                Leads::Several(joined) => self.next_joined(joined).await,
            };
            self.account_for(&mut leads);
            let places = match found? {
                Found::Places(places) => places,
                Found::Everything { start, end } => {
                    let ended = self.look_everywhere((start, end), done.take(), wanted, collector).await?;
                    if ended != Ended::Complete || leads.is_exhausted() {
                        return Ok(ended);
                    }
                    continue;
                }
            };
            if let Some(ended) = self.look_at_all(&places, &mut done, wanted, collector).await? {
                return Ok(ended);
            }
            if let Some(Position { key, clustering: None }) = &done {
                leads.skip(key);
            }
            if leads.is_exhausted() {
                let flow = if collector.open { close(collector)? } else { Flow::Continue };
                return Ok(if flow == Flow::Stop { Ended::Stopped } else { Ended::Complete });
            }
            self.examined(places.len() as u64);
            if let Some(done) = done.as_ref().filter(|_| self.looked_enough()) {
                collector.paused_in(done);
                return Ok(Ended::Budget);
            }
            give_way().await;
        }
    }

    /// Looks at these places, partition by partition; `Some` when that ends the page.
    async fn look_at_all(
        &mut self,
        places: &[Candidate],
        done: &mut Option<Position>,
        wanted: &[Slice],
        collector: &mut Collector<'_, '_>,
    ) -> Result<Option<Ended>, QueryError> {
        for places in places.chunk_by(|a, b| a.key == b.key) {
            let Some(key) = places.first().map(|place| &place.key) else { continue };
            let left = collector.open && done.as_ref().is_none_or(|done| done.key != *key);
            if left && close(collector)? == Flow::Stop {
                return Ok(Some(Ended::Stopped));
            }
            let before = done.take().filter(|done| done.key == *key);
            if before.as_ref().is_some_and(|before| before.clustering.is_none()) {
                *done = before;
                continue;
            }
            let ended = self.look_at(key, places, before, wanted, collector).await?;
            if ended != Ended::Complete {
                return Ok(Some(ended));
            }
            let mut clustering = match places.last().map(|last| &last.place) {
                Some(Place::Row(clustering)) => Some(clustering.clone()),
                _ => None,
            };
            if collector.is_done_with(key) {
                clustering = None;
            }
            *done = Some(Position { key: key.clone(), clustering });
        }
        Ok(None)
    }

    /// Reads every row between two storage keys, as without an index. Where the page begins inside a partition, the first key does.
    async fn look_everywhere(
        &mut self,
        (start, end): (Vec<u8>, Vec<u8>),
        done: Option<Position>,
        wanted: &[Slice],
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        if collector.open && close(collector)? == Flow::Stop {
            return Ok(Ended::Stopped);
        }
        let inside = done.filter(|done| start.starts_with(done.key.prefix()));
        let start = inside.as_ref().map_or(start, |done| done.key.prefix().to_vec());
        self.read.slices = wanted.to_vec();
        self.read.partitions = Partitions::Range { start, end };
        self.read.after = inside;
        self.drive(collector).await
    }

    /// Adds what each index did to the account, if there is one. Called after each step, because any may be the last.
    fn account_for(&self, leads: &mut Leads) {
        let Some(account) = self.context.request.account else { return };
        match leads {
            Leads::One(entries) => {
                let work = IndexWork { entries: std::mem::take(&mut entries.untold), ..Default::default() };
                account.add_index(&entries.name, &work);
            }
            Leads::Several(joined) => joined.tell(|name, work| account.add_index(name, work)),
        }
    }

    /// Reads the rows of one partition that entries lead to, or all of it.
    async fn look_at(
        &mut self,
        key: &PartitionKey,
        places: &[Candidate],
        before: Option<Position>,
        wanted: &[Slice],
        collector: &mut Collector<'_, '_>,
    ) -> Result<Ended, QueryError> {
        match places.iter().any(|place| place.place == Place::Partition) {
            true => self.read.slices = wanted.to_vec(),
            false => {
                rows_among(places, wanted, &mut self.read.slices);
                if self.read.slices.is_empty() {
                    return Ok(Ended::Complete);
                }
                // More of the partition may follow.
                collector.open = true;
            }
        }
        self.read.partitions = Partitions::One(key.clone());
        self.read.after = before;
        self.drive(collector).await
    }

    /// The next places, in order, without repetition; some, unless there are no more.
    async fn next_places(&mut self, entries: &mut Entries) -> Result<Vec<Candidate>, QueryError> {
        let mut places = Places { found: Vec::new(), left: entries.chunk, bytes: 0, last: Vec::new() };
        entries.chunk = (entries.chunk * 2).min(CHUNK_MAX);
        loop {
            let left = places.left;
            let outcome = self.store.read(&entries.read, &mut places).await?;
            entries.untold += left - places.left;
            self.tombstones += outcome.tombstones;
            match outcome.end {
                ReadEnd::Complete => {
                    entries.exhausted = true;
                    break;
                }
                ReadEnd::Stopped => {
                    if let Partitions::One(key) = &entries.read.partitions {
                        let clustering = Some(std::mem::take(&mut places.last));
                        entries.read.after = Some(Position { key: key.clone(), clustering });
                    }
                    break;
                }
                // Between dead entries there is no place where a page could end, so none ends here.
                ReadEnd::Paused(position) => {
                    self.pauses += 1;
                    entries.read.after = Some(position);
                    if !places.found.is_empty() {
                        break;
                    }
                    give_way().await;
                }
            }
        }
        Ok(places.found)
    }
}

/// A storage key not beyond the place where reading continues: the row there may have further entries, which do no harm.
fn resume_at(path: &IndexPath, after: &Position) -> Vec<u8> {
    match &after.clustering {
        None => after.key.entry(KIND_END, &[]),
        Some(_) if path.whole_partitions => after.key.prefix().to_vec(),
        Some(clustering) => after.key.entry(KIND_ROW, clustering),
    }
}

/// Ends the current partition: no more of its rows will come.
fn close(collector: &mut Collector<'_, '_>) -> Result<Flow, QueryError> {
    collector.open = false;
    let flow = collector.partition_end();
    match collector.error.take() {
        Some(error) => Err(error),
        None => Ok(flow),
    }
}

/// A slice for every place inside the wanted slices; both are ascending.
fn rows_among(places: &[Candidate], wanted: &[Slice], slices: &mut Vec<Slice>) {
    slices.clear();
    let mut wanted = wanted.iter().peekable();
    for place in places {
        let Place::Row(clustering) = &place.place else { continue };
        while wanted.next_if(|slice| slice.end.as_slice() <= clustering.as_slice()).is_some() {}
        if wanted.peek().is_some_and(|slice| slice.contains(clustering)) {
            slices.push(Slice::one(clustering));
        }
    }
}

/// Collects the places of entries.
struct Places {
    found: Vec<Candidate>,
    left: u64,
    bytes: usize,
    /// The last entry, once there are enough.
    last: Vec<u8>,
}

impl Sink for Places {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        // Bytes that are no entry lead nowhere.
        if let Some(found) = candidate(clustering)
            && self.found.last() != Some(&found)
        {
            self.bytes += clustering.len();
            self.found.push(found);
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 && self.bytes < CHUNK_BYTES_MAX {
            return Flow::Continue;
        }
        self.last = clustering.to_vec();
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
