//! Several conditions with indexes together, and ranges: the places that all of them lead to, in the order of the source.
//!
//! The source is processed window by window. In each window the conditions are read in turn, a few entries, then more, until one
//! comes to its end. It leads to the fewest places, so it is followed, together with the others that ended in the same turn. Conditions
//! with very many entries skip along side by side. If a range has very many entries in a slice of the source, it selects too little:
//! then the slice is read whole, as without an index.

use super::Scan;
use super::postings::Postings;
use crate::error::QueryError;
use crate::held::Held;
use crate::select::index_path::Sought;
use rt::turn::give_way;
use std::sync::Arc;
use store::index::{Candidate, candidate_of, slice_end};
use store::{IndexConfig, IndexWork, Partitions, Read, Store};

/// How often conditions have their turn, and how much more of them is read each time.
const TURNS: u32 = 4;
const TURN_FACTOR: u64 = 8;

/// Most entries of a range that are collected in one slice, per wanted row; but at least a fixed number.
const ENTRIES_FOR_ROW: u64 = 64;
const ENTRIES_MIN: u64 = 8192;

/// Places given at a time.
const CHUNK_MAX: usize = 256;
/// They end earlier when they take this many bytes: one clustering key may have 64 KiB.
const CHUNK_BYTES_MAX: usize = 1 << 20;

/// Entries of one value that are read ahead.
const AHEAD: u64 = 64;

/// What an index is asked for.
#[derive(Clone)]
pub struct Condition {
    pub name: Arc<str>,
    pub config: IndexConfig,
    pub sought: Sought,
}

/// The places of a range of the source, as storage keys.
pub struct Joined {
    conditions: Vec<Condition>,
    work: Vec<IndexWork>,
    /// Where the next window starts.
    start: Vec<u8>,
    /// Empty means no bound.
    end: Vec<u8>,
    /// No place before this one is wanted.
    floor: Vec<u8>,
    window: Option<Window>,
    /// Nothing of the partition that the next window starts in has been looked at since the page began.
    is_boundary: bool,
    rows_wanted: u64,
    chunk: usize,
    pub exhausted: bool,
    held: Held,
}

/// A part of the source, up to `end`.
struct Window {
    end: Vec<u8>,
    leads: Leads,
}

enum Leads {
    /// To the places that all of these have.
    Places(Vec<Postings>),
    /// Nobody knows: all of it.
    Everywhere,
}

/// What to look at next.
pub enum Found {
    /// Empty: there is no more.
    Places(Vec<Candidate>),
    /// Every row between two storage keys.
    Everything { start: Vec<u8>, end: Vec<u8> },
}

impl Joined {
    pub fn new(
        conditions: Vec<Condition>,
        (start, end): (Vec<u8>, Vec<u8>),
        rows_wanted: u64,
        held: Held,
    ) -> Joined {
        Joined {
            work: vec![IndexWork::default(); conditions.len()],
            conditions,
            exhausted: !end.is_empty() && start >= end,
            floor: start.clone(),
            start,
            end,
            window: None,
            is_boundary: true,
            rows_wanted,
            chunk: usize::try_from(rows_wanted).unwrap_or(CHUNK_MAX).saturating_add(2).clamp(4, CHUNK_MAX),
            held,
        }
    }

    /// Leaves out everything before a storage key.
    pub fn skip_to(&mut self, key: Vec<u8>) {
        self.floor = key;
    }

    /// What each index has done since the last time.
    pub fn tell(&mut self, to: impl Fn(&str, &IndexWork)) {
        for (condition, work) in self.conditions.iter().zip(&mut self.work) {
            to(&condition.name, &std::mem::take(work));
        }
    }

    /// Where a window that starts here ends at the latest: sorted entries are a matter of one slice.
    fn window_end(&self, start: &[u8]) -> Vec<u8> {
        match self.conditions.iter().any(|condition| condition.config.sorted) {
            true => earlier(slice_end(start), self.end.clone()),
            false => self.end.clone(),
        }
    }

    fn leave_window(&mut self) {
        let Some(window) = self.window.take() else { return };
        self.exhausted = window.end == self.end;
        self.is_boundary = self.window_end(&self.start) == window.end;
        self.start = window.end;
    }

    /// Adds what was read since the last time.
    fn count(&mut self, postings: &mut [Postings]) {
        for one in postings {
            if let Some(work) = self.work.get_mut(one.of) {
                work.entries += one.uncounted();
            }
        }
    }

    fn hold(&mut self, postings: &[Postings]) -> Result<(), QueryError> {
        self.held.hold(postings.iter().map(Postings::bytes).sum())
    }
}

/// The earlier one of two ends; an empty one is behind all others.
fn earlier(a: Vec<u8>, b: Vec<u8>) -> Vec<u8> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b,
        (_, true) => a,
        _ => a.min(b),
    }
}

/// The conditions that lead through a window: those that are at their end have the fewest places; else those that can be read
/// place by place, if there are any, and of ranges the first.
fn chosen(all: Vec<Postings>) -> Vec<Postings> {
    let ended = all.iter().any(|postings| postings.exhausted);
    let all_ranges = all.iter().all(Postings::is_range);
    let serves = |(at, postings): (usize, &Postings)| match ended {
        true => postings.exhausted,
        false if all_ranges => at == 0,
        false => !postings.is_range(),
    };
    let serve: Vec<bool> = all.iter().enumerate().map(serves).collect();
    all.into_iter().zip(serve).filter(|(_, serves)| *serves).map(|(postings, _)| postings).collect()
}

