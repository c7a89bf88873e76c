//! Why a change of the schema is refused. Facts; texts for clients are Cassandra's, made in `Display`.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaError {
    KeyspaceExists(String),
    TableExists { keyspace: String, table: String },
    TypeExists { keyspace: String, name: String },
    KeyspaceMissing(String),
    TableMissing { keyspace: String, table: String },
    /// Anything else that is wrong with the request, in words for the client.
    Invalid(String),
    /// A property has a value that makes no sense (protocol class 0x2300).
    Config(String),
    /// The stored catalogue cannot be read.
    Damaged(String),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaError::KeyspaceExists(name) => write!(f, "Cannot add existing keyspace \"{name}\""),
            SchemaError::TableExists { keyspace, table } => {
                write!(f, "Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"")
            }
            SchemaError::TypeExists { keyspace, name } => {
                write!(f, "A user type with name '{name}' already exists in keyspace '{keyspace}'")
            }
            SchemaError::KeyspaceMissing(name) => write!(f, "keyspace {name} does not exist"),
            SchemaError::TableMissing { keyspace, table } => {
                write!(f, "Table '{keyspace}.{table}' doesn't exist")
            }
            SchemaError::Invalid(text) | SchemaError::Config(text) | SchemaError::Damaged(text) => {
                f.write_str(text)
            }
        }
    }
}

impl std::error::Error for SchemaError {}
