//! The contract for reading and writing partitions, and the naive in-memory store.
//!
//! A dialect plans reads and commits as data; a [`Store`] executes them: the embedded engine, a
//! cluster, or [`naive::NaiveStore`], which does everything in the simplest way and serves as the
//! model in tests and as the holder of virtual tables. Conditions and read-modify-write operations
//! travel as data too, so every store can run them where the partition lives.

pub mod account;
pub mod assemble;
pub mod buckets;
pub mod capability;
pub mod commit;
pub mod condition;
pub mod constraint;
pub mod deferred;
pub mod error;
pub mod evaluate;
pub mod fragment;
pub mod groups;
pub mod index;
pub mod later;
pub mod mirror;
pub mod mutation;
pub mod naive;
pub mod read;
pub mod refused;
pub mod remote;
pub mod row_ttl;
pub mod spill;
pub mod transaction;
pub mod view;

pub use account::{Account, Accounted, IndexWork, Work};
pub use buckets::BucketsConfig;
pub use capability::{Decided, NoPrompt, Promises, Prompt};
pub use commit::{CasOutcome, CheckedPartition, Commit, ConditionalCommit, CurrentRow, PartitionCheck};
pub use condition::{CellCondition, Element, RowCheck, RowPosition, Subject, TREE_DEPTH_MAX, Tree};
pub use constraint::{Violation, check_rows};
pub use deferred::{Deferred, DeferredOp};
pub use error::{FullPartition, StoreError};
pub use fragment::Fragment;
pub use groups::GroupsConfig;
pub use index::IndexConfig;
pub use later::{Lag, LaterConfig, OnLag};
pub use mirror::{Homes, MirrorConfig};
pub use model::comparison::Comparison;
pub use mutation::Mutation;
pub use read::{
    Ahead, AheadMax, FirstRow, Flow, Partitions, Position, Read, ReadEnd, ReadOutcome, Sink, Slice,
};
pub use refused::Refused;
pub use row_ttl::RowTtl;
pub use spill::{Finer, SpillConfig};
pub use transaction::{Decide, Horizon, Moment, Stamped, Transaction, WantedRow};
pub use view::ViewConfig;

use std::future::Future;
use std::sync::Arc;

/// Identifies a table in the log and in files; assigned by the catalogue, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

/// What a store must know about a table; everything else stays in the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct TableConfig {
    pub id: TableId,
    /// Grows with TRUNCATE; data of earlier incarnations is gone.
    pub incarnation: u32,
    pub compression: Compression,
    pub compaction: Compaction,
    /// Cassandra's `gc_grace_seconds`; an upper bound on how long tombstones are kept.
    pub gc_grace_seconds: u32,
    /// Kept in step with every commit. Not stored by the engine: the caller that opens it gives it again, before the first commit.
    pub indexes: Vec<IndexConfig>,
    /// Kept in step like indexes, and said again like them.
    pub views: Vec<ViewConfig>,
    /// How large a partition may become; said again like indexes.
    pub limit: Option<PartitionLimit>,
    /// Kept in step like indexes, and said again like them.
    pub buckets: Option<BucketsConfig>,
    /// Whether its buckets spill; said again like indexes.
    pub spill: Option<SpillConfig>,
    /// The next generation of the table, kept in step like indexes and said again like them.
    pub mirror: Option<MirrorConfig>,
    /// Its rows are members of groups: the totals that follow them, said again like indexes.
    pub groups: Option<Arc<GroupsConfig>>,
    /// Copies that follow it later: commits leave word for them. Said again like indexes.
    pub later: Vec<Arc<LaterConfig>>,
    /// It holds what is still to be done for a copy; given again like indexes.
    pub pending: Option<Arc<LaterConfig>>,
    /// Its rows expire when one of their cells says. Said again like indexes.
    pub row_ttl: Option<RowTtl>,
}

impl TableConfig {
    /// Whether commits to the table change other tables.
    pub fn is_projected(&self) -> bool {
        !self.indexes.is_empty() || self.buckets.is_some() || self.is_followed() || !self.later.is_empty()
    }

    /// Whether rows of other tables are made of its rows: then its partitions are locked while they are written.
    pub fn is_followed(&self) -> bool {
        !self.views.is_empty() || self.mirror.is_some() || self.groups.is_some()
    }

    /// Whether totals follow commits to the table: at once, or behind the members that follow it.
    pub fn is_totalled(&self) -> bool {
        self.groups.is_some() || self.views.iter().any(|view| view.is_grouped)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Lz4,
    Zstd,
}

/// How files of a table are merged in the background.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compaction {
    /// From tiered (positive) to levelled (negative): Cassandra's unified `W` parameter.
    Unified { scaling: i32 },
    /// Files of one time window are merged with each other only; expired ones are dropped whole.
    TimeWindow { window_seconds: u64 },
    /// `'enabled': 'false'`.
    Off,
}

impl TableConfig {
    pub fn new(id: TableId) -> TableConfig {
        TableConfig {
            id,
            incarnation: 0,
            compression: Compression::Lz4,
            compaction: Compaction::Unified { scaling: 2 },
            gc_grace_seconds: 864_000,
            indexes: Vec::new(),
            views: Vec::new(),
            limit: None,
            buckets: None,
            spill: None,
            mirror: None,
            groups: None,
            later: Vec::new(),
            pending: None,
            row_ttl: None,
        }
    }
}

