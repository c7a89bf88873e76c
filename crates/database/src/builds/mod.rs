//! Fills a new index or materialized view with the rows that its table already had.
//!
//! The statement that creates an index publishes it unbuilt: from then on the store keeps it in step with every commit, and
//! reads do not use it. Then the table is read in pages, the entries of its rows are committed, and finally the catalogue
//! says that the index is built. Entries carry the timestamps of their cells, so it does not matter if the table is written
//! to meanwhile or a row is read twice. The catalogue is not locked while rows are copied into an index;
//! for a view it is held page by page.
//!
//! A build is a job ([`crate::jobs`]): it can be watched, slowed down, paused and cancelled, and its progress is stored in the commit
//! of the page it describes.
//!
//! Guarantees: an index that is called built leads to every row. A build that ends early (the client has gone, the store has
//! refused, somebody has paused it) is left to [`resume_builds`] with its progress; one that a crash ended continues
//! from its checkpoint after the next start. Dropping the index, view or table ends the build without an error. Rows of a view are written
//! with timestamps older than any commit's, so whatever a commit does to them meanwhile stays. Does not decide when to try again.

mod generation;
mod keep;
mod lists;
mod page;

pub(crate) use generation::mirror;
pub use keep::keep_built;
pub use lists::Renewal;
pub(crate) use page::Page;

use crate::catalogue::SharedCatalogue;
use crate::jobs::checkpoint::{Checkpoints, Saved};
use crate::jobs::{Job, Kind, Limits, Order, State, Subject, Turn};
use crate::view;
use query::QueryError;
use query::fault::JobFault;
use schema::{Backfill, Catalogue, Change, Table};
use std::sync::{Arc, Mutex, PoisonError};
use store::index::{IndexConfig, additions};
use store::view::{NOTHING_EXPIRED, ViewConfig};
use store::{Commit, Mutation, Partitions, Position, Read, ReadEnd, Slice, Store, StoreError, TableId};
use tokio::sync::Notify;

/// Entries examined before other tasks of the shard have their turn.
const SCAN_ENTRIES: u64 = 10_000;

/// What one commit of entries may take: small beside the log's buffers, large enough that the log's sync is shared.
const COMMIT_BYTES_MAX: usize = 256 << 10;

/// One index or view that is to be filled.
#[derive(Clone, Debug, PartialEq)]
pub struct Build {
    keyspace: Arc<str>,
    table: Arc<str>,
    id: u32,
    /// The rows up to here have their entries.
    after: Option<Position>,
}

impl Build {
    /// The index that was created last, if the newest change has created one.
    pub fn newest(catalogue: &Catalogue, keyspace: &str, table: &str) -> Option<Build> {
        let table = catalogue.table(keyspace, table)?;
        let newest = |id: u32| id + 1 == catalogue.next_table_id;
        if let Some(view) = &table.view {
            let base = catalogue.table(keyspace, &view.base)?;
            return newest(table.id).then(|| Build::of(base, table.id));
        }
        let index = table.indexes.iter().find(|index| newest(index.id))?;
        Some(Build::of(table, index.id))
    }

    /// What moves the rows of a table to other buckets, if they are to move.
    pub fn of_rebucketing(catalogue: &Catalogue, keyspace: &str, table: &str) -> Option<Build> {
        let table = catalogue.table(keyspace, table)?;
        table.rebucketing().map(|next| Build::of(table, next.id))
    }

    fn of(table: &Table, id: u32) -> Build {
        Build { keyspace: table.keyspace.clone(), table: table.name.clone(), id, after: None }
    }

    /// The job that does it, as long as there is something to fill.
    fn job(&self, shared: &SharedCatalogue) -> Option<Arc<Job>> {
        let (_, catalogue) = shared.load();
        let subject = self.subject(&catalogue)?;
        let view = catalogue.table_by_id(self.id).and_then(|table| table.view.as_ref());
        let backfill = view.and_then(|view| Some(view.projection.as_ref()?.backfill)).unwrap_or_default();
        let Backfill { rows_per_second, mb_per_second, p99_millis } = backfill;
        let limits = Limits { rows_per_second, mb_per_second, p99_millis };
        Some(shared.jobs().of_build(self.id, limits, || subject))
    }

