//! Random values for the tests of this crate.

use crate::number::Number;
use crate::value::{Item, Value};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn number() -> impl Strategy<Value = Number> {
    (any::<i64>(), -40i32..40)
        .prop_map(|(digits, power)| Number::parse(&format!("{digits}e{power}")).unwrap_or(Number::ZERO))
}

pub fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        ".{0,12}".prop_map(Value::S),
        number().prop_map(Value::N),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(Value::B),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        prop::collection::btree_set(".{0,4}", 1..4).prop_map(|set| Value::Ss(set.into_iter().collect())),
        prop::collection::vec(number(), 1..4)
            .prop_map(|list| Value::Ns(list.into_iter().collect::<BTreeSet<_>>().into_iter().collect())),
        prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..4), 1..4)
            .prop_map(|set| Value::Bs(set.into_iter().collect())),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::L),
            attributes(inner).prop_map(Value::M),
        ]
    })
}

fn attributes(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Item> {
    prop::collection::vec(("[a-d]{1,2}", value), 0..5).prop_map(|list| list.into_iter().collect())
}

pub fn item() -> impl Strategy<Value = Item> {
    attributes(value())
}
