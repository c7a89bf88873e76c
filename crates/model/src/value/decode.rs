//! Wire bytes to [`Value`].

use std::net::IpAddr;

use num_bigint::BigInt;

use super::elements::{self, Part};
use super::{Value, ValueError, validate};
use crate::number::Decimal;
use crate::temporal::Duration;
use crate::types::DataType;

impl Value {
    /// Decodes a value; null is `None`. Fails with the sentence of [`validate`] on bytes that are not of the type.
    pub fn decode(data_type: &DataType, bytes: Option<&[u8]>) -> Result<Value, ValueError> {
        let Some(bytes) = bytes else { return Ok(Value::Null) };
        validate(data_type, bytes)?;
        // Valid bytes always decode; the fallback keeps a mistake here from being a panic.
        decode_valid(data_type, bytes).ok_or_else(|| ValueError::new(format!("cannot decode a {data_type}")))
    }
}

fn part(data_type: &DataType, part: Part<'_>) -> Option<Value> {
    match part {
        Some(bytes) => decode_valid(data_type, bytes),
        None => Some(Value::Null),
    }
}

fn decode_valid(data_type: &DataType, bytes: &[u8]) -> Option<Value> {
    // An empty tuple is not a tuple of nulls: it sorts before it.
    let empty_says_nothing = data_type.is_empty_meaningless()
        || matches!(data_type, DataType::Empty | DataType::Tuple(_) | DataType::Udt(_));
    if bytes.is_empty() && empty_says_nothing {
        return Some(Value::Empty);
    }
    Some(match data_type {
        DataType::Ascii | DataType::Text => Value::Text(std::str::from_utf8(bytes).ok()?.to_string()),
        DataType::Blob | DataType::Custom(_) => Value::Blob(bytes.to_vec()),
        DataType::Boolean => Value::Boolean(*bytes.first()? != 0),
        DataType::TinyInt => Value::TinyInt(i8::from_be_bytes(bytes.try_into().ok()?)),
        DataType::SmallInt => Value::SmallInt(i16::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Int => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::BigInt => Value::BigInt(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Counter => Value::Counter(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::VarInt => Value::VarInt(BigInt::from_signed_bytes_be(bytes)),
        DataType::Decimal => Value::Decimal(Decimal::from_wire(bytes)?),
        DataType::Float => Value::Float(f32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Double => Value::Double(f64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Inet => Value::Inet(match <[u8; 4]>::try_from(bytes) {
            Ok(address) => IpAddr::from(address),
            Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
        }),
        DataType::Uuid => Value::Uuid(bytes.try_into().ok()?),
        DataType::TimeUuid => Value::TimeUuid(bytes.try_into().ok()?),
        DataType::Date => Value::Date(u32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Time => Value::Time(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Timestamp => Value::Timestamp(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Duration => Value::Duration(Duration::from_wire(bytes)?),
        DataType::Empty => Value::Empty,
        DataType::List { element, .. } => Value::List(all(element, bytes)?),
        DataType::Set { element, .. } => Value::Set(all(element, bytes)?),
        DataType::Map { key, value, .. } => {
            let entries = elements::map_entries(bytes).ok()?.map(|entry| {
                let (key_part, value_part) = entry.ok()?;
                Some((part(key, key_part)?, part(value, value_part)?))
            });
            Value::Map(entries.collect::<Option<_>>()?)
        }
        DataType::Tuple(components) => {
            let mut walk = elements::fields(bytes);
            let parts = components.iter().map(|component| part(component, walk.next_or_null().ok()?));
            Value::Tuple(parts.collect::<Option<_>>()?)
        }
        DataType::Udt(udt) => {
            let mut walk = elements::fields(bytes);
            let fields = udt
                .fields
                .iter()
                .map(|field| Some((field.name.clone(), part(&field.data_type, walk.next_or_null().ok()?)?)));
            Value::Udt(fields.collect::<Option<_>>()?)
        }
        DataType::Vector { element, dimensions } => {
            let parts = elements::vector_elements(element, *dimensions, bytes);
            Value::Vector(parts.map(|part| decode_valid(element, part.ok()?)).collect::<Option<_>>()?)
        }
    })
}

fn all(element: &DataType, bytes: &[u8]) -> Option<Vec<Value>> {
    elements::elements(bytes).ok()?.map(|item| part(element, item.ok()?)).collect()
}
