//! Starting and stopping: engine, shard threads, listeners.

use crate::accept::{self, Arrival, Inside, Listener, Places, PlacesMax, Spread};
use crate::audit::Audit;
use crate::config::{Config, Durability, Dynamo};
use crate::cql as cql_listener;
use crate::metrics::ShardMetrics;
use crate::shard::{Refusals, Shard, Shared, query_limits};
use crate::tls::Certificates;
use crate::{auth, control, descriptors, http, memory, pulse};
use cql::SchemaReview;
use cql::session::Dialect;
use cql::system::{NodeInfo, SystemTables};
use database::builds::keep_built;
use database::check::keep_checked;
use database::ids::ShardIds;
use database::retention::keep_dropping;
use database::row_ttl::keep_swept;
use database::spilling::keep_spilling;
use engine::{Engine, EngineOptions};
use rt::{Clock, RealDisk, ShardThreads, SystemClock};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, watch};

/// How much a crash of the machine may lose with `--durability periodic`.
const PERIODIC_SYNC_MS: u64 = 1_000;

/// Filling a spare log segment costs some 100 ms of disk time that the first requests should not wait for.
const WARM_UP_AFTER: std::time::Duration = std::time::Duration::from_secs(1);

/// The longest that stopping takes.
const STOP_MAX: std::time::Duration = std::time::Duration::from_secs(10);

