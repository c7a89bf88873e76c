//! Frames: how every part of a table file lies on disk, compressed and under a checksum
//! (layout: docs/format/table.md).
//!
//! Guarantees: bytes that come back are the bytes that were written at that place of that file; damage
//! is reported with file and offset. Does not know what a frame holds.

use crate::table::TableFile;
use std::cell::RefCell;
use store::{Compression, StoreError};
use xxhash_rust::xxh3::xxh3_64;

const CODEC_NONE: u8 = 0;
const CODEC_LZ4: u8 = 1;
const CODEC_ZSTD: u8 = 2;

/// Codec byte and raw length.
const HEAD_BYTES: usize = 5;
const CHECKSUM_BYTES: usize = 8;
/// Bytes a frame has besides its payload.
pub const OVERHEAD_BYTES: usize = HEAD_BYTES + CHECKSUM_BYTES;
/// Larger frames are never written: one entry is at most a commit, and commits are far smaller.
pub const RAW_BYTES_MAX: usize = 1 << 30;

/// One byte of lz4 stands for at most this many bytes.
const LZ4_RATIO_MAX: usize = 255;

/// zstd's fastest ordinary level: on rows it is most of the ratio for the least time.
const ZSTD_LEVEL: i32 = 1;

/// Where a frame lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameAt {
    pub offset: u64,
    pub len: u32,
}

