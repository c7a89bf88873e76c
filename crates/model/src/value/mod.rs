//! Values: wire bytes of every CQL type, checked, compared, walked, built and decoded.
//!
//! The stored form of a value is its wire form, and most code works on those bytes directly; [`Value`] is the typed
//! form for the embedding API and for evaluating functions. Null is never bytes here: it is the absence of them.

mod build;
mod canonical;
mod compare;
pub mod decimal_order;
mod decode;
pub mod elements;
mod encode;
pub(crate) mod error;
mod typed;
mod validate;
pub mod varint;
pub mod wire_vint;

#[cfg(test)]
pub(crate) mod arbitrary;

pub use build::{
    CollectionBuilder, encode_elements, encode_fields, encode_map, encode_set, encode_vector, put_part,
};
pub use canonical::canonical;
pub use compare::{compare, from_ordered_f32, from_ordered_f64, ordered_f32, ordered_f64};
pub use error::ValueError;
pub use typed::Value;
pub(crate) use validate::hex;
pub use validate::{ITEMS_MAX, is_plain_value, validate};
