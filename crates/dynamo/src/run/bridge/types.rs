//! CQL values as attribute values, and back.
//!
//! Text, ascii and everything that CQL writes as text (uuid, timestamp, date, time, inet) is S, numbers are N, blob is B, boolean is BOOL;
//! a set of strings, numbers or blobs is SS, NS or BS; lists, vectors, tuples and other sets are L; maps and user-defined types are M.
//! A number that the API cannot hold (NaN, infinities, more than 38 digits) is shown as S, and taken back as such.

use crate::json::{decode_base64, encode_base64};
use crate::number::Number;
use crate::table::KeyType;
use crate::value::{Item, Value};
use model::json::to_json;
use model::literal::text_to_wire;
use model::number::Decimal;
use model::types::DataType;
use model::value::elements::{elements, fields, map_entries, vector_elements};
use model::value::{encode_elements, encode_fields, encode_map, encode_set, encode_vector};

/// The type of a key column, if a key of the API can be made of it.
pub fn key_type(data_type: &DataType) -> Option<KeyType> {
    use DataType::*;
    match data_type {
        Ascii | Text | Uuid | TimeUuid | Timestamp | Date | Time | Inet => Some(KeyType::S),
        TinyInt | SmallInt | Int | BigInt | VarInt | Decimal => Some(KeyType::N),
        Blob => Some(KeyType::B),
        _ => None,
    }
}

/// Whether values of a type have a form in the API.
pub fn has_form(data_type: &DataType) -> bool {
    match data_type {
        DataType::Counter | DataType::Duration | DataType::Empty | DataType::Custom(_) => false,
        DataType::List { element, .. } | DataType::Set { element, .. } | DataType::Vector { element, .. } => {
            has_form(element)
        }
        DataType::Map { key, value, .. } => has_form(key) && has_form(value),
        DataType::Tuple(parts) => parts.iter().all(has_form),
        DataType::Udt(udt) => udt.fields.iter().all(|field| has_form(&field.data_type)),
        _ => true,
    }
}

/// A stored value as an attribute; `None`: it means nothing (an empty value of a type that has none), or is damaged.
pub fn to_value(data_type: &DataType, bytes: &[u8]) -> Option<Value> {
    if bytes.is_empty() && !matches!(data_type, DataType::Text | DataType::Ascii | DataType::Blob) {
        return None;
    }
    match data_type {
        DataType::Text | DataType::Ascii => Some(Value::S(std::str::from_utf8(bytes).ok()?.to_string())),
        DataType::Blob => Some(Value::B(bytes.to_vec())),
        DataType::Boolean => Some(Value::Bool(bytes != [0])),
        DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::VarInt
        | DataType::Decimal => Some(number_or_text(plain(data_type, bytes))),
        DataType::Float => Some(float(f32::from_be_bytes(bytes.try_into().ok()?))),
        DataType::Double => Some(float(f64::from_be_bytes(bytes.try_into().ok()?))),
        DataType::List { element, .. } => {
            let parts = elements(bytes).ok()?;
            parts.map(|part| part_value(element, part.ok()?)).collect::<Option<_>>().map(Value::L)
        }
        DataType::Set { element, .. } => {
            let parts = elements(bytes).ok()?;
            set_of(parts.map(|part| part_value(element, part.ok()?)).collect::<Option<_>>()?)
        }
        DataType::Map { key, value, .. } => {
            let mut map = Item::new();
            for entry in map_entries(bytes).ok()? {
                let (name, part) = entry.ok()?;
                map.insert(name_of(to_value(key, name?)?), part_value(value, part)?);
            }
            Some(Value::M(map))
        }
        DataType::Tuple(types) => {
            let mut walk = fields(bytes);
            let part = |of: &DataType| part_value(of, walk.next_or_null().ok()?);
            types.iter().map(part).collect::<Option<_>>().map(Value::L)
        }
        DataType::Udt(udt) => {
            let mut walk = fields(bytes);
            let mut map = Item::new();
            for field in udt.fields.iter() {
                if let Some(part) = walk.next_or_null().ok()? {
                    map.insert(&*field.name, to_value(&field.data_type, part).unwrap_or(Value::Null));
                }
            }
            Some(Value::M(map))
        }
        DataType::Vector { element, dimensions } => {
            let parts = vector_elements(element, *dimensions, bytes);
            parts.map(|part| to_value(element, part.ok()?)).collect::<Option<_>>().map(Value::L)
        }
        _ => Some(Value::S(plain(data_type, bytes))),
    }
}

