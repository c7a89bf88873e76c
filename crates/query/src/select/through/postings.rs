//! The places that one condition's index leads to: places of the source, ascending, read as far as they are wanted.
//!
//! Places of equal values are in order, so they are read piece by piece. Places of a range are in the order of its values,
//! so they are collected and sorted, as many as fit; if they do not fit, the present window of the source ends earlier.

use super::Scan;
use crate::error::QueryError;
use model::key::PartitionKey;
use model::row::RowView;
use rt::turn::give_way;
use store::index::{ValueRange, partitions_slice, place_of};
use store::{Flow, Position, Read, ReadEnd, Sink, Store};

/// What a place takes beside its bytes.
const PLACE_BYTES: usize = 32;

/// The places of one condition inside a window of the source.
pub struct Postings {
    /// The number of the condition.
    pub of: usize,
    read: Read,
    /// `None`: one value. Else entries of partitions outside are passed over.
    range: Option<ValueRange>,
    /// Ascending, without repetition (of a range: once it has been closed).
    places: Vec<Vec<u8>>,
    at: usize,
    bytes: usize,
    /// Entries read so far.
    pub entries: u64,
    counted: u64,
    /// Where the window ends, as a storage key; empty means no bound.
    end: Vec<u8>,
    pub exhausted: bool,
    /// Of a range: places from here on were dropped.
    pub cut: Option<Vec<u8>>,
}

impl Postings {
    /// Nothing is read yet. `read` names the partitions of the index.
    pub fn new(
        of: usize,
        mut read: Read,
        range: Option<ValueRange>,
        (start, end): (&[u8], &[u8]),
    ) -> Postings {
        let slice = partitions_slice(start, end);
        let exhausted = slice.is_empty();
        (read.slices, read.after) = (vec![slice], None);
        (read.reverse, read.statics) = (false, false);
        Postings {
            of,
            read,
            range,
            places: Vec::new(),
            at: 0,
            bytes: 0,
            entries: 0,
            counted: 0,
            end: end.to_vec(),
            exhausted,
            cut: None,
        }
    }

    pub fn is_range(&self) -> bool {
        self.range.is_some()
    }

    /// Entries read since this was asked the last time.
    pub fn uncounted(&mut self) -> u64 {
        self.entries - std::mem::replace(&mut self.counted, self.entries)
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The place that was sought.
    pub fn place(&self) -> Option<&[u8]> {
        self.places.get(self.at).map(Vec::as_slice)
    }

    /// Of a range that is read: puts its places in order.
    pub fn close(&mut self) {
        self.places.sort_unstable();
        self.places.dedup();
        if let Some(cut) = &self.cut {
            let kept = self.places.partition_point(|place| place < cut);
            self.places.truncate(kept);
        }
    }

    /// The first place in memory that is not before this one.
    fn at_hand(&mut self, place: &[u8]) -> Option<&[u8]> {
        let rest = self.places.get(self.at..).unwrap_or_default();
        self.at += rest.partition_point(|known| known.as_slice() < place);
        self.places.get(self.at).map(Vec::as_slice)
    }

    fn forget(&mut self) {
        self.places.clear();
        (self.at, self.bytes) = (0, 0);
    }

    /// Everything after the places in memory has still to be read, from this place on.
    fn go_to(&mut self, place: &[u8]) {
        let slice = partitions_slice(place, &self.end);
        self.exhausted |= slice.is_empty();
        (self.read.slices, self.read.after) = (vec![slice], None);
    }

    /// Forgets the later half of a range that does not fit. One place stays in any case: the window must have something in it.
    fn shrink(&mut self) {
        self.close();
        let half = (self.places.len() / 2).max(1);
        if let Some(cut) = self.places.get(half) {
            self.cut = Some(cut.clone());
            self.places.truncate(half);
        }
        self.bytes = self.places.iter().map(|place| place.len() + PLACE_BYTES).sum();
    }
}

impl<S: Store, T: Store> Scan<'_, '_, S, T> {
    /// Reads this many further entries, if there are that many; for a single value also fewer, if they take much room.
    pub(super) async fn read_postings(
        &mut self,
        postings: &mut Postings,
        entries: u64,
    ) -> Result<(), QueryError> {
        let until = postings.entries.saturating_add(entries);
        let bytes_max = self.context.limits.index.places_bytes;
        while !postings.exhausted && postings.entries < until {
            let read = postings.read.clone();
            let mut taking =
                Taking { left: until - postings.entries, bytes_max, postings, key: None, last: None };
            let outcome = self.store.read(&read, &mut taking).await?;
            let (last, found) = (taking.last.take(), taking.postings.places.len());
            self.tombstones += outcome.tombstones;
            match outcome.end {
                ReadEnd::Complete => postings.exhausted = true,
                ReadEnd::Stopped => postings.read.after = last,
                // No page ends for it: there is no place here where it could.
                ReadEnd::Paused(position) => {
                    postings.read.after = Some(position);
                    give_way().await;
                }
            }
            if postings.bytes > bytes_max {
                if postings.range.is_none() && found > 0 {
                    return Ok(());
                }
                postings.shrink();
                give_way().await;
            }
        }
        Ok(())
    }

    /// Moves to the first place that is not before this one; whether there is one.
    pub(super) async fn seek(
        &mut self,
        postings: &mut Postings,
        place: &[u8],
        chunk: u64,
    ) -> Result<bool, QueryError> {
        let mut has_gone = false;
        loop {
            if postings.at_hand(place).is_some() {
                return Ok(true);
            }
            if postings.exhausted || postings.is_range() {
                return Ok(false);
            }
            postings.forget();
            // A place behind us may have any number of entries: they are skipped, not read again.
            if !std::mem::replace(&mut has_gone, true) {
                postings.go_to(place);
            }
            self.read_postings(postings, chunk).await?;
            give_way().await;
        }
    }
}

/// Takes entries until there are enough.
struct Taking<'p> {
    postings: &'p mut Postings,
    left: u64,
    bytes_max: usize,
    key: Option<PartitionKey>,
    /// Where it stopped.
    last: Option<Position>,
}

impl Sink for Taking<'_> {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        match &self.postings.range {
            Some(range) if !range.holds(key) => Flow::NextPartition,
            _ => Flow::Continue,
        }
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        let postings = &mut *self.postings;
        postings.entries += 1;
        // Bytes that are no entry lead nowhere.
        if let Some(place) = place_of(clustering)
            && postings.cut.as_ref().is_none_or(|cut| place < cut.as_slice())
            && postings.places.last().is_none_or(|last| last != place)
        {
            postings.bytes += place.len() + PLACE_BYTES;
            postings.places.push(place.to_vec());
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 && postings.bytes <= self.bytes_max {
            return Flow::Continue;
        }
        let key = self.key.clone();
        self.last = key.map(|key| Position { key, clustering: Some(clustering.to_vec()) });
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
