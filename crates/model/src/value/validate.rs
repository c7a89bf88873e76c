//! Checks that bytes from a client are a value of a type, with Cassandra's rules and sentences.
//!
//! Guarantees: after `validate` succeeds, every other function of this crate accepts the bytes. Text is checked
//! as strict UTF-8; Cassandra's checker lets a few ill-formed sequences pass that its own reader then refuses.

use super::elements::{self, Part, Truncated};
use super::error::invalid;
use super::{ValueError, wire_vint};
use crate::number::check_number;
use crate::types::{DataType, UdtType};

/// Most elements of a list, set or map in one value. A value is checked, sorted and written as a whole.
pub const ITEMS_MAX: usize = 65_536;

/// `Ok` when `bytes` is a value of `data_type`. Null is not bytes: callers handle it before.
pub fn validate(data_type: &DataType, bytes: &[u8]) -> Result<(), ValueError> {
    let len = bytes.len();
    match data_type {
        DataType::Blob | DataType::Custom(_) => Ok(()),
        DataType::VarInt => check_number(data_type, bytes),
        DataType::Text => {
            std::str::from_utf8(bytes).map(|_| ()).map_err(|_| ValueError::new("String didn't validate."))
        }
        DataType::Ascii => match bytes.iter().find(|byte| !byte.is_ascii()) {
            Some(&byte) => invalid!("Invalid byte for ascii: {}", byte as i8),
            None => Ok(()),
        },
        DataType::Int => sized(len == 4 || len == 0, "Expected 4 or 0 byte int", len),
        DataType::BigInt | DataType::Counter => sized(len == 8 || len == 0, "Expected 8 or 0 byte long", len),
        DataType::Timestamp => sized(len == 8 || len == 0, "Expected 8 or 0 byte long for date", len),
        DataType::Double => sized(len == 8 || len == 0, "Expected 8 or 0 byte value for a double", len),
        DataType::Float => sized(len == 4 || len == 0, "Expected 4 or 0 byte value for a float", len),
        DataType::Boolean => sized(len <= 1, "Expected 1 or 0 byte value", len),
        DataType::TinyInt => sized(len == 1, "Expected 1 byte for a tinyint", len),
        DataType::SmallInt => sized(len == 2, "Expected 2 bytes for a smallint", len),
        DataType::Date => sized(len == 4, "Expected 4 byte long for date", len),
        DataType::Time => sized(len == 8, "Expected 8 byte long for time", len),
        DataType::Decimal => {
            sized(len == 0 || len >= 4, "Expected 0 or at least 4 bytes", len)?;
            check_number(data_type, bytes)
        }
        DataType::Uuid => sized(len == 16 || len == 0, "UUID should be 16 or 0 bytes", len),
        DataType::TimeUuid => validate_timeuuid(bytes),
        DataType::Inet => match len {
            0 | 4 | 16 => Ok(()),
            _ => invalid!("Expected 4 or 16 byte inetaddress; got {}", hex(bytes)),
        },
        DataType::Duration => validate_duration(bytes),
        DataType::Empty => {
            if len == 0 {
                Ok(())
            } else {
                Err(ValueError::new("EmptyType only accept empty values"))
            }
        }
        DataType::List { element, .. } => validate_elements(element, bytes, "list"),
        DataType::Set { element, .. } => validate_elements(element, bytes, "set"),
        DataType::Map { key, value, .. } => validate_map(key, value, bytes),
        DataType::Tuple(components) => validate_tuple(components, bytes),
        DataType::Udt(udt) => validate_udt(udt, bytes),
        DataType::Vector { element, dimensions } => validate_vector(data_type, element, *dimensions, bytes),
    }
}

/// Whether the bytes are seen to be a value of the type, in its one form, at a glance: what nearly every bound value is.
/// `false` says nothing; ask [`validate`] and [`super::canonical`] then.
#[inline]
pub fn is_plain_value(data_type: &DataType, bytes: &[u8]) -> bool {
    let len = match data_type {
        DataType::Blob => return true,
        DataType::Text => return std::str::from_utf8(bytes).is_ok(),
        DataType::Int | DataType::Float | DataType::Date => 4,
        DataType::BigInt | DataType::Counter | DataType::Timestamp | DataType::Double | DataType::Time => 8,
        DataType::Uuid => 16,
        _ => return false,
    };
    bytes.len() == len
}

