//! Descriptions of bound variables and result columns, and result rows as they go to the client.

use model::types::DataType;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    pub keyspace: Arc<str>,
    pub table: Arc<str>,
    pub name: Arc<str>,
    pub data_type: DataType,
}

/// A page of result rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    pub columns: Arc<[ColumnSpec]>,
    pub count: u32,
    /// Values row by row, each as `i32 length, bytes` (length -1 is null): the body of a CQL result.
    pub body: Vec<u8>,
    /// Present when more rows may follow.
    pub paging_state: Option<Vec<u8>>,
}

impl Rows {
    pub fn empty(columns: Arc<[ColumnSpec]>) -> Rows {
        Rows { columns, count: 0, body: Vec::new(), paging_state: None }
    }

    /// The values of every row, for callers that want them one by one (the embedding API, tests).
    pub fn values(&self) -> impl Iterator<Item = Vec<Option<&[u8]>>> {
        let mut rest = &self.body[..];
        let width = self.columns.len();
        (0..self.count).map_while(move |_| {
            (0..width)
                .map(|_| {
                    let (value, tail) = model::value::elements::take_part(rest).ok()?;
                    rest = tail;
                    Some(value)
                })
                .collect()
        })
    }
}

/// Appends one value to a result body.
#[inline]
pub fn put_value(body: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        None => body.extend_from_slice(&(-1i32).to_be_bytes()),
        Some(bytes) => {
            body.extend_from_slice(&(bytes.len() as i32).to_be_bytes());
            body.extend_from_slice(bytes);
        }
    }
}
