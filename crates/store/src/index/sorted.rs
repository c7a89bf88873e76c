//! Entries in the order of their values: where in the ring their partitions are, and which of them a range of values needs.
//!
//! The ring of the source table is cut into sixteen slices. An entry is in the slice of its source, at the token that
//! the first bytes of its value make. So a range of values is a range of tokens in every slice, the slices one after the other lead
//! through the source in its own order, and entry and source are on one shard if shards divide the slices evenly.

use super::{IndexConfig, VALUE_BYTES_MAX, cut};
use crate::read::Partitions;
use model::key::PartitionKey;
use model::token::Token;

/// How many slices there are; few, because an equality is looked for in each of them.
const SLICES: u8 = 16;

/// Bits of a token that tell the slice.
const SLICE_BITS: u32 = SLICES.trailing_zeros();

/// The first byte of the comparable form of a value that is not empty.
pub(super) const VALUE: u8 = 0x20;

/// The slice that a storage key of the source lies in.
fn slice_of(key: &[u8]) -> u8 {
    key.first().map_or(0, |first| first >> (8 - SLICE_BITS))
}

/// Where the slice of a storage key ends, as a bound of storage keys, which has a whole token; empty means no bound.
pub fn slice_end(key: &[u8]) -> Vec<u8> {
    match slice_of(key) + 1 {
        SLICES => Vec::new(),
        next => (u64::from(next) << (64 - SLICE_BITS)).to_be_bytes().to_vec(),
    }
}

/// The place of a value in the ring: never before that of a smaller value in the same slice.
fn ring_position(slice: u8, form: &[u8]) -> u64 {
    let payload = match form.split_first() {
        Some((&marker, payload)) if marker >= VALUE => payload,
        _ => &[],
    };
    let mut first = [0; 8];
    payload.iter().zip(&mut first).for_each(|(byte, place)| *place = *byte);
    u64::from(slice) << (64 - SLICE_BITS) | u64::from_be_bytes(first) >> SLICE_BITS
}

/// The partition of the entries with this value whose source lies beside `source` (a storage key).
pub(super) fn partition(form: &[u8], source: &[u8]) -> Option<PartitionKey> {
    PartitionKey::new(Token::from_ring_position(ring_position(slice_of(source), form)), &cut(form))
}

/// A range of values, in comparable form; each bound with whether it is part of the range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueRange {
    pub start: Option<(Vec<u8>, bool)>,
    pub end: Option<(Vec<u8>, bool)>,
}

impl ValueRange {
    /// Partitions of an index among which all are that lead from these values to sources in the slice of `source`.
    pub fn partitions(&self, source: &[u8]) -> Partitions {
        let slice = slice_of(source);
        let first = self.start.as_ref().map_or(&[][..], |(form, _)| form);
        let start = ring_position(slice, first).to_be_bytes().to_vec();
        let end = match &self.end {
            None => slice_end(source),
            Some((form, _)) => match ring_position(slice, form).checked_add(1) {
                Some(end) => end.to_be_bytes().to_vec(),
                None => Vec::new(),
            },
        };
        Partitions::Range { start, end }
    }

    /// Whether the entries of a partition are of this range, or may be: of long values only the first bytes are there to tell.
    pub fn holds(&self, partition: &PartitionKey) -> bool {
        let value = partition.bytes();
        let shown = value.get(..VALUE_BYTES_MAX).unwrap_or(value);
        let within = |(bound, inclusive): &(Vec<u8>, bool), outside: std::cmp::Ordering| {
            let bound_shown = bound.get(..VALUE_BYTES_MAX).unwrap_or(bound);
            let order = shown.cmp(bound_shown);
            let is_all = value.len() <= VALUE_BYTES_MAX && bound.len() <= VALUE_BYTES_MAX;
            order != outside && (*inclusive || !is_all || order.is_ne())
        };
        self.start.as_ref().is_none_or(|bound| within(bound, std::cmp::Ordering::Less))
            && self.end.as_ref().is_none_or(|bound| within(bound, std::cmp::Ordering::Greater))
    }
}

impl IndexConfig {
    /// Every slice with a storage key in it: one of everything if entries are not sorted.
    pub fn slices(&self) -> impl Iterator<Item = Vec<u8>> {
        let count = if self.sorted { SLICES } else { 1 };
        (0..count).map(|slice| (u64::from(slice) << (64 - SLICE_BITS)).to_be_bytes().to_vec())
    }
}