    /// What people can see of it while it runs.
    fn subject(&self, catalogue: &Catalogue) -> Option<Subject> {
        let table = catalogue.table(&self.keyspace, &self.table)?;
        let index = table.indexes.iter().find(|index| index.id == self.id);
        let next = table.next_generation().filter(|next| next.id == self.id);
        let (kind, target) = match (index, next) {
            (Some(index), _) => (Kind::BuildIndex, Arc::from(&*index.name)),
            (None, Some(next)) => {
                (Kind::Rebucket, next.bucketing_text().unwrap_or_else(|| "no buckets".into()).into())
            }
            (None, None) => {
                let mut views = catalogue.keyspace(&self.keyspace)?.views_of(table);
                (Kind::BuildView, views.find(|view| view.id == self.id)?.name.clone())
            }
        };
        Some(Subject { kind, keyspace: self.keyspace.clone(), table: self.table.clone(), target })
    }

    /// The table and what is made of it, if both are still there.
    fn find<'c>(&self, catalogue: &'c Catalogue) -> Option<(&'c Arc<Table>, Target)> {
        let table = catalogue.table(&self.keyspace, &self.table)?;
        if let Some(index) = table.indexes.iter().find(|index| index.id == self.id) {
            if let Some(vectors) = lists::Vectors::of(table, index) {
                return Some((table, Target::Vectors(vectors)));
            }
            return Some((table, query::index::config(table, index).map_or(Target::Nothing, Target::Index)));
        }
        if table.rebucketing().is_some_and(|next| next.id == self.id) {
            return Some((table, Target::Generation(table.clone())));
        }
        let view = catalogue.keyspace(&self.keyspace)?.views_of(table).find(|view| view.id == self.id)?;
        if let Some(later) = view.later() {
            return Some((table, Target::Later { pending: TableId(later.pending) }));
        }
        // The same was computed when the store got the view, and it worked.
        Some((table, Target::View(view::configs_of(table, view).ok()?)))
    }
}

impl Build {
    /// Whether the rows of the table have moved to where this has copied them.
    fn has_turned(&self, catalogue: &Catalogue) -> bool {
        catalogue.table(&self.keyspace, &self.table).is_some_and(|table| table.id == self.id)
    }
}

/// What is filled.
enum Target {
    Index(IndexConfig),
    /// An index on a vector whose lists have still to be found.
    Vectors(lists::Vectors),
    /// An index that has no entries.
    Nothing,
    /// One view, or the lists of members of a projection with totals.
    View(Vec<ViewConfig>),
    /// A projection that follows later: its rows are named, and followed as if they had been written.
    Later {
        pending: TableId,
    },
    /// The same table with other buckets.
    Generation(Arc<Table>),
}

impl Target {
    /// The mutations that some rows of the table make.
    fn mutations(&self, rows: &Mutation, now_seconds: u32) -> Vec<Mutation> {
        match self {
            Target::Index(index) => additions(std::slice::from_ref(index), rows),
            Target::Vectors(_) | Target::Nothing => Vec::new(),
            Target::View(views) => views.iter().flat_map(|view| view.built_from(rows, now_seconds)).collect(),
            Target::Later { .. } => generation::touching_all(rows).into_iter().collect(),
            Target::Generation(table) => generation::touching(table, rows, now_seconds).into_iter().collect(),
        }
    }

    /// What never follows later there is filled like a view.
    fn in_store<S: Store>(self, store: &S, base: &Table, catalogue: &Catalogue, id: u32) -> Target {
        let is_late = matches!(self, Target::Later { .. });
        let view = catalogue.table_by_id(id).filter(|_| is_late && !store.promises().later);
        view.and_then(|view| view::configs_of(base, view).ok()).map_or(self, Target::View)
    }

    /// When the rows are looked at: a view has rows that expire, an index leads to those that live.
    fn reads_at(&self, now_seconds: u32) -> u32 {
        match self {
            Target::Index(_) | Target::Vectors(_) | Target::Nothing => now_seconds,
            Target::View(_) | Target::Later { .. } | Target::Generation(_) => NOTHING_EXPIRED,
        }
    }
}

/// Makes the jobs of builds that are left known.
pub(crate) fn list_left(shared: &SharedCatalogue) {
    let left = shared.left_builds().builds.lock().unwrap_or_else(PoisonError::into_inner).clone();
    left.iter().for_each(|build| drop(build.job(shared)));
}

/// Whether there is a job for it already.
pub fn is_known(build: &Build, shared: &SharedCatalogue) -> bool {
    shared.jobs().find(build.id.into()).is_some()
}

/// Leaves a build to the background; the number of its job, if there is something to build.
pub fn leave(build: Build, shared: &SharedCatalogue) -> Option<u64> {
    let job = build.job(shared)?;
    shared.left_builds().add(build);
    Some(job.id)
}

/// Builds that no task works on.
#[derive(Default)]
pub(crate) struct LeftBuilds {
    builds: Mutex<Vec<Build>>,
    more: Notify,
}

