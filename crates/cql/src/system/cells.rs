//! Rust values as wire values, for rows made in code.

use model::types::DataType;
use model::value::{encode_elements, encode_map, encode_set};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A value, or null.
pub(super) type Cell = Option<Vec<u8>>;

pub(super) fn text(value: impl AsRef<str>) -> Cell {
    Some(value.as_ref().as_bytes().to_vec())
}

pub(super) fn blob(value: &[u8]) -> Cell {
    Some(value.to_vec())
}

pub(super) fn int(value: i32) -> Cell {
    Some(value.to_be_bytes().to_vec())
}

pub(super) fn bigint(value: i64) -> Cell {
    Some(value.to_be_bytes().to_vec())
}

pub(super) fn double(value: f64) -> Cell {
    Some(value.to_be_bytes().to_vec())
}

pub(super) fn boolean(value: bool) -> Cell {
    Some(vec![u8::from(value)])
}

pub(super) fn uuid(value: &[u8; 16]) -> Cell {
    Some(value.to_vec())
}

/// Milliseconds since 1970.
pub(super) fn timestamp(millis: i64) -> Cell {
    bigint(millis)
}

pub(super) fn inet(value: IpAddr) -> Cell {
    Some(match value {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    })
}

pub(super) fn text_list<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Cell {
    Some(encode_elements(values.into_iter().map(|value| value.as_ref().as_bytes().to_vec())))
}

pub(super) fn boolean_list(values: impl IntoIterator<Item = bool>) -> Cell {
    Some(encode_elements(values.into_iter().map(|value| [u8::from(value)])))
}

pub(super) fn text_set<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Cell {
    let values = values.into_iter().map(|value| value.as_ref().as_bytes().to_vec()).collect();
    Some(encode_set(&DataType::Text, values))
}

pub(super) fn text_map(values: &BTreeMap<String, String>) -> Cell {
    let entries = values.iter().map(|(key, value)| (key.as_bytes(), value.as_bytes())).collect();
    Some(encode_map(&DataType::Text, entries))
}

pub(super) fn blob_map(values: &BTreeMap<String, Vec<u8>>) -> Cell {
    let entries = values.iter().map(|(key, value)| (key.as_bytes(), value.as_slice())).collect();
    Some(encode_map(&DataType::Text, entries))
}

pub(super) fn int_text_map(values: &BTreeMap<i32, String>) -> Cell {
    let keys: Vec<([u8; 4], &str)> =
        values.iter().map(|(key, value)| (key.to_be_bytes(), value.as_str())).collect();
    let entries = keys.iter().map(|(key, value)| (&key[..], value.as_bytes())).collect();
    Some(encode_map(&DataType::Int, entries))
}

pub(super) fn bigint_list(values: impl IntoIterator<Item = i64>) -> Cell {
    let values: Vec<Vec<u8>> = values.into_iter().map(|value| value.to_be_bytes().to_vec()).collect();
    Some(encode_elements(&values))
}
