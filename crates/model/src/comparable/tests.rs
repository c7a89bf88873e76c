//! Comparable bytes sort as values do, decode back, and never panic.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;
use crate::types::DataType;
use crate::value::arbitrary::{any_type, any_value, type_and_two_values, type_and_value};
use crate::value::{compare, encode_elements, encode_fields, validate};

fn encoded(data_type: &DataType, descending: bool, wire: &[u8]) -> Vec<u8> {
    data_type.comparable(descending, wire).unwrap()
}

#[track_caller]
fn check_pair(data_type: &DataType, left: &[u8], right: &[u8]) {
    let order = compare(data_type, left, right);
    assert_eq!(compare(data_type, right, left), order.reverse(), "{data_type} antisymmetry");
    for descending in [false, true] {
        let (a, b) = (encoded(data_type, descending, left), encoded(data_type, descending, right));
        let expected = if descending { order.reverse() } else { order };
        assert_eq!(a.cmp(&b), expected, "{data_type} {left:02x?} {right:02x?} {a:02x?} {b:02x?}");
        if order != Ordering::Equal {
            assert!(!a.starts_with(&b) && !b.starts_with(&a), "{data_type} prefix {a:02x?} {b:02x?}");
        }
    }
}

#[track_caller]
fn check_inverse(data_type: &DataType, wire: &[u8]) {
    for descending in [false, true] {
        let mut bytes = encoded(data_type, descending, wire);
        let len = bytes.len();
        let first = bytes.first().copied().unwrap();
        assert!((0x10..=0xef).contains(&first), "markers stay below the bound byte");
        // What follows must not matter.
        bytes.extend_from_slice(&[0x20, 0, 0xff, 7]);
        assert_eq!(skip(data_type, descending, &bytes), Ok(len), "{data_type} {wire:02x?}");
        let mut back = Vec::new();
        assert_eq!(decode(data_type, descending, &bytes, &mut back), Ok(len), "{data_type} {wire:02x?}");
        assert_eq!(validate(data_type, &back), Ok(()), "{data_type} {back:02x?}");
        assert_eq!(compare(data_type, wire, &back), Ordering::Equal, "{data_type} {wire:02x?} {back:02x?}");
        assert_eq!(encoded(data_type, descending, &back), bytes[..len]);
        // Decoding is stable: a second round gives the same bytes.
        let mut again = Vec::new();
        decode(data_type, descending, &encoded(data_type, descending, &back), &mut again).unwrap();
        assert_eq!(again, back, "{data_type}");
    }
}

fn has_exact_inverse(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Ascii | Text | Blob | BigInt | Int | SmallInt | TinyInt | Timestamp | Counter | Date)
        || matches!(data_type, Time | Uuid | TimeUuid | Inet | Duration)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn memcmp_order_is_value_order((data_type, left, right) in type_and_two_values()) {
        check_pair(&data_type, &left, &right);
        check_pair(&data_type, &left, &left);
    }

    #[test]
    fn decode_inverts((data_type, value) in type_and_value()) {
        check_inverse(&data_type, &value);
        if has_exact_inverse(&data_type) {
            let mut back = Vec::new();
            decode(&data_type, true, &encoded(&data_type, true, &value), &mut back).unwrap();
            prop_assert_eq!(back, value);
        }
    }

    #[test]
    fn nothing_panics_on_any_bytes(
        data_type in any_type(),
        bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0u8), Just(0x20), Just(0x10)], 0..60),
        other in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut out = Vec::new();
        let valid = validate(&data_type, &bytes).is_ok();
        let encodes = encode(&data_type, false, &bytes, &mut out).is_ok();
        prop_assert!(encodes || !valid, "a valid value always encodes");
        let _ = compare(&data_type, &bytes, &other);
        for descending in [false, true] {
            let mut wire = Vec::new();
            let decoded = decode(&data_type, descending, &bytes, &mut wire);
            let skipped = skip(&data_type, descending, &bytes);
            if let Ok(len) = decoded {
                prop_assert_eq!(skipped, Ok(len));
            }
        }
    }

    #[test]
    fn a_cut_encoding_is_refused((data_type, value) in type_and_value(), cut in any::<prop::sample::Index>()) {
        let bytes = encoded(&data_type, false, &value);
        let cut = cut.index(bytes.len());
        prop_assert_eq!(decode(&data_type, false, &bytes[..cut], &mut Vec::new()), Err(MalformedKey));
        prop_assert_eq!(skip(&data_type, false, &bytes[..cut]), Err(MalformedKey));
    }

    #[test]
    fn order_is_transitive(
        (data_type, mut values) in any_type().prop_flat_map(|t| {
            let values = proptest::collection::vec(any_value(&t), 3);
            (Just(t), values)
        })
    ) {
        values.sort_by(|a, b| compare(&data_type, a, b));
        for pair in values.windows(2) {
            prop_assert!(compare(&data_type, &pair[0], &pair[1]).is_le());
        }
        prop_assert!(compare(&data_type, &values[0], &values[2]).is_le());
    }
}

#[test]
fn layouts_are_fixed() {
    let int = DataType::Int;
    assert_eq!(encoded(&int, false, &5i32.to_be_bytes()), [0x20, 0x80, 0, 0, 5]);
    assert_eq!(encoded(&int, true, &5i32.to_be_bytes()), [0xdf, 0x7f, 0xff, 0xff, 0xfa]);
    assert_eq!(encoded(&int, false, b""), [0x10]);
    assert_eq!(encoded(&int, true, b""), [0xef]);
    assert_eq!(encoded(&DataType::Text, false, b"a\0b"), b"\x20a\0\xffb\0\0");
    assert_eq!(encoded(&DataType::VarInt, false, &[0]), [0x20, 0x80, 0]);
    assert_eq!(encoded(&DataType::VarInt, false, &[0xff]), [0x20, 0x7f, 0xff]);
    let list = DataType::list(DataType::TinyInt).freeze();
    assert_eq!(encoded(&list, false, &encode_elements([[1u8], [2]])), [0x20, 0x20, 0x81, 0x20, 0x82, 0]);
    let pair = DataType::tuple([DataType::TinyInt, DataType::TinyInt]);
    assert_eq!(encoded(&pair, false, &encode_fields([None, Some([2u8])])), [0x20, 0x08, 0x20, 0x82, 0]);
    assert_eq!(encoded(&pair, false, &encode_fields([Some([2u8]), None])), [0x20, 0x20, 0x82, 0]);
}

#[test]
fn decimals_come_back_readable() {
    let decimal = |unscaled: i64, scale: i32| {
        [&scale.to_be_bytes()[..], crate::value::varint::minimal(&unscaled.to_be_bytes())].concat()
    };
    let back = |wire: &[u8]| {
        let mut out = Vec::new();
        decode(&DataType::Decimal, false, &encoded(&DataType::Decimal, false, wire), &mut out).unwrap();
        out
    };
    assert_eq!(back(&decimal(150, 2)), decimal(15, 1));
    assert_eq!(back(&decimal(100, 0)), decimal(100, 0));
    assert_eq!(back(&decimal(1, -2)), decimal(100, 0));
    assert_eq!(back(&decimal(-1234567, 3)), decimal(-1234567, 3));
    assert_eq!(back(&decimal(0, 9)), decimal(0, 0));
    assert_eq!(back(&decimal(7, -50)), decimal(7, -50));
}

#[test]
fn wrong_lengths_are_refused_with_the_sentence() {
    let error = DataType::Int.comparable(false, &[1, 2, 3]).unwrap_err();
    assert_eq!(error.message(), "Expected 4 or 0 byte int (3)");
}
