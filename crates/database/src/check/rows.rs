//! Reading single rows, and pages of them.

use crate::builds::Page;
use model::key::PartitionKey;
use model::row::{ColumnId, RowView};
use query::QueryError;
use store::view::NOTHING_EXPIRED;
use store::{Flow, Partitions, Position, Read, ReadEnd, Sink, Slice, Store, TableId};

/// Entries examined before other tasks have their turn.
const SCAN_ENTRIES: u64 = 10_000;

fn read(table: TableId, partitions: Partitions, slices: Vec<Slice>, now_seconds: u32) -> Read {
    Read { statics: true, scan_limit: SCAN_ENTRIES, ..Read::of(table, partitions, slices, now_seconds) }
}

/// Some rows of one partition, whatever the clock says.
pub(super) fn of_slice(table: TableId, key: &PartitionKey, slice: Slice, reverse: bool) -> Read {
    let one = read(table, Partitions::One(key.clone()), vec![slice], NOTHING_EXPIRED);
    Read { reverse, statics: false, ..one }
}

/// The next page of a table, and where the one after it begins.
pub(super) async fn page<S: Store>(
    store: &S,
    table: TableId,
    after: Option<Position>,
    rows_max: Option<usize>,
    now_seconds: u32,
) -> Result<(Page, Option<Position>), QueryError> {
    let mut page = Page::new(table, rows_max);
    let all = Read { after, ..read(table, Partitions::all(), vec![Slice::all()], now_seconds) };
    let next = match store.read(&all, &mut page).await?.end {
        ReadEnd::Complete => None,
        ReadEnd::Paused(position) => Some(position),
        ReadEnd::Stopped => Some(page.stopped_at()?),
    };
    Ok((page, next))
}

/// A live row as a payload; the static row without a clustering key.
pub(super) async fn row<S: Store>(
    store: &S,
    table: TableId,
    key: &PartitionKey,
    clustering: Option<&[u8]>,
    now_seconds: u32,
) -> Result<Option<Vec<u8>>, QueryError> {
    let slices = clustering.map(Slice::one).into_iter().collect();
    let read = read(table, Partitions::One(key.clone()), slices, now_seconds);
    let mut found = One { wants_static: clustering.is_none(), row: None };
    // Dead entries may be in front of it.
    read.to_end(store, &mut found).await?;
    Ok(found.row)
}

/// Whether anything of a partition lives.
pub(super) async fn any<S: Store>(
    store: &S,
    table: TableId,
    key: &PartitionKey,
    now_seconds: u32,
) -> Result<bool, QueryError> {
    let read = read(table, Partitions::One(key.clone()), vec![Slice::all()], now_seconds);
    let mut found = Any(false);
    read.to_end(store, &mut found).await?;
    Ok(found.0)
}

struct Any(bool);

impl Sink for Any {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        self.0 = true;
        Flow::Stop
    }

    fn row(&mut self, _: &[u8], _: RowView<'_>) -> Flow {
        self.0 = true;
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

struct One {
    wants_static: bool,
    row: Option<Vec<u8>>,
}

impl Sink for One {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        if self.wants_static {
            self.row = Some(row.to_payload());
        }
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        if !self.wants_static {
            self.row = Some(row.to_payload());
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// A cell's column, path and value.
type Shown = (ColumnId, Option<Vec<u8>>, Vec<u8>);

/// What a reader sees of a row now; `None`: nothing.
pub(super) fn seen(row: RowView<'_>, now_seconds: u32) -> Option<Vec<Shown>> {
    let cell = |cell: model::row::Cell<'_>| {
        let value = cell.live_value(now_seconds)?.to_vec();
        Some((cell.column, cell.path.map(<[u8]>::to_vec), value))
    };
    row.is_live(now_seconds).then(|| row.cells().filter_map(cell).collect())
}
