//! Values of Lua as values of CQL. What Lua itself would take for a number or a string is taken here.

use super::big::Big;
use mlua::{Lua, Table, Value};
use model::arithmetic::NumberValue;
use model::literal::text_to_wire;
use model::number::Decimal;
use model::temporal::Duration;
use model::types::{DataType, UdtType};
use model::value::{encode_elements, encode_fields, encode_map, encode_set, encode_vector};
use num_bigint::BigInt;

/// Elements of one collection, as everywhere.
const ELEMENTS_MAX: usize = 65_536;

const DAY_NANOS: i64 = 86_400_000_000_000;

/// The bytes of a value, or why it is not one of the type.
pub fn bytes(lua: &Lua, data_type: &DataType, value: &Value) -> Result<Vec<u8>, String> {
    let wrong = || format!("a {} is not a {data_type}", kind(value));
    Ok(match data_type {
        DataType::Ascii | DataType::Text => {
            let text = string(lua, value).ok_or_else(wrong)?;
            let text = String::from_utf8(text).map_err(|_| "the string is not UTF-8".to_string())?;
            if *data_type == DataType::Ascii && !text.is_ascii() {
                return Err("the string is not ASCII".into());
            }
            text.into_bytes()
        }
        DataType::Blob | DataType::Custom(_) => string(lua, value).ok_or_else(wrong)?,
        DataType::Boolean => match value {
            Value::Boolean(value) => vec![u8::from(*value)],
            _ => return Err(wrong()),
        },
        // Too large integers keep their low bits.
        DataType::TinyInt => (integer(lua, value).ok_or_else(wrong)? as i8).to_be_bytes().to_vec(),
        DataType::SmallInt => (integer(lua, value).ok_or_else(wrong)? as i16).to_be_bytes().to_vec(),
        DataType::Int => (integer(lua, value).ok_or_else(wrong)? as i32).to_be_bytes().to_vec(),
        DataType::BigInt | DataType::Counter => integer(lua, value).ok_or_else(wrong)?.to_be_bytes().to_vec(),
        DataType::VarInt => whole(lua, value).ok_or_else(wrong)?.to_signed_bytes_be(),
        DataType::Decimal => decimal(lua, value).ok_or_else(wrong)?.to_wire(),
        DataType::Float => (number(lua, value).ok_or_else(wrong)? as f32).to_be_bytes().to_vec(),
        DataType::Double => number(lua, value).ok_or_else(wrong)?.to_be_bytes().to_vec(),
        DataType::Inet | DataType::Uuid | DataType::TimeUuid => literal(data_type, value)?,
        DataType::Date => date(lua, value)?,
        DataType::Time | DataType::Timestamp => match value {
            Value::String(_) => literal(data_type, value)?,
            _ => {
                let number = integer(lua, value).ok_or_else(wrong)?;
                if *data_type == DataType::Time && !(0..DAY_NANOS).contains(&number) {
                    return Err(format!("{number} is out of range for a time"));
                }
                number.to_be_bytes().to_vec()
            }
        },
        DataType::Duration => duration(lua, value)?,
        DataType::List { element, .. } => encode_elements(sequence(lua, element, value, data_type)?),
        DataType::Set { element, .. } => encode_set(element, members(lua, element, value, data_type)?),
        DataType::Map { key, value: of, .. } => encode_map(key, entries(lua, (key, of), value, data_type)?),
        DataType::Tuple(components) => tuple(lua, components, value, data_type)?,
        DataType::Udt(udt) => user_type(lua, udt, value)?,
        DataType::Vector { element, dimensions } => {
            let parts = sequence(lua, element, value, data_type)?;
            if parts.len() != *dimensions as usize {
                return Err(format!("{dimensions} elements were expected, and there are {}", parts.len()));
            }
            encode_vector(element, parts)
        }
        DataType::Empty => return Err(wrong()),
    })
}

/// What a value is, for sentences.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::UserData(_) => "number",
        other => other.type_name(),
    }
}

fn with_big<T>(value: &Value, read: impl FnOnce(&Big) -> Option<T>) -> Option<T> {
    match value {
        Value::UserData(data) => data.borrow::<Big>().ok().and_then(|big| read(&big)),
        _ => None,
    }
}

fn string(lua: &Lua, value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        Value::Integer(_) | Value::Number(_) => {
            lua.coerce_string(value.clone()).ok()?.map(|text| text.as_bytes().to_vec())
        }
        _ => with_big(value, |big| Some(big.text().into_bytes())),
    }
}

