//! The catalogue survives its JSON form, and damaged text is refused with its place.

use crate::catalogue::Catalogue;
use crate::change::{Change, NewColumn, NewTable, Setting};
use crate::properties::{Properties, PropertyValue};
use model::types::DataType;

fn sample() -> Catalogue {
    let setting = Setting { now_micros: 1_700_000_000_000_000, data_center: "datacenter1".into() };
    let map = [("class".to_string(), "SimpleStrategy".to_string())].into();
    let properties = Properties::from_iter([("replication", PropertyValue::Map(map))]);
    let create = Change::CreateKeyspace { name: "k".into(), if_not_exists: false, properties };
    let address = Change::CreateType {
        keyspace: "k".into(),
        name: "Address".into(),
        if_not_exists: false,
        fields: vec![("street".into(), DataType::Text)],
    };
    let catalogue = Catalogue::empty().apply(&create, &setting).unwrap().catalogue;
    let catalogue = catalogue.apply(&address, &setting).unwrap().catalogue;
    let udt = DataType::Udt(catalogue.keyspace("k").unwrap().types["Address"].clone());
    let table = Change::CreateTable(Box::new(NewTable {
        keyspace: "k".into(),
        name: "t".into(),
        columns: vec![
            NewColumn::regular("id", DataType::Uuid),
            NewColumn { mask: Some("mask_default()".into()), ..NewColumn::regular("home", udt) },
        ],
        partition_key: vec!["id".into()],
        ..NewTable::default()
    }));
    catalogue.apply(&table, &setting).unwrap().catalogue
}

#[test]
fn the_text_is_readable_and_comes_back() {
    let catalogue = sample();
    let text = String::from_utf8(catalogue.to_json()).unwrap();
    assert!(text.starts_with("{\n  \"format\": 1,\n"), "{text}");
    assert!(text.contains("\"type\": \"\\\"Address\\\"\""), "{text}");
    assert!(text.contains("\"options\": {}"), "defaults are not written: {text}");
    assert_eq!(Catalogue::from_json(text.as_bytes()).unwrap(), catalogue);
    let stored = catalogue.to_json_of_node(Some([7; 16]));
    assert_eq!(Catalogue::from_json_of_node(&stored).unwrap(), (catalogue, Some([7; 16])));
}

#[test]
fn damage_is_told_with_its_place() {
    let text = String::from_utf8(sample().to_json()).unwrap();
    let check = |from: &str, to: &str, expect: &str| {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from} is in the text");
        let error = Catalogue::from_json(damaged.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("\"uuid\"", "\"guid\"", "unknown field `guid`");
    check("\"format\": 1", "\"format\": 9", "format 9, this server reads up to 1");
    check(
        "\"type\": \"uuid\"",
        "\"type\": \"nosuch\"",
        "keyspace k, table t, column id: Unknown type nosuch",
    );
    check("\"next_table_id\": 1001", "\"next_table_id\": 1000", "table id 1000 is not below 1000");
    check(
        "\"kind\": \"partition_key\"",
        "\"kind\": \"clustering\"",
        "keyspace k, table t: there is no partition key",
    );
    check("\"street\",", "7,", "line ");
    for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(7) {
        assert!(Catalogue::from_json(&text.as_bytes()[..at]).is_err(), "cut at {at}");
    }
}
