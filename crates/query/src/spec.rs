//! Descriptions of bound variables and result columns, and result rows in the form that goes to the client.

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

/// Appends one value to a result body. Every cell of every answer passes here, so it is no call of its own.
#[inline(always)]
pub fn put_value(body: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        None => body.extend_from_slice(&(-1i32).to_be_bytes()),
        // Numbers, times and uuids: one append of known size, half the instructions of two of any size.
        Some(bytes) => match bytes.len() {
            4 => put_fixed::<4, 8>(body, bytes),
            8 => put_fixed::<8, 12>(body, bytes),
            16 => put_fixed::<16, 20>(body, bytes),
            len => {
                body.extend_from_slice(&(len as i32).to_be_bytes());
                body.extend_from_slice(bytes);
            }
        },
    }
}

/// A value of `N` bytes; `M` is `N + 4`.
#[inline(always)]
fn put_fixed<const N: usize, const M: usize>(body: &mut Vec<u8>, bytes: &[u8]) {
    let mut whole = [0; M];
    whole[..4].copy_from_slice(&(N as i32).to_be_bytes());
    whole[4..].copy_from_slice(&bytes[..N]);
    body.extend_from_slice(&whole);
}

#[cfg(test)]
mod tests {
    use super::put_value;

    #[test]
    fn values_of_every_length_carry_it() {
        let bytes: Vec<u8> = (1..=40).collect();
        let mut body = Vec::new();
        for len in 0..=40 {
            body.clear();
            put_value(&mut body, Some(&bytes[..len]));
            assert_eq!(body, [&(len as i32).to_be_bytes()[..], &bytes[..len]].concat());
        }
        body.clear();
        put_value(&mut body, None);
        assert_eq!(body, [0xff; 4]);
    }
}
