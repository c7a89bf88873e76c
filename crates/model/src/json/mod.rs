//! Values in and out of JSON text, with Cassandra's coercions, sentences and printed forms.
//!
//! The reader is our own: it keeps the order of keys, tells integers from fractions as the coercions need, bounds
//! nesting, and never panics. Null is not a value here: callers map JSON null to the absence of bytes.

mod document;
mod from_json;
#[cfg(test)]
mod tests;
mod to_json;

pub use document::{JSON_DEPTH_MAX, JsonError, JsonValue, quote_json};
pub use from_json::{case_folded_keys, from_json};
pub use to_json::{put_json, to_json};
