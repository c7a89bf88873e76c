//! Names in full: what refusals name.

use crate::table::Table;
use std::fmt;

/// The name of a table, a type or a function with its keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullName {
    pub keyspace: String,
    pub name: String,
}

impl FullName {
    pub fn new(keyspace: &str, name: &str) -> FullName {
        FullName { keyspace: keyspace.to_string(), name: name.to_string() }
    }
}

impl fmt::Display for FullName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.keyspace, self.name)
    }
}

impl Table {
    pub fn full_name(&self) -> FullName {
        FullName::new(&self.keyspace, &self.name)
    }
}

/// A function or an aggregate, by the types of its arguments where they are said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: FullName,
    pub arguments: Option<Vec<String>>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.arguments {
            Some(types) => write!(f, "{}({})", self.name, types.join(", ")),
            None => self.name.fmt(f),
        }
    }
}
