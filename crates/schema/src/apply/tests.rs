//! Rules that the texts of statements cannot show (ids, versions), and random histories. The rules of each
//! statement, text by text, are tested through CQL in the dialect.

use super::*;
use crate::change::{NewColumn, NewIndex, NewPattern, NewTable, TableAlteration, TypeAlteration};
use crate::index::IndexPart;
use crate::properties::{Properties, PropertyValue};
use model::types::DataType;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn setting(now_micros: i64) -> Setting {
    Setting { now_micros, data_center: "datacenter1".into() }
}

fn replication() -> Properties {
    let map = [("class", "SimpleStrategy"), ("replication_factor", "1")];
    let map: BTreeMap<_, _> = map.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Properties::from_iter([("replication", PropertyValue::Map(map))])
}

fn comment(text: &str) -> Properties {
    Properties::from_iter([("comment", PropertyValue::Text(text.into()))])
}

pub(super) fn create_keyspace(name: &str) -> Change {
    Change::CreateKeyspace { name: name.into(), if_not_exists: false, properties: replication() }
}

pub(super) fn create_table(name: &str, columns: Vec<NewColumn>) -> Change {
    Change::CreateTable(Box::new(NewTable {
        keyspace: "k".into(),
        name: name.into(),
        columns: [
            vec![NewColumn::regular("pk", DataType::Int), NewColumn::regular("ck", DataType::Text)],
            columns,
        ]
        .concat(),
        partition_key: vec!["pk".into()],
        clustering: vec!["ck".into()],
        ..NewTable::default()
    }))
}

pub(super) fn alter(table: &str, alteration: TableAlteration) -> Change {
    Change::AlterTable { keyspace: "k".into(), name: table.into(), if_exists: false, alteration }
}

pub(super) fn add(name: &str, data_type: DataType) -> TableAlteration {
    TableAlteration::Add { if_not_exists: false, columns: vec![NewColumn::regular(name, data_type)] }
}

fn drop_column(name: &str) -> TableAlteration {
    TableAlteration::Drop { if_exists: false, columns: vec![name.into()], timestamp: None }
}

fn create_index(table: &str, part: IndexPart, column: &str) -> Change {
    Change::CreateIndex(Box::new(NewIndex {
        keyspace: "k".into(),
        table: table.into(),
        targets: vec![(part, column.into())],
        ..NewIndex::default()
    }))
}

fn drop_index(name: &str) -> Change {
    Change::DropIndex { keyspace: "k".into(), name: name.into(), if_exists: false }
}

fn index_built(table: &str, id: u32) -> Change {
    Change::IndexBuilt { keyspace: "k".into(), table: table.into(), id }
}

pub(super) fn run(changes: &[Change]) -> Catalogue {
    let start = Catalogue::empty();
    changes.iter().zip(1..).fold(start, |catalogue, (change, now)| {
        catalogue.apply(change, &setting(now)).expect("the change is legal").catalogue
    })
}

#[test]
fn ids_of_columns_and_tables_are_never_used_again() {
    let first = run(&[create_keyspace("k"), create_table("t", vec![NewColumn::regular("v", DataType::Int)])]);
    let old = first.table("k", "t").unwrap().clone();
    let changes = [alter("t", drop_column("v")), alter("t", add("v", DataType::Int))];
    let again = changes.iter().fold(first, |c, change| c.apply(change, &setting(9)).unwrap().catalogue);
    let table = again.table("k", "t").unwrap();
    assert!(table.column("v").unwrap().id > old.column("v").unwrap().id);
    assert_eq!(table.dropped.len(), 1);
    assert_eq!(table.dropped[0].dropped_at, 9);
    let drop = Change::DropTable { keyspace: "k".into(), name: "t".into(), if_exists: false };
    let dropped = again.apply(&drop, &setting(10)).unwrap().catalogue;
    let recreated = dropped.apply(&create_table("t", vec![]), &setting(11)).unwrap().catalogue;
    let newer = recreated.table("k", "t").unwrap();
    assert!(newer.id > old.id);
    assert_ne!(newer.uuid, old.uuid);
}

#[test]
fn truncate_starts_the_next_incarnation_and_keeps_the_version() {
    let before = run(&[create_keyspace("k"), create_table("t", vec![])]);
    let truncate = Change::Truncate { keyspace: "k".into(), name: "t".into() };
    let after = before.apply(&truncate, &setting(5)).unwrap();
    assert_eq!(after.catalogue.table("k", "t").unwrap().incarnation, 1);
    assert_eq!(after.catalogue.version, before.version);
    assert_eq!(after.effect, None);
}

#[test]
fn the_version_follows_the_content() {
    let changes = [create_keyspace("k"), create_table("t", vec![])];
    let one = run(&changes);
    assert_eq!(one.version, run(&changes).version, "equal schemas have equal versions");
    let two = one.apply(&alter("t", TableAlteration::With(comment("x"))), &setting(7)).unwrap();
    assert_ne!(one.version, two.catalogue.version);
    assert_eq!(one.version[6] >> 4, 3, "a name-based uuid");
}

