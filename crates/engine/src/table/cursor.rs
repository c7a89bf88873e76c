//! A cursor over a table file.
//!
//! It holds one index block and one data block. Block boundaries at which a partition ends are marked in
//! the index, so a reader that stays in a partition never reads a block of another one.

use super::block::{Block, Place};
use super::frame::FrameAt;
use super::properties::IndexTop;
use super::{BlockRef, Table, filter, row_filter};
use crate::cache::BlockCache;
use crate::cursor::{Cursor, Entry, is_inside};
use model::deletion::Timestamp;
use model::key::KIND_END;
use model::vint;
use std::sync::Arc;
use store::StoreError;

/// Room for keys of ordinary size, so that they are not grown into.
const KEY_BYTES: usize = 64;

pub struct TableCursor<'a> {
    table: &'a Table,
    cache: Option<&'a BlockCache>,
    /// The partition it stands in.
    prefix: Vec<u8>,
    inside: bool,
    index: Option<IndexAt<'a>>,
    block: Option<Arc<Block>>,
    /// Partition and entry in `block`; meaningful when `entry` is there or was there.
    place: Place,
    /// The entries of that partition in `block`.
    entries: std::ops::Range<usize>,
    /// The position of the current entry; its first bytes are those the partition's entries share.
    position: Vec<u8>,
    common_len: usize,
    current: Option<Current>,
    /// Where `may_hold` found that `position` would lie: the seek that follows need not look again.
    asked: Option<IndexAt<'a>>,
}

/// The payload of the current entry: a range of its block.
#[derive(Clone, Copy)]
struct Current {
    timestamp: Timestamp,
    start: u32,
    end: u32,
}

/// The index entry of the current data block.
#[derive(Clone)]
struct IndexAt<'a> {
    top: usize,
    block: BlockRef<'a>,
    place: Place,
}

impl IndexAt<'_> {
    /// Whether the data block is the last of its last partition, and that is `prefix`.
    fn ends_partition(&self, prefix: &[u8]) -> bool {
        let partition = self.place.partition;
        let common = self.block.common(partition);
        let ends = match common {
            [] => self.block.suffix(self.place.entry) == [KIND_END],
            _ => common == [KIND_END] && self.block.suffix(self.place.entry).is_empty(),
        };
        ends && self.block.prefix(partition) == prefix
    }

    /// Whether the data block ends inside the partition `prefix`.
    fn ends_inside(&self, prefix: &[u8]) -> bool {
        self.block.prefix(self.place.partition) == prefix && !self.ends_partition(prefix)
    }
}

