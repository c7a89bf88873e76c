//! Values of every type, into Lua and back.

use crate::Made;
use model::number::Decimal;
use model::temporal::Duration;
use model::types::DataType;
use model::value::{Value, compare};
use proptest::prelude::*;
use sandbox::Failure;
use std::net::IpAddr;
use std::sync::Arc;

fn native() -> BoxedStrategy<(DataType, Value)> {
    let of = |of: DataType| move |value| (of.clone(), value);
    prop_oneof![
        "[ -~]{0,8}".prop_map(Value::Text).prop_map(of(DataType::Ascii)),
        "\\PC{0,8}".prop_map(Value::Text).prop_map(of(DataType::Text)),
        any::<Vec<u8>>().prop_map(Value::Blob).prop_map(of(DataType::Blob)),
        any::<bool>().prop_map(Value::Boolean).prop_map(of(DataType::Boolean)),
        any::<i8>().prop_map(Value::TinyInt).prop_map(of(DataType::TinyInt)),
        any::<i16>().prop_map(Value::SmallInt).prop_map(of(DataType::SmallInt)),
        any::<i32>().prop_map(Value::Int).prop_map(of(DataType::Int)),
        any::<i64>().prop_map(Value::BigInt).prop_map(of(DataType::BigInt)),
        any::<i64>().prop_map(Value::Counter).prop_map(of(DataType::Counter)),
        any::<i128>().prop_map(|n| Value::VarInt(n.into())).prop_map(of(DataType::VarInt)),
        (any::<i64>(), -20..20i32)
            .prop_map(|(n, scale)| Value::Decimal(Decimal::new(n, scale)))
            .prop_map(of(DataType::Decimal)),
        // A zero is a key of tables whatever its sign.
        any::<f32>().prop_map(|n| Value::Float(n + 0.0)).prop_map(of(DataType::Float)),
        any::<f64>().prop_map(|n| Value::Double(n + 0.0)).prop_map(of(DataType::Double)),
        any::<[u8; 4]>().prop_map(|a| Value::Inet(IpAddr::from(a))).prop_map(of(DataType::Inet)),
        any::<[u8; 16]>().prop_map(Value::Uuid).prop_map(of(DataType::Uuid)),
        any::<u32>().prop_map(Value::Date).prop_map(of(DataType::Date)),
        (0..86_400_000_000_000i64).prop_map(Value::Time).prop_map(of(DataType::Time)),
        any::<i64>().prop_map(Value::Timestamp).prop_map(of(DataType::Timestamp)),
        (any::<u16>(), any::<u16>(), any::<u32>())
            .prop_map(|(m, d, n)| Value::Duration(Duration {
                months: m.into(),
                days: d.into(),
                nanos: n.into()
            }))
            .prop_map(of(DataType::Duration)),
    ]
    .boxed()
}

fn typed() -> BoxedStrategy<(DataType, Value)> {
    native()
        .prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                // Equal elements, so that they are of one type.
                (inner.clone(), 0..4usize).prop_map(|((of, value), count)| {
                    (DataType::list(of).freeze(), Value::List(vec![value; count]))
                }),
                (inner.clone(), 1..4usize).prop_map(|((of, value), count)| {
                    (DataType::vector(of, count as u32), Value::Vector(vec![value; count]))
                }),
                native().prop_map(|(of, value)| (DataType::set(of).freeze(), Value::Set(vec![value]))),
                (native(), inner.clone()).prop_map(|((key_type, key), (of, value))| {
                    (DataType::map(key_type, of).freeze(), Value::Map(vec![(key, value)]))
                }),
                prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| {
                    let (types, values): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
                    (DataType::tuple(types), Value::Tuple(values))
                }),
                prop::collection::vec(inner, 1..4).prop_map(|parts| {
                    let name = |at: usize| Arc::<str>::from(format!("f{at}"));
                    let fields = parts.iter().enumerate().map(|(at, (of, _))| (name(at), of.clone()));
                    let of = DataType::udt("ks", "u", fields).freeze();
                    let values = parts.iter().enumerate().map(|(at, (_, value))| (name(at), value.clone()));
                    (of, Value::Udt(values.collect()))
                }),
            ]
        })
        .boxed()
}

