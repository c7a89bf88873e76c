//! ORDER BY over several partitions: a merge of per-partition reads, with one position per
//! partition, so that pages stay correct while rows are written between them.

use super::collector::{Collector, PageBudget};
use super::execute::{KEYS_PER_TURN, Scan};
use super::paging::{CursorState, PagingState, malformed};
use crate::context::too_large;
use crate::error::QueryError;
use crate::spec::Rows;
use model::comparable;
use model::key::PartitionKey;
use rt::turn::give_way;
use schema::Table;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use store::{Partitions, Position, Store};

/// Rows fetched from a partition at a time: enough to make a read worth it, few enough that many
/// partitions do not fetch far more than a page.
const CHUNK_MIN: u64 = 16;
const CHUNK_MAX: u64 = 1024;
/// Fetching from a partition ends early, behind a row, when its rows have this many bytes.
const CHUNK_BYTES_MAX: usize = 64 << 10;

/// Rows of this many pages may wait for their turn; each partition has at least one there.
const WAITING_PAGES_MAX: usize = 4;

/// Most bytes of a paging state: it has a place in every partition.
const STATE_BYTES_MAX: usize = 1 << 20;

struct Cursor<'k> {
    key: &'k PartitionKey,
    state: CursorState,
    /// Fetched and not yet taken: clustering, and the encoded row.
    rows: VecDeque<(Vec<u8>, Vec<u8>)>,
    /// Everything the partition has was fetched.
    fetched_all: bool,
}

pub async fn run<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    keys: &[PartitionKey],
    columns: usize,
    state: Option<PagingState>,
) -> Result<Rows, QueryError> {
    let (mut limit_left, states) = match state {
        None => (scan.limits.0, vec![CursorState::default(); keys.len()]),
        Some(PagingState::Merge { limit_left, cursors }) if cursors.len() == keys.len() => {
            (limit_left, cursors)
        }
        Some(_) => return Err(malformed()),
    };
    let cursor = |(key, state): (_, CursorState)| {
        let fetched_all = state.done;
        Cursor { key, state, rows: VecDeque::new(), fetched_all }
    };
    let mut cursors: Vec<Cursor<'_>> = keys.iter().zip(states).map(cursor).collect();
    scan.short_pages = false;
    let budget = scan.budget();
    let wanted = budget.rows.min(limit_left.unwrap_or(u64::MAX));
    let chunk = (wanted / keys.len() as u64).saturating_mul(2).clamp(CHUNK_MIN, CHUNK_MAX);
    let waiting_max = scan.context.limits.page_bytes_max.saturating_mul(WAITING_PAGES_MAX);
    let mut waiting = 0;
    let mut held = scan.context.held();
    let mut heads = BinaryHeap::with_capacity(cursors.len());
    for (at, cursor) in cursors.iter_mut().enumerate() {
        waiting += fill(scan, cursor, chunk).await?;
        check_waiting(waiting, waiting_max, keys.len())?;
        held.hold(waiting)?;
        heads.extend(Head::of(&scan.plan.table, cursor, at, columns, scan.plan.reverse));
        if at % KEYS_PER_TURN == KEYS_PER_TURN - 1 {
            give_way().await;
        }
    }
    let (mut body, mut count) = (Vec::new(), 0u64);
    let more = loop {
        if limit_left == Some(0) {
            break false;
        }
        let Some(next) = heads.peek().map(|head: &Head| head.cursor) else { break false };
        if count >= budget.rows || (body.len() >= budget.bytes && count > 0) {
            break true;
        }
        heads.pop();
        let cursor = &mut cursors[next];
        if let Some((clustering, row)) = cursor.rows.pop_front() {
            waiting -= clustering.len() + row.len();
            body.extend_from_slice(&row);
            cursor.state.after = Some(clustering);
            cursor.state.taken += 1;
            count += 1;
            limit_left = limit_left.map(|left| left - 1);
        }
        waiting += fill(scan, cursor, chunk).await?;
        check_waiting(waiting, waiting_max, keys.len())?;
        held.hold(waiting)?;
        heads.extend(Head::of(&scan.plan.table, cursor, next, columns, scan.plan.reverse));
    };
    if more && scan.context.request.page_size.is_none() {
        return Err(too_large(budget.bytes));
    }
    let paging_state = more.then(|| {
        let states =
            cursors.into_iter().map(|c| CursorState { done: c.fetched_all && c.rows.is_empty(), ..c.state });
        PagingState::Merge { limit_left, cursors: states.collect() }.encode(scan.plan.table.id)
    });
    if let Some(state) = paging_state.as_ref().filter(|state| state.len() > STATE_BYTES_MAX) {
        return Err(QueryError::invalid(format!(
            "The paging state of ORDER BY over {} partitions has {} bytes, the limit is {STATE_BYTES_MAX}. Name fewer \
             partitions in the IN relation",
            keys.len(),
            state.len()
        )));
    }
    Ok(Rows {
        columns: scan.plan.columns.clone(),
        count: u32::try_from(count).unwrap_or(u32::MAX),
        body,
        paging_state,
    })
}

