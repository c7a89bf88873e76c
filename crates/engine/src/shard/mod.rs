//! A shard: the tables of some token ranges, owned by one thread, without locks.
//!
//! Guarantees: a commit is applied to memtables only after the log said that it is safe, in the order of the
//! shard's submissions; reads run between awaits, so they never see half of a commit of a partition.
//! Does not route: the caller has made sure that the partitions belong here (see `embedded`).

mod alter;
mod ask;
mod begin;
mod buckets;
mod commits;
mod compact;
mod conditional;
mod exclusive;
mod flush;
mod groups;
mod growth;
mod heat;
mod holds;
mod indexes;
mod later;
mod limits;
mod locks;
mod operations;
mod projections;
mod reads;
mod room;
mod sizes;
mod spill;
mod table_map;
mod tables;
pub mod transactions;
mod views;

pub(crate) use begin::Decided;
pub(crate) use commits::{Done, RemotePart};
pub(crate) use tables::{Sealed, TableSeed, TableState};

use crate::cache::BlockCache;
use crate::database::shared::Shared;
use commits::{ArrivedPart, Commits};
use heat::Heat;
use holds::Held;
use locks::Locks;
use model::key::PartitionKey;
use observe::Growth;
use room::Room;
use rt::Inbox;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::{StoreError, TableConfig, TableId};
use table_map::TableMap;
use tokio::sync::oneshot;

/// Work that one shard sends to another; runs on the receiving shard's thread.
pub(crate) type Errand = Box<dyn FnOnce(&Rc<Shard>) + Send>;

/// What recovery leaves for a shard; moves to the shard's thread.
pub(crate) struct Seed {
    pub index: usize,
    pub tables: Vec<TableSeed>,
    pub inbox: Inbox<Errand>,
    /// Version of the catalogue.
    pub version: u64,
    /// No ballot up to this one may be given again.
    pub ballot: i64,
}

pub(crate) struct Shard {
    pub index: usize,
    pub shared: Arc<Shared>,
    tables: RefCell<TableMap>,
    /// Some table has an index or a view.
    any_projection: Cell<bool>,
    /// Partitions of bucketed tables whose buckets are recorded.
    known_buckets: buckets::Known,
    commits: RefCell<Commits>,
    /// Counts changes of the tables; the same number on every shard once a change has arrived.
    version: Cell<u64>,
    early: RefCell<Vec<ArrivedPart>>,
    cache: BlockCache,
    locks: Locks,
    held: RefCell<Held>,
    room: Room,
    ballot: Cell<i64>,
    closing: Cell<bool>,
    /// A sealed memtable was given up: it stays in memory and in the log until the next start.
    stranded: Cell<bool>,
    /// Those who wait for every memtable to be in a file.
    drained: RefCell<Vec<oneshot::Sender<bool>>>,
    /// The log segment of the last commit applied.
    segment: Cell<u64>,
    reads: Cell<u64>,
    heat: Heat,
    /// How the largest partitions grow.
    growth: RefCell<Growth>,
    /// When that was written down, in milliseconds since 1970.
    growth_kept: Cell<u64>,
    /// Tables have changed since their sizes were shown.
    resized: Cell<bool>,
    /// Commits are queued that the shard will write soon.
    pump_due: Cell<bool>,
    /// Copies that follow later.
    later: later::Later,
}

/// Errands that are run before others of this shard have their turn. Most are short; those that are not count what they do
/// ([`rt::turn`]).
const ERRANDS_PER_TURN: u64 = 32;

/// Does what other shards ask for. An errand that panics is reported; a caller that waits for it gets `Closed`.
async fn run_errands(shard: Rc<Shard>, mut inbox: Inbox<Errand>) {
    let mut done = 0u64;
    while let Some(errand) = inbox.receive().await {
        done += 1;
        if done.is_multiple_of(ERRANDS_PER_TURN) || rt::turn::is_over() {
            tokio::task::yield_now().await;
        }
        if catch_unwind(AssertUnwindSafe(|| errand(&shard))).is_err() {
            tracing::error!(shard = shard.index, "an errand panicked; see the message above");
        }
    }
}