fn has_nan(value: &Value) -> bool {
    match value {
        Value::Float(n) => n.is_nan(),
        Value::Double(n) => n.is_nan(),
        Value::List(parts) | Value::Set(parts) | Value::Tuple(parts) | Value::Vector(parts) => {
            parts.iter().any(has_nan)
        }
        Value::Map(entries) => entries.iter().any(|(key, value)| has_nan(key) || has_nan(value)),
        Value::Udt(fields) => fields.iter().any(|(_, value)| has_nan(value)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What goes in comes out.
    #[test]
    fn identity_gives_the_same((of, value) in typed()) {
        prop_assume!(!has_nan(&value) && of.check_size().is_ok());
        let bytes = value.encode(&of).unwrap().unwrap();
        let same = Made::new("lua", &[("a", of.clone())], of.clone(), "return a");
        let back = same.call(&[Some(&bytes)]);
        let Ok(Some(back)) = back else { return Err(TestCaseError::fail(format!("{of} {value:?}: {back:?}"))) };
        prop_assert!(compare(&of, &bytes, &back).is_eq(), "{} {:?} {:02x?} {:02x?}", of, value, bytes, back);
    }

    /// Whatever a function gives, it is a value of the type or told as wrong: never bytes that cannot be read.
    #[test]
    fn results_are_of_their_type((of, _) in typed(), body in prop_oneof![
        Just("1"), Just("-1"), Just("1.5"), Just("'x'"), Just("''"), Just("{}"), Just("{1, 2}"), Just("{a = 1}"), Just("true"),
        Just("'\\255'"), Just("1e300"), Just("-(0/0)"), Just("string"), Just("print"), Just("{[1] = true}"), Just("{{}}"),
    ]) {
        let made = Made::new("lua", &[], of.clone(), &format!("return {body}"));
        if let Ok(Some(bytes)) = made.call(&[]) {
            prop_assert!(model::value::validate(&of, &bytes).is_ok(), "{} {} {:02x?}", of, body, bytes);
        }
    }
}

fn gives(of: DataType, body: &str) -> Result<Option<Value>, Failure> {
    let bytes = Made::new("lua", &[], of.clone(), &format!("return {body}")).call(&[])?;
    Ok(bytes.map(|bytes| Value::decode(&of, Some(&bytes)).unwrap()))
}

#[test]
fn what_lua_takes_for_a_number_is_one() {
    for body in ["42", "42.0", "'42'", "' 42 '", "'42.0'"] {
        assert_eq!(gives(DataType::BigInt, body), Ok(Some(Value::BigInt(42))), "{body}");
        assert_eq!(gives(DataType::VarInt, body), Ok(Some(Value::VarInt(42.into()))), "{body}");
        assert_eq!(gives(DataType::Double, body), Ok(Some(Value::Double(42.0))), "{body}");
    }
    for body in ["42.5", "'x'", "true", "{}"] {
        assert!(matches!(gives(DataType::Int, body), Err(Failure::WrongResult(_))), "{body}");
    }
    // Too large ones wrap.
    assert_eq!(gives(DataType::TinyInt, "300"), Ok(Some(Value::TinyInt(44))));
    assert_eq!(gives(DataType::Int, "1 << 40"), Ok(Some(Value::Int(0))));
    assert_eq!(gives(DataType::BigInt, "'18446744073709551617'"), Ok(Some(Value::BigInt(1))));
    assert_eq!(gives(DataType::Text, "42"), Ok(Some(Value::Text("42".into()))));
    assert_eq!(gives(DataType::Text, "1.5"), Ok(Some(Value::Text("1.5".into()))));
    assert_eq!(gives(DataType::Decimal, "'1.50'"), Ok(Some(Value::Decimal(Decimal::new(150, 2)))));
}

#[test]
fn texts_stand_for_times_and_addresses() {
    assert_eq!(gives(DataType::Date, "'1970-01-02'"), Ok(Some(Value::Date((1 << 31) + 1))));
    assert_eq!(
        gives(DataType::Date, "{year = 1970, month = 1, day = 2}"),
        Ok(Some(Value::Date((1 << 31) + 1)))
    );
    assert_eq!(gives(DataType::Date, "(1 << 31)"), Ok(Some(Value::Date(1 << 31))));
    assert!(gives(DataType::Date, "-1").is_err() && gives(DataType::Date, "{year = 1970}").is_err());
    assert!(gives(DataType::Date, "{year = 1970, month = 1, day = 2, hour = 3}").is_err());
    assert_eq!(gives(DataType::Time, "'00:00:01'"), Ok(Some(Value::Time(1_000_000_000))));
    assert!(gives(DataType::Time, "-1").is_err());
    assert_eq!(gives(DataType::Timestamp, "'1970-01-01 00:00:01Z'"), Ok(Some(Value::Timestamp(1000))));
    assert_eq!(gives(DataType::Inet, "'127.0.0.1'"), Ok(Some(Value::Inet(IpAddr::from([127, 0, 0, 1])))));
    let duration = Value::Duration(Duration { months: 1, days: 2, nanos: 3 });
    assert_eq!(
        gives(DataType::Duration, "{months = 1, days = 2, nanoseconds = 3}"),
        Ok(Some(duration.clone()))
    );
    assert_eq!(gives(DataType::Duration, "'1mo2d3ns'"), Ok(Some(duration)));
    assert!(gives(DataType::Duration, "{months = 1, days = 2}").is_err());
    assert!(gives(DataType::Uuid, "'no uuid'").is_err());
    assert!(gives(DataType::Ascii, "'\\u{e4}'").is_err() && gives(DataType::Text, "'\\255'").is_err());
}

#[test]
fn tables_must_have_what_their_type_has() {
    let pair = || DataType::tuple([DataType::Int, DataType::Text]);
    assert!(gives(pair(), "{1, 'a'}").is_ok());
    for body in ["{1}", "{1, 'a', 2}", "{1, 2, x = 3}", "{'a', 1}", "5"] {
        let told = gives(pair(), body);
        assert!(matches!(told, Err(Failure::WrongResult(_))), "{body}: {told:?}");
    }
    let list = || DataType::list(DataType::Int).freeze();
    assert!(gives(list(), "{}").is_ok() && gives(list(), "{1, 2}").is_ok());
    assert!(gives(list(), "{1, nil, 3}").is_err() && gives(list(), "{x = 1}").is_err());
    let set = || DataType::set(DataType::Int).freeze();
    assert_eq!(
        gives(set(), "{[2] = true, [1] = true}"),
        Ok(Some(Value::Set(vec![Value::Int(1), Value::Int(2)])))
    );
    assert!(gives(set(), "{1, 2}").is_err());
    let udt = || DataType::udt("ks", "u", [("a", DataType::Int), ("b", DataType::Text)]).freeze();
    assert!(gives(udt(), "{a = 1, b = 'x'}").is_ok());
    assert!(gives(udt(), "{a = 1}").is_err() && gives(udt(), "{a = 1, b = 'x', c = 2}").is_err());
    let vector = || DataType::vector(DataType::Float, 2);
    assert!(gives(vector(), "{1, 2}").is_ok() && gives(vector(), "{1}").is_err());
}
