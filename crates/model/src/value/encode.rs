//! [`Value`] to wire bytes of a type.

use std::net::IpAddr;

use super::error::invalid;
use super::{
    Value, ValueError, encode_elements, encode_fields, encode_map, encode_set, encode_vector, validate,
};
use crate::types::DataType;

impl Value {
    /// Encodes the value as the type; null gives `None`. Sets and maps are sorted and lose duplicates. The value
    /// must be of the type's own kind (a list also serves as a set or vector); integers are not widened.
    pub fn encode(&self, data_type: &DataType) -> Result<Option<Vec<u8>>, ValueError> {
        if self.is_null() {
            return Ok(None);
        }
        let bytes = self.encode_present(data_type)?;
        // Lengths, ranges and signs are checked where they are written down already.
        validate(data_type, &bytes)?;
        Ok(Some(bytes))
    }

    fn encode_present(&self, data_type: &DataType) -> Result<Vec<u8>, ValueError> {
        Ok(match (data_type, self) {
            (_, Value::Empty) => Vec::new(),
            (DataType::Ascii | DataType::Text, Value::Text(text)) => text.as_bytes().to_vec(),
            (DataType::Blob | DataType::Custom(_), Value::Blob(bytes)) => bytes.clone(),
            (DataType::Boolean, Value::Boolean(value)) => vec![u8::from(*value)],
            (DataType::TinyInt, Value::TinyInt(number)) => number.to_be_bytes().to_vec(),
            (DataType::SmallInt, Value::SmallInt(number)) => number.to_be_bytes().to_vec(),
            (DataType::Int, Value::Int(number)) => number.to_be_bytes().to_vec(),
            (DataType::BigInt | DataType::Counter, Value::BigInt(number) | Value::Counter(number)) => {
                number.to_be_bytes().to_vec()
            }
            (DataType::VarInt, Value::VarInt(number)) => number.to_signed_bytes_be(),
            (DataType::Decimal, Value::Decimal(number)) => number.to_wire(),
            (DataType::Float, Value::Float(number)) => number.to_be_bytes().to_vec(),
            (DataType::Double, Value::Double(number)) => number.to_be_bytes().to_vec(),
            (DataType::Inet, Value::Inet(IpAddr::V4(address))) => address.octets().to_vec(),
            (DataType::Inet, Value::Inet(IpAddr::V6(address))) => address.octets().to_vec(),
            (DataType::Uuid, Value::Uuid(uuid) | Value::TimeUuid(uuid))
            | (DataType::TimeUuid, Value::TimeUuid(uuid)) => uuid.to_vec(),
            (DataType::Date, Value::Date(days)) => days.to_be_bytes().to_vec(),
            (DataType::Time, Value::Time(nanos)) => nanos.to_be_bytes().to_vec(),
            (DataType::Timestamp, Value::Timestamp(millis)) => millis.to_be_bytes().to_vec(),
            (DataType::Duration, Value::Duration(duration)) => duration.to_wire(),
            (DataType::List { element, .. }, Value::List(items)) => encode_elements(all(element, items)?),
            (DataType::Set { element, .. }, Value::Set(items) | Value::List(items)) => {
                encode_set(element, all(element, items)?)
            }
            (DataType::Vector { element, .. }, Value::Vector(items) | Value::List(items)) => {
                encode_vector(element, all(element, items)?)
            }
            (DataType::Map { key, value, .. }, Value::Map(entries)) => {
                let entries = entries.iter().map(|(entry_key, entry_value)| {
                    Ok((inside(key, entry_key)?, inside(value, entry_value)?))
                });
                encode_map(key, entries.collect::<Result<_, ValueError>>()?)
            }
            (DataType::Tuple(components), Value::Tuple(parts)) if parts.len() <= components.len() => {
                let parts = components.iter().zip(parts).map(|(component, part)| part.encode(component));
                encode_fields(parts.collect::<Result<Vec<_>, _>>()?)
            }
            (DataType::Udt(udt), Value::Udt(given)) => {
                if let Some((name, _)) = given.iter().find(|(name, _)| udt.field_index(name).is_none()) {
                    return invalid!("Unknown field '{name}' in value of user defined type {}", udt.name);
                }
                let part = |field: &crate::types::UdtField| {
                    let value = given.iter().find(|(name, _)| *name == field.name);
                    value.map_or(Ok(None), |(_, value)| value.encode(&field.data_type))
                };
                encode_fields(udt.fields.iter().map(part).collect::<Result<Vec<_>, _>>()?)
            }
            (data_type, value) => {
                return invalid!("Expected a {data_type} value, but got a {}", value.kind());
            }
        })
    }
}

fn inside(data_type: &DataType, value: &Value) -> Result<Vec<u8>, ValueError> {
    match value.encode(data_type)? {
        Some(bytes) => Ok(bytes),
        None => invalid!("null is not supported inside collections"),
    }
}

fn all(element: &DataType, items: &[Value]) -> Result<Vec<Vec<u8>>, ValueError> {
    items.iter().map(|item| inside(element, item)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::arbitrary::{any_type, type_and_value};
    use crate::value::compare;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn decode_then_encode_gives_an_equal_value((data_type, bytes) in type_and_value()) {
            let value = Value::decode(&data_type, Some(&bytes)).unwrap();
            let back = value.encode(&data_type).unwrap().unwrap();
            prop_assert!(
                compare(&data_type, &bytes, &back).is_eq(),
                "{} {:?} {:02x?} {:02x?}", data_type, value, bytes, back
            );
            let again = Value::decode(&data_type, Some(&back)).unwrap();
            prop_assert_eq!(again.encode(&data_type).unwrap().unwrap(), back);
        }

        #[test]
        fn any_bytes_decode_or_fail(data_type in any_type(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let decoded = Value::decode(&data_type, Some(&bytes));
            prop_assert_eq!(decoded.is_ok(), validate(&data_type, &bytes).is_ok());
        }
    }

    #[test]
    fn kinds_must_fit() {
        let error = Value::Int(1).encode(&DataType::Text).unwrap_err();
        assert_eq!(error.message(), "Expected a text value, but got a int");
        let null_inside = Value::List(vec![Value::Null]).encode(&DataType::list(DataType::Int));
        assert_eq!(null_inside.unwrap_err().message(), "null is not supported inside collections");
        let short_vector =
            Value::Vector(vec![Value::Float(1.0)]).encode(&DataType::vector(DataType::Float, 2));
        assert!(short_vector.is_err());
        assert_eq!(Value::from(None::<i32>).encode(&DataType::Int), Ok(None));
        assert_eq!(Value::from("a").encode(&DataType::Text), Ok(Some(b"a".to_vec())));
    }
}
