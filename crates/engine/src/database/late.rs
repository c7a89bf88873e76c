//! How far each copy that follows later is behind, readable from any thread.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use store::{Lag, TableId};
use tokio::sync::Notify;

/// Nothing waits.
const NEVER: i64 = i64::MAX;

/// What one shard says of one copy.
pub(crate) struct OnShard {
    rows: AtomicU64,
    since: AtomicI64,
    continued: AtomicU64,
    pressing: AtomicBool,
    stuck: AtomicBool,
}

impl Default for OnShard {
    fn default() -> OnShard {
        let (rows, continued) = (AtomicU64::new(0), AtomicU64::new(0));
        let (pressing, stuck) = (AtomicBool::new(false), AtomicBool::new(false));
        OnShard { rows, since: AtomicI64::new(NEVER), continued, pressing, stuck }
    }
}

/// How a copy stands, over all shards.
pub(crate) struct Standing {
    shards: Vec<OnShard>,
    /// Writers may continue: no shard presses any more, or no shard can ease the pressure.
    pub eased: Notify,
}

impl Standing {
    /// What a shard has of it now; `since`: when the writer of its oldest row came.
    pub fn show(&self, shard: usize, rows: u64, since: Option<i64>, continued: u64) {
        let Some(shard) = self.shards.get(shard) else { return };
        shard.rows.store(rows, Ordering::Release);
        shard.continued.store(continued, Ordering::Release);
        shard.since.store(since.unwrap_or(NEVER), Ordering::Release);
    }

    /// Whether a shard wants writers to be held back.
    pub fn press(&self, shard: usize, pressing: bool) {
        let Some(shard) = self.shards.get(shard) else { return };
        if shard.pressing.swap(pressing, Ordering::AcqRel) && !pressing {
            self.eased.notify_waiters();
        }
    }

    /// Whether a shard cannot continue at present.
    pub fn stick(&self, shard: usize, stuck: bool) {
        let Some(shard) = self.shards.get(shard) else { return };
        if !shard.stuck.swap(stuck, Ordering::AcqRel) && stuck {
            self.eased.notify_waiters();
        }
    }

    pub fn is_pressing(&self) -> bool {
        self.shards.iter().any(|shard| shard.pressing.load(Ordering::Acquire))
    }

    pub fn is_stuck(&self) -> bool {
        self.shards.iter().any(|shard| shard.stuck.load(Ordering::Acquire))
    }

    fn lag(&self, now_micros: i64) -> Lag {
        let mut lag = Lag::default();
        for shard in &self.shards {
            lag.rows += shard.rows.load(Ordering::Acquire);
            lag.continued += shard.continued.load(Ordering::Acquire);
            let since = shard.since.load(Ordering::Acquire);
            let millis = now_micros.saturating_sub(since).max(0) / 1_000;
            lag.millis = lag.millis.max(millis.unsigned_abs());
        }
        lag
    }
}

/// Every copy that follows later, by its table of pending entries.
#[derive(Default)]
pub(crate) struct Late {
    standings: RwLock<HashMap<TableId, Arc<Standing>>>,
}

impl Late {
    pub fn of(&self, pending: TableId, shards: usize) -> Arc<Standing> {
        let mut standings = self.standings.write().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let shards = (0..shards).map(|_| OnShard::default()).collect();
            Arc::new(Standing { shards, eased: Notify::new() })
        };
        standings.entry(pending).or_insert_with(new).clone()
    }

    pub fn keep(&self, wanted: impl Fn(TableId) -> bool) {
        let mut standings = self.standings.write().unwrap_or_else(PoisonError::into_inner);
        standings.retain(|pending, standing| {
            let is_wanted = wanted(*pending);
            if !is_wanted {
                (0..standing.shards.len()).for_each(|shard| standing.press(shard, false));
            }
            is_wanted
        });
    }

    pub fn lag(&self, pending: TableId, now_micros: i64) -> Option<Lag> {
        let standings = self.standings.read().unwrap_or_else(PoisonError::into_inner);
        standings.get(&pending).map(|standing| standing.lag(now_micros))
    }
}