/// Why the server does not start; the text is for the operator.
#[derive(Debug)]
pub struct StartError(pub String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

/// A running server.
pub struct Server {
    listeners: Vec<(&'static str, SocketAddr)>,
    stage: Arc<watch::Sender<Stage>>,
    certificates: Option<Certificates>,
    shared: Arc<Shared>,
    threads: ShardThreads,
    /// Threads that hold no data: metrics, control.
    side_threads: Vec<JoinHandle<()>>,
}

/// How far stopping has got. Shards stay alive until the engine is closed, because it flushes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Serving,
    Stopping,
    Closed,
}

struct Listeners {
    cql: TcpListener,
    shard_aware: Option<TcpListener>,
    http: Option<TcpListener>,
    dynamo: Option<TcpListener>,
}

/// What shard 0 accepts with.
struct Accepting {
    listeners: Vec<Listener<Shard>>,
    shards: Vec<mpsc::UnboundedSender<Arrival<Shard>>>,
    places: Places,
}

impl Server {
    /// Opens the data folder, starts the shards, binds the listeners. Clients are served when this
    /// returns.
    pub fn start(mut config: Config) -> Result<Server, StartError> {
        config.limits = descriptors::within(config.limits, descriptors::raise(), config.shards);
        let (limits, memory) = memory::divide(config.limits, config.shards).map_err(StartError)?;
        config.limits = limits;
        let certificates = config.tls.as_ref().map(Certificates::open).transpose().map_err(StartError)?;
        let sockets = bind(&config)?;
        let config = with_bound_addresses(config, &sockets)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (shared, audit_thread) = open(config, memory, &clock)?;
        let stage = Arc::new(watch::channel(Stage::Serving).0);
        let Listeners { cql, shard_aware, http, dynamo } = sockets;
        let listener = |socket, spread| Listener { socket, spread, serve: cql_listener::serve };
        let mut listeners = vec![listener(cql, Spread::InTurn)];
        listeners.extend(shard_aware.map(|socket| listener(socket, Spread::BySourcePort)));
        let serve = crate::dynamo::serve;
        listeners.extend(dynamo.map(|socket| Listener { socket, spread: Spread::InTurn, serve }));
        let threads = start_shards(&shared, clock, &stage, listeners, certificates.clone())?;
        let mut side_threads = start_control(&shared, &stage)?;
        side_threads.extend(audit_thread);
        side_threads.extend(
            http.map(|socket| start_http(socket, &shared, certificates.clone(), &stage)).transpose()?,
        );
        let config = &shared.config;
        let mut listeners = vec![("cql", config.cql)];
        listeners.extend(config.shard_aware.map(|address| ("cql-shard-aware", address)));
        listeners.extend(config.dynamo.as_ref().map(|dynamo| ("dynamo", dynamo.address)));
        listeners.extend(config.http.map(|address| ("http", address)));
        Ok(Server { listeners, stage, certificates, shared, threads, side_threads })
    }

    /// Names and addresses, with the ports that were really bound.
    pub fn listeners(&self) -> &[(&'static str, SocketAddr)] {
        &self.listeners
    }

    /// Reads again what may change while the server runs: certificates and keys, and roles and permissions that somebody
    /// wrote to their tables directly. Connections that are open stay as they are.
    pub fn reload(&self) {
        self.shared.catalogue.grants.advance();
        match self.certificates.as_ref().map(Certificates::reload) {
            None => tracing::info!("reloaded: roles and permissions are read again"),
            Some(Ok(())) => {
                tracing::info!("reloaded: new connections get the new certificate; roles are read again")
            }
            Some(Err(error)) => {
                tracing::error!(%error, "the certificate was not reloaded; the one from before stays in use");
            }
        }
    }

    /// Stops serving, lets the engine flush, waits for the threads; but not longer than 10 seconds. What is not done by
    /// then is cut off: the log has everything that was acknowledged.
    pub fn stop(self) -> Result<(), StartError> {
        self.stage.send_replace(Stage::Stopping);
        self.shared.passwords.close();
        let (ended, end) = std::sync::mpsc::channel();
        let (shared, threads, side_threads) = (self.shared, self.threads, self.side_threads);
        let waiting = std::thread::Builder::new().name("stop".into()).spawn(move || {
            // Nobody listens if it took too long.
            let _ = ended.send(join(&shared, threads, side_threads));
        });
        waiting.map_err(|e| StartError(format!("threads: {e}")))?;
        end.recv_timeout(STOP_MAX).unwrap_or_else(|_| {
            tracing::warn!(
                "stopping takes longer than {} s: what is left is cut off. Everything acknowledged is in the log and will \
                 be there after the next start",
                STOP_MAX.as_secs()
            );
            Ok(())
        })
    }
}

/// Waits for all threads.
fn join(shared: &Shared, threads: ShardThreads, side_threads: Vec<JoinHandle<()>>) -> Result<(), StartError> {
    let joined = threads.join();
    // Nobody is served any more: what is to be recorded has been.
    shared.audit.close();
    for thread in side_threads {
        let name = thread.thread().name().unwrap_or_default().to_owned();
        if thread.join().is_err() {
            tracing::error!(name, "a thread panicked");
        }
    }
    joined.map_err(|shards| StartError(format!("shards {shards:?} panicked")))
}

/// The engine, the catalogue, and all that shards share; and the thread of the audit log.
fn open(
    config: Config,
    memory: rt::Budget,
    clock: &Arc<dyn Clock>,
) -> Result<(Arc<Shared>, Option<JoinHandle<()>>), StartError> {
    let (engine, opened) = Engine::open(Arc::new(RealDisk), clock.clone(), engine_options(&config))
        .map_err(|e| StartError(e.to_string()))?;
    let catalogue = cql::open_catalogue(opened.catalogue.as_deref(), clock.micros())
        .map_err(|e| StartError(e.to_string()))?
        .reviewed_by(SchemaReview)
        .in_data_center(&config.data_center);
    let (audit, audit_thread) = Audit::start(config.audit.as_ref()).map_err(|e| {
        StartError(format!(
            "the audit log cannot be opened: {e}. Choose another folder with --audit, or say --audit off"
        ))
    })?;
    let shared = Shared {
        audit,
        traffic: database::traffic::Traffic::new(config.shards),
        findings: Default::default(),
        alerts: config.alerts.clone().map(crate::alerts::Alerts::to),
        otlp: config.otlp.clone().map(|settings| Arc::new(crate::otlp::Export::to(settings))),
        exemplars: Default::default(),
        memory,
        cql: cql_listener::AllShards::new(&config),
        dynamo: Arc::new(crate::dynamo::all_shards(&config)),
        keys_desk: crate::dynamo::keys_desk(),
        metrics: (0..config.shards).map(|_| ShardMetrics::default()).collect(),
        refused_connections: Default::default(),
        catalogue: Arc::new(catalogue),
        passwords: auth::Pool::start().map_err(|e| StartError(format!("threads: {e}")))?,
        inside: Default::default(),
        engine,
        config,
    };
    Ok((Arc::new(shared), audit_thread))
}

/// Starts a thread per shard and waits until all of them serve; the first accepts for all.
fn start_shards(
    shared: &Arc<Shared>,
    clock: Arc<dyn Clock>,
    stage: &Arc<watch::Sender<Stage>>,
    listeners: Vec<Listener<Shard>>,
    tls: Option<Certificates>,
) -> Result<ShardThreads, StartError> {
    let system = Arc::new(SystemTables::new(node_info(shared), shared.catalogue.clone()));
    system.set_live(Arc::new(cql_listener::LiveTables(shared.clone())));
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..shared.config.shards).map(|_| mpsc::unbounded_channel::<Arrival<Shard>>()).unzip();
    let mut intakes: Vec<_> =
        receivers.into_iter().map(|arrivals| Some(Intake { arrivals, accepting: None })).collect();
    let limits = &shared.config.limits;
    let per_address = limits.connections_per_address_max;
    let places = Places::new(PlacesMax { all: limits.connections_max, per_address });
    // Nobody else sets it.
    let _ = shared.inside.set(Inside::new(senders.clone(), places.clone(), cql_listener::serve));
    if let Some(Some(first)) = intakes.first_mut() {
        first.accepting = Some(Accepting { listeners, shards: senders, places });
    }
    let intakes = Arc::new(Mutex::new(intakes));
    let (ready, started) = std::sync::mpsc::channel();
    let seed = seed();
    let main = {
        let (shared, stage) = (shared.clone(), stage.clone());
        move |index: usize| {
            let parts = ShardParts {
                index,
                shared: shared.clone(),
                system: system.clone(),
                clock: clock.clone(),
                seed,
            };
            let intake = intakes.lock().unwrap_or_else(PoisonError::into_inner)[index].take();
            let (ready, stage, tls) = (ready.clone(), stage.clone(), tls.clone());
            async move {
                if let Some(intake) = intake {
                    run_shard(parts, intake, tls, ready, stage).await;
                }
            }
        }
    };
    let threads =
        ShardThreads::start(shared.config.shards, main).map_err(|e| StartError(format!("threads: {e}")))?;
    for _ in 0..shared.config.shards {
        let outcome = started.recv().map_err(|_| StartError("a shard died while starting".into()))?;
        outcome.map_err(StartError)?;
    }
    Ok(threads)
}

/// Serves metrics and the console on their own thread, so that they can be read while shards are busy.
fn start_http(
    socket: TcpListener,
    shared: &Arc<Shared>,
    certificates: Option<Certificates>,
    stage: &Arc<watch::Sender<Stage>>,
) -> Result<JoinHandle<()>, StartError> {
    let (shared, stopping) = (shared.clone(), stopping(stage));
    let thread = std::thread::Builder::new().name("http".into());
    let spawned = thread.spawn(move || http::serve(socket, shared, certificates, stopping));
    spawned.map_err(|e| StartError(format!("threads: {e}")))
}

/// Answers commands such as `partita backup`. A file system without sockets costs only them.
fn start_control(
    shared: &Arc<Shared>,
    stage: &Arc<watch::Sender<Stage>>,
) -> Result<Vec<JoinHandle<()>>, StartError> {
    let data = shared.config.data.clone();
    let socket = match control::bind(&data) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::warn!(%error, "no control socket: `partita backup` needs this server stopped");
            return Ok(Vec::new());
        }
    };
    let (engine, keys, stopping) = (shared.engine.clone(), shared.keys_desk.0.clone(), stopping(stage));
    let thread = std::thread::Builder::new().name("control".into());
    let spawned = thread.spawn(move || control::serve(socket, data, engine, keys, stopping));
    spawned.map(|thread| vec![thread]).map_err(|e| StartError(format!("threads: {e}")))
}

