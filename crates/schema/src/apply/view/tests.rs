//! Views and their bases: what changes together, and that it comes back from JSON.

use crate::catalogue::Catalogue;
use crate::change::{Change, NewColumn, NewTable, NewView, Setting, TableAlteration};
use crate::properties::{Properties, PropertyValue};
use crate::table::Table;
use crate::view::{IS_NOT_NULL, ViewRestriction};
use model::types::DataType;
use std::collections::BTreeMap;

fn apply(catalogue: &Catalogue, change: &Change) -> Result<Catalogue, String> {
    let setting = Setting { now_micros: 5, data_center: "datacenter1".into() };
    let next = catalogue.apply(change, &setting).map_err(|error| error.to_string())?.catalogue;
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
fn what_a_view_cannot_be_is_said_in_cassandras_words() {
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
    let check = |change: Change, expect: &str| {
        let error = apply(&catalogue, &change).expect_err(expect);
        assert!(error.starts_with(expect), "{error}");
    };
    check(
        view(|v| v.base_keyspace = "j".into()),
        "Cannot create a materialized view on a table in a different",
    );
    check(view(|v| v.base = "all".into()), "Base table 'all' doesn't exist");
    check(view(|v| v.name = "t".into()), "Cannot create materialized view 't' - a table with the same name");
    check(view(|v| v.name = "all".into()), "Cannot add already existing table \"all\"");
    check(view(|v| v.selected = Err("as told".into())), "as told");
    check(view(|v| v.selected = Ok(Some(vec!["W".into()]))), "Undefined column name \"W\" in table k.t");
    check(view(|v| v.partition_key = vec!["z".into()]), "Unknown column 'z' referenced in PRIMARY KEY");
    check(view(|v| v.clustering.push("v".into())), "Duplicate column 'v' in PRIMARY KEY clause");
    check(
        view(|v| v.clustering_order = vec![("b".into(), true)]),
        "Clustering key columns must exactly match",
    );
    check(
        view(|v| v.clustering.truncate(1)),
        "Cannot create materialized view 'x' without primary key columns b",
    );
    check(view(|v| v.clustering.push("w".into())), "Cannot include more than one non-primary key column");
    check(view(|v| v.restrictions = Err("as told".into())), "as told");
    check(view(|v| v.restrictions = Ok(Vec::new())), "Primary key columns a, b, v must be restricted");
    check(
        view(|v| v.restrictions.iter_mut().flatten().for_each(|r| r.condition = "= 1".into())),
        "Non-primary key columns can only be restricted with 'IS NOT NULL' (got: v restricted illegally)",
    );
    check(alter(drop_column), "Cannot drop column w on base table t with materialized views");
    check(alter(no_grace), "Cannot alter gc_grace_seconds of the base table of a materialized view to 0");
    check(drop_base, "Cannot drop a table when materialized views still depend on it (k)");
    check(drop_view, "Cannot use DROP TABLE on a materialized view.");
    check(ttl, "Forbidden default_time_to_live detected for a materialized view.");
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
