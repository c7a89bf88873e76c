//! The parameters that follow the statement in QUERY, EXECUTE and BATCH.
//!
//! The flags word is one byte in v3 and v4 and four bytes in v5. As in Cassandra, the keyspace and now-in-seconds
//! bits are understood wherever the word can hold them, and bits that mean nothing are ignored.

use super::values::Values;
use crate::consistency::Consistency;
use crate::error::WireError;
use crate::reader::Reader;
use crate::version::Version;
use crate::writer::{put_bytes, put_i32, put_i64, put_string, put_u8, put_u16};

const VALUES: u32 = 0x01;
const SKIP_METADATA: u32 = 0x02;
const PAGE_SIZE: u32 = 0x04;
const PAGING_STATE: u32 = 0x08;
const SERIAL_CONSISTENCY: u32 = 0x10;
const TIMESTAMP: u32 = 0x20;
const NAMES: u32 = 0x40;
const KEYSPACE: u32 = 0x80;
const NOW_IN_SECONDS: u32 = 0x100;

/// Parameters of a statement. In BATCH the values, paging and metadata fields keep their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryParams<'a> {
    pub consistency: Consistency,
    pub values: Values<'a>,
    /// The client knows the columns and wants none in the answer.
    pub skip_metadata: bool,
    /// Rows per page; `None` is unpaged (no page size, or one below zero).
    pub page_size: Option<u32>,
    pub paging_state: Option<&'a [u8]>,
    pub serial_consistency: Option<Consistency>,
    /// Microseconds since 1970, chosen by the client.
    pub timestamp: Option<i64>,
    /// Instead of the connection's keyspace, for this request (v5).
    pub keyspace: Option<&'a str>,
    /// Instead of the server's clock, for this request (v5).
    pub now_in_seconds: Option<u32>,
}

impl Default for QueryParams<'_> {
    fn default() -> Self {
        QueryParams::new(Consistency::One)
    }
}

impl<'a> QueryParams<'a> {
    /// Nothing but a consistency level.
    #[must_use]
    pub fn new(consistency: Consistency) -> QueryParams<'a> {
        QueryParams {
            consistency,
            values: Values::EMPTY,
            skip_metadata: false,
            page_size: None,
            paging_state: None,
            serial_consistency: None,
            timestamp: None,
            keyspace: None,
            now_in_seconds: None,
        }
    }

    pub(crate) fn read(reader: &mut Reader<'a>, version: Version) -> Result<QueryParams<'a>, WireError> {
        let consistency = reader.consistency()?;
        let flags = read_flags(reader, version)?;
        QueryParams::read_fields(reader, version, consistency, flags)
    }

    /// BATCH has the same tail, but names cannot work there: they would have to precede values already read.
    pub(crate) fn read_batch(
        reader: &mut Reader<'a>,
        version: Version,
    ) -> Result<QueryParams<'a>, WireError> {
        let consistency = reader.consistency()?;
        let flags = read_flags(reader, version)?;
        if flags & NAMES != 0 {
            return Err(WireError::NamedValuesInBatch);
        }
        QueryParams::read_fields(reader, version, consistency, flags)
    }

    fn read_fields(
        reader: &mut Reader<'a>,
        version: Version,
        consistency: Consistency,
        flags: u32,
    ) -> Result<QueryParams<'a>, WireError> {
        let mut params = QueryParams::new(consistency);
        params.skip_metadata = flags & SKIP_METADATA != 0;
        if flags & VALUES != 0 {
            params.values = Values::read(reader, version, flags & NAMES != 0)?;
        }
        if flags & PAGE_SIZE != 0 {
            let page_size = reader.i32("page size")?;
            if page_size == 0 {
                return Err(WireError::PageSizeZero);
            }
            params.page_size = u32::try_from(page_size).ok();
        }
        if flags & PAGING_STATE != 0 {
            params.paging_state = reader.bytes("paging state")?;
        }
        if flags & SERIAL_CONSISTENCY != 0 {
            params.serial_consistency = Some(reader.consistency()?);
        }
        if flags & TIMESTAMP != 0 {
            let timestamp = reader.i64("timestamp")?;
            if timestamp == i64::MIN {
                return Err(WireError::TimestampOutOfBounds);
            }
            params.timestamp = Some(timestamp);
        }
        if flags & KEYSPACE != 0 {
            params.keyspace = Some(reader.string("keyspace")?);
        }
        if flags & NOW_IN_SECONDS != 0 {
            params.now_in_seconds = Some(reader.i32("now in seconds")?.cast_unsigned());
        }
        Ok(params)
    }

    fn flags(&self) -> u32 {
        let mut flags = 0;
        let mut set = |bit: u32, on: bool| flags |= if on { bit } else { 0 };
        set(VALUES, !self.values.is_empty());
        set(NAMES, !self.values.is_empty() && self.values.is_named());
        set(SKIP_METADATA, self.skip_metadata);
        set(PAGE_SIZE, self.page_size.is_some());
        set(PAGING_STATE, self.paging_state.is_some());
        set(SERIAL_CONSISTENCY, self.serial_consistency.is_some());
        set(TIMESTAMP, self.timestamp.is_some());
        set(KEYSPACE, self.keyspace.is_some());
        set(NOW_IN_SECONDS, self.now_in_seconds.is_some());
        flags
    }

    /// Writes the parameters; what `version` cannot express (keyspace, now in seconds before v5) is left out.
    pub(crate) fn write(&self, out: &mut Vec<u8>, version: Version) {
        put_u16(out, self.consistency.code());
        let flags = self.flags();
        if version >= Version::V5 {
            put_i32(out, flags.cast_signed());
        } else {
            put_u8(out, (flags & 0x7F) as u8);
        }
        if flags & VALUES != 0 {
            self.values.write(out);
        }
        if let Some(page_size) = self.page_size {
            put_i32(out, i32::try_from(page_size).unwrap_or(i32::MAX));
        }
        if let Some(state) = self.paging_state {
            put_bytes(out, Some(state));
        }
        if let Some(serial) = self.serial_consistency {
            put_u16(out, serial.code());
        }
        if let Some(timestamp) = self.timestamp {
            put_i64(out, timestamp);
        }
        if version >= Version::V5 {
            if let Some(keyspace) = self.keyspace {
                put_string(out, keyspace);
            }
            if let Some(now) = self.now_in_seconds {
                put_i32(out, now.cast_signed());
            }
        }
    }
}

fn read_flags(reader: &mut Reader<'_>, version: Version) -> Result<u32, WireError> {
    if version >= Version::V5 {
        Ok(reader.i32("query flags")?.cast_unsigned())
    } else {
        Ok(u32::from(reader.u8("query flags")?))
    }
}