fn part_value(data_type: &DataType, part: Option<&[u8]>) -> Option<Value> {
    Some(part.and_then(|part| to_value(data_type, part)).unwrap_or(Value::Null))
}

fn number_or_text(text: String) -> Value {
    Number::parse(&text).map_or_else(|_| Value::S(text), Value::N)
}

/// The shortest digits that mean this number.
fn float<F: std::fmt::LowerExp + Into<f64> + Copy>(value: F) -> Value {
    let wide: f64 = value.into();
    match wide {
        _ if wide.is_nan() => Value::S("NaN".into()),
        f64::INFINITY => Value::S("Infinity".into()),
        f64::NEG_INFINITY => Value::S("-Infinity".into()),
        _ => number_or_text(format!("{value:e}")),
    }
}

/// The JSON form without quotes: what CQL prints.
fn plain(data_type: &DataType, bytes: &[u8]) -> String {
    let text = to_json(data_type, bytes);
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(str::to_string).unwrap_or(text)
}

fn set_of(values: Vec<Value>) -> Option<Value> {
    let all = |is: fn(&Value) -> bool| values.iter().all(is);
    if all(|value| matches!(value, Value::S(_))) {
        let mut strings: Vec<String> = values
            .into_iter()
            .filter_map(|value| if let Value::S(text) = value { Some(text) } else { None })
            .collect();
        strings.sort_unstable();
        return Some(Value::Ss(strings));
    }
    if all(|value| matches!(value, Value::N(_))) {
        let mut numbers: Vec<Number> = values
            .into_iter()
            .filter_map(|value| if let Value::N(number) = value { Some(number) } else { None })
            .collect();
        numbers.sort_unstable();
        return Some(Value::Ns(numbers));
    }
    if all(|value| matches!(value, Value::B(_))) {
        let mut blobs: Vec<Vec<u8>> = values
            .into_iter()
            .filter_map(|value| if let Value::B(bytes) = value { Some(bytes) } else { None })
            .collect();
        blobs.sort_unstable();
        return Some(Value::Bs(blobs));
    }
    Some(Value::L(values))
}

