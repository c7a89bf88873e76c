//! The embedded database: the engine's shards on threads of this process, statements sent to them.

use crate::error::Error;
use crate::params::Params;
use crate::rows::Rows;
use cql::prepared::Prepared;
use cql::session::{Dialect, Response, Session};
use cql::system::{NodeInfo, SystemTables};
use database::catalogue::SharedCatalogue;
use database::ids::ShardIds;
use engine::{EmbeddedStore, Engine, EngineOptions};
use model::value::Value;
use query::{Bound, Request, Values};
use rt::{Clock, RealDisk, ShardThreads, SystemClock};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};

/// How much a crash of the machine may lose with [`Durability::Periodic`].
const PERIODIC_SYNC_MS: u64 = 1_000;

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// After fsync.
    Sync,
    /// Once the kernel has it; survives a crash of the process, not of the machine.
    Periodic,
}

/// How to open a database.
#[derive(Clone, Debug)]
pub struct Options {
    pub dir: PathBuf,
    /// Threads that own data; 1 unless you have many cores to give.
    pub shards: usize,
    pub durability: Durability,
    /// Run functions that users write in Lua and WebAssembly, in a sandbox; else they are kept and cannot be called.
    pub functions: bool,
}

/// An open database. Statements may be run from any thread.
pub struct Database {
    shards: Vec<mpsc::UnboundedSender<Job>>,
    next: AtomicUsize,
    threads: ShardThreads,
}

struct Job {
    text: String,
    values: Vec<Value>,
    reply: oneshot::Sender<Result<Rows, Error>>,
}

impl Database {
    /// Opens a folder with one shard and durable writes; creates it if absent.
    pub fn open(dir: impl AsRef<Path>) -> Result<Database, Error> {
        let dir = dir.as_ref().to_path_buf();
        Database::open_with(Options { dir, shards: 1, durability: Durability::Sync, functions: false })
    }

    pub fn open_with(options: Options) -> Result<Database, Error> {
        let open = |text: String| Error::Open(text);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let engine_options = EngineOptions {
            shards: options.shards.max(1),
            durability: match options.durability {
                Durability::Sync => engine::Durability::Sync,
                Durability::Periodic => engine::Durability::Periodic { interval_ms: PERIODIC_SYNC_MS },
            },
            ..EngineOptions::new(&options.dir)
        };
        let (engine, opened) = Engine::open(Arc::new(RealDisk), clock.clone(), engine_options)
            .map_err(|e| open(e.to_string()))?;
        let catalogue = cql::open_catalogue(opened.catalogue.as_deref(), clock.micros())
            .map_err(|e| open(e.to_string()))?
            .reviewed_by(cql::SchemaReview);
        let closed = Arc::new(watch::channel(false).0);
        let parts =
            Parts { engine, catalogue: Arc::new(catalogue), clock, closed, functions: options.functions };
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..options.shards.max(1)).map(|_| mpsc::unbounded_channel()).unzip();
        let receivers: Arc<Mutex<Vec<_>>> = Arc::new(Mutex::new(receivers.into_iter().map(Some).collect()));
        let (ready, started) = std::sync::mpsc::channel();
        let threads = ShardThreads::start(senders.len(), move |index| {
            let (parts, ready) = (parts.clone(), ready.clone());
            let jobs = receivers.lock().unwrap_or_else(PoisonError::into_inner)[index].take();
            async move {
                if let Some(jobs) = jobs {
                    run_shard(index, parts, jobs, ready).await;
                }
            }
        });
        let threads = threads.map_err(|e| open(format!("threads: {e}")))?;
        for _ in 0..senders.len() {
            started.recv().map_err(|_| Error::Closed)?.map_err(open)?;
        }
        Ok(Database { shards: senders, next: AtomicUsize::new(0), threads })
    }

    /// Runs one statement and waits for its answer.
    pub fn execute(&self, cql: &str, params: impl Params) -> Result<Rows, Error> {
        self.send(cql, params)?.blocking_recv().map_err(|_| Error::Closed)?
    }

    /// Runs one statement; for callers inside an async runtime.
    pub async fn execute_async(&self, cql: &str, params: impl Params) -> Result<Rows, Error> {
        self.send(cql, params)?.await.map_err(|_| Error::Closed)?
    }

    fn send(&self, cql: &str, params: impl Params) -> Result<oneshot::Receiver<Result<Rows, Error>>, Error> {
        let (reply, answer) = oneshot::channel();
        let job = Job { text: cql.to_string(), values: params.into_values(), reply };
        let shard = self.next.fetch_add(1, Ordering::Relaxed) % self.shards.len();
        self.shards[shard].send(job).map_err(|_| Error::Closed)?;
        Ok(answer)
    }

    /// Finishes what is under way, flushes, and releases the folder. Dropping without closing is safe
    /// too: the next open replays the log.
    pub fn close(self) -> Result<(), Error> {
        drop(self.shards);
        self.threads.join().map_err(|_| Error::Closed)
    }
}

