//! Compares a copy (an index or a view) with its definition applied to its table, and mends what differs.
//!
//! Both are added up first ([`sums`]): only rows of parts whose sums differ are read one by one.
//!
//! Both are read page by page while others write. So a difference is at first only a suspicion: these rows are read
//! again together before anything is counted. A view and its table are read at one moment, under the lock that every write to the
//! table takes; an index entry is read between two reads of its row.
//!
//! Guarantees: a reported difference really existed at one moment. Rows that are written while the check runs are in step by the
//! same rule as all others, so they need not be checked. On the embedded engine a check must never find anything.
//!
//! Does not use the code that keeps copies in step while writing, only the rules of what the copy has for a row.

mod index;
mod keep;
mod rows;
mod sums;
mod totals;
mod view;

pub use keep::{Schedule, keep_checked};

use crate::catalogue::SharedCatalogue;
use crate::jobs::{Job, Kind, Limits, State, Subject};
use model::key::PartitionKey;
use model::token::Token;
use query::QueryError;
use query::fault::JobFault;
use schema::{Catalogue, Table};
use std::sync::Arc;
use store::Store;

/// Rows that are named in a report.
const EXAMPLES_MAX: usize = 10;

/// Others may change a suspicious row again and again; then it is left alone, because it was in step each time.
const LOOKS_MAX: usize = 8;

/// What is wrong with a row of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// The table has a row that the copy lacks.
    Missing,
    /// The copy has a row that the table does not make.
    Extra,
    /// The copy has the row with other values.
    Stale,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Rows of the table that were checked.
    pub rows: u64,
    /// Rows of the copy.
    pub copies: u64,
    pub missing: u64,
    pub extra: u64,
    pub stale: u64,
    /// How many of them were mended.
    pub repaired: u64,
    /// The first few, by the key of the table's row.
    pub examples: Vec<(Drift, PartitionKey)>,
}

impl Report {
    fn note(&mut self, drift: Drift, key: &PartitionKey, is_mended: bool) {
        match drift {
            Drift::Missing => self.missing += 1,
            Drift::Extra => self.extra += 1,
            Drift::Stale => self.stale += 1,
        }
        self.repaired += u64::from(is_mended);
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push((drift, key.clone()));
        }
    }

    pub fn is_clean(&self) -> bool {
        self.missing + self.extra + self.stale == 0
    }
}

/// What a check works with.
struct Check<'c, S> {
    shared: &'c SharedCatalogue,
    store: &'c S,
    job: &'c Job,
    id: u32,
    keyspace: Arc<str>,
    table: Arc<str>,
    repair: bool,
    now_seconds: u32,
    report: Report,
}

impl<S: Store> Check<'_, S> {
    /// The table as it is now; it may be altered while the check runs.
    fn base(&self, catalogue: &Catalogue) -> Result<Arc<Table>, QueryError> {
        catalogue.table(&self.keyspace, &self.table).cloned().ok_or_else(|| self.gone())
    }

    fn gone(&self) -> QueryError {
        JobFault::Dropped { target: self.job.subject.target.to_string() }.into()
    }

    /// Between two pages: waits while the job is paused, and as long as it must.
    async fn page_done(&self, (rows, bytes): (u64, u64), token: Option<i64>) -> Result<(), QueryError> {
        self.job.page(rows, token);
        self.job.pace(rows, bytes).await;
        tokio::task::yield_now().await;
        match self.job.may_go_on().await {
            true => Ok(()),
            false => Err(JobFault::Cancelled { id: self.job.id.to_string() }.into()),
        }
    }
}

/// Table and copy are read one after the other, to add them up and, where they differ, once more: progress over all four, as a token.
fn stage_of(token: i64, stage: u64) -> i64 {
    const STAGES: u64 = 4;
    let passed = Token(token).ring_position() / STAGES;
    Token::from_ring_position(passed + stage * (u64::MAX / STAGES)).0
}

