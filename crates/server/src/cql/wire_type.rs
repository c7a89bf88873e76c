//! Types of the model as the wire describes them.

use cql_wire::{ColumnSpec, WireType};
use model::types::{DataType, java_class_name};

pub fn wire_type(data_type: &DataType) -> WireType {
    let boxed = |t: &DataType| Box::new(wire_type(t));
    match data_type {
        DataType::Ascii => WireType::Ascii,
        DataType::BigInt => WireType::Bigint,
        DataType::Blob => WireType::Blob,
        DataType::Boolean => WireType::Boolean,
        DataType::Counter => WireType::Counter,
        DataType::Date => WireType::Date,
        DataType::Decimal => WireType::Decimal,
        DataType::Double => WireType::Double,
        DataType::Duration => WireType::Duration,
        DataType::Float => WireType::Float,
        DataType::Inet => WireType::Inet,
        DataType::Int => WireType::Int,
        DataType::SmallInt => WireType::Smallint,
        DataType::Text => WireType::Text,
        DataType::Time => WireType::Time,
        DataType::Timestamp => WireType::Timestamp,
        DataType::TimeUuid => WireType::Timeuuid,
        DataType::TinyInt => WireType::Tinyint,
        DataType::Uuid => WireType::Uuid,
        DataType::VarInt => WireType::Varint,
        DataType::List { element, .. } => WireType::List(boxed(element)),
        DataType::Set { element, .. } => WireType::Set(boxed(element)),
        DataType::Map { key, value, .. } => WireType::Map(boxed(key), boxed(value)),
        DataType::Tuple(parts) => WireType::Tuple(parts.iter().map(wire_type).collect()),
        DataType::Udt(udt) => WireType::Udt {
            keyspace: udt.keyspace.to_string(),
            name: udt.name.to_string(),
            fields: udt.fields.iter().map(|f| (f.name.to_string(), wire_type(&f.data_type))).collect(),
        },
        DataType::Vector { element, dimensions } => {
            WireType::Vector { element: boxed(element), dimensions: *dimensions }
        }
        DataType::Empty | DataType::Custom(_) => WireType::Custom(java_class_name(data_type)),
    }
}

/// Specs for the wire; made once per prepared statement.
pub fn column_specs(columns: &[query::ColumnSpec]) -> Vec<ColumnSpec> {
    let spec = |c: &query::ColumnSpec| ColumnSpec {
        keyspace: c.keyspace.clone(),
        table: c.table.clone(),
        name: c.name.clone(),
        column_type: wire_type(&c.data_type),
    };
    columns.iter().map(spec).collect()
}
