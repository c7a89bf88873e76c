//! Partition tokens: Cassandra's variant of Murmur3, so that unmodified drivers route to the right place.
//!
//! Guarantees: equal to Cassandra's `Murmur3Partitioner` for every key. It differs from textbook Murmur3 (x64,
//! 128 bits, first half) in one point: tail bytes are sign-extended before they are shifted.

use std::fmt;

/// A position on the ring. The minimum is never the token of a non-empty key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub i64);

impl Token {
    /// "Before every key"; also the token of the empty key.
    pub const MIN: Token = Token(i64::MIN);
    pub const MAX: Token = Token(i64::MAX);

    /// The minimum is reserved as a bound, so a hash that falls on it moves to the maximum.
    pub fn from_hash(hash: i64) -> Token {
        if hash == i64::MIN { Token::MAX } else { Token(hash) }
    }

    /// The token as an unsigned number in ring order: the minimum is 0.
    pub fn ring_position(self) -> u64 {
        (self.0 as u64) ^ (1 << 63)
    }

    /// The inverse of [`Token::ring_position`].
    pub fn from_ring_position(position: u64) -> Token {
        Token((position ^ (1 << 63)) as i64)
    }

    /// Eight bytes whose memcmp order is token order.
    pub fn to_ordered_bytes(self) -> [u8; 8] {
        self.ring_position().to_be_bytes()
    }

    /// The inverse of [`Token::to_ordered_bytes`].
    pub fn from_ordered_bytes(bytes: [u8; 8]) -> Token {
        Token::from_ring_position(u64::from_be_bytes(bytes))
    }

    /// The shard that owns this token: the ring cut into `shards` equal intervals, in token order.
    pub fn shard(self, shards: u32) -> u32 {
        ((u128::from(self.ring_position()) * u128::from(shards)) >> 64) as u32
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The token of a partition key in wire form.
pub fn murmur3(key: &[u8]) -> Token {
    if key.is_empty() {
        return Token::MIN;
    }
    Token::from_hash(murmur3_h1(key))
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

fn mix_k1(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix_k2(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn final_mix(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

/// A tail of up to 8 bytes as a number; each byte is sign-extended first (the Cassandra difference).
fn tail_word(bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().fold(0, |word, (i, &b)| word ^ ((b as i8 as i64 as u64) << (8 * i)))
}

/// First half of the 128-bit hash, seed 0.
pub fn murmur3_h1(data: &[u8]) -> i64 {
    let (mut h1, mut h2) = (0u64, 0u64);
    let (blocks, tail) = data.as_chunks::<16>();
    for block in blocks {
        let words = u128::from_le_bytes(*block);
        let (k1, k2) = (words as u64, (words >> 64) as u64);
        h1 ^= mix_k1(k1);
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix_k2(k2);
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = tail.split_at(tail.len().min(8));
    if !high.is_empty() {
        h2 ^= mix_k2(tail_word(high));
    }
    if !low.is_empty() {
        h1 ^= mix_k1(tail_word(low));
    }
    h1 ^= data.len() as u64;
    h2 ^= data.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = final_mix(h1);
    h2 = final_mix(h2);
    h1.wrapping_add(h2) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tokens() {
        assert_eq!(murmur3(&1i32.to_be_bytes()), Token(-4069959284402364209));
        assert_eq!(murmur3(b"a"), Token(-8839064797231613815));
        assert_eq!(murmur3(b""), Token::MIN);
        assert_eq!(Token::from_hash(i64::MIN), Token::MAX);
    }

    #[test]
    fn ring_order_and_shards() {
        assert_eq!(Token::MIN.ring_position(), 0);
        assert_eq!(Token::MAX.ring_position(), u64::MAX);
        assert_eq!(Token::from_ring_position(Token(-5).ring_position()), Token(-5));
        assert!(Token(-1).to_ordered_bytes() < Token(0).to_ordered_bytes());
        assert_eq!(Token::from_ordered_bytes(Token(7).to_ordered_bytes()), Token(7));
        assert_eq!(Token::MIN.shard(4), 0);
        assert_eq!(Token::MAX.shard(4), 3);
        assert_eq!(Token(0).shard(4), 2);
        assert_eq!(Token(-1).shard(4), 1);
    }
}
