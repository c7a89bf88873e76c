//! What conditions say of an item.

use super::tree::{Comparison, Condition, Operand, Path, Step};
use crate::number::Number;
use crate::value::{Item, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

impl Path {
    /// The value at this path, if the item has it.
    pub fn find<'a>(&self, item: &'a Item) -> Option<&'a Value> {
        let mut value = item.get(&self.name)?;
        for step in &self.steps {
            value = match (step, value) {
                (Step::Name(name), Value::M(map)) => map.get(name)?,
                (Step::Index(index), Value::L(list)) => list.get(*index as usize)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

impl Operand {
    fn value<'a>(&'a self, item: &'a Item) -> Option<Cow<'a, Value>> {
        match self {
            Operand::Path(path) => path.find(item).map(Cow::Borrowed),
            Operand::Value(value) => Some(Cow::Borrowed(value)),
            Operand::Size(of) => {
                let size = size(&*of.value(item)?)?;
                Some(Cow::Owned(Value::N(Number::from_i64(size as i64))))
            }
        }
    }
}

/// What the function `size` says: text in UTF-16 units, bytes, or members; other types have none.
fn size(value: &Value) -> Option<usize> {
    Some(match value {
        Value::S(text) => text.encode_utf16().count(),
        Value::B(bytes) => bytes.len(),
        Value::Ss(set) => set.len(),
        Value::Ns(set) => set.len(),
        Value::Bs(set) => set.len(),
        Value::L(list) => list.len(),
        Value::M(map) => map.len(),
        Value::N(_) | Value::Bool(_) | Value::Null => return None,
    })
}

impl Condition {
    /// Does the condition hold for this item? One that is not there has no attributes.
    pub fn holds(&self, item: Option<&Item>) -> bool {
        static NOTHING: std::sync::LazyLock<Item> = std::sync::LazyLock::new(Item::new);
        self.holds_for(item.unwrap_or(&NOTHING))
    }

    fn holds_for(&self, item: &Item) -> bool {
        let both = |a: &Operand, b: &Operand, test: &dyn Fn(&Value, &Value) -> bool| match (
            a.value(item),
            b.value(item),
        ) {
            (Some(a), Some(b)) => Some(test(&a, &b)),
            _ => None,
        };
        match self {
            Condition::And(all) => all.iter().all(|c| c.holds_for(item)),
            Condition::Or(any) => any.iter().any(|c| c.holds_for(item)),
            Condition::Not(inner) => !inner.holds_for(item),
            Condition::Compare(Comparison::NotEqual, a, b) => both(a, b, &|a, b| a != b).unwrap_or(true),
            Condition::Compare(comparison, a, b) => {
                both(a, b, &|a, b| compare(*comparison, a, b)).unwrap_or(false)
            }
            Condition::Between(of, low, high) => match (of.value(item), low.value(item), high.value(item)) {
                (Some(of), Some(low), Some(high)) => {
                    of.order(&low).is_some_and(Ordering::is_ge)
                        && of.order(&high).is_some_and(Ordering::is_le)
                }
                _ => false,
            },
            Condition::In(of, list) => {
                let Some(of) = of.value(item) else { return false };
                list.iter().any(|one| one.value(item).is_some_and(|one| *one == *of))
            }
            Condition::Exists(path) => path.find(item).is_some(),
            Condition::NotExists(path) => path.find(item).is_none(),
            Condition::HasType(path, kind) => path.find(item).is_some_and(|value| value.kind() == *kind),
            Condition::BeginsWith(of, prefix) => both(of, prefix, &begins_with).unwrap_or(false),
            Condition::Contains(of, part) => both(of, part, &contains).unwrap_or(false),
            Condition::NotContains(of, part) => {
                both(of, part, &|of, part| !contains(of, part)).unwrap_or(false)
            }
        }
    }
}

fn compare(comparison: Comparison, a: &Value, b: &Value) -> bool {
    if comparison == Comparison::Equal {
        return a == b;
    }
    let Some(order) = a.order(b) else { return false };
    match comparison {
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
        Comparison::Equal | Comparison::NotEqual => false,
    }
}

fn begins_with(of: &Value, prefix: &Value) -> bool {
    match (of, prefix) {
        (Value::S(of), Value::S(prefix)) => of.starts_with(prefix.as_str()),
        (Value::B(of), Value::B(prefix)) => of.starts_with(prefix),
        _ => false,
    }
}

fn contains(of: &Value, part: &Value) -> bool {
    match (of, part) {
        (Value::S(of), Value::S(part)) => of.contains(part.as_str()),
        (Value::B(of), Value::B(part)) => {
            part.is_empty() || of.windows(part.len()).any(|window| window == part.as_slice())
        }
        (Value::Ss(set), Value::S(member)) => set.binary_search(member).is_ok(),
        (Value::Ns(set), Value::N(member)) => set.binary_search(member).is_ok(),
        (Value::Bs(set), Value::B(member)) => set.binary_search(member).is_ok(),
        (Value::L(list), element) => list.contains(element),
        _ => false,
    }
}
