//! A body with memory of its own, for requests that outlive the receive buffer.

use super::{Inbound, Located, Place};
use std::ops::{Deref, Range};

/// Bodies above this leave with the buffer they arrived in; copying smaller ones costs less than a new buffer. A fuzzer's inputs
/// are short, and it should see both ways.
#[allow(unexpected_cfgs, reason = "fuzz/run sets it")]
const TAKEN_BYTES_MIN: usize = if cfg!(fuzzing) { 48 } else { 64 * 1024 };

/// The bytes of one body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    bytes: Vec<u8>,
    /// What precedes the body in the buffer that it arrived in.
    before: usize,
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(self.before..).unwrap_or_default()
    }
}

impl From<&[u8]> for Body {
    fn from(bytes: &[u8]) -> Body {
        Body { bytes: bytes.into(), before: 0 }
    }
}

impl Inbound {
    /// The body of the envelope that was located last, before anything else was read or located.
    pub(crate) fn take_body(&mut self, located: Located) -> Body {
        let Located { place, body, .. } = located;
        if body.len() >= TAKEN_BYTES_MIN
            && let Some(bytes) = self.take_buffer(place, &body)
        {
            return Body { bytes, before: body.start };
        }
        let bytes = match place {
            Place::Received => self.received.get(body),
            Place::Decompressed => self.decompressed.get(body).unwrap_or_default(),
            Place::Assembled => self.segments.assembled(body),
        };
        bytes.into()
    }

    /// The whole buffer, if nothing in it is behind the body.
    fn take_buffer(&mut self, place: Place, body: &Range<usize>) -> Option<Vec<u8>> {
        match place {
            Place::Received => self.received.take(body.end),
            Place::Decompressed if self.decompressed.len() == body.end => {
                Some(std::mem::take(&mut self.decompressed))
            }
            Place::Decompressed => None,
            Place::Assembled => self.segments.take_delivered(body.end),
        }
    }
}
