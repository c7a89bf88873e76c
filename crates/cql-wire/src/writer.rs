//! The primitive notations of the specification, appended to an output buffer.
//!
//! Lengths are ours, not the peer's, but they are still bounded by the field: a `[string]` longer than 65,535 bytes is
//! cut at a character boundary (error texts and warnings may be long), never written with a wrong length.

use std::net::{IpAddr, SocketAddr};

#[inline]
pub fn put_u8(out: &mut Vec<u8>, value: u8) {
    out.push(value);
}

/// `[short]`
#[inline]
pub fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// `[int]`
#[inline]
pub fn put_i32(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// `[long]`
#[inline]
pub fn put_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// `[string]`, cut to 65,535 bytes at a character boundary.
pub fn put_string(out: &mut Vec<u8>, value: &str) {
    if let Ok(length) = u16::try_from(value.len()) {
        put_u16(out, length);
        out.extend_from_slice(value.as_bytes());
    } else {
        let cut = value.floor_char_boundary(usize::from(u16::MAX));
        put_string(out, value.get(..cut).unwrap_or_default());
    }
}

/// `[long string]`
pub fn put_long_string(out: &mut Vec<u8>, value: &str) {
    put_bytes(out, Some(value.as_bytes()));
}

/// `[short bytes]`, cut to 65,535 bytes.
pub fn put_short_bytes(out: &mut Vec<u8>, value: &[u8]) {
    let cut = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    put_u16(out, u16::try_from(cut.len()).unwrap_or(0));
    out.extend_from_slice(cut);
}

/// `[bytes]`: the form of every cell in Rows. `None` is null. A value above 2 GiB cannot be written and becomes null.
#[inline]
pub fn put_bytes(out: &mut Vec<u8>, value: Option<&[u8]>) {
    match value.and_then(|bytes| i32::try_from(bytes.len()).ok().map(|length| (length, bytes))) {
        Some((length, bytes)) => {
            put_i32(out, length);
            out.extend_from_slice(bytes);
        }
        None => put_i32(out, -1),
    }
}

/// A `[short]` count followed by the items. Items beyond 65,535 are left out.
pub fn put_list<T>(
    out: &mut Vec<u8>,
    items: impl ExactSizeIterator<Item = T>,
    mut put: impl FnMut(&mut Vec<u8>, T),
) {
    let count = u16::try_from(items.len()).unwrap_or(u16::MAX);
    put_u16(out, count);
    for item in items.take(usize::from(count)) {
        put(out, item);
    }
}

/// `[string list]`
pub fn put_string_list<S: AsRef<str>>(out: &mut Vec<u8>, items: &[S]) {
    put_list(out, items.iter(), |out, item| put_string(out, item.as_ref()));
}

/// `[inetaddr]`
pub fn put_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(v4) => {
            put_u8(out, 4);
            out.extend_from_slice(&v4.octets());
        }
        IpAddr::V6(v6) => {
            put_u8(out, 16);
            out.extend_from_slice(&v6.octets());
        }
    }
}

/// `[inet]`
pub fn put_socket_address(out: &mut Vec<u8>, address: SocketAddr) {
    put_address(out, address.ip());
    put_i32(out, i32::from(address.port()));
}

/// Overwrites the `[int]` at `at`, which must have been written before. Used to fill in lengths and counts.
pub fn patch_i32(out: &mut [u8], at: usize, value: i32) {
    if let Some(slot) = out.get_mut(at..at + 4) {
        slot.copy_from_slice(&value.to_be_bytes());
    }
}
