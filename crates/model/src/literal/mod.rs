//! Constants of the language as wire values, and wire values as constants.
//!
//! A constant has a kind (how it was written) and a text; whether it fits a type depends on both. Sentences are
//! Cassandra's. Collections and tuples in CQL text are the parser's business, not this module's.

mod composite;
mod constant;
mod format;
#[cfg(test)]
mod tests;
mod text;

pub use constant::{
    Assignability, ConstantKind, assignability, constant_to_wire, preferred_type, wrong_constant,
};
pub use format::{format_literal, format_text};
pub use text::text_to_wire;
pub(crate) use text::{hex_to_wire, parse_big_integer};
