//! Replaying the log into memtables, one set per shard.
//!
//! One thread reads and checks the log, one per shard applies, so that opening after a crash uses the machine.
//! Mutations of one shard are applied in the order of the log, so the outcome does not depend on the threads.

use super::error::OpenError;
use crate::log::{LogOpenError, LogRecovery, NO_BALLOT, Pin, Pins, Record, recover_log};
use crate::memtable::Memtable;
use rt::Disk;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::ScopedJoinHandle;
use store::{Mutation, TableConfig, TableId};

/// Mutations handed to a shard's thread at once, and how many such batches may wait: bounds memory to a few
/// megabytes and makes the hand-over cheap.
const BATCH: usize = 512;
const BATCHES_WAITING: usize = 8;

type Memtables = BTreeMap<TableId, Vec<Memtable>>;

/// Per shard and table: memtables, oldest first. All but the last have reached the size at which they are sealed.
pub(super) type ShardMemtables = Vec<Memtables>;

type Batch = Vec<(u64, Mutation)>;

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
    /// The first segment to read.
    pub oldest: u64,
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
                    put(tables, &mutation, segment, plan.seal_bytes);
                }
            });
            (found, memtables)
        }
        false => replay_in_threads(plan),
    };
    let (recovery, ballot, skipped) = found?;
    Ok(Replayed { recovery, memtables, ballot, skipped })
}

type Found = Result<(LogRecovery, i64, u64), LogOpenError>;

fn read_log(plan: &ReplayPlan<'_>, mut apply: impl FnMut(usize, u64, Mutation)) -> Found {
    let incarnations: BTreeMap<TableId, u32> = plan.tables.iter().map(|t| (t.id, t.incarnation)).collect();
    let (mut ballot, mut skipped) = (NO_BALLOT, 0);
    let recovery = recover_log(plan.disk, plan.dir, plan.oldest, |segment, record| {
        let Record::Commit { ballot: given, mutations } = record else { return };
        ballot = ballot.max(given);
        for logged in mutations {
            let mutation = logged.mutation;
            if incarnations.get(&mutation.table) == Some(&logged.incarnation) {
                apply(mutation.key.token().shard(plan.shards as u32) as usize, segment, mutation);
            } else {
                skipped += 1;
            }
        }
    })?;
    Ok((recovery, ballot, skipped))
}

fn replay_in_threads(plan: &ReplayPlan<'_>) -> (Found, ShardMemtables) {
    std::thread::scope(|scope| {
        let mut lanes: Vec<(Batch, SyncSender<Batch>)> = Vec::new();
        let mut threads: Vec<ScopedJoinHandle<'_, Memtables>> = Vec::new();
        for _ in 0..plan.shards {
            let (sender, receiver) = sync_channel::<Batch>(BATCHES_WAITING);
            lanes.push((Vec::with_capacity(BATCH), sender));
            threads.push(scope.spawn(move || {
                let mut tables = BTreeMap::new();
                for (segment, mutation) in receiver.iter().flatten() {
                    put(&mut tables, &mutation, segment, plan.seal_bytes);
                }
                tables
            }));
        }
        let found = read_log(plan, |shard, segment, mutation| {
            let Some((batch, sender)) = lanes.get_mut(shard) else { return };
            batch.push((segment, mutation));
            if batch.len() >= BATCH {
                // Fails only if the thread panicked, which `join` below passes on.
                let _ = sender.send(std::mem::replace(batch, Vec::with_capacity(BATCH)));
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

fn put(tables: &mut Memtables, mutation: &Mutation, segment: u64, seal_bytes: usize) {
    let memtables = tables.entry(mutation.table).or_default();
    let full = |memtable: &Memtable| memtable.bytes() > seal_bytes || memtable.is_full();
    if memtables.last().is_none_or(full) {
        memtables.push(Memtable::new());
    }
    if let Some(active) = memtables.last_mut() {
        active.apply(mutation, segment);
    }
}

/// The pin that a replayed memtable needs.
pub(super) fn pin_of(pins: &Pins, memtable: &Memtable) -> Option<Pin> {
    memtable.log_segments().map(|(lowest, _)| pins.pin(lowest))
}
