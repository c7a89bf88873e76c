//! Descriptions of result columns and bind markers, shared by Rows and PREPARED.

use super::wire_type::WireType;
use crate::error::WireError;
use crate::reader::Reader;
use crate::version::Version;
use crate::writer::put_string;
use std::sync::Arc;

/// All columns are of one table, which is named once.
pub(crate) const GLOBAL_TABLE: u32 = 0x01;
pub(crate) const HAS_MORE_PAGES: u32 = 0x02;
pub(crate) const NO_METADATA: u32 = 0x04;
pub(crate) const METADATA_CHANGED: u32 = 0x08;

/// One column of a result, or one bind marker. Names are shared so that a cached list is cheap to build and keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSpec {
    pub keyspace: Arc<str>,
    pub table: Arc<str>,
    pub name: Arc<str>,
    pub column_type: WireType,
}

/// [`GLOBAL_TABLE`] if it applies to these columns.
pub(crate) fn table_flag(columns: &[ColumnSpec]) -> u32 {
    let same = |a: &Arc<str>, b: &Arc<str>| Arc::ptr_eq(a, b) || a == b;
    match columns.split_first() {
        Some((first, rest))
            if rest.iter().all(|c| same(&c.table, &first.table) && same(&c.keyspace, &first.keyspace)) =>
        {
            GLOBAL_TABLE
        }
        _ => 0,
    }
}

/// Descriptions as they go over the wire, for columns that are described many times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenColumns {
    pub(crate) flags: u32,
    pub(crate) bytes: Box<[u8]>,
    pub(crate) version: Version,
}

impl WrittenColumns {
    /// The descriptions in the form of one protocol version.
    #[must_use]
    pub fn new(columns: &[ColumnSpec], version: Version) -> WrittenColumns {
        let flags = table_flag(columns);
        let mut bytes = Vec::new();
        write_columns(&mut bytes, columns, flags, version);
        WrittenColumns { flags, bytes: bytes.into(), version }
    }

    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }
}

/// Appends the descriptions; `flags` must hold what [`table_flag`] said.
pub(crate) fn write_columns(out: &mut Vec<u8>, columns: &[ColumnSpec], flags: u32, version: Version) {
    let global = flags & GLOBAL_TABLE != 0;
    if let (true, Some(first)) = (global, columns.first()) {
        put_string(out, &first.keyspace);
        put_string(out, &first.table);
    }
    for column in columns {
        if !global {
            put_string(out, &column.keyspace);
            put_string(out, &column.table);
        }
        put_string(out, &column.name);
        column.column_type.write(out, version);
    }
}

/// Reads `count` descriptions. Memory grows with the bytes actually read, not with `count`.
pub(crate) fn read_columns(
    reader: &mut Reader<'_>,
    count: usize,
    flags: u32,
) -> Result<Vec<ColumnSpec>, WireError> {
    let table = |reader: &mut Reader<'_>| -> Result<(Arc<str>, Arc<str>), WireError> {
        Ok((reader.string("keyspace of a column")?.into(), reader.string("table of a column")?.into()))
    };
    let global = if flags & GLOBAL_TABLE != 0 { Some(table(reader)?) } else { None };
    let mut columns = Vec::new();
    for _ in 0..count {
        let (keyspace, table) = match &global {
            Some((keyspace, table)) => (Arc::clone(keyspace), Arc::clone(table)),
            None => table(reader)?,
        };
        let name = reader.string("name of a column")?.into();
        columns.push(ColumnSpec { keyspace, table, name, column_type: WireType::read(reader)? });
    }
    Ok(columns)
}
