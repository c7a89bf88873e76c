//! Checks that the server makes by itself: every copy is compared with its definition now and then. From an
//! index, leftovers are removed with that.
//!
//! The time and outcome of a copy's last check are stored beside the checkpoints of jobs, so that a restart neither forgets
//! them nor checks everything again. A copy that was never checked is due one interval after it was first seen.

use super::{Report, run};
use crate::catalogue::SharedCatalogue;
use crate::ids::ShardIds;
use crate::jobs::checkpoint::Checkpoints;
use crate::jobs::{LastCheck, Limits};
use query::QueryError;
use schema::Catalogue;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use store::{Commit, Store, StoreError};

/// How often to look whether a check is due.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Rows that a scheduled check reads per second: few enough that nobody notices. ALTER JOB changes it while it runs.
const ROWS_PER_SECOND: u32 = 20_000;

/// Checks every copy once in each interval. To be spawned once; ends with the store.
pub async fn keep_checked<S: Store>(
    catalogue: Arc<SharedCatalogue>,
    store: S,
    ids: Rc<ShardIds>,
    every: Duration,
) {
    let mut schedule = Schedule { rows_per_second: Some(ROWS_PER_SECOND), ..Schedule::default() };
    loop {
        match schedule.check_due(&catalogue, &store, ids.now_micros(), every).await {
            Ok(_) => {}
            Err(QueryError::Store(StoreError::Closed)) => return,
            Err(error) => tracing::warn!(%error, "a scheduled check did not end; trying again later"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Which copies are due.
#[derive(Default)]
pub struct Schedule {
    /// How fast a check may be; `None`: as fast as it can.
    pub rows_per_second: Option<u32>,
    /// When copies were met first that were never checked.
    first_seen_micros: HashMap<u32, i64>,
    loaded: bool,
}

impl Schedule {
    /// Checks what is due, one copy after the other; how many there were.
    pub async fn check_due<S: Store>(
        &mut self,
        shared: &SharedCatalogue,
        store: &S,
        now_micros: i64,
        every: Duration,
    ) -> Result<usize, QueryError> {
        let (_, catalogue) = shared.load();
        let copies = built_copies(&catalogue);
        if !std::mem::replace(&mut self.loaded, true) {
            load(shared, store, &catalogue, &copies).await?;
        }
        self.first_seen_micros.retain(|id, _| copies.iter().any(|copy| copy.id == *id));
        let mut checked = 0;
        for copy in copies {
            let first_seen = *self.first_seen_micros.entry(copy.id).or_insert(now_micros);
            let last = shared.jobs().last_check(copy.id).map_or(first_seen, |check| check.at_micros);
            if now_micros.saturating_sub(last) < i64::try_from(every.as_micros()).unwrap_or(i64::MAX) {
                continue;
            }
            let place = (&*copy.keyspace, &*copy.name);
            let limits = Limits { rows_per_second: self.rows_per_second, ..Limits::default() };
            // Leftovers of an index are no fault, and nobody else removes them: rows that lost a race, and those of large deletions.
            match run(shared, store, place, copy.is_index, now_micros, limits).await {
                Ok(_) => checked += 1,
                Err(QueryError::Store(error)) if !is_passing(&error) => return Err(error.into()),
                // Dropped or altered meanwhile, cancelled by somebody, or no room just now: the others have their turn.
                Err(error) => {
                    tracing::info!(keyspace = place.0, name = place.1, %error, "a scheduled check ended early");
                    self.first_seen_micros.insert(copy.id, now_micros);
                }
            }
        }
        Ok(checked)
    }
}

/// Whether the store refused this one check, and may well do the next.
fn is_passing(error: &StoreError) -> bool {
    matches!(error, StoreError::Refused(_) | StoreError::Overloaded(_))
}

struct Copy {
    id: u32,
    keyspace: Arc<str>,
    name: Arc<str>,
    is_index: bool,
}

/// Copies of tables that are not the server's own.
fn built_copies(catalogue: &Catalogue) -> Vec<Copy> {
    let mut copies = Vec::new();
    for table in catalogue.tables().filter(|table| !table.keyspace.starts_with("system")) {
        let copy = |id: u32, name: &Arc<str>, is_index| Copy {
            id,
            keyspace: table.keyspace.clone(),
            name: name.clone(),
            is_index,
        };
        let built = table.indexes.iter().filter(|index| index.built);
        copies.extend(built.map(|index| copy(index.id, &index.name, true)));
        if table.view.as_ref().is_some_and(|view| view.built && view.disabled.is_none()) {
            copies.push(copy(table.id, &table.name, false));
        }
    }
    copies
}

/// Makes what was found before a restart known again.
async fn load<S: Store>(
    shared: &SharedCatalogue,
    store: &S,
    catalogue: &Catalogue,
    copies: &[Copy],
) -> Result<(), QueryError> {
    let Some(checkpoints) = Checkpoints::find(catalogue) else { return Ok(()) };
    for copy in copies {
        if let Some(check) = checkpoints.load_check(store, copy.id).await? {
            shared.jobs().checked(copy.id, check);
        }
    }
    Ok(())
}

/// Notes what a check has found, here and in the store.
pub(super) async fn note<S: Store>(
    shared: &SharedCatalogue,
    store: &S,
    id: u32,
    now_micros: i64,
    report: &Report,
) -> Result<(), QueryError> {
    let &Report { missing, extra, stale, .. } = report;
    let check = LastCheck { at_micros: now_micros, missing, extra, stale };
    shared.jobs().checked(id, check);
    let mutation = Checkpoints::find(&shared.load().1).and_then(|c| c.save_check(id, &check, now_micros));
    if let Some(mutation) = mutation {
        let now_seconds = u32::try_from(now_micros / 1_000_000).unwrap_or_default();
        store.commit(Commit { mutations: vec![mutation], now_seconds }).await?;
    }
    Ok(())
}
