//! GROUP BY with ORDER BY over several partitions.

use super::super::collector::{Collector, PageBudget};
use super::super::execute::Scan;
use super::bounds::ordered_prefix;
use crate::context::too_large;
use crate::error::QueryError;
use crate::spec::Rows;
use model::key::PartitionKey;
use store::Store;

/// Groups are made partition by partition, then sorted and cut, all in one page.
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
