//! Attribute values and items in memory, as requests bring them and expressions compute with them.
//!
//! Sets are kept sorted and free of duplicates (numbers by value), attributes sorted by name, so that equality is
//! structural and every output has one order.

use crate::number::Number;
use std::cmp::Ordering;

/// A leaf may lie within this many lists and maps, the item not counted.
pub const NESTING_MAX: usize = 31;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    S(String),
    N(Number),
    B(Vec<u8>),
    Bool(bool),
    Null,
    Ss(Vec<String>),
    Ns(Vec<Number>),
    Bs(Vec<Vec<u8>>),
    L(Vec<Value>),
    M(Item),
}

/// The ten types, in the words of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    S,
    N,
    B,
    Bool,
    Null,
    Ss,
    Ns,
    Bs,
    L,
    M,
}

impl Type {
    pub const ALL: [Type; 10] =
        [Type::S, Type::N, Type::B, Type::Bool, Type::Null, Type::Ss, Type::Ns, Type::Bs, Type::L, Type::M];

    /// The member of an `AttributeValue`.
    pub fn name(self) -> &'static str {
        match self {
            Type::S => "S",
            Type::N => "N",
            Type::B => "B",
            Type::Bool => "BOOL",
            Type::Null => "NULL",
            Type::Ss => "SS",
            Type::Ns => "NS",
            Type::Bs => "BS",
            Type::L => "L",
            Type::M => "M",
        }
    }

    pub fn of_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Value {
    pub fn kind(&self) -> Type {
        match self {
            Value::S(_) => Type::S,
            Value::N(_) => Type::N,
            Value::B(_) => Type::B,
            Value::Bool(_) => Type::Bool,
            Value::Null => Type::Null,
            Value::Ss(_) => Type::Ss,
            Value::Ns(_) => Type::Ns,
            Value::Bs(_) => Type::Bs,
            Value::L(_) => Type::L,
            Value::M(_) => Type::M,
        }
    }

    /// How two values that can be ordered (both S, both N or both B) stand to each other.
    pub fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::S(a), Value::S(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            (Value::N(a), Value::N(b)) => Some(a.cmp(b)),
            (Value::B(a), Value::B(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// The bytes of a key value: what is stored, hashed and compared; none if the type cannot be a key.
    pub fn key_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::S(text) => Some(text.as_bytes()),
            Value::N(number) => Some(number.bytes()),
            Value::B(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The key value of type `kind` that has these bytes.
    pub fn from_key_bytes(kind: Type, bytes: &[u8]) -> Option<Value> {
        match kind {
            Type::S => std::str::from_utf8(bytes).ok().map(|text| Value::S(text.to_string())),
            Type::N => Number::from_bytes(bytes).map(Value::N),
            Type::B => Some(Value::B(bytes.to_vec())),
            _ => None,
        }
    }

    /// How many lists and maps lie within each other here.
    pub fn nesting(&self) -> usize {
        match self {
            Value::L(list) => 1 + list.iter().map(Value::nesting).max().unwrap_or(0),
            Value::M(map) => 1 + map.iter().map(|(_, value)| value.nesting()).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Attributes sorted by the bytes of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Item {
    attributes: Vec<(String, Value)>,
}

impl Item {
    pub fn new() -> Item {
        Item::default()
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.attributes.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.find(name).ok().map(|at| &self.attributes[at].1)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let at = self.find(name).ok()?;
        Some(&mut self.attributes[at].1)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    pub fn insert(&mut self, name: impl Into<String>, value: Value) -> Option<Value> {
        let name = name.into();
        match self.find(&name) {
            Ok(at) => Some(std::mem::replace(&mut self.attributes[at].1, value)),
            Err(at) => {
                self.attributes.insert(at, (name, value));
                None
            }
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.find(name).ok().map(|at| self.attributes.remove(at).1)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.attributes.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }
}

/// Of attributes with the same name the last one stays.
impl FromIterator<(String, Value)> for Item {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(attributes: T) -> Item {
        let mut attributes: Vec<(String, Value)> = attributes.into_iter().collect();
        if !attributes.is_sorted_by(|a, b| a.0 < b.0) {
            // Stable: duplicates stay in their order, and of each pair the later one takes the earlier one's place.
            attributes.sort_by(|a, b| a.0.cmp(&b.0));
            attributes.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(&mut later.1, &mut earlier.1);
                }
                same
            });
        }
        Item { attributes }
    }
}

impl IntoIterator for Item {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.attributes.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Value {
        Value::S(text.into())
    }

    #[test]
    fn the_last_of_equal_names_stays() {
        let item: Item = [("b", "1"), ("a", "2"), ("b", "3"), ("b", "4")]
            .map(|(n, v)| (n.to_string(), s(v)))
            .into_iter()
            .collect();
        assert_eq!(item.len(), 2);
        assert_eq!(item.get("b"), Some(&s("4")));
        assert_eq!(item.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn insert_and_remove_keep_the_order() {
        let mut item = Item::new();
        for name in ["m", "a", "z", "b"] {
            assert_eq!(item.insert(name, s(name)), None);
        }
        assert_eq!(item.insert("a", s("new")), Some(s("a")));
        assert_eq!(item.remove("m"), Some(s("m")));
        assert_eq!(item.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "z"]);
    }
}
