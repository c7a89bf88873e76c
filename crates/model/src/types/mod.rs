//! CQL data types: what a column, a collection element, a field or a function argument can hold.
//!
//! Guarantees: cloning a type is a reference-count bump at most; two types are equal when they name the same
//! shape including frozenness; `Display` prints the text of `system_schema.columns.type`, and [`DataType::parse`]
//! reads that text back. Does not know tables or wire type ids, and does not check where a type may be used
//! (a duration in a key, a counter in a set): those are rules of statements.

#[cfg(test)]
mod deep_tests;
mod java_class;
mod name;
mod parse;
mod size;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use java_class::{java_class_name, native_of_java_class, split_java_parameters};
pub use name::{is_reserved_word, quote_identifier, write_identifier};
pub use parse::{TypeParseError, UdtLookup};
pub use size::{TYPE_DEPTH_MAX, TYPE_NODES_MAX, TypeSizeError};

/// Dimensions above this are refused when a type is parsed; Cassandra's own limit is the same order (8 K by guardrail).
pub const VECTOR_DIMENSIONS_MAX: u32 = 65_536;

/// A CQL type. Nested types sit behind `Arc`, so a clone never copies a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    Ascii,
    BigInt,
    Blob,
    Boolean,
    Counter,
    Date,
    Decimal,
    Double,
    Duration,
    /// The type whose only value is the empty byte string; appears in compact-storage leftovers only.
    Empty,
    Float,
    Inet,
    Int,
    SmallInt,
    Text,
    Time,
    Timestamp,
    TimeUuid,
    TinyInt,
    Uuid,
    VarInt,
    List {
        element: Arc<DataType>,
        frozen: bool,
    },
    Set {
        element: Arc<DataType>,
        frozen: bool,
    },
    Map {
        key: Arc<DataType>,
        value: Arc<DataType>,
        frozen: bool,
    },
    /// Tuples are always frozen, and so are their components.
    Tuple(Arc<[DataType]>),
    Udt(Arc<UdtType>),
    /// Vectors are always frozen.
    Vector {
        element: Arc<DataType>,
        dimensions: u32,
    },
    /// A type we only carry around: its Java class name. Values are opaque bytes.
    Custom(Arc<str>),
}

/// A user-defined type: a named tuple with named fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UdtType {
    pub keyspace: Arc<str>,
    pub name: Arc<str>,
    pub fields: Arc<[UdtField]>,
    pub frozen: bool,
}

/// One field of a user-defined type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UdtField {
    pub name: Arc<str>,
    pub data_type: DataType,
}

impl UdtType {
    /// Position of the field with exactly this name (names are already case-folded by the binder).
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| &*field.name == name)
    }
}

impl DataType {
    /// A non-frozen list.
    pub fn list(element: DataType) -> DataType {
        DataType::List { element: Arc::new(element), frozen: false }
    }

    /// A non-frozen set.
    pub fn set(element: DataType) -> DataType {
        DataType::Set { element: Arc::new(element), frozen: false }
    }

    /// A non-frozen map.
    pub fn map(key: DataType, value: DataType) -> DataType {
        DataType::Map { key: Arc::new(key), value: Arc::new(value), frozen: false }
    }

    /// A tuple; its components are frozen, as Cassandra does it.
    pub fn tuple(components: impl IntoIterator<Item = DataType>) -> DataType {
        DataType::Tuple(components.into_iter().map(|component| component.freeze()).collect())
    }

    pub fn vector(element: DataType, dimensions: u32) -> DataType {
        DataType::Vector { element: Arc::new(element), dimensions }
    }

    /// A user-defined type, non-frozen.
    pub fn udt<N: Into<Arc<str>>>(
        keyspace: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
        fields: impl IntoIterator<Item = (N, DataType)>,
    ) -> DataType {
        let fields =
            fields.into_iter().map(|(name, data_type)| UdtField { name: name.into(), data_type }).collect();
        DataType::Udt(Arc::new(UdtType {
            keyspace: keyspace.into(),
            name: name.into(),
            fields,
            frozen: false,
        }))
    }

    /// True when a column of this type is stored as one cell per element or field.
    pub fn is_multi_cell(&self) -> bool {
        match self {
            DataType::List { frozen, .. } | DataType::Set { frozen, .. } | DataType::Map { frozen, .. } => {
                !frozen
            }
            DataType::Udt(udt) => !udt.frozen,
            _ => false,
        }
    }

    /// The same type as one cell. Elements of a collection freeze with it; fields of a user-defined type keep
    /// their declared form, because the type definition is shared by all its uses.
    pub fn freeze(&self) -> DataType {
        match self {
            DataType::List { element, frozen: false } => {
                DataType::List { element: Arc::new(element.freeze()), frozen: true }
            }
            DataType::Set { element, frozen: false } => {
                DataType::Set { element: Arc::new(element.freeze()), frozen: true }
            }
            DataType::Map { key, value, frozen: false } => {
                DataType::Map { key: Arc::new(key.freeze()), value: Arc::new(value.freeze()), frozen: true }
            }
            DataType::Udt(udt) if !udt.frozen => {
                DataType::Udt(Arc::new(UdtType { frozen: true, ..UdtType::clone(udt) }))
            }
            other => other.clone(),
        }
    }