/// A key of a map as the name of an attribute.
fn name_of(key: Value) -> String {
    let mut out = Vec::new();
    match key {
        Value::S(text) => return text,
        Value::N(number) => return number.to_string(),
        Value::B(bytes) => encode_base64(&bytes, &mut out),
        Value::Bool(truth) => return truth.to_string(),
        other => crate::json::write_value(&other, &mut out),
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// An attribute as a value of a column; `None` is null. The error says what does not fit.
pub fn from_value(data_type: &DataType, value: &Value) -> Result<Option<Vec<u8>>, String> {
    let misfit = || Err(format!("a value of type {} cannot be a {data_type}", value.kind().name()));
    let from_text = |text: &str| match text_to_wire(data_type, text, 0) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) => Err(error.to_string()),
    };
    match (data_type, value) {
        (_, Value::Null) => Ok(None),
        (DataType::Blob, Value::B(bytes)) => Ok(Some(bytes.clone())),
        (DataType::Boolean, Value::Bool(truth)) => Ok(Some(vec![u8::from(*truth)])),
        (DataType::Decimal, Value::N(number)) => {
            Ok(Decimal::parse(&number.to_string()).map(|decimal| decimal.to_wire()))
        }
        (DataType::Float, Value::N(number)) => Ok(Some((number.to_f64() as f32).to_be_bytes().to_vec())),
        (DataType::Double, Value::N(number)) => Ok(Some(number.to_f64().to_be_bytes().to_vec())),
        (DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt, Value::N(number)) => {
            from_text(&number.to_string())
        }
        (DataType::VarInt, Value::N(number)) => match Decimal::parse(&number.to_string()) {
            Some(decimal) if !number.to_string().contains('.') => match decimal.to_integer() {
                Ok(integer) => Ok(Some(integer.to_signed_bytes_be())),
                Err(error) => Err(error.to_string()),
            },
            _ => misfit(),
        },
        (DataType::Timestamp, Value::N(number)) => match number.to_i64() {
            Some(millis) => Ok(Some(millis.to_be_bytes().to_vec())),
            None => misfit(),
        },
        (DataType::List { element, .. }, Value::L(values)) => {
            Ok(Some(encode_elements(parts(element, values)?)))
        }
        (DataType::Set { element, .. }, _) => match members(value) {
            Some(values) => {
                let mut parts = parts(element, &values)?;
                parts.sort_by(|a, b| model::value::compare(element, a, b));
                parts.dedup();
                Ok(Some(encode_set(element, parts)))
            }
            None => misfit(),
        },
        (DataType::Vector { element, dimensions }, Value::L(values)) => {
            if values.len() != *dimensions as usize {
                return Err(format!("a {data_type} has {dimensions} elements"));
            }
            Ok(Some(encode_vector(element, parts(element, values)?)))
        }
        (DataType::Map { key, value: of, .. }, Value::M(map)) => {
            let entry = |(name, value): (&str, &Value)| {
                let part = from_value(of, value)?.ok_or("null cannot be in a map")?;
                Ok::<_, String>((key_of(key, name)?, part))
            };
            let entries = map.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
            Ok(Some(encode_map(key, entries)))
        }
        (DataType::Tuple(types), Value::L(values)) => {
            if values.len() > types.len() {
                return Err(format!("a {data_type} has {} elements", types.len()));
            }
            let parts = types.iter().zip(values).map(|(of, value)| from_value(of, value));
            Ok(Some(encode_fields(parts.collect::<Result<Vec<_>, _>>()?)))
        }
        (DataType::Udt(udt), Value::M(map)) => {
            if let Some((name, _)) = map.iter().find(|(name, _)| udt.field_index(name).is_none()) {
                return Err(format!("the type {} has no field {name}", udt.name));
            }
            let part = |field: &model::types::UdtField| match map.get(&field.name) {
                Some(value) => from_value(&field.data_type, value),
                None => Ok(None),
            };
            Ok(Some(encode_fields(udt.fields.iter().map(part).collect::<Result<Vec<_>, _>>()?)))
        }
        (
            DataType::Blob
            | DataType::Boolean
            | DataType::List { .. }
            | DataType::Vector { .. }
            | DataType::Map { .. }
            | DataType::Tuple(_)
            | DataType::Udt(_)
            | DataType::Counter
            | DataType::Duration
            | DataType::Empty
            | DataType::Custom(_),
            _,
        ) => misfit(),
        // Text in all its forms, and numbers that the API cannot hold.
        (_, Value::S(text)) => from_text(text),
        _ => misfit(),
    }
}

fn parts(element: &DataType, values: &[Value]) -> Result<Vec<Vec<u8>>, String> {
    let part = |value: &Value| {
        from_value(element, value)?.ok_or_else(|| "null cannot be in a collection".to_string())
    };
    values.iter().map(part).collect()
}

fn members(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Ss(strings) => Some(strings.iter().cloned().map(Value::S).collect()),
        Value::Ns(numbers) => Some(numbers.iter().copied().map(Value::N).collect()),
        Value::Bs(blobs) => Some(blobs.iter().cloned().map(Value::B).collect()),
        Value::L(values) => Some(values.clone()),
        _ => None,
    }
}