fn integer(lua: &Lua, value: &Value) -> Option<i64> {
    match value {
        Value::Integer(_) | Value::Number(_) | Value::String(_) => {
            if let Some(number) = lua.coerce_integer(value.clone()).ok()? {
                return Some(number);
            }
            // A number that Lua has no integer for.
            match value {
                Value::String(_) => whole(lua, value).map(|number| NumberValue::VarInt(number).to_i64()),
                _ => None,
            }
        }
        _ => whole(lua, value).map(|number| NumberValue::VarInt(number).to_i64()),
    }
}

/// An integer of any size; nothing with a fraction.
fn whole(lua: &Lua, value: &Value) -> Option<BigInt> {
    if let Value::Integer(number) = value {
        return Some(BigInt::from(*number));
    }
    let decimal = decimal(lua, value)?;
    let cut = decimal.to_integer().ok()?;
    Decimal::new(cut.clone(), 0).compare(&decimal).is_eq().then_some(cut)
}

fn decimal(lua: &Lua, value: &Value) -> Option<Decimal> {
    match value {
        Value::Integer(number) => Some(Decimal::new(*number, 0)),
        Value::Number(number) => Decimal::from_f64(*number),
        Value::String(text) => {
            let text = String::from_utf8(text.as_bytes().to_vec()).ok()?;
            match text_to_wire(&DataType::Decimal, text.trim(), 0) {
                Ok(bytes) => Decimal::from_wire(&bytes),
                Err(_) => lua.coerce_number(value.clone()).ok()?.and_then(Decimal::from_f64),
            }
        }
        _ => with_big(value, |big| match big.data_type {
            DataType::Decimal => Decimal::from_wire(&big.bytes),
            _ => Some(Decimal::new(BigInt::from_signed_bytes_be(&big.bytes), 0)),
        }),
    }
}

fn number(lua: &Lua, value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Integer(_) | Value::String(_) => lua.coerce_number(value.clone()).ok()?,
        _ => decimal(lua, value).map(|decimal| decimal.to_f64()),
    }
}

/// What is written as a constant of the type.
fn literal(data_type: &DataType, value: &Value) -> Result<Vec<u8>, String> {
    let Value::String(text) = value else {
        return Err(format!("a {} is not a {data_type}", kind(value)));
    };
    let text =
        String::from_utf8(text.as_bytes().to_vec()).map_err(|_| "the string is not UTF-8".to_string())?;
    if text.is_empty() {
        return Err(format!("an empty string is not a {data_type}"));
    }
    text_to_wire(data_type, &text, 0).map_err(|error| error.to_string())
}

fn date(lua: &Lua, value: &Value) -> Result<Vec<u8>, String> {
    match value {
        Value::String(_) => literal(&DataType::Date, value),
        Value::Table(table) => {
            let part = |name: &str| {
                let part = table.raw_get::<Value>(name).map_err(|error| error.to_string())?;
                integer(lua, &part).ok_or_else(|| format!("a date needs the field {name}"))
            };
            let (year, month, day) = (part("year")?, part("month")?, part("day")?);
            let only = |entry: mlua::Result<(Value, Value)>| match entry {
                Ok((Value::String(name), _)) => matches!(&*name.as_bytes(), b"year" | b"month" | b"day"),
                _ => false,
            };
            if !table.pairs::<Value, Value>().all(only) {
                return Err("a date has the fields year, month and day only".into());
            }
            let text = format!("{year:04}-{month:02}-{day:02}");
            text_to_wire(&DataType::Date, &text, 0).map_err(|error| error.to_string())
        }
        _ => {
            let days = integer(lua, value).ok_or_else(|| format!("a {} is not a date", kind(value)))?;
            let days = u32::try_from(days).map_err(|_| format!("{days} is out of range for a date"))?;
            Ok(days.to_be_bytes().to_vec())
        }
    }
}

