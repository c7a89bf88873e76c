//! Which files to merge or to drop: a pure function from a description of the files to a choice.

use crate::statistics::NEVER;
use crate::table::Table;
use model::deletion::Timestamp;
use model::key::token_of;
use store::Compaction;

mod expired;
#[cfg(test)]
mod tests;
mod unified;
mod window;

/// What a strategy knows about a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFacts {
    pub number: u64,
    pub bytes: u64,
    pub first_prefix: Vec<u8>,
    pub last_prefix: Vec<u8>,
    pub rows: u64,
    /// Tombstones of every kind, without expiring data.
    pub tombstones: u64,
    pub expiring: u64,
    pub min_timestamp: Timestamp,
    pub max_timestamp: Timestamp,
    pub max_local_seconds: u32,
    pub max_expiry: u32,
    pub all_expired_at: u32,
    pub log_max: u64,
    /// Part of a merge that is under way: must not be chosen, but still lies over and under others.
    pub busy: bool,
}

impl FileFacts {
    pub fn of(table: &Table, busy: bool) -> FileFacts {
        let (properties, statistics) = (table.properties(), table.statistics());
        FileFacts {
            number: table.number(),
            bytes: table.bytes(),
            first_prefix: properties.first_prefix.clone(),
            last_prefix: properties.last_prefix.clone(),
            rows: statistics.rows,
            tombstones: statistics.tombstones() - statistics.expiring,
            expiring: statistics.expiring,
            min_timestamp: statistics.min_timestamp,
            max_timestamp: statistics.max_timestamp,
            max_local_seconds: statistics.max_local_seconds,
            max_expiry: statistics.max_expiry,
            all_expired_at: statistics.all_expired_at,
            log_max: statistics.log_max,
            busy,
        }
    }

    fn overlaps(&self, other: &FileFacts) -> bool {
        self.first_prefix <= other.last_prefix && other.first_prefix <= self.last_prefix
    }

    /// The part of the ring between the first and the last partition, of `u64::MAX`.
    fn span(&self) -> u64 {
        let position = |prefix: &[u8]| token_of(prefix).ring_position();
        position(&self.last_prefix).saturating_sub(position(&self.first_prefix))
    }
}

/// Everything else a strategy looks at.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    pub now_seconds: u32,
    pub grace_seconds: u32,
    pub oldest_live_segment: u64,
    /// The smallest timestamp in any memtable of the table on this shard.
    pub memtables_min_timestamp: Option<Timestamp>,
    /// About how large a flushed file is: the size of the lowest level.
    pub flush_bytes: u64,
    /// How many shards share the ring: files of one span at most that part of it.
    pub shards: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    Nothing,
    /// Merge these files into one run.
    Merge(Vec<u64>),
    /// Remove these files without reading them: everything in them is dead and hides nothing.
    Drop(Vec<u64>),
}

/// Most files merged at once: bounds memory (a block each) and the time until anything is freed.
pub const MERGE_FILES_MAX: usize = 32;
/// A file is rewritten alone if more than one entry in this many is a purgeable tombstone.
const TOMBSTONES_ONE_IN: u64 = 5;

/// The most useful thing to do, if any.
pub fn choose(strategy: Compaction, files: &[FileFacts], situation: &Situation) -> Choice {
    if strategy == Compaction::Off {
        return Choice::Nothing;
    }
    let expired = expired::expired(files, situation);
    if !expired.is_empty() {
        return Choice::Drop(expired);
    }
    let merge = match strategy {
        Compaction::Unified { scaling } => unified::merge(files, scaling, situation),
        Compaction::TimeWindow { window_seconds } => window::merge(files, window_seconds, situation),
        Compaction::Off => Vec::new(),
    };
    if merge.len() > 1 {
        return Choice::Merge(merge);
    }
    match purgeable(files, situation) {
        Some(number) => Choice::Merge(vec![number]),
        None => Choice::Nothing,
    }
}

/// A file that shrinks for certain when it is rewritten alone: many tombstones, nothing beneath them.
fn purgeable(files: &[FileFacts], situation: &Situation) -> Option<u64> {
    let worth = |file: &&FileFacts| {
        let expired = if file.max_expiry <= situation.now_seconds { file.expiring } else { 0 };
        let dead = file.tombstones + expired;
        dead > 0
            && dead * TOMBSTONES_ONE_IN > file.rows + file.tombstones
            && !file.busy
            && purge_is_allowed(file, situation)
            && others_min_timestamp(files, file, situation) > file.max_timestamp
    };
    files.iter().filter(worth).max_by_key(|file| file.bytes).map(|file| file.number)
}

/// Whether neither grace nor the log holds back any tombstone of the file.
fn purge_is_allowed(file: &FileFacts, situation: &Situation) -> bool {
    let old_enough = file.max_local_seconds.checked_add(situation.grace_seconds);
    old_enough.is_some_and(|at| at <= situation.now_seconds) && file.log_max < situation.oldest_live_segment
}

fn others_min_timestamp(files: &[FileFacts], file: &FileFacts, situation: &Situation) -> Timestamp {
    let others = files.iter().filter(|other| other.number != file.number && other.overlaps(file));
    let others = others.map(|other| other.min_timestamp).chain(situation.memtables_min_timestamp);
    others.min().unwrap_or(Timestamp::MAX)
}

/// Whether something in the file is live for ever.
fn lives_for_ever(file: &FileFacts) -> bool {
    file.all_expired_at == NEVER
}

/// Groups of files in which each overlaps another one of the group, in storage order.
fn overlapping_groups(mut files: Vec<&FileFacts>) -> Vec<Vec<&FileFacts>> {
    files.sort_by(|a, b| a.first_prefix.cmp(&b.first_prefix).then(a.number.cmp(&b.number)));
    let mut groups: Vec<Vec<&FileFacts>> = vec![];
    let mut reach: &[u8] = &[];
    for file in files {
        match groups.last_mut() {
            Some(group) if file.first_prefix.as_slice() <= reach => group.push(file),
            _ => groups.push(vec![file]),
        }
        reach = reach.max(&file.last_prefix);
    }
    groups
}

/// How many files of a group lie over one partition at most.
fn deepest_overlap(group: &[&FileFacts]) -> usize {
    let over = |at: &FileFacts| {
        let key = &at.first_prefix;
        group.iter().filter(|f| f.first_prefix <= *key && *key <= f.last_prefix).count()
    };
    group.iter().map(|file| over(file)).max().unwrap_or(0)
}
