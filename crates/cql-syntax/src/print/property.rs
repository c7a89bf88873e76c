//! Properties.

use std::fmt::{Display, Formatter, Result};

use super::join;
use crate::ast::{MapEntry, Property, PropertyValue};

impl Display for Property {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} = {}", self.name, self.value)
    }
}

impl Display for PropertyValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            PropertyValue::Literal(literal, _) => write!(f, "{literal}"),
            PropertyValue::Name(name) => write!(f, "{name}"),
            PropertyValue::Map(entries, _) => map(f, entries),
        }
    }
}

impl Display for MapEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: {}", self.key, self.value)
    }
}

pub(super) fn map(f: &mut Formatter<'_>, entries: &[MapEntry]) -> Result {
    f.write_str("{")?;
    join(f, entries, ", ")?;
    f.write_str("}")
}

/// ` WITH a AND b`, or nothing.
pub(super) fn with_clause<T: Display>(f: &mut Formatter<'_>, properties: &[T]) -> Result {
    if properties.is_empty() {
        return Ok(());
    }
    let separator = if f.alternate() { "\n    AND " } else { " AND " };
    f.write_str(" WITH ")?;
    join(f, properties, separator)
}