fn duration(lua: &Lua, value: &Value) -> Result<Vec<u8>, String> {
    let Value::Table(table) = value else { return literal(&DataType::Duration, value) };
    let part = |name: &str| {
        let part = table.raw_get::<Value>(name).map_err(|error| error.to_string())?;
        integer(lua, &part).ok_or_else(|| format!("a duration needs the field {name}"))
    };
    let small =
        |number: i64| i32::try_from(number).map_err(|_| format!("{number} is out of range for a duration"));
    let duration = Duration {
        months: small(part("months")?)?,
        days: small(part("days")?)?,
        nanos: part("nanoseconds")?,
    };
    if entry_count(table)? != 3 {
        return Err("a duration has the fields months, days and nanoseconds only".into());
    }
    Ok(duration.to_wire())
}

fn table<'v>(value: &'v Value, data_type: &DataType) -> Result<&'v Table, String> {
    match value {
        Value::Table(table) => Ok(table),
        _ => Err(format!("a {} is not a {data_type}", kind(value))),
    }
}

fn entry_count(table: &Table) -> Result<usize, String> {
    let mut count = 0;
    for entry in table.pairs::<Value, Value>() {
        entry.map_err(|error| error.to_string())?;
        count += 1;
        if count > ELEMENTS_MAX {
            return Err(format!("it has more than {ELEMENTS_MAX} elements"));
        }
    }
    Ok(count)
}

/// The elements from 1 on, if the table has nothing else.
fn sequence(
    lua: &Lua,
    element: &DataType,
    value: &Value,
    data_type: &DataType,
) -> Result<Vec<Vec<u8>>, String> {
    let table = table(value, data_type)?;
    let count = entry_count(table)?;
    let mut parts = Vec::with_capacity(count);
    for place in 1..=count {
        match table.raw_get::<Value>(place).map_err(|error| error.to_string())? {
            Value::Nil => return Err("the table is not a sequence".into()),
            part => parts.push(bytes(lua, element, &part)?),
        }
    }
    Ok(parts)
}

fn members(
    lua: &Lua,
    element: &DataType,
    value: &Value,
    data_type: &DataType,
) -> Result<Vec<Vec<u8>>, String> {
    let table = table(value, data_type)?;
    let mut parts = Vec::with_capacity(entry_count(table)?);
    for entry in table.pairs::<Value, Value>() {
        let (member, mark) = entry.map_err(|error| error.to_string())?;
        if !matches!(mark, Value::Boolean(true)) {
            return Err("a set is a table of true values".into());
        }
        parts.push(bytes(lua, element, &member)?);
    }
    Ok(parts)
}

type Entry = (Vec<u8>, Vec<u8>);

fn entries(
    lua: &Lua,
    (key, of): (&DataType, &DataType),
    value: &Value,
    data_type: &DataType,
) -> Result<Vec<Entry>, String> {
    let table = table(value, data_type)?;
    let mut parts = Vec::with_capacity(entry_count(table)?);
    for entry in table.pairs::<Value, Value>() {
        let (entry_key, entry_value) = entry.map_err(|error| error.to_string())?;
        parts.push((bytes(lua, key, &entry_key)?, bytes(lua, of, &entry_value)?));
    }
    Ok(parts)
}

fn tuple(lua: &Lua, components: &[DataType], value: &Value, data_type: &DataType) -> Result<Vec<u8>, String> {
    let table = table(value, data_type)?;
    let count = entry_count(table)?;
    let mut parts = Vec::with_capacity(components.len());
    for (place, component) in components.iter().enumerate() {
        match table.raw_get::<Value>(place + 1).map_err(|error| error.to_string())? {
            Value::Nil => {
                return Err(format!("{} elements were expected, and there are {count}", components.len()));
            }
            part => parts.push(Some(bytes(lua, component, &part)?)),
        }
    }
    match count == components.len() {
        true => Ok(encode_fields(parts)),
        false => Err(format!("{} elements were expected, and there are {count}", components.len())),
    }
}

fn user_type(lua: &Lua, udt: &UdtType, value: &Value) -> Result<Vec<u8>, String> {
    let Value::Table(table) = value else { return Err(format!("a {} is not a {}", kind(value), udt.name)) };
    let mut parts = Vec::with_capacity(udt.fields.len());
    for field in udt.fields.iter() {
        match table.raw_get::<Value>(&*field.name).map_err(|error| error.to_string())? {
            Value::Nil => return Err(format!("the field {} of {} is missing", field.name, udt.name)),
            part => parts.push(Some(bytes(lua, &field.data_type, &part)?)),
        }
    }
    if entry_count(table)? != udt.fields.len() {
        return Err(format!("the table has keys that are no fields of {}", udt.name));
    }
    Ok(encode_fields(parts))
}