impl LeftBuilds {
    /// Every index and view of the catalogue that is not built; for when the server starts.
    pub(crate) fn add_unbuilt(&self, catalogue: &Catalogue) {
        for table in catalogue.tables() {
            let unbuilt = table.indexes.iter().filter(|index| !index.built);
            unbuilt.for_each(|index| self.add(Build::of(table, index.id)));
            if let Some(view) = table.view.as_ref().filter(|view| !view.built && view.disabled.is_none())
                && let Some(base) = catalogue.table(&table.keyspace, &view.base)
            {
                self.add(Build::of(base, table.id));
            }
            if let Some(next) = table.rebucketing() {
                self.add(Build::of(table, next.id));
            }
        }
    }

    fn add(&self, build: Build) {
        self.builds.lock().unwrap_or_else(PoisonError::into_inner).push(build);
        self.more.notify_one();
    }

    /// One that may continue.
    fn take(&self, may_go_on: impl Fn(&Build) -> bool) -> Option<Build> {
        let mut builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        let found = builds.iter().rposition(may_go_on)?;
        Some(builds.swap_remove(found))
    }

    /// Something may have become possible.
    fn look_again(&self) {
        self.more.notify_one();
    }
}

/// A build that a task works on; if it is dropped unfinished, the build is left to others.
struct Underway<'s> {
    left: &'s LeftBuilds,
    build: Option<Build>,
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        if let Some(build) = self.build.take() {
            self.left.add(build);
        }
    }
}

/// Finishes the builds that were left, one after the other. After an error the rest is left again: call it later.
pub async fn resume_builds<S: Store>(
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<(), QueryError> {
    let may_go_on = |build: &Build| !shared.jobs().is_paused(build.id);
    while let Some(build) = shared.left_builds().take(may_go_on) {
        run(build, shared, store, now_micros).await?;
    }
    Ok(())
}

/// How a run of a build ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is built, or was dropped.
    Built,
    /// Somebody has paused the job with this number.
    Paused(u64),
}

