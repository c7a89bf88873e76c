//! Starting and stopping a front end: the cluster is found, then clients are served.

use super::dial::Sockets;
use super::local::Local;
use super::mirror::{Mirror, MirrorShard};
use super::{FrontShard, Refusals, Shared, ThreadCounters, http, login, mirror, serve};
use crate::accept::{self, Arrival, Listener, Places, PlacesMax, Spread};
use crate::config::{Cluster, Config};
use crate::start::{StartError, reachable, seed};
use crate::tls::Certificates;
use crate::{descriptors, memory};
use cluster::{Control, Door, Statements, Topology};
use rt::ShardThreads;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, watch};

/// Schema changes that wait for a slow client before it is cut off.
const EVENTS_MAX: usize = 256;
/// Between two attempts to find the second cluster.
const THERE_PAUSE: Duration = Duration::from_secs(1);
/// Writes under way may take so long when the front end stops.
const WRITES_END: Duration = Duration::from_secs(10);

/// A running front end.
pub struct FrontEnd {
    listeners: Vec<(&'static str, SocketAddr)>,
    certificates: Option<Certificates>,
    stop: watch::Sender<bool>,
    threads: ShardThreads,
    http: Option<JoinHandle<()>>,
    mirror: Option<(Arc<Mirror>, JoinHandle<()>)>,
}

/// What the first thread has besides.
struct First {
    listener: Listener<FrontShard>,
    senders: Vec<mpsc::UnboundedSender<Arrival<FrontShard>>>,
    topology: watch::Sender<Arc<Topology>>,
    /// Of the second cluster.
    there: watch::Sender<Arc<Topology>>,
}

/// What a thread is made of.
struct Parts {
    index: usize,
    shared: Arc<Shared>,
    sockets: Sockets,
    arrivals: mpsc::UnboundedReceiver<Arrival<FrontShard>>,
    topology: watch::Receiver<Arc<Topology>>,
    /// The second cluster: how it is dialled, and its nodes.
    there: Option<(Sockets, watch::Receiver<Arc<Topology>>)>,
    first: Option<First>,
    certificates: Option<Certificates>,
    seed: u64,
}

impl FrontEnd {
    /// Finds the cluster, starts the threads, binds the listeners. Clients are served when this returns.
    pub fn start(mut config: Config, cluster: Cluster) -> Result<FrontEnd, StartError> {
        config.limits = descriptors::within(config.limits, descriptors::raise(), config.shards);
        config.limits = memory::divide(config.limits, config.shards).map_err(StartError)?.0;
        let certificates = config.tls.as_ref().map(Certificates::open).transpose().map_err(StartError)?;
        let sockets = Sockets::new(cluster.tls.as_ref()).map_err(StartError)?;
        let mirror = cluster.mirror.as_ref().map(Mirror::open).transpose().map_err(StartError)?;
        let over_there = cluster.mirror.as_ref().map(|mirror| Sockets::new(mirror.tls.as_ref()));
        let over_there = over_there.transpose().map_err(StartError)?;
        let socket = bind("cql", config.cql)?;
        config.cql = socket.local_addr().map_err(|e| StartError(e.to_string()))?;
        let http = config.http.map(|address| bind("http", address)).transpose()?;
        let threads = config.shards;
        let shared = Arc::new(Shared {
            login: cluster.login.clone().map(Arc::new),
            statements: Arc::new(Statements::new(config.limits.statement_bytes_max)),
            events: broadcast::channel(EVENTS_MAX).0,
            threads: (0..threads).map(|_| ThreadCounters::default()).collect(),
            refused_connections: Default::default(),
            mirror: mirror.clone(),
            cluster,
            config,
        });
        let (topology, known) = watch::channel(Arc::<Topology>::default());
        let (there, known_there) = watch::channel(Arc::<Topology>::default());
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| mpsc::unbounded_channel()).unzip();
        let listener = Listener { socket, spread: Spread::InTurn, serve };
        let mut first = Some(First { listener, senders, topology, there });
        let seed = seed();
        let parts = receivers.into_iter().enumerate().map(|(index, arrivals)| {
            Some(Parts {
                index,
                shared: shared.clone(),
                sockets: sockets.clone(),
                arrivals,
                topology: known.clone(),
                there: over_there.clone().map(|sockets| (sockets, known_there.clone())),
                first: first.take(),
                certificates: certificates.clone(),
                seed,
            })
        });
        let parts = Arc::new(Mutex::new(parts.collect::<Vec<_>>()));
        let (ready, started) = std::sync::mpsc::channel();
        let (stop, stopped) = watch::channel(false);
        let main = move |index: usize| {
            let parts = parts.lock().unwrap_or_else(PoisonError::into_inner)[index].take();
            let (ready, stopped) = (ready.clone(), stopped.clone());
            async move {
                if let Some(parts) = parts {
                    run(parts, ready, stopped).await;
                }
            }
        };
        let running = ShardThreads::start(threads, main).map_err(|e| StartError(format!("threads: {e}")))?;
        for _ in 0..threads {
            let outcome = started.recv().map_err(|_| StartError("a thread died while starting".into()))?;
            outcome.map_err(StartError)?;
        }
        let mut listeners = vec![("cql", shared.config.cql)];
        let http = match http {
            None => None,
            Some(socket) => {
                listeners.push(("http", socket.local_addr().map_err(|e| StartError(e.to_string()))?));
                Some(start_http(socket, &shared, certificates.clone(), known, stop.subscribe())?)
            }
        };
        let mirror = mirror.map(|mirror| {
            let thread = mirror::start_control(mirror.clone(), stop.subscribe());
            thread.map(|thread| (mirror, thread))
        });
        let mirror = mirror
            .transpose()
            .map_err(|e| StartError(format!("the control socket of the migration: {e}")))?;
        Ok(FrontEnd { listeners, certificates, stop, threads: running, http, mirror })
    }

