//! Blocks: a few KiB of consecutive entries (layout: docs/format/table.md).
//!
//! A block lists its partitions with the bytes that all their positions in the block share, then the
//! remaining key bytes and the payloads of all entries. Decoding builds a table of offsets, so that
//! any entry is reached at once and stepping costs the same in both directions. Packed blocks (see `pack`)
//! are turned into this form when they are read.
//! Guarantees: `decode` accepts only bytes on which every accessor is total and in order.

use super::pack::{self, little_endian};
use model::deletion::Timestamp;
use model::key::{KIND_ROW, split_prefix};
use model::row::{NEVER, RowView};
use model::vint;
use std::cmp::Ordering;
use std::sync::OnceLock;

#[derive(Debug)]
pub struct Block {
    raw: Vec<u8>,
    areas: Areas,
    slots: Box<[Slot]>,
    partitions: Box<[PartitionSlot]>,
    /// From when on no row of each group is live; found out when a reader meets a dead row.
    dead_from: OnceLock<Box<[u32]>>,
}

/// Where the parts of a block lie in `raw`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Areas {
    /// The timestamp of entry `i` is `base + step * i` and a rest, in `width` bytes from `timestamps_at` on.
    pub base: Timestamp,
    pub step: i64,
    pub width: u8,
    pub timestamps_at: u32,
    pub keys_at: u32,
    pub payloads_at: u32,
}

/// Where an entry's key bytes and payload start, relative to their areas.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub key: u16,
    pub payload: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PartitionSlot {
    /// The first four bytes of its token: nearly always enough to find a partition without its key.
    head: u32,
    /// Offset of the prefix in `raw`; the shared position bytes follow it.
    at: u32,
    /// Index of its first entry.
    first: u16,
    common_len: u16,
}

/// The place of an entry in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub partition: usize,
    pub entry: usize,
}

/// Most entries and the largest offset of an entry's start in a block.
pub const ENTRIES_MAX: usize = u16::MAX as usize;

/// A reader learns for this many entries at once whether any is live.
const GROUP_ENTRIES: usize = 32;

impl Block {
    /// Checks raw bytes and makes them a block; `None` when they are not one.
    pub fn decode(raw: Vec<u8>) -> Option<Block> {
        if let Some((&pack::PACKED, packed)) = raw.split_first() {
            return pack::unpack(packed);
        }
        let mut rest = raw.as_slice();
        let offset = |rest: &[u8]| raw.len() - rest.len();
        let entries = Block::take_count(&mut rest)?;
        let count = vint::take(&mut rest).filter(|n| (1..=entries as u64).contains(n))? as usize;
        let base = vint::take_signed(&mut rest)?;
        let partitions = take_partitions(&raw, &mut rest, count, entries)?;
        let (slots, keys, payloads) = take_slots(&mut rest, entries)?;
        let (&width, rest) = rest.split_first().filter(|(width, _)| **width <= 8)?;
        let timestamps = entries * width as usize;
        if rest.len() != timestamps.checked_add(keys)?.checked_add(payloads)? {
            return None;
        }
        let timestamps_at = offset(rest) as u32;
        let keys_at = timestamps_at + timestamps as u32;
        let payloads_at = keys_at + keys as u32;
        let areas = Areas { base, step: 0, width, timestamps_at, keys_at, payloads_at };
        Some(Block::from_parts(raw, areas, slots, partitions))
    }

    /// How many entries a block holds: the first thing in it.
    pub(super) fn take_count(rest: &mut &[u8]) -> Option<usize> {
        vint::take(rest).filter(|n| (1..=ENTRIES_MAX as u64).contains(n)).map(|n| n as usize)
    }

    pub(super) fn from_parts(
        raw: Vec<u8>,
        areas: Areas,
        slots: Vec<Slot>,
        partitions: Vec<PartitionSlot>,
    ) -> Block {
        Block { raw, areas, slots: slots.into(), partitions: partitions.into(), dead_from: OnceLock::new() }
    }

    /// Whether keys ascend: what `decode` leaves to the checksum.
    pub fn check(&self) -> bool {
        (0..self.partitions.len()).all(|p| {
            let range = self.entries_of(p);
            range.clone().skip(1).all(|i| self.suffix(i - 1) < self.suffix(i))
                && range.clone().all(|i| {
                    self.payload(i).is_some()
                        && (self.partitions[p].common_len > 0 || !self.suffix(i).is_empty())
                })
        })
    }

    pub fn entries(&self) -> usize {
        self.slots.len()
    }

    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Memory held.
    pub fn bytes(&self) -> usize {
        self.raw.capacity()
            + self.slots.len() * size_of::<Slot>()
            + self.partitions.len() * size_of::<PartitionSlot>()
            + size_of::<Block>()
    }

