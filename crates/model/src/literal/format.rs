//! Wire bytes as text: as a CQL constant (quoted where CQL needs it) and as a plain text (`CAST(x AS text)`).
//!
//! Bytes that are not a value of the type print as a blob constant rather than fail.

use std::fmt::Write;

use num_bigint::BigInt;

use crate::inet;
use crate::number::{Decimal, java_double, java_float};
use crate::temporal::{Duration, format_date, format_time, format_timestamp};
use crate::timeuuid;
use crate::types::{DataType, quote_identifier};
use crate::value::elements::{self, Part};

/// A value as a constant of the language; null and meaningless empty values are `null`.
pub fn format_literal(data_type: &DataType, value: Option<&[u8]>) -> String {
    let mut out = String::new();
    put_literal(&mut out, data_type, value);
    out
}

/// A scalar value as plain text, as a cast to text gives it; `None` for empty values that mean nothing and for
/// bytes that are not a value of the type. Collections and the like have no such text.
pub fn format_text(data_type: &DataType, bytes: &[u8]) -> Option<String> {
    Some(match data_type {
        DataType::Ascii | DataType::Text => std::str::from_utf8(bytes).ok()?.to_string(),
        DataType::Blob | DataType::Custom(_) => format!("0x{}", crate::value::hex(bytes)),
        DataType::Boolean => match bytes {
            [0] => "false".to_string(),
            [_] => "true".to_string(),
            _ => return None,
        },
        DataType::TinyInt => i8::from_be_bytes(bytes.try_into().ok()?).to_string(),
        DataType::SmallInt => i16::from_be_bytes(bytes.try_into().ok()?).to_string(),
        DataType::Int => i32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        DataType::BigInt | DataType::Counter => i64::from_be_bytes(bytes.try_into().ok()?).to_string(),
        DataType::Float => java_float(f32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Double => java_double(f64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::VarInt if bytes.is_empty() => return None,
        DataType::VarInt => BigInt::from_signed_bytes_be(bytes).to_string(),
        DataType::Decimal => Decimal::from_wire(bytes)?.to_string(),
        DataType::Inet => inet::format(bytes)?,
        DataType::Uuid | DataType::TimeUuid => timeuuid::format(bytes.try_into().ok()?),
        DataType::Date => format_date(u32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Time => format_time(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Timestamp => format_timestamp(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Duration => Duration::from_wire(bytes)?.to_string(),
        _ => return None,
    })
}

fn put_literal(out: &mut String, data_type: &DataType, value: Option<&[u8]>) {
    let Some(bytes) = value else {
        out.push_str("null");
        return;
    };
    let start = out.len();
    if put_value(out, data_type, bytes).is_none() {
        out.truncate(start);
        if bytes.is_empty() {
            out.push_str("null");
        } else {
            let _ = write!(out, "0x{}", crate::value::hex(bytes));
        }
    }
}

fn put_value(out: &mut String, data_type: &DataType, bytes: &[u8]) -> Option<()> {
    match data_type {
        DataType::List { element, .. } => put_elements(out, element, bytes, ['[', ']']),
        DataType::Set { element, .. } => put_elements(out, element, bytes, ['{', '}']),
        DataType::Map { key, value, .. } => {
            out.push('{');
            for (i, entry) in elements::map_entries(bytes).ok()?.enumerate() {
                let (key_part, value_part) = entry.ok()?;
                out.push_str(if i > 0 { ", " } else { "" });
                put_literal(out, key, key_part);
                out.push_str(": ");
                put_literal(out, value, value_part);
            }
            out.push('}');
            Some(())
        }
        DataType::Tuple(components) => {
            out.push('(');
            for (i, (component, part)) in components.iter().zip(elements::fields(bytes)).enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                put_literal(out, component, part.ok()?);
            }
            out.push(')');
            Some(())
        }
        DataType::Udt(udt) => {
            out.push('{');
            for (i, (field, part)) in udt.fields.iter().zip(elements::fields(bytes)).enumerate() {
                let separator = if i > 0 { ", " } else { "" };
                let _ = write!(out, "{separator}{}: ", quote_identifier(&field.name));
                put_literal(out, &field.data_type, part.ok()?);
            }
            out.push('}');
            Some(())
        }
        DataType::Vector { element, dimensions } => {
            out.push('[');
            for (i, part) in elements::vector_elements(element, *dimensions, bytes).enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                put_literal(out, element, Some(part.ok()?));
            }
            out.push(']');
            Some(())
        }
        DataType::Ascii | DataType::Text => {
            let _ = write!(out, "'{}'", std::str::from_utf8(bytes).ok()?.replace('\'', "''"));
            Some(())
        }
        DataType::Inet | DataType::Date | DataType::Time | DataType::Timestamp => {
            let _ = write!(out, "'{}'", format_text(data_type, bytes)?);
            Some(())
        }
        _ => {
            out.push_str(&format_text(data_type, bytes)?);
            Some(())
        }
    }
}

fn put_elements(out: &mut String, element: &DataType, bytes: &[u8], brackets: [char; 2]) -> Option<()> {
    let [open, close] = brackets;
    out.push(open);
    for (i, part) in elements::elements(bytes).ok()?.enumerate() {
        let part: Part<'_> = part.ok()?;
        out.push_str(if i > 0 { ", " } else { "" });
        put_literal(out, element, part);
    }
    out.push(close);
    Some(())
}
