//! The connection on which a front end hears of its cluster: which nodes there are, and what changes in the schema.

use crate::contact::Contact;
use crate::handshake::{Dial, Login, OpenError, Opened, Wanted, open};
use crate::job::{Answer, Job, Reply};
use crate::lost::Lost;
use crate::node::{Node, Topology};
use crate::rows::{AskError, Row, ask, rows};
use crate::upstream::{Owner, Upstream, run};
use cql_wire::{ErrorKind, Event, EventKind, Request, SchemaChange, Version};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// After an event, so that several are one look; nodes need a moment anyway to tell of each other.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// Events can be missed.
const LOOK_EVERY: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_secs(1);
/// How often, and with which pauses, it is looked whether nodes agree before clients hear of a change: 5 s.
const AGREE_LOOKS: u32 = 25;
const AGREE_PAUSE: Duration = Duration::from_millis(200);

/// What clients may want to know.
#[derive(Clone, Debug)]
pub enum Heard {
    Schema(SchemaChange),
    /// The schema changed while nobody listened: whoever knows it must look again.
    Gap,
}

/// How the cluster is found.
pub struct Control {
    pub contacts: Vec<Contact>,
    pub dial: Rc<dyn Dial>,
    pub login: Option<Arc<Login>>,
    /// `None`: that of the node that answers first.
    pub data_center: Option<String>,
}

/// A control connection that is open.
pub struct Listening {
    upstream: Rc<Upstream>,
    events: mpsc::UnboundedReceiver<Event>,
    running: tokio::task::JoinHandle<()>,
    at: Contact,
    supported: Vec<(String, Vec<String>)>,
}

struct Tell(mpsc::UnboundedSender<Event>);

impl Owner for Tell {
    fn unprepared(&self, _: &Rc<Upstream>, job: Job, _: &[u8], reply: Reply<'_>) {
        job.answer(Answer::Node(reply));
    }

    fn event(&self, event: Event) {
        // Nobody listens any more when the connection is being left.
        let _ = self.0.send(event);
    }

    fn lost(&self, _: &Rc<Upstream>, jobs: Vec<Job>) {
        jobs.into_iter().for_each(|job| job.answer(Answer::Lost(Lost::Broken)));
    }
}

impl Control {
    /// Reaches one of the contacts and learns what the cluster is.
    pub async fn begin(&self) -> Result<(Listening, Topology), OpenError> {
        self.reach(&self.contacts).await
    }

    async fn reach(&self, contacts: &[Contact]) -> Result<(Listening, Topology), OpenError> {
        let mut last = OpenError::Io("no contact is named".into());
        for contact in contacts {
            let reached = async {
                let listening = self.listen(contact).await?;
                let topology = self.look(&listening).await;
                let topology = topology.map_err(|error| OpenError::Unexpected(error.to_string()))?;
                Ok((listening, topology))
            };
            match reached.await {
                Ok(reached) => return Ok(reached),
                Err(error) => {
                    tracing::debug!(%contact, %error, "the cluster was not reached here");
                    last = error;
                }
            }
        }
        Err(last)
    }

    /// Opens the connection in the newest version that the node speaks, and registers for events.
    async fn listen(&self, at: &Contact) -> Result<Listening, OpenError> {
        let mut opened = None;
        for version in [Version::V5, Version::V4, Version::V3] {
            let wanted = Wanted { version, login: self.login.clone(), keyspace: None, ask_options: true };
            match open(&*self.dial, at, &wanted).await {
                Ok(found) => {
                    opened = Some((version, found));
                    break;
                }
                Err(OpenError::Refused(error))
                    if error.kind == ErrorKind::Protocol && version > Version::V3 => {}
                Err(error) => return Err(error),
            }
        }
        let Some((version, opened)) = opened else { return Err(OpenError::TimedOut) };
        let Opened { halves, codec, supported } = opened;
        let opened = Opened { halves, codec, supported: Vec::new() };
        let (sender, events) = mpsc::unbounded_channel();
        let upstream = Rc::new(Upstream::new(version));
        let running = {
            let upstream = upstream.clone();
            tokio::task::spawn_local(async move {
                run(upstream, opened, Rc::new(Tell(sender))).await;
            })
        };
        let register = Request::Register(EventKind::ALL.into_iter().collect());
        ask(&upstream, &register).await.map_err(|error| OpenError::Unexpected(error.to_string()))?;
        Ok(Listening { upstream, events, running, at: at.clone(), supported })
    }

