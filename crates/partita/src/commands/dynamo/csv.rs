//! Attribute values as fields of CSV.

use crate::commands::csv;
use serde_json::{Map, Value, json};

pub use crate::commands::csv::is_open;

/// Adds a record. What is empty is not there, so nothing is written for it.
pub fn put<'f>(out: &mut Vec<u8>, fields: impl Iterator<Item = &'f str>) {
    csv::put(out, fields.map(|field| (!field.is_empty()).then_some(field)));
}

/// The fields of a record.
pub fn fields(record: &str) -> Vec<String> {
    csv::fields(record).into_iter().map(Option::unwrap_or_default).collect()
}

/// `{"S": "x"}` as a field: text and numbers as they are, sets, lists and maps as the API's JSON.
pub fn field(value: &Value) -> String {
    let Some((kind, inner)) = value.as_object().and_then(|object| object.iter().next()) else {
        return String::new();
    };
    match (kind.as_str(), inner) {
        ("NULL", _) => String::new(),
        ("S" | "N" | "B", Value::String(text)) => text.clone(),
        (_, inner) => inner.to_string(),
    }
}

/// An item of a record: keys have their types, everything else is text, and what is empty is not there.
pub fn item(header: &[String], record: &str, types: &Map<String, Value>) -> Value {
    let mut item = Map::new();
    for (name, text) in header.iter().zip(fields(record)) {
        let kind = types.get(name).and_then(Value::as_str);
        if text.is_empty() && kind.is_none() {
            continue;
        }
        item.insert(name.clone(), json!({ kind.unwrap_or("S"): text }));
    }
    Value::Object(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let written = ["a", "", "b,c", "say \"hi\"", "two\nlines", " blank "];
        let mut out = Vec::new();
        put(&mut out, written.iter().copied());
        let text = String::from_utf8(out).unwrap();
        assert!(!is_open(&text) && is_open(text.split_inclusive('\n').next().unwrap()));
        assert_eq!(fields(text.trim_end_matches('\n')), written);
    }

    #[test]
    fn values_as_fields_and_back() {
        assert_eq!(field(&json!({"SS": ["a"]})), r#"["a"]"#);
        assert_eq!(field(&json!({"BOOL": true})), "true");
        let types = json!({"n": "N"}).as_object().unwrap().clone();
        let header = ["p", "n", "x"].map(String::from);
        assert_eq!(item(&header, "a,5,", &types), json!({"p": {"S": "a"}, "n": {"N": "5"}}));
    }
}
