//! Connections to every node for one login, protocol version and keyspace: what these share decides what a node makes of a
//! client's bytes, so clients with the same three can share connections, and others cannot.
//!
//! A lane lives as long as a client uses it. Nodes are dialled at once and again when they are lost, with growing pauses; a
//! request goes to the node that owns its key, or in turn, and past nodes that are silent.

use crate::contact::Contact;
use crate::handshake::{Dial, Login, OpenError, Wanted, open};
use crate::job::{Answer, Asker, Job, Reply, Task};
use crate::link::Link;
use crate::lost::Lost;
use crate::node::{Node, Topology};
use crate::rows::ask;
use crate::statements::Statement;
use crate::upstream::{Owner, Upstream, run};
use cql_wire::{ErrorKind, ErrorMessage, Event, Opcode, Request, Response, Version};
use observe::Counter;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Lanes of one thread: each holds a connection to every node.
const LANES_MAX: usize = 64;
/// Pauses between two attempts to reach a node.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

const TICK: Duration = Duration::from_millis(500);
/// A node that owes answers and has said nothing for so long is asked whether it is there.
const PROBE_TICKS: u32 = 2;
/// A node that does not say so either gets no requests while there are others.
const SILENT_TICKS: u32 = 4;
/// And then its connection is given up: 30 s.
const DEAD_TICKS: u32 = 60;
/// No request waits longer: 65 s, a little more than Cassandra takes for its slowest (TRUNCATE, a minute).
const PATIENCE_TICKS: u32 = 130;

/// What was done, by one thread of a front end.
#[derive(Debug, Default)]
pub struct Counters {
    pub sent: Counter,
    pub answered: Counter,
    /// Statements that a node did not know and was told.
    pub prepared_again: Counter,
    /// Reads that were sent to another node because their answer was lost.
    pub sent_again: Counter,
    pub lost: Counter,
    pub overloaded: Counter,
    pub connections: Counter,
    pub connections_failed: Counter,
}

/// What clients must have in common to share connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LaneKey {
    pub version: Version,
    pub login: Option<Arc<Login>>,
    pub keyspace: Option<Arc<str>>,
}

/// All lanes of one thread.
pub struct Door {
    dial: Rc<dyn Dial>,
    topology: watch::Receiver<Arc<Topology>>,
    lanes: RefCell<HashMap<LaneKey, Weak<Lane>>>,
    pub counters: Arc<Counters>,
    next: Cell<usize>,
}

impl Door {
    pub fn new(
        dial: Rc<dyn Dial>,
        topology: watch::Receiver<Arc<Topology>>,
        counters: Arc<Counters>,
    ) -> Door {
        Door { dial, topology, lanes: RefCell::default(), counters, next: Cell::new(0) }
    }

    pub fn topology(&self) -> Arc<Topology> {
        self.topology.borrow().clone()
    }

    /// The lane with this key, when at least one of its nodes is connected.
    pub async fn lane(self: &Rc<Door>, key: LaneKey) -> Result<Rc<Lane>, OpenError> {
        let known = self.lanes.borrow().get(&key).and_then(Weak::upgrade);
        let lane = match known {
            Some(lane) => lane,
            None => self.open(key)?,
        };
        lane.ready().await?;
        Ok(lane)
    }

    /// The lane with this key, whether any of its nodes is connected or not.
    pub fn lane_at_once(self: &Rc<Door>, key: LaneKey) -> Result<Rc<Lane>, OpenError> {
        let known = self.lanes.borrow().get(&key).and_then(Weak::upgrade);
        known.map_or_else(|| self.open(key), Ok)
    }

    /// Whether others use this lane already. Who opens a new one is let in by the cluster, or not; who joins must be checked.
    pub fn knows(&self, key: &LaneKey) -> bool {
        self.lanes.borrow().get(key).is_some_and(|lane| lane.strong_count() > 0)
    }

    fn open(self: &Rc<Door>, key: LaneKey) -> Result<Rc<Lane>, OpenError> {
        let mut lanes = self.lanes.borrow_mut();
        lanes.retain(|_, lane| lane.strong_count() > 0);
        if lanes.len() >= LANES_MAX {
            let text = format!(
                "This front end has connections for {LANES_MAX} combinations of role, keyspace and protocol version already; \
                 qualify names instead of USE, or try again later"
            );
            return Err(OpenError::Refused(ErrorMessage::new(ErrorKind::Overloaded, text)));
        }
        let lane = Lane::start(self, key.clone());
        lanes.insert(key, Rc::downgrade(&lane));
        Ok(lane)
    }

