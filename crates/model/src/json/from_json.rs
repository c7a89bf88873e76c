//! JSON values as wire values, with Cassandra's coercions and sentences.

use super::JsonValue;
use crate::literal::{hex_to_wire, parse_big_integer, text_to_wire};
use crate::number::Decimal;
use crate::types::{DataType, UdtType};
use crate::value::error::invalid;
use crate::value::{ValueError, encode_elements, encode_fields, encode_map, encode_set, encode_vector};
use std::collections::{HashMap, HashSet};

/// Wire bytes of a JSON value that is not null. `now_millis` is what the string `now` means for a timestamp.
pub fn from_json(data_type: &DataType, json: &JsonValue, now_millis: i64) -> Result<Vec<u8>, ValueError> {
    match data_type {
        DataType::List { .. }
        | DataType::Set { .. }
        | DataType::Map { .. }
        | DataType::Tuple(_)
        | DataType::Udt(_)
        | DataType::Vector { .. } => match json {
            // A structured value may come as a string that holds JSON.
            JsonValue::String(text) => match JsonValue::parse(text) {
                Ok(inner) => structured(data_type, &inner, now_millis),
                Err(error) => invalid!("Error decoding JSON string: {error}"),
            },
            _ => structured(data_type, json, now_millis),
        },
        _ => scalar(data_type, json, now_millis),
    }
}

fn expected<T>(what: &str, json: &JsonValue) -> Result<T, ValueError> {
    invalid!("Expected {what}, but got a {}: {json}", json.java_class())
}

fn scalar(data_type: &DataType, json: &JsonValue, now_millis: i64) -> Result<Vec<u8>, ValueError> {
    let text = |text: &str| text_to_wire(data_type, text, now_millis);
    match (data_type, json) {
        (DataType::Blob | DataType::Custom(_), json) => blob(json),
        (DataType::Counter, json) => expected("no value for a counter", json),
        (DataType::VarInt, json) => match parse_big_integer(&json.to_string()) {
            Some(number) => Ok(number.to_signed_bytes_be()),
            None => invalid!("Value '{json}' is not a valid representation of a varint value"),
        },
        (DataType::Decimal, json) => decimal(json),
        (_, JsonValue::String(string)) => text(string),
        (DataType::Boolean, JsonValue::Boolean(value)) => Ok(vec![u8::from(*value)]),
        (DataType::Boolean, json) => expected("a boolean value", json),
        (
            DataType::TinyInt | DataType::SmallInt,
            number @ (JsonValue::Integer(_) | JsonValue::BigInteger(_) | JsonValue::Double(_)),
        ) => text(&number.to_string()),
        (DataType::TinyInt, json) => expected("a byte value", json),
        (DataType::SmallInt, json) => expected("a short value", json),
        (DataType::Int, JsonValue::Integer(number)) => match i32::try_from(*number) {
            Ok(number) => Ok(number.to_be_bytes().to_vec()),
            Err(_) => expected("an int value", json),
        },
        (DataType::Int, json) => expected("an int value", json),
        (DataType::BigInt, JsonValue::Integer(number)) => Ok(number.to_be_bytes().to_vec()),
        (DataType::BigInt, json) => expected("a bigint value", json),
        (DataType::Float, json) => match number_as_f64(json) {
            Some(NumberText::Double(number)) => Ok((number as f32).to_be_bytes().to_vec()),
            Some(NumberText::Digits(digits)) => text(&digits),
            None => expected("a float value", json),
        },
        (DataType::Double, json) => match number_as_f64(json) {
            Some(NumberText::Double(number)) => Ok(number.to_be_bytes().to_vec()),
            Some(NumberText::Digits(digits)) => text(&digits),
            None => expected("a double value", json),
        },
        // Small integers are not taken, which is Cassandra's quirk: only those beyond 32 bits count as long.
        (DataType::Timestamp, JsonValue::Integer(number)) if i32::try_from(*number).is_err() => {
            Ok(number.to_be_bytes().to_vec())
        }
        (data_type, json) => expected(expectation(data_type), json),
    }
}

fn expectation(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Ascii => "an ascii string",
        DataType::Text => "a UTF-8 string",
        DataType::Timestamp => "a long or a datestring representation of a timestamp value",
        DataType::Date => "a string representation of a date value",
        DataType::Time => "a string representation of a time value",
        DataType::Inet => "a string representation of an inet value",
        DataType::Uuid => "a string representation of a uuid",
        DataType::TimeUuid => "a string representation of a timeuuid",
        DataType::Duration => "a string representation of a duration",
        _ => "an empty string",
    }
}

enum NumberText {
    Double(f64),
    Digits(String),
}

/// Integers are read from their digits, so that they round once.
fn number_as_f64(json: &JsonValue) -> Option<NumberText> {
    match json {
        JsonValue::Double(number) => Some(NumberText::Double(*number)),
        JsonValue::Integer(number) => Some(NumberText::Digits(number.to_string())),
        JsonValue::BigInteger(digits) => Some(NumberText::Digits(digits.clone())),
        _ => None,
    }
}

