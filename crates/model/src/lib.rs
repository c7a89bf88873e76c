//! Types, values, byte-comparable keys, tokens, cells, tombstones, rows and their merge rules. Pure.

pub mod deletion;
pub mod key;
pub mod merge;
pub mod row;
pub mod token;
pub mod types;
pub mod vint;