/// Carries out an order on a build. An order that survives a restart is stored first.
pub async fn order<S: Store>(
    id: u64,
    order: Order,
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<(), QueryError> {
    let unknown = || JobFault::Unknown { id: id.to_string() };
    let job = shared.jobs().find(id).ok_or_else(unknown)?;
    job.obey(order).map_err(|why| JobFault::Disobedient { id: id.to_string(), why: why.to_string() })?;
    let Subject { kind, keyspace, table, target } = job.subject.clone();
    match (order, kind) {
        (Order::Cancel, Kind::BuildIndex) => {
            let change = Change::DropIndex {
                keyspace: keyspace.to_string(),
                name: target.to_string(),
                if_exists: true,
            };
            apply(&change, shared, store, now_micros).await?;
        }
        (Order::Cancel, Kind::BuildView) => {
            let change = Change::DropView {
                keyspace: keyspace.to_string(),
                name: target.to_string(),
                if_exists: true,
            };
            apply(&change, shared, store, now_micros).await?;
        }
        (Order::Cancel, Kind::Rebucket) => {
            let id = u32::try_from(id).map_err(|_| unknown())?;
            let (keyspace, name) = (keyspace.to_string(), table.to_string());
            let change = Change::StopRebucketing { keyspace, name, id };
            apply(&change, shared, store, now_micros).await?;
        }
        (_, Kind::BuildIndex | Kind::BuildView | Kind::Rebucket) => {
            // The position is the running build's to store; a paused or waiting one has stored it.
            if let Some(checkpoints) = Checkpoints::find(&shared.load().1) {
                let after = checkpoints.load(store, id).await?.and_then(|(saved, _)| saved.after);
                let saved = Saved { after, ..job.saved() };
                let mutations = checkpoints.save(id, &saved, job.next_stamp()).into_iter().collect();
                store.commit(Commit { mutations, now_seconds: seconds(now_micros) }).await?;
            }
        }
        (_, Kind::Check | Kind::Repair) => {}
    }
    tracing::info!(job = id, ?order, %keyspace, %table, %target, "a job was told what to do");
    shared.left_builds().look_again();
    Ok(())
}

fn seconds(now_micros: i64) -> u32 {
    u32::try_from(now_micros / 1_000_000).unwrap_or_default()
}

/// The number of builds that no task works on.
pub fn builds_left(shared: &SharedCatalogue) -> usize {
    shared.left_builds().builds.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// Returns when a build has been left since the last call.
pub async fn a_build_was_left(shared: &SharedCatalogue) {
    shared.left_builds().more.notified().await;
}

/// Fills the index and says that it is built.
pub async fn run<S: Store>(
    build: Build,
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<Ended, QueryError> {
    let mut underway = Underway { left: shared.left_builds(), build: Some(build) };
    let Some(build) = &mut underway.build else { return Ok(Ended::Built) };
    let Some(job) = build.job(shared) else {
        underway.build = None;
        return Ok(Ended::Built);
    };
    let _running = Running(&job);
    let mut outcome = begin(build, &job, shared, store).await.map(|()| Turn::GoOn);
    if let Ok(Turn::GoOn) = outcome {
        outcome = lists::find(build, &job, shared, store, now_micros).await;
    }
    if let Ok(Turn::GoOn) = outcome {
        outcome = fill(build, &job, shared, store, now_micros).await;
    }
    if let Ok(Turn::Paused) = outcome {
        return Ok(Ended::Paused(job.id));
    }
    if let (Ok(Turn::GoOn), Some((_, Target::Generation(table)))) = (&outcome, build.find(&shared.load().1)) {
        outcome = generation::verify(&table, &job, store, seconds(now_micros)).await;
        if let Ok(Turn::Paused) = outcome {
            return Ok(Ended::Paused(job.id));
        }
    }
    if outcome.is_ok() {
        outcome = verify(build, &job, shared, store, now_micros).await.map(|()| Turn::GoOn);
    }
    if outcome.is_ok() {
        outcome = publish(build, shared, store, now_micros).await.map(|()| Turn::GoOn);
    }
    if let Err(QueryError::Store(StoreError::UnknownTable(_))) = &outcome {
        // The store knows first.
        shared.changed().await;
    }
    // A table that was dropped under the build refuses to be read or written, and that is no fault.
    let is_gone = build.find(&shared.load().1).is_none() && !build.has_turned(&shared.load().1);
    if outcome.is_ok() || is_gone {
        underway.build = None;
        job.end(if is_gone { State::Cancelled } else { State::Done }, None);
        // Nobody needs it any more; if this fails, an id that is never used again has a row.
        if is_gone
            && let Some(checkpoints) = Checkpoints::find(&shared.load().1)
            && let Some(removal) = checkpoints.remove(job.id, job.next_stamp())
            && let Err(error) =
                store.commit(Commit { mutations: vec![removal], now_seconds: seconds(now_micros) }).await
        {
            tracing::debug!(%error, "a checkpoint stays behind");
        }
        return Ok(Ended::Built);
    }
    if let Err(error) = &outcome {
        job.end(State::Failed, Some(error.clone()));
    }
    outcome.map(|_| Ended::Built)
}

/// Says that no task works on a job any more when its run is over, even if the run is dropped.
struct Running<'j>(&'j Job);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.0.state() == State::Running {
            self.0.end(State::Waiting, None);
        }
    }
}

/// Takes up what is known of a job since before a restart.
async fn begin<S: Store>(
    build: &mut Build,
    job: &Job,
    shared: &SharedCatalogue,
    store: &S,
) -> Result<(), QueryError> {
    let checkpoints = Checkpoints::find(&shared.load().1);
    if let Some(checkpoints) = checkpoints.filter(|_| !job.is_loaded()) {
        let stored = checkpoints.load(store, job.id).await?;
        if build.after.is_none() {
            build.after = stored.as_ref().and_then(|(saved, _)| saved.after.clone());
        }
        job.load(stored);
    }
    job.start();
    Ok(())
}