impl<'a> TableCursor<'a> {
    #[inline]
    pub(super) fn new(table: &'a Table, cache: Option<&'a BlockCache>) -> TableCursor<'a> {
        TableCursor {
            table,
            cache,
            prefix: Vec::with_capacity(KEY_BYTES),
            inside: false,
            index: None,
            block: None,
            place: Place { partition: 0, entry: 0 },
            entries: 0..0,
            position: Vec::new(),
            common_len: 0,
            current: None,
            asked: None,
        }
    }

    fn tops(&self) -> &'a [IndexTop] {
        &self.table.properties.index
    }

    fn index_block(&self, top: usize) -> Result<Option<BlockRef<'a>>, StoreError> {
        self.table.index_block(top, self.cache)
    }

    /// The index entry of the first block that may hold something at or behind the key.
    fn find_index(&self, prefix: &[u8], position: &[u8]) -> Result<Option<IndexAt<'a>>, StoreError> {
        let before = |top: &IndexTop| (top.prefix.as_slice(), top.position.as_slice()) < (prefix, position);
        let top = self.tops().partition_point(before);
        let loaded = match &self.index {
            Some(index) if index.top == top => Some(index.block.clone()),
            _ => self.index_block(top)?,
        };
        let Some(block) = loaded else { return Ok(None) };
        let place = block.lower_bound(prefix, position);
        if place.entry >= block.entries() {
            let at = self.tops().get(top).map_or(0, |top| top.at.offset);
            return Err(self.table.file.corrupt(at, "an index block lacks its last key"));
        }
        Ok(Some(IndexAt { top, block, place }))
    }

    fn last_index(&self) -> Result<Option<IndexAt<'a>>, StoreError> {
        let Some(top) = self.tops().len().checked_sub(1) else { return Ok(None) };
        Ok(self.index_block(top)?.map(|block| IndexAt { top, place: last_place(&block), block }))
    }

    fn next_index(&self, index: &IndexAt<'a>) -> Result<Option<IndexAt<'a>>, StoreError> {
        let entry = index.place.entry + 1;
        if entry < index.block.entries() {
            let partition = match index.block.entries_of(index.place.partition).end {
                end if entry < end => index.place.partition,
                _ => index.place.partition + 1,
            };
            return Ok(Some(IndexAt { place: Place { partition, entry }, ..index.clone() }));
        }
        let top = index.top + 1;
        let first = Place { partition: 0, entry: 0 };
        Ok(self.index_block(top)?.map(|block| IndexAt { top, block, place: first }))
    }

    fn previous_index(&self, index: &IndexAt<'a>) -> Result<Option<IndexAt<'a>>, StoreError> {
        if let Some(entry) = index.place.entry.checked_sub(1) {
            let first = index.block.entries_of(index.place.partition).start;
            let partition = index.place.partition - usize::from(entry < first);
            return Ok(Some(IndexAt { place: Place { partition, entry }, ..index.clone() }));
        }
        let Some(top) = index.top.checked_sub(1) else { return Ok(None) };
        Ok(self.index_block(top)?.map(|block| IndexAt { top, place: last_place(&block), block }))
    }

    /// Makes the data block of `index` the current one.
    fn load(&mut self, index: IndexAt<'a>) -> Result<Arc<Block>, StoreError> {
        let same = self.index.as_ref().is_some_and(|old| {
            old.top == index.top && old.place.entry == index.place.entry && self.block.is_some()
        });
        self.current = None;
        if let (true, Some(block)) = (same, &self.block) {
            return Ok(block.clone());
        }
        let at = data_frame(&index).ok_or_else(|| {
            self.table.file.corrupt(self.tops()[index.top].at.offset, "an index entry is malformed")
        })?;
        let block = self.table.block(at, self.cache)?;
        self.index = Some(index);
        self.block = Some(block.clone());
        Ok(block)
    }

    /// Stands on an entry of the current block, which belongs to the current partition.
    fn stand(&mut self, place: Place) -> Result<(), StoreError> {
        let Some(block) = &self.block else { return Ok(()) };
        if place.partition != self.place.partition || self.current.is_none() {
            let common = block.common(place.partition);
            self.position.clear();
            // Not before: most cursors of a point read never stand on anything.
            self.position.reserve(KEY_BYTES);
            self.position.extend_from_slice(common);
            self.common_len = common.len();
            self.entries = block.entries_of(place.partition);
        }
        self.position.truncate(self.common_len);
        self.position.extend_from_slice(block.suffix(place.entry));
        let Some((timestamp, start, end)) = block.payload(place.entry) else {
            let offset = self.index.as_ref().and_then(data_frame).map_or(0, |at| at.offset);
            return Err(self.table.file.corrupt(offset, "a payload is malformed"));
        };
        self.place = place;
        self.current = Some(Current { timestamp, start, end });
        Ok(())
    }

    /// Stands on the entry if it belongs to the current partition, else on none.
    fn stand_inside(&mut self, block: &Block, place: Place) -> Result<(), StoreError> {
        self.current = None;
        if block.prefix(place.partition) == self.prefix.as_slice() {
            return self.stand(place);
        }
        self.place = place;
        Ok(())
    }

    /// Stands on the first entry of the current block as the start of its partition.
    fn begin_partition(&mut self, block: &Block, partition: usize) -> Result<(), StoreError> {
        self.prefix.clear();
        self.prefix.extend_from_slice(block.prefix(partition));
        self.inside = true;
        self.current = None;
        self.stand(Place { partition, entry: block.entries_of(partition).start })
    }

    fn leave(&mut self) {
        self.inside = false;
        self.current = None;
        self.prefix.clear();
    }

    /// The place of the key in the current block, if it certainly lies there.
    fn in_current_block(&self, position: &[u8]) -> Option<Place> {
        let block = self.block.as_ref()?;
        let place = block.lower_bound(&self.prefix, position);
        (place.entry > 0 && place.entry < block.entries()).then_some(place)
    }

    /// The first entry of the block behind the current one, as the start of a partition.
    fn begin_next_block(&mut self) -> Result<(), StoreError> {
        let next = match &self.index {
            Some(index) => self.next_index(index)?,
            None => None,
        };
        let Some(next) = next else {
            self.leave();
            return Ok(());
        };
        let block = self.load(next)?;
        self.begin_partition(&block, 0)
    }

    /// Stands on the first entry of the first partition with something at or behind the key.
    fn begin_at(&mut self, prefix: &[u8], position: &[u8]) -> Result<(), StoreError> {
        let Some(index) = self.find_index(prefix, position)? else {
            self.leave();
            return Ok(());
        };
        let block = self.load(index)?;
        let place = block.lower_bound(prefix, position);
        if place.entry >= block.entries() {
            return self.begin_next_block();
        }
        self.begin_partition(&block, place.partition)
    }
}

fn last_place(block: &Block) -> Place {
    Place { partition: block.partitions().saturating_sub(1), entry: block.entries().saturating_sub(1) }
}

/// Where the data block of an index entry lies.
fn data_frame(index: &IndexAt<'_>) -> Option<FrameAt> {
    index_entry(index).map(|(at, _)| at)
}

/// Where the data block of an index entry lies, and its row filter.
fn index_entry<'i>(index: &'i IndexAt<'_>) -> Option<(FrameAt, &'i [u8])> {
    let (_, start, end) = index.block.payload(index.place.entry)?;
    let mut bytes = index.block.raw().get(start as usize..end as usize)?;
    let at = FrameAt { offset: vint::take(&mut bytes)?, len: vint::take_u32(&mut bytes)? };
    Some((at, bytes))
}

