//! The catalogue survives its JSON form, and damaged text is refused with its place.

use crate::catalogue::Catalogue;
use crate::change::{
    Change, DropFunction, NewAggregate, NewColumn, NewFunction, NewIndex, NewNote, NewTable, Setting,
    TableAlteration,
};
use crate::fault::{RoutineFault, TypeFault};
use crate::function::{UserAggregate, UserFunction};
use crate::index::IndexPart;
use crate::name::{FullName, Signature};
use crate::note::{NoteKind, NoteTarget};
use crate::properties::{Properties, PropertyValue};
use model::comparison::Comparison;
use model::constraint::Constraint;
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
fn functions_and_compact_tables_survive() {
    let setting = Setting { now_micros: 1, data_center: "datacenter1".into() };
    let function = |name: &str, types: &[&str]| {
        Change::CreateFunction(Box::new(NewFunction {
            keyspace: "k".into(),
            or_replace: false,
            if_not_exists: false,
            written_types: Vec::new(),
            function: UserFunction {
                name: name.into(),
                arguments: types.iter().map(|of| ("a".to_string() + of, of.to_string())).collect(),
                returns: "int".into(),
                called_on_null: true,
                language: "java".into(),
                body: "return 1;".into(),
            },
        }))
    };
    let aggregate = Change::CreateAggregate(Box::new(NewAggregate {
        keyspace: "k".into(),
        or_replace: false,
        if_not_exists: false,
        written_types: Vec::new(),
        aggregate: UserAggregate {
            name: "total".into(),
            arguments: vec!["\"Address\"".into()],
            state_function: "add".into(),
            state_type: "int".into(),
            final_function: None,
            initial: Some("0".into()),
            returns: String::new(),
        },
    }));
    let compact = |name: &str, clustering: &[&str]| {
        let column = |name: &str| NewColumn::regular(name, DataType::Text);
        Change::CreateTable(Box::new(NewTable {
            keyspace: "k".into(),
            name: name.into(),
            columns: vec![column("p"), column("c"), column("v")],
            partition_key: vec!["p".into()],
            clustering: clustering.iter().map(|name| name.to_string()).collect(),
            is_compact: true,
            ..NewTable::default()
        }))
    };
    let changes = [
        function("add", &["int", "\"Address\""]),
        function("add", &["int"]),
        aggregate,
        compact("st", &[]),
        compact("dense", &["c"]),
        compact("keys", &["c", "v"]),
    ];
    let mut catalogue = sample();
    for change in &changes {
        catalogue = catalogue.apply(change, &setting).unwrap().catalogue;
        let read = Catalogue::from_json(&catalogue.to_json()).unwrap();
        assert_eq!(read, catalogue);
    }
    let keyspace = catalogue.keyspace("k").unwrap();
    let flags = |name: &str| keyspace.table(name).unwrap().flags();
    assert_eq!(
        (flags("st"), flags("dense"), flags("keys")),
        (vec![], vec!["dense"], vec!["compound", "dense"])
    );
    let drop = Change::DropType { keyspace: "k".into(), name: "Address".into(), if_exists: false };
    let used = TypeFault::UsedByFunctions {
        name: FullName::new("k", "Address"),
        functions: vec!["k.add".into(), "k.total".into()],
    };
    assert_eq!(catalogue.apply(&drop, &setting), Err(used.into()));
    let arguments = Some(vec!["int".to_string(), "\"Address\"".to_string()]);
    let add = Change::DropFunction(Box::new(DropFunction {
        keyspace: "k".into(),
        name: "add".into(),
        if_exists: false,
        is_aggregate: false,
        arguments: arguments.clone(),
    }));
    let function = Signature { name: FullName::new("k", "add"), arguments };
    let referenced = RoutineFault::Referenced { function, aggregates: vec!["k.total".into()] };
    assert_eq!(catalogue.apply(&add, &setting), Err(referenced.into()));
}

/// The same with two indexes, of which one is built.
fn indexed() -> Catalogue {
    with_indexes("sai")
}

