//! Types print, parse and nest as Cassandra's do.

use std::sync::Arc;

use super::*;

fn address() -> Arc<UdtType> {
    let DataType::Udt(udt) =
        DataType::udt("ks", "Address", [("street", DataType::Text), ("no", DataType::Int)])
    else {
        unreachable!("udt() builds a user-defined type")
    };
    udt
}

fn parse(text: &str) -> DataType {
    DataType::parse(text, &|_, name| (name == "Address").then(address)).unwrap()
}

#[track_caller]
fn round_trip(text: &str) {
    assert_eq!(parse(text).to_string(), text);
}

#[test]
fn text_round_trips() {
    for text in [
        "int",
        "text",
        "list<int>",
        "frozen<map<text, int>>",
        "map<text, frozen<list<frozen<set<int>>>>>",
        "frozen<tuple<int, text, frozen<list<int>>>>",
        "vector<float, 3>",
        "\"Address\"",
        "frozen<\"Address\">",
        "set<frozen<\"Address\">>",
        "'org.example.SomeType'",
    ] {
        round_trip(text);
    }
    assert_eq!(parse("varchar"), DataType::Text);
    assert_eq!(parse("TUPLE<list<int>>").to_string(), "frozen<tuple<frozen<list<int>>>>");
    assert_eq!(parse("frozen<list<list<int>>>").to_string(), "frozen<list<frozen<list<int>>>>");
}

#[test]
fn bad_texts_are_refused() {
    for text in
        ["", "list<", "list<int", "list<int>>", "map<int>", "vector<float, 0>", "nope", "list<int>x", "\"x"]
    {
        assert!(DataType::parse_native(text).is_err(), "{text}");
    }
    let deep = format!("{}int{}", "list<".repeat(100), ">".repeat(100));
    assert_eq!(DataType::parse_native(&deep), Err(TypeParseError::TooDeep));
}

#[test]
fn java_class_names() {
    let name = |text: &str| java_class_name(&parse(text)).replace("org.apache.cassandra.db.marshal.", "");
    assert_eq!(name("vector<float, 3>"), "VectorType(FloatType , 3)");
    assert_eq!(name("frozen<list<frozen<set<int>>>>"), "FrozenType(ListType(SetType(Int32Type)))");
    assert_eq!(name("map<text, frozen<list<int>>>"), "MapType(UTF8Type,FrozenType(ListType(Int32Type)))");
    assert_eq!(name("tuple<int, list<text>>"), "TupleType(Int32Type,ListType(UTF8Type))");
    assert_eq!(
        name("frozen<\"Address\">"),
        "FrozenType(UserType(ks,41646472657373,737472656574:UTF8Type,6e6f:Int32Type))"
    );
}

#[test]
fn frozenness_and_references() {
    assert!(parse("list<int>").is_multi_cell());
    assert!(!parse("frozen<list<int>>").is_multi_cell());
    assert!(parse("\"Address\"").is_multi_cell());
    assert!(!parse("tuple<int>").is_multi_cell());
    assert!(parse("map<int, frozen<tuple<frozen<\"Address\">>>>").references_udt("ks", "Address"));
    assert!(!parse("list<int>").references_udt("ks", "Address"));
    assert!(parse("list<duration>").references_duration());
    let updated = UdtType {
        fields: Arc::new([UdtField { name: "only".into(), data_type: DataType::Int }]),
        ..UdtType::clone(&address())
    };
    let changed = parse("list<frozen<\"Address\">>").with_udts(&|_| Some(Arc::new(updated.clone())));
    assert_eq!(changed, DataType::list(DataType::Udt(Arc::new(updated)).freeze()));
}

#[test]
fn fixed_lengths_follow_cassandra() {
    for (text, len) in [
        ("int", Some(4)),
        ("boolean", Some(1)),
        ("timeuuid", Some(16)),
        ("date", None),
        ("time", None),
        ("smallint", None),
        ("text", None),
        ("vector<vector<float, 3>, 2>", Some(24)),
        ("vector<text, 2>", None),
    ] {
        assert_eq!(parse(text).fixed_len(), len, "{text}");
    }
}

#[test]
fn reserved_words_are_sorted_and_quoted() {
    assert!(is_reserved_word("select") && is_reserved_word("with") && is_reserved_word("add"));
    assert!(!is_reserved_word("key") && !is_reserved_word("ttl"));
    assert_eq!(quote_identifier("a1_b"), "a1_b");
    assert_eq!(quote_identifier("Ab"), "\"Ab\"");
    assert_eq!(quote_identifier("1a"), "\"1a\"");
    assert_eq!(quote_identifier("token"), "\"token\"");
    assert_eq!(quote_identifier("a\"b"), "\"a\"\"b\"");
}
