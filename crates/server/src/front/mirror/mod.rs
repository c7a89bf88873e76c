//! A front end of two clusters, while a database moves from one to the other (docs/adr/0025-dual-writes.md).
//!
//! One of them answers. A write goes there first; when it is done, it goes to the other with the same timestamp, and then the client
//! is answered. What the other cluster did not take, and what cannot be repeated, is a mark: a key that `partita migrate` looks at
//! again on both sides ([`marks`]). Who answers can be exchanged while writes are held ([`Mirror::switch`]), which is how one cuts
//! over and rolls back.
//!
//! Promise: when a client hears that its write is done, it is on both sides, or its key is marked, durably. A front end that dies in
//! between leaves a trace that forces a comparison of everything before one can cut over ([`state`]).

mod control;
mod dual;
mod marks;
mod reads;
mod serve;
mod state;

pub use control::start as start_control;
pub use serve::{lanes, serve, unpark};
pub use state::Side;

use crate::config;
use cluster::written::{Key, RowKey, Tables, Way, Written, written};
use cluster::{Door, Lane, Login, Statement};
use marks::{Marks, Place};
use observe::{Counter, Histogram};
use state::{Phase, State, TableEntry};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Texts whose meaning is kept; beyond, all are read again when they come again. Longer ones are read each time.
const SHAPES_MAX: usize = 4_000;
const SHAPE_TEXT_MAX: usize = 4 << 10;
/// Differing reads that are told with their statement.
const DIFFERENCES_KEPT: usize = 20;

/// What a client's write may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub phase: Phase,
    pub answers: Side,
}

/// What was done, by all threads.
#[derive(Default)]
pub struct Counters {
    /// Writes that both sides have.
    pub both: Counter,
    /// Keys that were marked.
    pub marked: Counter,
    /// Writes that were refused because too many marks wait.
    pub refused: Counter,
    pub shadowed: Counter,
    pub different: Counter,
    /// Microseconds from a write's arrival to its answer.
    pub micros: Histogram,
}

/// What all threads share.
pub struct Mirror {
    folder: PathBuf,
    _lock: File,
    pub login: Option<Arc<Login>>,
    state: Mutex<State>,
    mode: RwLock<Mode>,
    held: AtomicBool,
    /// Writes that have begun and are not answered.
    under_way: AtomicUsize,
    /// Moves when writes may go on.
    released: watch::Sender<u64>,
    tables: RwLock<Arc<Tables>>,
    /// What texts write, by keyspace and text; of the tables that there are now.
    shapes: Mutex<Shapes>,
    marks: Marks,
    last_micros: AtomicI64,
    shadow: AtomicU32,
    shadow_turn: AtomicU64,
    /// Statements whose answers differed, the last ones.
    differences: Mutex<VecDeque<String>>,
    /// When the last comparison began.
    comparing_since: AtomicI64,
    pub counters: Counters,
}

type Shapes = HashMap<(Option<Arc<str>>, Box<str>), Arc<Written>>;

/// Statements by the id that clients know.
type Known = HashMap<Box<[u8]>, Arc<Statement>>;

/// What one thread has.
pub struct MirrorShard {
    pub shared: Arc<Mirror>,
    pub door: Rc<Door>,
    /// What a statement that a client knows is on each side.
    known: [RefCell<Known>; 2],
    known_bytes: Cell<usize>,
    /// Writes that came while writes were held.
    parked: RefCell<VecDeque<serve::Parked>>,
}

impl MirrorShard {
    pub fn new(shared: Arc<Mirror>, door: Rc<Door>) -> MirrorShard {
        MirrorShard {
            shared,
            door,
            known: Default::default(),
            known_bytes: Cell::new(0),
            parked: RefCell::default(),
        }
    }
}