    /// Storage prefix of a partition; empty when there is no such partition.
    #[inline]
    pub fn prefix(&self, partition: usize) -> &[u8] {
        let slot = self.partitions.get(partition);
        let found = slot.and_then(|slot| self.raw.get(slot.at as usize..)).and_then(split_prefix);
        found.map_or(&[], |(prefix, _)| prefix)
    }

    /// The position bytes that all entries of the partition share.
    #[inline]
    pub fn common(&self, partition: usize) -> &[u8] {
        let Some(slot) = self.partitions.get(partition) else { return &[] };
        let found = self.raw.get(slot.at as usize..).and_then(split_prefix);
        found.and_then(|(_, rest)| rest.get(..slot.common_len as usize)).unwrap_or_default()
    }

    /// The entries of a partition, as a range of indices.
    #[inline]
    pub fn entries_of(&self, partition: usize) -> std::ops::Range<usize> {
        let first = self.partitions.get(partition).map_or(self.slots.len(), |slot| slot.first as usize);
        let end = self.partitions.get(partition + 1).map_or(self.slots.len(), |slot| slot.first as usize);
        first..end
    }

    /// The position bytes of an entry behind the shared ones.
    #[inline]
    pub fn suffix(&self, entry: usize) -> &[u8] {
        let (start, end) = self.key_range(entry);
        self.raw.get(start..end).unwrap_or_default()
    }

    /// Timestamp and, as a range of `raw()`, the payload behind it.
    #[inline]
    pub fn payload(&self, entry: usize) -> Option<(Timestamp, u32, u32)> {
        let slot = self.slots.get(entry)?;
        let start = self.areas.payloads_at + u32::from(slot.payload);
        let end = match self.slots.get(entry + 1) {
            Some(next) => self.areas.payloads_at + u32::from(next.payload),
            None => self.raw.len() as u32,
        };
        Some((self.timestamp(entry), start, end))
    }

    #[inline]
    fn timestamp(&self, entry: usize) -> Timestamp {
        let Areas { base, step, width, timestamps_at, .. } = self.areas;
        let rest = little_endian(&self.raw, timestamps_at as usize + entry * width as usize, width);
        base.wrapping_add(step.wrapping_mul(entry as i64)).wrapping_add(rest.cast_signed())
    }

    /// If no row of the entry's group is live at that second: the group's last entry (its first, in reverse).
    #[inline]
    pub fn dead_stretch(&self, entry: usize, now_seconds: u32, reverse: bool) -> Option<usize> {
        let group = entry / GROUP_ENTRIES;
        let dead_from = self.dead_from.get_or_init(|| self.find_dead_from());
        dead_from.get(group).filter(|dead_from| **dead_from <= now_seconds)?;
        let (first, behind) = (group * GROUP_ENTRIES, (group + 1) * GROUP_ENTRIES);
        Some(if reverse { first } else { behind.min(self.slots.len()) - 1 })
    }

    fn find_dead_from(&self) -> Box<[u32]> {
        let mut groups = vec![0; self.slots.len().div_ceil(GROUP_ENTRIES)];
        for partition in 0..self.partitions.len() {
            let common = self.common(partition).first();
            for entry in self.entries_of(partition) {
                if common.or(self.suffix(entry).first()) == Some(&KIND_ROW)
                    && let Some(group) = groups.get_mut(entry / GROUP_ENTRIES)
                {
                    *group = self.row_dead_from(entry).max(*group);
                }
            }
        }
        groups.into()
    }

    fn row_dead_from(&self, entry: usize) -> u32 {
        let found = self.payload(entry).and_then(|(timestamp, start, end)| {
            self.raw.get(start as usize..end as usize).map(|rest| RowView::from_parts(timestamp, rest))
        });
        // What cannot be read is not passed over.
        found.map_or(NEVER, |row| row.dead_from())
    }

    #[inline]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The partition an entry belongs to.
    pub fn partition_of(&self, entry: usize) -> usize {
        self.partitions.partition_point(|slot| slot.first as usize <= entry).saturating_sub(1)
    }

    /// The first entry at or behind (`prefix`, `position`); `entries()` when all are before it.
    #[inline]
    pub fn lower_bound(&self, prefix: &[u8], position: &[u8]) -> Place {
        let partition = self.first_partition_from(prefix);
        let range = self.entries_of(partition);
        if range.is_empty() || self.prefix(partition) != prefix {
            return Place { partition, entry: range.start };
        }
        let entry = self.lower_bound_in(partition, range.clone(), position);
        Place { partition: if entry == range.end { partition + 1 } else { partition }, entry }
    }

    #[inline]
    fn first_partition_from(&self, prefix: &[u8]) -> usize {
        let head = head_of_prefix(prefix);
        let (mut low, mut high) = (0, self.partitions.len());
        while low < high {
            let middle = (low + high) / 2;
            let Some(slot) = self.partitions.get(middle) else { break };
            let before = match slot.head.cmp(&head) {
                Ordering::Equal => self.prefix(middle) < prefix,
                order => order.is_lt(),
            };
            if before { low = middle + 1 } else { high = middle }
        }
        low
    }

