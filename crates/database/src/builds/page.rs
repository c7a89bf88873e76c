//! Some rows of a table, copied so that entries can be made of them.

use model::key::PartitionKey;
use model::row::RowView;
use query::QueryError;
use store::{Flow, Mutation, Position, Sink, TableId};

/// A page ends when it has this many rows or bytes.
const ROWS_MAX: usize = 1_000;
const BYTES_MAX: usize = 256 << 10;

pub(super) struct Page {
    table: TableId,
    /// One mutation per partition, as if its rows were written now with the timestamps that they have.
    pub(super) rows: Vec<Mutation>,
    count: usize,
    bytes: usize,
    stopped: Option<Position>,
}

impl Page {
    pub(super) fn new(table: TableId) -> Page {
        Page { table, rows: Vec::new(), count: 0, bytes: 0, stopped: None }
    }

    /// Where the next page begins. Only the page itself stops a read, and it notes where.
    pub(super) fn stopped_at(&mut self) -> Result<Position, QueryError> {
        self.stopped
            .take()
            .ok_or_else(|| QueryError::invalid("the table of an index was not read to its end"))
    }

    fn add(&mut self, bytes: usize) {
        self.count += 1;
        self.bytes += bytes;
    }

    /// Stops at a place that can be gone on from, if the page is full.
    fn flow(&mut self, clustering: Option<&[u8]>) -> Flow {
        let Some(partition) = self.rows.last() else { return Flow::Continue };
        if self.count < ROWS_MAX && self.bytes < BYTES_MAX {
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