    /// Whether the cluster lets this role in now.
    pub async fn check_login(&self, version: Version, login: Arc<Login>) -> Result<(), OpenError> {
        let wanted = Wanted { version, login: Some(login), keyspace: None, ask_options: false };
        let topology = self.topology();
        let mut last = OpenError::Io("no node of the cluster is known".into());
        for turn in 0..topology.nodes.len() {
            let at = self.next.get().wrapping_add(turn) % topology.nodes.len();
            match open(&*self.dial, &contact(&topology.nodes[at]), &wanted).await {
                Ok(_) => return Ok(()),
                Err(error @ (OpenError::Refused(_) | OpenError::LoginNeeded)) => return Err(error),
                Err(error) => last = error,
            }
        }
        self.next.set(self.next.get().wrapping_add(1));
        Err(last)
    }

    /// Nodes with an open connection of any lane, and the requests under way on each.
    pub fn in_flight(&self) -> Vec<(String, usize)> {
        let mut found: Vec<(String, usize)> = Vec::new();
        for lane in self.lanes.borrow().values().filter_map(Weak::upgrade) {
            for slot in &lane.state.borrow().slots {
                let Some(upstream) = slot.upstream() else { continue };
                let name = slot.node.address.to_string();
                match found.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count += upstream.in_flight(),
                    None => found.push((name, upstream.in_flight())),
                }
            }
        }
        found
    }
}

fn contact(node: &Node) -> Contact {
    Contact { host: node.address.ip().to_string(), port: node.address.port() }
}

/// A node as a lane sees it.
struct Slot {
    node: Node,
    upstream: RefCell<Option<Rc<Upstream>>>,
    /// Why it was not reached, last; `None` before the first attempt.
    failed: RefCell<Option<OpenError>>,
    retired: Cell<bool>,
    wake: Notify,
}

impl Slot {
    fn upstream(&self) -> Option<Rc<Upstream>> {
        self.upstream.borrow().clone().filter(|upstream| upstream.is_open())
    }

    /// The node is no longer wanted here: what is under way is answered as lost, and nobody dials again.
    fn retire(&self) {
        self.retired.set(true);
        if let Some(upstream) = self.upstream.borrow_mut().take() {
            upstream.close();
        }
        self.wake.notify_one();
    }
}

#[derive(Default)]
struct State {
    topology: Arc<Topology>,
    /// One for each of the topology's nodes, in their order.
    slots: Vec<Rc<Slot>>,
}

/// See the module.
pub struct Lane {
    key: LaneKey,
    dial: Rc<dyn Dial>,
    state: RefCell<State>,
    /// Something about a connection has changed.
    changed: Notify,
    next: Cell<usize>,
    counters: Arc<Counters>,
    itself: Weak<Lane>,
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.state.get_mut().slots.iter().for_each(|slot| slot.retire());
    }
}

impl Lane {
    fn start(door: &Rc<Door>, key: LaneKey) -> Rc<Lane> {
        let lane = Rc::new_cyclic(|itself| Lane {
            key,
            dial: door.dial.clone(),
            state: RefCell::default(),
            changed: Notify::new(),
            next: Cell::new(door.next.get()),
            counters: door.counters.clone(),
            itself: itself.clone(),
        });
        door.next.set(door.next.get().wrapping_add(1));
        let topology = door.topology.clone();
        lane.follow(&door.topology());
        tokio::task::spawn_local(follow(Rc::downgrade(&lane), topology));
        tokio::task::spawn_local(tick(Rc::downgrade(&lane)));
        lane
    }

    pub fn key(&self) -> &LaneKey {
        &self.key
    }

    /// Takes on the nodes that there are now, and lets go of those that there were.
    fn follow(&self, topology: &Arc<Topology>) {
        let mut state = self.state.borrow_mut();
        let mut before = std::mem::take(&mut state.slots);
        for node in &topology.nodes {
            let known = before.iter().position(|slot| slot.node.address == node.address);
            let slot = match known {
                Some(at) => before.swap_remove(at),
                None => {
                    let slot = Rc::new(Slot {
                        node: node.clone(),
                        upstream: RefCell::default(),
                        failed: RefCell::default(),
                        retired: Cell::new(false),
                        wake: Notify::new(),
                    });
                    tokio::task::spawn_local(keep_connected(self.itself.clone(), slot.clone()));
                    slot
                }
            };
            state.slots.push(slot);
        }
        state.topology = topology.clone();
        drop(state);
        before.iter().for_each(|slot| slot.retire());
    }

