//! Moving the rows of a table to the buckets of another plan (ADR 19): what is copied, and whether all of it has arrived.
//!
//! Copying is touching: the store writes every row that a commit touches into the next generation, so a page of the job is a
//! commit that changes nothing. Afterwards both generations are compared row by row. Rows may be written meanwhile, so a difference
//! counts only if it is still there after the row was copied again.

use super::{Page, SCAN_ENTRIES};
use crate::jobs::{Job, Turn};
use model::key::{KIND_ROW, PartitionKey};
use model::row::{Cell, CellState, RowView};
use query::QueryError;
use query::buckets::{Bucket, Moved};
use query::fault::JobFault;
use schema::Table;
use std::sync::Arc;
use store::view::NOTHING_EXPIRED;
use store::{
    Commit, Flow, Homes, MirrorConfig, Mutation, Partitions, Position, Read, ReadEnd, Sink, Slice, Store,
    TableId,
};

/// How often a row that differs is looked at: writes that were on their way are applied by then.
const LOOKS: u32 = 20;

/// The next generation as the store must know it.
pub(crate) fn mirror(table: &Arc<Table>) -> Option<MirrorConfig> {
    let next = Arc::new(table.next_generation()?);
    Some(MirrorConfig {
        table: TableId(next.id),
        buckets: crate::catalogue::buckets_config(&next),
        indexes: next.indexes.iter().filter_map(|index| query::index::config(&next, index)).collect(),
        homes: Arc::new(Moved { from: table.clone(), to: next }),
    })
}

/// A mutation that has the rows of a page copied; `None` if there are none, or none that are kept.
pub(super) fn touching(table: &Table, rows: &Mutation, now_seconds: u32) -> Option<Mutation> {
    if !is_kept(table, &rows.key, now_seconds) {
        return None;
    }
    touching_all(rows)
}

/// The same of all of them.
pub(super) fn touching_all(rows: &Mutation) -> Option<Mutation> {
    let mut touching = Mutation::new(rows.table, rows.key.clone());
    each_row(rows).for_each(|(clustering, _)| touching.touch(Slice::one(clustering)));
    touching.touched.is_some().then_some(touching)
}

/// Whether retention keeps the bucket of a partition.
fn is_kept(table: &Table, key: &PartitionKey, now_seconds: u32) -> bool {
    let Some(plan) = table.bucketing() else { return true };
    let oldest = plan.oldest_kept(i64::from(now_seconds));
    let time = Bucket::of_key(plan, key).and_then(|(_, bucket)| bucket.time);
    time.is_none_or(|time| oldest.is_none_or(|oldest| time >= oldest))
}

fn each_row(rows: &Mutation) -> impl Iterator<Item = (&[u8], RowView<'_>)> {
    rows.entries().filter_map(|entry| {
        let (kind, clustering) = entry.position.split_first()?;
        Some((clustering, RowView::from_payload(entry.payload).filter(|_| *kind == KIND_ROW)?))
    })
}

/// Compares both generations; an error names a row that differs.
pub(super) async fn verify<S: Store>(
    table: &Arc<Table>,
    job: &Job,
    store: &S,
    now_seconds: u32,
) -> Result<Turn, QueryError> {
    let Some(next) = table.next_generation().map(Arc::new) else { return Ok(Turn::GoOn) };
    let there = Moved { from: table.clone(), to: next.clone() };
    let back = Moved { from: next.clone(), to: table.clone() };
    for (from, to, homes, is_copy) in [(table, &next, &there, false), (&next, table, &back, true)] {
        let pair =
            Pair { store, base: TableId(table.id), from: TableId(from.id), to: TableId(to.id), is_copy };
        let mut after = None;
        loop {
            if job.turn() != Turn::GoOn {
                return Ok(job.turn());
            }
            let mut page = Page::new(pair.from, job.rows_max());
            let end = store.read(&all(pair.from, after), &mut page).await?.end;
            for rows in page.rows.iter().filter(|rows| is_copy || is_kept(table, &rows.key, now_seconds)) {
                for (clustering, row) in each_row(rows) {
                    pair.compare(homes, &rows.key, clustering, row).await?;
                }
            }
            after = match end {
                ReadEnd::Complete => break,
                ReadEnd::Paused(position) => Some(position),
                ReadEnd::Stopped => Some(page.stopped_at()?),
            };
            job.pace(page.rows_read(), page.bytes_read()).await;
            tokio::task::yield_now().await;
        }
    }
    Ok(Turn::GoOn)
}

