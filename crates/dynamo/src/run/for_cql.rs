//! What CQL sees of these tables: number keys as decimals, the item as JSON in the API's own form, attributes by name.
//!
//! CQL reads and never writes them; `crates/cql` refuses that with the reason.

use crate::document::Document;
use crate::json;
use crate::number::Number;
use crate::table::TableDefinition;
use crate::value::Value;
use model::number::Decimal;
use model::types::DataType;
use query::QueryError;
use query::fault::ForeignFault;
use query::function::foreign::{self, ForeignTables};
use query::function::{Args, CallContext, CallResult, Function};
use schema::{Column, ColumnKind, Table};

struct ForCql;

/// Makes the tables of this dialect readable in CQL.
pub fn register() {
    foreign::register(&ForCql);
}

impl ForeignTables for ForCql {
    fn shown(&self, table: &Table, column: &Column) -> Option<Function> {
        if column.kind == ColumnKind::Regular {
            return Some(Function::new("item_to_json", vec![DataType::Blob], DataType::Text, item_to_json));
        }
        let function =
            || Function::new("number_to_decimal", vec![DataType::Blob], DataType::Decimal, number_to_decimal);
        is_number(table, column).then(function)
    }

    fn stored(&self, table: &Table, column: &Column) -> Option<Function> {
        let function =
            || Function::new("decimal_to_number", vec![DataType::Decimal], DataType::Blob, decimal_to_number);
        is_number(table, column).then(function)
    }

    fn keys(&self, table: &Table) -> Vec<Vec<String>> {
        let foreign = table.foreign.as_deref();
        let definition =
            foreign.and_then(|foreign| TableDefinition::from_json(&foreign.definition.to_string()).ok());
        let Some(definition) = definition else { return Vec::new() };
        let keys = std::iter::once(&definition.key).chain(definition.indexes.iter().map(|index| &index.key));
        keys.map(|key| key.attributes().map(|attribute| attribute.name.clone()).collect()).collect()
    }

    fn attribute(&self, table: &Table) -> Option<(Column, Function)> {
        let holder = table.regulars.first()?.clone();
        let args = vec![DataType::Blob, DataType::Text];
        Some((holder, Function::new("attribute", args, DataType::Text, attribute)))
    }
}

/// Whether a column is a key whose type is N; the catalogue's type is that of the stored bytes.
fn is_number(table: &Table, column: &Column) -> bool {
    let part = match column.kind {
        ColumnKind::PartitionKey => "hash",
        ColumnKind::Clustering => "sort",
        _ => return false,
    };
    let kind = || {
        let key = table.foreign.as_deref()?.definition.get("key")?.get(part)?;
        key.get(column.position)?.get("type")?.as_str().map(|kind| kind == "N")
    };
    kind().unwrap_or(false)
}

fn damaged() -> QueryError {
    ForeignFault::Damaged.into()
}

fn item_to_json(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let [Some(bytes)] = args else { return Ok(None) };
    let mut out = Vec::new();
    Document::new(bytes).and_then(|item| item.write_json(&mut out)).map_err(|_| damaged())?;
    Ok(Some(out))
}

fn number_to_decimal(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let [Some(bytes)] = args else { return Ok(None) };
    let number = Number::from_bytes(bytes).ok_or_else(damaged)?;
    let decimal = Decimal::parse(&number.to_string()).ok_or_else(damaged)?;
    Ok(Some(decimal.to_wire()))
}

fn decimal_to_number(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let [Some(bytes)] = args else { return Ok(None) };
    let number = Decimal::from_wire(bytes).and_then(|decimal| Number::parse(&decimal.to_string()).ok());
    let number = number.ok_or(ForeignFault::NumberOutOfRange)?;
    Ok(Some(number.bytes().to_vec()))
}

/// S as its text, N as its digits, BOOL as true or false, B in base64, everything else as the API's JSON of its members;
/// NULL and what is not there is null.
fn attribute(_: &Function, args: &Args<'_>, _: &CallContext<'_>) -> CallResult {
    let [Some(bytes), Some(name)] = args else { return Ok(None) };
    let name = std::str::from_utf8(name).map_err(|_| damaged())?;
    let found = Document::new(bytes).and_then(|item| item.get(name)).map_err(|_| damaged())?;
    let Some(found) = found else { return Ok(None) };
    Ok(as_text(&found.decode().map_err(|_| damaged())?))
}

fn as_text(value: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match value {
        Value::Null => return None,
        Value::S(text) => out.extend_from_slice(text.as_bytes()),
        Value::N(number) => number.write(&mut out),
        Value::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::B(bytes) => json::encode_base64(bytes, &mut out),
        Value::M(item) => json::write_item(item, &mut out),
        Value::Ss(_) | Value::Ns(_) | Value::Bs(_) | Value::L(_) => {
            let mut whole = Vec::new();
            json::write_value(value, &mut whole);
            // Without the type around it: `{"SS":[...]}` is `[...]`.
            let start = whole.iter().position(|byte| *byte == b'[')?;
            out.extend_from_slice(whole.get(start..whole.len().checked_sub(1)?)?);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value) -> Option<String> {
        as_text(&value).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn attributes_as_text() {
        let is = |value: Value, wanted: &str| assert_eq!(text(value).as_deref(), Some(wanted));
        is(Value::S("a [b]".into()), "a [b]");
        is(Value::N(Number::parse("-1.50").unwrap()), "-1.5");
        is(Value::Bool(true), "true");
        is(Value::B(vec![1, 2, 3]), "AQID");
        is(Value::Ss(vec!["a".into(), "b]".into()]), r#"["a","b]"]"#);
        is(Value::L(vec![Value::S("x".into()), Value::Null]), r#"[{"S":"x"},{"NULL":true}]"#);
        let mut map = crate::value::Item::new();
        map.insert("n", Value::N(Number::from_i64(7)));
        is(Value::M(map), r#"{"n":{"N":"7"}}"#);
        assert_eq!(text(Value::Null), None);
    }
}
