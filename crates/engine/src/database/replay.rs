//! Replaying the log into memtables, one set per shard.
//!
//! One thread reads and checks the log, one per shard applies, so that opening after a crash uses the machine.
//! Mutations of one shard are applied in the order of the log, so the outcome does not depend on the threads.

use super::error::OpenError;
use crate::log::{
    LogBounds, LogOpenError, LogRecovery, LoggedMutation, NO_BALLOT, Pin, Pins, Record, recover_log,
};
use crate::memtable::Memtable;
use model::key::token_of;
use rt::Disk;
use rt::threads::{ScopedJoinHandle, scope};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use store::mutation::Entries;
use store::{TableConfig, TableId};

/// Bytes of mutations handed to a shard's thread at once, and how many such batches may wait: bounds memory to a
/// few megabytes and makes the hand-over cheap.
const BATCH_BYTES: usize = 128 << 10;
const BATCHES_WAITING: usize = 8;

type Memtables = BTreeMap<TableId, Vec<Memtable>>;

/// Per shard and table: memtables, oldest first. All but the last have reached the size at which they are sealed.
pub(super) type ShardMemtables = Vec<Memtables>;

/// Mutations on their way to a shard's thread, copied out of the log into one buffer.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    mutations: Vec<Part>,
}

/// One mutation of a batch: its bytes are the partition's prefix and then the entries.
struct Part {
    table: TableId,
    segment: u64,
    prefix_end: usize,
    end: usize,
}

impl Batch {
    fn new() -> Batch {
        Batch { bytes: Vec::with_capacity(BATCH_BYTES + BATCH_BYTES / 8), mutations: Vec::with_capacity(512) }
    }

    fn push(&mut self, segment: u64, mutation: LoggedMutation<'_>) {
        self.bytes.extend_from_slice(mutation.prefix);
        let prefix_end = self.bytes.len();
        self.bytes.extend_from_slice(mutation.entries);
        self.mutations.push(Part { table: mutation.table, segment, prefix_end, end: self.bytes.len() });
    }

    fn apply(&self, tables: &mut Memtables, seal_bytes: usize) {
        let mut start = 0;
        for part in &self.mutations {
            assert!(start < part.prefix_end && part.prefix_end <= part.end, "a mutation has a partition");
            let (prefix, entries) =
                (&self.bytes[start..part.prefix_end], &self.bytes[part.prefix_end..part.end]);
            put(tables, part.table, (prefix, entries), part.segment, seal_bytes);
            start = part.end;
        }
    }
}

pub(super) struct Replayed {
    pub recovery: LogRecovery,
    pub memtables: ShardMemtables,
    /// The largest ballot in the log.
    pub ballot: i64,
    /// Mutations of tables that are gone, or of older incarnations.
    pub skipped: u64,
}

pub(super) struct ReplayPlan<'a> {
    pub disk: &'a dyn Disk,
    pub dir: &'a Path,
    pub bounds: LogBounds,
    pub shards: usize,
    /// A memtable that holds more than this is full.
    pub seal_bytes: usize,
    pub tables: &'a [TableConfig],
    /// Without threads.
    pub inline: bool,
}

/// Mutations go to the shard that owns their token now, whatever the number of shards was when they were
/// logged; those of unknown tables and older incarnations are skipped.
pub(super) fn replay_log(plan: &ReplayPlan<'_>) -> Result<Replayed, OpenError> {
    let (found, memtables) = match plan.inline {
        true => {
            let mut memtables: ShardMemtables = (0..plan.shards).map(|_| BTreeMap::new()).collect();
            let found = read_log(plan, |shard, segment, mutation| {
                if let Some(tables) = memtables.get_mut(shard) {
                    let parts = (mutation.prefix, mutation.entries);
                    put(tables, mutation.table, parts, segment, plan.seal_bytes);
                }
            });
            (found, memtables)
        }
        false => replay_in_threads(plan),
    };
    let (recovery, ballot, skipped) = found?;
    assert_eq!(memtables.len(), plan.shards, "a set of memtables per shard");
    Ok(Replayed { recovery, memtables, ballot, skipped })
}

type Found = Result<(LogRecovery, i64, u64), LogOpenError>;

fn read_log(plan: &ReplayPlan<'_>, mut apply: impl FnMut(usize, u64, LoggedMutation<'_>)) -> Found {
    let incarnations: BTreeMap<TableId, u32> = plan.tables.iter().map(|t| (t.id, t.incarnation)).collect();
    let (mut ballot, mut skipped) = (NO_BALLOT, 0);
    let recovery = recover_log(plan.disk, plan.dir, plan.bounds, |segment, record| {
        let Record::Commit { ballot: given, mutations } = record else { return };
        ballot = ballot.max(given);
        for mutation in mutations {
            if incarnations.get(&mutation.table) == Some(&mutation.incarnation) {
                apply(token_of(mutation.prefix).shard(plan.shards as u32) as usize, segment, mutation);
            } else {
                skipped += 1;
            }
        }
    })?;
    Ok((recovery, ballot, skipped))
}

fn replay_in_threads(plan: &ReplayPlan<'_>) -> (Found, ShardMemtables) {
    scope(|scope| {
        let mut lanes: Vec<(Batch, SyncSender<Batch>)> = Vec::new();
        let mut threads: Vec<ScopedJoinHandle<'_, Memtables>> = Vec::new();
        for _ in 0..plan.shards {
            let (sender, receiver) = sync_channel::<Batch>(BATCHES_WAITING);
            lanes.push((Batch::new(), sender));
            threads.push(scope.spawn(move || {
                let mut tables = BTreeMap::new();
                receiver.iter().for_each(|batch| batch.apply(&mut tables, plan.seal_bytes));
                tables
            }));
        }
        let found = read_log(plan, |shard, segment, mutation| {
            let Some((batch, sender)) = lanes.get_mut(shard) else { return };
            batch.push(segment, mutation);
            if batch.bytes.len() >= BATCH_BYTES {
                // Fails only if the thread panicked, which `join` below passes on.
                let _ = sender.send(std::mem::replace(batch, Batch::new()));
            }
        });
        for (batch, sender) in lanes {
            let _ = sender.send(batch);
        }
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (found, joined.collect())
    })
}

fn put(
    tables: &mut Memtables,
    table: TableId,
    (prefix, entries): (&[u8], &[u8]),
    segment: u64,
    seal_bytes: usize,
) {
    let memtables = tables.entry(table).or_default();
    let full = |memtable: &Memtable| memtable.bytes() > seal_bytes || memtable.is_full();
    if memtables.last().is_none_or(full) {
        memtables.push(Memtable::new());
    }
    if let Some(active) = memtables.last_mut() {
        active.apply_entries(prefix, Entries::new(entries), segment);
    }
}

/// The pin that a replayed memtable needs.
pub(super) fn pin_of(pins: &Pins, memtable: &Memtable) -> Option<Pin> {
    memtable.log_segments().map(|(lowest, _)| pins.pin(lowest))
}
