//! UUIDs: time-based (version 1) construction and reading, Cassandra's two orders, text form, and the reordered
//! form that serves as the path of list elements.
//!
//! Pure: the caller passes time, clock sequence and node bits. The 60-bit time counts 100 ns since 1582-10-15.
//! `uuid` and `timeuuid` columns sort differently in Cassandra, so each has its own ordered form.

/// 100 ns ticks from 1582-10-15 to 1970-01-01.
const EPOCH_TICKS: i64 = 122_192_928_000_000_000;
const VERSION_1: u64 = 0x1000;

/// A version-1 UUID from its tick count and its last eight bytes (variant, clock sequence, node).
fn from_ticks(ticks: u64, clock_and_node: u64) -> [u8; 16] {
    let most = ticks << 32 | (ticks & 0xffff_0000_0000) >> 16 | (ticks >> 48 & 0x0fff) | VERSION_1;
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&most.to_be_bytes());
    uuid[8..].copy_from_slice(&clock_and_node.to_be_bytes());
    uuid
}

fn split(uuid: &[u8; 16]) -> (u64, u64) {
    let value = u128::from_be_bytes(*uuid);
    ((value >> 64) as u64, value as u64)
}

fn join(most: u64, least: u64) -> [u8; 16] {
    (u128::from(most) << 64 | u128::from(least)).to_be_bytes()
}

/// The last eight bytes of a UUID: variant 2, a 14-bit clock sequence and 48 node bits.
pub fn clock_and_node(clock_sequence: u16, node: [u8; 6]) -> u64 {
    let node = node.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    0x8000_0000_0000_0000 | u64::from(clock_sequence & 0x3fff) << 48 | node
}

/// A time UUID at a number of 100 ns ticks since 1970 (negative before).
pub fn from_unix_ticks(unix_ticks: i64, clock_and_node: u64) -> [u8; 16] {
    from_ticks(unix_ticks.wrapping_add(EPOCH_TICKS) as u64, clock_and_node)
}

/// A time UUID at microseconds since 1970.
pub fn from_unix_micros(unix_micros: i64, clock_and_node: u64) -> [u8; 16] {
    from_unix_ticks(unix_micros.wrapping_mul(10), clock_and_node)
}

/// 100 ns ticks since 1970 of a version-1 UUID.
pub fn unix_ticks(uuid: &[u8; 16]) -> i64 {
    ((reorder(split(uuid).0) & 0x0fff_ffff_ffff_ffff) as i64).wrapping_sub(EPOCH_TICKS)
}

/// Microseconds since 1970 of a version-1 UUID.
pub fn unix_micros(uuid: &[u8; 16]) -> i64 {
    // Counted from 1582, as Cassandra divides, so that times before 1970 round the same way.
    (unix_ticks(uuid).wrapping_add(EPOCH_TICKS)) / 10 - EPOCH_TICKS / 10
}

/// Milliseconds since 1970 of a version-1 UUID; truncates towards 1970 as Cassandra does.
pub fn unix_millis(uuid: &[u8; 16]) -> i64 {
    unix_micros(uuid) / 1000
}

/// The smallest `timeuuid` of a millisecond, for query bounds only.
pub fn min_for_millis(unix_millis: i64) -> [u8; 16] {
    from_unix_ticks(unix_millis.wrapping_mul(10_000), 0x8080_8080_8080_8080)
}

/// The largest `timeuuid` of a millisecond, for query bounds only.
pub fn max_for_millis(unix_millis: i64) -> [u8; 16] {
    let last_tick = unix_millis.wrapping_add(1).wrapping_mul(10_000).wrapping_sub(1);
    from_unix_ticks(last_tick, 0x7f7f_7f7f_7f7f_7f7f)
}

pub fn version(uuid: &[u8; 16]) -> u8 {
    uuid[6] >> 4
}

/// Most significant half with the time field in order: high, middle, low. The version stays in the top nibble.
fn reorder(most: u64) -> u64 {
    most << 48 | (most << 16 & 0xffff_0000_0000) | most >> 32
}

fn reorder_back(ordered: u64) -> u64 {
    ordered << 32 | (ordered >> 16 & 0xffff_0000) | ordered >> 48
}

/// Signed bytes in the second half of a `timeuuid` become unsigned ones.
const SIGN_BITS: u64 = 0x8080_8080_8080_8080;

