//! Envelopes without segments: v3, v4, and v5 before STARTUP is answered.

use super::{Inbound, Located, Place, total_bytes};
use crate::envelope::HEADER_BYTES;
use crate::refusal::Refusal;

impl Inbound {
    pub(super) fn locate_plain(&mut self) -> Result<Option<Located>, Refusal> {
        if self.discard_left > 0 {
            let dropped = self.received.consume(self.discard_left);
            self.discard_left -= dropped.len();
        }
        let Some(header) = self.header(self.received.rest())? else { return Ok(None) };
        let length = header.length as usize;
        if length > self.body_bytes_max {
            self.received.consume(HEADER_BYTES);
            self.discard_left = length;
            return Err(self.too_big(header, length));
        }
        if self.received.rest().len() < total_bytes(&header) {
            return Ok(None);
        }
        self.received.consume(HEADER_BYTES);
        let body = self.received.consume(length);
        if self.version.is_none() && self.direction == crate::envelope::Direction::Request {
            // The first request fixes the version of the connection.
            self.version = Some(header.version);
        }
        self.located(header, Place::Received, body).map(Some)
    }
}
