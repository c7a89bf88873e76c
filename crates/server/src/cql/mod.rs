//! The CQL listener: connections that speak the native protocol, their statements, their answers.
//!
//! Everything that only CQL needs is in this folder. What every listener shares (accepting, places among the
//! connections, TLS, stopping) is outside it; another protocol is another folder beside this one, with a [`Serve`] of its own.
//!
//! [`Serve`]: crate::accept::Serve

mod answers;
mod clients;
mod connection;
pub mod errors;
mod outcome;
mod parsing;
mod prepare;
mod statements;
mod traces;
pub mod wire_type;

pub use clients::LiveTables;

use crate::accept::{Place, Served};
use crate::config::Config;
use crate::shard::Shard;
use crate::stream::Stream;
use answers::Answers;
use clients::Clients;
use connection::Connection;
use cql_wire::Event;
use rt::{Inbox, Mail};
use statements::{Bound, Registry};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use tokio::sync::broadcast;
use traces::Traces;

/// Events that wait for a slow connection before it misses some.
const EVENTS_MAX: usize = 256;

/// What CQL's connections on all shards share.
pub struct AllShards {
    pub registry: Registry,
    pub clients: Clients,
    /// By shard.
    pub answers: Vec<Answers>,
    /// Topology, status and schema events for clients that registered.
    pub events: broadcast::Sender<Event>,
    /// The SUPPORTED answer, without the per-shard key.
    pub supported: Vec<(String, Vec<String>)>,
    pub traces: Traces,
    /// How shards reach each other.
    pub mail: Mail<Errand>,
    /// By shard; each takes its own when it starts.
    inboxes: Mutex<Vec<Option<Inbox<Errand>>>>,
}

/// Work that one shard's connections send to another shard.
pub type Errand = Box<dyn FnOnce(&Rc<Shard>) + Send>;

/// Does what connections of other shards ask for; ends with the server. To be spawned once on each shard.
pub async fn run_errands(shard: Rc<Shard>) {
    let inbox = {
        let mut inboxes = shard.shared.cql.inboxes.lock().unwrap_or_else(PoisonError::into_inner);
        inboxes.get_mut(shard.index).and_then(Option::take)
    };
    let Some(mut inbox) = inbox else { return };
    while let Some(errand) = inbox.receive().await {
        if rt::turn::is_over() {
            tokio::task::yield_now().await;
        }
        // Whoever waits for the answer is told that there is none; the shard goes on.
        if catch_unwind(AssertUnwindSafe(|| errand(&shard))).is_err() {
            tracing::error!(
                shard = shard.index,
                "a request of another shard panicked; see the message above"
            );
        }
    }
}

impl AllShards {
    pub fn new(config: &Config) -> AllShards {
        let (mail, inboxes) = rt::mail(config.shards);
        let port = config.shard_aware.map(|address| address.port());
        AllShards {
            registry: Registry::new(config.limits.statement_bytes_max),
            clients: Clients::default(),
            answers: (0..config.shards).map(|_| room_for_answers(config)).collect(),
            events: broadcast::channel(EVENTS_MAX).0,
            traces: Traces::default(),
            mail,
            inboxes: Mutex::new(inboxes.into_iter().map(Some).collect()),
            supported: connection::offered(config.shards, port, config.tls.is_some()),
        }
    }
}

/// What CQL's connections on one shard share.
pub struct OneShard {
    pub bound: Bound,
}

impl OneShard {
    pub fn new(config: &Config) -> OneShard {
        OneShard { bound: Bound::new(config.limits.statement_bytes_max) }
    }
}

/// Serves a client that speaks CQL until it leaves.
pub fn serve(shard: Rc<Shard>, stream: Stream, address: SocketAddr, place: Place) -> Served {
    Box::pin(Connection::new(shard, stream, address, place).run())
}

fn room_for_answers(config: &Config) -> Answers {
    let limits = crate::shard::query_limits(config);
    Answers::new(config.limits.answer_bytes_max, limits.page_bytes_max, limits.unpaged_bytes_max())
}
