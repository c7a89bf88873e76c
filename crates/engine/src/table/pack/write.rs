//! From the entries of a block to its packed form.

use super::shape::split;
use super::{PACKED, ROWS_MIXED, ROWS_PLAIN, ROWS_SHAPED, column, series};
use model::deletion::Timestamp;
use model::vint;

/// Fewer rows of one shape than this are written as they are.
const SHAPED_MIN: usize = 4;
/// Clustering bytes become numbers if a partition has at least this many rows.
const NUMBERS_MIN: usize = 4;

/// What a block builder has collected.
pub struct Parts<'a> {
    pub partitions: usize,
    /// The list of partitions, laid out as in every block.
    pub partition_list: &'a [u8],
    /// Number of entries of each partition, and bytes that all its positions share.
    pub counts: &'a [(usize, usize)],
    pub timestamps: &'a [Timestamp],
    /// Whole positions and payloads: where each ends in its buffer.
    pub position_ends: &'a [usize],
    pub positions: &'a [u8],
    pub payload_ends: &'a [usize],
    pub payloads: &'a [u8],
}

impl<'a> Parts<'a> {
    fn payload(&self, entry: usize) -> &'a [u8] {
        let start = entry.checked_sub(1).map_or(0, |before| self.payload_ends[before]);
        &self.payloads[start..self.payload_ends[entry]]
    }

    fn suffix(&self, entry: usize, common: usize) -> &'a [u8] {
        let start = entry.checked_sub(1).map_or(0, |before| self.position_ends[before]);
        &self.positions[start + common..self.position_ends[entry]]
    }
}

/// Packs blocks; keeps its buffers.
#[derive(Default)]
pub struct Packer {
    shape: Vec<u8>,
    first_shape: Vec<u8>,
    /// Of every shaped row, one after the other: ranges of its payload.
    values: Vec<(u32, u32)>,
    shaped: Vec<usize>,
    numbers: Vec<u64>,
}

impl Packer {
    /// Appends the packed block to `out`.
    pub fn pack(&mut self, parts: &Parts<'_>, out: &mut Vec<u8>) {
        out.push(PACKED);
        vint::put(out, parts.timestamps.len() as u64);
        vint::put(out, parts.partitions as u64);
        // What the block will need in memory, about: only sizes the reader's first allocation.
        vint::put(out, (parts.partition_list.len() + parts.positions.len() + parts.payloads.len()) as u64);
        out.extend_from_slice(parts.partition_list);
        self.numbers.clear();
        self.numbers.extend(parts.timestamps.iter().map(|timestamp| timestamp.cast_unsigned() ^ 1 << 63));
        series::put(out, &self.numbers);
        self.put_positions(parts, out);
        self.put_payloads(parts, out);
    }

    fn put_positions(&mut self, parts: &Parts<'_>, out: &mut Vec<u8>) {
        let mut first = 0;
        for &(count, common) in parts.counts {
            let entries = first..first + count;
            first += count;
            let len = parts.suffix(entries.start, common).len();
            let even = entries.clone().all(|entry| parts.suffix(entry, common).len() == len);
            if even && (1..=8).contains(&len) && count >= NUMBERS_MIN {
                out.push(len as u8);
                self.numbers.clear();
                self.numbers.extend(entries.map(|entry| {
                    parts.suffix(entry, common).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
                }));
                series::put(out, &self.numbers);
                continue;
            }
            out.push(0);
            for entry in entries.clone() {
                vint::put(out, parts.suffix(entry, common).len() as u64);
            }
            entries.for_each(|entry| out.extend_from_slice(parts.suffix(entry, common)));
        }
    }

    fn put_payloads(&mut self, parts: &Parts<'_>, out: &mut Vec<u8>) {
        let count = parts.payload_ends.len();
        self.take_apart(parts);
        let shaped = if self.shaped.len() < SHAPED_MIN { 0 } else { self.shaped.len() };
        match shaped {
            0 => {
                self.shaped.clear();
                out.push(ROWS_PLAIN);
            }
            all if all == count => out.push(ROWS_SHAPED),
            _ => {
                out.push(ROWS_MIXED);
                let start = out.len();
                out.resize(start + count.div_ceil(8), 0);
                self.shaped.iter().for_each(|entry| out[start + entry / 8] |= 1 << (entry % 8));
            }
        }
        if shaped > 0 {
            self.put_columns(parts, out);
        }
        let mut skipped = self.shaped.iter().copied().peekable();
        let plain: Vec<usize> = (0..count).filter(|entry| skipped.next_if_eq(entry).is_none()).collect();
        plain.iter().for_each(|entry| vint::put(out, parts.payload(*entry).len() as u64));
        plain.iter().for_each(|entry| out.extend_from_slice(parts.payload(*entry)));
    }

    /// Finds the rows that have the shape of the first row that has one.
    fn take_apart(&mut self, parts: &Parts<'_>) {
        self.values.clear();
        self.shaped.clear();
        for entry in 0..parts.payload_ends.len() {
            let kept = self.values.len();
            if !split(parts.payload(entry), &mut self.shape, &mut self.values) {
                continue;
            }
            if self.shaped.is_empty() {
                self.first_shape.clone_from(&self.shape);
            }
            if self.shape == self.first_shape {
                self.shaped.push(entry);
            } else {
                self.values.truncate(kept);
            }
        }
    }

    fn put_columns(&self, parts: &Parts<'_>, out: &mut Vec<u8>) {
        vint::put_slice(out, &self.first_shape);
        let columns = self.values.len() / self.shaped.len();
        let mut column: Vec<&[u8]> = Vec::with_capacity(self.shaped.len());
        for which in 0..columns {
            column.clear();
            column.extend(self.shaped.iter().zip(self.values.chunks_exact(columns)).map(
                |(entry, values)| {
                    let (start, end) = values[which];
                    &parts.payload(*entry)[start as usize..end as usize]
                },
            ));
            column::put(out, &column);
        }
    }
}
