//! Random types and random values of them, for property tests.

use proptest::prelude::*;

use super::{encode_elements, encode_fields, encode_map, encode_set, encode_vector};
use crate::timeuuid;
use crate::types::DataType;

pub const NATIVE: [DataType; 20] = [
    DataType::Ascii,
    DataType::BigInt,
    DataType::Blob,
    DataType::Boolean,
    DataType::Counter,
    DataType::Date,
    DataType::Decimal,
    DataType::Double,
    DataType::Duration,
    DataType::Float,
    DataType::Inet,
    DataType::Int,
    DataType::SmallInt,
    DataType::Text,
    DataType::Time,
    DataType::Timestamp,
    DataType::TimeUuid,
    DataType::TinyInt,
    DataType::Uuid,
    DataType::VarInt,
];

/// Any type, a few levels deep.
pub fn any_type() -> BoxedStrategy<DataType> {
    let native = (0..NATIVE.len()).prop_map(|i| NATIVE[i].clone());
    native
        .prop_recursive(3, 12, 3, |inner| {
            let parts = proptest::collection::vec(inner.clone(), 1..4);
            prop_oneof![
                inner.clone().prop_map(|t| DataType::list(t).freeze()),
                inner.clone().prop_map(|t| DataType::set(t).freeze()),
                (inner.clone(), inner.clone()).prop_map(|(k, v)| DataType::map(k, v).freeze()),
                parts.clone().prop_map(DataType::tuple),
                parts.prop_map(|types| {
                    let named = types.into_iter().enumerate().map(|(i, t)| (format!("f{i}"), t.freeze()));
                    DataType::udt("ks", "Some type", named).freeze()
                }),
                (inner, 1u32..4).prop_map(|(t, n)| DataType::vector(t, n)),
            ]
        })
        .boxed()
}

fn near_equal_bytes() -> impl Strategy<Value = Vec<u8>> {
    // Few distinct bytes, so that prefixes, zeros and ties are common.
    let byte = prop_oneof![Just(0u8), Just(1), Just(0x7f), Just(0x80), Just(0xff), Just(b'a'), any::<u8>()];
    proptest::collection::vec(byte, 0..6)
}

fn any_uuid() -> impl Strategy<Value = [u8; 16]> {
    (any::<[u8; 16]>(), any::<bool>()).prop_map(|(mut uuid, time_based)| {
        if time_based {
            uuid[6] = uuid[6] & 0x0f | 0x10;
        }
        uuid
    })
}

fn duration() -> impl Strategy<Value = Vec<u8>> {
    (any::<u32>(), any::<u32>(), any::<u64>(), any::<bool>()).prop_map(|(months, days, nanos, negative)| {
        let sign = if negative { -1 } else { 1 };
        let mut out = Vec::new();
        super::wire_vint::put_signed(&mut out, i64::from(months >> 1) * sign);
        super::wire_vint::put_signed(&mut out, i64::from(days >> 1) * sign);
        super::wire_vint::put_signed(&mut out, (nanos >> 1) as i64 * sign);
        out
    })
}

fn decimal() -> impl Strategy<Value = Vec<u8>> {
    let scale = prop_oneof![-5i32..6, -5i32..6, any::<i32>(), Just(i32::MIN), Just(i32::MAX)];
    let unscaled = prop_oneof![
        (-1000i64..1000).prop_map(|n| n.to_be_bytes().to_vec()),
        Just(vec![0]),
        any::<i64>().prop_map(|n| n.to_be_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 1..30),
        // Trailing decimal zeros.
        (any::<i32>(), 0u32..10).prop_map(|(n, z)| (i128::from(n) * 10i128.pow(z)).to_be_bytes().to_vec()),
    ];
    (scale, unscaled).prop_map(|(scale, unscaled)| [&scale.to_be_bytes()[..], &unscaled].concat())
}

