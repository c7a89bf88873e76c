//! The stored form of an item: one run of bytes with its accounted size in front and its names sorted.
//!
//! Reads find an attribute, or write the whole item as JSON, without building a tree. The layout is described in
//! docs/format/dynamo.md. Bytes are checked while they are walked: damage is an error, never a panic.

mod decode;
mod encode;
mod view;

pub use decode::decode;
pub use encode::{encode, encode_value};
pub use view::{Document, ValueView};

/// The first byte of a document.
pub const VERSION: u8 = 1;
/// Version and accounted size.
const HEADER_BYTES: usize = 5;

/// The bytes are no document of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a stored item is damaged: its bytes are no document of version 1")
    }
}

impl std::error::Error for Damaged {}

/// What a value's first byte says.
mod tag {
    pub const S: u8 = 1;
    pub const N: u8 = 2;
    pub const B: u8 = 3;
    pub const FALSE: u8 = 4;
    pub const TRUE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const SS: u8 = 7;
    pub const NS: u8 = 8;
    pub const BS: u8 = 9;
    pub const L: u8 = 10;
    pub const M: u8 = 11;
}

#[cfg(test)]
mod tests;
