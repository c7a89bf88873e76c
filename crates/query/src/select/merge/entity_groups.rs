//! GROUP BY over entities whose rows are in many buckets.
//!
//! A bucket has only some rows of a group. So the rows of an entity are merged in the order of the clustering key, as for a read
//! without groups, and grouped as if they came from one partition. Entities follow each other. A page ends between two groups, and
//! its place is the last row of the last returned group.

use super::super::collector::{Collector, Stop};
use super::super::execute::Scan;
use super::super::paging::{MergeState, PagingState, malformed};
use super::{Merge, Merged, state_of};
use crate::context::too_large;
use crate::error::QueryError;
use crate::spec::Rows;
use store::{Flow, Store};

pub async fn run_groups<S: Store, T: Store>(
    scan: &mut Scan<'_, '_, S, T>,
    merged: Merged,
    state: Option<PagingState>,
) -> Result<Rows, QueryError> {
    let (plan, set) = (scan.plan, merged.set);
    let state = state_of(&merged, state)?;
    let rows_plan =
        plan.grouping.as_ref().and_then(|grouping| grouping.rows.as_deref()).ok_or_else(malformed)?;
    let (limit, per_entity) = std::mem::take(&mut scan.limits);
    let (limit_left, mut taken) = match &state {
        None => (limit, vec![0; if per_entity.is_some() { merged.groups } else { 0 }]),
        Some(state) => (state.limit_left, state.taken.clone()),
    };
    if taken.len() != if per_entity.is_some() { merged.groups } else { 0 } {
        return Err(malformed());
    }
    let context = scan.context;
    let mut groups =
        Collector::new(plan, &context.request, context.ids, scan.budget(), (limit_left, per_entity))?;
    groups.held = context.held();
    scan.plan = rows_plan;
    scan.short_pages = false;
    let place = state.map(|state| MergeState { limit_left: None, taken: Vec::new(), ..state });
    let mut merge = Merge::new(scan, merged, place)?;
    // How many rows make a page of groups is not known.
    merge.wanted = u64::MAX;
    let more = page(&mut merge, &mut groups, per_entity, &mut taken).await?;
    groups.finish()?;
    if more && context.request.page_size.is_none() {
        return Err(too_large(merge.scan.budget().bytes));
    }
    let limit_left = groups.limit_left;
    let paging_state = merge.last.filter(|_| more).map(|(group, clustering)| {
        let state = MergeState { set, limit_left, group, clustering, taken };
        PagingState::Merge(state).encode(plan.table.id)
    });
    Ok(Rows {
        columns: plan.columns.clone(),
        count: u32::try_from(groups.count).unwrap_or(u32::MAX),
        body: groups.body,
        paging_state,
    })
}

/// Groups rows until the page is full; whether there are more groups.
async fn page<S: Store, T: Store>(
    merge: &mut Merge<'_, '_, '_, S, T>,
    groups: &mut Collector<'_, '_>,
    per_entity: Option<u64>,
    taken: &mut [u64],
) -> Result<bool, QueryError> {
    let mut entity = None;
    while let Some(next) = merge.head().await? {
        let Some(stream) = merge.streams.get(next) else { break };
        let at = stream.group;
        if entity != Some(at) {
            let given = taken.get(at).copied().unwrap_or(0);
            groups.begin_entity(per_entity.map(|limit| limit.saturating_sub(given)))?;
            entity = Some(at);
        }
        if groups.limit_left == Some(0) {
            return Ok(false);
        }
        if groups.groups_left() == Some(0) {
            merge.leave(at);
            continue;
        }
        let Some((clustering, row)) = stream.front() else { break };
        let flow = groups.take_merged(clustering, row)?;
        if let (Some(limit), Some(left), Some(taken)) = (per_entity, groups.groups_left(), taken.get_mut(at))
        {
            *taken = limit - left;
        }
        match flow {
            Flow::Continue => {
                merge.pass(next);
                merge.advance(next).await?;
            }
            Flow::NextPartition => merge.leave(at),
            Flow::Stop => return Ok(groups.stopped == Some(Stop::PageFull)),
        }
    }
    Ok(false)
}

impl<S: Store, T: Store> Merge<'_, '_, '_, S, T> {
    /// Goes past the first row of a stream.
    fn pass(&mut self, at: usize) {
        let Some(stream) = self.streams.get_mut(at) else { return };
        let group = stream.group;
        let Some((clustering, row)) = stream.pop() else { return };
        self.waiting -= clustering.len() + row.len();
        self.last = Some((group, clustering));
        stream.given += 1;
    }

    /// Nothing more is wanted of an entity.
    fn leave(&mut self, entity: usize) {
        for stream in self.streams.iter_mut().filter(|stream| stream.group == entity) {
            self.waiting -= stream.close();
        }
        self.heads.retain(|head| head.group != entity);
    }
}
