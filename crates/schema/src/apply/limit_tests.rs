//! Schemas that are too deep, too large or too wide are refused, and those of older servers open all the same.

use super::tests::{add, alter, create_keyspace, create_table, run, setting};
use super::*;
use crate::change::{NewColumn, TableAlteration, TypeAlteration};
use crate::fault::{ColumnFault, TableFault, TypeFault};
use crate::name::FullName;
use model::types::{DataType, TYPE_DEPTH_MAX, TypeSizeError};

fn create_type(name: &str, fields: Vec<(String, DataType)>) -> Change {
    Change::CreateType { keyspace: "k".into(), name: name.into(), if_not_exists: false, fields }
}

fn add_field(name: &str, field: &str, data_type: DataType) -> Change {
    let alteration = TypeAlteration::Add { if_not_exists: false, field: field.into(), data_type };
    Change::AlterType { keyspace: "k".into(), name: name.into(), if_exists: false, alteration }
}

fn named(catalogue: &Catalogue, name: &str) -> DataType {
    DataType::Udt(catalogue.keyspace("k").unwrap().types[name].clone()).freeze()
}

/// Stops at the first refusal; the catalogue before it, and why.
fn until_refused(changes: impl Fn(&Catalogue, usize) -> Change) -> (Catalogue, usize, SchemaError) {
    let mut catalogue = run(&[create_keyspace("k")]);
    for at in 0.. {
        match catalogue.apply(&changes(&catalogue, at), &setting(1)) {
            Ok(applied) => catalogue = applied.catalogue,
            Err(error) => return (catalogue, at, error),
        }
    }
    unreachable!()
}

/// With a chain of types as long as it may be, each named by its number: `t0` is the innermost.
fn chain() -> (Catalogue, usize, SchemaError) {
    until_refused(|catalogue, at| match at {
        0 => create_type("t0", vec![("f".into(), DataType::Int)]),
        _ => create_type(&format!("t{at}"), vec![("f".into(), named(catalogue, &format!("t{}", at - 1)))]),
    })
}

/// An overflow aborts the tests.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(512 << 10).spawn(test).unwrap().join().unwrap();
}

#[test]
fn nested_types_have_a_depth() {
    on_small_stack(|| {
        let type_too_deep = |name: &str| {
            let name = FullName::new("k", name);
            SchemaError::from(TypeFault::TooLarge { name, error: TypeSizeError::TooDeep })
        };
        let column_too_deep =
            || ColumnFault::TypeTooLarge { column: "v".into(), error: TypeSizeError::TooDeep }.into();
        let (catalogue, at, error) = chain();
        assert_eq!(at, TYPE_DEPTH_MAX - 1);
        assert_eq!(error, type_too_deep("t63"));
        // Nor may the innermost grow below those that hold it, nor a column come on top.
        let deeper = add_field("t0", "g", DataType::list(DataType::list(DataType::Int)).freeze());
        let error = catalogue.apply(&deeper, &setting(1)).unwrap_err();
        assert!(matches!(error, SchemaError::Type(TypeFault::TooLarge { .. })), "{error:?}");
        let column = DataType::list(DataType::list(named(&catalogue, "t62"))).freeze();
        let table = create_table("t", vec![NewColumn::regular("v", column.clone())]);
        assert_eq!(catalogue.apply(&table, &setting(1)), Err(column_too_deep()));
        let plain = catalogue.apply(&create_table("t", vec![]), &setting(1)).unwrap().catalogue;
        assert_eq!(plain.apply(&alter("t", add("v", column)), &setting(1)), Err(column_too_deep()));
    });
}

#[test]
fn types_that_double_have_a_size() {
    let (_, at, error) = until_refused(|catalogue, at| {
        let before = match at {
            0 => DataType::Int,
            _ => named(catalogue, &format!("t{}", at - 1)),
        };
        create_type(&format!("t{at}"), vec![("a".into(), before.clone()), ("b".into(), before)])
    });
    assert_eq!(at, 12, "2^13 - 2 parts are allowed, twice as many are not");
    let name = FullName::new("k", "t12");
    assert_eq!(error, TypeFault::TooLarge { name, error: TypeSizeError::TooLarge }.into());
}

/// What holds the altered type is made anew once, and every use of it is the new one.
#[test]
fn altering_the_innermost_type_reaches_every_use() {
    let (catalogue, last, _) = chain();
    let outer = format!("t{}", last - 1);
    let table = create_table("t", vec![NewColumn::regular("v", named(&catalogue, &outer))]);
    let catalogue = catalogue.apply(&table, &setting(1)).unwrap().catalogue;
    let catalogue = catalogue.apply(&add_field("t0", "g", DataType::Text), &setting(2)).unwrap().catalogue;
    catalogue.check().unwrap();
    let mut inner = catalogue.table("k", "t").unwrap().column("v").unwrap().data_type.clone();
    while let DataType::Udt(udt) = &inner {
        assert_eq!(udt.fields.len(), if *udt.name == *"t0" { 2 } else { 1 }, "{}", udt.name);
        inner = udt.fields[0].data_type.clone();
    }
    let order: Vec<usize> = catalogue
        .keyspace("k")
        .unwrap()
        .types_by_dependency()
        .iter()
        .map(|udt| udt.name[1..].parse().unwrap())
        .collect();
    assert!(order.is_sorted() && order.len() == last, "{order:?}");
}