#[test]
fn a_change_that_changes_nothing_tells_nobody() {
    let before = run(&[create_keyspace("k"), create_table("t", vec![])]);
    let same = [
        alter("t", TableAlteration::With(comment(""))),
        Change::AlterKeyspace { name: "k".into(), if_exists: false, properties: replication() },
        alter("t", TableAlteration::Drop { if_exists: true, columns: vec!["x".into()], timestamp: None }),
    ];
    for change in &same {
        let after = before.apply(change, &setting(9)).unwrap();
        assert_eq!((after.effect, after.catalogue), (None, before.clone()), "{change:?}");
    }
}

#[test]
fn a_changed_type_reaches_every_use() {
    let udt = |c: &Catalogue, name: &str| DataType::Udt(c.keyspace("k").unwrap().types[name].clone());
    let base = run(&[
        create_keyspace("k"),
        Change::CreateType {
            keyspace: "k".into(),
            name: "a".into(),
            if_not_exists: false,
            fields: vec![("x".into(), DataType::Int)],
        },
    ]);
    let outer = Change::CreateType {
        keyspace: "k".into(),
        name: "b".into(),
        if_not_exists: false,
        fields: vec![("a".into(), DataType::list(udt(&base, "a").freeze()).freeze())],
    };
    let base = base.apply(&outer, &setting(3)).unwrap().catalogue;
    let columns = vec![
        NewColumn::regular("v", DataType::map(DataType::Int, udt(&base, "b").freeze())),
        NewColumn::regular("w", udt(&base, "a")),
    ];
    let base = base.apply(&create_table("t", columns), &setting(4)).unwrap().catalogue;
    let alteration =
        TypeAlteration::Add { if_not_exists: false, field: "y".into(), data_type: DataType::Text };
    let change = Change::AlterType { keyspace: "k".into(), name: "a".into(), if_exists: false, alteration };
    let after = base.apply(&change, &setting(5)).unwrap().catalogue;
    after.check().unwrap();
    let table = after.table("k", "t").unwrap();
    assert_eq!(table.column("w").unwrap().data_type, udt(&after, "a"));
    assert_ne!(
        table.column("v").unwrap().data_type,
        base.table("k", "t").unwrap().column("v").unwrap().data_type
    );
    assert_eq!(Catalogue::from_json(&after.to_json()).unwrap(), after);
}

#[test]
fn an_index_takes_an_id_of_its_own_and_gives_none_back() {
    let v = NewColumn::regular("v", DataType::Int);
    let base = run(&[create_keyspace("k"), create_table("t", vec![v])]);
    let create = create_index("t", IndexPart::Whole, "v");
    let one = base.apply(&create, &setting(3)).unwrap();
    let effect = one.effect.clone().unwrap();
    assert_eq!((effect.kind, effect.target, &*effect.name), (EffectKind::Updated, TargetKind::Table, "t"));
    let index = one.catalogue.table("k", "t").unwrap().index("t_v_idx").unwrap().clone();
    assert_eq!((index.id, index.built, index.target()), (base.next_table_id, false, "v"));
    assert!(one.catalogue.keyspace("k").unwrap().index("t_v_idx").is_some());
    let gone = one.catalogue.apply(&drop_index("t_v_idx"), &setting(4)).unwrap().catalogue;
    assert!(gone.table("k", "t").unwrap().indexes.is_empty());
    let again = gone.apply(&create, &setting(5)).unwrap().catalogue;
    assert!(again.table("k", "t").unwrap().index("t_v_idx").unwrap().id > index.id);
}

#[test]
fn that_an_index_is_built_is_nobodys_business() {
    let v = NewColumn::regular("v", DataType::Int);
    let base = run(&[
        create_keyspace("k"),
        create_table("t", vec![v]),
        create_index("t", IndexPart::Whole, "v"),
        create_index("t", IndexPart::Whole, "ck"),
    ]);
    let id = base.table("k", "t").unwrap().index("t_v_idx").unwrap().id;
    let built = base.apply(&index_built("t", id), &setting(9)).unwrap();
    assert_eq!((built.effect.as_ref(), built.catalogue.version), (None, base.version));
    let state = |name| built.catalogue.table("k", "t").unwrap().index(name).unwrap().built;
    assert!(state("t_v_idx") && !state("t_ck_idx"));
    assert_eq!(Catalogue::from_json(&built.catalogue.to_json()).unwrap(), built.catalogue);
    // Dropped meanwhile, or another one now, or built already: nothing happens.
    for change in [index_built("nope", id), index_built("t", id + 99), index_built("t", id)] {
        let same = built.catalogue.apply(&change, &setting(10)).unwrap();
        assert_eq!((same.effect, same.catalogue), (None, built.catalogue.clone()), "{change:?}");
    }
}