/// Applies commits as the log makes them safe.
async fn apply_progress(shard: Rc<Shard>) {
    while shard.shared.log.failure().is_none() {
        shard.shared.log.progressed(shard.index).await;
        shard.pump();
    }
}

impl Shard {
    /// Brings the shard to life on the current thread, inside a `LocalSet`.
    pub fn start(shared: Arc<Shared>, seed: Seed) -> Rc<Shard> {
        let room = Room::new(shared.options.memtable_bytes_max / shared.options.shards.max(1));
        let cache = BlockCache::new((shared.options.cache_bytes_max / shared.options.shards.max(1)) as u64);
        let tables = seed.tables.into_iter().map(|t| (t.config.id, TableState::new(t)));
        let shards = shared.options.shards as u32;
        let is_here = |key: &PartitionKey| key.token().shard(shards) as usize == seed.index;
        let growth = growth::load(&*shared.disk, &shared.layout.dir, is_here);
        let shard = Rc::new(Shard {
            index: seed.index,
            tables: RefCell::new(tables.collect()),
            any_projection: Cell::new(false),
            known_buckets: buckets::Known::default(),
            commits: RefCell::default(),
            version: Cell::new(seed.version),
            early: RefCell::default(),
            cache,
            locks: Locks::default(),
            held: RefCell::default(),
            room,
            ballot: Cell::new(seed.ballot),
            closing: Cell::new(false),
            stranded: Cell::new(false),
            drained: RefCell::default(),
            segment: Cell::new(0),
            reads: Cell::new(0),
            heat: Heat::default(),
            growth: RefCell::new(growth),
            growth_kept: Cell::new(0),
            resized: Cell::new(false),
            pump_due: Cell::new(false),
            later: later::Later::default(),
            shared,
        });
        shard.account_replayed();
        shard.compact_all_if_due();
        tokio::task::spawn_local(run_errands(shard.clone(), seed.inbox));
        let pump = tokio::task::spawn_local(apply_progress(shard.clone()));
        tokio::task::spawn_local(later::keep_following(shard.clone()));
        let watched = shard.clone();
        tokio::task::spawn_local(async move {
            // A fault of ours: nobody would apply commits any more, so nobody may wait for them.
            if pump.await.is_err_and(|error| error.is_panic()) {
                let reason = format!("shard {} failed while it applied commits", watched.index);
                watched.shared.log.fail(reason.clone());
                watched.fail_waiting(&reason);
            }
        });
        shard
    }

    /// The shard a partition belongs to.
    pub fn owner_of(&self, key: &PartitionKey) -> usize {
        match self.shared.options.shards {
            1 => 0,
            shards => key.token().shard(shards as u32) as usize,
        }
    }

    /// Sends work to another shard; `Closed` when that one has ended.
    pub fn send(&self, shard: usize, errand: Errand) -> Result<(), StoreError> {
        self.shared.mail.send(shard, errand).map_err(|_| StoreError::Closed)
    }

    fn with_table<T>(
        &self,
        id: TableId,
        body: impl FnOnce(&TableState) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        body(self.tables.borrow().get(&id).ok_or(StoreError::UnknownTable(id))?)
    }

    /// A timestamp for a conditional commit: above every earlier one of this shard, also across restarts.
    fn next_ballot(&self) -> i64 {
        let ballot = self.shared.clock.micros().max(self.ballot.get().saturating_add(1));
        self.ballot.set(ballot);
        self.shared.ballot.fetch_max(ballot, Ordering::AcqRel);
        ballot
    }

    /// Ballots from now on are above this one, which another shard has given.
    fn raise_ballot(&self, seen: i64) {
        self.ballot.set(self.ballot.get().max(seen));
    }

    pub fn configs(&self) -> Vec<TableConfig> {
        self.tables.borrow().values().map(|table| table.config.clone()).collect()
    }
}
