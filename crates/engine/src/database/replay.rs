//! Replaying the log into memtables, one set per shard.

use crate::log::{LogRecovery, NO_BALLOT, Pins, Record, recover_log};
use crate::memtable::Memtable;
use rt::Disk;
use std::collections::BTreeMap;
use std::path::Path;
use store::{Mutation, TableConfig, TableId};

use super::error::OpenError;

/// Per shard and table: memtables, oldest first. All but the last have reached the size at which they are sealed.
pub(super) type ShardMemtables = Vec<BTreeMap<TableId, Vec<Memtable>>>;

pub(super) struct Replayed {
    pub recovery: LogRecovery,
    pub memtables: ShardMemtables,
    /// The largest ballot in the log.
    pub ballot: i64,
    /// Mutations of tables that are gone, or of older incarnations.
    pub skipped: u64,
}

/// Mutations go to the shard that owns their token now, whatever the number of shards was when they were
/// logged; those of unknown tables and older incarnations are skipped.
pub(super) fn replay_log(
    disk: &dyn Disk,
    dir: &Path,
    oldest: u64,
    shards: usize,
    seal_bytes: usize,
    tables: &[TableConfig],
) -> Result<Replayed, OpenError> {
    let incarnations: BTreeMap<TableId, u32> = tables.iter().map(|t| (t.id, t.incarnation)).collect();
    let mut memtables: ShardMemtables = (0..shards).map(|_| BTreeMap::new()).collect();
    let mut ballot = NO_BALLOT;
    let mut skipped = 0;
    let recovery = recover_log(disk, dir, oldest, |segment, record| {
        let Record::Commit { ballot: given, mutations } = record else { return };
        ballot = ballot.max(given);
        for logged in mutations {
            let mutation = logged.mutation;
            if incarnations.get(&mutation.table) != Some(&logged.incarnation) {
                skipped += 1;
                continue;
            }
            let shard = mutation.key.token().shard(shards as u32) as usize;
            if let Some(tables) = memtables.get_mut(shard) {
                put(tables.entry(mutation.table).or_default(), &mutation, segment, seal_bytes);
            }
        }
    })?;
    Ok(Replayed { recovery, memtables, ballot, skipped })
}

fn put(memtables: &mut Vec<Memtable>, mutation: &Mutation, segment: u64, seal_bytes: usize) {
    let full = |memtable: &Memtable| memtable.bytes() > seal_bytes || memtable.is_full();
    if memtables.last().is_none_or(full) {
        memtables.push(Memtable::new());
    }
    if let Some(active) = memtables.last_mut() {
        active.apply(mutation, segment);
    }
}

/// The pin that a replayed memtable needs.
pub(super) fn pin_of(pins: &Pins, memtable: &Memtable) -> Option<crate::log::Pin> {
    memtable.log_segments().map(|(lowest, _)| pins.pin(lowest))
}
