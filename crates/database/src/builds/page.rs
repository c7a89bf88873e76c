//! Some rows of a table, copied so that entries can be made of them.

use model::key::PartitionKey;
use model::row::RowView;
use query::QueryError;
use query::fault::JobFault;
use store::{Flow, Mutation, Position, Sink, TableId};

/// A page ends when it has this many rows or bytes.
const ROWS_MAX: usize = 1_000;
const BYTES_MAX: usize = 256 << 10;

pub(crate) struct Page {
    table: TableId,
    /// One mutation per partition, as if its rows were written now with the timestamps that they have.
    pub(crate) rows: Vec<Mutation>,
    count: usize,
    count_max: usize,
    bytes: usize,
    stopped: Option<Position>,
}

impl Page {
    /// `rows_max`: fewer than usual are wanted.
    pub(crate) fn new(table: TableId, rows_max: Option<usize>) -> Page {
        let count_max = rows_max.unwrap_or(ROWS_MAX).clamp(1, ROWS_MAX);
        Page { table, rows: Vec::new(), count: 0, count_max, bytes: 0, stopped: None }
    }

    pub(crate) fn rows_read(&self) -> u64 {
        self.count as u64
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes as u64
    }

    /// How much was read.
    pub(crate) fn read(&self) -> (u64, u64) {
        (self.rows_read(), self.bytes_read())
    }

    /// Where the next page begins. Only the page itself stops a read, and it notes where.
    pub(crate) fn stopped_at(&mut self) -> Result<Position, QueryError> {
        self.stopped.take().ok_or_else(|| JobFault::Unfinished.into())
    }

    fn add(&mut self, bytes: usize) {
        self.count += 1;
        self.bytes += bytes;
    }

    /// Stops at a place that can be gone on from, if the page is full.
    fn flow(&mut self, clustering: Option<&[u8]>) -> Flow {
        let Some(partition) = self.rows.last() else { return Flow::Continue };
        if self.count < self.count_max && self.bytes < BYTES_MAX {
            return Flow::Continue;
        }
        self.stopped =
            Some(Position { key: partition.key.clone(), clustering: clustering.map(<[u8]>::to_vec) });
        Flow::Stop
    }
}

impl Sink for Page {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.rows.push(Mutation::new(self.table, key.clone()));
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        if let Some(partition) = self.rows.last_mut() {
            partition.static_row(row);
        }
        self.add(row.body().len());
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        if let Some(partition) = self.rows.last_mut() {
            partition.row(clustering, row);
        }
        self.add(clustering.len() + row.body().len());
        self.flow(Some(clustering))
    }

    fn partition_end(&mut self) -> Flow {
        self.flow(None)
    }
}
