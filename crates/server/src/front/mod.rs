//! A front end: the CQL listener before somebody else's cluster.
//!
//! It keeps no data and has no engine. Clients speak to it as to a node; what they ask goes to the cluster as they wrote it,
//! except for the tables that tell drivers where the nodes are, which name the front end. Writes are refused until the
//! operator lets them through. Accepting, places among the connections, TLS and limits are those of the other listeners;
//! nothing of the embedded engine's path is in here, nor the other way round.

mod connection;
mod dial;
mod http;
mod local;
mod login;
mod mirror;
mod peer;
mod request;
mod start;

pub use start::FrontEnd;

use crate::accept::{Place, Served};
use crate::config::{Auth, Cluster, Config, Limits};
use crate::stream::Stream;
use cluster::{Counters, Door, Heard, Login, Statements};
use local::Local;
use observe::Counter;
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::broadcast;

/// What all threads of a front end share.
pub struct Shared {
    pub config: Config,
    pub cluster: Cluster,
    /// The account that everybody uses where clients do not log in, and the front end itself always.
    pub login: Option<Arc<Login>>,
    pub statements: Arc<Statements>,
    pub events: broadcast::Sender<Heard>,
    /// By thread.
    pub threads: Vec<ThreadCounters>,
    pub refused_connections: AtomicU64,
    /// The second cluster of a migration.
    pub mirror: Option<Arc<mirror::Mirror>>,
}

impl Shared {
    fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Whether clients log in, each as a role of the cluster.
    fn wants_login(&self) -> bool {
        self.config.auth == Auth::Password
    }
}

/// Where refused connections are counted.
struct Refusals(Arc<Shared>);

impl AsRef<AtomicU64> for Refusals {
    fn as_ref(&self) -> &AtomicU64 {
        &self.0.refused_connections
    }
}

/// What one thread has done.
#[derive(Default)]
pub struct ThreadCounters {
    pub link: Arc<Counters>,
    pub connections: Counter,
    pub forwarded: Counter,
    pub local: Counter,
    /// Writes on a front end that is read-only, and what only the embedded engine has.
    pub refused: Counter,
    pub errors: Counter,
}

/// What one thread of a front end serves with.
pub struct FrontShard {
    pub index: usize,
    pub shared: Arc<Shared>,
    pub door: Rc<Door>,
    pub local: Local,
    pub mirror: Option<mirror::MirrorShard>,
    /// The answer to OPTIONS.
    pub supported: Vec<(String, Vec<String>)>,
    /// Bytes of answers that clients have not taken yet.
    pub held: Cell<usize>,
    /// Bytes of requests that nodes have not answered yet.
    pub asked: Cell<usize>,
}

impl FrontShard {
    pub fn counters(&self) -> &ThreadCounters {
        &self.shared.threads[self.index]
    }
}

/// Serves a client until it leaves.
fn serve(shard: Rc<FrontShard>, stream: Stream, address: SocketAddr, place: Place) -> Served {
    Box::pin(connection::Connection::new(shard, stream, address, place).run())
}
