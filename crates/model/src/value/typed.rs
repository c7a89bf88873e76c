//! Values as Rust data: for the embedding API and for code that is not hot.

use std::net::IpAddr;
use std::sync::Arc;

use num_bigint::BigInt;

use crate::number::Decimal;
use crate::temporal::Duration;

/// One CQL value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    /// Zero bytes where they are legal but hold nothing: an empty int, an empty tuple.
    Empty,
    /// Both ascii and text.
    Text(String),
    Blob(Vec<u8>),
    Boolean(bool),
    TinyInt(i8),
    SmallInt(i16),
    Int(i32),
    BigInt(i64),
    Counter(i64),
    VarInt(BigInt),
    Decimal(Decimal),
    Float(f32),
    Double(f64),
    Inet(IpAddr),
    Uuid([u8; 16]),
    TimeUuid([u8; 16]),
    /// Days with 1970-01-01 at 2^31.
    Date(u32),
    /// Nanoseconds since midnight.
    Time(i64),
    /// Milliseconds since 1970.
    Timestamp(i64),
    Duration(Duration),
    List(Vec<Value>),
    Set(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Tuple(Vec<Value>),
    Udt(Vec<(Arc<str>, Value)>),
    Vector(Vec<Value>),
}

impl Value {
    /// What the value is, for error sentences.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Empty => "empty",
            Value::Text(_) => "text",
            Value::Blob(_) => "blob",
            Value::Boolean(_) => "boolean",
            Value::TinyInt(_) => "tinyint",
            Value::SmallInt(_) => "smallint",
            Value::Int(_) => "int",
            Value::BigInt(_) => "bigint",
            Value::Counter(_) => "counter",
            Value::VarInt(_) => "varint",
            Value::Decimal(_) => "decimal",
            Value::Float(_) => "float",
            Value::Double(_) => "double",
            Value::Inet(_) => "inet",
            Value::Uuid(_) => "uuid",
            Value::TimeUuid(_) => "timeuuid",
            Value::Date(_) => "date",
            Value::Time(_) => "time",
            Value::Timestamp(_) => "timestamp",
            Value::Duration(_) => "duration",
            Value::List(_) => "list",
            Value::Set(_) => "set",
            Value::Map(_) => "map",
            Value::Tuple(_) => "tuple",
            Value::Udt(_) => "user-defined type",
            Value::Vector(_) => "vector",
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}

macro_rules! from_rust {
    ($($rust:ty => $variant:ident),* $(,)?) => {
        $(impl From<$rust> for Value {
            fn from(value: $rust) -> Value {
                Value::$variant(value)
            }
        })*
    };
}

from_rust! {
    String => Text,
    Vec<u8> => Blob,
    bool => Boolean,
    i8 => TinyInt,
    i16 => SmallInt,
    i32 => Int,
    i64 => BigInt,
    BigInt => VarInt,
    Decimal => Decimal,
    f32 => Float,
    f64 => Double,
    IpAddr => Inet,
    Duration => Duration,
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_string())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}
