//! The token of a request's partition key, from the values that the client bound.

use cql_wire::{Value, Values};
use model::token::murmur3;

/// Most columns of a partition key that are looked at; keys with more go to any node.
const COLUMNS_MAX: usize = 16;

/// The token of the key whose columns are bound by the markers `indexes`; `None` if it cannot be told.
pub fn token(indexes: &[u16], values: &Values<'_>, scratch: &mut Vec<u8>) -> Option<i64> {
    if indexes.is_empty() || indexes.len() > COLUMNS_MAX || values.is_named() {
        return None;
    }
    let value = |index: u16| match values.iter().nth(usize::from(index)) {
        Some(Value::Bytes(bytes)) => Some(bytes),
        _ => None,
    };
    if let [index] = indexes {
        return value(*index).map(|bytes| murmur3(bytes).0);
    }
    // A key of several columns: each with its length before and a zero behind.
    scratch.clear();
    for index in indexes {
        let bytes = value(*index)?;
        scratch.extend_from_slice(&u16::try_from(bytes.len()).ok()?.to_be_bytes());
        scratch.extend_from_slice(bytes);
        scratch.push(0);
    }
    Some(murmur3(scratch).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cql_wire::ValueList;

    /// Tokens as `SELECT token(…)` of a Cassandra 5.0.6 gives them are the business of `model`; here it is which bytes
    /// are hashed.
    #[test]
    fn one_column_is_hashed_bare_and_several_with_their_lengths() {
        let mut list = ValueList::new();
        list.push(Value::Bytes(b"x"));
        list.push(Value::Bytes(&[0, 0, 0, 7]));
        list.push(Value::Null);
        let (values, mut scratch) = (list.as_values(), Vec::new());
        assert_eq!(token(&[1], &values, &mut scratch), Some(murmur3(&[0, 0, 0, 7]).0));
        let both = [0, 4, 0, 0, 0, 7, 0, 0, 1, b'x', 0];
        assert_eq!(token(&[1, 0], &values, &mut scratch), Some(murmur3(&both).0));
        assert_eq!(token(&[2], &values, &mut scratch), None, "null");
        assert_eq!(token(&[9], &values, &mut scratch), None, "not bound");
        assert_eq!(token(&[], &values, &mut scratch), None);
    }
}