/// Thousands of types: an alteration, the order of creation and the stored form take time that grows with their number.
#[test]
fn many_types_are_altered_in_linear_time() {
    let mut catalogue = run(&[create_keyspace("k"), create_type("t0", vec![("f".into(), DataType::Int)])]);
    let inner = named(&catalogue, "t0");
    let mut keyspace = Keyspace::clone(catalogue.keyspace("k").unwrap());
    for n in 1..5000 {
        let name: Arc<str> = format!("t{n}").into();
        let DataType::Udt(udt) =
            DataType::udt("k", name.clone(), [("f", inner.clone()), ("g", inner.clone())])
        else {
            unreachable!()
        };
        keyspace.types.insert(name, udt);
    }
    catalogue = catalogue.with_keyspace(keyspace);
    let altered = catalogue.apply(&add_field("t0", "h", DataType::Text), &setting(1)).unwrap().catalogue;
    altered.check().unwrap();
    assert_eq!(altered.keyspace("k").unwrap().types_by_dependency()[0].name, "t0".into());
    assert_eq!(Catalogue::from_json(&altered.to_json()).unwrap(), altered);
}

/// A catalogue with types that are beyond the limits, as older servers let them be made.
#[test]
fn an_old_catalogue_with_deep_types_opens() {
    on_small_stack(|| {
        let mut text = String::from_utf8(
            run(&[
                create_keyspace("k"),
                create_table("t", vec![NewColumn::regular("v", DataType::Int)]),
                create_table("u", vec![]),
            ])
            .to_json(),
        )
        .unwrap();
        let entry = |n: usize| match n {
            0 => r#"{"name": "t0", "fields": [["f", "int"]]}"#.to_string(),
            _ => format!(r#"{{"name": "t{n}", "fields": [["f", "frozen<t{}>"]]}}"#, n - 1),
        };
        // The outermost first: the worst order to read them in.
        let types: Vec<String> = (0..3000).rev().map(entry).collect();
        assert!(text.contains(r#""tables": ["#), "{text}");
        text =
            text.replacen(r#""tables": ["#, &format!(r#""types": [{}], "tables": ["#, types.join(", ")), 1);
        let at = text.find(r#""name": "v""#).unwrap();
        let from = at + text[at..].find(r#""int""#).unwrap();
        text.replace_range(from..from + 5, r#""frozen<t2999>""#);
        let catalogue = Catalogue::from_json(text.as_bytes()).unwrap();
        let keyspace = catalogue.keyspace("k").unwrap();
        assert_eq!(keyspace.types.len(), 3000);
        let column = catalogue.table("k", "t").unwrap().column("v").unwrap();
        assert_eq!(column.data_type.check_size(), Err(TypeSizeError::Unusable));
        assert_eq!(column.data_type.to_string(), "frozen<t2999>");
        assert_eq!(keyspace.types_by_dependency()[2999].name, "t2999".into());
        // What is stored again says the same, and what is wrong can be dropped.
        assert_eq!(Catalogue::from_json(&catalogue.to_json()).unwrap(), catalogue);
        let refused =
            catalogue.apply(&create_type("x", vec![("f".into(), named(&catalogue, "t2999"))]), &setting(1));
        assert!(refused.is_err());
        let grown = catalogue.apply(&add_field("t0", "g", DataType::Int), &setting(1)).unwrap().catalogue;
        grown.check().unwrap();
        let drop = TableAlteration::Drop { if_exists: false, columns: vec!["v".into()], timestamp: None };
        let dropped = catalogue.apply(&alter("t", drop), &setting(1)).unwrap().catalogue;
        let gone = Change::DropType { keyspace: "k".into(), name: "t2999".into(), if_exists: false };
        let dropped = dropped.apply(&gone, &setting(1)).unwrap().catalogue;
        assert_eq!(Catalogue::from_json(&dropped.to_json()).unwrap(), dropped);
    });
}

#[test]
fn tables_have_a_number_of_columns() {
    let columns = |count: usize| -> Vec<NewColumn> {
        (0..count).map(|n| NewColumn::regular(&format!("c{n}"), DataType::Int)).collect()
    };
    let start = run(&[create_keyspace("k")]);
    let too_many = |columns| {
        Err(SchemaError::from(TableFault::TooManyColumns { most: 5_000, columns, table: "t".into() }))
    };
    assert_eq!(start.apply(&create_table("t", columns(60_000)), &setting(1)), too_many(60_002));
    let wide = start.apply(&create_table("t", columns(4998)), &setting(1)).unwrap().catalogue;
    wide.check().unwrap();
    assert_eq!(wide.apply(&alter("t", add("x", DataType::Int)), &setting(1)), too_many(5_001));
    let names = (0..4998).map(|n| format!("c{n}")).collect();
    let drop = TableAlteration::Drop { if_exists: false, columns: names, timestamp: None };
    let narrow = wide.apply(&alter("t", drop), &setting(1)).unwrap().catalogue;
    assert_eq!(narrow.table("k", "t").unwrap().dropped.len(), 4998);
    let add = TableAlteration::Add { if_not_exists: false, columns: columns(4998) };
    narrow.apply(&alter("t", add), &setting(1)).unwrap().catalogue.check().unwrap();
}
