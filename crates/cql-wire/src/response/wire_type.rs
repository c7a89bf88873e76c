//! Column types as results describe them: the `[option]` notation and its differences between versions.
//!
//! A type that a version has no id for is sent as CUSTOM with Cassandra's class name; vectors always are.

use crate::error::WireError;
use crate::reader::Reader;
use crate::version::Version;
use crate::writer::{put_list, put_string, put_u16};

/// Levels of nesting that decoding follows.
const DEPTH_MAX: usize = 32;

const CUSTOM: u16 = 0x00;
const LIST: u16 = 0x20;
const MAP: u16 = 0x21;
const SET: u16 = 0x22;
const UDT: u16 = 0x30;
const TUPLE: u16 = 0x31;

/// The type of a column, field or element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WireType {
    /// A type known only by its class name.
    Custom(String),
    Ascii,
    Bigint,
    Blob,
    Boolean,
    Counter,
    Decimal,
    Double,
    Float,
    Int,
    Timestamp,
    Uuid,
    Text,
    Varint,
    Timeuuid,
    Inet,
    Date,
    Time,
    Smallint,
    Tinyint,
    Duration,
    List(Box<WireType>),
    Set(Box<WireType>),
    Map(Box<WireType>, Box<WireType>),
    Tuple(Vec<WireType>),
    Udt {
        keyspace: String,
        name: String,
        fields: Vec<(String, WireType)>,
    },
    Vector {
        element: Box<WireType>,
        dimensions: u32,
    },
}

