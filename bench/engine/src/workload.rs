//! The work: which rows there are and in which order they arrive. Deterministic.
//!
//! 5,000 partitions of 1,000 rows; a key of 32 bytes (token, partition, clustering) and a value of 100 bytes (flags,
//! write time, double, int, a status text, 62 hex digits). Rows arrive one clustering step after the other, for every
//! partition in turn: random order in key space. Engines that know columns get the same values as columns.

pub const PARTITIONS: u64 = 5_000;
pub const ROWS: u64 = 1_000;
pub const KEY_BYTES: usize = 32;
pub const VALUE_BYTES: usize = 100;
/// Raw bytes of a row: what disk sizes and write amplification are compared with.
pub const RAW_BYTES: u64 = (KEY_BYTES + VALUE_BYTES) as u64;

pub type Key = [u8; KEY_BYTES];
pub type Value = [u8; VALUE_BYTES];

/// A row by its two numbers: which partition, which clustering step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub partition: u64,
    pub step: u64,
}

/// A 64-bit finaliser: turns counters into numbers without pattern.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The columns of a row.
pub struct Columns {
    /// Microseconds.
    pub written_at: u64,
    pub reading: f64,
    pub count: u32,
    pub status: &'static [u8; 15],
    pub digits: [u8; 62],
}

const STATUS: [&[u8; 15]; 4] =
    [b"status=ok;site0", b"status=ok;site1", b"status=warn;st2", b"status=fail;st3"];

impl Row {
    /// The row that arrives as number `i`.
    #[inline]
    pub fn arriving(i: u64) -> Row {
        Row { partition: i % PARTITIONS, step: i / PARTITIONS }
    }

    /// Token (an order-preserving eight bytes) and partition key.
    #[inline]
    pub fn partition_key(self) -> (u64, [u8; 16]) {
        let a = mix(self.partition ^ 0xA5A5_0000);
        let b = mix(a ^ self.partition);
        let mut key = [0; 16];
        key[..8].copy_from_slice(&a.to_be_bytes());
        key[8..].copy_from_slice(&b.to_be_bytes());
        (mix(a.rotate_left(17) ^ b), key)
    }

    /// Milliseconds: the clustering value.
    #[inline]
    pub fn time(self) -> u64 {
        1_700_000_000_000 + self.step * 1_000
    }

    #[inline]
    pub fn key(self) -> Key {
        let (token, partition) = self.partition_key();
        let mut key = [0; KEY_BYTES];
        key[..8].copy_from_slice(&token.to_be_bytes());
        key[8..24].copy_from_slice(&partition);
        key[24..].copy_from_slice(&self.time().to_be_bytes());
        key
    }

    /// First key of the partition and the key behind its last.
    pub fn bounds(self) -> ([u8; 24], [u8; 24]) {
        let mut low = [0; 24];
        low.copy_from_slice(&self.key()[..24]);
        let mut high = low;
        for byte in high.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        (low, high)
    }

    #[inline]
    pub fn columns(self) -> Columns {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let r = mix(self.partition.wrapping_mul(1_000_003) ^ self.step);
        let mut digits = [0; 62];
        let mut x = r;
        for chunk in digits.chunks_mut(16) {
            x = mix(x);
            let mut nibbles = x;
            for digit in chunk {
                *digit = HEX[(nibbles & 15) as usize];
                nibbles >>= 4;
            }
        }
        Columns {
            written_at: 1_700_000_000_000_000 + self.step * 1_000_000 + (r & 0xF_FFFF),
            reading: 15.0 + (r % 2000) as f64 / 100.0,
            count: (r >> 20) as u32 % 1024,
            status: STATUS[(r >> 62) as usize],
            digits,
        }
    }

    #[inline]
    pub fn value(self) -> Value {
        let columns = self.columns();
        let mut value = [0; VALUE_BYTES];
        value[0] = 0x0F;
        value[1..9].copy_from_slice(&columns.written_at.to_be_bytes());
        value[9..17].copy_from_slice(&columns.reading.to_be_bytes());
        value[17..21].copy_from_slice(&columns.count.to_be_bytes());
        value[21] = 15;
        value[22..37].copy_from_slice(columns.status);
        value[37] = 62;
        value[38..].copy_from_slice(&columns.digits);
        value
    }
}