/// Done when the server stops. A sender that is gone means the same as one that says stop.
fn stopping(stage: &Arc<watch::Sender<Stage>>) -> impl Future<Output = ()> + Send + 'static {
    let mut stages = stage.subscribe();
    async move {
        let _ = stages.wait_for(|stage| *stage >= Stage::Stopping).await;
    }
}

/// Where a shard's connections come from.
struct Intake {
    arrivals: mpsc::UnboundedReceiver<Arrival<Shard>>,
    accepting: Option<Accepting>,
}

/// What a shard's thread is given to build itself from.
struct ShardParts {
    index: usize,
    shared: Arc<Shared>,
    system: Arc<SystemTables>,
    clock: Arc<dyn Clock>,
    seed: u64,
}

async fn run_shard(
    parts: ShardParts,
    intake: Intake,
    tls: Option<Certificates>,
    ready: std::sync::mpsc::Sender<Result<(), String>>,
    stage: Arc<watch::Sender<Stage>>,
) {
    let ShardParts { index, shared, system, clock, seed } = parts;
    let ids = Rc::new(ShardIds::new(clock, index, seed).running_functions(shared.config.functions));
    let limits = query_limits(&shared.config);
    let Some(store) = shared.engine.store(index) else {
        let _ = ready.send(Err(format!("the engine has no shard {index}")));
        return;
    };
    let passwords = Box::new(auth::Bcrypt(shared.passwords.clone()));
    let dialect =
        Dialect::new(store, shared.catalogue.clone(), system, Box::new(ids.clone()), limits, passwords)
            .limited_to(shared.memory.clone())
            .acting_as(shared.config.act_as);
    let cql = cql_listener::OneShard::new(&shared.config);
    let dynamo = dynamo::run::Dynamo::new(dialect.runtime.clone(), shared.dynamo.clone())
        .watched_by(Box::new(crate::dynamo::Traffic { shared: shared.clone(), shard: index }));
    let dynamo_keys = Default::default();
    let shard = Rc::new(Shard { index, dialect, ids, cql, dynamo, dynamo_keys, shared });
    let outcome = if index == 0 { bootstrap(&shard).await } else { Ok(()) };
    tokio::task::spawn_local(cql_listener::run_errands(shard.clone()));
    tokio::task::spawn_local(pulse::beat(shard.clone()));
    tokio::task::spawn_local(pulse::show_heat(shard.clone()));
    // The starter waits for exactly one message per shard; if it is gone, so is the server.
    let _ = ready.send(outcome);
    if index == 0 {
        tokio::task::spawn_local(crate::findings::watch(shard.clone()));
        let shared = shard.shared.clone();
        tokio::task::spawn_local(async move {
            if let Some(alerts) = &shared.alerts {
                alerts.deliver().await;
            }
        });
        let shared = shard.shared.clone();
        tokio::task::spawn_local(async move {
            if let Some(export) = &shared.otlp {
                export.deliver(&shared).await;
            }
        });
        tokio::task::spawn_local(crate::tenants::keep_measured(shard.clone()));
        tokio::task::spawn_local(crate::pressure::watch(shard.clone()));
        tokio::task::spawn_local(crate::usage::keep_counted(shard.clone()));
        tokio::task::spawn_local(crate::usage::keep_listed(shard.clone()));
        let (catalogue, store) = (shard.shared.catalogue.clone(), shard.dialect.store.clone());
        tokio::task::spawn_local(keep_built(catalogue.clone(), store.clone(), shard.ids.clone()));
        if let Some(every) = shard.shared.config.check_copies_every {
            let (catalogue, store, ids) = (catalogue.clone(), store.clone(), shard.ids.clone());
            tokio::task::spawn_local(keep_checked(catalogue, store, ids, every));
        }
        tokio::task::spawn_local(keep_spilling(store.clone()));
        let (own_catalogue, own_store) = (catalogue.clone(), store.clone());
        tokio::task::spawn_local(keep_swept(own_catalogue, own_store, shard.ids.clone()));
        tokio::task::spawn_local(keep_dropping(catalogue, store, shard.ids.clone()));
        tokio::task::spawn_local(crate::dynamo::keep_indexes(shard.clone()));
        tokio::task::spawn_local(crate::dynamo::keep_swept(shard.clone()));
        tokio::task::spawn_local(crate::dynamo::keep_keys(shard.clone()));
    }
    if let Some(Accepting { listeners, shards, places }) = intake.accepting {
        let engine = shard.shared.engine.clone();
        tokio::task::spawn_local(async move {
            tokio::time::sleep(WARM_UP_AFTER).await;
            engine.warm_up();
        });
        for listener in listeners {
            let (shards, places) = (shards.clone(), places.clone());
            let accepting = accept::accept_forever(listener, shards, places, Refusals(shard.shared.clone()));
            tokio::task::spawn_local(accepting);
        }
    }
    let mut stages = stage.subscribe();
    let handshake_timeout = shard.shared.config.limits.handshake_timeout;
    tokio::select! {
        () = accept::serve_arrivals(shard.clone(), intake.arrivals, tls, handshake_timeout) => {}
        _ = stages.wait_for(|stage| *stage >= Stage::Stopping) => {}
    }
    if index == 0 {
        shard.shared.engine.close().await;
        stage.send_replace(Stage::Closed);
    }
    // The sender lives in this scope, so waiting cannot fail.
    let _ = stages.wait_for(|stage| *stage == Stage::Closed).await;
}

