//! RESULT kind Rows, written straight into the output buffer.
//!
//! The paging state precedes the rows on the wire but is known only after them; [`RowsWriter::finish`] inserts it then.
//! The common last page needs no insertion.

use super::columns::{
    ColumnSpec, HAS_MORE_PAGES, METADATA_CHANGED, NO_METADATA, WrittenColumns, read_columns, table_flag,
    write_columns,
};
use super::{RESULT_ROWS, Reply};
use crate::envelope::OpenEnvelope;
use crate::error::WireError;
use crate::opcode::Opcode;
use crate::reader::Reader;
use crate::writer::{patch_i32, put_bytes, put_i32, put_short_bytes};
use std::borrow::Cow;

/// What a Rows answer says about its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsMetadata<'m> {
    pub columns: &'m [ColumnSpec],
    /// Send only the number of columns: the client knows the rest.
    pub skip: bool,
    /// Tell the client that the columns changed, with the new id; implies that they are sent. For protocols with
    /// metadata ids only; ignored by others.
    pub changed_id: Option<&'m [u8]>,
    /// The columns as they were written before, if they were; must be of the same columns.
    pub written: Option<&'m WrittenColumns>,
}

impl<'m> RowsMetadata<'m> {
    /// Full metadata without a change notice.
    #[must_use]
    pub fn full(columns: &'m [ColumnSpec]) -> RowsMetadata<'m> {
        RowsMetadata { columns, skip: false, changed_id: None, written: None }
    }
}

/// Writes one Rows answer.
///
/// ```
/// use cql_wire::{ColumnSpec, Reply, RowsMetadata, RowsWriter, Version, WireType, put_bytes};
///
/// let columns = [ColumnSpec {
///     keyspace: "ks".into(), table: "t".into(), name: "v".into(), column_type: WireType::Text,
/// }];
/// let mut out = Vec::new();
/// let mut rows = RowsWriter::begin(&mut out, &Reply::new(Version::V4, 1), RowsMetadata::full(&columns));
/// put_bytes(rows.buffer(), Some(b"hello"));
/// put_bytes(rows.buffer(), None);
/// rows.finish(2, None);
/// assert_eq!(out[0], 0x84);
/// ```
#[derive(Debug)]
#[must_use = "a Rows answer is valid only after finish"]
pub struct RowsWriter<'o> {
    out: &'o mut Vec<u8>,
    envelope: OpenEnvelope,
    version: crate::version::Version,
    stream: i16,
    flags: u32,
    /// Where the metadata flags are.
    flags_at: usize,
    /// Where the row count is; the rows follow it.
    count_at: usize,
}

impl<'o> RowsWriter<'o> {
    /// Writes everything that precedes the rows, except the paging state.
    pub fn begin(out: &'o mut Vec<u8>, reply: &Reply<'_>, metadata: RowsMetadata<'_>) -> RowsWriter<'o> {
        let version = reply.protocol.version;
        let envelope = reply.begin(out, Opcode::Result);
        put_i32(out, RESULT_ROWS);
        let changed_id = metadata.changed_id.filter(|_| reply.protocol.has_metadata_id());
        let with_columns = !metadata.skip || changed_id.is_some();
        let written = metadata.written.filter(|written| written.version == version);
        let mut flags = match written {
            _ if !with_columns => NO_METADATA,
            Some(written) => written.flags,
            None => table_flag(metadata.columns),
        };
        if changed_id.is_some() {
            flags |= METADATA_CHANGED;
        }
        let flags_at = out.len();
        put_i32(out, flags.cast_signed());
        put_i32(out, i32::try_from(metadata.columns.len()).unwrap_or(i32::MAX));
        if let Some(id) = changed_id {
            put_short_bytes(out, id);
        }
        if with_columns {
            match written {
                Some(written) => out.extend_from_slice(&written.bytes),
                None => write_columns(out, metadata.columns, flags, version),
            }
        }
        let count_at = out.len();
        put_i32(out, 0);
        RowsWriter { out, envelope, version, stream: reply.stream, flags, flags_at, count_at }
    }

    /// The output buffer: append each row's cells in column order, each as `[bytes]` ([`put_bytes`]). Only append;
    /// what precedes the rows must stay as it is.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Corrects the number of columns of an answer without metadata that was not built from column descriptions.
    pub(crate) fn set_column_count(&mut self, count: usize) {
        patch_i32(self.out, self.flags_at + 4, i32::try_from(count).unwrap_or(i32::MAX));
    }

    /// Bytes of rows so far, for a limit on the page.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.out.len().saturating_sub(self.count_at + 4)
    }

