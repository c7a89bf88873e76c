//! Types, values, byte-comparable keys, tokens, cells, tombstones, rows and their merge rules. Pure.

pub mod arithmetic;
pub mod cast;
pub mod comparable;
pub mod comparison;
pub mod constraint;
pub mod deletion;
pub mod inet;
pub mod json;
pub mod key;
pub mod lists;
pub mod literal;
pub mod merge;
pub mod number;
pub mod row;
pub mod temporal;
pub mod text;
pub mod timeuuid;
pub mod token;
pub mod types;
pub mod value;
pub mod vector;
pub mod vint;
