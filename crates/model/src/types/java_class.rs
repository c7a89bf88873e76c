//! The Java class form of a type, which the native protocol uses for types it has no number for (vectors, and
//! in older protocol versions duration and others).

use std::fmt::Write;

use super::{DataType, UdtType};

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// The full class text, for example `org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)`.
pub fn java_class_name(data_type: &DataType) -> String {
    let mut out = String::new();
    write_class(&mut out, data_type, false);
    out
}

fn simple_class(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Ascii => "AsciiType",
        DataType::BigInt => "LongType",
        DataType::Blob => "BytesType",
        DataType::Boolean => "BooleanType",
        DataType::Counter => "CounterColumnType",
        DataType::Date => "SimpleDateType",
        DataType::Decimal => "DecimalType",
        DataType::Double => "DoubleType",
        DataType::Duration => "DurationType",
        DataType::Empty => "EmptyType",
        DataType::Float => "FloatType",
        DataType::Inet => "InetAddressType",
        DataType::Int => "Int32Type",
        DataType::SmallInt => "ShortType",
        DataType::Text => "UTF8Type",
        DataType::Time => "TimeType",
        DataType::Timestamp => "TimestampType",
        DataType::TimeUuid => "TimeUUIDType",
        DataType::TinyInt => "ByteType",
        DataType::Uuid => "UUIDType",
        DataType::VarInt => "IntegerType",
        DataType::List { .. } => "ListType",
        DataType::Set { .. } => "SetType",
        DataType::Map { .. } => "MapType",
        DataType::Tuple(_) => "TupleType",
        DataType::Udt(_) => "UserType",
        DataType::Vector { .. } => "VectorType",
        DataType::Custom(_) => "BytesType",
    }
}

/// `inside_frozen` drops the FrozenType wrapper: once an outer type is frozen everything inside is.
fn write_class(out: &mut String, data_type: &DataType, inside_frozen: bool) {
    if let DataType::Custom(class) = data_type {
        out.push_str(class);
        return;
    }
    let can_be_unfrozen = data_type.is_collection() || matches!(data_type, DataType::Udt(_));
    let is_frozen = can_be_unfrozen && !data_type.is_multi_cell();
    let wrap = is_frozen && !inside_frozen;
    if wrap {
        out.push_str(PACKAGE);
        out.push_str("FrozenType(");
    }
    out.push_str(PACKAGE);
    out.push_str(simple_class(data_type));
    write_parameters(out, data_type, inside_frozen || is_frozen);
    if wrap {
        out.push(')');
    }
}

fn write_parameters(out: &mut String, data_type: &DataType, inside_frozen: bool) {
    match data_type {
        DataType::Vector { element, dimensions } => {
            out.push('(');
            write_class(out, element, inside_frozen);
            let _ = write!(out, " , {dimensions})");
        }
        DataType::Udt(udt) => write_udt_parameters(out, udt, inside_frozen),
        DataType::Tuple(components) => {
            out.push('(');
            for (i, component) in components.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_class(out, component, true);
            }
            out.push(')');
        }
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            out.push('(');
            write_class(out, element, inside_frozen);
            out.push(')');
        }
        DataType::Map { key, value, .. } => {
            out.push('(');
            write_class(out, key, inside_frozen);
            out.push(',');
            write_class(out, value, inside_frozen);
            out.push(')');
        }
        _ => {}
    }
}

fn write_udt_parameters(out: &mut String, udt: &UdtType, inside_frozen: bool) {
    let _ = write!(out, "({},", udt.keyspace);
    write_hex(out, &udt.name);
    for field in udt.fields.iter() {
        out.push(',');
        write_hex(out, &field.name);
        out.push(':');
        write_class(out, &field.data_type, inside_frozen);
    }
    out.push(')');
}

fn write_hex(out: &mut String, text: &str) {
    for byte in text.bytes() {
        let _ = write!(out, "{byte:02x}");
    }
}
/// The scalar type of a class, named without its package.
pub fn native_of_java_class(class: &str) -> Option<DataType> {
    Some(match class {
        "AsciiType" => DataType::Ascii,
        "BooleanType" => DataType::Boolean,
        "ByteType" => DataType::TinyInt,
        "BytesType" => DataType::Blob,
        "CounterColumnType" => DataType::Counter,
        "DecimalType" => DataType::Decimal,
        "DoubleType" => DataType::Double,
        "DurationType" => DataType::Duration,
        "EmptyType" => DataType::Empty,
        "FloatType" => DataType::Float,
        "InetAddressType" => DataType::Inet,
        "Int32Type" => DataType::Int,
        "IntegerType" => DataType::VarInt,
        "LongType" => DataType::BigInt,
        "ShortType" => DataType::SmallInt,
        "SimpleDateType" => DataType::Date,
        "TimeType" => DataType::Time,
        "TimeUUIDType" => DataType::TimeUuid,
        "TimestampType" => DataType::Timestamp,
        "UTF8Type" => DataType::Text,
        "UUIDType" => DataType::Uuid,
        _ => return None,
    })
}

/// The parameters of a class, split at commas that are not inside parentheses.
pub fn split_java_parameters(inside: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let mut start = 0;
    let mut parts = Vec::new();
    for (at, character) in inside.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    parts
}