/// Where a copy with this name is: its table's name, its id, whether it is a view, whether it is built.
fn find(catalogue: &Catalogue, keyspace: &str, name: &str) -> Option<(Arc<str>, u32, bool, bool)> {
    let place = catalogue.keyspace(keyspace)?;
    if let Some((table, index)) = place.index(name) {
        return Some((table.name.clone(), index.id, false, index.built));
    }
    let table = place.table(name)?;
    let view = table.view.as_ref()?;
    Some((view.base.clone(), table.id, true, view.built && view.disabled.is_none()))
}

/// The table that a copy is made of; `None`: there is no such copy.
pub fn base_of(catalogue: &Catalogue, keyspace: &str, name: &str) -> Option<Arc<str>> {
    find(catalogue, keyspace, name).map(|(base, ..)| base)
}

/// Checks the copy with this name, and mends it if asked to; `limits` is how fast at most.
pub async fn run<S: Store>(
    shared: &SharedCatalogue,
    store: &S,
    (keyspace, name): (&str, &str),
    repair: bool,
    now_micros: i64,
    limits: Limits,
) -> Result<Report, QueryError> {
    let (base, id, is_view, is_built) = find(&shared.load().1, keyspace, name)
        .ok_or_else(|| JobFault::NoCopy { keyspace: keyspace.to_string(), name: name.to_string() })?;
    if !is_built {
        return Err(JobFault::NotBuilt { keyspace: keyspace.to_string(), name: name.to_string() }.into());
    }
    compare(shared, store, (keyspace, name), (base, id, is_view), repair, now_micros, limits).await
}

/// Checks a view that has just been filled, before anybody reads it.
pub(crate) async fn verify<S: Store>(
    shared: &SharedCatalogue,
    store: &S,
    (keyspace, name): (&str, &str),
    now_micros: i64,
    limits: Limits,
) -> Result<Report, QueryError> {
    let found = find(&shared.load().1, keyspace, name);
    let (base, id, is_view, _) = found.ok_or_else(|| JobFault::Dropped { target: name.to_string() })?;
    compare(shared, store, (keyspace, name), (base, id, is_view), false, now_micros, limits).await
}

async fn compare<S: Store>(
    shared: &SharedCatalogue,
    store: &S,
    (keyspace, name): (&str, &str),
    (base, id, is_view): (Arc<str>, u32, bool),
    repair: bool,
    now_micros: i64,
    limits: Limits,
) -> Result<Report, QueryError> {
    let kind = if repair { Kind::Repair } else { Kind::Check };
    let job = shared.jobs().begin(Subject {
        kind,
        keyspace: keyspace.into(),
        table: base.clone(),
        target: name.into(),
    });
    let _ended = EndedAnyway(&job);
    job.limit(limits);
    let mut check = Check {
        shared,
        store,
        job: &job,
        id,
        keyspace: keyspace.into(),
        table: base,
        repair,
        now_seconds: u32::try_from(now_micros / 1_000_000).unwrap_or_default(),
        report: Report::default(),
    };
    let outcome = match is_view {
        true => view::run(&mut check).await,
        false => index::run(&mut check).await,
    };
    match outcome {
        Ok(()) => {
            job.end(State::Done, None);
            let Report { missing, extra, stale, repaired, .. } = check.report;
            if (is_view && !check.report.is_clean()) || missing > 0 {
                tracing::error!(keyspace, name, missing, extra, stale, repaired, "a projection has drifted");
            }
            keep::note(shared, store, id, now_micros, &check.report).await?;
            Ok(check.report)
        }
        Err(error) => {
            job.end(State::Failed, Some(error.clone()));
            Err(error)
        }
    }
}

/// A client that goes away takes its check with it.
struct EndedAnyway<'j>(&'j Job);

impl Drop for EndedAnyway<'_> {
    fn drop(&mut self) {
        if matches!(self.0.state(), State::Running | State::Waiting | State::Paused | State::Failed) {
            let _ = self.0.obey(crate::jobs::Order::Cancel);
        }
    }
}