    async fn look(&self, listening: &Listening) -> Result<Topology, AskError> {
        let upstream = &listening.upstream;
        let local = rows(upstream, "SELECT * FROM system.local WHERE key = 'local'").await?;
        let local = local.into_iter().next().ok_or(AskError::Unexpected("system.local is empty".into()))?;
        // Cassandra 3 and ScyllaDB have only the older table.
        let peers = match rows(upstream, "SELECT * FROM system.peers_v2").await {
            Ok(peers) => peers,
            Err(AskError::Error(_)) => rows(upstream, "SELECT * FROM system.peers").await?,
            Err(error) => return Err(error),
        };
        let port = listening.at.port;
        let mut all: Vec<Node> = peers.iter().filter_map(|row| node(row, port)).collect();
        let own = node(&local, port).ok_or(AskError::Unexpected("system.local has no address".into()))?;
        let data_center = self.data_center.clone().unwrap_or_else(|| own.data_center.clone());
        all.push(own);
        let partitioner = text(&local, "partitioner");
        let mut topology = Topology::new(all, &data_center, &partitioner);
        topology.cluster_name = text(&local, "cluster_name");
        topology.cql_version = text(&local, "cql_version");
        let versions = listening.supported.iter().find(|(key, _)| key == "PROTOCOL_VERSIONS");
        topology.protocol_versions = versions.map(|(_, values)| values.clone()).unwrap_or_default();
        Ok(topology)
    }

    /// Listens for as long as the front end lives; tells of nodes through `topology` and of the schema through `tell`.
    pub async fn run(
        self,
        mut listening: Listening,
        topology: watch::Sender<Arc<Topology>>,
        tell: impl Fn(Heard),
    ) {
        loop {
            self.follow(&mut listening, &topology, &tell).await;
            listening.upstream.close();
            let known = topology.borrow().clone();
            tracing::warn!(node = %listening.at, "the connection that tells of the cluster's changes was lost");
            let before = known.all.iter().find(|node| node.address.port() == listening.at.port);
            let before = schema_of(&known, &listening.at).or(before.map(|node| node.schema_version));
            let (next, found) = loop {
                tokio::time::sleep(PAUSE).await;
                let mut contacts: Vec<Contact> = known
                    .nodes
                    .iter()
                    .map(|n| Contact { host: n.address.ip().to_string(), port: n.address.port() })
                    .collect();
                // Not the one that was just lost, if there are others.
                contacts.sort_by_key(|contact| *contact == listening.at);
                contacts.extend(self.contacts.iter().cloned());
                if let Ok(reached) = self.reach(&contacts).await {
                    break reached;
                }
            };
            if before.is_some() && schema_of(&found, &next.at).is_some_and(|now| Some(now) != before) {
                tell(Heard::Gap);
            }
            tracing::info!(node = %next.at, "the cluster's changes are heard again");
            listening = next;
            publish(&topology, found);
        }
    }

    /// Waits until the nodes that this one knows have its schema: who hears of a change reads it, from any node. Nodes that are down
    /// keep nobody waiting for long.
    async fn agree(&self, listening: &Listening) {
        for _ in 0..AGREE_LOOKS {
            match agreed_schema(&listening.upstream, true).await {
                Ok(None) => tokio::time::sleep(AGREE_PAUSE).await,
                _ => return,
            }
        }
    }