/// How large a partition may become: stored bytes before compression, and rows. `u64::MAX` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionLimit {
    pub bytes: u64,
    pub rows: u64,
    /// From here on a partition counts as near its limit.
    pub warn_bytes: u64,
    pub warn_rows: u64,
    /// Whether writes that add to a partition at its limit are refused.
    pub refuse: bool,
}

/// Executes reads and commits. One handle per shard; handles are not shared between threads.
pub trait Store: 'static {
    /// The short way, for stores that have it; [`NoPrompt`] for the others.
    type Prompt: Prompt;

    fn prompt(&self) -> Option<&Self::Prompt> {
        None
    }

    /// The least that a store can promise: reads, commits and conditions.
    fn promises(&self) -> Promises {
        Promises {
            transactions: false,
            exclusive_work: false,
            mirrors: false,
            exact_limits: false,
            later: false,
            answers: true,
        }
    }

    /// Delivers live, merged rows to the sink, in storage order (reversed inside partitions if asked).
    fn read(&self, read: &Read, sink: &mut dyn Sink)
    -> impl Future<Output = Result<ReadOutcome, StoreError>>;

    /// Whether some partitions are far enough away that several should be asked for at once.
    fn reads_ahead(&self) -> bool {
        false
    }

    /// Reads the first rows of partitions that are far away, at the same time; `None` for one that is near: it is read when its rows are
    /// wanted.
    fn read_ahead(
        &self,
        reads: Vec<Read>,
        _max: AheadMax,
    ) -> impl Future<Output = Result<Vec<Option<Box<dyn Ahead>>>, StoreError>> {
        std::future::ready(Ok(reads.iter().map(|_| None).collect()))
    }

    /// All or nothing; durable when it returns `Ok`. After an error other than `Invalid` or
    /// `Overloaded` the outcome is unknown to the caller.
    fn commit(&self, commit: Commit) -> impl Future<Output = Result<(), StoreError>>;

    /// Reads, checks and applies under the partition's serialisation: linearizable.
    fn commit_if(&self, commit: ConditionalCommit) -> impl Future<Output = Result<CasOutcome, StoreError>>;

    /// Locks and reads rows, lets the transaction decide, and commits what it decided: serializable, all or nothing, durable when it
    /// returns `Ok`. Without mutations it is a read of several rows at one moment.
    fn transact<D: Decide>(
        &self,
        _transaction: Transaction<D>,
    ) -> impl Future<Output = Result<D::Outcome, StoreError>> {
        std::future::ready(Err(Refused::NoTransactions.into()))
    }

    /// Whether any partition is near or at its limit: then writers ask [`Store::crowding`].
    fn is_crowded(&self) -> bool {
        false
    }

    /// Bytes, rows and limit of a partition that is near its limit or at it.
    fn crowding(
        &self,
        _table: TableId,
        _key: &model::key::PartitionKey,
    ) -> Option<(u64, u64, PartitionLimit)> {
        None
    }

    /// The point from which a bucket continues in finer ones, if it has spilled: see [`spill`].
    fn point(&self, _table: TableId, _key: &model::key::PartitionKey) -> Option<i64> {
        None
    }

    /// The finer bucket that has a row, if the bucket that its plan gives it has spilled and the row is behind the point.
    fn finer(
        &self,
        _table: TableId,
        _key: &model::key::PartitionKey,
        _clustering: &[u8],
    ) -> Option<model::key::PartitionKey> {
        None
    }

    /// Lets the buckets that have become too large since the last call spill; how many did.
    fn spill(&self) -> impl Future<Output = Result<usize, StoreError>> {
        std::future::ready(Ok(0))
    }

    /// Keeps conditional commits and other exclusive work away from these partitions, lets `work` read and decide, and commits the
    /// mutations that it returns as one record: serializable with whatever takes the same locks, durable when it returns `Ok`.
    /// Mutations go to the named partitions only and are stamped provisionally; the store shifts them to its ballot.
    fn exclusively<T, E: From<StoreError>>(
        &self,
        _partitions: Vec<(TableId, model::key::PartitionKey)>,
        _stamped: Stamped,
        _work: impl AsyncFnOnce() -> Result<(T, Vec<Mutation>), E>,
    ) -> impl Future<Output = Result<T, E>> {
        std::future::ready(Err(StoreError::from(Refused::NoTransactions).into()))
    }

    /// How far the copy is behind whose pending entries this table holds; `None`: it is not known.
    fn lag(&self, _pending: TableId) -> Option<Lag> {
        None
    }

    /// Returns when that copy has followed every commit that was done before the call.
    fn caught_up(&self, _pending: TableId) -> impl Future<Output = Result<(), StoreError>> {
        std::future::ready(Ok(()))
    }

    /// How far transactions have got, for readers that must miss none of them.
    fn horizon(&self) -> impl Future<Output = Result<Horizon, StoreError>> {
        std::future::ready(Err(Refused::NoTransactions.into()))
    }

    /// Makes exactly these tables exist, with these settings and incarnations, and `catalogue`
    /// (opaque to the store) the one that the next open returns; durable when it returns.
    /// Data of tables that are absent, and of older incarnations, is gone.
    fn alter(
        &self,
        catalogue: Vec<u8>,
        tables: Vec<TableConfig>,
    ) -> impl Future<Output = Result<(), StoreError>>;

    /// Returns when every commit that began before the call is applied, or will never be: what a read sees from then on
    /// includes everything that was committed under earlier settings of its table.
    fn settle(&self) -> impl Future<Output = Result<(), StoreError>> {
        std::future::ready(Ok(()))
    }
}
