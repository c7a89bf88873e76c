//! The catalogue that all shards share: one current snapshot, changed one statement at a time.
//!
//! Reading costs one atomic load while nothing changes: a shard keeps `(version, snapshot)` and compares the version.
//! A change is durable in the store before anybody sees its snapshot; listeners hear of it after that, in order.
//! Does not parse statements and does not know shards.

use crate::builds::LeftBuilds;
use crate::grants;
use crate::jobs::Jobs;
use crate::review::Reviewer;
use crate::tenants::Tenants;
use crate::usage::Usages;
use crate::view;
use model::types::DataType;
use query::QueryError;
use query::fault::JobFault;
use schema::{
    Applied, Catalogue, CompactionPlan, CompressionPlan, Damage, Effect, LimitPlan, Setting, Table,
    TableOptions,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use store::{
    BucketsConfig, Compaction, Compression, LaterConfig, PartitionLimit, RowTtl, SpillConfig, Store,
    TableConfig, TableId,
};

/// The data center of a node that was not told another.
pub const DATA_CENTER: &str = "datacenter1";

/// A change that has become visible.
pub struct CatalogueChange {
    pub before: Arc<Catalogue>,
    pub after: Arc<Catalogue>,
    /// `None` for TRUNCATE.
    pub effect: Option<Effect>,
}

type Listener = Box<dyn Fn(&CatalogueChange) + Send + Sync>;

pub struct SharedCatalogue {
    current: RwLock<(u64, Arc<Catalogue>)>,
    version: AtomicU64,
    /// Held while a change is computed, stored and published.
    changing: tokio::sync::Mutex<()>,
    listeners: RwLock<Vec<Listener>>,
    host_id: [u8; 16],
    data_center: String,
    /// Moves on when roles or permissions change.
    pub grants: grants::Generation,
    /// What tenants use.
    pub tenants: Tenants,
    reviewer: Option<Box<dyn Reviewer>>,
    left_builds: LeftBuilds,
    jobs: Jobs,
    /// What copies cost, and who reads them.
    pub usages: Usages,
    /// What the store held when it was opened.
    opened: Option<Vec<u8>>,
}

impl SharedCatalogue {
    /// From what a store gave back on open (`None`: it is new). `furnish` adds what the dialects need in it, such as system
    /// keyspaces. Views that cannot be kept in step are disabled.
    pub fn open(
        stored: Option<&[u8]>,
        now_micros: i64,
        furnish: impl FnOnce(Catalogue) -> Result<Catalogue, Damage>,
    ) -> Result<SharedCatalogue, Damage> {
        let (user, host_id) = match stored {
            Some(text) => Catalogue::from_json_of_node(text)?,
            None => (Catalogue::empty(), None),
        };
        let catalogue = Arc::new(view::disable_damaged(furnish(user)?));
        Ok(SharedCatalogue {
            current: RwLock::new((1, catalogue)),
            version: AtomicU64::new(1),
            changing: tokio::sync::Mutex::new(()),
            listeners: RwLock::default(),
            host_id: host_id.unwrap_or_else(|| fresh_host_id(now_micros)),
            data_center: DATA_CENTER.into(),
            grants: Default::default(),
            tenants: Tenants::default(),
            reviewer: None,
            left_builds: LeftBuilds::default(),
            jobs: Jobs::default(),
            usages: Usages::default(),
            opened: stored.map(<[u8]>::to_vec),
        })
    }

    /// The same in another data center.
    pub fn in_data_center(mut self, name: &str) -> SharedCatalogue {
        self.data_center = name.into();
        self
    }

    /// The same with a review of what schema statements make; without one nothing is said about them.
    pub fn reviewed_by(mut self, reviewer: impl Reviewer + 'static) -> SharedCatalogue {
        self.reviewer = Some(Box::new(reviewer));
        self
    }

    pub fn reviewer(&self) -> Option<&dyn Reviewer> {
        self.reviewer.as_deref()
    }

    /// Long work in the background.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub(crate) fn left_builds(&self) -> &LeftBuilds {
        &self.left_builds
    }

    /// Grows with every published change; compare it with the version of a kept snapshot.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The current snapshot and its version. Takes a lock: keep the result.
    pub fn load(&self) -> (u64, Arc<Catalogue>) {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Identifies this node for ever.
    pub fn host_id(&self) -> [u8; 16] {
        self.host_id
    }

    pub fn data_center(&self) -> &str {
        &self.data_center
    }

    /// Calls `listener` after every change, on the thread that made it; it must not block.
    pub fn listen(&self, listener: impl Fn(&CatalogueChange) + Send + Sync + 'static) {
        self.listeners.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// Makes the store hold this catalogue and its tables, if it does not yet. Call it once after opening, before the first
    /// commit; [`crate::builds::resume_builds`] then finishes the indexes and views that were not built when the server ended.
    pub async fn bootstrap<S: Store>(&self, store: &S) -> Result<(), QueryError> {
        let _changing = self.changing.lock().await;
        let (_, catalogue) = self.load();
        let text = self.stored_form(&catalogue);
        // A store does not remember indexes, views and records of buckets between opening and closing: it gets them again every time.
        let configs = table_configs(&catalogue)?;
        let projected = configs.iter().any(TableConfig::is_projected);
        if projected || self.opened.as_ref() != Some(&text) {
            store.alter(text, configs).await?;
        }
        self.left_builds.add_unbuilt(&catalogue);
        // People may want to cancel one before any task works on it.
        crate::builds::list_left(self);
        Ok(())
    }

    /// Computes a change against the current snapshot, stores it, publishes it. `compute` sees a snapshot that no
    /// other change can overtake.
    pub async fn change<S: Store, E: From<QueryError>>(
        &self,
        store: &S,
        now_micros: i64,
        compute: impl FnOnce(&Catalogue, &Setting) -> Result<Applied, E>,
    ) -> Result<Applied, E> {
        let _changing = self.changing.lock().await;
        let before = self.load().1;
        let setting = Setting { now_micros, data_center: self.data_center.clone() };
        let computed = Computed::new(compute(&before, &setting)?, &before, self.host_id)?;
        Ok(self.publish(store, computed).await?)
    }

    /// The same, computed beside the shard: what a statement makes of a large catalogue takes long, and so does writing it out.
    pub async fn change_aside<S: Store, E: From<QueryError> + Send + 'static>(
        &self,
        store: &S,
        now_micros: i64,
        compute: impl FnOnce(&Catalogue, &Setting) -> Result<Applied, E> + Send + 'static,
    ) -> Result<Applied, E> {
        let _changing = self.changing.lock().await;
        let before = self.load().1;
        let setting = Setting { now_micros, data_center: self.data_center.clone() };
        let host_id = self.host_id;
        let work = move || Ok::<_, E>(Computed::new(compute(&before, &setting)?, &before, host_id)?);
        let computed = rt::aside(work).await?;
        Ok(self.publish(store, computed).await?)
    }

    /// Stores a change and makes it visible. The caller holds the lock since before it was computed.
    async fn publish<S: Store>(&self, store: &S, computed: Computed) -> Result<Applied, QueryError> {
        let Computed { applied, stored } = computed;
        let Some((text, configs)) = stored else { return Ok(applied) };
        let (version, before) = self.load();
        let after = Arc::new(applied.catalogue.clone());
        store.alter(text, configs).await?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = (version + 1, after.clone());
        self.version.store(version + 1, Ordering::Release);
        let change = CatalogueChange { before, after, effect: applied.effect.clone() };
        for listener in self.listeners.read().unwrap_or_else(PoisonError::into_inner).iter() {
            listener(&change);
        }
        Ok(applied)
    }

    /// Returns when a change that was under way is visible.
    pub async fn changed(&self) {
        drop(self.changing.lock().await);
    }

    /// Keeps the catalogue as it is until the guard is gone.
    pub(crate) async fn hold(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    fn stored_form(&self, catalogue: &Catalogue) -> Vec<u8> {
        catalogue.to_json_of_node(Some(self.host_id))
    }
}

/// A change, and what the store must hear of it; `None`: nothing changes.
struct Computed {
    applied: Applied,
    stored: Option<(Vec<u8>, Vec<TableConfig>)>,
}

impl Computed {
    fn new(applied: Applied, before: &Catalogue, host_id: [u8; 16]) -> Result<Computed, QueryError> {
        let after = &applied.catalogue;
        // The other half of the check at start: a stored schema can be opened. If a schema passes every rule of its statement but
        // not this one, it is a bug of ours, and it must show now, not at the next start of the server.
        after.check().map_err(|what| JobFault::Unopenable { what: what.to_string() })?;
        let stored = match after == before {
            true => None,
            false => Some((after.to_json_of_node(Some(host_id)), table_configs(after)?)),
        };
        Ok(Computed { applied, stored })
    }
}

/// What a store must know of every table that it holds.
pub fn table_configs(catalogue: &Catalogue) -> Result<Vec<TableConfig>, QueryError> {
    let mut configs = Vec::new();
    for table in catalogue.tables().filter(|table| !table.is_virtual()) {
        let mirror = crate::builds::mirror(table);
        let spill = spill_config(table);
        let views = view::configs(catalogue, table)?;
        let followers = view::later_configs(catalogue, table)?;
        let later = followers.iter().map(|(_, later)| later.clone()).collect();
        configs.push(TableConfig { views, mirror, spill, later, ..table_config(table) });
        configs.extend(followers.iter().flat_map(|(view, later)| later_tables(view, later)));
        configs.extend(index_configs(table));
        configs.extend(record_configs(table));
        configs.extend(store_configs(table));
        configs.extend(members_config(catalogue, table));
        if let Some(next) = table.next_generation() {
            // Written through its table alone, which keeps its indexes and its record too.
            configs.push(TableConfig {
                indexes: Vec::new(),
                limit: None,
                buckets: None,
                spill: None,
                ..table_config(&next)
            });
            configs.extend(index_configs(&next));
            configs.extend(record_configs(&next));
        }
    }
    Ok(configs)
}

fn table_config(table: &Table) -> TableConfig {
    TableConfig {
        id: TableId(table.id),
        incarnation: table.incarnation,
        compression: compression(&table.options),
        compaction: compaction(&table.options),
        gc_grace_seconds: grace_seconds(table),
        indexes: table.indexes.iter().filter_map(|index| query::index::config(table, index)).collect(),
        views: Vec::new(),
        limit: table.options.partition_limit().map(limit),
        buckets: buckets_config(table),
        spill: None,
        mirror: None,
        groups: None,
        later: Vec::new(),
        pending: None,
        row_ttl: row_ttl(table),
    }
}

/// When rows of the table expire as a whole, if they do.
pub(crate) fn row_ttl(table: &Table) -> Option<RowTtl> {
    let column = table.row_ttl_column()?;
    Some(RowTtl { column: column.id, in_millis: column.data_type == DataType::Timestamp })
}

fn limit(plan: LimitPlan) -> PartitionLimit {
    let LimitPlan { bytes, rows, mut warn_bytes, mut warn_rows, refuse, spill } = plan;
    if spill {
        // A bucket spills at its limit, so there is nothing to warn of before it has gone far beyond.
        (warn_bytes, warn_rows) = (bytes.saturating_mul(2), rows.saturating_mul(2));
    }
    PartitionLimit { bytes, rows, warn_bytes, warn_rows, refuse }
}

/// Whether and when buckets of a table spill. Its limit says so if it spills, else the plan of its buckets.
fn spill_config(table: &Arc<Table>) -> Option<SpillConfig> {
    let (_, spill, _) = table.spilling()?;
    let limit = table.options.partition_limit().filter(|limit| limit.spill);
    let (bytes, rows) = limit.map_or((spill.bytes(), u64::MAX), |limit| (limit.bytes, limit.rows));
    let finer = Arc::new(query::buckets::Spilling(table.clone()));
    Some(SpillConfig { points: TableId(spill.points), bytes, rows, finer })
}

pub(crate) fn buckets_config(table: &Table) -> Option<BucketsConfig> {
    let plan = table.bucketing().filter(|plan| plan.time.is_some())?;
    Some(BucketsConfig { record: TableId(plan.record), hashed: plan.hash.is_some() })
}

/// The tables that record which buckets there are, and which have spilled. They survive a TRUNCATE of their table: a write that was on
/// its way when the table was truncated may count on what is known to be there.
fn record_configs(table: &Table) -> impl Iterator<Item = TableConfig> {
    let ids = table.bucketing().into_iter().flat_map(schema::Bucketing::ids);
    ids.map(|id| TableConfig {
        gc_grace_seconds: table.options.tombstone_seconds(),
        ..TableConfig::new(TableId(id))
    })
}

/// How long tombstones are kept. In a view that is being built for as long as that takes: the build writes rows as they were
/// when it read them, and the deletion of such a row must still be there then.
fn grace_seconds(table: &Table) -> u32 {
    match &table.view {
        Some(view) if !view.built => u32::MAX,
        _ => table.options.tombstone_seconds(),
    }
}

/// The tables that hold the entries of a table's indexes. They are emptied with their table.
fn index_configs(table: &Table) -> impl Iterator<Item = TableConfig> {
    table.indexes.iter().map(|index| TableConfig {
        incarnation: table.incarnation,
        gc_grace_seconds: table.options.tombstone_seconds(),
        ..TableConfig::new(TableId(index.id))
    })
}

/// What is pending for a projection that follows later, and where it has rows. They are emptied with it. What is removed there was removed in
/// the order of commits, so nothing old comes back when its tombstones are gone.
fn later_tables(view: &Table, later: &Arc<LaterConfig>) -> [TableConfig; 2] {
    let table = |id: TableId| TableConfig {
        incarnation: view.incarnation,
        gc_grace_seconds: 0,
        ..TableConfig::new(id)
    };
    [TableConfig { pending: Some(later.clone()), ..table(later.pending) }, table(later.places)]
}

/// The members of a projection with totals. They are emptied with it.
fn members_config(catalogue: &Catalogue, table: &Table) -> Option<TableConfig> {
    let view = table.view.as_ref().filter(|view| view.disabled.is_none())?;
    let base = catalogue.table(&table.keyspace, &view.base)?;
    let groups = query::view::groups_config(base, table)?;
    Some(TableConfig {
        incarnation: table.incarnation,
        gc_grace_seconds: grace_seconds(table),
        groups: Some(Arc::new(groups)),
        ..TableConfig::new(TableId(table.totals()?.members))
    })
}

/// The stores that another dialect keeps beside its table.
fn store_configs(table: &Table) -> impl Iterator<Item = TableConfig> {
    let stores = table.foreign.iter().flat_map(|foreign| &foreign.stores);
    stores.map(|store| {
        let config = TableConfig::new(TableId(store.id));
        match store.window_seconds {
            Some(window_seconds) => TableConfig {
                compaction: Compaction::TimeWindow { window_seconds },
                gc_grace_seconds: 0,
                ..config
            },
            None => TableConfig { gc_grace_seconds: table.options.tombstone_seconds(), ..config },
        }
    })
}

fn compression(options: &TableOptions) -> Compression {
    match options.compression_plan() {
        CompressionPlan::None => Compression::None,
        CompressionPlan::Lz4 => Compression::Lz4,
        CompressionPlan::Zstd => Compression::Zstd,
    }
}

fn compaction(options: &TableOptions) -> Compaction {
    match options.compaction_plan() {
        CompactionPlan::Unified { scaling } => Compaction::Unified { scaling },
        CompactionPlan::TimeWindow { window_seconds } => Compaction::TimeWindow { window_seconds },
        CompactionPlan::Off => Compaction::Off,
    }
}

/// A random uuid (version 4).
fn fresh_host_id(now_micros: i64) -> [u8; 16] {
    let random = || rt::random::unforeseen() ^ now_micros as u64;
    let mut bytes = ((u128::from(random()) << 64) | u128::from(random())).to_be_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}
