//! The two checksums of v5 segments.

use crc32fast::Hasher;

/// Bytes of the checksum after a payload.
pub(crate) const CRC32_BYTES: usize = 4;

const CRC24_INIT: u32 = 0x0087_5060;
const CRC24_POLY: u32 = 0x0197_4F0B;

/// The plain CRC-32 of `FA 2D 55 CA`, which every payload checksum hashes first.
const CRC32_SEED: u32 = 0x4477_7ED3;

static CRC24_TABLE: [u32; 256] = crc24_table();

const fn crc24_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 16;
        let mut bit = 0;
        while bit < 8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= CRC24_POLY;
            }
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// The checksum of a segment header.
pub(crate) fn crc24(bytes: &[u8]) -> u32 {
    bytes.iter().fold(CRC24_INIT, |crc, byte| {
        let index = usize::from((crc >> 16) as u8 ^ byte);
        ((crc << 8) & 0x00FF_FFFF) ^ CRC24_TABLE.get(index).copied().unwrap_or(0)
    })
}

/// The checksum of a payload as it is transmitted.
pub(crate) fn crc32(payload: &[u8]) -> u32 {
    let mut hasher = Hasher::new_with_initial(CRC32_SEED);
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_vectors() {
        assert_eq!(crc24(&[0x04, 0x00, 0x02]), 0xF2_F901);
        assert_eq!(crc32(b"abc"), 0xC536_7A08);
    }

    #[test]
    fn the_seed_is_the_hash_of_its_bytes() {
        assert_eq!(CRC32_SEED, crc32fast::hash(&[0xFA, 0x2D, 0x55, 0xCA]));
    }

    #[test]
    fn the_table_agrees_with_the_bitwise_definition() {
        let bitwise = |bytes: &[u8]| {
            bytes.iter().fold(CRC24_INIT, |crc, byte| {
                (0..8).fold(crc ^ (u32::from(*byte) << 16), |crc, _| {
                    let shifted = crc << 1;
                    if shifted & 0x0100_0000 != 0 { shifted ^ CRC24_POLY } else { shifted }
                })
            })
        };
        for n in 0..2000_u64 {
            let bytes = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
            let bytes = &bytes[..3 + 2 * (n as usize % 2)];
            assert_eq!(crc24(bytes), bitwise(bytes));
        }
    }
}
