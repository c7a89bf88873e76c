//! Result rows with typed access.

use crate::error::Error;
use crate::params::{Date, Time, TimeUuid, Timestamp, Uuid};
use model::value::Value;
use std::sync::Arc;

/// The answer to a statement; without rows for statements that have none.
#[derive(Debug)]
pub struct Rows {
    columns: Arc<[String]>,
    rows: Vec<Row>,
    warnings: Vec<String>,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    columns: Arc<[String]>,
    values: Vec<Value>,
}

impl Rows {
    pub(crate) fn new(columns: Vec<String>, rows: Vec<Vec<Value>>, warnings: Vec<String>) -> Rows {
        let columns: Arc<[String]> = columns.into();
        let rows = rows.into_iter().map(|values| Row { columns: columns.clone(), values }).collect();
        Rows { columns, rows, warnings }
    }

    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What the server would have warned a client about.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// For conditional statements: whether the condition held.
    pub fn applied(&self) -> Option<bool> {
        self.rows.first().and_then(|row| row.get::<bool>("[applied]").ok())
    }
}

impl IntoIterator for Rows {
    type Item = Row;
    type IntoIter = std::vec::IntoIter<Row>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

impl Row {
    /// The value of a column as a Rust type; `Option<T>` where it may be null.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<T, Error> {
        let wrong = |message: String| Error::Column { name: name.to_string(), message };
        let at = self.columns.iter().position(|c| c == name);
        let value = at
            .and_then(|i| self.values.get(i))
            .ok_or_else(|| wrong(format!("not in the result; it has {}", self.columns.join(", "))))?;
        T::from_value(value).ok_or_else(|| wrong(format!("is {value:?}, which is not the type asked for")))
    }

    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

/// A Rust type that a column can be read as.
pub trait FromValue: Sized {
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! from_value {
    ($($to:ty: $($pattern:pat => $result:expr),+;)*) => {
        $(impl FromValue for $to {
            fn from_value(value: &Value) -> Option<$to> {
                match value {
                    $($pattern => Some($result),)+
                    _ => None,
                }
            }
        })*
    };
}

from_value! {
    bool: Value::Boolean(v) => *v;
    i8: Value::TinyInt(v) => *v;
    i16: Value::SmallInt(v) => *v;
    i32: Value::Int(v) => *v;
    i64: Value::BigInt(v) => *v, Value::Counter(v) => *v;
    f32: Value::Float(v) => *v;
    f64: Value::Double(v) => *v;
    String: Value::Text(v) => v.clone();
    Vec<u8>: Value::Blob(v) => v.clone();
    std::net::IpAddr: Value::Inet(v) => *v;
    Timestamp: Value::Timestamp(v) => Timestamp(*v);
    Date: Value::Date(v) => Date(v.wrapping_sub(1 << 31) as i32);
    Time: Value::Time(v) => Time(*v);
    Uuid: Value::Uuid(v) => Uuid(*v), Value::TimeUuid(v) => Uuid(*v);
    TimeUuid: Value::TimeUuid(v) => TimeUuid(*v);
}

impl FromValue for Value {
    fn from_value(value: &Value) -> Option<Value> {
        Some(value.clone())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Option<T>> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}