impl Cursor for TableCursor<'_> {
    fn enter(&mut self, prefix: &[u8]) {
        self.prefix.clear();
        self.prefix.extend_from_slice(prefix);
        self.inside = true;
        (self.current, self.asked) = (None, None);
    }

    fn seek_partition(&mut self, prefix: &[u8]) -> Result<(), StoreError> {
        self.asked = None;
        self.begin_at(prefix, &[])
    }

    fn next_partition(&mut self) -> Result<(), StoreError> {
        if !self.inside {
            return Ok(());
        }
        self.asked = None;
        // Usually the current block shows where the partition ends.
        if let (Some(block), Some(index)) = (self.block.clone(), self.index.clone()) {
            let place = block.lower_bound(&self.prefix, &[KIND_END]);
            if place.entry > 0 && place.entry < block.entries() {
                return self.begin_partition(&block, place.partition);
            }
            if place.entry == block.entries() && index.ends_partition(&self.prefix) {
                return self.begin_next_block();
            }
        }
        let prefix = std::mem::take(&mut self.prefix);
        self.begin_at(&prefix, &[KIND_END])
    }

    fn partition(&self) -> Option<&[u8]> {
        self.inside.then_some(self.prefix.as_slice())
    }

    fn seek(&mut self, position: &[u8]) -> Result<(), StoreError> {
        if !self.inside {
            return Ok(());
        }
        let asked = self.asked.take().filter(|_| self.position == position);
        if let (Some(place), Some(block)) = (self.in_current_block(position), self.block.clone()) {
            return self.stand_inside(&block, place);
        }
        self.current = None;
        let index = match asked {
            Some(index) => Some(index),
            None => self.find_index(&self.prefix, position)?,
        };
        let Some(index) = index else { return Ok(()) };
        let block = self.load(index)?;
        let place = block.lower_bound(&self.prefix, position);
        if place.entry < block.entries() {
            return self.stand_inside(&block, place);
        }
        self.place = last_place(&block);
        self.next_block_inside()
    }

    fn seek_before(&mut self, position: &[u8]) -> Result<(), StoreError> {
        if !self.inside {
            return Ok(());
        }
        self.asked = None;
        let place = match self.in_current_block(position) {
            Some(place) => place,
            None => {
                self.current = None;
                let index = match self.find_index(&self.prefix, position)? {
                    Some(index) => Some(index),
                    None => self.last_index()?,
                };
                let Some(index) = index else { return Ok(()) };
                self.load(index)?.lower_bound(&self.prefix, position)
            }
        };
        self.before(place)
    }

    #[inline]
    fn next(&mut self) -> Result<(), StoreError> {
        if self.current.is_none() {
            return Ok(());
        }
        let entry = self.place.entry + 1;
        if entry < self.entries.end {
            return self.stand(Place { entry, ..self.place });
        }
        self.current = None;
        if self.block.as_ref().is_some_and(|block| entry < block.entries()) {
            return Ok(());
        }
        self.next_block_inside()
    }

    #[inline]
    fn prev(&mut self) -> Result<(), StoreError> {
        if self.current.is_none() {
            return Ok(());
        }
        if self.place.entry > self.entries.start {
            return self.stand(Place { entry: self.place.entry - 1, ..self.place });
        }
        self.before(self.place)
    }

    fn pass_dead(&mut self, now_seconds: u32, reverse: bool, bounds: (&[u8], &[u8]), at_most: u64) -> u64 {
        if self.current.is_none() {
            return 0;
        }
        let (begun, mut reached) = (self.place, self.place);
        let inside = |entry: Entry<'_>| entry.is_row() && is_inside(entry.clustering(), bounds, reverse);
        while let Some(next) = self.dead_stretch(reached.entry, now_seconds, reverse) {
            let place = Place { entry: next, ..begun };
            if next.abs_diff(begun.entry) as u64 > at_most
                || self.stand(place).is_err()
                || !self.entry().is_some_and(inside)
            {
                break;
            }
            reached = place;
        }
        // It has stood there before, so this does not fail.
        let _ = self.stand(reached);
        reached.entry.abs_diff(begun.entry) as u64
    }

    #[inline]
    fn entry(&self) -> Option<Entry<'_>> {
        let Current { timestamp, start, end } = self.current?;
        let rest = self.block.as_ref()?.raw().get(start as usize..end as usize)?;
        Some(Entry { position: &self.position, timestamp, rest })
    }
}