/// Rows of many partitions wait in memory until it is their turn: refused when they are too large together.
fn check_waiting(bytes: usize, bytes_max: usize, partitions: usize) -> Result<(), QueryError> {
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(QueryError::invalid(format!(
        "ORDER BY over {partitions} partitions has to hold more than {bytes_max} bytes of rows. Name fewer partitions in \
         the IN relation"
    )))
}

/// GROUP BY with ORDER BY over several partitions: groups are made partition by partition, then
/// sorted and cut, all in one page.
pub async fn sorted_groups<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    keys: Vec<PartitionKey>,
    columns: usize,
) -> Result<Rows, QueryError> {
    scan.short_pages = false;
    let bytes_max = scan.context.limits.unpaged_bytes_max();
    let budget = PageBudget { rows: u64::MAX, bytes: bytes_max };
    let (request, ids) = (&scan.context.request, scan.context.ids);
    let mut collector = Collector::new(scan.plan, request, ids, budget, (None, scan.limits.1))?;
    collector.trace = Some(Vec::new());
    collector.held = scan.context.held();
    scan.each_key(keys, None, &mut collector).await?;
    if collector.stopped.is_some() {
        return Err(too_large(bytes_max));
    }
    collector.finish()?;
    let mut start = 0;
    let mut groups = Vec::new();
    for (clustering, end) in collector.trace.take().unwrap_or_default() {
        groups.push((clustering, start..end));
        start = end;
    }
    let table = &scan.plan.table;
    groups.sort_by(|a, b| {
        let order = ordered_prefix(table, &a.0, columns).cmp(ordered_prefix(table, &b.0, columns));
        if scan.plan.reverse { order.reverse() } else { order }
    });
    groups.truncate(usize::try_from(scan.limits.0.unwrap_or(u64::MAX)).unwrap_or(usize::MAX));
    let mut rows = Rows::empty(scan.plan.columns.clone());
    for (_, place) in groups {
        rows.body.extend_from_slice(&collector.body[place]);
        rows.count += 1;
    }
    Ok(rows)
}

/// Fetches the next rows of a partition when none is left, and says how many bytes they have.
async fn fill<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    cursor: &mut Cursor<'_>,
    chunk: u64,
) -> Result<usize, QueryError> {
    if !cursor.rows.is_empty() || cursor.fetched_all {
        return Ok(0);
    }
    let allowed = scan.limits.1.map_or(u64::MAX, |limit| limit.saturating_sub(cursor.state.taken));
    if allowed == 0 {
        cursor.fetched_all = true;
        return Ok(0);
    }
    let budget = PageBudget { rows: chunk.min(allowed), bytes: CHUNK_BYTES_MAX };
    let mut collector =
        Collector::new(scan.plan, &scan.context.request, scan.context.ids, budget, (None, None))?;
    collector.trace = Some(Vec::new());
    scan.read.partitions = Partitions::One(cursor.key.clone());
    let position = |clustering| Position { key: cursor.key.clone(), clustering: Some(clustering) };
    scan.read.after = cursor.state.after.clone().map(position);
    if let Some(position) = &scan.read.after {
        // Rows were taken before: the static row does not stand alone.
        collector.resume(&super::paging::SequenceState {
            position: position.clone(),
            rows_met: true,
            limit_left: None,
            partition_left: None,
        });
    }
    scan.drive(&mut collector).await?;
    cursor.fetched_all = collector.stopped.is_none() || collector.count >= allowed;
    let (mut start, mut bytes) = (0, 0);
    for (clustering, end) in collector.trace.take().unwrap_or_default() {
        let row = collector.body[start..end].to_vec();
        bytes += clustering.len() + row.len();
        cursor.rows.push_back((clustering, row));
        start = end;
    }
    Ok(bytes)
}

/// The first row of a cursor, by what ORDER BY names of it.
struct Head {
    prefix: Vec<u8>,
    cursor: usize,
    reverse: bool,
}

impl Head {
    fn of(table: &Table, from: &Cursor<'_>, cursor: usize, columns: usize, reverse: bool) -> Option<Head> {
        let (clustering, _) = from.rows.front()?;
        Some(Head { prefix: ordered_prefix(table, clustering, columns).to_vec(), cursor, reverse })
    }
}

/// The greatest is the next to be taken; of equal ones that of the first partition.
impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        let by_prefix = self.prefix.cmp(&other.prefix);
        let by_prefix = if self.reverse { by_prefix } else { by_prefix.reverse() };
        by_prefix.then_with(|| other.cursor.cmp(&self.cursor))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

/// The bytes of the leading columns that ORDER BY names.
fn ordered_prefix<'c>(table: &Table, clustering: &'c [u8], columns: usize) -> &'c [u8] {
    let mut used = 0;
    for column in table.clustering.iter().take(columns) {
        match comparable::skip(&column.data_type, column.descending, &clustering[used..]) {
            Ok(len) => used += len,
            Err(_) => break,
        }
    }
    &clustering[..used]
}
