//! Replaying the log into memtables, one set per shard.

use crate::log::{LogRecovery, NO_BALLOT, Pins, Record, recover_log};
use crate::memtable::Memtable;
use rt::Disk;
use std::collections::BTreeMap;
use std::path::Path;
use store::{TableConfig, TableId};

use super::error::OpenError;

pub(super) struct Replayed {
    pub recovery: LogRecovery,
    /// Per shard: the memtables.
    pub memtables: Vec<BTreeMap<TableId, Memtable>>,
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
    tables: &[TableConfig],
) -> Result<Replayed, OpenError> {
    let incarnations: BTreeMap<TableId, u32> = tables.iter().map(|t| (t.id, t.incarnation)).collect();
    let mut memtables: Vec<BTreeMap<TableId, Memtable>> = (0..shards).map(|_| BTreeMap::new()).collect();
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
            if let Some(memtables) = memtables.get_mut(shard) {
                memtables.entry(mutation.table).or_default().apply(&mutation, segment);
            }
        }
    })?;
    Ok(Replayed { recovery, memtables, ballot, skipped })
}

/// The pin that a replayed memtable needs.
pub(super) fn pin_of(pins: &Pins, memtable: &Memtable) -> Option<crate::log::Pin> {
    memtable.log_segments().map(|(lowest, _)| pins.pin(lowest))
}
