//! Views and their bases: what changes together, and that it comes back from JSON.

use crate::catalogue::Catalogue;
use crate::change::{Change, NewColumn, NewTable, NewView, Setting, TableAlteration};
use crate::fault::{SchemaError, ViewFault};
use crate::name::FullName;
use crate::properties::{Properties, PropertyValue};
use crate::table::Table;
use crate::view::{IS_NOT_NULL, ViewRestriction};
use model::types::DataType;
use std::collections::BTreeMap;

fn apply(catalogue: &Catalogue, change: &Change) -> Result<Catalogue, SchemaError> {
    let setting = Setting { now_micros: 5, data_center: "datacenter1".into() };
    let next = catalogue.apply(change, &setting)?.catalogue;
    next.check().expect("the catalogue is consistent");
    assert_eq!(Catalogue::from_json(&next.to_json()).expect("it is read back"), next);
    Ok(next)
}

fn base() -> Catalogue {
    let map = BTreeMap::from([
        ("class".to_string(), "SimpleStrategy".to_string()),
        ("replication_factor".into(), "1".into()),
    ]);
    let properties = Properties::from_iter([("replication", PropertyValue::Map(map))]);
    let keyspace = Change::CreateKeyspace { name: "k".into(), if_not_exists: false, properties };
    let table = NewTable {
        keyspace: "k".into(),
        name: "t".into(),
        columns: ["a", "b", "v", "w"].map(|name| NewColumn::regular(name, DataType::Int)).to_vec(),
        partition_key: vec!["a".into()],
        clustering: vec!["b".into()],
        clustering_order: vec![("b".into(), true)],
        ..NewTable::default()
    };
    let catalogue = apply(&Catalogue::empty(), &keyspace).unwrap();
    apply(&catalogue, &Change::CreateTable(Box::new(table))).unwrap()
}

fn not_null(name: &str) -> ViewRestriction {
    ViewRestriction {
        columns: vec![name.into()],
        is_tuple: false,
        condition: IS_NOT_NULL.into(),
        tests: Some(Vec::new()),
    }
}

fn new_view(name: &str, selected: Option<&[&str]>, key: &[&str]) -> NewView {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    NewView {
        keyspace: "k".into(),
        name: name.into(),
        if_not_exists: false,
        base_keyspace: "k".into(),
        base: "t".into(),
        selected: Ok(selected.map(names)),
        restrictions: Ok(key.iter().map(|name| not_null(name)).collect()),
        partition_key: names(&key[..1]),
        clustering: names(&key[1..]),
        clustering_order: Vec::new(),
        properties: Properties::new(),
        is_projection: false,
        totals: Vec::new(),
    }
}

fn create(view: NewView) -> Change {
    Change::CreateView(Box::new(view))
}

fn alter(alteration: TableAlteration) -> Change {
    Change::AlterTable { keyspace: "k".into(), name: "t".into(), if_exists: false, alteration }
}

fn names(table: &Table) -> Vec<&str> {
    table.columns().map(|column| &*column.name).collect()
}

fn with_views() -> Catalogue {
    let catalogue = apply(&base(), &create(new_view("all", None, &["v", "a", "b"]))).unwrap();
    apply(&catalogue, &create(new_view("few", Some(&["b", "a", "b"]), &["b", "a"]))).unwrap()
}

#[test]
fn a_view_has_columns_of_its_base_under_their_ids() {
    let catalogue = with_views();
    let (base, all) = (catalogue.table("k", "t").unwrap(), catalogue.table("k", "all").unwrap());
    assert_eq!(names(all), ["v", "a", "b", "w"]);
    assert_eq!(names(catalogue.table("k", "few").unwrap()), ["b", "a"]);
    for column in all.columns() {
        assert_eq!(Some(column.id), base.column(&column.name).map(|c| c.id));
    }
    assert!(all.clustering[1].descending, "the order of the base");
    let text = String::from_utf8(catalogue.to_json()).unwrap();
    assert!(text.contains("\"format\": 4"), "an older server must not read it: {text}");
}

#[test]
fn views_follow_their_base() {
    let mut catalogue = with_views();
    let add = TableAlteration::Add {
        if_not_exists: false,
        columns: vec![
            NewColumn::regular("m", DataType::Text),
            NewColumn { is_static: true, ..NewColumn::regular("s", DataType::Int) },
        ],
    };
    let rename = TableAlteration::Rename { renames: vec![("b".into(), "B".into())] };
    for alteration in [add, rename] {
        catalogue = apply(&catalogue, &alter(alteration)).unwrap();
    }
    let all = catalogue.table("k", "all").unwrap();
    assert_eq!(names(all), ["v", "a", "B", "m", "w"]);
    let definition = all.view.as_ref().unwrap();
    assert_eq!(definition.where_clause(), "v IS NOT NULL AND a IS NOT NULL AND \"B\" IS NOT NULL");
    assert_eq!(names(catalogue.table("k", "few").unwrap()), ["B", "a"]);
    let truncate = Change::Truncate { keyspace: "k".into(), name: "t".into() };
    let truncated = apply(&catalogue, &truncate).unwrap();
    for name in ["t", "all", "few"] {
        assert_eq!(truncated.table("k", name).unwrap().incarnation, 1, "{name}");
    }
    let built = Change::ViewBuilt { keyspace: "k".into(), id: all.id };
    let done = apply(&truncated, &built).unwrap();
    assert!(done.table("k", "all").unwrap().view.as_ref().unwrap().built);
    assert_eq!(done.version, truncated.version, "drivers are not told");
    let drop = Change::DropView { keyspace: "k".into(), name: "all".into(), if_exists: false };
    assert!(apply(&done, &drop).unwrap().table("k", "all").is_none());
}

