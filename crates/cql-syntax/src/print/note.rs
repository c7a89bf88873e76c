//! COMMENT ON, SECURITY LABEL ON, and tables like others.

use std::fmt::{Display, Formatter, Result};

use super::if_not_exists;
use crate::ast::{CopyTable, NoteObject, SetNote};

impl Display for SetNote {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.is_label { "SECURITY LABEL " } else { "COMMENT " })?;
        if let Some(provider) = &self.provider {
            write!(f, "FOR {provider} ")?;
        }
        write!(f, "ON {} IS ", self.object)?;
        match &self.text {
            Some(text) => write!(f, "{text}"),
            None => f.write_str("NULL"),
        }
    }
}

impl Display for NoteObject {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            NoteObject::Keyspace(name) => write!(f, "KEYSPACE {name}"),
            NoteObject::Table(name) => write!(f, "TABLE {name}"),
            NoteObject::Column(of, column) => write!(f, "COLUMN {of}.{column}"),
            NoteObject::Type(name) => write!(f, "TYPE {name}"),
            NoteObject::Field(of, field) => write!(f, "FIELD {of}.{field}"),
        }
    }
}

impl Display for CopyTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("CREATE TABLE ")?;
        if_not_exists(f, self.if_not_exists)?;
        write!(f, "{} LIKE {}", self.name, self.source)?;
        let mut word = " WITH ";
        if self.with_indexes {
            write!(f, "{word}INDEXES")?;
            word = " AND ";
        }
        for property in &self.properties {
            write!(f, "{word}{property}")?;
            word = " AND ";
        }
        Ok(())
    }
}