    pub fn listeners(&self) -> &[(&'static str, SocketAddr)] {
        &self.listeners
    }

    /// Reads certificates and keys again.
    pub fn reload(&self) {
        match self.certificates.as_ref().map(Certificates::reload) {
            None => {}
            Some(Ok(())) => tracing::info!("reloaded: new connections get the new certificate"),
            Some(Err(error)) => {
                tracing::error!(%error, "the certificate was not reloaded; the one from before stays in use");
            }
        }
    }

    /// Stops serving. There is nothing to flush: what was acknowledged is in the cluster.
    pub fn stop(self) -> Result<(), StartError> {
        if let Some((mirror, _)) = &self.mirror {
            mirror.stop(WRITES_END);
        }
        self.stop.send_replace(true);
        let joined = self.threads.join();
        if let Some(http) = self.http
            && http.join().is_err()
        {
            tracing::error!("the http thread panicked");
        }
        if let Some((_, thread)) = self.mirror
            && thread.join().is_err()
        {
            tracing::error!("the thread of the migration's control socket panicked");
        }
        joined.map_err(|threads| StartError(format!("threads {threads:?} panicked")))
    }
}

fn bind(name: &str, address: SocketAddr) -> Result<TcpListener, StartError> {
    accept::listen(address).map_err(|e| {
        StartError(format!(
            "cannot listen on {address} for {name}: {e}. Is another server running? Choose another port with --{name}"
        ))
    })
}

fn start_http(
    socket: TcpListener,
    shared: &Arc<Shared>,
    certificates: Option<Certificates>,
    topology: watch::Receiver<Arc<Topology>>,
    mut stopped: watch::Receiver<bool>,
) -> Result<JoinHandle<()>, StartError> {
    let pages = http::router(shared.clone(), topology);
    let limits = shared.config.limits.clone();
    let stopping = async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    let thread = std::thread::Builder::new().name("http".into());
    let spawned =
        thread.spawn(move || crate::http::serve_pages(socket, pages, certificates, limits, stopping));
    spawned.map_err(|e| StartError(format!("threads: {e}")))
}

async fn run(
    parts: Parts,
    ready: std::sync::mpsc::Sender<Result<(), String>>,
    mut stopped: watch::Receiver<bool>,
) {
    let Parts { index, shared, sockets, arrivals, mut topology, there, first, certificates, seed } = parts;
    // Before anything else, the first thread finds the cluster; the others wait for it.
    let accepting = match first {
        None => {
            // The sender is gone if the first has failed, which has said why.
            let _ = topology.changed().await;
            None
        }
        Some(First { listener, senders, topology: publish, there: publish_there }) => {
            let cluster = &shared.cluster;
            let control = Control {
                contacts: cluster.contacts.clone(),
                dial: Rc::new(sockets.clone()),
                login: shared.login.clone(),
                data_center: cluster.data_center.clone(),
            };
            let (listening, found) = match control.begin().await {
                Ok(found) => found,
                Err(error) => {
                    let text = format!("the cluster cannot be reached: {error}");
                    let _ = ready.send(Err(text));
                    return;
                }
            };
            tell(&shared, &found);
            publish.send_replace(Arc::new(found));
            if let (Some(mirror), Some((sockets, _))) = (&shared.cluster.mirror, &there) {
                let control = Control {
                    contacts: mirror.contacts.clone(),
                    dial: Rc::new(sockets.clone()),
                    login: mirror.login.clone().map(Arc::new),
                    data_center: None,
                };
                tokio::task::spawn_local(find_there(control, publish_there));
            }
            let events = shared.events.clone();
            tokio::task::spawn_local(control.run(listening, publish, move |heard| {
                // Nobody listening is no error.
                let _ = events.send(heard);
            }));
            Some((listener, senders))
        }
    };
    let known = topology.borrow_and_update().clone();
    let config = &shared.config;
    let ip = config.advertise.unwrap_or_else(|| reachable(config.cql.ip()));
    let local = match Local::new(&known, SocketAddr::new(ip, config.cql.port()), index, seed) {
        Ok(local) => local,
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let link = shared.threads[index].link.clone();
    let mirror = shared.mirror.clone().zip(there).map(|(mirror, (sockets, nodes))| {
        // Its counters are the migration's own.
        MirrorShard::new(mirror, Rc::new(Door::new(Rc::new(sockets), nodes, Default::default())))
    });
    let shard = Rc::new(FrontShard {
        index,
        mirror,
        door: Rc::new(Door::new(Rc::new(sockets), topology, link)),
        local,
        supported: login::offered(&known),
        held: Default::default(),
        asked: Default::default(),
        shared: shared.clone(),
    });
    if shard.mirror.is_some() {
        tokio::task::spawn_local(mirror::unpark(shard.clone()));
    }
    if let Some((listener, senders)) = accepting {
        let limits = &shared.config.limits;
        let max = PlacesMax { all: limits.connections_max, per_address: limits.connections_per_address_max };
        let accepting = accept::accept_forever(listener, senders, Places::new(max), Refusals(shared.clone()));
        tokio::task::spawn_local(accepting);
    }
    let patience = shared.config.limits.handshake_timeout;
    // The starter waits for exactly one message per thread.
    let _ = ready.send(Ok(()));
    tokio::select! {
        () = accept::serve_arrivals(shard, arrivals, certificates, patience) => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
}

/// Finds the second cluster, however long that takes: until then, and whenever it is away, its writes are marked.
async fn find_there(control: Control, publish: watch::Sender<Arc<Topology>>) {
    let (listening, found) = loop {
        match control.begin().await {
            Ok(found) => break found,
            Err(error) => tracing::warn!(%error, "the second cluster of the migration cannot be reached"),
        }
        tokio::time::sleep(THERE_PAUSE).await;
    };
    tracing::info!(
        cluster = found.cluster_name,
        nodes = found.nodes.len(),
        "the second cluster of the migration is there"
    );
    publish.send_replace(Arc::new(found));
    // Whose clients hear of schema changes is the first cluster.
    control.run(listening, publish, |_| ()).await;
}

fn tell(shared: &Shared, found: &Topology) {
    let mode = if shared.cluster.writes {
        "reads and writes"
    } else {
        "read-only (--cluster-writes lets writes through)"
    };
    tracing::info!(
        cluster = found.cluster_name,
        version = found.release_version(),
        data_center = found.data_center,
        nodes = found.nodes.len(),
        all_nodes = found.all.len(),
        "front end of a cluster: {mode}"
    );
    if !found.agrees() {
        tracing::warn!("the nodes of the cluster do not agree on the schema");
    }
    if shared.cluster.login.is_some() && !shared.wants_login() {
        tracing::warn!(
            "everybody who can connect to this front end has the rights of its account on the cluster (--auth password asks clients for their own)"
        );
    }
}
