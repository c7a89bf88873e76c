//! A server without sockets: several shards on one thread and a simulated disk.

use cql::CqlError;
use cql::roles::NoPasswords;
use cql::session::{Dialect, Response, Session};
use cql::system::{NodeInfo, SystemTables};
use database::catalogue::SharedCatalogue;
use database::ids::ShardIds;
use engine::{EmbeddedStore, Engine, EngineOptions};
use model::comparable;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::RowWriter;
use model::types::DataType;
use query::{QueryError, Request, Values};
use rt::{ManualClock, SimDisk};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use store::{Commit, Mutation, Store, StoreError, TableId};

pub const START_MICROS: i64 = 1_700_000_000_000_000;

/// Rows of numbers; null is `None`.
pub type Answer = Vec<Vec<Option<i64>>>;

type Job = tokio::task::JoinHandle<Result<(), QueryError>>;

pub struct Node {
    pub engine: Engine,
    pub dialects: Vec<Rc<Dialect<EmbeddedStore>>>,
    pub ids: Rc<ShardIds>,
    shared: Arc<SharedCatalogue>,
    jobs: RefCell<Vec<Job>>,
}

pub fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

impl Node {
    pub async fn start(disk: &SimDisk, clock: Arc<ManualClock>, shards: usize, page_rows: usize) -> Node {
        Node::try_start(disk, clock, shards, page_rows).await.unwrap()
    }

    pub async fn try_start(
        disk: &SimDisk,
        clock: Arc<ManualClock>,
        shards: usize,
        page_rows: usize,
    ) -> Result<Node, String> {
        let mut options = EngineOptions::new("/db");
        options.shards = shards;
        options.inline = true;
        // Few, so that a change of some rows takes several commits.
        options.follow_rows_max = 4;
        let opened = Engine::open(Arc::new(disk.clone()), clock.clone(), options);
        let (engine, opened) = opened.map_err(|error| error.to_string())?;
        let now = rt::Clock::micros(&*clock);
        let shared = Arc::new(cql::open_catalogue(opened.catalogue.as_deref(), now).unwrap());
        let system = Arc::new(SystemTables::new(NodeInfo::default(), shared.clone()));
        let ids = Rc::new(ShardIds::new(clock, 0, 7));
        let dialect = |shard| {
            let store = engine.store(shard).unwrap();
            let (ids, limits) = (Box::new(ids.clone()), Default::default());
            Rc::new(Dialect::new(store, shared.clone(), system.clone(), ids, limits, Box::new(NoPasswords)))
        };
        let dialects: Vec<_> = (0..shards).map(dialect).collect();
        shared.jobs().work_in_pages_of(page_rows);
        shared.bootstrap(&dialects[0].store).await.map_err(|error| error.to_string())?;
        Ok(Node { engine, dialects, ids, shared, jobs: RefCell::default() })
    }

    /// Ends what runs in the background, as a crash would.
    pub fn stop(&self) {
        self.jobs.borrow_mut().drain(..).for_each(|job| job.abort());
    }

    pub async fn run(&self, shard: usize, text: &str) -> () {
        self.rows(shard, text).await;
    }