    /// Fills in the number of rows, and the paging state if there are more pages.
    pub fn finish(self, row_count: u32, paging_state: Option<&[u8]>) {
        // What is too large has become an error.
        let _fits = self.finish_before(row_count, paging_state, 0);
    }

    /// The same for an answer whose last rows, `more` bytes of them, the caller sends right behind this. `false`: they are
    /// too many for an envelope; then this is an error, and nothing may follow.
    #[must_use]
    pub fn finish_before(self, row_count: u32, paging_state: Option<&[u8]>, more: usize) -> bool {
        patch_i32(self.out, self.count_at, i32::try_from(row_count).unwrap_or(i32::MAX));
        if let Some(state) = paging_state {
            patch_i32(self.out, self.flags_at, (self.flags | HAS_MORE_PAGES).cast_signed());
            insert_bytes(self.out, self.flags_at + 8, state);
        }
        let fits = self.envelope.finish_before(self.out, more);
        if !fits {
            self.out.truncate(self.envelope.start());
            super::encode_too_large(self.out, self.version, self.stream);
        }
        fits
    }

    /// Takes back everything written since `begin`, so that an error can be answered instead.
    pub fn abort(self) {
        self.out.truncate(self.envelope.start());
    }
}

/// Inserts `[bytes]` at `at`, moving what follows once.
fn insert_bytes(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let mut field = Vec::with_capacity(4 + bytes.len());
    put_bytes(&mut field, Some(bytes));
    out.splice(at..at, field);
}

/// A decoded Rows answer; the rows stay in the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<'a> {
    /// Empty if the server sent no metadata.
    pub columns: Cow<'a, [ColumnSpec]>,
    pub column_count: usize,
    pub paging_state: Option<&'a [u8]>,
    pub changed_id: Option<&'a [u8]>,
    pub row_count: usize,
    /// The cells of all rows: exactly `row_count * column_count` items of `[bytes]`.
    pub cells: &'a [u8],
}

impl<'a> Rows<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Rows<'a>, WireError> {
        let flags = reader.i32("flags of the result metadata")?.cast_unsigned();
        let column_count = reader.length("number of result columns")?;
        let paging_state = if flags & HAS_MORE_PAGES != 0 { reader.bytes("paging state")? } else { None };
        let changed_id = if flags & METADATA_CHANGED != 0 {
            Some(reader.short_bytes("result metadata id")?)
        } else {
            None
        };
        let with_columns = flags & NO_METADATA == 0;
        let columns = if with_columns { read_columns(reader, column_count, flags)? } else { Vec::new() };
        let row_count = reader.length("number of rows")?;
        let start = reader.rest();
        // Each cell takes at least 4 bytes, so this ends with the body however large the counts are.
        for _ in 0..row_count.saturating_mul(column_count) {
            reader.bytes("cell")?;
        }
        let used = start.len() - reader.rest().len();
        let cells = start.get(..used).unwrap_or_default();
        Ok(Rows { columns: columns.into(), column_count, paging_state, changed_id, row_count, cells })
    }

    /// The cells of all rows in order, `column_count` per row; `None` is null.
    pub fn iter_cells(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let mut reader = Reader::new(self.cells);
        std::iter::from_fn(move || reader.bytes("cell").ok())
    }
}
