//! Compression of bodies (v3, v4) and of segment payloads (v5).
//!
//! A declared plain length is believed only as far as the format could reach it from the bytes received, and never
//! above the caller's limit, so a lying length cannot make us allocate.

use crate::error::WireError;
use crate::version::Compression;

/// LZ4 spends at least one byte per 255 bytes of output; snappy at least 3 bytes per 64.
const LZ4_RATIO_MAX: usize = 255;
const SNAPPY_RATIO_MAX: usize = 22;

/// Why a body was not decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The plain body would be longer than the limit.
    TooLarge {
        length: usize,
    },
    Malformed(WireError),
}

/// Decompresses an envelope body into `out`, replacing its content.
pub(crate) fn decompress_body(
    compression: Compression,
    body: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), BodyError> {
    out.clear();
    if body.is_empty() {
        // Marked as compressed, but there was nothing to compress.
        return Ok(());
    }
    let malformed = || BodyError::Malformed(WireError::Decompression { algorithm: compression.name() });
    let (declared, ratio_max) = match compression {
        Compression::Lz4 => {
            let prefix = body.first_chunk::<4>().ok_or_else(malformed)?;
            (u32::from_be_bytes(*prefix) as usize, LZ4_RATIO_MAX)
        }
        Compression::Snappy => (snap::raw::decompress_len(body).map_err(|_| malformed())?, SNAPPY_RATIO_MAX),
    };
    if declared > body.len().saturating_mul(ratio_max) {
        return Err(malformed());
    }
    if declared > limit {
        return Err(BodyError::TooLarge { length: declared });
    }
    out.resize(declared, 0);
    let written = match compression {
        // Some clients send an empty body as a length of zero and nothing else.
        Compression::Lz4 if declared == 0 => Ok(0),
        Compression::Lz4 => {
            lz4_flex::block::decompress_into(body.get(4..).unwrap_or_default(), out).map_err(|_| ())
        }
        Compression::Snappy => snap::raw::Decoder::new().decompress(body, out).map_err(|_| ()),
    };
    if written == Ok(declared) { Ok(()) } else { Err(malformed()) }
}

/// Decompresses a segment payload whose plain length is `plain_length` (17 bits) into `out`, replacing its content.
pub(crate) fn decompress_payload(payload: &[u8], plain_length: usize, out: &mut Vec<u8>) -> Result<(), ()> {
    out.clear();
    out.resize(plain_length, 0);
    match lz4_flex::block::decompress_into(payload, out) {
        Ok(written) if written == plain_length => Ok(()),
        _ => Err(()),
    }
}

/// Appends the compressed form of `body` if it is shorter than the body; otherwise appends nothing and returns false.
pub(crate) fn compress_body(compression: Compression, body: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let written = match compression {
        Compression::Lz4 => {
            let Ok(length) = u32::try_from(body.len()) else { return false };
            out.extend_from_slice(&length.to_be_bytes());
            compress_lz4(body, out)
        }
        Compression::Snappy => {
            out.resize(start + snap::raw::max_compress_len(body.len()), 0);
            let target = out.get_mut(start..).unwrap_or_default();
            let written = snap::raw::Encoder::new().compress(body, target).ok();
            out.truncate(start + written.unwrap_or(0));
            written.is_some_and(|length| length > 0)
        }
    };
    let smaller = written && out.len() - start < body.len();
    if !smaller {
        out.truncate(start);
    }
    smaller
}

/// Appends an LZ4 block; false (and nothing appended) if that fails.
pub(crate) fn compress_lz4(plain: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.resize(start + lz4_flex::block::get_maximum_output_size(plain.len()), 0);
    let written = lz4_flex::block::compress_into(plain, out.get_mut(start..).unwrap_or_default()).ok();
    out.truncate(start + written.unwrap_or(0));
    written.is_some()
}
