//! Properties: `name = value` pairs after WITH, read with the conversions and texts of Cassandra.

use crate::fault::PropertyFault;
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

    pub fn add(&mut self, name: &str, value: PropertyValue) -> Result<(), PropertyFault> {
        match self.0.insert(name.to_string(), value) {
            None => Ok(()),
            Some(_) => Err(PropertyFault::Twice { name: name.to_string() }),
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
    pub fn only(&self, known: &[&str]) -> Result<(), PropertyFault> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(PropertyFault::Unknown { name: name.to_string() }),
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

    pub fn text(&self, name: &str) -> Result<Option<&str>, PropertyFault> {
        match self.0.get(name) {
            None => Ok(None),
            Some(PropertyValue::Text(text)) => Ok(Some(text)),
            Some(PropertyValue::Map(_)) => Err(PropertyFault::NotAString { name: name.to_string() }),
        }
    }

    pub fn map(&self, name: &str) -> Result<Option<&BTreeMap<String, String>>, PropertyFault> {
        match self.0.get(name) {
            None => Ok(None),
            Some(PropertyValue::Map(map)) => Ok(Some(map)),
            Some(PropertyValue::Text(_)) => Err(PropertyFault::NotAMap { name: name.to_string() }),
        }
    }

    pub fn int(&self, name: &str) -> Result<Option<i32>, PropertyFault> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let wrong = |_| PropertyFault::NotAnInteger { text: text.to_string(), name: name.to_string() };
        text.parse().map(Some).map_err(wrong)
    }

    pub fn double(&self, name: &str) -> Result<Option<f64>, PropertyFault> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let wrong = |_| PropertyFault::NotADouble { text: text.to_string(), name: name.to_string() };
        text.parse().map(Some).map_err(wrong)
    }

    pub fn boolean(&self, name: &str) -> Result<Option<bool>, PropertyFault> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" => Ok(Some(true)),
            "0" | "false" | "no" => Ok(Some(false)),
            _ => Err(PropertyFault::NotABoolean { text: text.to_string(), name: name.to_string() }),
        }
    }
}

/// For callers that write properties in code.
impl FromIterator<(&'static str, PropertyValue)> for Properties {
    fn from_iter<I: IntoIterator<Item = (&'static str, PropertyValue)>>(pairs: I) -> Properties {
        Properties(pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }
}
