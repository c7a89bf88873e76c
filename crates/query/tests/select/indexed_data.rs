//! A table with an index of every kind, and random histories on it whose index tables keep every entry ever made.

use model::comparable;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowWriter};
use model::types::DataType;
use schema::{Column, ColumnKind, Index, IndexKind, IndexPart, Table, TableKind, TableOptions};
use std::sync::Arc;
use store::index::{IndexConfig, additions};
use store::naive::NaiveStore;
use store::{Mutation, TableId};

/// Small numbers that look random and come again for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> i32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound) as i32
    }

    pub fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }
}

const STATIC: u32 = 20;
const VALUE: u32 = 2;
const LIST: u32 = 3;
const MAP: u32 = 4;
const SET: u32 = 5;

fn column(id: u32, name: &str, data_type: DataType, kind: ColumnKind, position: usize) -> Column {
    Column {
        id,
        name: name.into(),
        data_type,
        kind,
        position,
        descending: false,
        mask: None,
        checks: Vec::new(),
    }
}

/// Entries of indexes with greater ids are sorted by their values.
const UNSORTED_MAX: u32 = 10;

fn index(id: u32, column: &str, part: IndexPart) -> Index {
    let kind = IndexKind::Composites;
    let name = format!("t_{column}_{id}").into();
    let sorted = id > UNSORTED_MAX;
    Index {
        name,
        id,
        column: column.into(),
        part,
        kind,
        options: Default::default(),
        sorted,
        changed: false,
        lists: None,
        built: true,
    }
}

/// `((a, b), c, d DESC)`, a static, and regular columns of every shape; every column but `b` has an index, and those of one value
/// a sorted one too.
pub fn table() -> Arc<Table> {
    let int = DataType::Int;
    let mut descending = column(0, "d", int.clone(), ColumnKind::Clustering, 1);
    descending.descending = true;
    Arc::new(Table {
        id: 1000,
        uuid: [0; 16],
        keyspace: "ks".into(),
        name: "t".into(),
        kind: TableKind::Stored,
        partition_key: vec![
            column(0, "a", int.clone(), ColumnKind::PartitionKey, 0),
            column(0, "b", int.clone(), ColumnKind::PartitionKey, 1),
        ],
        clustering: vec![column(0, "c", int.clone(), ColumnKind::Clustering, 0), descending],
        statics: vec![column(STATIC, "s", int.clone(), ColumnKind::Static, 0)],
        regulars: vec![
            column(SET, "e", DataType::set(int.clone()), ColumnKind::Regular, 0),
            column(LIST, "l", DataType::list(int.clone()), ColumnKind::Regular, 0),
            column(MAP, "m", DataType::map(int.clone(), int.clone()), ColumnKind::Regular, 0),
            column(VALUE, "v", int, ColumnKind::Regular, 0),
        ],
        options: TableOptions::default(),
        dropped: Vec::new(),
        next_column_id: 30,
        incarnation: 0,
        indexes: vec![
            index(1, "v", IndexPart::Whole),
            index(2, "l", IndexPart::Values),
            index(3, "m", IndexPart::Keys),
            index(4, "m", IndexPart::Values),
            index(5, "m", IndexPart::Entries),
            index(6, "e", IndexPart::Values),
            index(7, "s", IndexPart::Whole),
            index(8, "a", IndexPart::Whole),
            index(9, "c", IndexPart::Whole),
            index(10, "d", IndexPart::Whole),
            index(11, "v", IndexPart::Whole),
            index(12, "s", IndexPart::Whole),
            index(13, "a", IndexPart::Whole),
            index(14, "c", IndexPart::Whole),
            index(15, "d", IndexPart::Whole),
        ],
        view: None,
        foreign: None,
        compact: None,
        row_ttl: None,
    })
}

pub fn key(a: i32, b: i32) -> PartitionKey {
    PartitionKey::composite(&[a.to_be_bytes(), b.to_be_bytes()]).unwrap()
}

