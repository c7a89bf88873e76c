//! From plain envelopes to the bytes of a connection.

use crate::compress::compress_body;
use crate::envelope::{HEADER_BYTES, flags};
use crate::segment::{PAYLOAD_BYTES_MAX, envelope_bytes, put_pieces, put_segments};
use crate::version::{Compression, Version};
use crate::writer::patch_i32;

/// Bodies below this are not compressed in v3 and v4.
const COMPRESS_BYTES_MIN: usize = 512;

/// How a connection wraps envelopes at the moment. A small copy: a writer may keep one once the connection is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    segments: bool,
    compression: Option<Compression>,
}

impl Framing {
    /// Envelopes as they are: every connection until STARTUP has been answered.
    pub const PLAIN: Framing = Framing { segments: false, compression: None };

    /// What holds after STARTUP was accepted. v5 has segments, and only lz4.
    #[must_use]
    pub fn negotiated(version: Version, compression: Option<Compression>) -> Framing {
        let segments = version >= Version::V5;
        let compression = compression.filter(|c| !segments || *c == Compression::Lz4);
        Framing { segments, compression }
    }

    /// Whether [`Framing::frame`] would only copy; then a writer may send the envelopes as they are.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self == Framing::PLAIN
    }

    /// Whether envelopes travel in v5 segments.
    #[must_use]
    pub fn has_segments(self) -> bool {
        self.segments
    }

    #[must_use]
    pub fn compression(self) -> Option<Compression> {
        self.compression
    }

    /// Appends `envelopes`, a sequence of whole plain envelopes, in the form the connection uses. In v5 small envelopes
    /// share a segment, so it pays to collect several answers before calling this.
    pub fn frame(self, envelopes: &[u8], out: &mut Vec<u8>) {
        match (self.segments, self.compression) {
            (true, compression) => put_segments(envelopes, compression.is_some(), out),
            (false, None) => out.extend_from_slice(envelopes),
            (false, Some(compression)) => put_compressed(envelopes, compression, out),
        }
    }

    /// Appends a piece of an envelope that is too long for one segment. For connections that do not compress whole
    /// envelopes; the first piece must hold the envelope's header.
    pub fn frame_piece(self, piece: &[u8], out: &mut Vec<u8>) {
        debug_assert!(!self.compresses_whole(), "a compressed envelope has no pieces");
        match self.segments {
            true => put_pieces(piece, self.compression.is_some(), out),
            false => out.extend_from_slice(piece),
        }
    }

    /// Whether an envelope has to be there as a whole to be framed.
    #[must_use]
    pub fn compresses_whole(self) -> bool {
        !self.segments && self.compression.is_some()
    }
}

/// The segments that a piece of a long envelope is cut into are this long: pieces should be multiples of it.
pub const PIECE_BYTES: usize = PAYLOAD_BYTES_MAX;

/// Compresses each body that is long enough and shrinks.
fn put_compressed(mut envelopes: &[u8], compression: Compression, out: &mut Vec<u8>) {
    while !envelopes.is_empty() {
        let (envelope, rest) = envelopes.split_at(envelope_bytes(envelopes));
        envelopes = rest;
        let start = out.len();
        let (header, body) = envelope.split_at_checked(HEADER_BYTES).unwrap_or((envelope, &[]));
        out.extend_from_slice(header);
        if body.len() < COMPRESS_BYTES_MIN || !compress_body(compression, body, out) {
            out.extend_from_slice(body);
            continue;
        }
        let length = out.len() - start - HEADER_BYTES;
        patch_i32(out, start + HEADER_BYTES - 4, i32::try_from(length).unwrap_or(i32::MAX));
        if let Some(bits) = out.get_mut(start + 1) {
            *bits |= flags::COMPRESSED;
        }
    }
}