fn with_indexes(class: &str) -> Catalogue {
    let setting = Setting { now_micros: 1, data_center: "datacenter1".into() };
    let alter = Change::AlterTable {
        keyspace: "k".into(),
        name: "t".into(),
        if_exists: false,
        alteration: crate::change::TableAlteration::Add {
            if_not_exists: false,
            columns: vec![
                NewColumn::regular("m", DataType::map(DataType::Text, DataType::Int)),
                NewColumn::regular("n", DataType::Int),
            ],
        },
    };
    let index = |part, column: &str, class: Option<&str>| {
        Change::CreateIndex(Box::new(NewIndex {
            keyspace: "k".into(),
            table: "t".into(),
            targets: vec![(part, column.into())],
            class: class.map(str::to_string),
            ..NewIndex::default()
        }))
    };
    let changes = [
        alter,
        index(IndexPart::Keys, "m", None),
        index(IndexPart::Whole, "n", Some(class).filter(|class| !class.is_empty())),
        Change::IndexBuilt { keyspace: "k".into(), table: "t".into(), id: 1001 },
    ];
    changes.iter().fold(sample(), |catalogue, change| catalogue.apply(change, &setting).unwrap().catalogue)
}

#[test]
fn constraints_and_notes_come_back_and_follow_what_they_are_about() {
    let setting = Setting { now_micros: 1, data_center: "datacenter1".into() };
    let alter = |alteration| Change::AlterTable {
        keyspace: "k".into(),
        name: "t".into(),
        if_exists: false,
        alteration,
    };
    let value = Constraint::Value { comparison: Comparison::Less, term: "9".into(), value: vec![0, 0, 0, 9] };
    let length = Constraint::Length { octets: true, comparison: Comparison::NotEqual, count: 3 };
    let columns = vec![
        NewColumn { checks: vec![Constraint::NotNull, value], ..NewColumn::regular("n", DataType::Int) },
        NewColumn {
            checks: vec![Constraint::Json, length, Constraint::regexp(false, "it's").unwrap()],
            ..NewColumn::regular("w", DataType::Text)
        },
    ];
    let note = |target, kind| {
        let text = Some("said".to_string());
        Change::SetNote(Box::new(NewNote { keyspace: "k".into(), target, kind, provider: None, text }))
    };
    let column = |name: &str| NoteTarget::Column("t".into(), name.into());
    let renames = vec![("id".to_string(), "key".to_string())];
    let changes = [
        alter(TableAlteration::Add { if_not_exists: false, columns }),
        note(NoteTarget::Keyspace, NoteKind::Comment),
        note(NoteTarget::Field("Address".into(), "street".into()), NoteKind::SecurityLabel),
        note(column("id"), NoteKind::Comment),
        note(column("w"), NoteKind::Comment),
        alter(TableAlteration::Rename { renames }),
    ];
    let apply = |catalogue: Catalogue, change: &Change| catalogue.apply(change, &setting).unwrap().catalogue;
    let catalogue = changes.iter().fold(sample(), apply);
    let text = String::from_utf8(catalogue.to_json()).unwrap();
    assert!(text.starts_with("{\n  \"format\": 6,\n"), "{text}");
    assert_eq!(Catalogue::from_json(text.as_bytes()).unwrap(), catalogue);
    let targets = |catalogue: &Catalogue| {
        let notes = &catalogue.keyspace("k").unwrap().notes;
        notes.iter().map(|note| note.target.clone()).collect::<Vec<_>>()
    };
    assert!(targets(&catalogue).contains(&column("key")), "a note goes with a renamed column");
    let drop = TableAlteration::Drop { if_exists: false, columns: vec!["w".into()], timestamp: None };
    assert!(!targets(&apply(catalogue, &alter(drop))).contains(&column("w")), "and ends with a dropped one");
}