/// A checksum that also depends on the place, so that bytes from elsewhere do not pass.
fn checksum(bytes: &[u8], offset: u64) -> u64 {
    xxh3_64(bytes) ^ offset.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Turns raw bytes into frames; keeps its buffers.
pub struct FrameEncoder {
    compression: Compression,
    out: Vec<u8>,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl FrameEncoder {
    pub fn new(compression: Compression) -> FrameEncoder {
        let zstd = match compression {
            Compression::Zstd => zstd::bulk::Compressor::new(ZSTD_LEVEL).ok(),
            Compression::Lz4 | Compression::None => None,
        };
        FrameEncoder { compression, out: Vec::new(), zstd }
    }

    /// The frame that holds `raw` at `offset`. Stored as it is when compressing does not pay.
    pub fn encode(&mut self, raw: &[u8], offset: u64) -> &[u8] {
        assert!(raw.len() <= RAW_BYTES_MAX, "a frame of {} bytes", raw.len());
        self.out.clear();
        self.out.push(CODEC_NONE);
        self.out.extend_from_slice(&(raw.len() as u32).to_le_bytes());
        let codec = self.compress(raw);
        if codec == CODEC_NONE {
            self.out.truncate(HEAD_BYTES);
            self.out.extend_from_slice(raw);
        }
        self.out[0] = codec;
        let sum = checksum(&self.out, offset);
        self.out.extend_from_slice(&sum.to_le_bytes());
        &self.out
    }

    /// Appends the compressed form; `CODEC_NONE` when it is not smaller.
    fn compress(&mut self, raw: &[u8]) -> u8 {
        let (codec, room) = match self.compression {
            Compression::None => return CODEC_NONE,
            Compression::Lz4 => (CODEC_LZ4, lz4_flex::block::get_maximum_output_size(raw.len())),
            Compression::Zstd => (CODEC_ZSTD, zstd::zstd_safe::compress_bound(raw.len())),
        };
        self.out.resize(HEAD_BYTES + room, 0);
        let target = &mut self.out[HEAD_BYTES..];
        let written = match (codec, &mut self.zstd) {
            (CODEC_ZSTD, Some(zstd)) => zstd.compress_to_buffer(raw, target).ok(),
            (CODEC_ZSTD, None) => None,
            _ => lz4_flex::block::compress_into(raw, target).ok(),
        };
        match written {
            Some(len) if len < raw.len() => {
                self.out.truncate(HEAD_BYTES + len);
                codec
            }
            _ => CODEC_NONE,
        }
    }
}

/// Reads and checks a frame; returns the raw bytes.
pub fn read(file: &TableFile, at: FrameAt) -> Result<Vec<u8>, StoreError> {
    if u64::from(at.len) > file.len || at.len as usize > RAW_BYTES_MAX + OVERHEAD_BYTES {
        return Err(file.corrupt(at.offset, "a frame is longer than it can be"));
    }
    let mut bytes = vec![0; at.len as usize];
    file.read_exact(at.offset, &mut bytes)?;
    open(bytes, at.offset).map_err(|what| file.corrupt(at.offset, what))
}

/// Checks a frame that was read from `offset` and returns what it holds.
pub fn open(mut frame: Vec<u8>, offset: u64) -> Result<Vec<u8>, &'static str> {
    let Some(end) = frame.len().checked_sub(CHECKSUM_BYTES).filter(|end| *end >= HEAD_BYTES) else {
        return Err("a frame is too short");
    };
    let (body, sum) = frame.split_at(end);
    if sum != checksum(body, offset).to_le_bytes() {
        return Err("checksum mismatch");
    }
    let codec = body[0];
    let raw_len = u32::from_le_bytes([body[1], body[2], body[3], body[4]]) as usize;
    if raw_len > RAW_BYTES_MAX {
        return Err("a frame claims too many bytes");
    }
    let payload = &body[HEAD_BYTES..];
    match codec {
        CODEC_NONE if payload.len() == raw_len => {
            frame.truncate(end);
            frame.drain(..HEAD_BYTES);
            Ok(frame)
        }
        CODEC_LZ4 if raw_len > payload.len().saturating_mul(LZ4_RATIO_MAX) => {
            Err("lz4 data claims more bytes than it can hold")
        }
        CODEC_LZ4 => {
            let mut raw = vec![0; raw_len];
            match lz4_flex::block::decompress_into(payload, &mut raw) {
                Ok(len) if len == raw_len => Ok(raw),
                _ => Err("lz4 data does not decompress"),
            }
        }
        CODEC_ZSTD => match decompress_zstd(payload, raw_len) {
            Some(raw) if raw.len() == raw_len => Ok(raw),
            _ => Err("zstd data does not decompress"),
        },
        CODEC_NONE => Err("a raw frame has the wrong length"),
        _ => Err("unknown compression codec"),
    }
}

thread_local! {
    /// Making a context costs more than decompressing a block with it.
    static ZSTD: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

fn decompress_zstd(payload: &[u8], raw_len: usize) -> Option<Vec<u8>> {
    ZSTD.with_borrow_mut(|context| {
        if context.is_none() {
            *context = zstd::bulk::Decompressor::new().ok();
        }
        context.as_mut()?.decompress(payload, raw_len).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_every_flipped_bit_is_seen() {
        let text: Vec<u8> = (0..600u32).flat_map(|i| (i / 9).to_be_bytes()).collect();
        let noise: Vec<u8> = (0..100u64).flat_map(|i| xxh3_64(&i.to_be_bytes()).to_be_bytes()).collect();
        for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
            let mut encoder = FrameEncoder::new(compression);
            for raw in [&text[..], &noise[..], &[], &[7]] {
                let frame = encoder.encode(raw, 77).to_vec();
                assert!(frame.len() <= raw.len() + OVERHEAD_BYTES);
                assert_eq!(open(frame.clone(), 77).unwrap(), raw);
                assert_eq!(open(frame.clone(), 78), Err("checksum mismatch"));
                for at in 0..frame.len() * 8 {
                    let mut damaged = frame.clone();
                    damaged[at / 8] ^= 1 << (at % 8);
                    assert!(open(damaged, 77).is_err(), "bit {at}");
                }
                for len in 0..frame.len() {
                    assert!(open(frame[..len].to_vec(), 77).is_err());
                }
            }
            let small = encoder.encode(&text, 0).len();
            assert_eq!(small < text.len(), compression != Compression::None);
        }
    }
}
