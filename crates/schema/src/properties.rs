//! Properties: `name = value` pairs after WITH, read with the conversions and texts of Cassandra.

use crate::error::SchemaError;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyValue {
    Text(String),
    Map(BTreeMap<String, String>),
}

/// Each name at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<String, PropertyValue>);

impl Properties {
    pub fn new() -> Properties {
        Properties::default()
    }

    pub fn add(&mut self, name: &str, value: PropertyValue) -> Result<(), SchemaError> {
        match self.0.insert(name.to_string(), value) {
            None => Ok(()),
            Some(_) => Err(SchemaError::Syntax(format!("Multiple definitions for property '{name}'"))),
        }
    }

    /// In place of the value that is there.
    pub(crate) fn set(&mut self, name: &str, value: PropertyValue) {
        self.0.insert(name.to_string(), value);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses the first name that is not one of `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), SchemaError> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(SchemaError::Syntax(format!("Unknown property '{name}'"))),
        }
    }

    /// The others, without these.
    pub fn without(&self, names: &[&str]) -> Properties {
        let others = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        Properties(others.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>, SchemaError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(PropertyValue::Text(text)) => Ok(Some(text)),
            Some(PropertyValue::Map(_)) => Err(SchemaError::Syntax(format!(
                "Invalid value for property '{name}'. It should be a string"
            ))),
        }
    }

    pub fn map(&self, name: &str) -> Result<Option<&BTreeMap<String, String>>, SchemaError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(PropertyValue::Map(map)) => Ok(Some(map)),
            Some(PropertyValue::Text(_)) => {
                Err(SchemaError::Syntax(format!("Invalid value for property '{name}'. It should be a map.")))
            }
        }
    }

    pub fn int(&self, name: &str) -> Result<Option<i32>, SchemaError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let wrong = |_| SchemaError::Syntax(format!("Invalid integer value {text} for '{name}'"));
        text.parse().map(Some).map_err(wrong)
    }

    pub fn double(&self, name: &str) -> Result<Option<f64>, SchemaError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let wrong = |_| SchemaError::Syntax(format!("Invalid double value {text} for '{name}'"));
        text.parse().map(Some).map_err(wrong)
    }

    pub fn boolean(&self, name: &str) -> Result<Option<bool>, SchemaError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" => Ok(Some(true)),
            "0" | "false" | "no" => Ok(Some(false)),
            _ => Err(SchemaError::Syntax(format!(
                "Invalid boolean value {text} for '{name}'. Positive values can be '1', 'true' or 'yes'. \
                 Negative values can be '0', 'false' or 'no'."
            ))),
        }
    }
}

/// For callers that write properties in code.
impl FromIterator<(&'static str, PropertyValue)> for Properties {
    fn from_iter<I: IntoIterator<Item = (&'static str, PropertyValue)>>(pairs: I) -> Properties {
        Properties(pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }
}
