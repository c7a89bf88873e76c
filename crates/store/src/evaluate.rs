//! Compares values: the one evaluator behind filters of reads, conditions of commits and views.

use crate::assemble::contains;
use model::comparison::Comparison;
use model::types::DataType;
use model::value::compare;
use std::cmp::Ordering;

/// Values side by side as a tuple: the first that differs decides.
pub fn order<'v>(parts: impl Iterator<Item = (&'v DataType, &'v [u8], &'v [u8])>) -> Ordering {
    let mut parts = parts;
    let different = |(data_type, left, right)| Some(compare(data_type, left, right)).filter(|o| o.is_ne());
    parts.find_map(different).unwrap_or(Ordering::Equal)
}

/// Whether values that are there stand to the alternatives as the comparison says. `order_to(i)` is how they are ordered beside
/// alternative `i` of `count`. Comparisons with nothing hold of nothing, but for those that say "not".
pub fn holds(comparison: Comparison, count: usize, order_to: impl Fn(usize) -> Ordering) -> bool {
    let first = |wanted: fn(Ordering) -> bool| count > 0 && wanted(order_to(0));
    match comparison {
        Comparison::Equal => first(Ordering::is_eq),
        Comparison::NotEqual => first(Ordering::is_ne),
        Comparison::Less => first(Ordering::is_lt),
        Comparison::LessOrEqual => first(Ordering::is_le),
        Comparison::Greater => first(Ordering::is_gt),
        Comparison::GreaterOrEqual => first(Ordering::is_ge),
        Comparison::Between => count > 1 && order_to(0).is_ge() && order_to(1).is_le(),
        Comparison::In => (0..count).any(|i| order_to(i).is_eq()),
        Comparison::NotIn => (0..count).all(|i| order_to(i).is_ne()),
        // Questions about one value and not about an order: see [`holds_of`].
        Comparison::Contains
        | Comparison::ContainsKey
        | Comparison::NotContains
        | Comparison::NotContainsKey
        | Comparison::Prefix => false,
    }
}

/// The same for one value of one type, whatever the comparison.
pub fn holds_of(
    comparison: Comparison,
    data_type: &DataType,
    current: &[u8],
    alternatives: &[Option<&[u8]>],
) -> bool {
    let first = alternatives.first().copied().flatten();
    let has = |keys| contains(data_type, Some(current), first, keys);
    match comparison {
        Comparison::Contains => has(false),
        Comparison::ContainsKey => has(true),
        Comparison::NotContains => !has(false),
        Comparison::NotContainsKey => !has(true),
        Comparison::Prefix => first.is_some_and(|prefix| current.starts_with(prefix)),
        // A null among the alternatives equals nothing that is there.
        _ => holds(comparison, alternatives.len(), |i| match alternatives.get(i).copied().flatten() {
            Some(wanted) => compare(data_type, current, wanted),
            None => Ordering::Greater,
        }),
    }
}
