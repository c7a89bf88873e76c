//! Parameters of a statement, from Rust values.

use model::value::Value;

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

/// Days since 1970-01-01; may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub i32);

/// Nanoseconds since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uuid(pub [u8; 16]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeUuid(pub [u8; 16]);

/// A Rust value that can be bound to a marker.
pub trait IntoValue {
    fn into_value(self) -> Value;
}

macro_rules! into_value {
    ($($from:ty => |$v:ident| $to:expr;)*) => {
        $(impl IntoValue for $from {
            fn into_value(self) -> Value {
                let $v = self;
                $to
            }
        })*
    };
}

into_value! {
    Value => |v| v;
    bool => |v| Value::Boolean(v);
    i8 => |v| Value::TinyInt(v);
    i16 => |v| Value::SmallInt(v);
    i32 => |v| Value::Int(v);
    i64 => |v| Value::BigInt(v);
    f32 => |v| Value::Float(v);
    f64 => |v| Value::Double(v);
    &str => |v| Value::Text(v.to_string());
    String => |v| Value::Text(v);
    &[u8] => |v| Value::Blob(v.to_vec());
    Vec<u8> => |v| Value::Blob(v);
    std::net::IpAddr => |v| Value::Inet(v);
    Timestamp => |v| Value::Timestamp(v.0);
    // CQL dates count from the middle of the unsigned range.
    Date => |v| Value::Date((v.0 as u32).wrapping_add(1 << 31));
    Time => |v| Value::Time(v.0);
    Uuid => |v| Value::Uuid(v.0);
    TimeUuid => |v| Value::TimeUuid(v.0);
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, T::into_value)
    }
}

/// All parameters of a statement: `()`, a tuple, or a `Vec<Value>`.
pub trait Params {
    fn into_values(self) -> Vec<Value>;
}

impl Params for () {
    fn into_values(self) -> Vec<Value> {
        Vec::new()
    }
}

impl Params for Vec<Value> {
    fn into_values(self) -> Vec<Value> {
        self
    }
}

macro_rules! tuple_params {
    ($($name:ident),+) => {
        impl<$($name: IntoValue),+> Params for ($($name,)+) {
            #[allow(non_snake_case)]
            fn into_values(self) -> Vec<Value> {
                let ($($name,)+) = self;
                vec![$($name.into_value()),+]
            }
        }
    };
}

tuple_params!(A);
tuple_params!(A, B);
tuple_params!(A, B, C);
tuple_params!(A, B, C, D);
tuple_params!(A, B, C, D, E);
tuple_params!(A, B, C, D, E, F);
tuple_params!(A, B, C, D, E, F, G);
tuple_params!(A, B, C, D, E, F, G, H);
