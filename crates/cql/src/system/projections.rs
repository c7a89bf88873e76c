//! Every copy of a table: indexes and views, with their state, how far their build is and what the last check has found.

use super::cells::*;
use super::node::Live;
use super::rows::Filler;
use database::catalogue::SharedCatalogue;
use database::jobs::State;
use schema::{Catalogue, Later, Table};
use std::sync::Arc;
use store::Lag;

/// One copy.
struct Copy<'c> {
    base: &'c str,
    name: &'c str,
    kind: &'static str,
    id: u32,
    is_built: bool,
    fault: Option<&'c str>,
    owner: Option<&'c str>,
    later: Option<&'c Later>,
    freshness: String,
}

pub(super) fn projections(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    shared: &SharedCatalogue,
    live: Option<Arc<dyn Live>>,
) {
    let sizes = live.as_ref().map(|live| live.table_sizes()).unwrap_or_default();
    for table in catalogue.tables() {
        for copy in copies(table) {
            let job = shared.jobs().find(copy.id.into());
            let state = match (&job, copy.is_built, copy.fault) {
                (_, _, Some(_)) => "failed",
                (_, true, _) => "ready",
                (Some(job), ..) if job.state() == State::Paused => "paused",
                (Some(job), ..) if job.state() == State::Failed => "failed",
                _ => "building",
            };
            let report = shared.jobs().list().into_iter().find(|report| report.id == u64::from(copy.id));
            let progress = if copy.is_built { 1.0 } else { report.map_or(0.0, |report| report.progress) };
            let check = shared.jobs().last_check(copy.id);
            let size = sizes.get(&copy.id);
            let usage = shared.usages.of(copy.id);
            let lag = match copy.later {
                Some(later) => live.as_ref().and_then(|live| live.lag(later.pending)),
                // In the commit of its table.
                None => Some(Lag::default()),
            };
            filler.row(&[
                ("keyspace_name", text(&table.keyspace)),
                ("base_table", text(copy.base)),
                ("name", text(copy.name)),
                ("bytes", size.and_then(|size| bigint(size.bytes as i64))),
                ("drift", check.and_then(|check| bigint((check.missing + check.extra + check.stale) as i64))),
                ("freshness", text(&copy.freshness)),
                ("job", job.filter(|_| !copy.is_built).and_then(|job| bigint(job.id as i64))),
                ("kind", text(copy.kind)),
                ("lag_ms", lag.and_then(|lag| bigint(lag.millis as i64))),
                ("largest_partition_bytes", size.and_then(|size| bigint(size.partition_bytes.max as i64))),
                ("last_check", check.and_then(|check| timestamp(check.at_micros / 1_000))),
                ("last_read", usage.and_then(|usage| timestamp(usage.last_read_micros? / 1_000))),
                ("on_lag", copy.later.and_then(|later| text(later.on_lag.word()))),
                ("owner", copy.owner.and_then(text)),
                ("progress", double(progress)),
                ("reads", usage.and_then(|usage| bigint(usage.reads as i64))),
                ("rows", size.and_then(|size| bigint(size.rows as i64))),
                ("rows_behind", lag.and_then(|lag| bigint(lag.rows as i64))),
                ("state", text(state)),
                ("writes", usage.and_then(|usage| bigint(usage.writes as i64))),
                ("written_bytes", usage.and_then(|usage| bigint(usage.written_bytes as i64))),
            ]);
        }
    }
}

/// The indexes of a table, or the copy that it is itself.
fn copies(table: &Table) -> Vec<Copy<'_>> {
    let index = |index: &'_ schema::Index| (index.id, index.built);
    let mut found: Vec<Copy<'_>> = table
        .indexes
        .iter()
        .map(|of| {
            let (id, is_built) = index(of);
            let name = &*of.name;
            let freshness = "atomic".to_string();
            let (fault, owner, later) = (None, None, None);
            Copy { base: &table.name, name, kind: "index", id, is_built, fault, owner, later, freshness }
        })
        .collect();
    if let Some(view) = &table.view {
        let projection = view.projection.as_ref();
        found.push(Copy {
            base: &view.base,
            name: &table.name,
            kind: match projection {
                Some(projection) if projection.totals.is_some() => "totals",
                Some(_) => "projection",
                None => "view",
            },
            id: table.id,
            is_built: view.built,
            fault: view.disabled.as_deref(),
            owner: projection.and_then(|projection| projection.owner.as_deref()),
            later: table.later(),
            freshness: table.freshness(),
        });
    }
    found
}
