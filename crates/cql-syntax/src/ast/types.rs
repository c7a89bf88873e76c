//! Types as they are written.

use super::name::QualifiedName;
use crate::span::Span;

/// A type as written in a column definition, a cast, a type hint or a function signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    pub kind: TypeKind,
    pub span: Span,
}

/// The forms of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeKind {
    Native(NativeType),
    /// `list<t>`
    List(Box<DataType>),
    /// `set<t>`
    Set(Box<DataType>),
    /// `map<k, v>`
    Map(Box<DataType>, Box<DataType>),
    /// `tuple<a, b, ...>`; never empty
    Tuple(Vec<DataType>),
    /// `vector<t, n>`; that `n` is positive is for the binder to check
    Vector(Box<DataType>, u32),
    /// `frozen<t>`; `t` is a collection, tuple, vector, user type or custom type
    Frozen(Box<DataType>),
    /// A user-defined type, `[keyspace.]name`
    User(QualifiedName),
    /// A class name in single quotes, such as `'org.apache.cassandra.db.marshal.BytesType'`
    Custom(String),
}

/// The native types. `varchar` is read as [`NativeType::Text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NativeType {
    Ascii,
    Bigint,
    Blob,
    Boolean,
    Counter,
    Date,
    Decimal,
    Double,
    Duration,
    Float,
    Inet,
    Int,
    Smallint,
    Text,
    Time,
    Timestamp,
    Timeuuid,
    Tinyint,
    Uuid,
    Varint,
}

impl NativeType {
    /// Every native type, in alphabetical order.
    pub const ALL: [NativeType; 20] = [
        NativeType::Ascii,
        NativeType::Bigint,
        NativeType::Blob,
        NativeType::Boolean,
        NativeType::Counter,
        NativeType::Date,
        NativeType::Decimal,
        NativeType::Double,
        NativeType::Duration,
        NativeType::Float,
        NativeType::Inet,
        NativeType::Int,
        NativeType::Smallint,
        NativeType::Text,
        NativeType::Time,
        NativeType::Timestamp,
        NativeType::Timeuuid,
        NativeType::Tinyint,
        NativeType::Uuid,
        NativeType::Varint,
    ];

    /// The name in CQL.
    pub const fn name(self) -> &'static str {
        match self {
            NativeType::Ascii => "ascii",
            NativeType::Bigint => "bigint",
            NativeType::Blob => "blob",
            NativeType::Boolean => "boolean",
            NativeType::Counter => "counter",
            NativeType::Date => "date",
            NativeType::Decimal => "decimal",
            NativeType::Double => "double",
            NativeType::Duration => "duration",
            NativeType::Float => "float",
            NativeType::Inet => "inet",
            NativeType::Int => "int",
            NativeType::Smallint => "smallint",
            NativeType::Text => "text",
            NativeType::Time => "time",
            NativeType::Timestamp => "timestamp",
            NativeType::Timeuuid => "timeuuid",
            NativeType::Tinyint => "tinyint",
            NativeType::Uuid => "uuid",
            NativeType::Varint => "varint",
        }
    }
}

impl DataType {
    /// A type that was not read from a text.
    pub fn new(kind: TypeKind) -> Self {
        DataType { kind, span: Span::default() }
    }

    /// A native type that was not read from a text.
    pub fn native(native: NativeType) -> Self {
        DataType::new(TypeKind::Native(native))
    }
}
