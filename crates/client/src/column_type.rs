//! Types as results describe them: for reading values, and as text for the golden files.

use cql_wire::WireType;
use model::types::{DataType, java_class_name};

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// What a vector may be of.
const NATIVES: [DataType; 19] = [
    DataType::Ascii,
    DataType::BigInt,
    DataType::Blob,
    DataType::Boolean,
    DataType::Date,
    DataType::Decimal,
    DataType::Double,
    DataType::Duration,
    DataType::Float,
    DataType::Inet,
    DataType::Int,
    DataType::SmallInt,
    DataType::Text,
    DataType::Time,
    DataType::TimeUuid,
    DataType::Timestamp,
    DataType::TinyInt,
    DataType::Uuid,
    DataType::VarInt,
];

/// The value type of a column; a type that we only know by class name has opaque values.
pub fn data_type(wire: &WireType) -> DataType {
    match wire {
        WireType::Ascii => DataType::Ascii,
        WireType::Bigint => DataType::BigInt,
        WireType::Blob => DataType::Blob,
        WireType::Boolean => DataType::Boolean,
        WireType::Counter => DataType::Counter,
        WireType::Decimal => DataType::Decimal,
        WireType::Double => DataType::Double,
        WireType::Float => DataType::Float,
        WireType::Int => DataType::Int,
        WireType::Timestamp => DataType::Timestamp,
        WireType::Uuid => DataType::Uuid,
        WireType::Text => DataType::Text,
        WireType::Varint => DataType::VarInt,
        WireType::Timeuuid => DataType::TimeUuid,
        WireType::Inet => DataType::Inet,
        WireType::Date => DataType::Date,
        WireType::Time => DataType::Time,
        WireType::Smallint => DataType::SmallInt,
        WireType::Tinyint => DataType::TinyInt,
        WireType::Duration => DataType::Duration,
        WireType::List(element) => DataType::list(data_type(element)),
        WireType::Set(element) => DataType::set(data_type(element)),
        WireType::Map(key, value) => DataType::map(data_type(key), data_type(value)),
        WireType::Tuple(elements) => DataType::tuple(elements.iter().map(data_type)),
        WireType::Udt { keyspace, name, fields } => DataType::udt(
            keyspace.as_str(),
            name.as_str(),
            fields.iter().map(|(name, field)| (name.as_str(), data_type(field))),
        ),
        WireType::Vector { element, dimensions } => DataType::vector(data_type(element), *dimensions),
        WireType::Custom(class) => {
            vector_of(class).unwrap_or_else(|| DataType::Custom(class.as_str().into()))
        }
    }
}

/// `…VectorType(…FloatType , 3)`: the only custom type that Cassandra sends in v5.
fn vector_of(class: &str) -> Option<DataType> {
    let inner = class.strip_prefix(PACKAGE)?.strip_prefix("VectorType(")?.strip_suffix(')')?;
    let (element, dimensions) = inner.rsplit_once(',')?;
    let element = element.trim();
    let dimensions = dimensions.trim().parse().ok()?;
    let element = vector_of(element).or_else(|| scalar_of(element))?;
    Some(DataType::vector(element, dimensions))
}

fn scalar_of(class: &str) -> Option<DataType> {
    NATIVES.iter().find(|native| java_class_name(native) == class).cloned()
}

/// The type as a golden file shows it: CQL's own notation, user types with their fields.
pub fn type_text(wire: &WireType) -> String {
    match wire {
        WireType::List(element) => format!("list<{}>", type_text(element)),
        WireType::Set(element) => format!("set<{}>", type_text(element)),
        WireType::Map(key, value) => format!("map<{}, {}>", type_text(key), type_text(value)),
        WireType::Tuple(elements) => {
            let elements: Vec<_> = elements.iter().map(type_text).collect();
            format!("tuple<{}>", elements.join(", "))
        }
        WireType::Udt { name, fields, .. } => {
            let fields: Vec<_> = fields.iter().map(|(n, t)| format!("{n} {}", type_text(t))).collect();
            format!("{name}({})", fields.join(", "))
        }
        other => data_type(other).to_string(),
    }
}
