//! JSON as the API speaks it: a pull reader over a request's bytes, and writers that append to an answer.

mod base64;
mod read;
mod scan;
mod write;

pub use base64::{Base64Fault, decode as decode_base64, encode as encode_base64};
pub use read::{Kind, Malformed, Reader, well_formed};
pub use write::{
    Writer, escaped as write_escaped, item as write_item, string as write_string,
    string_bytes as write_string_bytes, value as write_value,
};