/// A small world of names, so that random changes often meet what is there.
fn any_change() -> impl Strategy<Value = Change> {
    let keyspace = prop::sample::select(vec!["k", "k2", "system", "system_auth"]);
    let table = prop::sample::select(vec!["t", "u"]);
    let column = prop::sample::select(vec!["pk", "v", "w", "x", "ck"]);
    let data_type = prop::sample::select(vec![
        DataType::Int,
        DataType::Text,
        DataType::Blob,
        DataType::Counter,
        DataType::list(DataType::Int),
        DataType::set(DataType::Ascii),
        DataType::tuple([DataType::Int, DataType::Duration]),
        DataType::vector(DataType::Float, 3),
        DataType::map(DataType::Text, DataType::Int),
        DataType::list(DataType::Int).freeze(),
    ]);
    let part = prop::sample::select(vec![
        IndexPart::Whole,
        IndexPart::Keys,
        IndexPart::Values,
        IndexPart::Entries,
        IndexPart::Full,
    ]);
    let names = (keyspace, table, column, data_type, any::<bool>(), 0..24u8, part);
    names.prop_map(|(keyspace, table, column, data_type, flag, choice, part)| {
        let (keyspace, table, column) = (keyspace.to_string(), table.to_string(), column.to_string());
        let new = NewColumn { is_static: flag, ..NewColumn::regular(&column, data_type.clone()) };
        let altered = |alteration| Change::AlterTable {
            keyspace: keyspace.clone(),
            name: table.clone(),
            if_exists: flag,
            alteration,
        };
        match choice {
            0 | 1 => {
                Change::CreateKeyspace { name: keyspace, if_not_exists: flag, properties: replication() }
            }
            2 => Change::DropKeyspace { name: keyspace, if_exists: flag },
            3..=5 => {
                let Change::CreateTable(mut new_table) = create_table(&table, vec![new]) else {
                    unreachable!()
                };
                new_table.keyspace = keyspace;
                new_table.if_not_exists = flag;
                new_table.clustering_order = vec![("ck".into(), flag)];
                Change::CreateTable(new_table)
            }
            6 => Change::DropTable { keyspace, name: table, if_exists: flag },
            7 => Change::Truncate { keyspace, name: table },
            8 | 9 => altered(TableAlteration::Add { if_not_exists: flag, columns: vec![new] }),
            10 => altered(drop_column(&column)),
            11 => altered(TableAlteration::Rename { renames: vec![(column, "pk2".into())] }),
            12 => altered(TableAlteration::With(comment(&column))),
            13 => Change::CreateType {
                keyspace,
                name: table,
                if_not_exists: flag,
                fields: vec![(column, data_type)],
            },
            14 => Change::DropType { keyspace, name: table, if_exists: flag },
            15 => Change::AlterPattern {
                keyspace,
                name: table,
                if_exists: flag,
                statement: flag.then(|| "UPDATE".into()),
                settings: BTreeMap::from([(column, "6".into())]),
            },
            17..=20 => Change::CreateIndex(Box::new(NewIndex {
                keyspace,
                table,
                name: (choice == 18).then(|| "t_v_idx".into()),
                if_not_exists: flag,
                targets: vec![(part, column)],
                class: (choice == 19).then(|| "sai".into()),
                ..NewIndex::default()
            })),
            21 => Change::DropIndex { keyspace, name: format!("{table}_{column}_idx"), if_exists: flag },
            // Ids that early tables and indexes have.
            22 => Change::IndexBuilt { keyspace, table, id: 1001 + u32::from(flag) },
            16 => Change::DropPattern { keyspace, name: table, if_exists: flag },
            _ => Change::CreatePattern(Box::new(NewPattern {
                keyspace,
                name: table,
                if_not_exists: flag,
                statement: "SELECT".into(),
                settings: BTreeMap::from([("peak_rate".into(), "5".into())]),
            })),
        }
    })
}

proptest! {
    #[test]
    fn random_histories_keep_the_catalogue_consistent(changes in prop::collection::vec(any_change(), 1..60)) {
        let mut catalogue = Catalogue::empty();
        let mut table_ids = BTreeSet::new();
        let mut column_ids = BTreeMap::<u32, BTreeSet<u32>>::new();
        for (now, change) in changes.iter().enumerate() {
            let Ok(applied) = catalogue.apply(change, &setting(now as i64)) else { continue };
            let next = applied.catalogue;
            next.check().map_err(TestCaseError::fail)?;
            prop_assert_eq!(applied.effect.is_some(), next.version != catalogue.version, "{:?}", change);
            prop_assert_eq!(next.version, next.content_version());
            for table in next.tables() {
                let known = catalogue.table_by_id(table.id);
                prop_assert!(known.is_some() || table_ids.insert(table.id), "table id {} came back", table.id);
                for index in &table.indexes {
                    let kept = known.is_some_and(|old| old.indexes.iter().any(|i| i.id == index.id));
                    prop_assert!(kept || table_ids.insert(index.id), "index id {} came back", index.id);
                }
                let ids = column_ids.entry(table.id).or_default();
                for column in table.columns() {
                    let kept = known.is_some_and(|old| old.columns().any(|c| c.id == column.id));
                    prop_assert!(kept || ids.insert(column.id), "column id {} came back", column.id);
                }
            }
            let text = next.to_json();
            let read = Catalogue::from_json(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(&read, &next);
            catalogue = next;
        }
    }
}