/// A write that is under way; it counts until it is dropped.
pub struct Entered {
    mirror: Arc<Mirror>,
    pub mode: Mode,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.mirror.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

pub fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

fn now_millis() -> i64 {
    now_micros() / 1000
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mirror {
    /// Takes the folder and reads what an earlier run has left.
    pub fn open(config: &config::Mirror) -> Result<Arc<Mirror>, String> {
        let folder = config.state.clone();
        let told = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(told)?;
        let lock = File::create(folder.join("lock")).map_err(told)?;
        if lock.try_lock().is_err() {
            return Err(format!("{}: another front end uses this folder", folder.display()));
        }
        let mut state = State::open(&folder)?;
        state.found_running(now_millis());
        let marks = match Marks::open(&folder) {
            Ok(marks) => marks,
            Err(what) => {
                tracing::error!("{what}: the file is put aside, and everything must be compared again");
                let aside = folder.join(format!("marks.damaged-{}", now_millis()));
                std::fs::rename(folder.join("marks"), aside).map_err(told)?;
                state.unverified = Some(now_millis());
                Marks::open(&folder)?
            }
        };
        (state.running, state.alive_millis) = (state.phase == Phase::Dual, now_millis());
        state.store(&folder).map_err(told)?;
        if state.unverified.is_some() && state.phase == Phase::Dual {
            tracing::warn!(
                "something may differ between the two clusters; partita migrate compares all of it"
            );
        }
        Ok(Arc::new(Mirror {
            _lock: lock,
            login: config.login.clone().map(Arc::new),
            mode: RwLock::new(Mode { phase: state.phase, answers: state.answers }),
            held: AtomicBool::new(false),
            under_way: AtomicUsize::new(0),
            released: watch::channel(0).0,
            tables: RwLock::new(Arc::new(state.facts())),
            shapes: Mutex::default(),
            marks,
            last_micros: AtomicI64::new(0),
            shadow: AtomicU32::new(state.shadow),
            shadow_turn: AtomicU64::new(0),
            differences: Mutex::default(),
            comparing_since: AtomicI64::new(0),
            counters: Counters::default(),
            state: Mutex::new(state),
            folder,
        }))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn mode(&self) -> Mode {
        *self.mode.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a write; `None` while writes are held.
    pub fn enter(self: &Arc<Mirror>) -> Option<Entered> {
        // Counted before it is looked whether writes are held: who holds them looks the other way round.
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let mut entered = Entered { mirror: self.clone(), mode: self.mode() };
        if self.held.load(Ordering::SeqCst) {
            return None;
        }
        // Nothing changes any more while this counts; what was read a moment ago may be older.
        entered.mode = self.mode();
        Some(entered)
    }

    pub fn released(&self) -> watch::Receiver<u64> {
        self.released.subscribe()
    }

    /// Holds writes until those under way are done. `false`: they are not done in time, and go on.
    async fn hold(&self, patience: Duration) -> bool {
        self.held.store(true, Ordering::SeqCst);
        let deadline = tokio::time::Instant::now() + patience;
        while self.under_way.load(Ordering::SeqCst) > 0 {
            if tokio::time::Instant::now() > deadline {
                self.release();
                return false;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        true
    }

    fn release(&self) {
        self.held.store(false, Ordering::SeqCst);
        self.released.send_modify(|times| *times += 1);
    }

    fn is_held(&self) -> bool {
        self.held.load(Ordering::SeqCst)
    }

    /// Changes what is remembered; nobody acts on it before it is stored.
    fn change(&self, change: impl FnOnce(&mut State)) -> Result<(), String> {
        let mut state = lock(&self.state);
        let mut next = state.clone();
        change(&mut next);
        next.alive_millis = now_millis();
        next.store(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        *state = next;
        *self.mode.write().unwrap_or_else(PoisonError::into_inner) =
            Mode { phase: state.phase, answers: state.answers };
        self.shadow.store(state.shadow, Ordering::Relaxed);
        Ok(())
    }

    /// From now on, writes to these tables go to both sides. The caller holds writes.
    fn begin_dual(&self, tables: Vec<TableEntry>) -> Result<(), String> {
        if self.mode().phase == Phase::Dual && lock(&self.state).tables == tables {
            return Ok(());
        }
        self.change(|state| {
            (state.phase, state.tables, state.running) = (Phase::Dual, tables, true);
            (state.unverified, state.verified) = (Some(now_millis()), None);
        })?;
        let facts = Arc::new(lock(&self.state).facts());
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = facts;
        lock(&self.shapes).clear();
        tracing::info!("writes go to both clusters from now on");
        Ok(())
    }

    /// The other side answers from now on. The caller holds writes.
    fn switch(&self, to: Side, force: bool) -> Result<(), String> {
        if !self.is_held() {
            return Err("writes are not held (any more); begin again".into());
        }
        let state = lock(&self.state).clone();
        if state.phase != Phase::Dual {
            return Err("no migration is under way".into());
        }
        let waiting = self.marks.len();
        if !force && waiting > 0 {
            return Err(format!(
                "{waiting} keys wait to be looked at again; is partita migrate run running?"
            ));
        }
        if !force && (state.unverified.is_some() || state.verified.is_none()) {
            return Err("the two sides were not compared since something may have come to differ; let partita migrate run finish".into());
        }
        self.change(|state| state.answers = to)
    }

    /// Nothing is mirrored any more.
    fn end(&self) -> Result<(), String> {
        self.change(|state| (state.phase, state.running) = (Phase::Ended, false))?;
        tracing::info!(
            answers = self.mode().answers.name(),
            "the migration is finished; this side is the only one"
        );
        Ok(())
    }

    /// Something may differ, and nobody knows where.
    fn unverified(&self) -> Result<(), String> {
        let now = now_millis();
        let is_known = {
            let state = lock(&self.state);
            // The next comparison begins later than this anyway.
            state.unverified.is_some_and(|since| since > self.comparing_since.load(Ordering::SeqCst))
        };
        if is_known { Ok(()) } else { self.change(|state| state.unverified = Some(now)) }
    }

    /// The front end stops: waits for writes under way, and remembers whether they ended well.
    pub fn stop(&self, patience: Duration) {
        self.held.store(true, Ordering::SeqCst);
        let deadline = std::time::Instant::now() + patience;
        while self.under_way.load(Ordering::SeqCst) > 0 && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let is_quiet = self.under_way.load(Ordering::SeqCst) == 0;
        if let Err(error) = self.change(|state| state.running &= !is_quiet) {
            tracing::error!(%error, "the state of the migration was not stored; the next start compares everything");
        }
    }

    /// Remembers that the front end is alive, so that an interruption has a beginning.
    fn beat(&self) {
        if self.mode().phase == Phase::Dual
            && let Err(error) = self.change(|_| ())
        {
            tracing::error!(%error, "the state of the migration cannot be stored");
        }
    }

    /// A timestamp later than any that was given.
    fn timestamp(&self) -> i64 {
        let now = now_micros();
        let last = self.last_micros.fetch_max(now, Ordering::SeqCst);
        if last < now { now } else { self.last_micros.fetch_add(1, Ordering::SeqCst) + 1 }
    }

    fn tables(&self) -> Arc<Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a text writes.
    fn shape(&self, text: &str, keyspace: Option<Arc<str>>) -> Arc<Written> {
        let key = (keyspace, Box::<str>::from(text));
        if let Some(known) = lock(&self.shapes).get(&key) {
            return known.clone();
        }
        let shape = Arc::new(written(text, key.0.as_deref(), &self.tables()));
        if text.len() > SHAPE_TEXT_MAX {
            return shape;
        }
        let mut shapes = lock(&self.shapes);
        if shapes.len() >= SHAPES_MAX {
            shapes.clear();
        }
        shapes.insert(key, shape.clone());
        shape
    }

    /// The places of the rows that a statement writes with these values; `None`: they cannot be told.
    fn places(&self, shape: &Written, values: &cql_wire::Values<'_>, all: &mut Vec<Place>) -> Option<()> {
        let Written::Rows(writes) = shape else { return None };
        let tables = self.tables();
        for write in writes.iter().filter(|write| matches!(write.way, Way::Repeat | Way::Look)) {
            let facts = tables.get(write.table)?;
            let rows: Vec<RowKey> = write.key.as_ref().and_then(|key: &Key| key.rows(facts, values))?;
            let table: Arc<str> = format!("{}.{}", facts.keyspace, facts.name).into();
            all.extend(rows.into_iter().map(|key| Place { table: table.clone(), key }));
        }
        Some(())
    }

    /// Marks these places durably. `false`: that did not succeed, and the client must not hear that its write is done.
    async fn mark(&self, places: Option<Vec<Place>>, due_in: Duration) -> bool {
        let Some(places) = places else {
            return self
                .unverified()
                .inspect_err(|error| tracing::error!(%error, "a mark was not stored"))
                .is_ok();
        };
        self.counters.marked.add(places.len() as u64);
        let due = now_millis() + i64::try_from(due_in.as_millis()).unwrap_or(i64::MAX);
        self.marks.add(places, due).await.unwrap_or(false)
    }

    /// Whether this read is asked of both sides.
    fn is_shadowed(&self) -> bool {
        let share = u64::from(self.shadow.load(Ordering::Relaxed));
        // Spread evenly: a share of 2,500 takes every fourth.
        share > 0 && {
            let turn = self.shadow_turn.fetch_add(1, Ordering::Relaxed);
            (turn + 1) * share / 10_000 > turn * share / 10_000
        }
    }

    /// Two looks have found other rows on each side: somebody has written past the front end, or something is wrong here. Either way
    /// everything is compared again before one can cut over.
    fn differs(&self, statement: &str) {
        self.counters.different.add(1);
        if let Err(error) = self.unverified() {
            tracing::error!(%error, "that the two sides differ was not stored");
        }
        let mut kept = lock(&self.differences);
        if kept.len() >= DIFFERENCES_KEPT {
            kept.pop_front();
        }
        // Its first words are enough to find it, and values may be secret.
        kept.push_back(statement.chars().take(200).collect());
    }
}

/// The lanes of a client: that of the side, if it is there.
pub fn lane_of(peer: &super::peer::Peer, side: Side) -> Option<Rc<Lane>> {
    match side {
        Side::Source => peer.lane.borrow().clone(),
        Side::Target => peer.other.borrow().clone(),
    }
}