    #[inline]
    fn lower_bound_in(&self, partition: usize, range: std::ops::Range<usize>, position: &[u8]) -> usize {
        let common = self.common(partition);
        let shared = common.len().min(position.len());
        match position[..shared].cmp(&common[..shared]) {
            Ordering::Less => return range.start,
            Ordering::Greater => return range.end,
            Ordering::Equal if position.len() < common.len() => return range.start,
            Ordering::Equal => {}
        }
        let suffix = &position[shared..];
        let head = head_of(suffix, 0, suffix.len());
        let keys = self.raw.get(self.areas.keys_at as usize..).unwrap_or_default();
        let keys_len = self.areas.payloads_at.saturating_sub(self.areas.keys_at) as usize;
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = (low + high) / 2;
            let Some(slot) = self.slots.get(middle) else { break };
            let start = usize::from(slot.key);
            let end = self.slots.get(middle + 1).map_or(keys_len, |next| usize::from(next.key));
            let before = match head_of(keys, start, end - start).cmp(&head) {
                Ordering::Equal => keys.get(start..end).unwrap_or_default() < suffix,
                order => order.is_lt(),
            };
            if before { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Where the position bytes of an entry lie in `raw`.
    #[inline]
    fn key_range(&self, entry: usize) -> (usize, usize) {
        let Some(slot) = self.slots.get(entry) else { return (0, 0) };
        let start = self.areas.keys_at + u32::from(slot.key);
        let end = self
            .slots
            .get(entry + 1)
            .map_or(self.areas.payloads_at, |next| self.areas.keys_at + u32::from(next.key));
        (start as usize, end as usize)
    }
}

#[inline]
fn head_of_prefix(prefix: &[u8]) -> u32 {
    (word_at(prefix, 0) >> 32) as u32
}

/// Eight bytes as a big-endian number; zeros stand in for what is missing.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_be_bytes(*word),
        None => short_word(bytes.get(at..).unwrap_or_default()),
    }
}

/// Only the last bytes of a block are so few.
#[cold]
fn short_word(rest: &[u8]) -> u64 {
    rest.iter().enumerate().fold(0, |word, (i, b)| word | u64::from(*b) << (56 - 8 * i))
}

/// The first eight of `len` bytes as a number that orders as they do, padded with zeros.
#[inline]
fn head_of(bytes: &[u8], at: usize, len: usize) -> u64 {
    match len {
        0 => 0,
        1..=7 => word_at(bytes, at) & (u64::MAX << (64 - 8 * len)),
        _ => word_at(bytes, at),
    }
}

impl PartitionSlot {
    /// Index of its first entry.
    pub fn first(&self) -> usize {
        self.first as usize
    }
}

/// The list of a block's partitions; their offsets count from the start of `whole`, of which `rest` is the end.
pub(super) fn take_partitions(
    whole: &[u8],
    rest: &mut &[u8],
    count: usize,
    entries: usize,
) -> Option<Vec<PartitionSlot>> {
    let mut partitions: Vec<PartitionSlot> = Vec::with_capacity(count);
    let mut first = 0usize;
    let mut last_prefix: &[u8] = &[];
    for _ in 0..count {
        let held = vint::take(rest).filter(|n| *n >= 1)?;
        let common_len = u16::try_from(vint::take(rest)?).ok()?;
        let at = (whole.len() - rest.len()) as u32;
        let (prefix, tail) = split_prefix(rest)?;
        if !last_prefix.is_empty() && last_prefix >= prefix {
            return None;
        }
        last_prefix = prefix;
        *rest = tail.get(common_len as usize..)?;
        let (head, first_entry) = (head_of_prefix(prefix), u16::try_from(first).ok()?);
        partitions.push(PartitionSlot { head, at, first: first_entry, common_len });
        first = first.checked_add(usize::try_from(held).ok()?).filter(|n| *n <= entries)?;
    }
    (first == entries).then_some(partitions)
}

/// The lengths of keys and payloads, turned into offsets; also how long both areas are.
fn take_slots(rest: &mut &[u8], entries: usize) -> Option<(Vec<Slot>, usize, usize)> {
    let mut slots = vec![Slot { key: 0, payload: 0 }; entries];
    let mut keys = 0usize;
    for slot in &mut slots {
        slot.key = u16::try_from(keys).ok()?;
        keys = keys.checked_add(usize::try_from(vint::take(rest)?).ok()?)?;
    }
    let mut payloads = 0usize;
    for slot in &mut slots {
        slot.payload = u16::try_from(payloads).ok()?;
        payloads = payloads.checked_add(usize::try_from(vint::take(rest)?).ok()?)?;
    }
    Some((slots, keys, payloads))
}
