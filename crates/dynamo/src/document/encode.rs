//! Items to bytes.

use super::{VERSION, tag};
use crate::size;
use crate::value::{Item, Value};

/// The document of `item`.
pub fn encode(item: &Item) -> Vec<u8> {
    let size = size::item(item);
    let mut out = Vec::with_capacity(size + 16 + 6 * item.len());
    out.push(VERSION);
    // Every item that gets here is within 400 KB; more than 32 bits cannot happen.
    out.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
    attributes(item, &mut out);
    out
}

fn attributes(item: &Item, out: &mut Vec<u8>) {
    length(item.len(), out);
    for (name, value) in item.iter() {
        bytes(name.as_bytes(), out);
        encode_value(value, out);
    }
}

/// Seven bits per byte, the lowest first; the high bit says that more follow.
fn length(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// The stored form of one value.
pub fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::S(text) => {
            out.push(tag::S);
            bytes(text.as_bytes(), out);
        }
        Value::N(number) => {
            out.push(tag::N);
            bytes(number.bytes(), out);
        }
        Value::B(blob) => {
            out.push(tag::B);
            bytes(blob, out);
        }
        Value::Bool(false) => out.push(tag::FALSE),
        Value::Bool(true) => out.push(tag::TRUE),
        Value::Null => out.push(tag::NULL),
        Value::Ss(set) => {
            members(tag::SS, set.len(), out, |out| set.iter().for_each(|m| bytes(m.as_bytes(), out)))
        }
        Value::Ns(set) => {
            members(tag::NS, set.len(), out, |out| set.iter().for_each(|m| bytes(m.bytes(), out)))
        }
        Value::Bs(set) => members(tag::BS, set.len(), out, |out| set.iter().for_each(|m| bytes(m, out))),
        Value::L(list) => {
            members(tag::L, list.len(), out, |out| list.iter().for_each(|e| encode_value(e, out)))
        }
        Value::M(map) => container(tag::M, out, |out| attributes(map, out)),
    }
}

fn members(tag: u8, count: usize, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    container(tag, out, |out| {
        length(count, out);
        write(out);
    });
}

/// A tag, how many bytes follow (so that a reader can step over them), and those.
fn container(tag: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}
