//! ORDER BY over several partitions: a merge of per-partition reads, with one position per
//! partition, so that pages stay correct while rows are written between them.

use super::collector::{Collector, PageBudget};
use super::execute::Scan;
use super::paging::{CursorState, PagingState, malformed};
use crate::context::too_large;
use crate::error::QueryError;
use crate::spec::Rows;
use model::comparable;
use model::key::PartitionKey;
use schema::Table;
use std::collections::VecDeque;
use store::{Partitions, Position, Store};

/// Rows fetched from a partition at a time: enough to make a read worth it, few enough that many
/// partitions do not fetch far more than a page.
const CHUNK_MIN: u64 = 16;
const CHUNK_MAX: u64 = 1024;

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
    let (mut body, mut count) = (Vec::new(), 0u64);
    let more = loop {
        if limit_left == Some(0) {
            break false;
        }
        for cursor in &mut cursors {
            fill(scan, cursor, chunk).await?;
        }
        let Some(next) = first(&scan.plan.table, &cursors, columns, scan.plan.reverse) else { break false };
        if count >= budget.rows || (body.len() >= budget.bytes && count > 0) {
            break true;
        }
        let cursor = &mut cursors[next];
        if let Some((clustering, row)) = cursor.rows.pop_front() {
            body.extend_from_slice(&row);
            cursor.state.after = Some(clustering);
            cursor.state.taken += 1;
            count += 1;
            limit_left = limit_left.map(|left| left - 1);
        }
    };
    if more && scan.context.request.page_size.is_none() {
        return Err(too_large(budget.bytes));
    }
    let paging_state = more.then(|| {
        let states =
            cursors.into_iter().map(|c| CursorState { done: c.fetched_all && c.rows.is_empty(), ..c.state });
        PagingState::Merge { limit_left, cursors: states.collect() }.encode(scan.plan.table.id)
    });
    Ok(Rows {
        columns: scan.plan.columns.clone(),
        count: u32::try_from(count).unwrap_or(u32::MAX),
        body,
        paging_state,
    })
}

/// GROUP BY with ORDER BY over several partitions: groups are made partition by partition, then
/// sorted and cut, all in one page.
pub async fn sorted_groups<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    keys: Vec<PartitionKey>,
    columns: usize,
) -> Result<Rows, QueryError> {
    scan.short_pages = false;
    let budget = PageBudget { rows: u64::MAX, bytes: usize::MAX };
    let (request, ids) = (&scan.context.request, scan.context.ids);
    let mut collector = Collector::new(scan.plan, request, ids, budget, (None, scan.limits.1))?;
    collector.trace = Some(Vec::new());
    scan.each_key(keys, None, &mut collector).await?;
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

/// Fetches the next rows of a partition when none is left.
async fn fill<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    cursor: &mut Cursor<'_>,
    chunk: u64,
) -> Result<(), QueryError> {
    if !cursor.rows.is_empty() || cursor.fetched_all {
        return Ok(());
    }
    let allowed = scan.limits.1.map_or(u64::MAX, |limit| limit.saturating_sub(cursor.state.taken));
    if allowed == 0 {
        cursor.fetched_all = true;
        return Ok(());
    }
    let budget = PageBudget { rows: chunk.min(allowed), bytes: usize::MAX };
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
    cursor.fetched_all = collector.stopped.is_none() || chunk >= allowed;
    let mut start = 0;
    for (clustering, end) in collector.trace.take().unwrap_or_default() {
        cursor.rows.push_back((clustering, collector.body[start..end].to_vec()));
        start = end;
    }
    Ok(())
}

/// The cursor with the first row; of equal ones that of the first partition.
fn first(table: &Table, cursors: &[Cursor<'_>], columns: usize, reverse: bool) -> Option<usize> {
    let mut best: Option<(usize, &[u8])> = None;
    for (at, cursor) in cursors.iter().enumerate() {
        let Some((clustering, _)) = cursor.rows.front() else { continue };
        let prefix = ordered_prefix(table, clustering, columns);
        let better = match best {
            None => true,
            Some((_, other)) if reverse => prefix > other,
            Some((_, other)) => prefix < other,
        };
        if better {
            best = Some((at, prefix));
        }
    }
    best.map(|(at, _)| at)
}

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
