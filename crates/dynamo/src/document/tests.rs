//! Documents: golden bytes, round trips, damage.

use super::*;
use crate::number::Number;
use crate::sample;
use crate::value::{Item, Value};
use crate::{json, size};
use proptest::prelude::*;

fn golden_item() -> Item {
    let s = |text: &str| Value::S(text.into());
    let n = |text: &str| Value::N(Number::parse(text).unwrap());
    let inner: Item = [("x".to_string(), Value::Null)].into_iter().collect();
    [
        ("s", s("hé")),
        ("n", n("-12.5")),
        ("b", Value::B(vec![0, 255])),
        ("t", Value::Bool(true)),
        ("f", Value::Bool(false)),
        ("ss", Value::Ss(vec!["a".into(), "b".into()])),
        ("ns", Value::Ns(vec![Number::ZERO, Number::parse("7").unwrap()])),
        ("bs", Value::Bs(vec![vec![1]])),
        ("l", Value::L(vec![s(""), Value::Null])),
        ("m", Value::M(inner)),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into_iter()
    .collect()
}

/// The bytes that docs/format/dynamo.md explains; stored items of every installation look like this.
#[test]
fn golden() {
    let bytes = encode(&golden_item());
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, include_str!("golden.hex").trim());
    assert_eq!(decode(&bytes), Ok(golden_item()));
}

#[test]
fn json_comes_straight_from_bytes() {
    let bytes = encode(&golden_item());
    let mut out = Vec::new();
    Document::new(&bytes).unwrap().write_json(&mut out).unwrap();
    let expected = concat!(
        r#"{"b":{"B":"AP8="},"bs":{"BS":["AQ=="]},"f":{"BOOL":false},"l":{"L":[{"S":""},{"NULL":true}]},"#,
        r#""m":{"M":{"x":{"NULL":true}}},"n":{"N":"-12.5"},"ns":{"NS":["0","7"]},"s":{"S":"hé"},"#,
        r#""ss":{"SS":["a","b"]},"t":{"BOOL":true}}"#
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let mut some = Vec::new();
    Document::new(&bytes).unwrap().write_json_of(&["a", "n", "t"], &mut some).unwrap();
    assert_eq!(some, br#"{"n":{"N":"-12.5"},"t":{"BOOL":true}}"#);
}

proptest! {
    #[test]
    fn round_trip(item in sample::item()) {
        let bytes = encode(&item);
        let document = Document::new(&bytes).unwrap();
        prop_assert_eq!(document.size(), size::item(&item));
        prop_assert_eq!(decode(&bytes), Ok(item.clone()));
        let (mut from_bytes, mut from_tree) = (Vec::new(), Vec::new());
        document.write_json(&mut from_bytes).unwrap();
        json::write_item(&item, &mut from_tree);
        prop_assert_eq!(from_bytes, from_tree);
        for (name, value) in item.iter() {
            let view = document.get(name).unwrap().unwrap();
            prop_assert_eq!(&view.decode().unwrap(), value);
            prop_assert_eq!(view.kind(), value.kind());
        }
        prop_assert!(document.get("no such name").unwrap().is_none());
    }

    #[test]
    fn damage_is_an_error_or_another_item(item in sample::item(), at in any::<prop::sample::Index>(), byte: u8, cut: bool) {
        let mut bytes = encode(&item);
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        let _ = decode(&bytes);
        if let Ok(document) = Document::new(&bytes) {
            let mut out = Vec::new();
            let _ = document.write_json(&mut out);
            let _ = document.get("a");
        }
    }
}
