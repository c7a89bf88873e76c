//! The rules that a table's keys and indexes set for items, and the keys that items have.

use super::definition::{Index, IndexProjection, KeyAttribute, KeySchema, TableDefinition};
use crate::error::ApiError;
use crate::messages::Rule;
use crate::value::{Item, Value};

/// Bytes that a HASH value may have …
pub const HASH_BYTES_MAX: usize = 2048;
/// … and all RANGE values together.
pub const SORT_BYTES_MAX: usize = 1024;

/// The key of an item in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrimaryKey<'a> {
    pub hash: &'a Value,
    pub sort: Option<&'a Value>,
}

impl PrimaryKey<'_> {
    pub fn hash_bytes(&self) -> &[u8] {
        self.hash.key_bytes().unwrap_or(&[])
    }

    pub fn sort_bytes(&self) -> Option<&[u8]> {
        self.sort.and_then(Value::key_bytes)
    }
}

/// What an index holds of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    pub hash: Vec<Value>,
    pub sort: Vec<Value>,
    /// All that is projected, keys included.
    pub item: Item,
}

impl TableDefinition {
    /// The key of an item that is to be put.
    pub fn key_of_item<'a>(&self, item: &'a Item) -> Result<PrimaryKey<'a>, ApiError> {
        for attribute in self.key.attributes() {
            let value =
                item.get(&attribute.name).ok_or_else(|| Rule::MissingKey.refuse(&[&attribute.name]))?;
            if value.kind() != attribute.kind.kind() {
                let facts = [attribute.name.as_str(), attribute.kind.name(), value.kind().name()];
                return Err(Rule::KeyTypeMismatch.refuse(&facts));
            }
        }
        self.checked(item)
    }

    /// The key that a request names: exactly the key attributes, of the right types.
    pub fn key_of_request<'a>(&self, key: &'a Item) -> Result<PrimaryKey<'a>, ApiError> {
        let right = |attribute: &KeyAttribute| {
            key.get(&attribute.name).is_some_and(|value| value.kind() == attribute.kind.kind())
        };
        if key.len() != self.key.attributes().count() || !self.key.attributes().all(right) {
            return Err(Rule::KeyDoesNotMatch.refuse(&[]));
        }
        self.checked(key)
    }

    /// Presence and types are right; now emptiness and size.
    fn checked<'a>(&self, item: &'a Item) -> Result<PrimaryKey<'a>, ApiError> {
        for attribute in self.key.attributes() {
            if let Some(word) = item.get(&attribute.name).and_then(empty_word) {
                return Err(Rule::EmptyKey.refuse(&[word, &attribute.name]));
            }
        }
        let key = self.stored_key(item).ok_or_else(|| Rule::KeyDoesNotMatch.refuse(&[]))?;
        if key.hash_bytes().len() > HASH_BYTES_MAX {
            return Err(Rule::HashKeySize.refuse(&[]));
        }
        if key.sort_bytes().is_some_and(|bytes| bytes.len() > SORT_BYTES_MAX) {
            return Err(Rule::RangeKeySize.refuse(&[]));
        }
        Ok(key)
    }

    /// The key of an item that is known to be right; none if it is not.
    pub fn stored_key<'a>(&self, item: &'a Item) -> Option<PrimaryKey<'a>> {
        let hash = item.get(&self.key.hash.first()?.name)?;
        let sort = match self.key.sort.first() {
            Some(attribute) => Some(item.get(&attribute.name)?),
            None => None,
        };
        Some(PrimaryKey { hash, sort })
    }

    /// The key attributes of an item, as an item.
    pub fn key_attributes(&self, item: &Item) -> Item {
        attributes_of(&self.key, item)
    }

    /// Values that an index would have as a key must be of its types and not empty. `by_update` has other words.
    pub fn check_index_keys(&self, item: &Item, by_update: bool) -> Result<(), ApiError> {
        for index in &self.indexes {
            for attribute in index.key.attributes().filter(|attribute| !self.key.contains(&attribute.name)) {
                let Some(value) = item.get(&attribute.name) else { continue };
                if value.kind() != attribute.kind.kind() {
                    let facts = [
                        attribute.name.as_str(),
                        attribute.kind.name(),
                        value.kind().name(),
                        index.name.as_str(),
                    ];
                    return Err(Rule::IndexKeyType.refuse(&facts));
                }
                match empty_word(value) {
                    Some(word) if by_update => return Err(Rule::EmptyIndexKeyByUpdate.refuse(&[word])),
                    Some(word) => {
                        return Err(Rule::EmptyIndexKey.refuse(&[word, &index.name, &attribute.name]));
                    }
                    None => {}
                }
            }
            let bytes = |attribute: &KeyAttribute| {
                item.get(&attribute.name).and_then(Value::key_bytes).map_or(0, <[u8]>::len)
            };
            if index.key.hash.iter().any(|attribute| bytes(attribute) > HASH_BYTES_MAX) {
                return Err(Rule::HashKeySize.refuse(&[]));
            }
            if index.key.sort.iter().map(bytes).sum::<usize>() > SORT_BYTES_MAX {
                return Err(Rule::RangeKeySize.refuse(&[]));
            }
        }
        Ok(())
    }

    /// What `index` holds of the item; none if it lacks a key attribute or one has a type that cannot be there.
    pub fn index_entry(&self, index: &Index, item: &Item) -> Option<IndexEntry> {
        let values = |attributes: &[KeyAttribute]| -> Option<Vec<Value>> {
            let value = |attribute: &KeyAttribute| {
                let value = item.get(&attribute.name)?;
                (value.kind() == attribute.kind.kind() && empty_word(value).is_none()).then(|| value.clone())
            };
            attributes.iter().map(value).collect()
        };
        let (hash, sort) = (values(&index.key.hash)?, values(&index.key.sort)?);
        Some(IndexEntry { hash, sort, item: self.projected(index, item) })
    }

    /// The attributes of `item` that `index` projects.
    pub fn projected(&self, index: &Index, item: &Item) -> Item {
        if index.projection == IndexProjection::All {
            return item.clone();
        }
        let kept = item.iter().filter(|(name, _)| self.projects(index, name));
        kept.map(|(name, value)| (name.to_string(), value.clone())).collect()
    }

    /// Does the index hold this attribute?
    pub fn projects(&self, index: &Index, name: &str) -> bool {
        self.key.contains(name)
            || index.key.contains(name)
            || match &index.projection {
                IndexProjection::All => true,
                IndexProjection::KeysOnly => false,
                IndexProjection::Include(names) => names.iter().any(|known| known == name),
            }
    }

    /// What LastEvaluatedKey says after `item`: the table's key, and that of the index.
    pub fn last_evaluated_key(&self, index: Option<&Index>, item: &Item) -> Item {
        let mut key = attributes_of(&self.key, item);
        if let Some(index) = index {
            for (name, value) in attributes_of(&index.key, item) {
                key.insert(name, value);
            }
        }
        key
    }

    /// Checks ExclusiveStartKey: exactly the attributes of `last_evaluated_key`, with right types.
    pub fn is_start_key(&self, index: Option<&Index>, key: &Item) -> bool {
        let mut wanted: Vec<&KeyAttribute> = self.key.attributes().collect();
        if let Some(index) = index {
            wanted.extend(index.key.attributes().filter(|attribute| !self.key.contains(&attribute.name)));
        }
        let right = |attribute: &&KeyAttribute| {
            let value = key.get(&attribute.name);
            value.is_some_and(|value| value.kind() == attribute.kind.kind() && empty_word(value).is_none())
        };
        key.len() == wanted.len() && wanted.iter().all(right)
    }
}

fn attributes_of(schema: &KeySchema, item: &Item) -> Item {
    let found =
        |attribute: &KeyAttribute| item.get(&attribute.name).map(|v| (attribute.name.clone(), v.clone()));
    schema.attributes().filter_map(found).collect()
}

/// `string` or `binary` if the value is one that is empty.
fn empty_word(value: &Value) -> Option<&'static str> {
    match value {
        Value::S(text) if text.is_empty() => Some("string"),
        Value::B(bytes) if bytes.is_empty() => Some("binary"),
        _ => None,
    }
}