async fn fill<S: Store>(
    build: &mut Build,
    job: &Job,
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<Turn, QueryError> {
    // Commits that began before the store knew of the index have made no entries: the pages must see them.
    store.settle().await?;
    let checkpoints = Checkpoints::find(&shared.load().1);
    let now_seconds = seconds(now_micros);
    let is_view = {
        let (_, catalogue) = shared.load();
        let found = build.find(&catalogue);
        let target = found.map(|(base, target)| target.in_store(store, base, &catalogue, build.id));
        matches!(target, Some(Target::View(_)))
    };
    loop {
        if job.turn() != Turn::GoOn {
            return Ok(job.turn());
        }
        // An entry too many of an index does no harm, but a row of a view that TRUNCATE has overtaken would stay: no change of
        // the catalogue may come between reading a page and writing what it makes.
        let held = if is_view { Some(shared.hold().await) } else { None };
        let (_, catalogue) = shared.load();
        let Some((table, target)) = build.find(&catalogue) else { return Ok(Turn::GoOn) };
        let target = target.in_store(store, table, &catalogue, build.id);
        if matches!(target, Target::Vectors(_) | Target::Nothing) {
            return Ok(Turn::GoOn);
        }
        let mut page = Page::new(TableId(table.id), job.rows_max());
        let read = Read {
            statics: true,
            after: build.after.clone(),
            scan_limit: SCAN_ENTRIES,
            ..Read::of(TableId(table.id), Partitions::all(), vec![Slice::all()], target.reads_at(now_seconds))
        };
        let next = match store.read(&read, &mut page).await?.end {
            ReadEnd::Complete => None,
            ReadEnd::Paused(position) => Some(position),
            ReadEnd::Stopped => Some(page.stopped_at()?),
        };
        let (rows, bytes) = page.read();
        let entries = page.rows.iter().flat_map(|rows| target.mutations(rows, now_seconds));
        let mut pieces = in_pieces(entries);
        if let Some(checkpoints) = &checkpoints {
            let checkpoint = match &next {
                Some(next) => {
                    let so_far = job.saved();
                    let saved = Saved { after: Some(next.clone()), rows: so_far.rows + rows, ..so_far };
                    checkpoints.save(job.id, &saved, job.next_stamp())
                }
                // Before it is called built: after a crash in between the build starts again, which does no harm.
                None => checkpoints.remove(job.id, job.next_stamp()),
            };
            // With the last entries of the page: when it is stored, all of them are.
            match pieces.last_mut() {
                Some(last) => last.extend(checkpoint),
                None => pieces.push(checkpoint.into_iter().collect()),
            }
        }
        for mutations in pieces {
            store.commit(Commit { mutations, now_seconds }).await?;
        }
        if let Target::Later { pending } = target {
            // So that a backfill keeps no writer waiting for longer than a page.
            store.caught_up(pending).await?;
        }
        job.page(rows, next.as_ref().map(|next| next.key.token().0));
        if next.is_none() {
            return Ok(Turn::GoOn);
        }
        build.after = next;
        drop(held);
        job.pace(rows, bytes).await;
        tokio::task::yield_now().await;
    }
}

/// The mutations in commits of bounded size; a single mutation is never divided.
fn in_pieces(mutations: impl Iterator<Item = Mutation>) -> Vec<Vec<Mutation>> {
    let mut pieces: Vec<Vec<Mutation>> = Vec::new();
    let mut bytes = COMMIT_BYTES_MAX;
    for mutation in mutations {
        let size = mutation.encoded().len() + mutation.key.prefix().len();
        match pieces.last_mut() {
            Some(piece) if bytes + size <= COMMIT_BYTES_MAX => {
                piece.push(mutation);
                bytes += size;
            }
            _ => {
                pieces.push(vec![mutation]);
                bytes = size;
            }
        }
    }
    pieces
}

/// A projection is read only after it was compared with its table.
async fn verify<S: Store>(
    build: &Build,
    job: &Job,
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<(), QueryError> {
    let (_, catalogue) = shared.load();
    let view = catalogue.table_by_id(build.id).filter(|table| {
        table
            .view
            .as_ref()
            .is_some_and(|view| view.projection.is_some() && !view.built && view.disabled.is_none())
    });
    let Some(view) = view else { return Ok(()) };
    let place = (&*view.keyspace, &*view.name);
    let report = crate::check::verify(shared, store, place, now_micros, job.saved().limits).await?;
    match report.is_clean() {
        true => Ok(()),
        false => Err(drifted(&report).into()),
    }
}

fn drifted(report: &crate::check::Report) -> JobFault {
    let &crate::check::Report { missing, extra, stale, .. } = report;
    JobFault::Drifted { missing, extra, stale }
}

async fn publish<S: Store>(
    build: &Build,
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<(), QueryError> {
    let (keyspace, id) = (build.keyspace.to_string(), build.id);
    let change = match build.find(&shared.load().1) {
        None => return Ok(()),
        Some((table, Target::Index(_) | Target::Vectors(_) | Target::Nothing)) => {
            Change::IndexBuilt { keyspace, table: table.name.to_string(), id }
        }
        Some((_, Target::View(_) | Target::Later { .. })) => Change::ViewBuilt { keyspace, id },
        Some((table, Target::Generation(_))) => {
            Change::Rebucketed { keyspace, name: table.name.to_string(), id }
        }
    };
    apply(&change, shared, store, now_micros).await
}

async fn apply<S: Store>(
    change: &Change,
    shared: &SharedCatalogue,
    store: &S,
    now_micros: i64,
) -> Result<(), QueryError> {
    let compute = |catalogue: &Catalogue, setting: &schema::Setting| {
        catalogue.apply(change, setting).map_err(QueryError::from)
    };
    shared.change(store, now_micros, compute).await.map(|_| ())
}
