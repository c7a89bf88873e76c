//! Keys of stored entries: how (token, partition key, position) becomes one byte string.
//!
//! Guarantees: byte order of entry keys is the storage order (token, partition, position), so every
//! comparison in the engine is a memcmp; a key read from disk is checked before it is split.
//! Does not know column types: clustering bytes come from `comparable`.

use crate::token::Token;

/// Longest partition key the encoding can hold (a two-byte length, as in Cassandra).
pub const PARTITION_KEY_BYTES_MAX: usize = u16::MAX as usize;

/// First byte of a position inside a partition.
pub const KIND_PARTITION_DELETION: u8 = 0;
pub const KIND_STATIC: u8 = 1;
pub const KIND_RANGE: u8 = 2;
pub const KIND_ROW: u8 = 3;
/// Sorts after every position of a partition.
pub const KIND_END: u8 = 0xff;

/// A partition key in wire form with its token, and the storage prefix that both make.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionKey {
    /// token ++ length ++ key: see the module.
    prefix: Box<[u8]>,
}

impl PartitionKey {
    /// `bytes` is the wire form: the raw value of a single column, or `(u16 len, bytes, 00)*`.
    /// `None` when it is longer than [`PARTITION_KEY_BYTES_MAX`].
    pub fn new(token: Token, bytes: &[u8]) -> Option<PartitionKey> {
        let mut prefix = Vec::with_capacity(10 + bytes.len());
        put_prefix(&mut prefix, token, bytes)?;
        Some(PartitionKey { prefix: prefix.into() })
    }

    /// The key with its Murmur3 token.
    pub fn of(bytes: &[u8]) -> Option<PartitionKey> {
        PartitionKey::new(crate::token::murmur3(bytes), bytes)
    }

    /// The key of several columns: `(u16 len, bytes, 00)*`, with its Murmur3 token. `None` when it is too long.
    pub fn composite<V: AsRef<[u8]>>(values: &[V]) -> Option<PartitionKey> {
        let bytes: usize = values.iter().map(|v| v.as_ref().len() + 3).sum();
        let len = u16::try_from(bytes).ok()?;
        let mut prefix = Vec::with_capacity(10 + bytes);
        prefix.extend_from_slice(&[0; 8]);
        prefix.extend_from_slice(&len.to_be_bytes());
        for value in values {
            let value = value.as_ref();
            // Shorter than the whole, which fits.
            prefix.extend_from_slice(&(value.len() as u16).to_be_bytes());
            prefix.extend_from_slice(value);
            prefix.push(0);
        }
        let token = crate::token::murmur3(&prefix[10..]);
        prefix[..8].copy_from_slice(&token.ring_position().to_be_bytes());
        Some(PartitionKey { prefix: prefix.into() })
    }

    /// A key from its storage prefix (as `prefix()` returned it).
    pub fn from_prefix(prefix: &[u8]) -> Option<PartitionKey> {
        let (head, rest) = split_prefix(prefix)?;
        rest.is_empty().then(|| PartitionKey { prefix: head.into() })
    }

    pub fn token(&self) -> Token {
        token_of(&self.prefix)
    }

    /// The wire form.
    pub fn bytes(&self) -> &[u8] {
        &self.prefix[10..]
    }

    /// What every entry key of this partition starts with.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The key of the entry at `kind` (and, for rows and ranges, `clustering`) in this partition.
    pub fn entry(&self, kind: u8, clustering: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.prefix.len() + 1 + clustering.len());
        key.extend_from_slice(&self.prefix);
        key.push(kind);
        key.extend_from_slice(clustering);
        key
    }
}

impl std::fmt::Debug for PartitionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PartitionKey({}:", self.token().0)?;
        self.bytes().iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str(")")
    }
}

/// Appends the storage prefix of a partition; `None` when the key is too long.
pub fn put_prefix(out: &mut Vec<u8>, token: Token, bytes: &[u8]) -> Option<()> {
    let len = u16::try_from(bytes.len()).ok()?;
    out.extend_from_slice(&token.ring_position().to_be_bytes());
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(bytes);
    Some(())
}

/// Splits an entry key into partition prefix and position; `None` when it is malformed.
#[inline]
pub fn split_prefix(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = u16::from_be_bytes([*key.get(8)?, *key.get(9)?]) as usize;
    key.split_at_checked(10 + len)
}

/// The wire form of the partition key inside a storage prefix.
#[inline]
pub fn partition_bytes(prefix: &[u8]) -> &[u8] {
    prefix.get(10..).unwrap_or_default()
}

/// One value of a partition key of several columns (in wire form).
pub fn composite_part(mut bytes: &[u8], position: usize) -> Option<&[u8]> {
    for left in (0..=position).rev() {
        let (len, rest) = bytes.split_first_chunk::<2>()?;
        let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        if left == 0 {
            return Some(value);
        }
        bytes = rest.get(1..)?;
    }
    None
}

/// The token at the front of an entry key or prefix; the minimum for a shorter slice.
#[inline]
pub fn token_of(key: &[u8]) -> Token {
    key.first_chunk::<8>().map_or(Token::MIN, |b| Token::from_ring_position(u64::from_be_bytes(*b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_keys_sort_by_token_then_key_then_position() {
        let low = PartitionKey::new(Token(-5), b"zz").unwrap();
        let high = PartitionKey::new(Token(5), b"aa").unwrap();
        let keys = [
            low.entry(KIND_PARTITION_DELETION, b""),
            low.entry(KIND_STATIC, b""),
            low.entry(KIND_RANGE, b"\x20a"),
            low.entry(KIND_ROW, b""),
            low.entry(KIND_ROW, b"\x20b"),
            low.entry(KIND_END, b""),
            high.entry(KIND_PARTITION_DELETION, b""),
        ];
        assert!(keys.is_sorted());
        for key in &keys {
            let (prefix, position) = split_prefix(key).unwrap();
            assert_eq!(PartitionKey::from_prefix(prefix).unwrap().entry(position[0], &position[1..]), *key);
        }
        assert_eq!(low.bytes(), b"zz");
        assert_eq!(token_of(&keys[6]), Token(5));
    }

    #[test]
    fn malformed_keys_are_refused() {
        assert!(split_prefix(b"").is_none());
        assert!(split_prefix(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 1]).is_none());
        assert!(PartitionKey::new(Token(0), &vec![0; 65536]).is_none());
    }
}
