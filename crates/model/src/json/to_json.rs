//! Wire values as JSON text, as `toJson` and `SELECT JSON` print them.

use super::quote_json;
use crate::literal::format_text;
use crate::temporal::format_timestamp_json;
use crate::types::DataType;
use crate::value::elements::{self, Part};

/// The JSON text of a value. Bytes that are not a value of the type print as null.
pub fn to_json(data_type: &DataType, bytes: &[u8]) -> String {
    let mut out = String::new();
    put_json(&mut out, data_type, bytes);
    out
}

/// Appends the JSON text of a value.
pub fn put_json(out: &mut String, data_type: &DataType, bytes: &[u8]) {
    let start = out.len();
    if put_value(out, data_type, bytes).is_none() {
        out.truncate(start);
        out.push_str("null");
    }
}

fn put_part(out: &mut String, data_type: &DataType, part: Part<'_>) {
    match part {
        Some(bytes) => put_json(out, data_type, bytes),
        None => out.push_str("null"),
    }
}

fn put_value(out: &mut String, data_type: &DataType, bytes: &[u8]) -> Option<()> {
    match data_type {
        DataType::Ascii | DataType::Text => {
            out.push('"');
            quote_json(out, std::str::from_utf8(bytes).ok()?);
            out.push('"');
        }
        // An empty value is an empty string, also where its type prints without quotes.
        _ if bytes.is_empty() && data_type.native_name().is_some() && *data_type != DataType::Blob => {
            out.push_str("\"\"");
        }
        DataType::Boolean
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Counter
        | DataType::VarInt
        | DataType::Decimal => out.push_str(&format_text(data_type, bytes)?),
        DataType::Float | DataType::Double => {
            let text = format_text(data_type, bytes)?;
            // JSON has no such numbers.
            let finite = !matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity");
            out.push_str(if finite { &text } else { "null" });
        }
        DataType::Timestamp => {
            let text = format_timestamp_json(i64::from_be_bytes(bytes.try_into().ok()?));
            put_quoted(out, &text);
        }
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            out.push('[');
            for (i, part) in elements::elements(bytes).ok()?.enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                put_part(out, element, part.ok()?);
            }
            out.push(']');
        }
        DataType::Vector { element, dimensions } => {
            out.push('[');
            for (i, part) in elements::vector_elements(element, *dimensions, bytes).enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                put_json(out, element, part.ok()?);
            }
            out.push(']');
        }
        DataType::Map { key, value, .. } => put_map(out, key, value, bytes)?,
        DataType::Tuple(components) => {
            let mut walk = elements::fields(bytes);
            out.push('[');
            for (i, component) in components.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                put_part(out, component, walk.next_or_null().ok()?);
            }
            out.push(']');
        }
        DataType::Udt(udt) => {
            let mut walk = elements::fields(bytes);
            out.push('{');
            for (i, field) in udt.fields.iter().enumerate() {
                out.push_str(if i > 0 { ", \"" } else { "\"" });
                put_name(out, &field.name);
                out.push_str("\": ");
                put_part(out, &field.data_type, walk.next_or_null().ok()?);
            }
            out.push('}');
        }
        _ => put_quoted(out, &format_text(data_type, bytes)?),
    }
    Some(())
}

fn put_quoted(out: &mut String, text: &str) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// Names with capitals carry their own double quotes, so that reading them back keeps the case.
fn put_name(out: &mut String, name: &str) {
    if name.chars().all(|c| c.to_lowercase().eq([c])) {
        quote_json(out, name);
    } else {
        quote_json(out, &format!("\"{name}\""));
    }
}

/// Keys must be strings in JSON: a key that does not print as one is quoted.
fn put_map(out: &mut String, key: &DataType, value: &DataType, bytes: &[u8]) -> Option<()> {
    out.push('{');
    for (i, entry) in elements::map_entries(bytes).ok()?.enumerate() {
        let (key_part, value_part) = entry.ok()?;
        out.push_str(if i > 0 { ", " } else { "" });
        let mut key_text = String::new();
        put_part(&mut key_text, key, key_part);
        if key_text.starts_with('"') {
            out.push_str(&key_text);
        } else {
            out.push('"');
            quote_json(out, &key_text);
            out.push('"');
        }
        out.push_str(": ");
        put_part(out, value, value_part);
    }
    out.push('}');
    Some(())
}