impl<S: Store, T: Store> Scan<'_, '_, S, T> {
    /// The next places, in order, without repetition.
    pub(super) async fn next_joined(&mut self, joined: &mut Joined) -> Result<Found, QueryError> {
        while !joined.exhausted {
            let mut window = match joined.window.take() {
                Some(window) => window,
                None => self.open(joined).await?,
            };
            let found = match &mut window.leads {
                Leads::Everywhere => {
                    let (start, end) = (joined.start.clone(), window.end.clone());
                    joined.window = Some(window);
                    joined.leave_window();
                    return Ok(Found::Everything { start, end });
                }
                Leads::Places(postings) => self.leap(joined, postings).await?,
            };
            joined.window = Some(window);
            if !found.is_empty() {
                return Ok(Found::Places(found));
            }
            joined.leave_window();
            give_way().await;
        }
        Ok(Found::Places(Vec::new()))
    }

    /// Finds out which conditions lead through the next window.
    async fn open(&mut self, joined: &mut Joined) -> Result<Window, QueryError> {
        let start = joined.start.clone().max(joined.floor.clone());
        let end = joined.window_end(&joined.start);
        let mut all = Vec::with_capacity(joined.conditions.len());
        for (of, condition) in joined.conditions.iter().enumerate() {
            all.push(self.postings(of, condition, (&joined.start, &start, &end)));
        }
        let is_alone = all.len() == 1;
        let first = self.context.limits.index.turn;
        for turn in 0..TURNS {
            let entries =
                if is_alone { joined.chunk as u64 } else { first.saturating_mul(TURN_FACTOR.pow(turn)) };
            for postings in &mut all {
                self.read_postings(postings, entries.saturating_sub(postings.entries)).await?;
            }
            joined.hold(&all)?;
            if is_alone || all.iter().any(|postings| postings.exhausted) {
                break;
            }
            give_way().await;
        }
        joined.count(&mut all);
        let mut kept = chosen(all);
        let is_worth_it = self.collect(joined, &mut kept).await?;
        joined.count(&mut kept);
        joined.hold(&kept)?;
        let of: Vec<usize> = kept.iter().map(|postings| postings.of).collect();
        for (at, work) in joined.work.iter_mut().enumerate() {
            work.windows += 1;
            work.chosen += u64::from(is_worth_it && of.contains(&at));
            work.given_up += u64::from(!is_worth_it && of.contains(&at));
        }
        if !is_worth_it {
            return Ok(Window { end, leads: Leads::Everywhere });
        }
        let cuts = kept.iter_mut().filter_map(|postings| postings.cut.clone());
        let end = cuts.fold(end, earlier);
        Ok(Window { end, leads: Leads::Places(kept) })
    }

    fn postings(
        &self,
        of: usize,
        condition: &Condition,
        (source, start, end): (&[u8], &[u8], &[u8]),
    ) -> Postings {
        let config = &condition.config;
        let (partitions, range) = match &condition.sought {
            Sought::Form(form) => (config.partition(form, source).map(Partitions::One), None),
            Sought::Range(range) => (Some(range.partitions(source)), Some(range.clone())),
        };
        let nothing = || Partitions::Range { start: vec![0], end: vec![0] };
        let read =
            Read { table: config.table, partitions: partitions.unwrap_or_else(nothing), ..self.read.clone() };
        Postings::new(of, read, range, (start, end))
    }

    /// Reads ranges to their end and sorts them; whether that was worth it.
    async fn collect(&mut self, joined: &mut Joined, kept: &mut [Postings]) -> Result<bool, QueryError> {
        for postings in kept.iter_mut().filter(|postings| postings.is_range()) {
            let most = self.context.limits.index.range_entries;
            let wanted = joined.rows_wanted.saturating_mul(ENTRIES_FOR_ROW).max(ENTRIES_MIN);
            let most = if joined.is_boundary { most.min(wanted) } else { u64::MAX };
            self.read_postings(postings, most.saturating_sub(postings.entries)).await?;
            if !postings.exhausted {
                return Ok(false);
            }
            postings.close();
        }
        Ok(true)
    }

    /// The next places that all conditions have.
    async fn leap(
        &mut self,
        joined: &mut Joined,
        postings: &mut [Postings],
    ) -> Result<Vec<Candidate>, QueryError> {
        let mut found = Vec::new();
        let mut bytes = 0;
        while found.len() < joined.chunk && bytes < CHUNK_BYTES_MAX {
            let ahead = AHEAD.max(joined.chunk as u64);
            let found_at = self.agreed(postings, joined.floor.clone(), ahead).await?;
            let Some(mut place) = found_at else { break };
            found.extend(candidate_of(&place));
            bytes += place.len();
            place.push(0);
            joined.floor = place;
        }
        joined.chunk = (joined.chunk * 2).min(CHUNK_MAX);
        joined.count(postings);
        Ok(found)
    }

    /// The first place from this one on that all conditions have.
    async fn agreed(
        &mut self,
        postings: &mut [Postings],
        mut place: Vec<u8>,
        ahead: u64,
    ) -> Result<Option<Vec<u8>>, QueryError> {
        let (mut agree, count) = (0, postings.len());
        let mut turn = 0..count;
        while agree < count {
            let at = turn.next().unwrap_or_else(|| {
                turn = 1..count;
                0
            });
            let Some(one) = postings.get_mut(at) else { return Ok(None) };
            if !self.seek(one, &place, ahead).await? {
                return Ok(None);
            }
            match one.place() {
                Some(next) if next == place.as_slice() => agree += 1,
                Some(next) => (place, agree) = (next.to_vec(), 1),
                None => return Ok(None),
            }
        }
        Ok(Some(place).filter(|_| count > 0))
    }
}
