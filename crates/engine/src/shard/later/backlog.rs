//! What a shard still has to do for one copy: the oldest entries are in memory, all of them in the table of pending entries.
//!
//! Entries are listed when they are applied. Entries that do not fit, and those from before the shard started, are found by reading the table from
//! its beginning when the list is empty. An entry may be listed twice; following it twice changes nothing.

use crate::database::late::Standing;
use model::key::{KIND_ROW, PartitionKey};
use model::row::RowView;
use std::collections::VecDeque;
use std::sync::Arc;
use store::later::{LaterConfig, Pending};
use store::{Flow, Mutation, Position, Sink};

/// Entries that are kept in memory, for each copy of a shard: about 15 MB.
const LISTED_MAX: usize = 100_000;

/// Part of the bound at which writers are held back.
const PRESSED_AT: (u64, u64) = (3, 4);

pub(super) struct Waiting {
    pub key: PartitionKey,
    pub pending: Pending,
}

pub(super) struct Backlog {
    pub config: Arc<LaterConfig>,
    pub incarnation: u32,
    pub standing: Arc<Standing>,
    /// As they came.
    pub list: VecDeque<Waiting>,
    /// The table may hold entries that are not listed; the oldest may be as old as this.
    unlisted_since: Option<i64>,
    /// Rows of these, as far as they were seen.
    unlisted_rows: u64,
    look_from: Option<Position>,
    /// The oldest entry that came since the looks began at the beginning of the table, and found no room in the list.
    passed_over: Option<i64>,
}

impl Backlog {
    /// For a copy whose table is all that is known of it.
    pub fn new(config: Arc<LaterConfig>, incarnation: u32, standing: Arc<Standing>, now: i64) -> Backlog {
        Backlog {
            config,
            incarnation,
            standing,
            list: VecDeque::new(),
            unlisted_since: Some(now),
            unlisted_rows: 0,
            look_from: None,
            passed_over: None,
        }
    }

    pub fn has_work(&self) -> bool {
        !self.list.is_empty() || self.must_look()
    }

    pub fn must_look(&self) -> bool {
        self.list.is_empty() && self.unlisted_since.is_some()
    }

    /// An entry is in the table from now on.
    pub fn note(&mut self, mutation: &Mutation) {
        for entry in mutation.entries() {
            let Some((&KIND_ROW, clustering)) = entry.position.split_first() else { continue };
            let row = RowView::from_payload(entry.payload);
            if let Some(pending) = row.and_then(|row| Pending::read(clustering, row)) {
                self.add(Waiting { key: mutation.key.clone(), pending });
            }
        }
    }

    fn add(&mut self, waiting: Waiting) {
        if self.list.len() < LISTED_MAX {
            self.list.push_back(waiting);
            return;
        }
        let since = waiting.pending.since;
        let earlier = |known: Option<i64>| Some(known.map_or(since, |known| known.min(since)));
        self.unlisted_since = earlier(self.unlisted_since);
        self.passed_over = earlier(self.passed_over);
        self.unlisted_rows += waiting.pending.slices.len() as u64;
    }

    /// Where the next look at the table begins.
    pub fn begin_look(&mut self) -> Option<Position> {
        if self.look_from.is_none() {
            self.passed_over = None;
        }
        self.look_from.clone()
    }

    /// Takes what a look has found; `next`: where it ended, if that is not the end of the table.
    pub fn found(&mut self, found: Vec<Waiting>, next: Option<Position>) {
        let rows: usize = found.iter().map(|waiting| waiting.pending.slices.len()).sum();
        self.unlisted_rows = self.unlisted_rows.saturating_sub(rows as u64);
        let oldest = found.iter().map(|waiting| waiting.pending.since).min();
        self.unlisted_since = self.unlisted_since.into_iter().chain(oldest).min();
        self.list.extend(found);
        self.look_from = next;
        if self.look_from.is_none() {
            // A skipped entry may be where the looks have already been: they start again.
            self.unlisted_since = self.passed_over;
            if self.passed_over.is_none() {
                self.unlisted_rows = 0;
            }
        }
    }

    /// Since when the oldest entry waits.
    pub fn since(&self) -> Option<i64> {
        let listed = self.list.iter().map(|waiting| waiting.pending.since).min();
        listed.into_iter().chain(self.unlisted_since).min()
    }

    /// Lets others see how far the copy is behind, and holds writers back if its bound is about to break.
    pub fn show(&self, shard: usize, now: i64) {
        let listed: usize = self.list.iter().map(|waiting| waiting.pending.slices.len()).sum();
        let is_continued = |waiting: &&Waiting| waiting.pending.since != waiting.pending.stamp;
        let continued = self.list.iter().filter(is_continued).count() as u64;
        let since = if self.has_work() { self.since() } else { None };
        self.standing.show(shard, listed as u64 + self.unlisted_rows, since, continued);
        self.standing.press(shard, since.is_some_and(|since| self.is_late(since, now)));
    }

    /// Whether writers are to be held back for the sake of an entry of this age.
    pub fn is_late(&self, since: i64, now: i64) -> bool {
        let micros = self.config.bound_millis.saturating_mul(1_000) / PRESSED_AT.1 * PRESSED_AT.0;
        now.saturating_sub(since).max(0).unsigned_abs() > micros
    }
}

/// Entries of the table of what is pending, a page of them.
#[derive(Default)]
pub(super) struct Look {
    pub found: Vec<Waiting>,
    key: Option<PartitionKey>,
    pub stopped: Option<Position>,
}

impl Sink for Look {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let (Some(key), Some(pending)) = (&self.key, Pending::read(clustering, row)) else {
            return Flow::Continue;
        };
        self.found.push(Waiting { key: key.clone(), pending });
        if self.found.len() < LISTED_MAX {
            return Flow::Continue;
        }
        self.stopped = Some(Position { key: key.clone(), clustering: Some(clustering.to_vec()) });
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