    /// Until the connection is lost.
    async fn follow(
        &self,
        listening: &mut Listening,
        topology: &watch::Sender<Arc<Topology>>,
        tell: &impl Fn(Heard),
    ) {
        let mut look_in = LOOK_EVERY;
        loop {
            tokio::select! {
                event = listening.events.recv() => match event {
                    None => return,
                    Some(Event::Schema(change)) => {
                        let mut changes = vec![change];
                        self.agree(listening).await;
                        // Those that came meanwhile are of nodes that agree now, or are told again soon enough.
                        while let Ok(event) = listening.events.try_recv() {
                            changes.extend(match event {
                                Event::Schema(change) => Some(change),
                                _ => None,
                            });
                        }
                        changes.into_iter().for_each(|change| tell(Heard::Schema(change)));
                        look_in = LOOK_AFTER;
                        continue;
                    }
                    Some(Event::Topology { .. } | Event::Status { .. }) => {
                        look_in = LOOK_AFTER;
                        continue;
                    }
                },
                () = tokio::time::sleep(look_in) => {}
                _ = &mut listening.running => return,
            }
            let looked = tokio::time::timeout(LOOK_EVERY, self.look(listening)).await;
            match looked {
                Ok(Ok(found)) => publish(topology, found),
                Ok(Err(AskError::Lost(_))) | Err(_) => return,
                Ok(Err(error)) => tracing::warn!(%error, "the nodes of the cluster could not be read"),
            }
            look_in = LOOK_EVERY;
        }
    }
}

fn schema_of(topology: &Topology, at: &Contact) -> Option<[u8; 16]> {
    let here = |node: &&Node| node.address.ip().to_string() == at.host && node.address.port() == at.port;
    topology.all.iter().find(here).map(|node| node.schema_version)
}

fn publish(topology: &watch::Sender<Arc<Topology>>, found: Topology) {
    topology.send_if_modified(|known| {
        let changed = **known != found;
        if changed {
            if known.nodes.len() != found.nodes.len() {
                tracing::info!(nodes = found.nodes.len(), all = found.all.len(), "the cluster has changed");
            }
            *known = Arc::new(found);
        }
        changed
    });
}

/// The schema of this node; with `others`, only if those that it knows have the same.
pub async fn agreed_schema(upstream: &Upstream, others: bool) -> Result<Option<Vec<u8>>, AskError> {
    let version = |row: &Row| row.get("schema_version").cloned();
    let own = rows(upstream, "SELECT schema_version FROM system.local WHERE key = 'local'").await?;
    let own = own.first().and_then(version);
    if !others {
        return Ok(own);
    }
    let others = rows(upstream, "SELECT schema_version FROM system.peers").await?;
    let agrees = others.iter().filter_map(version).all(|other| Some(&other) == own.as_ref());
    Ok(own.filter(|_| agrees))
}

fn text(row: &Row, column: &str) -> String {
    row.get(column).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

fn address(row: &Row, column: &str) -> Option<IpAddr> {
    let bytes = row.get(column)?;
    let address = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(&**bytes).ok()?),
        16 => IpAddr::from(<[u8; 16]>::try_from(&**bytes).ok()?),
        _ => return None,
    };
    (!address.is_unspecified()).then_some(address)
}

fn uuid(row: &Row, column: &str) -> [u8; 16] {
    row.get(column).and_then(|bytes| <[u8; 16]>::try_from(&**bytes).ok()).unwrap_or_default()
}

/// A node from its row in `system.local`, `system.peers_v2` or `system.peers`.
fn node(row: &Row, usual_port: u16) -> Option<Node> {
    let addresses = ["native_address", "rpc_address", "peer", "broadcast_address"];
    let ip = addresses.iter().find_map(|column| address(row, column))?;
    let port = ["native_port", "rpc_port"].iter().find_map(|column| {
        let bytes = <[u8; 4]>::try_from(&**row.get(*column)?).ok()?;
        u16::try_from(i32::from_be_bytes(bytes)).ok()
    });
    // A node that is only just joining has no tokens yet, and must not be asked.
    let tokens = tokens(row.get("tokens")?);
    Some(Node {
        address: SocketAddr::new(ip, port.unwrap_or(usual_port)),
        host_id: uuid(row, "host_id"),
        data_center: text(row, "data_center"),
        rack: text(row, "rack"),
        release_version: text(row, "release_version"),
        schema_version: uuid(row, "schema_version"),
        tokens,
    })
}

/// A set of texts that are numbers.
fn tokens(bytes: &[u8]) -> Vec<i64> {
    let mut reader = cql_wire::Reader::new(bytes);
    let Ok(count) = reader.length("number of tokens") else { return Vec::new() };
    let mut tokens = Vec::new();
    for _ in 0..count {
        let Ok(Some(token)) = reader.bytes("token") else { break };
        tokens.extend(std::str::from_utf8(token).ok().and_then(|text| text.parse::<i64>().ok()));
    }
    tokens
}
