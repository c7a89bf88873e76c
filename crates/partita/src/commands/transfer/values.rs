//! Values as text in files: CSV fields and members of JSON objects, and back.

use model::json::{JsonValue, from_json, put_json, quote_json, to_json};
use model::literal::{format_text, text_to_wire};
use model::types::DataType;

/// A value as a field of CSV: collections and the like as JSON, everything else as CQL's own text.
pub fn field(data_type: &DataType, bytes: &[u8]) -> String {
    match data_type {
        DataType::Text | DataType::Ascii => String::from_utf8_lossy(bytes).into_owned(),
        other if is_composite(other) => to_json(other, bytes),
        other => format_text(other, bytes).unwrap_or_else(|| unquoted(to_json(other, bytes))),
    }
}

/// What [`field`] wrote.
pub fn from_field(data_type: &DataType, text: &str, now_millis: i64) -> Result<Vec<u8>, String> {
    if is_composite(data_type) {
        let value = JsonValue::parse_exactly(text).map_err(|error| format!("{text}: not JSON: {error}"))?;
        return from_json(data_type, &value, now_millis).map_err(|error| error.to_string());
    }
    let digits = if *data_type == DataType::Blob { text.strip_prefix("0x") } else { None };
    text_to_wire(data_type, digits.unwrap_or(text), now_millis).map_err(|error| error.to_string())
}

fn is_composite(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::List { .. }
            | DataType::Set { .. }
            | DataType::Map { .. }
            | DataType::Tuple(_)
            | DataType::Udt(_)
            | DataType::Vector { .. }
    )
}

fn unquoted(json: String) -> String {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) => inside.to_string(),
        None => json,
    }
}

/// A string of JSON.
pub fn put_string(out: &mut String, text: &str) {
    out.push('"');
    quote_json(out, text);
    out.push('"');
}

/// A value as a member of a JSON object. JSON has no numbers for NaN and infinities: they are strings, which are read back as well.
pub fn put_member(out: &mut String, data_type: &DataType, bytes: &[u8]) {
    let is_finite = match (data_type, bytes) {
        (DataType::Double, bytes) => bytes.try_into().map(f64::from_be_bytes).is_ok_and(f64::is_finite),
        (DataType::Float, bytes) => bytes.try_into().map(f32::from_be_bytes).is_ok_and(f32::is_finite),
        _ => true,
    };
    match format_text(data_type, bytes) {
        Some(text) if !is_finite => put_string(out, &text),
        _ => put_json(out, data_type, bytes),
    }
}

/// A member of a JSON object as bytes of the column's type; `None` is null.
pub fn from_member(
    data_type: &DataType,
    value: &JsonValue,
    now_millis: i64,
) -> Result<Option<Vec<u8>>, String> {
    match value {
        JsonValue::Null => Ok(None),
        value => from_json(data_type, value, now_millis).map(Some).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value::validate;

    /// Every type survives the way through both kinds of file.
    #[test]
    fn values_come_back() {
        let int = |n: i32| n.to_be_bytes().to_vec();
        let nested = DataType::map(DataType::Text, DataType::list(DataType::Int));
        let mut map = int(1);
        map.extend([int(1), b"k".to_vec(), int(20), int(2), int(4), int(7), int(4), int(-8)].concat());
        let samples: Vec<(DataType, Vec<u8>)> = vec![
            (DataType::Text, "a,\"b\"\nü".into()),
            (DataType::Text, Vec::new()),
            (DataType::Ascii, b"plain".to_vec()),
            (DataType::Blob, vec![0, 255, 16]),
            (DataType::Blob, Vec::new()),
            (DataType::Int, int(-5)),
            (DataType::BigInt, i64::MIN.to_be_bytes().to_vec()),
            (DataType::SmallInt, (-3i16).to_be_bytes().to_vec()),
            (DataType::TinyInt, vec![0x80]),
            (DataType::VarInt, vec![0xff, 0x00, 0x12]),
            (DataType::Decimal, vec![0, 0, 0, 2, 0x30, 0x39]),
            // More digits than a double has.
            (DataType::Decimal, [vec![0, 0, 0, 20], (1..14).collect()].concat()),
            (
                DataType::set(DataType::Decimal),
                [int(1), int(17), vec![0, 0, 0, 20], (1..14).collect()].concat(),
            ),
            (DataType::Double, 1e-300f64.to_be_bytes().to_vec()),
            (DataType::Double, f64::NEG_INFINITY.to_be_bytes().to_vec()),
            (DataType::Float, f32::NAN.to_be_bytes().to_vec()),
            (DataType::Float, 0.1f32.to_be_bytes().to_vec()),
            (DataType::Boolean, vec![1]),
            (DataType::Timestamp, 1_700_000_000_123i64.to_be_bytes().to_vec()),
            (DataType::Timestamp, (-1i64).to_be_bytes().to_vec()),
            (DataType::Date, 0x8000_4cdbu32.to_be_bytes().to_vec()),
            (DataType::Time, 3_723_000_000_004i64.to_be_bytes().to_vec()),
            (DataType::Uuid, (1..17).collect()),
            (DataType::Inet, vec![127, 0, 0, 1]),
            (DataType::Inet, (1..17).collect()),
            (DataType::Duration, vec![2, 4, 6]),
            (nested, map),
            (DataType::set(DataType::Int), [int(1), int(4), int(9)].concat()),
            (DataType::vector(DataType::Float, 2), [0.5f32.to_be_bytes(), 2f32.to_be_bytes()].concat()),
        ];
        for (data_type, bytes) in samples {
            validate(&data_type, &bytes).unwrap();
            let text = field(&data_type, &bytes);
            assert_eq!(from_field(&data_type, &text, 0).as_ref(), Ok(&bytes), "{data_type}: {text}");
            let mut json = String::new();
            put_member(&mut json, &data_type, &bytes);
            let value = JsonValue::parse_exactly(&json).unwrap();
            assert_eq!(from_member(&data_type, &value, 0), Ok(Some(bytes)), "{data_type}: {json}");
        }
        assert_eq!(from_member(&DataType::Int, &JsonValue::Null, 0), Ok(None));
        assert!(from_field(&DataType::Int, "seven", 0).is_err());
    }
}
