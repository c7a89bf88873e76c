//! The text of a constant as wire bytes of a type.

use num_bigint::BigInt;

use super::composite::class_text_to_wire;
use crate::inet;
use crate::number::{Decimal, NUMBER_DIGITS_MAX, check_digits, parse_java_double, parse_java_float};
use crate::temporal::{Duration, parse_date, parse_time, parse_timestamp};
use crate::timeuuid;
use crate::types::DataType;
use crate::value::ValueError;
use crate::value::error::invalid;

/// Reads a text as a value of a type. For most types an empty text is the empty value.
pub fn text_to_wire(data_type: &DataType, text: &str, now_millis: i64) -> Result<Vec<u8>, ValueError> {
    // The others have no empty value; a boolean reads an empty text as false.
    let empty_is_empty = !matches!(
        data_type,
        DataType::Boolean
            | DataType::Date
            | DataType::Time
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Duration
    );
    if text.is_empty() && empty_is_empty {
        return Ok(Vec::new());
    }
    match data_type {
        DataType::Text => Ok(text.as_bytes().to_vec()),
        DataType::Ascii => ascii(text),
        DataType::Custom(class) => class_text_to_wire(class, text, now_millis),
        DataType::Blob
        | DataType::List { .. }
        | DataType::Set { .. }
        | DataType::Map { .. }
        | DataType::Tuple(_)
        | DataType::Udt(_)
        | DataType::Vector { .. } => hex_to_wire(text),
        DataType::Boolean => boolean(text),
        DataType::TinyInt => integer::<i8>(text, "byte").map(|n| n.to_be_bytes().to_vec()),
        DataType::SmallInt => integer::<i16>(text, "short").map(|n| n.to_be_bytes().to_vec()),
        DataType::Int => integer::<i32>(text, "int").map(|n| n.to_be_bytes().to_vec()),
        DataType::BigInt | DataType::Counter => {
            integer::<i64>(text, "long").map(|n| n.to_be_bytes().to_vec())
        }
        DataType::VarInt | DataType::Decimal if !check_digits(text) => {
            invalid!("A {data_type} may have at most {NUMBER_DIGITS_MAX} digits")
        }
        DataType::VarInt => match parse_big_integer(text) {
            Some(number) => Ok(number.to_signed_bytes_be()),
            None => invalid!("unable to make int from '{text}'"),
        },
        DataType::Decimal => match Decimal::parse(text) {
            Some(decimal) => Ok(decimal.to_wire()),
            None => invalid!("unable to make BigDecimal from '{text}'"),
        },
        DataType::Float => match parse_java_float(text) {
            Some(number) => Ok(canonical_nan_f32(number).to_be_bytes().to_vec()),
            None => invalid!("Unable to make float from '{text}'"),
        },
        DataType::Double => match parse_java_double(text) {
            Some(number) => Ok(canonical_nan_f64(number).to_be_bytes().to_vec()),
            None => invalid!("Unable to make double from '{text}'"),
        },
        DataType::Inet => match inet::parse(text) {
            Some(address) => Ok(address),
            None => invalid!("Unable to make inet address from '{text}'"),
        },
        DataType::Date => parse_date(text).map(|days| days.to_be_bytes().to_vec()),
        DataType::Time => parse_time(text).map(|nanos| nanos.to_be_bytes().to_vec()),
        DataType::Timestamp => parse_timestamp(text, now_millis).map(|millis| millis.to_be_bytes().to_vec()),
        DataType::Duration => Duration::parse(text).map(Duration::to_wire),
        DataType::Uuid => match timeuuid::parse(text) {
            Some(uuid) => Ok(uuid.to_vec()),
            None => invalid!("Unable to make UUID from '{text}'"),
        },
        DataType::TimeUuid => match timeuuid::parse(text) {
            Some(uuid) if timeuuid::version(&uuid) == 1 => Ok(uuid.to_vec()),
            Some(_) => invalid!("TimeUUID supports only version 1 UUIDs"),
            None => invalid!("Unknown timeuuid representation: {text}"),
        },
        DataType::Empty => invalid!("'{text}' is not empty"),
    }
}

fn ascii(text: &str) -> Result<Vec<u8>, ValueError> {
    match text.chars().find(|c| !c.is_ascii()) {
        None => Ok(text.as_bytes().to_vec()),
        Some(c) => invalid!(
            "Invalid ASCII character in string literal: java.nio.charset.UnmappableCharacterException: \
             Input length = {}",
            c.len_utf16()
        ),
    }
}

fn boolean(text: &str) -> Result<Vec<u8>, ValueError> {
    if text.is_empty() || text.eq_ignore_ascii_case("false") {
        Ok(vec![0])
    } else if text.eq_ignore_ascii_case("true") {
        Ok(vec![1])
    } else {
        invalid!("Unable to make boolean from '{text}'")
    }
}

fn integer<N: std::str::FromStr>(text: &str, java_type: &str) -> Result<N, ValueError> {
    text.parse().map_err(|_| ValueError::new(format!("Unable to make {java_type} from '{text}'")))
}

/// A sign or none, then digits: what Java's `BigInteger` reads.
pub(crate) fn parse_big_integer(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !check_digits(text) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = BigInt::parse_bytes(digits.as_bytes(), 10)?;
    Some(if text.starts_with('-') { -number } else { number })
}

/// Bytes of a hex text without the leading `0x`.
pub(crate) fn hex_to_wire(text: &str) -> Result<Vec<u8>, ValueError> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    match bytes {
        Some(bytes) if odd.is_empty() => Ok(bytes),
        _ => invalid!("cannot parse '{text}' as hex bytes"),
    }
}

/// Java has one NaN when it parses.
fn canonical_nan_f32(number: f32) -> f32 {
    if number.is_nan() { f32::from_bits(0x7fc0_0000) } else { number }
}

fn canonical_nan_f64(number: f64) -> f64 {
    if number.is_nan() { f64::from_bits(0x7ff8_0000_0000_0000) } else { number }
}