    /// Byte length of every non-empty value, where Cassandra's type says it is fixed. This decides the layout of
    /// vectors, so it follows Cassandra exactly: date, time, smallint and tinyint count as variable.
    pub fn fixed_len(&self) -> Option<usize> {
        match self {
            DataType::Boolean => Some(1),
            DataType::Int | DataType::Float => Some(4),
            DataType::BigInt | DataType::Double | DataType::Timestamp => Some(8),
            DataType::Uuid | DataType::TimeUuid => Some(16),
            DataType::Empty => Some(0),
            DataType::Vector { element, dimensions } => {
                element.fixed_len().and_then(|len| len.checked_mul(*dimensions as usize))
            }
            _ => None,
        }
    }

    pub fn is_fixed_len(&self) -> bool {
        self.fixed_len().is_some()
    }

    pub fn is_collection(&self) -> bool {
        matches!(self, DataType::List { .. } | DataType::Set { .. } | DataType::Map { .. })
    }

    /// Number types: the operands of arithmetic and of sum and avg (counter included).
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            DataType::TinyInt
                | DataType::SmallInt
                | DataType::Int
                | DataType::BigInt
                | DataType::Counter
                | DataType::VarInt
                | DataType::Decimal
                | DataType::Float
                | DataType::Double
        )
    }

    pub fn is_text(&self) -> bool {
        matches!(self, DataType::Ascii | DataType::Text)
    }

    /// Whether values hold decimals, whose scale is no part of their comparable form.
    pub fn has_decimal(&self) -> bool {
        match self {
            DataType::Decimal => true,
            DataType::List { element, .. }
            | DataType::Set { element, .. }
            | DataType::Vector { element, .. } => element.has_decimal(),
            DataType::Map { key, value, .. } => key.has_decimal() || value.has_decimal(),
            DataType::Tuple(parts) => parts.iter().any(DataType::has_decimal),
            DataType::Udt(udt) => udt.fields.iter().any(|field| field.data_type.has_decimal()),
            _ => false,
        }
    }

    /// Types for which zero bytes are a legal value but carry no information: CQL treats such a value as null in
    /// functions and arithmetic.
    pub fn is_empty_meaningless(&self) -> bool {
        matches!(
            self,
            DataType::Boolean
                | DataType::Int
                | DataType::BigInt
                | DataType::Counter
                | DataType::Float
                | DataType::Double
                | DataType::VarInt
                | DataType::Decimal
                | DataType::Timestamp
                | DataType::Uuid
                | DataType::TimeUuid
                | DataType::Inet
        )
    }

    /// Types directly inside this one.
    pub fn children(&self) -> Vec<&DataType> {
        match self {
            DataType::List { element, .. }
            | DataType::Set { element, .. }
            | DataType::Vector { element, .. } => {
                vec![element]
            }
            DataType::Map { key, value, .. } => vec![key, value],
            DataType::Tuple(components) => components.iter().collect(),
            DataType::Udt(udt) => udt.fields.iter().map(|field| &field.data_type).collect(),
            _ => Vec::new(),
        }
    }

    fn any(&self, test: &dyn Fn(&DataType) -> bool) -> bool {
        test(self) || self.children().into_iter().any(|child| child.any(test))
    }

    /// True when the named user-defined type is this type or anywhere inside it.
    pub fn references_udt(&self, keyspace: &str, name: &str) -> bool {
        self.any(
            &|inner| matches!(inner, DataType::Udt(udt) if &*udt.keyspace == keyspace && &*udt.name == name),
        )
    }

    /// True when a duration is anywhere inside; such a type has no order.
    pub fn references_duration(&self) -> bool {
        self.any(&|inner| matches!(inner, DataType::Duration))
    }

    pub fn references_counter(&self) -> bool {
        self.any(&|inner| matches!(inner, DataType::Counter))
    }

    /// This type with every user-defined type that `fresh` knows replaced by what it gives; each use keeps its own
    /// frozenness. Fields are not entered: `fresh` gives types whose own are up to date. For ALTER TYPE.
    pub fn with_udts(&self, fresh: &dyn Fn(&UdtType) -> Option<Arc<UdtType>>) -> DataType {
        let inside = |inner: &DataType| Arc::new(inner.with_udts(fresh));
        match self {
            DataType::List { element, frozen } => {
                DataType::List { element: inside(element), frozen: *frozen }
            }
            DataType::Set { element, frozen } => DataType::Set { element: inside(element), frozen: *frozen },
            DataType::Map { key, value, frozen } => {
                DataType::Map { key: inside(key), value: inside(value), frozen: *frozen }
            }
            DataType::Vector { element, dimensions } => {
                DataType::Vector { element: inside(element), dimensions: *dimensions }
            }
            DataType::Tuple(components) => {
                DataType::Tuple(components.iter().map(|inner| inner.with_udts(fresh)).collect())
            }
            DataType::Udt(udt) => match fresh(udt) {
                Some(fresh) if fresh.frozen == udt.frozen => DataType::Udt(fresh),
                Some(fresh) => {
                    DataType::Udt(Arc::new(UdtType { frozen: udt.frozen, ..UdtType::clone(&fresh) }))
                }
                None => self.clone(),
            },
            other => other.clone(),
        }
    }

    /// The user-defined types that the text of this type names: fields of theirs are not entered.
    pub fn for_each_named_udt<'t>(&'t self, seen: &mut dyn FnMut(&'t Arc<UdtType>)) {
        match self {
            DataType::List { element, .. }
            | DataType::Set { element, .. }
            | DataType::Vector { element, .. } => element.for_each_named_udt(seen),
            DataType::Map { key, value, .. } => {
                key.for_each_named_udt(seen);
                value.for_each_named_udt(seen);
            }
            DataType::Tuple(components) => components.iter().for_each(|inner| inner.for_each_named_udt(seen)),
            DataType::Udt(udt) => seen(udt),
            _ => {}
        }
    }
}