/// A name as a key of a map.
fn key_of(data_type: &DataType, name: &str) -> Result<Vec<u8>, String> {
    let value = match data_type {
        DataType::Blob => {
            Value::B(decode_base64(name.as_bytes()).map_err(|_| format!("{name} is not base64"))?)
        }
        DataType::Boolean => Value::Bool(name == "true"),
        _ => match key_type(data_type) {
            Some(KeyType::N) => Value::N(Number::parse(name).map_err(|_| format!("{name} is not a number"))?),
            _ => Value::S(name.to_string()),
        },
    };
    from_value(data_type, &value)?.ok_or_else(|| "null cannot be a key".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Value {
        Value::N(Number::parse(text).unwrap())
    }

    fn s(text: &str) -> Value {
        Value::S(text.into())
    }

    fn list(element: DataType) -> DataType {
        DataType::list(element).freeze()
    }

    /// What is given is what is found again.
    #[test]
    fn values_come_back() {
        let map = |entries: &[(&str, Value)]| {
            let mut map = Item::new();
            entries.iter().for_each(|(name, value)| drop(map.insert(*name, value.clone())));
            Value::M(map)
        };
        let of_text = |key: DataType| DataType::map(key, DataType::Text).freeze();
        for (data_type, value) in [
            (DataType::Text, s("äöü")),
            (DataType::Text, s("")),
            (DataType::Ascii, s("abc")),
            (DataType::Blob, Value::B(vec![0, 255])),
            (DataType::Boolean, Value::Bool(true)),
            (DataType::TinyInt, n("-128")),
            (DataType::SmallInt, n("300")),
            (DataType::Int, n("-2147483648")),
            (DataType::BigInt, n("9223372036854775807")),
            (DataType::VarInt, n("99999999999999999999999999999999999999")),
            (DataType::Decimal, n("-12.345")),
            (DataType::Float, n("1.5")),
            (DataType::Double, n("0.1")),
            (DataType::Double, s("NaN")),
            (DataType::Double, s("-Infinity")),
            (DataType::Uuid, s("123e4567-e89b-42d3-a456-426614174000")),
            (DataType::Timestamp, s("2026-11-16 10:00:00.000Z")),
            (DataType::Date, s("2026-11-16")),
            (DataType::Time, s("10:00:00.000000001")),
            (DataType::Inet, s("127.0.0.1")),
            (list(DataType::Int), Value::L(vec![n("2"), n("1")])),
            (DataType::set(DataType::Text).freeze(), Value::Ss(vec!["a".into(), "b".into()])),
            (
                DataType::set(DataType::Int).freeze(),
                Value::Ns(vec![Number::from_i64(-1), Number::from_i64(3)]),
            ),
            (DataType::set(DataType::Blob).freeze(), Value::Bs(vec![vec![1], vec![2]])),
            (
                DataType::set(DataType::Boolean).freeze(),
                Value::L(vec![Value::Bool(false), Value::Bool(true)]),
            ),
            (of_text(DataType::Text), map(&[("a", s("1")), ("b", s("2"))])),
            (of_text(DataType::Int), map(&[("-5", s("1"))])),
            (of_text(DataType::Blob), map(&[("AQI=", s("1"))])),
            (list(list(DataType::Text)), Value::L(vec![Value::L(vec![s("x")])])),
            (DataType::tuple([DataType::Int, DataType::Text]), Value::L(vec![n("1"), Value::Null])),
        ] {
            let bytes = from_value(&data_type, &value).unwrap_or_else(|error| panic!("{data_type}: {error}"));
            let bytes = bytes.unwrap_or_else(|| panic!("{data_type}: null"));
            assert!(model::value::validate(&data_type, &bytes).is_ok(), "{data_type} {value:?}");
            assert_eq!(to_value(&data_type, &bytes), Some(value), "{data_type}");
        }
        assert_eq!(from_value(&DataType::Timestamp, &n("1000")), Ok(Some(1000i64.to_be_bytes().to_vec())));
        assert_eq!(from_value(&DataType::Text, &Value::Null), Ok(None));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (data_type, value, told) in [
            (DataType::Int, s("x"), "Unable to make int from 'x'"),
            (DataType::Int, n("1.5"), "Unable to make int from '1.5'"),
            (DataType::Int, n("3000000000"), "Unable to make int from '3000000000'"),
            (DataType::Text, n("1"), "a value of type N cannot be a text"),
            (DataType::VarInt, n("1.5"), "a value of type N cannot be a varint"),
            (DataType::Uuid, s("x"), "Unable to make UUID from 'x'"),
            (list(DataType::Int), Value::L(vec![Value::Null]), "null cannot be in a collection"),
        ] {
            assert_eq!(from_value(&data_type, &value), Err(told.to_string()));
        }
    }
}
