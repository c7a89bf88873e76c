//! Bytes of a log segment: its header, and the frame around every record (layout: docs/format/log.md).
//!
//! Guarantees: bytes left in a recycled file, or a record at the wrong place, never look valid. `Frame::synced`, how
//! many bytes were durable when the record was written, is how recovery tells a torn tail from damage.

/// Where the first record of a segment lies.
pub const RECORDS_AT: u32 = 32;
pub const FRAME_LEN: u32 = 16;

/// Version 1: no capacity, and the next segment was made only after this one was sealed.
const MAGIC_V1: [u8; 8] = *b"PRTALOG\x01";
const MAGIC: [u8; 8] = *b"PRTALOG\x02";

/// What the head of a segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// How long the file is at least: it was filled before it took records. Zero where version 1 does not say.
    pub capacity: u32,
    /// Whether the next segment exists, durably, from before this one was sealed.
    pub next_comes_first: bool,
}

pub fn segment_header(id: u64, capacity: u32) -> [u8; RECORDS_AT as usize] {
    let mut header = [0; RECORDS_AT as usize];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&id.to_le_bytes());
    header[16..20].copy_from_slice(&capacity.to_le_bytes());
    let crc = crc32c::crc32c(&header[..20]);
    header[20..24].copy_from_slice(&crc.to_le_bytes());
    header
}

fn segment_header_v1(id: u64) -> [u8; RECORDS_AT as usize] {
    let mut header = [0; RECORDS_AT as usize];
    header[..8].copy_from_slice(&MAGIC_V1);
    header[8..16].copy_from_slice(&id.to_le_bytes());
    let crc = crc32c::crc32c(&header[..16]);
    header[16..20].copy_from_slice(&crc.to_le_bytes());
    header
}

/// The header of segment `id`, if it is intact.
pub fn read_header(bytes: &[u8], id: u64) -> Option<Header> {
    let found = bytes.first_chunk::<{ RECORDS_AT as usize }>()?;
    if *found == segment_header_v1(id) {
        return Some(Header { capacity: 0, next_comes_first: false });
    }
    let capacity = u32::from_le_bytes([found[16], found[17], found[18], found[19]]);
    (*found == segment_header(id, capacity)).then_some(Header { capacity, next_comes_first: true })
}

/// The frame of a record, as written or as found and verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub length: u32,
    pub synced: u32,
    pub payload_crc: u32,
}

impl Frame {
    fn crc(&self, segment: u64, offset: u32) -> u32 {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&segment.to_le_bytes());
        for (at, word) in [(8, offset), (12, self.length), (16, self.synced), (20, self.payload_crc)] {
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        crc32c::crc32c(&bytes)
    }

    pub fn encode(&self, segment: u64, offset: u32, out: &mut Vec<u8>) {
        for word in [self.length, self.synced, self.payload_crc, self.crc(segment, offset)] {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// How long the payload at `offset` is, if its frame is intact.
    pub fn peek(bytes: &[u8], segment: u64, offset: u32) -> Option<u32> {
        Frame::head(bytes, segment, offset).map(|(frame, _)| frame.length)
    }

    /// The frame and payload at `offset` of a segment, if they are intact.
    pub fn decode(bytes: &[u8], segment: u64, offset: u32) -> Option<(Frame, &[u8])> {
        let (frame, rest) = Frame::head(bytes, segment, offset)?;
        let payload = rest.get(..frame.length as usize)?;
        (crc32c::crc32c(payload) == frame.payload_crc).then_some((frame, payload))
    }

    fn head(bytes: &[u8], segment: u64, offset: u32) -> Option<(Frame, &[u8])> {
        let rest = bytes.get(offset as usize..)?;
        let (head, rest) = rest.split_first_chunk::<{ FRAME_LEN as usize }>()?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let frame = Frame { length: word(0), synced: word(4), payload_crc: word(8) };
        if frame.length == 0 || frame.length as usize > rest.len() || frame.synced > offset {
            return None;
        }
        (word(12) == frame.crc(segment, offset)).then_some((frame, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(segment: u64, offset: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; offset as usize];
        let payload_crc = crc32c::crc32c(payload);
        Frame { length: payload.len() as u32, synced: 0, payload_crc }.encode(segment, offset, &mut bytes);
        bytes.extend_from_slice(payload);
        bytes
    }

    #[test]
    fn a_record_is_valid_only_in_its_segment_at_its_offset() {
        let bytes = record(7, 32, b"payload");
        assert_eq!(Frame::decode(&bytes, 7, 32).unwrap().1, b"payload");
        assert!(Frame::decode(&bytes, 8, 32).is_none());
        assert!(Frame::decode(&[&[0], &bytes[..]].concat(), 7, 33).is_none());
        let header = segment_header(3, 4096);
        assert_eq!(read_header(&header, 3), Some(Header { capacity: 4096, next_comes_first: true }));
        assert_eq!(read_header(&header, 4), None);
        for at in 0..header.len() {
            let mut flipped = header;
            flipped[at] ^= 0x20;
            assert_eq!(read_header(&flipped, 3), None, "flip at {at}");
        }
        let old = read_header(&segment_header_v1(3), 3);
        assert_eq!(old, Some(Header { capacity: 0, next_comes_first: false }));
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_noticed() {
        let good = record(7, 32, b"payload");
        for at in 32..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x40;
            assert!(Frame::decode(&bytes, 7, 32).is_none(), "flip at {at}");
            assert!(Frame::decode(&good[..at], 7, 32).is_none(), "cut at {at}");
        }
    }
}
