//! Finds the lists of an index on a vector, before it is filled.
//!
//! The table is read once, and of all its vectors a sample is kept, each as likely as any other. The centres are found beside the
//! shard: it goes on with its work. A table with few vectors gets no lists: looking at all of them is exact, and costs less than lists would save.
//!
//! Does not keep how far it is: whoever crashes, pauses or has its client gone reads the table again.

use super::{Build, SCAN_ENTRIES, Target, apply, seconds};
use crate::catalogue::SharedCatalogue;
use crate::jobs::{Job, Turn};
use model::key::PartitionKey;
use model::lists::{Lists, VECTORS_MIN, samples_max};
use model::row::{CellState, ColumnId, RowView};
use model::vector::Similarity;
use query::QueryError;
use schema::{Change, ColumnKind, Index, Table};
use std::collections::HashMap;
use std::sync::Arc;
use store::{Flow, Partitions, Position, Read, ReadEnd, Sink, Slice, Store, TableId};

/// Rows that are read before others have their turn.
const ROWS_PER_PAGE: u64 = 1_000;

/// The vectors of an index that has no lists yet.
pub(super) struct Vectors {
    column: ColumnId,
    similarity: Similarity,
    dimensions: usize,
}

impl Vectors {
    /// `None`: this index is on nothing that could be put into lists.
    pub(super) fn of(table: &Table, index: &Index) -> Option<Vectors> {
        let column = table.column(&index.column)?;
        let is_cell = matches!(column.kind, ColumnKind::Regular | ColumnKind::Static);
        if index.lists.is_some() || !index.is_storage_attached() || !is_cell {
            return None;
        }
        let (similarity, dimensions) = index.compares(&column.data_type)?;
        Some(Vectors { column: column.id, similarity, dimensions })
    }
}

/// Finds the lists of an index and makes them known, if its table has enough vectors.
pub(super) async fn find<S: Store>(
    build: &Build,
    job: &Job,
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<Turn, QueryError> {
    let mut sample: Option<Sample> = None;
    let mut after = None;
    let vectors = loop {
        if job.turn() != Turn::GoOn {
            return Ok(job.turn());
        }
        let (_, catalogue) = shared.load();
        let Some((table, Target::Vectors(vectors))) = build.find(&catalogue) else { return Ok(Turn::GoOn) };
        let sample = sample.get_or_insert_with(|| Sample::new(&vectors));
        sample.begin_page();
        let read = Read {
            table: TableId(table.id),
            partitions: Partitions::all(),
            slices: vec![Slice::all()],
            reverse: false,
            statics: true,
            after: after.take(),
            now_seconds: seconds(now_micros),
            scan_limit: SCAN_ENTRIES,
            tombstone_limit: u64::MAX,
            account: Default::default(),
        };
        after = match store.read(&read, sample).await?.end {
            ReadEnd::Complete => None,
            ReadEnd::Paused(position) => Some(position),
            ReadEnd::Stopped => sample.stopped.take(),
        };
        // This is no progress of the build: it begins when the lists are there.
        job.pace(sample.rows, sample.bytes).await;
        tokio::task::yield_now().await;
        if after.is_none() {
            break vectors;
        }
    };
    let Some(Sample { kept, met, .. }) = sample else { return Ok(Turn::GoOn) };
    if met < VECTORS_MIN {
        return Ok(Turn::GoOn);
    }
    let Vectors { similarity, dimensions, .. } = vectors;
    let Some(lists) = rt::aside(move || Lists::train(similarity, dimensions, &kept, met)).await else {
        return Ok(Turn::GoOn);
    };
    tracing::info!(table = %build.table, index = build.id, vectors = met, lists = lists.count(), "an index has lists");
    let (keyspace, table) = (build.keyspace.to_string(), build.table.to_string());
    let change = Change::IndexLists { keyspace, table, id: build.id, lists: Arc::new(lists) };
    apply(&change, shared, store, now_micros).await?;
    Ok(Turn::GoOn)
}

/// Some of the vectors that were met.
struct Sample {
    column: ColumnId,
    /// Of a vector in wire form.
    vector_bytes: usize,
    most: usize,
    kept: Vec<Vec<u8>>,
    met: u64,
    chance: u64,
    /// Of this page.
    rows: u64,
    bytes: u64,
    key: Option<PartitionKey>,
    stopped: Option<Position>,
}

impl Sample {
    fn new(vectors: &Vectors) -> Sample {
        Sample {
            column: vectors.column,
            vector_bytes: vectors.dimensions * 4,
            most: samples_max(vectors.dimensions),
            kept: Vec::new(),
            met: 0,
            chance: 0x9e37_79b9_7f4a_7c15,
            rows: 0,
            bytes: 0,
            key: None,
            stopped: None,
        }
    }

    fn begin_page(&mut self) {
        (self.rows, self.bytes, self.stopped) = (0, 0, None);
    }

    /// Any number below `end`.
    fn any_below(&mut self, end: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance % end.max(1)
    }

    fn take(&mut self, row: RowView<'_>) {
        self.rows += 1;
        self.bytes += row.body().len() as u64;
        let Some(cell) = row.cells().find(|cell| cell.column == self.column) else { return };
        let (CellState::Live(value) | CellState::Expiring { value, .. }) = cell.state else { return };
        if value.len() != self.vector_bytes {
            return;
        }
        self.met += 1;
        if self.kept.len() < self.most {
            self.kept.push(value.to_vec());
            return;
        }
        // Every vector so far stays with the same chance.
        let place = self.any_below(self.met) as usize;
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = value.to_vec();
        }
    }

    fn flow(&mut self, clustering: Option<&[u8]>) -> Flow {
        if self.rows < ROWS_PER_PAGE {
            return Flow::Continue;
        }
        let clustering = clustering.map(<[u8]>::to_vec);
        self.stopped = self.key.clone().map(|key| Position { key, clustering });
        Flow::Stop
    }
}