    /// Waits until a node is connected, or all have been tried in vain.
    pub async fn ready(&self) -> Result<(), OpenError> {
        loop {
            // Asked for before looking, so that no change is missed.
            let changed = self.changed.notified();
            {
                let state = self.state.borrow();
                if state.slots.iter().any(|slot| slot.upstream().is_some()) {
                    return Ok(());
                }
                let failures: Vec<OpenError> =
                    state.slots.iter().filter_map(|slot| slot.failed.borrow().clone()).collect();
                if failures.len() == state.slots.len() {
                    // A node that says no knows more than one that says nothing.
                    let told = failures.iter().find(|error| matches!(error, OpenError::Refused(_)));
                    let told = told.or(failures.first()).cloned();
                    return Err(told.unwrap_or(OpenError::Io("no node of the cluster is known".into())));
                }
            }
            changed.await;
        }
    }

    /// Waits until all nodes that are up say that they have the same schema; `false` after ten seconds of waiting. Each is asked: a
    /// node that has not heard of the change yet believes that all agree on the schema before it.
    pub async fn agree(&self) -> bool {
        let (all, here) = {
            let topology = &self.state.borrow().topology;
            (topology.all.len(), topology.nodes.len())
        };
        if all < 2 {
            return true;
        }
        // Nodes of other data centers are not connected; of those here that are not, nothing is expected.
        let others = all > here;
        for _ in 0..50 {
            let open: Vec<Rc<Upstream>> =
                self.state.borrow().slots.iter().filter_map(|slot| slot.upstream()).collect();
            if open.is_empty() {
                return false;
            }
            let mut versions = Vec::new();
            for upstream in &open {
                versions.push(crate::control::agreed_schema(upstream, others).await.unwrap_or(None));
            }
            if versions.iter().all(|version| version.is_some() && *version == versions[0]) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        false
    }

    fn lost(&self, jobs: Vec<Job>, lost: Lost) {
        for mut job in jobs {
            if job.task.may_repeat() && job.again == 0 {
                job.again += 1;
                self.counters.sent_again.add(1);
                self.send(job);
            } else {
                self.counters.lost.add(1);
                job.answer(Answer::Lost(lost));
            }
        }
    }
}

impl Link for Lane {
    fn send(&self, job: Job) {
        let mut job = Box::new(job);
        let mut connected = false;
        {
            let state = self.state.borrow();
            let count = state.slots.len();
            let owner = job.token.and_then(|token| state.topology.owner(token));
            let start = owner.unwrap_or_else(|| {
                let next = self.next.get();
                self.next.set(next.wrapping_add(1));
                next
            });
            // Past silent nodes first; if there are no others, even there.
            for silent in [false, true] {
                for turn in 0..count {
                    let slot = &state.slots[start.wrapping_add(turn) % count];
                    let upstream = slot.upstream.borrow();
                    let Some(upstream) = upstream.as_ref().filter(|upstream| upstream.is_open()) else {
                        continue;
                    };
                    if (upstream.silent_ticks() >= SILENT_TICKS) != silent {
                        continue;
                    }
                    connected = true;
                    match upstream.send(job) {
                        Ok(()) => {
                            self.counters.sent.add(1);
                            return;
                        }
                        Err(back) => job = back,
                    }
                }
            }
        }
        let lost = if connected { Lost::Full } else { Lost::NoNode };
        self.counters.overloaded.add(u64::from(connected));
        job.answer(Answer::Lost(lost));
    }
}

/// What connections of a lane tell it.
struct OfLane(Weak<Lane>);

impl Owner for OfLane {
    fn unprepared(&self, upstream: &Rc<Upstream>, job: Job, id: &[u8], reply: Reply<'_>) {
        let again_max = match &job.task {
            Task::Batch(statements) => statements.len() + 1,
            _ => 2,
        };
        let lane = self.0.upgrade();
        let statement = job.task.statement(id).filter(|_| usize::from(job.again) < again_max).cloned();
        let (Some(lane), Some(statement)) = (lane, statement) else {
            return job.answer(Answer::Node(reply));
        };
        let (flags, opcode, body) = (reply.flags, reply.opcode, reply.body.to_vec());
        let upstream = upstream.clone();
        tokio::task::spawn_local(async move {
            let mut job = job;
            if !prepare_again(&lane, &upstream, &statement).await {
                // The client's driver can do it, with what it knows.
                return job.answer(Answer::Node(Reply { flags, opcode, body: &body }));
            }
            lane.counters.prepared_again.add(1);
            job.again += 1;
            if let Err(job) = upstream.send(Box::new(job)) {
                // It was not done, whatever it is: another node may have it.
                lane.send(*job);
            }
        });
    }

