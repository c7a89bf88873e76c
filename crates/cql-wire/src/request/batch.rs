//! BATCH: several statements in one message, walked in place.

use super::params::QueryParams;
use super::values::Values;
use crate::error::WireError;
use crate::reader::Reader;
use crate::version::Version;
use crate::writer::{put_long_string, put_short_bytes, put_u8, put_u16};

/// The batch type byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BatchType {
    Logged = 0,
    Unlogged = 1,
    Counter = 2,
}

/// A BATCH message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch<'a> {
    pub batch_type: BatchType,
    pub statements: BatchStatements<'a>,
    pub params: QueryParams<'a>,
}

impl<'a> Batch<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>, version: Version) -> Result<Batch<'a>, WireError> {
        let batch_type = match reader.u8("batch type")? {
            0 => BatchType::Logged,
            1 => BatchType::Unlogged,
            2 => BatchType::Counter,
            code => return Err(WireError::UnknownCode { field: "a batch type", code: code.into() }),
        };
        let statements = BatchStatements::read(reader, version)?;
        let params = QueryParams::read_batch(reader, version)?;
        Ok(Batch { batch_type, statements, params })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, version: Version) {
        put_u8(out, self.batch_type as u8);
        put_u16(out, self.statements.count);
        out.extend_from_slice(self.statements.bytes);
        let plain = QueryParams {
            values: Values::EMPTY,
            skip_metadata: false,
            page_size: None,
            paging_state: None,
            ..self.params
        };
        plain.write(out, version);
    }
}

/// The text or the id of a statement in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchQuery<'a> {
    Text(&'a str),
    Prepared(&'a [u8]),
}

/// One statement of a batch with its values (never named).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchStatement<'a> {
    pub query: BatchQuery<'a>,
    pub values: Values<'a>,
}

impl<'a> BatchStatement<'a> {
    fn read(reader: &mut Reader<'a>, version: Version) -> Result<BatchStatement<'a>, WireError> {
        let query = match reader.u8("statement kind in BATCH")? {
            0 => BatchQuery::Text(reader.long_string("statement in BATCH")?),
            1 => BatchQuery::Prepared(reader.short_bytes("statement id in BATCH")?),
            code => {
                return Err(WireError::UnknownCode { field: "a statement kind in BATCH", code: code.into() });
            }
        };
        Ok(BatchStatement { query, values: Values::read(reader, version, false)? })
    }
}

/// The statements of a batch; checked when decoded, afterwards walked without failing or allocating.
#[derive(Debug, Clone, Copy)]
pub struct BatchStatements<'a> {
    bytes: &'a [u8],
    count: u16,
    version: Version,
}

impl<'a> BatchStatements<'a> {
    fn read(reader: &mut Reader<'a>, version: Version) -> Result<BatchStatements<'a>, WireError> {
        let count = reader.u16("number of statements in BATCH")?;
        let start = reader.rest();
        for _ in 0..count {
            BatchStatement::read(reader, version)?;
        }
        let used = start.len() - reader.rest().len();
        Ok(BatchStatements { bytes: start.get(..used).unwrap_or_default(), count, version })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[must_use]
    pub fn iter(&self) -> BatchIter<'a> {
        BatchIter { reader: Reader::new(self.bytes), left: self.count, version: self.version }
    }
}

impl PartialEq for BatchStatements<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for BatchStatements<'_> {}

/// See [`BatchStatements::iter`].
#[derive(Debug, Clone)]
pub struct BatchIter<'a> {
    reader: Reader<'a>,
    left: u16,
    version: Version,
}

impl<'a> Iterator for BatchIter<'a> {
    type Item = BatchStatement<'a>;

    fn next(&mut self) -> Option<BatchStatement<'a>> {
        self.left = self.left.checked_sub(1)?;
        BatchStatement::read(&mut self.reader, self.version).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for BatchIter<'_> {}

/// Builds [`BatchStatements`] for a request that we send ourselves.
#[derive(Debug, Clone, Default)]
pub struct BatchList {
    bytes: Vec<u8>,
    count: u16,
}

impl BatchList {
    #[must_use]
    pub fn new() -> BatchList {
        BatchList::default()
    }

    /// Appends a statement. At most 65,535 fit in a message; more are refused with `false`.
    pub fn push(&mut self, query: BatchQuery<'_>, values: Values<'_>) -> bool {
        debug_assert!(!values.is_named(), "BATCH has no named values");
        let Some(count) = self.count.checked_add(1) else { return false };
        self.count = count;
        match query {
            BatchQuery::Text(text) => {
                put_u8(&mut self.bytes, 0);
                put_long_string(&mut self.bytes, text);
            }
            BatchQuery::Prepared(id) => {
                put_u8(&mut self.bytes, 1);
                put_short_bytes(&mut self.bytes, id);
            }
        }
        values.write(&mut self.bytes);
        true
    }

    #[must_use]
    pub fn as_statements(&self) -> BatchStatements<'_> {
        BatchStatements { bytes: &self.bytes, count: self.count, version: Version::NEWEST }
    }
}
