//! Envelopes in v5 segments: several in a self-contained segment, or one over several segments.

use super::received::{GROWS_FASTER_BYTES, RETAIN_BYTES_MAX};
use super::{Inbound, Located, Place, total_bytes};
use crate::compress::decompress_payload;
use crate::envelope::{HEADER_BYTES, Header};
use crate::refusal::Refusal;
use crate::segment::{SegmentError, SegmentHeader, check_payload};
use std::ops::Range;

/// What is known of segments beyond the receive buffer.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// The unread rest of a self-contained segment.
    contained: Option<(Place, Range<usize>)>,
    /// The parts of a split envelope so far.
    assembled: Vec<u8>,
    /// The assembled envelope has been handed out; the next call may drop it.
    delivered: bool,
    /// Bytes of an oversized split envelope still to be dropped.
    discard_left: usize,
}

impl Segments {
    pub(super) fn is_partial(&self) -> bool {
        self.contained.is_some() || self.discard_left > 0 || (!self.assembled.is_empty() && !self.delivered)
    }

    /// The first byte of the receive buffer that a self-contained segment still needs.
    pub(super) fn needs_received_from(&self) -> Option<usize> {
        match &self.contained {
            Some((Place::Received, range)) => Some(range.start),
            _ => None,
        }
    }

    /// The receive buffer lost this many bytes at the front.
    pub(super) fn received_moved(&mut self, dropped: usize) {
        if let Some((Place::Received, range)) = &mut self.contained {
            *range = range.start.saturating_sub(dropped)..range.end.saturating_sub(dropped);
        }
    }

    /// Keeps the unread rest of a self-contained segment for the next call.
    fn keep(&mut self, place: Place, rest: Range<usize>) {
        self.contained = Some((place, rest)).filter(|(_, rest)| !rest.is_empty());
    }

    pub(super) fn capacity(&self) -> usize {
        self.assembled.capacity()
    }

    pub(super) fn assembled(&self, range: Range<usize>) -> &[u8] {
        self.assembled.get(range).unwrap_or_default()
    }

    /// The buffer of the envelope that was handed out, if it ends there.
    pub(super) fn take_delivered(&mut self, end: usize) -> Option<Vec<u8>> {
        if !self.delivered || self.assembled.len() != end {
            return None;
        }
        self.delivered = false;
        Some(std::mem::take(&mut self.assembled))
    }

    fn drop_delivered(&mut self) {
        if self.delivered {
            self.delivered = false;
            self.assembled.clear();
            if self.assembled.capacity() > RETAIN_BYTES_MAX {
                self.assembled = Vec::new();
            }
        }
    }
}

impl Inbound {
    pub(super) fn locate_segmented(&mut self) -> Result<Option<Located>, Refusal> {
        self.segments.drop_delivered();
        loop {
            if let Some((place, range)) = self.segments.contained.take() {
                return self.locate_contained(place, range).map(Some);
            }
            let Some((self_contained, place, payload)) = self.next_segment()? else { return Ok(None) };
            if !self_contained {
                if let Some(located) = self.append_part(place, payload)? {
                    return Ok(Some(located));
                }
            } else if self.segments.is_partial() {
                return Err(self.fatal(0, "A self-contained segment arrived inside a split envelope"));
            } else {
                self.segments.keep(place, payload);
            }
        }
    }

    /// Takes one whole segment: whether it is self-contained, and where its plain payload lies.
    fn next_segment(&mut self) -> Result<Option<(bool, Place, Range<usize>)>, Refusal> {
        let lz4 = self.framing.compression().is_some();
        let rest = self.received.rest();
        let header = SegmentHeader::decode(rest, lz4).map_err(|error| self.refuse_segment(error))?;
        let Some(header) = header else { return Ok(None) };
        let header_bytes = SegmentHeader::bytes(lz4);
        let after_header = rest.get(header_bytes..).unwrap_or_default();
        let checked = check_payload(after_header, header).map_err(|error| self.refuse_segment(error))?;
        let Some((payload, payload_bytes)) = checked else { return Ok(None) };
        if header.plain_length > 0 {
            decompress_payload(payload, header.plain_length, &mut self.decompressed)
                .map_err(|()| self.refuse_segment(SegmentError::Decompression))?;
        }
        self.received.consume(header_bytes);
        let wire = self.received.consume(payload_bytes);
        Ok(Some(if header.plain_length > 0 {
            (header.self_contained, Place::Decompressed, 0..header.plain_length)
        } else {
            (header.self_contained, Place::Received, wire.start..wire.start + header.wire_length)
        }))
    }

