//! Accounted sizes, to the byte: what the limit of 400 KB and the capacity units are counted from.

use crate::value::{Item, Value};

/// An item may be this large.
pub const ITEM_MAX: usize = 409_600;
/// A list or map counts this beyond its content …
const CONTAINER: usize = 3;
/// … and this for each element.
const ELEMENT: usize = 1;

/// Names and values of an item.
pub fn item(item: &Item) -> usize {
    item.iter().map(|(name, attribute)| name.len() + value(attribute)).sum()
}

pub fn value(of: &Value) -> usize {
    match of {
        Value::S(text) => text.len(),
        Value::N(number) => number.bytes().len(),
        Value::B(bytes) => bytes.len(),
        Value::Bool(_) | Value::Null => 1,
        Value::Ss(set) => set.iter().map(String::len).sum(),
        Value::Ns(set) => set.iter().map(|number| number.bytes().len()).sum(),
        Value::Bs(set) => set.iter().map(Vec::len).sum(),
        Value::L(list) => CONTAINER + list.iter().map(|element| ELEMENT + value(element)).sum::<usize>(),
        Value::M(map) => {
            CONTAINER + map.iter().map(|(name, inner)| ELEMENT + name.len() + value(inner)).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    #[test]
    fn sizes_by_the_book() {
        let n = |text: &str| Value::N(Number::parse(text).unwrap());
        let s = |text: &str| Value::S(text.into());
        let map = |name: &str, inner: Value| Value::M([(name.to_string(), inner)].into_iter().collect());
        let cases = [
            (s("é"), 2),
            (n("120"), 3),
            (n("0"), 1),
            (Value::B(vec![1, 2, 3]), 3),
            (Value::Null, 1),
            (Value::Ss(vec!["a".into(), "bc".into()]), 3),
            (Value::L(vec![]), 3),
            (Value::L(vec![s("ab"), n("1")]), 3 + 1 + 2 + 1 + 2),
            (map("ab", s("c")), 3 + 1 + 2 + 1),
        ];
        for (of, size) in cases {
            assert_eq!(value(&of), size, "{of:?}");
        }
    }
}