/// Sixteen bytes whose memcmp order is the order of `timeuuid`: time first, then the rest as signed bytes.
/// This is the path of a list element.
pub fn to_ordered(uuid: &[u8; 16]) -> [u8; 16] {
    let (most, least) = split(uuid);
    join(reorder(most), least ^ SIGN_BITS)
}

/// The inverse of [`to_ordered`].
pub fn from_ordered(ordered: &[u8; 16]) -> [u8; 16] {
    let (most, least) = split(ordered);
    join(reorder_back(most), least ^ SIGN_BITS)
}

/// Sixteen bytes whose memcmp order is the order of `uuid`: version, then time (version 1) or the plain bytes.
pub fn uuid_order(uuid: &[u8; 16]) -> [u8; 16] {
    let (most, least) = split(uuid);
    let version = most >> 12 & 0xf;
    let ordered = if version == 1 {
        reorder(most)
    } else {
        version << 60 | (most >> 4 & 0x0fff_ffff_ffff_f000) | most & 0xfff
    };
    join(ordered, least)
}

/// The inverse of [`uuid_order`].
pub fn uuid_from_order(ordered: &[u8; 16]) -> [u8; 16] {
    let (most, least) = split(ordered);
    let version = most >> 60;
    let original = if version == 1 {
        reorder_back(most)
    } else {
        (most << 4 & 0xffff_ffff_ffff_0000) | version << 12 | most & 0xfff
    };
    join(original, least)
}

/// Reads the 8-4-4-4-12 form.
pub fn parse(text: &str) -> Option<[u8; 16]> {
    let text: &[u8; 36] = text.as_bytes().try_into().ok()?;
    let mut uuid = [0u8; 16];
    let mut nibbles = 0;
    for (i, &byte) in text.iter().enumerate() {
        if matches!(i, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = (byte as char).to_digit(16)? as u8;
        let slot = uuid.get_mut(nibbles / 2)?;
        *slot = *slot << 4 | digit;
        nibbles += 1;
    }
    Some(uuid)
}

/// The 8-4-4-4-12 form in lower case.
pub fn format(uuid: &[u8; 16]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(36);
    for (i, byte) in uuid.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_time() {
        let uuid = parse("d2177dd0-eaa2-11de-a572-001b779c76e3").unwrap();
        assert_eq!(format(&uuid), "d2177dd0-eaa2-11de-a572-001b779c76e3");
        assert_eq!(version(&uuid), 1);
        assert_eq!(unix_millis(&uuid), 1_261_009_589_805);
        assert_eq!(
            from_unix_ticks(unix_ticks(&uuid), u64::from_be_bytes(*uuid[8..].first_chunk().unwrap())),
            uuid
        );
    }

    #[test]
    fn bounds_of_a_millisecond() {
        assert_eq!(format(&min_for_millis(0)), "13814000-1dd2-11b2-8080-808080808080");
        assert_eq!(format(&max_for_millis(0)), "1381670f-1dd2-11b2-7f7f-7f7f7f7f7f7f");
        assert!(
            to_ordered(&min_for_millis(5)) < to_ordered(&from_unix_micros(5_500, clock_and_node(1, [1; 6])))
        );
        assert!(
            to_ordered(&max_for_millis(5)) > to_ordered(&from_unix_micros(5_999, clock_and_node(1, [1; 6])))
        );
        assert!(to_ordered(&max_for_millis(5)) < to_ordered(&min_for_millis(6)));
    }

    #[test]
    fn ordered_forms_invert() {
        for text in [
            "d2177dd0-eaa2-11de-a572-001b779c76e3",
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ] {
            let uuid = parse(text).unwrap();
            assert_eq!(from_ordered(&to_ordered(&uuid)), uuid);
            assert_eq!(uuid_from_order(&uuid_order(&uuid)), uuid);
        }
        assert_eq!(parse("d2177dd0-eaa2-11de-a572-001b779c76e"), None);
        assert_eq!(parse("d2177dd0xeaa2-11de-a572-001b779c76e3"), None);
        assert_eq!(parse("+2177dd0-eaa2-11de-a572-001b779c76e3"), None);
    }

    #[test]
    fn clock_and_node_carries_the_variant() {
        assert_eq!(clock_and_node(0xffff, [0xab; 6]), 0xbfff_abab_abab_abab);
    }
}