#[test]
fn rows_that_expire_come_back_and_an_older_server_is_told() {
    let setting = Setting { now_micros: 1, data_center: "datacenter1".into() };
    let alter = |alteration| Change::AlterTable {
        keyspace: "k".into(),
        name: "t".into(),
        if_exists: false,
        alteration,
    };
    let column = NewColumn { is_ttl: true, ..NewColumn::regular("ends", DataType::Timestamp) };
    let add = alter(TableAlteration::Add { if_not_exists: false, columns: vec![column] });
    let catalogue = sample().apply(&add, &setting).unwrap().catalogue;
    let text = String::from_utf8(catalogue.to_json()).unwrap();
    assert!(text.starts_with("{\n  \"format\": 9,\n"), "{text}");
    assert_eq!(Catalogue::from_json(text.as_bytes()).unwrap(), catalogue);
    let id = catalogue.table("k", "t").unwrap().row_ttl.unwrap();
    let elsewhere = text.replacen(&format!("\"row_ttl\": {id}"), "\"row_ttl\": 77", 1);
    assert_ne!(elsewhere, text);
    let error = Catalogue::from_json(elsewhere.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("the column that says when rows expire is not there"), "{error}");
    let off = catalogue.apply(&alter(TableAlteration::RowTtl(None)), &setting).unwrap().catalogue;
    assert!(String::from_utf8(off.to_json()).unwrap().starts_with("{\n  \"format\": 1,\n"));
}

#[test]
fn indexes_come_back_and_an_older_server_is_told_that_they_are_newer() {
    let catalogue = indexed();
    let text = String::from_utf8(catalogue.to_json()).unwrap();
    // Sorted entries came later than indexes.
    assert!(text.starts_with("{\n  \"format\": 8,\n"), "{text}");
    let unsorted = String::from_utf8(with_indexes("").to_json()).unwrap();
    assert!(unsorted.starts_with("{\n  \"format\": 2,\n"), "{unsorted}");
    assert!(text.contains("\"part\": \"keys\"") && text.contains("\"target\": \"keys(m)\""), "{text}");
    assert_eq!(Catalogue::from_json(text.as_bytes()).unwrap(), catalogue);
    let states: Vec<bool> = catalogue.table("k", "t").unwrap().indexes.iter().map(|i| i.built).collect();
    assert_eq!(states, [true, false]);
    let check = |from: &str, to: &str, expect: &str| {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from} is in the text");
        let error = Catalogue::from_json(damaged.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    let place = "keyspace k, table t, index t_m_idx";
    check("\"column\": \"m\"", "\"column\": \"x\"", &format!("{place}: there is no column x"));
    check(
        "\"part\": \"keys\"",
        "\"part\": \"full\"",
        &format!("{place}: a column of type map<text, int> has no"),
    );
    check("\"part\": \"keys\"", "\"part\": \"half\"", "unknown variant `half`");
    check("\"id\": 1001", "\"id\": 1000", &format!("{place}: id 1000 is taken or too large"));
    check("\"id\": 1001", "\"id\": 1003", &format!("{place}: id 1003 is taken or too large"));
    check("\"name\": \"t_n_idx\"", "\"name\": \"t_a_idx\"", "the indexes are out of order");
    check("\"target\": \"keys(m)\"", "\"target\": \"\"", "the options do not say what it is");
    check("\"class_name\": \"sai\"", "\"class_name\": \"nope\"", "the options do not say what it is");
    check("\"built\": true", "\"build\": true", "unknown field `build`");
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
    check("\"format\": 1", "\"format\": 10", "format 10, this server reads up to 9");
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

/// A server that knows nothing of finer buckets must not look for rows where they are not.
#[test]
fn a_table_whose_buckets_spill_is_not_for_older_servers() {
    let format = |plan: &[(&str, &str)]| {
        let plan = plan.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let mut properties = Properties::default();
        properties.add("bucketing", PropertyValue::Map(plan)).unwrap();
        let table = NewTable {
            keyspace: "k".into(),
            name: "bucketed".into(),
            columns: vec![
                NewColumn::regular("e", DataType::Int),
                NewColumn::regular("at", DataType::Timestamp),
            ],
            partition_key: vec!["e".into()],
            clustering: vec!["at".into()],
            properties,
            ..NewTable::default()
        };
        let change = Change::CreateTable(Box::new(table));
        let catalogue = sample()
            .apply(&change, &Setting { now_micros: 1, data_center: "datacenter1".into() })
            .unwrap()
            .catalogue;
        let text = String::from_utf8(catalogue.to_json()).unwrap();
        assert_eq!(Catalogue::from_json(text.as_bytes()).unwrap(), catalogue);
        text.lines().nth(1).unwrap().trim().to_string()
    };
    assert_eq!(format(&[("by", "at"), ("every", "month")]), "\"format\": 6,");
    assert_eq!(format(&[("by", "at"), ("every", "month"), ("spill", "1d")]), "\"format\": 7,");
}