impl Sink for Sample {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.take(row);
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.take(row);
        self.flow(Some(clustering))
    }

    fn partition_end(&mut self) -> Flow {
        self.flow(None)
    }
}

/// A table that has so many times the vectors that its lists were made for gets others: they would be long, and far from some vectors.
const GROWTH: u64 = 4;

/// Begins indexes on vectors anew when their tables have grown. Until one is filled, searches look at every vector.
#[derive(Default)]
pub struct Renewal {
    /// Rows of the table when an index (by its table and name) was last begun anew: not every row needs to have a vector.
    tried: HashMap<(u32, Arc<str>), u64>,
}

impl Renewal {
    /// Looks at every index once; `rows` is about how many a table has. How many were left to the background.
    pub async fn look<S: Store>(
        &mut self,
        shared: &SharedCatalogue,
        store: &S,
        now_micros: i64,
        rows: impl Fn(u32) -> u64,
    ) -> Result<usize, QueryError> {
        let (_, catalogue) = shared.load();
        let mut begun = 0;
        for table in catalogue.tables() {
            for index in table.indexes.iter().filter(|index| index.built) {
                let rows = rows(table.id);
                let name = (table.id, index.name.clone());
                if !is_due(table, index, rows) || rows < self.tried.get(&name).map_or(0, |tried| 2 * tried) {
                    continue;
                }
                self.tried.insert(name, rows);
                let (keyspace, place) = (table.keyspace.to_string(), table.name.to_string());
                let change = Change::IndexAnew { keyspace, table: place, id: index.id };
                apply(&change, shared, store, now_micros).await?;
                let (_, after) = shared.load();
                let place = after.table(&table.keyspace, &table.name);
                let named =
                    place.and_then(|now| Some((now, now.indexes.iter().find(|i| i.name == index.name)?)));
                if let Some((now, next)) = named.filter(|(_, next)| !next.built) {
                    super::leave(Build::of(now, next.id), shared);
                    begun += 1;
                }
            }
        }
        self.tried.retain(|(id, _), _| catalogue.table_by_id(*id).is_some());
        Ok(begun)
    }
}

fn is_due(table: &Table, index: &Index, rows: u64) -> bool {
    match &index.lists {
        None => Vectors::of(table, index).is_some() && rows >= VECTORS_MIN,
        Some(lists) => rows >= lists.vectors().saturating_mul(GROWTH),
    }
}
