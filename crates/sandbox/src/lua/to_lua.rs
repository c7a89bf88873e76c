//! Values of CQL as values of Lua, as ScyllaDB maps them (`docs/functions.md`).

use super::big;
use mlua::{Error, Lua, Result, Value};
use model::literal::format_text;
use model::types::DataType;
use model::value::Value as Cql;

pub fn value(lua: &Lua, data_type: &DataType, bytes: &[u8]) -> Result<Value> {
    match data_type {
        // These need no copy in between.
        DataType::Ascii | DataType::Text | DataType::Blob | DataType::Custom(_) => {
            Ok(Value::String(lua.create_string(bytes)?))
        }
        DataType::VarInt | DataType::Decimal => big::create(lua, data_type.clone(), bytes.to_vec()),
        _ => {
            let decoded = Cql::decode(data_type, Some(bytes))
                .map_err(|error| Error::RuntimeError(error.to_string()))?;
            from(lua, data_type, &decoded)
        }
    }
}

fn from(lua: &Lua, data_type: &DataType, value: &Cql) -> Result<Value> {
    let text = || -> Result<Value> {
        let bytes = value.encode(data_type).ok().flatten();
        let text = bytes.and_then(|bytes| format_text(data_type, &bytes)).unwrap_or_default();
        Ok(Value::String(lua.create_string(text)?))
    };
    Ok(match (data_type, value) {
        (_, Cql::Null | Cql::Empty) => Value::Nil,
        (_, Cql::Text(text)) => Value::String(lua.create_string(text)?),
        (_, Cql::Blob(bytes)) => Value::String(lua.create_string(bytes)?),
        (_, Cql::Boolean(value)) => Value::Boolean(*value),
        (_, Cql::TinyInt(number)) => Value::Integer(i64::from(*number)),
        (_, Cql::SmallInt(number)) => Value::Integer(i64::from(*number)),
        (_, Cql::Int(number)) => Value::Integer(i64::from(*number)),
        (_, Cql::BigInt(number) | Cql::Counter(number) | Cql::Time(number) | Cql::Timestamp(number)) => {
            Value::Integer(*number)
        }
        (_, Cql::Date(days)) => Value::Integer(i64::from(*days)),
        (_, Cql::Float(number)) => Value::Number(f64::from(*number)),
        (_, Cql::Double(number)) => Value::Number(*number),
        (_, Cql::VarInt(_) | Cql::Decimal(_)) => match value.encode(data_type) {
            Ok(Some(bytes)) => big::create(lua, data_type.clone(), bytes)?,
            _ => Value::Nil,
        },
        (_, Cql::Inet(_) | Cql::Uuid(_) | Cql::TimeUuid(_)) => text()?,
        (_, Cql::Duration(duration)) => {
            let table = lua.create_table()?;
            table.raw_set("months", duration.months)?;
            table.raw_set("days", duration.days)?;
            table.raw_set("nanoseconds", duration.nanos)?;
            Value::Table(table)
        }
        (DataType::List { element, .. }, Cql::List(items))
        | (DataType::Vector { element, .. }, Cql::Vector(items)) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (place, item) in items.iter().enumerate() {
                table.raw_set(place + 1, from(lua, element, item)?)?;
            }
            Value::Table(table)
        }
        (DataType::Tuple(components), Cql::Tuple(parts)) => {
            let table = lua.create_table_with_capacity(parts.len(), 0)?;
            for (place, (component, part)) in components.iter().zip(parts).enumerate() {
                table.raw_set(place + 1, from(lua, component, part)?)?;
            }
            Value::Table(table)
        }
        (DataType::Set { element, .. }, Cql::Set(items)) => {
            let table = lua.create_table_with_capacity(0, items.len())?;
            for item in items {
                table.raw_set(from(lua, element, item)?, true)?;
            }
            Value::Table(table)
        }
        (DataType::Map { key, value: of, .. }, Cql::Map(entries)) => {
            let table = lua.create_table_with_capacity(0, entries.len())?;
            for (entry_key, entry_value) in entries {
                table.raw_set(from(lua, key, entry_key)?, from(lua, of, entry_value)?)?;
            }
            Value::Table(table)
        }
        (DataType::Udt(udt), Cql::Udt(parts)) => {
            let table = lua.create_table_with_capacity(0, parts.len())?;
            for (field, (name, part)) in udt.fields.iter().zip(parts) {
                table.raw_set(&**name, from(lua, &field.data_type, part)?)?;
            }
            Value::Table(table)
        }
        (data_type, other) => {
            return Err(Error::RuntimeError(format!("a {} cannot be a {data_type}", other.kind())));
        }
    })
}
