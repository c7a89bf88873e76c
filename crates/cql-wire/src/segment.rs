//! v5 segments: checksummed packets of up to 131,071 bytes that carry envelopes.
//!
//! ```text
//! uncompressed: header 3 bytes LE: payload length (17), self-contained (1)            | CRC24 | payload | CRC32
//! lz4:          header 5 bytes LE: wire length (17), plain length (17), self-contained | CRC24 | payload | CRC32
//! ```
//!
//! A plain length of 0 in an lz4 segment means that the payload is stored as it is. The CRC32 covers the payload as
//! transmitted. A self-contained segment holds whole envelopes; any other holds a part of one.

use crate::compress::compress_lz4;
use crate::crc::{CRC32_BYTES, crc24, crc32};
use crate::envelope::HEADER_BYTES;

/// The longest payload.
pub(crate) const PAYLOAD_BYTES_MAX: usize = (1 << 17) - 1;

const LENGTH_BITS: u32 = 17;
const CRC24_BYTES: usize = 3;

/// Payloads below this are stored as they are: compression would cost more than it saves.
const COMPRESS_BYTES_MIN: usize = 128;

/// A segment that cannot be trusted. The connection is out of step and must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentError {
    HeaderChecksum,
    PayloadChecksum,
    Decompression,
}

/// A checked header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// Bytes of the payload as transmitted.
    pub(crate) wire_length: usize,
    /// Bytes after decompression; 0 if the payload is not compressed.
    pub(crate) plain_length: usize,
    pub(crate) self_contained: bool,
}

impl SegmentHeader {
    /// Bytes of a header with its checksum.
    pub(crate) fn bytes(lz4: bool) -> usize {
        Self::field_bytes(lz4) + CRC24_BYTES
    }

    fn field_bytes(lz4: bool) -> usize {
        if lz4 { 5 } else { 3 }
    }

    /// Reads a header from the start of `bytes`; `Ok(None)` if there are too few.
    pub(crate) fn decode(bytes: &[u8], lz4: bool) -> Result<Option<SegmentHeader>, SegmentError> {
        let Some(bytes) = bytes.get(..Self::bytes(lz4)) else { return Ok(None) };
        let (fields, checksum) = bytes.split_at(Self::field_bytes(lz4));
        if u64::from(crc24(fields)) != little_endian(checksum) {
            return Err(SegmentError::HeaderChecksum);
        }
        let fields = little_endian(fields);
        let length_at = |shift: u32| ((fields >> shift) & PAYLOAD_BYTES_MAX as u64) as usize;
        let plain_length = if lz4 { length_at(LENGTH_BITS) } else { 0 };
        let self_contained = fields >> (LENGTH_BITS * if lz4 { 2 } else { 1 }) & 1 == 1;
        Ok(Some(SegmentHeader { wire_length: length_at(0), plain_length, self_contained }))
    }

    fn encode(self, lz4: bool) -> [u8; 8] {
        let mut fields = self.wire_length as u64;
        let mut shift = LENGTH_BITS;
        if lz4 {
            fields |= (self.plain_length as u64) << shift;
            shift += LENGTH_BITS;
        }
        fields |= u64::from(self.self_contained) << shift;
        let field_bytes = Self::field_bytes(lz4);
        let checksum = crc24(fields.to_le_bytes().get(..field_bytes).unwrap_or_default());
        let header = fields | u64::from(checksum) << (8 * field_bytes);
        header.to_le_bytes()
    }
}

/// Checks the payload that follows a header. `bytes` starts at the payload; `Ok(None)` if it is not complete.
/// On success gives the payload as transmitted and how many bytes it takes with its checksum.
pub(crate) fn check_payload(
    bytes: &[u8],
    header: SegmentHeader,
) -> Result<Option<(&[u8], usize)>, SegmentError> {
    let total = header.wire_length + CRC32_BYTES;
    let Some((payload, checksum)) = bytes.get(..total).and_then(|b| b.split_at_checked(header.wire_length))
    else {
        return Ok(None);
    };
    if u64::from(crc32(payload)) == little_endian(checksum) {
        Ok(Some((payload, total)))
    } else {
        Err(SegmentError::PayloadChecksum)
    }
}

/// Appends whole envelopes as segments: as many as fit share one self-contained segment, and an envelope longer than a
/// payload is split over several.
pub(crate) fn put_segments(mut envelopes: &[u8], lz4: bool, out: &mut Vec<u8>) {
    while !envelopes.is_empty() {
        let first = envelope_bytes(envelopes);
        if first > PAYLOAD_BYTES_MAX {
            let (large, rest) = envelopes.split_at(first);
            put_pieces(large, lz4, out);
            envelopes = rest;
            continue;
        }
        let mut packed = first;
        while let Some(rest) = envelopes.get(packed..).filter(|rest| !rest.is_empty()) {
            let next = packed + envelope_bytes(rest);
            if next > PAYLOAD_BYTES_MAX {
                break;
            }
            packed = next;
        }
        let (payload, rest) = envelopes.split_at(packed);
        put_segment(payload, true, lz4, out);
        envelopes = rest;
    }
}

/// Appends a part of an envelope, or all of it, as segments that are not self-contained.
pub(crate) fn put_pieces(part: &[u8], lz4: bool, out: &mut Vec<u8>) {
    for payload in part.chunks(PAYLOAD_BYTES_MAX) {
        put_segment(payload, false, lz4, out);
    }
}

/// The bytes of the first envelope. Our own output is well-formed; anything else is taken as one piece.
pub(crate) fn envelope_bytes(envelopes: &[u8]) -> usize {
    let length = envelopes.get(HEADER_BYTES - 4..).and_then(<[u8]>::first_chunk::<4>);
    let body = length.map_or(usize::MAX, |length| u32::from_be_bytes(*length) as usize);
    debug_assert!(body.saturating_add(HEADER_BYTES) <= envelopes.len(), "output ends inside an envelope");
    body.saturating_add(HEADER_BYTES).min(envelopes.len())
}

/// Appends one segment; the payload must not be longer than [`PAYLOAD_BYTES_MAX`].
pub(crate) fn put_segment(payload: &[u8], self_contained: bool, lz4: bool, out: &mut Vec<u8>) {
    debug_assert!(payload.len() <= PAYLOAD_BYTES_MAX);
    let start = out.len();
    let header_bytes = SegmentHeader::bytes(lz4);
    out.resize(start + header_bytes, 0);
    let mut plain_length = 0;
    if lz4 && payload.len() >= COMPRESS_BYTES_MIN && compress_lz4(payload, out) {
        plain_length = payload.len();
    }
    let stored = start + header_bytes;
    if plain_length == 0 || out.len() - stored >= payload.len() {
        plain_length = 0;
        out.truncate(stored);
        out.extend_from_slice(payload);
    }
    let wire_length = out.len() - stored;
    let header = SegmentHeader { wire_length, plain_length, self_contained }.encode(lz4);
    if let (Some(slot), Some(header)) = (out.get_mut(start..stored), header.get(..header_bytes)) {
        slot.copy_from_slice(header);
    }
    let checksum = crc32(out.get(stored..).unwrap_or_default());
    out.extend_from_slice(&checksum.to_le_bytes());
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