    fn event(&self, _: Event) {}

    fn lost(&self, _: &Rc<Upstream>, jobs: Vec<Job>) {
        match self.0.upgrade() {
            Some(lane) => lane.lost(jobs, Lost::Broken),
            None => jobs.into_iter().for_each(|job| job.answer(Answer::Lost(Lost::Broken))),
        }
    }
}

/// Tells a node of a statement; `false` if it is another one for the node.
async fn prepare_again(lane: &Lane, upstream: &Upstream, statement: &Statement) -> bool {
    let keyspace = match &statement.keyspace {
        same if *same == lane.key.keyspace => None,
        Some(other) if lane.key.version >= Version::V5 => Some(&**other),
        _ => return false,
    };
    let request = Request::Prepare { query: &statement.text, keyspace };
    let Ok(answer) = ask(upstream, &request).await else { return false };
    let same = answer
        .read(|response| matches!(response, Response::Prepared(prepared) if *prepared.id == *statement.id));
    same.unwrap_or(false)
}

/// Dials a node again and again until it is retired.
async fn keep_connected(lane: Weak<Lane>, slot: Rc<Slot>) {
    let mut pause = PAUSE_MIN;
    loop {
        let Some((dial, key)) = lane.upgrade().map(|lane| (lane.dial.clone(), lane.key.clone())) else {
            return;
        };
        let LaneKey { version, login, keyspace } = key;
        let wanted = Wanted { version, login, keyspace, ask_options: false };
        let opened = open(&*dial, &contact(&slot.node), &wanted).await;
        if slot.retired.get() {
            return;
        }
        match opened {
            Ok(opened) => {
                let Some(owner) = lane.upgrade() else { return };
                pause = PAUSE_MIN;
                owner.counters.connections.add(1);
                let upstream = Rc::new(Upstream::new(version));
                *slot.upstream.borrow_mut() = Some(upstream.clone());
                *slot.failed.borrow_mut() = None;
                owner.changed.notify_waiters();
                drop(owner);
                let error = run(upstream, opened, Rc::new(OfLane(lane.clone()))).await;
                *slot.upstream.borrow_mut() = None;
                if slot.retired.get() {
                    return;
                }
                tracing::warn!(node = %slot.node, %error, "the connection to a node of the cluster broke; it is dialled again");
            }
            Err(error) => {
                tracing::debug!(node = %slot.node, %error, "a node of the cluster cannot be reached");
                let Some(owner) = lane.upgrade() else { return };
                owner.counters.connections_failed.add(1);
                *slot.failed.borrow_mut() = Some(error);
                owner.changed.notify_waiters();
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = slot.wake.notified() => {}
        }
        if slot.retired.get() {
            return;
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

async fn follow(lane: Weak<Lane>, mut topology: watch::Receiver<Arc<Topology>>) {
    while topology.changed().await.is_ok() {
        let Some(lane) = lane.upgrade() else { return };
        let now = topology.borrow_and_update().clone();
        lane.follow(&now);
    }
}

/// Nobody waits for the answer of a probe; that there is one is enough.
struct Nobody;

impl Asker for Nobody {
    fn answered(&self, _: Job, _: Answer<'_>) {}
}

fn probe() -> Job {
    Job {
        opcode: Opcode::Options,
        flags: 0,
        body: Vec::new(),
        task: Task::Ask,
        asker: Rc::new(Nobody),
        stream: 0,
        token: None,
        again: 0,
    }
}

/// The lane's clock.
async fn tick(lane: Weak<Lane>) {
    loop {
        tokio::time::sleep(TICK).await;
        let Some(lane) = lane.upgrade() else { return };
        let open: Vec<Rc<Upstream>> =
            lane.state.borrow().slots.iter().filter_map(|slot| slot.upstream()).collect();
        for upstream in open {
            let given_up = upstream.tick(PATIENCE_TICKS);
            if upstream.silent_ticks() == PROBE_TICKS {
                // Without room for it, there is enough to be answered already.
                let _ = upstream.send(Box::new(probe()));
            }
            if upstream.silent_ticks() >= DEAD_TICKS {
                upstream.close();
            }
            for job in given_up {
                lane.counters.lost.add(1);
                job.answer(Answer::Lost(Lost::Silent));
            }
        }
    }
}