/// Two generations; the rows of one are visited.
struct Pair<'s, S: Store> {
    store: &'s S,
    base: TableId,
    from: TableId,
    to: TableId,
    /// Rows of the copy are looked up in the table.
    is_copy: bool,
}

impl<S: Store> Pair<'_, S> {
    async fn compare(
        &self,
        homes: &Moved,
        key: &PartitionKey,
        clustering: &[u8],
        row: RowView<'_>,
    ) -> Result<(), QueryError> {
        let planned = homes.home(key, clustering).ok_or_else(|| differs(key))?;
        let mut row = Some(row.to_payload());
        for look in 0..LOOKS {
            // The table continues to spill meanwhile.
            let home = self.store.finer(self.to, &planned, clustering).unwrap_or_else(|| planned.clone());
            let other = one(self.store, self.to, &home, clustering).await?;
            if seen(row.as_deref()) == seen(other.as_deref()) {
                return Ok(());
            }
            // Copied again, or waited for: a commit is not applied on all shards at the same moment.
            let mut touching =
                Mutation::new(self.base, if self.is_copy { home.clone() } else { key.clone() });
            touching.touch(Slice::one(clustering));
            self.store.commit(Commit { mutations: vec![touching], now_seconds: 0 }).await?;
            if look > LOOKS / 2 {
                self.store.settle().await?;
            }
            row = one(self.store, self.from, key, clustering).await?;
        }
        Err(differs(key))
    }
}

fn differs(key: &PartitionKey) -> QueryError {
    JobFault::Differs { key: key.bytes().to_vec() }.into()
}

fn all(table: TableId, after: Option<Position>) -> Read {
    Read {
        after,
        scan_limit: SCAN_ENTRIES,
        ..Read::of(table, Partitions::all(), vec![Slice::all()], NOTHING_EXPIRED)
    }
}

async fn one<S: Store>(
    store: &S,
    table: TableId,
    key: &PartitionKey,
    clustering: &[u8],
) -> Result<Option<Vec<u8>>, QueryError> {
    let slices = vec![Slice::one(clustering)];
    let read = Read { partitions: Partitions::One(key.clone()), slices, ..all(table, None) };
    let mut found = Found(None);
    read.to_end(store, &mut found).await?;
    Ok(found.0)
}

/// A live cell with all that a reader can ask of it: column, path, timestamp, value, and when it expires.
type Seen = (u32, Option<Vec<u8>>, i64, Vec<u8>, Option<(u32, u32)>);

/// A live row: timestamp and end of its marker, and its cells.
type SeenRow = (Option<(i64, u32)>, Vec<Seen>);

/// What can be seen of a row, with timestamps and times to live.
fn seen(row: Option<&[u8]>) -> Option<SeenRow> {
    let row = RowView::from_payload(row?).filter(|row| row.is_live(NOTHING_EXPIRED))?;
    let cell = |cell: Cell<'_>| {
        let value = cell.live_value(NOTHING_EXPIRED)?.to_vec();
        let expires = match cell.state {
            CellState::Expiring { ttl, expiry, .. } => Some((ttl, expiry)),
            _ => None,
        };
        Some((cell.column, cell.path.map(<[u8]>::to_vec), cell.timestamp, value, expires))
    };
    let marker = row.marker().map(|marker| (marker.timestamp, marker.expiry));
    Some((marker, row.cells().filter_map(cell).collect()))
}

struct Found(Option<Vec<u8>>);

impl Sink for Found {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        self.0 = Some(row.to_payload());
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