impl TableCursor<'_> {
    /// Whether the partition may have an entry at exactly this position; `false` is certain. Reads no data block and
    /// leaves the cursor on no entry.
    pub fn may_hold(&mut self, position: &[u8]) -> Result<bool, StoreError> {
        (self.current, self.asked) = (None, None);
        let Some(index) = self.find_index(&self.prefix, position)? else { return Ok(false) };
        let (_, filter) = index_entry(&index).unwrap_or((FrameAt { offset: 0, len: 0 }, &[]));
        let hash = || row_filter::hash_of(filter::hash_of(&self.prefix), position);
        let may = filter.is_empty() || row_filter::may_contain(filter, hash());
        if may {
            self.position.clear();
            self.position.reserve(KEY_BYTES);
            self.position.extend_from_slice(position);
            self.asked = Some(index);
        }
        Ok(may)
    }

    /// How far the dead rows go, from the entry (or, if its group ends there, from the next one) to the end of a group or
    /// of the partition's entries; `None`: not beyond the entry.
    fn dead_stretch(&self, entry: usize, now_seconds: u32, reverse: bool) -> Option<usize> {
        let block = self.block.as_ref()?;
        let (first, last) = (self.entries.start, self.entries.end.checked_sub(1)?);
        let found = block.dead_stretch(entry, now_seconds, reverse)?.clamp(first, last);
        if found != entry {
            return Some(found);
        }
        let next = if reverse { entry.checked_sub(1)? } else { entry + 1 };
        let found = block.dead_stretch(next, now_seconds, reverse)?;
        (first..=last).contains(&next).then(|| found.clamp(first, last))
    }

    /// Stands on the first entry of the next block if that still belongs to the partition.
    fn next_block_inside(&mut self) -> Result<(), StoreError> {
        self.current = None;
        let Some(index) = self.index.clone() else { return Ok(()) };
        if !index.ends_inside(&self.prefix) {
            return Ok(());
        }
        let Some(next) = self.next_index(&index)? else { return Ok(()) };
        let block = self.load(next)?;
        self.stand_inside(&block, Place { partition: 0, entry: 0 })
    }

    /// Stands on the entry before `place` (in the current block) if it belongs to the partition.
    fn before(&mut self, place: Place) -> Result<(), StoreError> {
        let Some(block) = &self.block else { return Ok(()) };
        if let Some(entry) = place.entry.checked_sub(1) {
            let partition = block.partition_of(entry);
            let block = block.clone();
            return self.stand_inside(&block, Place { partition, entry });
        }
        self.current = None;
        let Some(index) = &self.index else { return Ok(()) };
        let Some(previous) = self.previous_index(index)? else { return Ok(()) };
        // Only a block that ends inside the partition holds something of it.
        if !previous.ends_inside(&self.prefix) {
            return Ok(());
        }
        let block = self.load(previous)?;
        self.stand_inside(&block, last_place(&block))
    }
}