/// What must exist before the first client: system tables in the store, the default superuser.
async fn bootstrap(shard: &Rc<Shard>) -> Result<(), String> {
    let store = &shard.dialect.store;
    shard.shared.catalogue.bootstrap(store).await.map_err(|e| e.to_string())?;
    crate::dynamo::tidy(shard).await;
    auth::bootstrap(shard).await.map_err(|e| e.to_string())
}

fn engine_options(config: &Config) -> EngineOptions {
    EngineOptions {
        shards: config.shards,
        durability: match config.durability {
            Durability::Sync => engine::Durability::Sync,
            Durability::Periodic => engine::Durability::Periodic { interval_ms: PERIODIC_SYNC_MS },
        },
        memtable_bytes_max: config.limits.memtable_bytes_max,
        cache_bytes_max: config.limits.cache_bytes_max,
        partition_bytes_warn: config.partition_bytes,
        ..EngineOptions::new(&config.data)
    }
}

fn node_info(shared: &Shared) -> NodeInfo {
    let config = &shared.config;
    NodeInfo {
        cluster_name: config.cluster_name.clone(),
        data_center: config.data_center.clone(),
        rack: config.rack.clone(),
        address: config.advertise.unwrap_or_else(|| reachable(config.cql.ip())),
        port: config.cql.port(),
        host_id: shared.catalogue.host_id(),
        shards: config.shards as u32,
        ..NodeInfo::default()
    }
}

