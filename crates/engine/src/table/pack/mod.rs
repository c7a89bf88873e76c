//! Packed blocks: the layout of data blocks in compressed files (docs/format/table.md, "Packed blocks").
//!
//! Rows of one shape (the same columns, nothing unusual) are taken apart: their structure is written once, the
//! values of each column lie together in the shortest of a few simple forms, and timestamps and clustering
//! bytes that grow evenly become a line and small differences. The rest goes to the compressor. Reading
//! builds an ordinary [`super::block::Block`] again, so nothing else in the engine knows of packed blocks.
//! Guarantees: what comes back is byte for byte what went in; malformed bytes are refused, never a panic.

mod column;
mod read;
mod series;
mod shape;
mod write;

pub(super) use read::unpack;
pub(super) use series::little_endian;
pub(super) use write::{Packer, Parts};

/// First byte of a packed block. An ordinary block starts with its number of entries, which is not zero.
pub(super) const PACKED: u8 = 0;

/// How a block's rows are divided between the shape and "as they are".
const ROWS_PLAIN: u8 = 0;
const ROWS_SHAPED: u8 = 1;
const ROWS_MIXED: u8 = 2;

#[cfg(test)]
mod tests;
