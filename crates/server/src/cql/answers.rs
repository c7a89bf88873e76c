//! Memory for the answers of reads that are under way or wait for their client to take them.
//!
//! A read may fill a page of megabytes, and a client may ask for a thousand pages and take none. So a read first gets room
//! for its answer: little room, which is nearly always there and nearly always enough, or room for a whole page. What
//! outgrows its room is read again with more, once there is more; if it waits too long, the client hears that the server is overloaded.
//!
//! Guarantees: what reads of one shard hold for answers stays below the budget (a row that is larger than its room comes on
//! top). One connection cannot take all the room. Does not count the answers to writes, nor buffers of a fixed size.

use cql::CqlError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room for an answer as most are.
pub const SMALL_BYTES: usize = 64 << 10;
/// Of one connection at once, so that a client that takes nothing does not hold up all others.
const SMALL_PER_CONNECTION: usize = 128;
const LARGE_PER_CONNECTION: usize = 4;
/// The part of the budget that only small answers may have: 1 / this.
const SMALL_SHARE: usize = 8;
/// How long a read waits for room.
const PATIENCE: Duration = Duration::from_secs(10);

/// The budget of one shard.
pub struct Answers {
    small: Places,
    /// In units of [`SMALL_BYTES`].
    large: Places,
    page_bytes: usize,
    unpaged_bytes: usize,
    patience: Duration,
}

struct Places {
    free: Arc<Semaphore>,
    all: usize,
}

impl Places {
    fn new(all: usize) -> Places {
        let all = all.clamp(1, u32::MAX as usize >> 4);
        Places { free: Arc::new(Semaphore::new(all)), all }
    }

    fn bytes_taken(&self) -> usize {
        (self.all - self.free.available_permits().min(self.all)) * SMALL_BYTES
    }
}

/// What one connection may hold of it.
pub struct Quota {
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

impl Default for Quota {
    fn default() -> Quota {
        let places = |count| Arc::new(Semaphore::new(count));
        Quota { small: places(SMALL_PER_CONNECTION), large: places(LARGE_PER_CONNECTION) }
    }
}

/// Room for one answer; dropped when the answer is written or smaller than expected.
pub struct Room {
    pub bytes: usize,
    _permits: [OwnedSemaphorePermit; 2],
}

impl Answers {
    /// `unpaged_bytes` is what an answer without paging may grow to.
    pub fn new(bytes_max: usize, page_bytes: usize, unpaged_bytes: usize) -> Answers {
        let units = bytes_max / SMALL_BYTES;
        let small = Places::new(units / SMALL_SHARE);
        // There is always room for one page.
        let large = Places::new((units - units / SMALL_SHARE).max(page_bytes.div_ceil(SMALL_BYTES)));
        Answers { small, large, page_bytes, unpaged_bytes, patience: PATIENCE }
    }

    /// The sizes that an answer may be tried with, each larger than the one before.
    pub fn sizes(&self, paged: bool) -> impl Iterator<Item = usize> + use<> {
        let unpaged = (!paged).then_some(self.unpaged_bytes);
        [self.page_bytes].into_iter().chain(unpaged)
    }

    /// Room for a page, if there is some at once.
    pub fn page_now(&self, quota: &Quota) -> Option<Room> {
        let mine = quota.large.clone().try_acquire_owned().ok()?;
        let ours = self.large.free.clone().try_acquire_many_owned(self.units(self.page_bytes)).ok()?;
        Some(Room { bytes: self.page_bytes, _permits: [mine, ours] })
    }

    /// Room for several small answers, if there is some at once.
    pub fn small_now(&self, quota: &Quota, answers: usize) -> Option<Room> {
        let units = answers.clamp(1, SMALL_PER_CONNECTION) as u32;
        let mine = quota.small.clone().try_acquire_many_owned(units).ok()?;
        let ours = self.small.free.clone().try_acquire_many_owned(units).ok()?;
        Some(Room { bytes: units as usize * SMALL_BYTES, _permits: [mine, ours] })
    }

    /// Room for a small answer.
    pub async fn small(&self, quota: &Quota) -> Result<Room, CqlError> {
        self.room(SMALL_BYTES, &quota.small, &self.small, 1).await
    }

    /// Room for an answer of this size.
    pub async fn large(&self, quota: &Quota, bytes: usize) -> Result<Room, CqlError> {
        self.room(bytes, &quota.large, &self.large, self.units(bytes)).await
    }

    /// More than all there is means all there is.
    fn units(&self, bytes: usize) -> u32 {
        bytes.div_ceil(SMALL_BYTES).min(self.large.all) as u32
    }

    async fn room(
        &self,
        bytes: usize,
        mine: &Arc<Semaphore>,
        ours: &Places,
        units: u32,
    ) -> Result<Room, CqlError> {
        let wait = async {
            let mine = mine.clone().acquire_owned().await.ok()?;
            let ours = ours.free.clone().acquire_many_owned(units).await.ok()?;
            Some(Room { bytes, _permits: [mine, ours] })
        };
        tokio::time::timeout(self.patience, wait).await.ok().flatten().ok_or_else(|| {
            let text = "Answers that clients have not taken fill the memory for answers; take them, ask for \
                        smaller pages or fewer at once, or try again later";
            CqlError::Overloaded(text.into())
        })
    }

    /// For metrics.
    pub fn bytes_taken(&self) -> usize {
        self.small.bytes_taken() + self.large.bytes_taken()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_connection_leaves_room_for_others_and_all_of_it_comes_back() {
        let answers = Answers::new(64 << 20, 8 << 20, 256 << 20);
        let (one, other) = (Quota::default(), Quota::default());
        let held: Vec<Room> = std::iter::from_fn(|| answers.page_now(&one)).collect();
        assert_eq!(held.len(), LARGE_PER_CONNECTION);
        assert_eq!(answers.bytes_taken(), LARGE_PER_CONNECTION * (8 << 20));
        // 56 MiB are for large answers.
        let more: Vec<Room> = std::iter::from_fn(|| answers.page_now(&other)).collect();
        assert_eq!(more.len(), 3);
        drop((held, more));
        assert_eq!(answers.bytes_taken(), 0);
    }

    #[test]
    fn there_is_room_for_a_page_however_small_the_budget() {
        let answers = Answers::new(1, 8 << 20, 256 << 20);
        let quota = Quota::default();
        let room = answers.page_now(&quota).unwrap();
        assert_eq!(room.bytes, 8 << 20);
        assert!(answers.page_now(&quota).is_none());
    }

    #[tokio::test]
    async fn who_waits_too_long_is_told_so() {
        let mut answers = Answers::new(8 << 20, 8 << 20, 256 << 20);
        answers.patience = Duration::from_millis(20);
        let (slow, other) = (Quota::default(), Quota::default());
        let held = answers.large(&slow, 256 << 20).await.unwrap();
        assert!(matches!(answers.large(&other, 8 << 20).await, Err(CqlError::Overloaded(_))));
        assert!(answers.small(&other).await.is_ok());
        drop(held);
        assert!(answers.large(&other, 8 << 20).await.is_ok());
    }
}