/// Clients connect to what the system tables say. A server that listens on all addresses says the one that this machine
/// would use to reach others: a client on another machine could do nothing with the loopback address.
pub(crate) fn reachable(address: IpAddr) -> IpAddr {
    if !address.is_unspecified() {
        return address;
    }
    // Addresses set aside for documentation. Nothing is sent: connecting such a socket only looks up the route.
    let beyond: SocketAddr = match address {
        IpAddr::V4(_) => ([198, 51, 100, 1], 9).into(),
        IpAddr::V6(_) => ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9).into(),
    };
    let route = std::net::UdpSocket::bind((address, 0)).and_then(|socket| {
        socket.connect(beyond)?;
        socket.local_addr()
    });
    let found = route.map(|own| own.ip()).unwrap_or(address);
    tracing::info!(address = %found, "clients are told to connect to this address; --advertise chooses another");
    found
}

pub(crate) fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

fn bind(config: &Config) -> Result<Listeners, StartError> {
    let listen = |name: &str, address: SocketAddr| {
        accept::listen(address).map_err(|e| {
            StartError(format!("cannot listen on {address} for {name}: {e}. Is another server running? Choose another port with --{name}"))
        })
    };
    let shard_aware = config.shard_aware.map(|a| listen("cql-shard-aware", a)).transpose()?;
    Ok(Listeners {
        cql: listen("cql", config.cql)?,
        shard_aware,
        http: config.http.map(|a| listen("http", a)).transpose()?,
        dynamo: bind_dynamo(config.dynamo.as_ref())?,
    })
}

fn bind_dynamo(config: Option<&Dynamo>) -> Result<Option<TcpListener>, StartError> {
    let Some(config) = config else { return Ok(None) };
    let address = config.address;
    match accept::listen(address) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if config.is_wanted => Err(StartError(format!(
            "cannot listen on {address} for dynamo: {error}. Is another server running? Choose another port with --dynamo"
        ))),
        Err(error) => {
            tracing::warn!(
                %address, %error,
                "the DynamoDB API is NOT served: its usual address is taken. Choose another with --dynamo, or say --no-dynamo"
            );
            Ok(None)
        }
    }
}

fn with_bound_addresses(mut config: Config, sockets: &Listeners) -> Result<Config, StartError> {
    let address = |l: &TcpListener| l.local_addr().map_err(|e| StartError(e.to_string()));
    config.cql = address(&sockets.cql)?;
    config.shard_aware = sockets.shard_aware.as_ref().map(address).transpose()?;
    config.http = sockets.http.as_ref().map(address).transpose()?;
    let dynamo = sockets.dynamo.as_ref().map(address).transpose()?;
    config.dynamo = config.dynamo.take().zip(dynamo).map(|(dynamo, address)| Dynamo { address, ..dynamo });
    Ok(config)
}