#[test]
fn what_a_view_cannot_be_is_refused_with_the_facts() {
    let catalogue = with_views();
    let view = |change: fn(&mut NewView)| {
        let mut view = new_view("x", None, &["v", "a", "b"]);
        change(&mut view);
        create(view)
    };
    let option =
        |name: &'static str, value: &str| Properties::from_iter([(name, PropertyValue::Text(value.into()))]);
    let drop_column = TableAlteration::Drop { if_exists: true, columns: vec!["w".into()], timestamp: None };
    let no_grace = TableAlteration::With(option("gc_grace_seconds", "0"));
    let drop_base = Change::DropTable { keyspace: "k".into(), name: "t".into(), if_exists: true };
    let drop_view = Change::DropTable { keyspace: "k".into(), name: "all".into(), if_exists: true };
    let ttl = Change::AlterView {
        keyspace: "k".into(),
        name: "all".into(),
        if_exists: false,
        properties: option("default_time_to_live", "5"),
    };
    let check = |change: Change, expect: SchemaError| {
        assert_eq!(apply(&catalogue, &change).expect_err("it is refused"), expect);
    };
    let text = |text: &str| text.to_string();
    let told = || ViewFault::Written(text("as told")).into();
    let (x, w) = (text("x"), text("w"));
    check(view(|v| v.base_keyspace = "j".into()), ViewFault::OtherKeyspace.into());
    check(view(|v| v.base = "all".into()), ViewFault::BaseMissing { base: text("all") }.into());
    check(view(|v| v.name = "t".into()), ViewFault::NameOfTable { view: text("t") }.into());
    let taken = SchemaError::TableExists { keyspace: text("k"), table: text("all") };
    check(view(|v| v.name = "all".into()), taken);
    check(view(|v| v.selected = Err("as told".into())), told());
    let undefined = ViewFault::UndefinedColumn { column: text("W"), table: FullName::new("k", "t") };
    check(view(|v| v.selected = Ok(Some(vec!["W".into()]))), undefined.into());
    let unknown = ViewFault::KeyUnknown { column: text("z"), view: x.clone() };
    check(view(|v| v.partition_key = vec!["z".into()]), unknown.into());
    let twice = ViewFault::KeyTwice { column: text("v"), view: x.clone() };
    check(view(|v| v.clustering.push("v".into())), twice.into());
    check(view(|v| v.clustering_order = vec![("b".into(), true)]), ViewFault::OrderDiffers.into());
    let lacks = ViewFault::KeyLacks { view: x, columns: vec![text("b")], table: text("t") };
    check(view(|v| v.clustering.truncate(1)), lacks.into());
    let several = ViewFault::KeyAddsSeveral { columns: vec![text("v"), w.clone()] };
    check(view(|v| v.clustering.push("w".into())), several.into());
    check(view(|v| v.restrictions = Err("as told".into())), told());
    let nullable = ViewFault::KeyNullable { columns: vec![text("a"), text("b"), text("v")] };
    check(view(|v| v.restrictions = Ok(Vec::new())), nullable.into());
    check(
        view(|v| v.restrictions.iter_mut().flatten().for_each(|r| r.condition = "= 1".into())),
        ViewFault::OthersRestricted { columns: vec![text("v")] }.into(),
    );
    check(alter(drop_column), ViewFault::ColumnDropped { column: w, base: text("t") }.into());
    check(alter(no_grace), ViewFault::GraceOfBase.into());
    let views = vec![text("all"), text("few")];
    check(drop_base, ViewFault::StillThere { keyspace: text("k"), views }.into());
    check(drop_view, ViewFault::DroppedAsTable.into());
    check(ttl, ViewFault::TtlAltered.into());
}

#[test]
fn a_damaged_view_is_not_read() {
    let text = String::from_utf8(with_views().to_json()).unwrap();
    let check = |from: &str, to: &str, expect: &str| {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from} is in the text");
        let error = Catalogue::from_json(damaged.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("\"base\": \"t\"", "\"base\": \"few\"", "there is no base table few");
    check("\"base_id\": 1000", "\"base_id\": 1001", "there is no base table t with the id 1001");
    check("\"where\"", "\"when\"", "unknown field `when`");
    check(
        "\"columns\": [\n                  \"v\"",
        "\"columns\": [\n                  \"q\"",
        "names a column q",
    );
}