fn blob(json: &JsonValue) -> Result<Vec<u8>, ValueError> {
    let JsonValue::String(text) = json else {
        let class = json.java_class();
        let package = match json {
            JsonValue::List(_) | JsonValue::Object(_) => "util",
            JsonValue::BigInteger(_) => "math",
            _ => "lang",
        };
        return invalid!(
            "Value '{json}' is not a valid blob representation: class java.{package}.{class} cannot be cast to class \
             java.lang.String (java.{package}.{class} and java.lang.String are in module java.base of loader 'bootstrap')"
        );
    };
    let bytes = match text.strip_prefix("0x") {
        Some(digits) => hex_to_wire(digits),
        None => invalid!("String representation of blob is missing 0x prefix: {text}"),
    };
    bytes.map_err(|error| {
        ValueError::new(format!("Value '{json}' is not a valid blob representation: {error}"))
    })
}

/// A fraction has been a double on the way, so its digits are those of the double.
fn decimal(json: &JsonValue) -> Result<Vec<u8>, ValueError> {
    let text = json.to_string();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    match Decimal::parse(&text) {
        Some(decimal) => Ok(decimal.to_wire()),
        None => invalid!("Value '{json}' is not a valid representation of a decimal value"),
    }
}

fn structured(data_type: &DataType, json: &JsonValue, now_millis: i64) -> Result<Vec<u8>, ValueError> {
    let all = |element: &DataType, items: &[JsonValue], kind: &str| -> Result<Vec<Vec<u8>>, ValueError> {
        let one = |item: &JsonValue| match item {
            JsonValue::Null => invalid!("Invalid null element in {kind}"),
            item => from_json(element, item, now_millis),
        };
        items.iter().map(one).collect()
    };
    match (data_type, json) {
        (DataType::List { element, .. }, JsonValue::List(items)) => {
            Ok(encode_elements(all(element, items, "list")?))
        }
        (DataType::List { .. }, json) => expected("a list", json),
        (DataType::Set { element, .. }, JsonValue::List(items)) => {
            Ok(encode_set(element, all(element, items, "set")?))
        }
        (DataType::Set { .. }, json) => expected("a list (representing a set)", json),
        (DataType::Vector { element, dimensions }, JsonValue::List(items)) => {
            if items.len() != *dimensions as usize {
                let given = items.len();
                return invalid!("List had incorrect size: expected {dimensions} but given {given}; {json}");
            }
            Ok(encode_vector(element, all(element, items, "list")?))
        }
        (DataType::Vector { .. }, json) => expected("a list", json),
        (DataType::Map { key, value, .. }, JsonValue::Object(entries)) => {
            let one = |(name, item): &(String, JsonValue)| -> Result<(Vec<u8>, Vec<u8>), ValueError> {
                if *item == JsonValue::Null {
                    return invalid!("Invalid null value in map");
                }
                let name = from_json(key, &JsonValue::String(name.clone()), now_millis)?;
                Ok((name, from_json(value, item, now_millis)?))
            };
            Ok(encode_map(key, entries.iter().map(one).collect::<Result<_, _>>()?))
        }
        (DataType::Map { .. }, json) => expected("a map", json),
        (DataType::Tuple(components), JsonValue::List(items)) => tuple(components, items, json, now_millis),
        (DataType::Tuple(_), json) => expected("a list representation of a tuple", json),
        (DataType::Udt(udt), JsonValue::Object(entries)) => udt_value(udt, entries, now_millis),
        (_, json) => expected("a map", json),
    }
}

fn tuple(
    components: &[DataType],
    items: &[JsonValue],
    json: &JsonValue,
    now_millis: i64,
) -> Result<Vec<u8>, ValueError> {
    let arity = components.len();
    if items.len() > arity {
        return invalid!("Tuple contains extra items (expected {arity}): {json}");
    }
    if items.len() < arity {
        return invalid!("Tuple is missing items (expected {arity}): {json}");
    }
    let parts = components.iter().zip(items).map(|(component, item)| optional(component, item, now_millis));
    Ok(encode_fields(parts.collect::<Result<Vec<_>, _>>()?))
}

fn optional(data_type: &DataType, json: &JsonValue, now_millis: i64) -> Result<Option<Vec<u8>>, ValueError> {
    match json {
        JsonValue::Null => Ok(None),
        json => from_json(data_type, json, now_millis).map(Some),
    }
}

fn udt_value(udt: &UdtType, entries: &[(String, JsonValue)], now_millis: i64) -> Result<Vec<u8>, ValueError> {
    let keys = case_folded_keys(entries);
    let known: HashSet<&str> = udt.fields.iter().map(|field| &*field.name).collect();
    if let Some((unknown, _)) = keys.iter().find(|(name, _)| !known.contains(name.as_str())) {
        return invalid!("Unknown field '{unknown}' in value of user defined type {}", udt.name);
    }
    let given: HashMap<&str, &JsonValue> = keys.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let parts = udt.fields.iter().map(|field| {
        optional(&field.data_type, given.get(&*field.name).unwrap_or(&&JsonValue::Null), now_millis)
    });
    Ok(encode_fields(parts.collect::<Result<Vec<_>, _>>()?))
}

/// Keys as CQL names: double quotes around a key keep its case and fall away, other keys become lower case. Of keys
/// that become equal the later wins.
pub fn case_folded_keys(entries: &[(String, JsonValue)]) -> Vec<(String, &JsonValue)> {
    let mut folded: Vec<(String, &JsonValue)> = Vec::with_capacity(entries.len());
    let mut places: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    for (key, value) in entries {
        let inner = key.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let name = inner.map_or_else(|| key.to_lowercase(), str::to_string);
        match places.get(&name).and_then(|at| folded.get_mut(*at)) {
            Some(known) => known.1 = value,
            None => {
                places.insert(name.clone(), folded.len());
                folded.push((name, value));
            }
        }
    }
    folded
}