#[derive(Clone)]
struct Parts {
    engine: Engine,
    catalogue: Arc<SharedCatalogue>,
    clock: Arc<dyn Clock>,
    /// Becomes true when the engine is closed; shards stay alive until then.
    closed: Arc<watch::Sender<bool>>,
    functions: bool,
}

struct Local {
    dialect: Dialect<EmbeddedStore>,
    ids: Rc<ShardIds>,
    prepared: RefCell<HashMap<String, Rc<Prepared>>>,
}

/// Statements kept bound per shard.
const PREPARED_MAX: usize = 1000;

async fn run_shard(
    index: usize,
    parts: Parts,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    ready: std::sync::mpsc::Sender<Result<(), String>>,
) {
    use std::hash::{BuildHasher, Hasher};
    let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let ids = Rc::new(ShardIds::new(parts.clock.clone(), index, seed).running_functions(parts.functions));
    let Some(store) = parts.engine.store(index) else {
        let _ = ready.send(Err(format!("the engine has no shard {index}")));
        return;
    };
    let system = Arc::new(SystemTables::new(NodeInfo::default(), parts.catalogue.clone()));
    let dialect = Dialect::new(
        store,
        parts.catalogue.clone(),
        system,
        Box::new(ids.clone()),
        Default::default(),
        Box::new(cql::roles::NoPasswords),
    );
    let outcome = match index {
        0 => parts.catalogue.bootstrap(&dialect.store).await.map_err(|e| e.to_string()),
        _ => Ok(()),
    };
    // Nobody waits any more when opening failed elsewhere.
    let _ = ready.send(outcome);
    if index == 0 {
        let (catalogue, store) = (parts.catalogue.clone(), dialect.store.clone());
        tokio::task::spawn_local(database::builds::keep_built(catalogue.clone(), store.clone(), ids.clone()));
        tokio::task::spawn_local(database::spilling::keep_spilling(store.clone()));
        let (own_catalogue, own_store) = (catalogue.clone(), store.clone());
        tokio::task::spawn_local(database::row_ttl::keep_swept(own_catalogue, own_store, ids.clone()));
        tokio::task::spawn_local(database::retention::keep_dropping(catalogue, store, ids.clone()));
    }
    let local = Rc::new(Local { dialect, ids, prepared: RefCell::default() });
    while let Some(job) = jobs.recv().await {
        let local = local.clone();
        tokio::task::spawn_local(async move {
            let answer = local.run(&job.text, &job.values).await;
            // A caller that went away does not want its answer.
            let _ = job.reply.send(answer);
        });
    }
    let mut closed = parts.closed.subscribe();
    if index == 0 {
        parts.engine.close().await;
        parts.closed.send_replace(true);
    }
    // The sender lives in this scope, so waiting cannot fail.
    let _ = closed.wait_for(|closed| *closed).await;
}

impl Local {
    fn prepare(&self, text: &str) -> Result<Rc<Prepared>, cql::CqlError> {
        let (version, catalogue) = self.dialect.catalogue();
        let known = self.prepared.borrow().get(text).cloned();
        if let Some(known) = known
            && (known.catalogue_version == version || known.is_current(&catalogue))
        {
            return Ok(known);
        }
        let prepared = Rc::new(self.dialect.prepare(&Session::default(), None, text)?);
        let mut map = self.prepared.borrow_mut();
        if map.len() >= PREPARED_MAX {
            map.clear();
        }
        map.insert(text.to_string(), prepared.clone());
        Ok(prepared)
    }

    async fn run(&self, text: &str, values: &[Value]) -> Result<Rows, Error> {
        let prepared = self.prepare(text).map_err(Error::Statement)?;
        let mut encoded = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let Some(marker) = prepared.markers.get(index) else { break };
            let bytes = value
                .encode(&marker.data_type)
                .map_err(|e| Error::Parameter { index, message: e.to_string() })?;
            encoded.push(bytes);
        }
        let mut bound: Vec<Bound<'_>> =
            encoded.iter().map(|b| b.as_deref().map_or(Bound::Null, Bound::Value)).collect();
        // Too many parameters reach the check for their number as nulls.
        bound.resize(values.len(), Bound::Null);
        let request = Request::new(Values(&bound), self.ids.now_micros());
        let answer =
            self.dialect.execute(&Session::default(), &prepared, request).await.map_err(Error::Statement)?;
        rows(answer.response, answer.warnings)
    }
}

fn rows(response: Response, warnings: Vec<String>) -> Result<Rows, Error> {
    let Response::Rows(rows) = response else { return Ok(Rows::new(Vec::new(), Vec::new(), warnings)) };
    let names = rows.columns.iter().map(|c| c.name.to_string()).collect();
    let mut decoded = Vec::with_capacity(rows.count as usize);
    for values in rows.values() {
        let mut row = Vec::with_capacity(values.len());
        for (spec, bytes) in rows.columns.iter().zip(values) {
            let value = Value::decode(&spec.data_type, bytes)
                .map_err(|e| Error::Column { name: spec.name.to_string(), message: e.to_string() })?;
            row.push(value);
        }
        decoded.push(row);
    }
    Ok(Rows::new(names, decoded, warnings))
}
