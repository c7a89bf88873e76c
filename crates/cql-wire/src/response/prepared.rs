//! RESULT kind Prepared: the answer to PREPARE.

use super::columns::{ColumnSpec, NO_METADATA, read_columns, table_flag, write_columns};
use crate::error::WireError;
use crate::reader::Reader;
use crate::version::{Protocol, Version};
use crate::writer::{put_i32, put_short_bytes, put_u16};
use std::borrow::Cow;

/// The bit of the bind metadata flags with which ScyllaDB's drivers recognise conditional statements.
pub const LWT_MARK: u32 = 0x8000_0000;

/// A prepared statement as the client learns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared<'a> {
    pub id: Cow<'a, [u8]>,
    /// Sent exactly if [`Protocol::has_metadata_id`].
    pub result_metadata_id: Cow<'a, [u8]>,
    /// The bind markers in order.
    pub bind: Cow<'a, [ColumnSpec]>,
    /// For each partition key column in key order, the index of its bind marker; empty if the client cannot compute
    /// the key (v4 and later).
    pub partition_key: Cow<'a, [u16]>,
    /// Set [`LWT_MARK`]; only for clients that negotiated it.
    pub lwt_mark: bool,
    /// The result columns; empty for statements without rows, which is sent as "no metadata".
    pub result: Cow<'a, [ColumnSpec]>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn write(&self, out: &mut Vec<u8>, protocol: Protocol) {
        put_short_bytes(out, &self.id);
        if protocol.has_metadata_id() {
            put_short_bytes(out, &self.result_metadata_id);
        }
        let table = table_flag(&self.bind);
        put_flags(out, table | if self.lwt_mark { LWT_MARK } else { 0 });
        put_count(out, self.bind.len());
        if protocol.version >= Version::V4 {
            put_count(out, self.partition_key.len());
            self.partition_key.iter().for_each(|index| put_u16(out, *index));
        }
        write_columns(out, &self.bind, table, protocol.version);
        if self.result.is_empty() {
            put_flags(out, NO_METADATA);
            put_count(out, 0);
        } else {
            let table = table_flag(&self.result);
            put_flags(out, table);
            put_count(out, self.result.len());
            write_columns(out, &self.result, table, protocol.version);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'a>, protocol: Protocol) -> Result<Prepared<'a>, WireError> {
        let id = Cow::Borrowed(reader.short_bytes("statement id")?);
        let result_metadata_id = if protocol.has_metadata_id() {
            Cow::Borrowed(reader.short_bytes("result metadata id")?)
        } else {
            Cow::Borrowed(&[][..])
        };
        let flags = reader.i32("flags of the bind metadata")?.cast_unsigned();
        let count = reader.length("number of bind markers")?;
        let mut partition_key = Vec::new();
        if protocol.version >= Version::V4 {
            for _ in 0..reader.length("number of partition key markers")? {
                partition_key.push(reader.u16("partition key marker")?);
            }
        }
        let bind = read_columns(reader, count, flags)?;
        let result_flags = reader.i32("flags of the result metadata")?.cast_unsigned();
        let count = reader.length("number of result columns")?;
        let with_columns = result_flags & NO_METADATA == 0;
        let result = if with_columns { read_columns(reader, count, result_flags)? } else { Vec::new() };
        Ok(Prepared {
            id,
            result_metadata_id,
            bind: bind.into(),
            partition_key: partition_key.into(),
            lwt_mark: flags & LWT_MARK != 0,
            result: result.into(),
        })
    }
}

fn put_flags(out: &mut Vec<u8>, flags: u32) {
    put_i32(out, flags.cast_signed());
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    put_i32(out, i32::try_from(count).unwrap_or(i32::MAX));
}