    pub async fn rows(&self, shard: usize, text: &str) -> Answer {
        self.try_rows(shard, text).await.unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    pub async fn try_rows(&self, shard: usize, text: &str) -> Result<Answer, CqlError> {
        execute(&self.dialects[shard % self.dialects.len()], &self.ids, text).await
    }

    /// Has a task do what is left to the background.
    pub fn work(&self) {
        let (shared, store, now) =
            (self.shared.clone(), self.dialects[0].store.clone(), self.ids.now_micros());
        let work = async move { database::builds::resume_builds(&shared, &store, now).await };
        self.jobs.borrow_mut().retain(|job| !job.is_finished());
        self.jobs.borrow_mut().push(tokio::task::spawn_local(work));
    }

    /// Waits for the background.
    pub async fn work_ends(&self) -> Result<(), QueryError> {
        let jobs: Vec<Job> = self.jobs.borrow_mut().drain(..).collect();
        for job in jobs {
            job.await.unwrap()?;
        }
        let now = self.ids.now_micros();
        database::builds::resume_builds(&self.shared, &self.dialects[0].store, now).await
    }

    pub fn has(&self, name: &str) -> bool {
        self.shared.load().1.table("ks", name).is_some()
    }

    pub fn is_built(&self, name: &str) -> bool {
        let (_, catalogue) = self.shared.load();
        catalogue.table("ks", name).is_some_and(|table| table.view.as_ref().unwrap().built)
    }

    /// Waits until a projection that follows later has followed everything.
    pub async fn caught_up(&self, name: &str) {
        let later = self.shared.load().1.table("ks", name).and_then(|table| Some(table.later()?.pending));
        if let Some(pending) = later {
            self.dialects[0].store.caught_up(TableId(pending)).await.unwrap();
        }
    }

    /// Moves the row (1, c) of a projection by (g, k, c) to another g, behind the back of whoever keeps it.
    pub async fn damage(&self, name: &str, c: i32, to: i32) {
        let key = |g: i32| PartitionKey::of(&g.to_be_bytes()).unwrap();
        self.displace(name, c, key(c % 7), key(to)).await.unwrap();
    }

    /// The same of a projection by ((g, h), k, c).
    pub async fn damage_pair(
        &self,
        name: &str,
        c: i32,
        from: [i32; 2],
        to: [i32; 2],
    ) -> Result<(), StoreError> {
        let key = |pair: [i32; 2]| PartitionKey::composite(&pair.map(i32::to_be_bytes)).unwrap();
        self.displace(name, c, key(from), key(to)).await
    }

    async fn displace(
        &self,
        name: &str,
        c: i32,
        from: PartitionKey,
        to: PartitionKey,
    ) -> Result<(), StoreError> {
        let table = TableId(self.shared.load().1.table("ks", name).unwrap().id);
        let mut clustering = Vec::new();
        for value in [1, c] {
            comparable::encode(&DataType::Int, false, &value.to_be_bytes(), &mut clustering).unwrap();
        }
        let now = self.ids.now_micros();
        let mut row = RowWriter::new();
        let mutation = |key: PartitionKey, row: &RowWriter| {
            let mut mutation = Mutation::new(table, key);
            mutation.row(&clustering, row.view());
            mutation
        };
        row.begin(now, None, Deletion { timestamp: now, local_seconds: 1 });
        let gone = mutation(from, &row);
        row.begin(now, Some(Marker::new(now)), Deletion::NONE);
        let mutations = vec![gone, mutation(to, &row)];
        self.dialects[0].store.commit(Commit { mutations, now_seconds: 1 }).await
    }

    /// CHECK of every projection that is built finds nothing.
    pub async fn check_all(&self) {
        for definition in super::DEFINITIONS.iter().filter(|definition| self.is_built(definition.name)) {
            let check = format!("CHECK PROJECTION ks.{}", definition.name);
            let found = self.rows(0, &check).await;
            assert_eq!(found[0][..3], [Some(0), Some(0), Some(0)], "{check}");
        }
    }
}

pub async fn execute(
    dialect: &Dialect<EmbeddedStore>,
    ids: &Rc<ShardIds>,
    text: &str,
) -> Result<Answer, CqlError> {
    let session = Session::default();
    let prepared = dialect.prepare(&session, None, text)?;
    let request = Request::new(Values::NONE, ids.now_micros());
    Ok(match dialect.execute(&session, &prepared, request).await?.response {
        Response::Rows(rows) => {
            rows.values().map(|row| row.into_iter().map(|bytes| bytes.and_then(number)).collect()).collect()
        }
        _ => Vec::new(),
    })
}

fn number(bytes: &[u8]) -> Option<i64> {
    Some(match bytes {
        [one] => i64::from(*one),
        four if four.len() == 4 => i64::from(i32::from_be_bytes(four.try_into().unwrap())),
        eight if eight.len() == 8 => i64::from_be_bytes(eight.try_into().unwrap()),
        _ => return None,
    })
}
