//! The CQL text of a type, as `system_schema.columns.type` holds it, and the quoting of identifiers.

use std::fmt;

use super::DataType;

/// Words that cannot be an unquoted identifier, in lower case, sorted.
const RESERVED: [&str; 55] = [
    "add",
    "allow",
    "alter",
    "and",
    "apply",
    "asc",
    "authorize",
    "batch",
    "begin",
    "by",
    "columnfamily",
    "create",
    "delete",
    "desc",
    "describe",
    "drop",
    "entries",
    "execute",
    "from",
    "full",
    "grant",
    "if",
    "in",
    "index",
    "infinity",
    "insert",
    "into",
    "is",
    "keyspace",
    "limit",
    "materialized",
    "modify",
    "nan",
    "norecursive",
    "not",
    "null",
    "of",
    "on",
    "or",
    "order",
    "primary",
    "rename",
    "revoke",
    "schema",
    "select",
    "set",
    "table",
    "to",
    "token",
    "truncate",
    "unlogged",
    "update",
    "use",
    "using",
    "view",
];

/// True for words that must be quoted to serve as an identifier.
pub fn is_reserved_word(word: &str) -> bool {
    RESERVED.binary_search(&word).is_ok() || matches!(word, "where" | "with")
}

fn needs_quotes(name: &str) -> bool {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    !plain || is_reserved_word(name)
}

/// Writes an identifier, in double quotes where CQL needs them.
pub fn write_identifier(out: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    if needs_quotes(name) { write!(out, "\"{}\"", name.replace('"', "\"\"")) } else { out.write_str(name) }
}

/// An identifier as CQL text, in double quotes where CQL needs them.
pub fn quote_identifier(name: &str) -> String {
    if needs_quotes(name) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_string() }
}

impl DataType {
    /// The keyword of a type without parameters.
    pub fn native_name(&self) -> Option<&'static str> {
        Some(match self {
            DataType::Ascii => "ascii",
            DataType::BigInt => "bigint",
            DataType::Blob => "blob",
            DataType::Boolean => "boolean",
            DataType::Counter => "counter",
            DataType::Date => "date",
            DataType::Decimal => "decimal",
            DataType::Double => "double",
            DataType::Duration => "duration",
            DataType::Empty => "empty",
            DataType::Float => "float",
            DataType::Inet => "inet",
            DataType::Int => "int",
            DataType::SmallInt => "smallint",
            DataType::Text => "text",
            DataType::Time => "time",
            DataType::Timestamp => "timestamp",
            DataType::TimeUuid => "timeuuid",
            DataType::TinyInt => "tinyint",
            DataType::Uuid => "uuid",
            DataType::VarInt => "varint",
            _ => return None,
        })
    }

    /// The type of a keyword; `varchar` is another word for `text`.
    pub fn from_native_name(word: &str) -> Option<DataType> {
        Some(match word {
            "ascii" => DataType::Ascii,
            "bigint" => DataType::BigInt,
            "blob" => DataType::Blob,
            "boolean" => DataType::Boolean,
            "counter" => DataType::Counter,
            "date" => DataType::Date,
            "decimal" => DataType::Decimal,
            "double" => DataType::Double,
            "duration" => DataType::Duration,
            "empty" => DataType::Empty,
            "float" => DataType::Float,
            "inet" => DataType::Inet,
            "int" => DataType::Int,
            "smallint" => DataType::SmallInt,
            "text" | "varchar" => DataType::Text,
            "time" => DataType::Time,
            "timestamp" => DataType::Timestamp,
            "timeuuid" => DataType::TimeUuid,
            "tinyint" => DataType::TinyInt,
            "uuid" => DataType::Uuid,
            "varint" => DataType::VarInt,
            _ => return None,
        })
    }

    /// The text without the outer `frozen<>`; DESCRIBE and some error texts print tuples this way.
    pub fn unfrozen_name(&self) -> String {
        let text = self.to_string();
        match text.strip_prefix("frozen<").and_then(|rest| rest.strip_suffix('>')) {
            Some(inner) => inner.to_string(),
            None => text,
        }
    }
}

fn frozen(f: &mut fmt::Formatter<'_>, frozen: bool, inside: fmt::Arguments<'_>) -> fmt::Result {
    if frozen { write!(f, "frozen<{inside}>") } else { f.write_fmt(inside) }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataType::List { element, frozen: flag } => frozen(f, *flag, format_args!("list<{element}>")),
            DataType::Set { element, frozen: flag } => frozen(f, *flag, format_args!("set<{element}>")),
            DataType::Map { key, value, frozen: flag } => {
                frozen(f, *flag, format_args!("map<{key}, {value}>"))
            }
            DataType::Vector { element, dimensions } => write!(f, "vector<{element}, {dimensions}>"),
            DataType::Tuple(components) => {
                f.write_str("frozen<tuple<")?;
                for (i, component) in components.iter().enumerate() {
                    write!(f, "{}{component}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(">>")
            }
            DataType::Udt(udt) => frozen(f, udt.frozen, format_args!("{}", quote_identifier(&udt.name))),
            DataType::Custom(class) => write!(f, "'{class}'"),
            native => f.write_str(native.native_name().unwrap_or("empty")),
        }
    }
}
