//! Bytes of a log segment: its header, and the frame around every record (layout: docs/format/log.md).
//!
//! Guarantees: bytes left in a recycled file, or a record at the wrong place, never look valid. `Frame::synced`, how
//! many bytes were durable when the record was written, is how recovery tells a torn tail from damage.

/// Where the first record of a segment lies.
pub const RECORDS_AT: u32 = 32;
pub const FRAME_LEN: u32 = 16;

const MAGIC: [u8; 8] = *b"PRTALOG\x01";

pub fn segment_header(id: u64) -> [u8; RECORDS_AT as usize] {
    let mut header = [0; RECORDS_AT as usize];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&id.to_le_bytes());
    let crc = crc32c::crc32c(&header[..16]);
    header[16..20].copy_from_slice(&crc.to_le_bytes());
    header
}

pub fn is_segment_header(bytes: &[u8], id: u64) -> bool {
    bytes.get(..RECORDS_AT as usize) == Some(&segment_header(id))
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

    /// The frame and payload at `offset` of a segment, if they are intact.
    pub fn decode(bytes: &[u8], segment: u64, offset: u32) -> Option<(Frame, &[u8])> {
        let rest = bytes.get(offset as usize..)?;
        let (head, rest) = rest.split_first_chunk::<{ FRAME_LEN as usize }>()?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let frame = Frame { length: word(0), synced: word(4), payload_crc: word(8) };
        if frame.length == 0 || frame.length as usize > rest.len() || frame.synced > offset {
            return None;
        }
        if word(12) != frame.crc(segment, offset) {
            return None;
        }
        let payload = rest.get(..frame.length as usize)?;
        (crc32c::crc32c(payload) == frame.payload_crc).then_some((frame, payload))
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
        assert!(is_segment_header(&segment_header(3), 3) && !is_segment_header(&segment_header(3), 4));
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
