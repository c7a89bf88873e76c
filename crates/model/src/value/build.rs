//! Builds the wire bytes of collections, tuples, user-defined types and vectors from the bytes of their parts.

use super::elements::Part;
use super::{compare, wire_vint};
use crate::types::DataType;

/// Appends a part: an i32 length and the bytes, or length -1 for null.
pub fn put_part(out: &mut Vec<u8>, part: Part<'_>) {
    match part {
        Some(bytes) => {
            // Values are bounded by the frame limit, far below i32::MAX.
            let len = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
            out.extend_from_slice(&len.to_be_bytes());
            out.extend_from_slice(bytes);
        }
        None => out.extend_from_slice(&[0xff; 4]),
    }
}

/// Writes a list, set or map as its parts come, and patches the count at the end. Does not sort.
pub struct CollectionBuilder<'a> {
    out: &'a mut Vec<u8>,
    at: usize,
    entries: u32,
}

impl<'a> CollectionBuilder<'a> {
    /// Starts a collection at the end of `out`.
    pub fn begin(out: &'a mut Vec<u8>) -> CollectionBuilder<'a> {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        CollectionBuilder { out, at, entries: 0 }
    }

    pub fn push(&mut self, element: &[u8]) {
        put_part(self.out, Some(element));
        self.entries += 1;
    }

    pub fn push_entry(&mut self, key: &[u8], value: &[u8]) {
        put_part(self.out, Some(key));
        put_part(self.out, Some(value));
        self.entries += 1;
    }

    /// Number of entries so far.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    pub fn finish(self) {
        let count = self.entries.to_be_bytes();
        if let Some(slot) = self.out.get_mut(self.at..self.at + 4) {
            slot.copy_from_slice(&count);
        }
    }
}

/// A list (or a set already in order) of the given elements.
pub fn encode_elements<B: AsRef<[u8]>>(elements: impl IntoIterator<Item = B>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut builder = CollectionBuilder::begin(&mut out);
    for element in elements {
        builder.push(element.as_ref());
    }
    builder.finish();
    out
}

/// A set: elements sorted by their type's order, of equal ones the first kept.
pub fn encode_set<B: AsRef<[u8]>>(element: &DataType, mut elements: Vec<B>) -> Vec<u8> {
    elements.sort_by(|left, right| compare(element, left.as_ref(), right.as_ref()));
    elements.dedup_by(|later, first| compare(element, later.as_ref(), first.as_ref()).is_eq());
    encode_elements(elements)
}

/// A map: entries sorted by key, of equal keys the last value kept (as an assignment does).
pub fn encode_map<B: AsRef<[u8]>>(key: &DataType, mut entries: Vec<(B, B)>) -> Vec<u8> {
    entries.sort_by(|left, right| compare(key, left.0.as_ref(), right.0.as_ref()));
    let mut out = Vec::new();
    let mut builder = CollectionBuilder::begin(&mut out);
    let mut rest = entries.iter().peekable();
    while let Some((entry_key, value)) = rest.next() {
        let overwritten =
            rest.peek().is_some_and(|next| compare(key, next.0.as_ref(), entry_key.as_ref()).is_eq());
        if !overwritten {
            builder.push_entry(entry_key.as_ref(), value.as_ref());
        }
    }
    builder.finish();
    out
}

/// A tuple or user-defined type; `None` is a null component.
pub fn encode_fields<B: AsRef<[u8]>>(fields: impl IntoIterator<Item = Option<B>>) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        put_part(&mut out, field.as_ref().map(AsRef::as_ref));
    }
    out
}

/// A vector of the given elements; the caller passes as many as the type has dimensions.
pub fn encode_vector<B: AsRef<[u8]>>(element: &DataType, elements: impl IntoIterator<Item = B>) -> Vec<u8> {
    let mut out = Vec::new();
    for part in elements {
        if !element.is_fixed_len() {
            wire_vint::put_unsigned(&mut out, part.as_ref().len() as u64);
        }
        out.extend_from_slice(part.as_ref());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_sort_and_drop_duplicates() {
        let wire = |n: i32| n.to_be_bytes().to_vec();
        let set = encode_set(&DataType::Int, vec![wire(5), wire(-1), wire(5)]);
        assert_eq!(set, encode_elements([wire(-1), wire(5)]));
        let map =
            encode_map(&DataType::Int, vec![(wire(2), wire(0)), (wire(1), wire(7)), (wire(2), wire(9))]);
        assert_eq!(map, [&[0, 0, 0, 2][..], &encode_fields([1, 7, 2, 9].map(|n| Some(wire(n))))].concat());
    }

    #[test]
    fn vectors_use_both_layouts() {
        assert_eq!(encode_vector(&DataType::Float, [1f32.to_be_bytes()]), 1f32.to_be_bytes());
        assert_eq!(encode_vector(&DataType::Text, ["a", "bc"]), b"\x01a\x02bc");
    }
}
