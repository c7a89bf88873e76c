//! Indexes of the tables that a history writes to: they must lead to whatever the naive store shows.

use super::{ANY_TIME, PURGED, World};
use model::key::PartitionKey;
use model::row::{Cell, RowView};
use model::types::DataType;
use std::collections::{BTreeMap, BTreeSet};
use store::index::{IndexConfig, Source, candidate};
use store::{Flow, Partitions, Read, Sink, Slice, Store, TableConfig, TableId};

/// Tables of entries have these ids and the following ones.
const FIRST_INDEX: u32 = 100;

/// On simple and multi-cell columns, of rows and of the static row, and on the clustering key.
/// Each with whether its entries are sorted by their values.
fn sources() -> Vec<(bool, Source)> {
    let data_type = DataType::Blob;
    let cell = |column| Source::Cell { column, data_type: DataType::Blob };
    let clustering = Source::Clustering { columns: vec![(data_type.clone(), false)] };
    vec![
        (false, cell(1)),
        (true, cell(5)),
        (true, cell(10)),
        (false, Source::Value { column: 3, data_type: data_type.clone(), map_key: None }),
        (false, Source::Path { column: 3, data_type: data_type.clone() }),
        (false, Source::Entry { column: 12, key: data_type.clone(), value: data_type }),
        (true, clustering.clone()),
        (false, clustering),
    ]
}

/// The tables with indexes, and the tables of their entries.
pub(super) fn indexed(mut tables: Vec<TableConfig>) -> Vec<TableConfig> {
    let mut next = FIRST_INDEX;
    let mut entries = Vec::new();
    for table in tables.iter_mut().filter(|table| matches!(table.id, ANY_TIME | PURGED)) {
        for (sorted, source) in sources() {
            let id = TableId(next);
            next += 1;
            table.indexes.push(IndexConfig { table: id, sorted, change: Default::default(), source });
            entries.push(TableConfig { gc_grace_seconds: table.gc_grace_seconds, ..TableConfig::new(id) });
        }
    }
    tables.extend(entries);
    tables
}

type Places = BTreeMap<PartitionKey, BTreeSet<(PartitionKey, Option<Vec<u8>>)>>;

/// Where the entries of every live cell must lead, by the partition that they lie in.
struct Shown<'i> {
    index: &'i IndexConfig,
    now_seconds: u32,
    key: Option<PartitionKey>,
    places: Places,
}

impl Shown<'_> {
    fn cells(&mut self, clustering: Option<&[u8]>, row: RowView<'_>) -> Flow {
        let Some(key) = self.key.clone() else { return Flow::Stop };
        if let (Source::Clustering { .. }, Some(clustering)) = (&self.index.source, clustering) {
            let mut value = Vec::new();
            model::comparable::decode(&DataType::Blob, false, clustering, &mut value).unwrap();
            let partition = self.index.partition_of(&value, &key).unwrap();
            self.places.entry(partition).or_default().insert((key, Some(clustering.to_vec())));
            return Flow::Continue;
        }
        let column = self.index.source.column();
        for cell in row.cells().filter(|cell| Some(cell.column) == column) {
            if let Some(partition) = self.partition_for(&cell, &key) {
                let place = (key.clone(), clustering.map(<[u8]>::to_vec));
                self.places.entry(partition).or_default().insert(place);
            }
        }
        Flow::Continue
    }

    /// By the public way in: a value as a client would ask for it.
    fn partition_for(&self, cell: &Cell<'_>, key: &PartitionKey) -> Option<PartitionKey> {
        let value = cell.live_value(self.now_seconds)?;
        match (&self.index.source, cell.path) {
            (Source::Cell { .. }, None) | (Source::Value { .. }, Some(_)) => {
                self.index.partition_of(value, key)
            }
            // Histories write paths as they come, not in comparable form.
            (Source::Path { .. }, Some(path)) => PartitionKey::of(path),
            (Source::Entry { .. }, Some(path)) => {
                let mut form = path.to_vec();
                model::comparable::encode(&DataType::Blob, false, value, &mut form).ok()?;
                PartitionKey::of(&form)
            }
            _ => None,
        }
    }
}

impl Sink for Shown<'_> {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.cells(None, row)
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.cells(Some(clustering), row)
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Where the entries of an index lead.
#[derive(Default)]
struct Entries {
    key: Option<PartitionKey>,
    places: Places,
}

impl Sink for Entries {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        panic!("an index has no static rows")
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        let found = candidate(clustering).expect("an entry can be read");
        let row = match found.place {
            store::index::Place::Partition => None,
            store::index::Place::Row(clustering) => Some(clustering),
        };
        self.places.entry(self.key.clone().unwrap()).or_default().insert((found.key, row));
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

impl World {
    /// One index of one table, whole.
    pub(super) async fn check_index(&mut self) {
        let tables = indexed(super::tables(0));
        let indexed: Vec<&TableConfig> = tables.iter().filter(|table| !table.indexes.is_empty()).collect();
        let table = indexed[self.random.below(indexed.len() as u64) as usize];
        let index = &table.indexes[self.random.below(table.indexes.len() as u64) as usize];
        let mut read = Read {
            statics: true,
            ..Read::of(table.id, Partitions::all(), vec![Slice::all()], self.now_seconds())
        };
        let mut shown = Shown { index, now_seconds: read.now_seconds, key: None, places: Places::new() };
        self.naive.read(&read, &mut shown).await.unwrap();
        read.table = index.table;
        let mut entries = Entries::default();
        self.read_to_its_end(read, &mut entries).await;
        for (value, places) in &shown.places {
            let found = entries.places.get(value);
            let missing = places.iter().find(|place| !found.is_some_and(|found| found.contains(place)));
            assert!(missing.is_none(), "{index:?}: nothing leads from {value:?} to {missing:?}");
        }
        self.count("index");
        let needed: usize = shown.places.values().map(BTreeSet::len).sum();
        let there: usize = entries.places.values().map(BTreeSet::len).sum();
        *self.counts.entry("index entries needed").or_default() += needed as u64;
        *self.counts.entry("index entries behind").or_default() += (there - needed) as u64;
    }
}