fn comparable(descending: bool, value: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    comparable::encode(&DataType::Int, descending, &value.to_be_bytes(), &mut bytes).unwrap();
    bytes
}

/// One random mutation: a few rows, perhaps the static row, perhaps a deletion.
fn mutation(random: &mut Random, timestamp: i64) -> Mutation {
    let mut mutation = Mutation::new(TableId(1000), key(random.below(2), random.below(2)));
    let deletion = Deletion { timestamp, local_seconds: 0 };
    let mut writer = RowWriter::new();
    if random.one_in(40) {
        mutation.delete_partition(deletion);
        return mutation;
    }
    if random.one_in(6) {
        writer.begin(timestamp, None, Deletion::NONE);
        cell(&mut writer, timestamp, STATIC, None, value_or_nothing(random, 3));
        mutation.static_row(writer.view());
    }
    let row_deletion = if random.one_in(8) { deletion } else { Deletion::NONE };
    let marker = (!random.one_in(3)).then(|| Marker::new(timestamp));
    writer.begin(timestamp, marker.filter(|_| row_deletion.is_none()), row_deletion);
    if row_deletion.is_none() {
        cell(&mut writer, timestamp, VALUE, None, value_or_nothing(random, 3));
        for (column, paths) in [(LIST, 3), (MAP, 3), (SET, 3)] {
            for path in 0..paths {
                if random.one_in(2) {
                    let state = value_or_nothing(random, 3);
                    let state = if column == SET { state.map(|_| Vec::new()) } else { state };
                    cell(&mut writer, timestamp, column, Some(comparable(false, path)), state);
                }
            }
        }
    }
    let clustering = [comparable(false, random.below(5)), comparable(true, random.below(8))].concat();
    mutation.row(&clustering, writer.view());
    mutation
}

/// A value below the bound, sometimes a deletion.
fn value_or_nothing(random: &mut Random, bound: u64) -> Option<Vec<u8>> {
    (!random.one_in(5)).then(|| random.below(bound).to_be_bytes().to_vec())
}

fn cell(writer: &mut RowWriter, timestamp: i64, column: u32, path: Option<Vec<u8>>, value: Option<Vec<u8>>) {
    let state = match &value {
        Some(value) => CellState::Live(value),
        None => CellState::Tombstone { local_seconds: 0 },
    };
    writer.cell(&Cell { column, path: path.as_deref(), timestamp, state });
}

/// A history, with every entry that it ever made: many lead to rows that have changed or are gone.
pub fn history(random: &mut Random, steps: i64) -> NaiveStore {
    let table = table();
    let configs: Vec<IndexConfig> =
        table.indexes.iter().map(|index| query::index::config(&table, index).unwrap()).collect();
    let store = NaiveStore::new();
    store.create(TableId(1000));
    configs.iter().for_each(|config| store.create(config.table));
    for step in 1..=steps {
        // Not all writes come in the order of their timestamps.
        let timestamp = step + i64::from(random.below(4));
        let mutation = mutation(random, timestamp);
        store.apply(&mutation, 1).unwrap();
        for entries in additions(&configs, &mutation) {
            store.apply(&entries, 1).unwrap();
        }
        if random.one_in(4) {
            mislead(random, &configs, &store);
        }
    }
    store
}

/// Entries of a write that never was; some are dead.
fn mislead(random: &mut Random, configs: &[IndexConfig], store: &NaiveStore) {
    let dead = random.one_in(2);
    for entries in additions(configs, &mutation(random, 0)) {
        store.apply(&entries, 1).unwrap();
        for entry in entries.entries().filter(|_| dead) {
            let mut writer = RowWriter::new();
            writer.begin(0, None, Deletion { timestamp: 0, local_seconds: 1 });
            let mut deletion = Mutation::new(entries.table, entries.key.clone());
            deletion.row(&entry.position[1..], writer.view());
            store.apply(&deletion, 1).unwrap();
        }
    }
}