/// Of a type without parts: id, first version that has the id, class name without its package.
struct Scalar(u16, Version, &'static str);

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

static SCALARS: [WireType; 20] = [
    WireType::Ascii,
    WireType::Bigint,
    WireType::Blob,
    WireType::Boolean,
    WireType::Counter,
    WireType::Decimal,
    WireType::Double,
    WireType::Float,
    WireType::Int,
    WireType::Timestamp,
    WireType::Uuid,
    WireType::Text,
    WireType::Varint,
    WireType::Timeuuid,
    WireType::Inet,
    WireType::Date,
    WireType::Time,
    WireType::Smallint,
    WireType::Tinyint,
    WireType::Duration,
];

impl WireType {
    fn scalar(&self) -> Option<Scalar> {
        Some(match self {
            WireType::Ascii => Scalar(0x01, Version::V3, "AsciiType"),
            WireType::Bigint => Scalar(0x02, Version::V3, "LongType"),
            WireType::Blob => Scalar(0x03, Version::V3, "BytesType"),
            WireType::Boolean => Scalar(0x04, Version::V3, "BooleanType"),
            WireType::Counter => Scalar(0x05, Version::V3, "CounterColumnType"),
            WireType::Decimal => Scalar(0x06, Version::V3, "DecimalType"),
            WireType::Double => Scalar(0x07, Version::V3, "DoubleType"),
            WireType::Float => Scalar(0x08, Version::V3, "FloatType"),
            WireType::Int => Scalar(0x09, Version::V3, "Int32Type"),
            WireType::Timestamp => Scalar(0x0B, Version::V3, "TimestampType"),
            WireType::Uuid => Scalar(0x0C, Version::V3, "UUIDType"),
            WireType::Text => Scalar(0x0D, Version::V3, "UTF8Type"),
            WireType::Varint => Scalar(0x0E, Version::V3, "IntegerType"),
            WireType::Timeuuid => Scalar(0x0F, Version::V3, "TimeUUIDType"),
            WireType::Inet => Scalar(0x10, Version::V3, "InetAddressType"),
            WireType::Date => Scalar(0x11, Version::V4, "SimpleDateType"),
            WireType::Time => Scalar(0x12, Version::V4, "TimeType"),
            WireType::Smallint => Scalar(0x13, Version::V4, "ShortType"),
            WireType::Tinyint => Scalar(0x14, Version::V4, "ByteType"),
            WireType::Duration => Scalar(0x15, Version::V5, "DurationType"),
            WireType::Custom(_)
            | WireType::List(_)
            | WireType::Set(_)
            | WireType::Map(..)
            | WireType::Tuple(_)
            | WireType::Udt { .. }
            | WireType::Vector { .. } => return None,
        })
    }

    fn find_scalar(accept: impl Fn(&Scalar) -> bool) -> Option<WireType> {
        SCALARS.iter().find(|column_type| column_type.scalar().is_some_and(|s| accept(&s))).cloned()
    }

    /// Appends the `[option]`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, version: Version) {
        if let Some(Scalar(id, since, class)) = self.scalar() {
            if version >= since {
                put_u16(out, id);
            } else {
                put_u16(out, CUSTOM);
                put_string(out, &format!("{PACKAGE}{class}"));
            }
            return;
        }
        match self {
            WireType::Custom(class) => {
                put_u16(out, CUSTOM);
                put_string(out, class);
            }
            WireType::Vector { .. } => {
                put_u16(out, CUSTOM);
                put_string(out, &self.class_name());
            }
            WireType::List(element) => {
                put_u16(out, LIST);
                element.write(out, version);
            }
            WireType::Set(element) => {
                put_u16(out, SET);
                element.write(out, version);
            }
            WireType::Map(key, value) => {
                put_u16(out, MAP);
                key.write(out, version);
                value.write(out, version);
            }
            WireType::Tuple(elements) => {
                put_u16(out, TUPLE);
                put_list(out, elements.iter(), |out, element| element.write(out, version));
            }
            WireType::Udt { keyspace, name, fields } => {
                put_u16(out, UDT);
                put_string(out, keyspace);
                put_string(out, name);
                put_list(out, fields.iter(), |out, (name, field)| {
                    put_string(out, name);
                    field.write(out, version);
                });
            }
            _ => debug_assert!(false, "every scalar is in the table"),
        }
    }

    /// Cassandra's class name of the type, as CUSTOM carries it and drivers parse it. Elements of vectors carry no
    /// `FrozenType` around them: Cassandra writes none for `vector<list<int>, 3>`, and gocql cannot read it.
    #[must_use]
    pub fn class_name(&self) -> String {
        let mut text = String::new();
        self.put_class_name(&mut text);
        text
    }

    fn put_class_name(&self, text: &mut String) {
        if let Some(Scalar(.., class)) = self.scalar() {
            text.push_str(PACKAGE);
            text.push_str(class);
            return;
        }
        let mut open = |class: &str| {
            text.push_str(PACKAGE);
            text.push_str(class);
            text.push('(');
        };
        match self {
            WireType::Custom(class) => text.push_str(class),
            WireType::Vector { element, dimensions } => {
                open("VectorType");
                element.put_class_name(text);
                text.push_str(&format!(" , {dimensions})"));
            }
            WireType::Tuple(elements) => {
                open("TupleType");
                put_parameters(text, elements.iter());
                text.push(')');
            }
            WireType::List(element) => {
                open("ListType");
                element.put_class_name(text);
                text.push(')');
            }
            WireType::Set(element) => {
                open("SetType");
                element.put_class_name(text);
                text.push(')');
            }
            WireType::Map(key, value) => {
                open("MapType");
                put_parameters(text, [&**key, &**value].into_iter());
                text.push(')');
            }
            WireType::Udt { keyspace, name, fields } => {
                open("UserType");
                text.push_str(keyspace);
                text.push(',');
                put_hex(text, name);
                for (field, field_type) in fields {
                    text.push(',');
                    put_hex(text, field);
                    text.push(':');
                    field_type.put_class_name(text);
                }
                text.push(')');
            }
            _ => debug_assert!(false, "every scalar is in the table"),
        }
    }

    /// Reads an `[option]`. What a server sends as CUSTOM is recognised by its class name if it is a scalar type;
    /// anything else stays [`WireType::Custom`].
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<WireType, WireError> {
        WireType::read_nested(reader, DEPTH_MAX)
    }

    fn read_nested(reader: &mut Reader<'_>, depth_left: usize) -> Result<WireType, WireError> {
        let depth_left = depth_left.checked_sub(1).ok_or(WireError::TypeTooDeep { depth_max: DEPTH_MAX })?;
        let id = reader.u16("type id")?;
        if let Some(scalar) = WireType::find_scalar(|scalar| scalar.0 == id) {
            return Ok(scalar);
        }
        let mut nested = || WireType::read_nested(reader, depth_left);
        match id {
            CUSTOM => {
                let class = reader.string("type class")?;
                let short = class.strip_prefix(PACKAGE);
                let scalar = WireType::find_scalar(|scalar| Some(scalar.2) == short);
                Ok(scalar.unwrap_or_else(|| WireType::Custom(class.to_owned())))
            }
            LIST => Ok(WireType::List(Box::new(nested()?))),
            SET => Ok(WireType::Set(Box::new(nested()?))),
            MAP => Ok(WireType::Map(Box::new(nested()?), Box::new(nested()?))),
            TUPLE => {
                let count = reader.u16("number of tuple elements")?;
                let elements = (0..count).map(|_| WireType::read_nested(reader, depth_left));
                Ok(WireType::Tuple(elements.collect::<Result<_, _>>()?))
            }
            UDT => {
                let keyspace = reader.string("keyspace of a type")?.to_owned();
                let name = reader.string("name of a type")?.to_owned();
                let mut fields = Vec::new();
                for _ in 0..reader.u16("number of fields")? {
                    let field = reader.string("name of a field")?.to_owned();
                    fields.push((field, WireType::read_nested(reader, depth_left)?));
                }
                Ok(WireType::Udt { keyspace, name, fields })
            }
            code => Err(WireError::UnknownCode { field: "a type", code: code.into() }),
        }
    }
}

fn put_parameters<'t>(text: &mut String, types: impl Iterator<Item = &'t WireType>) {
    for (index, parameter) in types.enumerate() {
        if index > 0 {
            text.push(',');
        }
        parameter.put_class_name(text);
    }
}

fn put_hex(text: &mut String, name: &str) {
    for byte in name.bytes() {
        text.push_str(&format!("{byte:02x}"));
    }
}