    fn refuse_segment(&self, error: SegmentError) -> Refusal {
        self.fatal(
            0,
            match error {
                SegmentError::HeaderChecksum => "Corrupt segment: the CRC24 of the header does not match",
                SegmentError::PayloadChecksum => "Corrupt segment: the CRC32 of the payload does not match",
                SegmentError::Decompression => {
                    "Corrupt segment: the lz4 payload does not decompress to its length"
                }
            },
        )
    }

    fn payload(&self, place: Place, range: Range<usize>) -> &[u8] {
        match place {
            Place::Received => self.received.get(range),
            Place::Decompressed => self.decompressed.get(range).unwrap_or_default(),
            Place::Assembled => self.segments.assembled(range),
        }
    }

    /// Takes the next envelope out of a self-contained segment.
    fn locate_contained(&mut self, place: Place, range: Range<usize>) -> Result<Located, Refusal> {
        let bytes = self.payload(place, range.clone());
        let available = bytes.len();
        let Some(header) = self.header(bytes)? else {
            return Err(self.fatal(0, "A self-contained segment ends inside an envelope header"));
        };
        let total = total_bytes(&header);
        let length = header.length as usize;
        if length > self.body_bytes_max {
            let mut refusal = self.too_big(header, length);
            // Without the end of the envelope, the next one cannot be found.
            refusal.close = total > available;
            self.segments.keep(place, range.start + total.min(available)..range.end);
            return Err(refusal);
        }
        if total > available {
            let message = "A self-contained segment ends inside an envelope body";
            return Err(self.fatal(header.stream, message));
        }
        let end = range.start + total;
        self.segments.keep(place, end..range.end);
        self.located(header, place, range.start + HEADER_BYTES..end)
    }

    /// Adds a part of a split envelope; gives the envelope when it is complete.
    fn append_part(&mut self, place: Place, range: Range<usize>) -> Result<Option<Located>, Refusal> {
        if self.segments.discard_left > 0 {
            return match self.segments.discard_left.checked_sub(range.len()) {
                Some(left) => {
                    self.segments.discard_left = left;
                    Ok(None)
                }
                None => Err(self.fatal(0, "A segment reaches beyond the envelope it is a part of")),
            };
        }
        let part = match place {
            Place::Received => self.received.get(range),
            Place::Decompressed => self.decompressed.get(range).unwrap_or_default(),
            Place::Assembled => &[],
        };
        self.segments.assembled.extend_from_slice(part);
        let Some(header) = self.header(&self.segments.assembled)? else { return Ok(None) };
        let (total, so_far) = (total_bytes(&header), self.segments.assembled.len());
        let Some(left) = total.checked_sub(so_far) else {
            return Err(self.fatal(header.stream, "A segment reaches beyond the envelope it is a part of"));
        };
        if header.length as usize > self.body_bytes_max {
            return Err(self.discard_split(header, left));
        }
        if left > 0 {
            if so_far >= GROWS_FASTER_BYTES {
                self.segments.assembled.reserve_exact(left);
            }
            return Ok(None);
        }
        self.segments.delivered = true;
        self.located(header, Place::Assembled, HEADER_BYTES..total).map(Some)
    }

    fn discard_split(&mut self, header: Header, left: usize) -> Refusal {
        self.segments.assembled = Vec::new();
        self.segments.discard_left = left;
        self.too_big(header, header.length as usize)
    }
}
