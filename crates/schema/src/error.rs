//! Why a change of the schema is refused. Facts; texts for clients are Cassandra's, made in `Display`.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaError {
    KeyspaceExists(String),
    TableExists {
        keyspace: String,
        table: String,
    },
    TypeExists {
        keyspace: String,
        name: String,
    },
    PatternExists {
        keyspace: String,
        name: String,
    },
    KeyspaceMissing(String),
    TableMissing {
        keyspace: String,
        table: String,
    },
    TypeMissing {
        keyspace: String,
        name: String,
    },
    PatternMissing {
        keyspace: String,
        name: String,
    },
    /// Anything else that is wrong with the request, in words for the client.
    Invalid(String),
    /// A property has a value that makes no sense (protocol class 0x2300).
    Config(String),
    /// A property is misspelt or has the wrong form (protocol class 0x2000).
    Syntax(String),
    /// The object belongs to the server (protocol class 0x2100).
    Unauthorized(String),
    /// The stored catalogue cannot be read.
    Damaged(String),
}

impl SchemaError {
    pub fn invalid(text: impl Into<String>) -> SchemaError {
        SchemaError::Invalid(text.into())
    }

    pub fn config(text: impl Into<String>) -> SchemaError {
        SchemaError::Config(text.into())
    }

    pub fn syntax(text: impl Into<String>) -> SchemaError {
        SchemaError::Syntax(text.into())
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaError::KeyspaceExists(name) => write!(f, "Cannot add existing keyspace \"{name}\""),
            SchemaError::TableExists { keyspace, table } => {
                write!(f, "Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"")
            }
            SchemaError::TypeExists { name, .. } => {
                write!(f, "A user type with name '{name}' already exists")
            }
            SchemaError::PatternExists { keyspace, name } => {
                write!(f, "Access pattern '{keyspace}.{name}' already exists")
            }
            SchemaError::KeyspaceMissing(name) => write!(f, "Keyspace '{name}' doesn't exist"),
            SchemaError::TableMissing { keyspace, table } => {
                write!(f, "Table '{keyspace}.{table}' doesn't exist")
            }
            SchemaError::TypeMissing { keyspace, name } => {
                write!(f, "Type '{keyspace}.{name}' doesn't exist")
            }
            SchemaError::PatternMissing { keyspace, name } => {
                write!(f, "Access pattern '{keyspace}.{name}' doesn't exist")
            }
            SchemaError::Invalid(text)
            | SchemaError::Config(text)
            | SchemaError::Syntax(text)
            | SchemaError::Unauthorized(text)
            | SchemaError::Damaged(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SchemaError {}