/// A valid wire value of the type, empty included where the type allows it.
pub fn any_value(data_type: &DataType) -> BoxedStrategy<Vec<u8>> {
    let or_empty =
        |strategy: BoxedStrategy<Vec<u8>>| prop_oneof![1 => Just(Vec::new()), 15 => strategy].boxed();
    let float = prop_oneof![
        any::<u32>(),
        Just(0),
        Just(1 << 31),
        Just(f32::INFINITY.to_bits()),
        Just(0x7fc0_0000),
        Just(0xffff_ffff)
    ];
    let double = prop_oneof![any::<u64>(), Just(0), Just(1 << 63), Just(f64::NAN.to_bits()), Just(u64::MAX)];
    match data_type {
        DataType::Ascii => near_equal_bytes().prop_map(|b| b.into_iter().map(|b| b & 0x7f).collect()).boxed(),
        DataType::Text => {
            any::<String>().prop_map(|s| s.chars().take(8).collect::<String>().into_bytes()).boxed()
        }
        DataType::Blob | DataType::Custom(_) => near_equal_bytes().boxed(),
        DataType::Empty => Just(Vec::new()).boxed(),
        DataType::Boolean => or_empty(any::<u8>().prop_map(|b| vec![b]).boxed()),
        DataType::TinyInt => any::<i8>().prop_map(|n| n.to_be_bytes().to_vec()).boxed(),
        DataType::SmallInt => any::<i16>().prop_map(|n| n.to_be_bytes().to_vec()).boxed(),
        DataType::Int => {
            or_empty(prop_oneof![any::<i32>(), -3..3i32].prop_map(|n| n.to_be_bytes().to_vec()).boxed())
        }
        DataType::BigInt | DataType::Counter | DataType::Timestamp => {
            or_empty(prop_oneof![any::<i64>(), -3..3i64].prop_map(|n| n.to_be_bytes().to_vec()).boxed())
        }
        DataType::Date => any::<u32>().prop_map(|n| n.to_be_bytes().to_vec()).boxed(),
        DataType::Time => (0..86_400_000_000_000i64).prop_map(|n| n.to_be_bytes().to_vec()).boxed(),
        DataType::Float => or_empty(float.prop_map(|n| n.to_be_bytes().to_vec()).boxed()),
        DataType::Double => or_empty(double.prop_map(|n| n.to_be_bytes().to_vec()).boxed()),
        DataType::Uuid => or_empty(any_uuid().prop_map(|u| u.to_vec()).boxed()),
        DataType::TimeUuid => or_empty(
            (any::<i64>(), any::<u64>()).prop_map(|(t, l)| timeuuid::from_unix_ticks(t, l).to_vec()).boxed(),
        ),
        DataType::Inet => or_empty(
            prop_oneof![
                any::<[u8; 4]>().prop_map(|a| a.to_vec()),
                any::<[u8; 16]>().prop_map(|a| a.to_vec()),
                Just(vec![0; 4]),
                Just(vec![0; 16])
            ]
            .boxed(),
        ),
        DataType::Duration => duration().boxed(),
        DataType::VarInt => or_empty(
            prop_oneof![
                near_equal_bytes(),
                any::<i64>().prop_map(|n| n.to_be_bytes().to_vec()),
                proptest::collection::vec(any::<u8>(), 110..140)
            ]
            .boxed(),
        ),
        DataType::Decimal => or_empty(decimal().boxed()),
        _ => any_nested(data_type),
    }
}

fn any_nested(data_type: &DataType) -> BoxedStrategy<Vec<u8>> {
    match data_type {
        DataType::List { element, .. } => {
            proptest::collection::vec(any_value(element), 0..4).prop_map(encode_elements).boxed()
        }
        DataType::Set { element, .. } => {
            let element = element.clone();
            proptest::collection::vec(any_value(&element), 0..4)
                .prop_map(move |parts| encode_set(&element, parts))
                .boxed()
        }
        DataType::Map { key, value, .. } => {
            let key = key.clone();
            proptest::collection::vec((any_value(&key), any_value(value)), 0..4)
                .prop_map(move |entries| encode_map(&key, entries))
                .boxed()
        }
        DataType::Tuple(components) => any_fields(components.iter().cloned().collect()),
        DataType::Udt(udt) => any_fields(udt.fields.iter().map(|field| field.data_type.clone()).collect()),
        DataType::Vector { element, dimensions } => {
            let element = element.clone();
            let filler = filler(&element);
            let part =
                any_value(&element).prop_map(move |part| if part.is_empty() { filler.clone() } else { part });
            proptest::collection::vec(part, *dimensions as usize)
                .prop_map(move |parts| encode_vector(&element, parts))
                .boxed()
        }
        _ => Just(Vec::new()).boxed(),
    }
}

/// A value for types whose empty value a vector does not take; empty for the others.
fn filler(element: &DataType) -> Vec<u8> {
    match element {
        DataType::Inet => vec![1; 4],
        DataType::Decimal => vec![0, 0, 0, 0, 1],
        DataType::VarInt => vec![1],
        DataType::Counter => vec![1; 8],
        // Valid for every type of fixed length, a timeuuid included.
        other => vec![0x11; other.fixed_len().unwrap_or(0)],
    }
}

fn any_fields(types: Vec<DataType>) -> BoxedStrategy<Vec<u8>> {
    let arity = types.len();
    let parts: Vec<_> = types.iter().map(|t| proptest::option::weighted(0.8, any_value(t))).collect();
    (parts, 0..=arity).prop_map(|(parts, keep)| encode_fields(parts.into_iter().take(keep))).boxed()
}

/// A type and a value of it.
pub fn type_and_value() -> impl Strategy<Value = (DataType, Vec<u8>)> {
    any_type().prop_flat_map(|t| {
        let value = any_value(&t);
        (Just(t), value)
    })
}

/// A type and two values of it.
pub fn type_and_two_values() -> impl Strategy<Value = (DataType, Vec<u8>, Vec<u8>)> {
    any_type().prop_flat_map(|t| {
        let (left, right) = (any_value(&t), any_value(&t));
        (Just(t), left, right)
    })
}