fn sized(ok: bool, expectation: &str, len: usize) -> Result<(), ValueError> {
    if ok { Ok(()) } else { invalid!("{expectation} ({len})") }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn validate_timeuuid(bytes: &[u8]) -> Result<(), ValueError> {
    if bytes.is_empty() {
        return Ok(());
    }
    let Ok(uuid) = <&[u8; 16]>::try_from(bytes) else {
        return invalid!("UUID should be 16 or 0 bytes ({})", bytes.len());
    };
    // Cassandra prints a nibble of the first byte here, not the version; kept, because clients see the sentence.
    if uuid[6] >> 4 == 1 {
        Ok(())
    } else {
        invalid!("Invalid version for TimeUUID type: 0x{:x}", uuid[0] >> 4)
    }
}

fn validate_duration(bytes: &[u8]) -> Result<(), ValueError> {
    let len = bytes.len();
    let short = || ValueError::new(format!("Expected at least 3 bytes for a duration ({len})"));
    if len < 3 {
        return Err(short());
    }
    let (months, rest) = wire_vint::take_signed(bytes).ok_or_else(short)?;
    let (days, rest) = wire_vint::take_signed(rest).ok_or_else(short)?;
    let (nanos, _) = wire_vint::take_signed(rest).ok_or_else(short)?;
    if i32::try_from(months).is_err() {
        return invalid!("The duration months must be a 32 bits integer but was: {months}");
    }
    if i32::try_from(days).is_err() {
        return invalid!("The duration days must be a 32 bits integer but was: {days}");
    }
    let parts = [months, days, nanos];
    if parts.iter().any(|&part| part < 0) && parts.iter().any(|&part| part > 0) {
        return invalid!(
            "The duration months, days and nanoseconds must be all of the same sign ({months}, {days}, {nanos})"
        );
    }
    Ok(())
}

fn not_null(part: Part<'_>) -> Result<&[u8], ValueError> {
    part.ok_or_else(|| ValueError::new("Null value read when not allowed"))
}

fn truncated(kind: &str) -> impl Fn(Truncated) -> ValueError {
    move |_| ValueError::new(format!("Not enough bytes to read a {kind}"))
}

/// A negative count is its own mistake, told apart from missing bytes.
fn check_count(bytes: &[u8], kind: &str) -> Result<(), ValueError> {
    let negative = bytes.len() >= 4 && bytes.first().is_some_and(|first| *first >= 0x80);
    if negative {
        return invalid!("The data cannot be deserialized as a {kind}");
    }
    let count = bytes.first_chunk::<4>().map_or(0, |count| u32::from_be_bytes(*count) as usize);
    // A count that the bytes cannot hold is another mistake, told by whoever reads them.
    if count > ITEMS_MAX && bytes.len() / 4 > count {
        return invalid!(
            "Guardrail items_per_collection violated: a {kind} has {count} items, this exceeds fail threshold of \
             {ITEMS_MAX}. Add the items in several statements"
        );
    }
    Ok(())
}

fn validate_elements(element: &DataType, bytes: &[u8], kind: &str) -> Result<(), ValueError> {
    check_count(bytes, kind)?;
    let mut walk = elements::elements(bytes).map_err(truncated(kind))?;
    let mut null_seen = false;
    for part in &mut walk {
        match part.map_err(truncated(kind))? {
            // Missing bytes further on are reported before a null, as Cassandra does for lists.
            None if kind == "list" => null_seen = true,
            part => validate(element, not_null(part)?)?,
        }
    }
    if null_seen {
        return not_null(None).map(|_| ());
    }
    no_rest(walk.rest(), kind)
}

fn validate_map(key: &DataType, value: &DataType, bytes: &[u8]) -> Result<(), ValueError> {
    check_count(bytes, "map")?;
    let mut walk = elements::map_parts(bytes).map_err(truncated("map"))?;
    let mut is_key = true;
    for part in &mut walk {
        let part = not_null(part.map_err(truncated("map"))?)?;
        validate(if is_key { key } else { value }, part)?;
        is_key = !is_key;
    }
    no_rest(walk.rest(), "map")
}

fn no_rest(rest: &[u8], kind: &str) -> Result<(), ValueError> {
    if rest.is_empty() { Ok(()) } else { invalid!("Unexpected extraneous bytes after {kind} value") }
}

fn validate_tuple(components: &[DataType], bytes: &[u8]) -> Result<(), ValueError> {
    let mut walk = elements::fields(bytes);
    for (i, component) in components.iter().enumerate() {
        let before = walk.rest().len();
        let size = if before < 4 { "size of " } else { "" };
        let part = walk.next_or_null();
        let part =
            part.map_err(|_| ValueError::new(format!("Not enough bytes to read {size}{i}th component")))?;
        if let Some(value) = part {
            validate(component, value)?;
        }
    }
    if walk.rest().is_empty() { Ok(()) } else { invalid!("Invalid remaining data after end of tuple value") }
}

fn validate_udt(udt: &UdtType, bytes: &[u8]) -> Result<(), ValueError> {
    let mut walk = elements::fields(bytes);
    for (i, field) in udt.fields.iter().enumerate() {
        let name = &field.name;
        let before = walk.rest().len();
        let size = if before < 4 { "size of " } else { "" };
        let part = walk.next_or_null();
        let part =
            part.map_err(|_| ValueError::new(format!("Not enough bytes to read {size}{i}th field {name}")))?;
        if let Some(value) = part {
            validate(&field.data_type, value).map_err(|inner| {
                ValueError::new(format!("Failure validating the {i}th field {name}; {inner}"))
            })?;
        }
    }
    if walk.rest().is_empty() { Ok(()) } else { invalid!("Invalid remaining data after end of UDT value") }
}

fn validate_vector(
    data_type: &DataType,
    element: &DataType,
    dimensions: u32,
    bytes: &[u8],
) -> Result<(), ValueError> {
    if bytes.is_empty() {
        return invalid!("Invalid empty vector value");
    }
    if data_type.fixed_len().is_some_and(|len| bytes.len() < len) {
        return invalid!("Not enough bytes to read a {data_type}");
    }
    let mut walk = elements::vector_elements(element, dimensions, bytes);
    for (i, part) in walk.by_ref().enumerate() {
        let part = part.map_err(|_| ValueError::new(format!("Not enough bytes to read a {data_type}")))?;
        if part.is_empty() && element.is_empty_meaningless() {
            return invalid!("Element at index {i} is null (expected type {element})");
        }
        validate(element, part)?;
    }
    match walk.rest().len() {
        0 => Ok(()),
        extra => invalid!("Unexpected {extra} extraneous bytes after {data_type} value"),
    }
}
