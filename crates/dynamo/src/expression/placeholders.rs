//! ExpressionAttributeNames and ExpressionAttributeValues: what `#` and `:` stand for, and which were used.

use crate::error::ApiError;
use crate::messages::Rule;
use crate::value::Value;
use std::cell::Cell;

/// The maps of one request, shared by all its expressions.
#[derive(Debug, Default)]
pub struct Placeholders {
    names: Vec<Entry<String>>,
    values: Vec<Entry<Value>>,
}

#[derive(Debug)]
struct Entry<T> {
    key: String,
    meaning: T,
    used: Cell<bool>,
}

impl<T> Entry<T> {
    fn list(entries: Vec<(String, T)>) -> Vec<Entry<T>> {
        entries.into_iter().map(|(key, meaning)| Entry { key, meaning, used: Cell::new(false) }).collect()
    }

    fn find<'a>(entries: &'a [Entry<T>], key: &str) -> Option<&'a T> {
        let entry = entries.iter().find(|entry| entry.key == key)?;
        entry.used.set(true);
        Some(&entry.meaning)
    }

    fn unused(entries: &[Entry<T>]) -> Option<String> {
        let keys: Vec<&str> = entries.iter().filter(|e| !e.used.get()).map(|e| e.key.as_str()).collect();
        (!keys.is_empty()).then(|| keys.join(", "))
    }
}

impl Placeholders {
    pub fn new(names: Vec<(String, String)>, values: Vec<(String, Value)>) -> Placeholders {
        Placeholders { names: Entry::list(names), values: Entry::list(values) }
    }

    pub(super) fn name(&self, key: &str) -> Option<&str> {
        Entry::find(&self.names, key).map(String::as_str)
    }

    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        Entry::find(&self.values, key)
    }

    /// After the last expression: everything that was given must have been used.
    pub fn check_used(&self) -> Result<(), ApiError> {
        if let Some(keys) = Entry::unused(&self.names) {
            return Err(Rule::NamesUnused.refuse(&[&keys]));
        }
        if let Some(keys) = Entry::unused(&self.values) {
            return Err(Rule::ValuesUnused.refuse(&[&keys]));
        }
        Ok(())
    }
}
