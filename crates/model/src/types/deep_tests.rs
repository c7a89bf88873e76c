//! Every walk over a type and its values recurses as deep as the type. With a type of the greatest depth, in every form
//! that nests, all of them must do with a small stack: an overflow aborts the tests.

use super::{DataType, TYPE_DEPTH_MAX, java_class_name};
use crate::comparable;
use crate::json::{JSON_DEPTH_MAX, JsonValue, from_json, to_json};
use crate::literal::{format_literal, text_to_wire};
use crate::value::{
    Value, canonical, compare, encode_elements, encode_fields, encode_map, encode_set, encode_vector,
    validate,
};

/// How one level is put around a type and a value of it.
type Wrap = fn(DataType, Vec<u8>) -> (DataType, Vec<u8>);

const WRAPS: [(&str, Wrap); 6] = [
    ("list", |inner, value| (DataType::list(inner).freeze(), encode_elements([value]))),
    ("set", |inner, value| (DataType::set(inner.clone()).freeze(), encode_set(&inner, vec![value]))),
    ("map value", |inner, value| {
        let entries = vec![(1i32.to_be_bytes().to_vec(), value)];
        (DataType::map(DataType::Int, inner).freeze(), encode_map(&DataType::Int, entries))
    }),
    ("tuple", |inner, value| (DataType::tuple([inner]), encode_fields([Some(value)]))),
    ("udt", |inner, value| (DataType::udt("ks", "t", [("f", inner)]).freeze(), encode_fields([Some(value)]))),
    ("vector", |inner, value| (DataType::vector(inner.clone(), 1), encode_vector(&inner, [value]))),
];

/// Bytes of stack for the deepest type in a debug build, an eighth of what a thread has.
const STACK_BYTES: usize = 256 << 10;

fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}

fn exercise(name: &str, data_type: &DataType, value: &[u8]) {
    data_type.check_size().unwrap();
    validate(data_type, value).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(canonical(data_type, value).unwrap(), value, "{name}");
    assert!(compare(data_type, value, value).is_eq());
    let decoded = Value::decode(data_type, Some(value)).unwrap();
    assert_eq!(decoded.encode(data_type).unwrap().unwrap(), value);
    assert!(format!("{decoded:?}").len() > TYPE_DEPTH_MAX);
    drop(decoded);
    assert!(!format_literal(data_type, Some(value)).is_empty());
    let json = to_json(data_type, value);
    let parsed = JsonValue::parse(&json).unwrap();
    assert_eq!(from_json(data_type, &parsed, 0).unwrap(), value, "{name}");
    assert!(!parsed.to_string().is_empty());
    assert_eq!(from_json(data_type, &JsonValue::String(json), 0).unwrap(), value, "{name}");
    assert!(text_to_wire(data_type, "x", 0).is_err());
    let mut key = Vec::new();
    comparable::encode(data_type, true, value, &mut key).unwrap();
    assert_eq!(comparable::skip(data_type, true, &key), Ok(key.len()));
    let mut back = Vec::new();
    comparable::decode(data_type, true, &key, &mut back).unwrap();
    assert_eq!(back, value, "{name}");
    walk_type(data_type);
}

fn walk_type(data_type: &DataType) {
    let text = data_type.to_string();
    let udt = match data_type {
        DataType::Udt(udt) => Some(udt.clone()),
        _ => None,
    };
    if let Ok(read) = DataType::parse(&text, &|_, _| udt.clone()) {
        assert_eq!(read.to_string(), text);
    }
    assert!(!java_class_name(data_type).is_empty() && !data_type.unfrozen_name().is_empty());
    assert_eq!(data_type.freeze(), *data_type);
    assert!(!data_type.has_decimal() && !data_type.references_duration() && !data_type.references_counter());
    let _ = (data_type.fixed_len(), data_type.with_udts(&|_| None), data_type.clone());
    assert!(format!("{data_type:?}").len() > TYPE_DEPTH_MAX);
}

#[test]
fn walks_over_the_deepest_types_fit_a_small_stack() {
    for (name, wrap) in WRAPS {
        on_small_stack(move || {
            let mut nested = (DataType::Int, 7i32.to_be_bytes().to_vec());
            for _ in 1..TYPE_DEPTH_MAX {
                nested = wrap(nested.0, nested.1);
            }
            exercise(name, &nested.0, &nested.1);
        });
    }
    on_small_stack(|| {
        let mut nested = (DataType::Int, 7i32.to_be_bytes().to_vec());
        for level in 1..TYPE_DEPTH_MAX {
            let (_, wrap) = WRAPS[level % WRAPS.len()];
            nested = wrap(nested.0, nested.1);
        }
        exercise("all", &nested.0, &nested.1);
    });
}

#[test]
fn json_texts_are_as_deep_as_they_may_be_and_no_deeper() {
    on_small_stack(|| {
        for (open, close) in [("[", "]"), ("{\"a\": ", "}")] {
            let nest = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let parsed = JsonValue::parse(&nest(JSON_DEPTH_MAX)).unwrap();
            assert!(parsed.to_string().len() > JSON_DEPTH_MAX);
            assert_eq!(parsed.clone(), parsed);
            assert!(from_json(&DataType::Int, &parsed, 0).is_err());
            drop(parsed);
            for depth in [JSON_DEPTH_MAX + 1, 1_000_000] {
                assert!(JsonValue::parse(&nest(depth)).is_err());
            }
        }
    });
}
