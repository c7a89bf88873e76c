//! Views of the tables that a history writes to: they must be what their definition makes of the naive store's rows.

use super::{ANY_TIME, PURGED, World};
use model::comparable;
use model::key::PartitionKey;
use model::row::RowView;
use model::types::DataType;
use std::collections::BTreeMap;
use store::view::{ColumnSource, ViewColumn, ViewCondition, ViewConfig};
use store::{Comparison, Flow, Partitions, Read, Sink, Slice, Store, TableConfig, TableId};

/// Tables of views have these ids and the following ones.
const FIRST_VIEW: u32 = 200;
/// The column that the first view is by.
const BY: u32 = 1;
const COPIED: [u32; 2] = [2, 3];

fn column(source: ColumnSource, descending: bool) -> ViewColumn {
    ViewColumn { source, data_type: DataType::Blob, descending }
}

fn base_key(descending: bool) -> ViewColumn {
    column(ColumnSource::Partition { position: 0, count: 1 }, descending)
}

fn base_clustering(descending: bool) -> ViewColumn {
    column(ColumnSource::Clustering { columns: vec![(DataType::Blob, false)] }, descending)
}

/// One by a column that is no key, one with the key in another order and a condition.
fn views(first: u32) -> [ViewConfig; 2] {
    let condition = ViewCondition {
        columns: vec![base_clustering(false)],
        comparison: Comparison::Less,
        alternatives: vec![vec![b"15".to_vec()]],
    };
    let by_column = ViewConfig {
        table: TableId(first),
        partition: vec![column(ColumnSource::Cell(BY), false)],
        clustering: vec![base_key(false), base_clustering(true)],
        columns: COPIED.to_vec(),
        living: None,
        conditions: vec![],
        is_grouped: false,
    };
    let turned = ViewConfig {
        table: TableId(first + 1),
        partition: vec![base_clustering(false)],
        clustering: vec![base_key(true)],
        columns: COPIED.to_vec(),
        living: None,
        conditions: vec![condition],
        is_grouped: false,
    };
    [by_column, turned]
}

pub(super) fn viewed(mut tables: Vec<TableConfig>) -> Vec<TableConfig> {
    let mut next = FIRST_VIEW;
    let mut own = Vec::new();
    for table in tables.iter_mut().filter(|table| matches!(table.id, ANY_TIME | PURGED)) {
        for view in views(next) {
            own.push(TableConfig {
                gc_grace_seconds: table.gc_grace_seconds,
                ..TableConfig::new(view.table)
            });
            table.views.push(view);
        }
        next += 2;
    }
    tables.extend(own);
    tables
}

type Cells = Vec<(u32, Option<Vec<u8>>, Vec<u8>)>;
/// Rows by partition key and clustering.
type Rows = BTreeMap<(Vec<u8>, Vec<u8>), Cells>;

/// Collects rows as they are, or as the definition of a view makes them.
struct Collected {
    /// By the column, or turned; `None`: as they are.
    definition: Option<bool>,
    now_seconds: u32,
    key: Vec<u8>,
    rows: Rows,
}

fn form(descending: bool, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    comparable::encode(&DataType::Blob, descending, value, &mut out).unwrap();
    out
}

impl Sink for Collected {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = key.bytes().to_vec();
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let live = |c: &model::row::Cell<'_>| c.live_value(self.now_seconds).map(<[u8]>::to_vec);
        let cells = row.cells().filter(|c| COPIED.contains(&c.column));
        let cells: Cells =
            cells.filter_map(|c| Some((c.column, c.path.map(<[u8]>::to_vec), live(&c)?))).collect();
        let place = match self.definition {
            None => Some((self.key.clone(), clustering.to_vec())),
            Some(by_column) => {
                let mut value = Vec::new();
                comparable::decode(&DataType::Blob, false, clustering, &mut value).unwrap();
                match by_column {
                    true => row
                        .cells()
                        .find(|c| c.column == BY)
                        .and_then(|c| live(&c))
                        .map(|by| (by, [form(false, &self.key), form(true, &value)].concat())),
                    false => (value.as_slice() < &b"15"[..]).then(|| (value.clone(), form(true, &self.key))),
                }
            }
        };
        if let Some(place) = place {
            assert!(self.rows.insert(place, cells).is_none(), "a row twice");
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

impl World {
    /// One view of one table, whole.
    pub(super) async fn check_view(&mut self) {
        let which = self.random.below(2) as u32;
        let (base, by_column) = ([ANY_TIME, PURGED][which as usize], self.random.one_in(2));
        let view = TableId(FIRST_VIEW + 2 * which + u32::from(!by_column));
        let mut read = Read::of(base, Partitions::all(), vec![Slice::all()], self.now_seconds());
        let collect = |definition| Collected {
            definition,
            now_seconds: read.now_seconds,
            key: Vec::new(),
            rows: Rows::new(),
        };
        let (mut expected, mut found) = (collect(Some(by_column)), collect(None));
        self.naive.read(&read, &mut expected).await.unwrap();
        read.table = view;
        self.read_to_its_end(read, &mut found).await;
        for (place, cells) in &expected.rows {
            assert_eq!(found.rows.get(place), Some(cells), "{view:?}: {place:?}");
        }
        let extra = found.rows.iter().find(|(place, _)| !expected.rows.contains_key(*place));
        assert_eq!(extra, None, "{view:?}");
        self.count("view");
        *self.counts.entry("view rows").or_default() += expected.rows.len() as u64;
    }
}
