//! Reads of partitions that another shard owns: executed there, answered here.
//!
//! Rows that travel between shards are written down, read back and collected a second time. So the request itself travels: the
//! owner executes it as one of its own and sends back the finished rows. Requests that arrived together travel together, and
//! their answers come back together: what a parcel costs is paid once for all that is in it.
//!
//! Guarantees: every request of a parcel is answered once, by what its owner read or, where the owner could not read it at once,
//! by the long way (`handle`). What answers of a parcel hold on their way is counted before it is sent.

use super::handle::{self, Head, InFlight, Owned};
use super::{Peer, Pending, reply};
use crate::cql::answers::{Room, SMALL_BYTES};
use crate::cql::errors::Attempt;
use crate::cql::statements::Statement;
use crate::metrics::Operation;
use crate::shard::Shard;
use cql::CqlError;
use cql::session::{Answer, Response, Session};
use cql_wire::{Envelope, Opcode, Protocol, QueryParams, Request, Value};
use futures_util::stream::{FuturesUnordered, StreamExt};
use query::Values;
use rt::turn::Party;
use std::rc::Rc;
use std::time::Instant;
use store::{Prompt, StoreError};
use tokio::sync::oneshot;

/// Requests of a parcel: as many as are executed in about a tenth of a millisecond, so that the owner's own clients do not notice.
const REQUESTS_MAX: usize = 64;
/// Answers of a parcel may be as large as so many small ones.
const ROOMS_MAX: usize = 4;
/// Keys up to this length are hashed where they lie together; longer ones take the long way.
const KEY_BYTES_MAX: usize = 256;
/// Requests that the owner executes between two looks at the clock.
const LOOKS: usize = 16;

/// Which shard owns the partition that a read names, if its values say so by themselves and it is not `here`.
pub fn owner(statement: &Statement, params: &QueryParams<'_>, shards: usize, here: usize) -> Option<usize> {
    let markers = &statement.prepared.partition_markers[..];
    if markers.is_empty() || params.values.is_named() {
        return None;
    }
    let mut key = [0u8; KEY_BYTES_MAX];
    let mut len = 0;
    for marker in markers {
        let Value::Bytes(value) = params.values.iter().nth(usize::from(*marker))? else { return None };
        if markers.len() == 1 {
            return elsewhere(value, shards, here);
        }
        let part = key.get_mut(len..len + 2 + value.len() + 1)?;
        part[..2].copy_from_slice(&(value.len() as u16).to_be_bytes());
        part[2..2 + value.len()].copy_from_slice(value);
        len += part.len();
    }
    elsewhere(&key[..len], shards, here)
}

fn elsewhere(key: &[u8], shards: usize, here: usize) -> Option<usize> {
    let owner = model::token::murmur3(key).shard(shards as u32) as usize;
    (owner != here).then_some(owner)
}

/// What stays here of a request until its answer comes back.
struct Sent {
    head: Head,
    statement: Rc<Statement>,
    attempt: Attempt,
    known_id: Option<Box<[u8]>>,
    skip_metadata: bool,
    _in_flight: InFlight,
}

/// Requests for one shard, side by side.
#[derive(Default)]
struct Bodies {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Bodies {
    fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }
}

#[derive(Default)]
struct Parcel {
    sent: Vec<Sent>,
    bodies: Bodies,
}

/// Requests of a connection that wait to be sent; by shard.
#[derive(Default)]
pub struct Outgoing {
    parcels: Vec<Parcel>,
    waiting: usize,
}

/// One request that another shard is to execute.
pub struct Leaving<'a> {
    pub owner: usize,
    pub head: Head,
    pub body: &'a [u8],
    pub statement: Rc<Statement>,
    pub attempt: Attempt,
    pub known_id: Option<&'a [u8]>,
    pub skip_metadata: bool,
}

impl Outgoing {
    /// Puts a request aside until [`Outgoing::send`].
    pub fn put(&mut self, shard: &Rc<Shard>, peer: &Rc<Peer>, leaving: Leaving<'_>) {
        let Leaving { owner, head, body, statement, attempt, known_id, skip_metadata } = leaving;
        if self.parcels.len() <= owner {
            self.parcels.resize_with(owner + 1, Parcel::default);
        }
        let parcel = &mut self.parcels[owner];
        parcel.bodies.bytes.extend_from_slice(body);
        parcel.bodies.ends.push(parcel.bodies.bytes.len());
        let known_id = known_id.map(Box::from);
        let _in_flight = InFlight::enter(shard, peer, body.len());
        parcel.sent.push(Sent { head, statement, attempt, known_id, skip_metadata, _in_flight });
        self.waiting += 1;
    }

    /// Whether a parcel is as large as it may become.
    pub fn is_full(&self) -> bool {
        self.waiting >= REQUESTS_MAX
    }

    /// Sends what waits; each future ends when a parcel's answers are in the outbox.
    pub fn send(&mut self, shard: &Rc<Shard>, peer: &Rc<Peer>, party: Party, mut each: impl FnMut(Pending)) {
        if self.waiting == 0 {
            return;
        }
        self.waiting = 0;
        for (owner, parcel) in self.parcels.iter_mut().enumerate() {
            if !parcel.sent.is_empty() {
                let parcel = std::mem::take(parcel);
                each(Box::pin(parcel.travel(shard.clone(), peer.clone(), owner, party)));
            }
        }
    }
}

impl Parcel {
    async fn travel(self, shard: Rc<Shard>, peer: Rc<Peer>, owner: usize, party: Party) {
        let began = Instant::now();
        let Parcel { sent, bodies } = self;
        let room = shard.answers().small_now(&peer.quota, sent.len().min(ROOMS_MAX));
        let (sender, receiver) = oneshot::channel();
        let protocol = sent[0].head.protocol;
        let session = peer.session.borrow().clone();
        let bytes_left = room.as_ref().map_or(0, |room| room.bytes);
        let outcomes = Vec::with_capacity(sent.len());
        let visit = Visit { protocol, session, party, bodies, outcomes, bytes_left, sender };
        // Only a server that is about to end has no such shard any more, and then nobody waits for an answer.
        if shard.shared.cql.mail.send(owner, Box::new(move |owner| visit.begin(owner))).is_err() {
            return refuse_all(&shard, &peer, sent);
        }
        match receiver.await {
            Ok(back) => answer_all(&shard, &peer, sent, back, began, room).await,
            Err(_) => refuse_all(&shard, &peer, sent),
        }
    }
}

fn refuse_all(shard: &Shard, peer: &Peer, sent: Vec<Sent>) {
    for Sent { head, attempt, .. } in sent {
        let failure = handle::Failure::Query(StoreError::Closed.into(), attempt);
        reply::failure(shard, peer, head, failure, None);
    }
}

/// What the owner made of the requests; `None`: it could not read it at once, or there was no room.
type Outcomes = Vec<Option<Result<Answer, CqlError>>>;

/// What comes back.
struct Back {
    bodies: Bodies,
    outcomes: Outcomes,
}

/// Puts answers into the outbox. Those that the owner could not give at once are read the long way, behind the others.
async fn answer_all(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    sent: Vec<Sent>,
    back: Back,
    began: Instant,
    room: Option<Room>,
) {
    debug_assert_eq!(sent.len(), back.outcomes.len());
    let micros = began.elapsed().as_micros() as u64;
    let mut later = FuturesUnordered::new();
    for (at, (sent, outcome)) in sent.into_iter().zip(back.outcomes).enumerate() {
        let Some(outcome) = outcome else {
            let request =
                Owned { head: sent.head, opcode: Opcode::Execute, body: back.bodies.get(at).into() };
            drop(sent);
            later.push(handle::run(shard.clone(), peer.clone(), request));
            continue;
        };
        shard.metrics().record(Operation::Read, micros);
        sent.statement.took(micros, 1);
        answer(shard, peer, sent, outcome);
    }
    // Small answers need no room once they are there, as long as the outbox stays small.
    if peer.outbox.borrow().len() > super::WRITE_BYTES {
        peer.rooms.borrow_mut().extend(room);
    }
    while later.next().await.is_some() {}
}

fn answer(shard: &Shard, peer: &Peer, sent: Sent, outcome: Result<Answer, CqlError>) {
    let Sent { head, statement, attempt, known_id, skip_metadata, _in_flight } = sent;
    match outcome {
        Ok(answer) => {
            let (rows, bytes) = answer.size();
            statement.answered(rows, bytes);
            let metadata = reply::Metadata::Prepared { known_id: known_id.as_deref(), skip: skip_metadata };
            reply::answer(shard, peer, head, None, &statement, answer, metadata);
        }
        Err(error) => {
            statement.failed(error.is_overload());
            reply::failure(shard, peer, head, handle::Failure::Query(error, attempt), None);
        }
    }
}

/// A parcel on the shard that owns its partitions.
struct Visit {
    protocol: Protocol,
    session: Session,
    party: Party,
    bodies: Bodies,
    outcomes: Outcomes,
    /// For answers.
    bytes_left: usize,
    sender: oneshot::Sender<Back>,
}

impl Visit {
    /// Executes the requests; what takes longer than a turn goes on as a task that gives way.
    fn begin(mut self, shard: &Rc<Shard>) {
        let began = Instant::now();
        while self.outcomes.len() < self.bodies.ends.len() {
            let looks = self.outcomes.len() % LOOKS == LOOKS - 1;
            if looks && (began.elapsed() > handle::TURN || rt::turn::is_over()) {
                rt::turn::worked(began.elapsed());
                let party = self.party;
                tokio::task::spawn_local(rt::turn::paced(party, self.go_on(shard.clone())));
                return;
            }
            self.execute_next(shard);
        }
        rt::turn::worked(began.elapsed());
        self.go_back();
    }

    async fn go_on(mut self, shard: Rc<Shard>) {
        // Whoever asked may have gone meanwhile.
        while self.outcomes.len() < self.bodies.ends.len() && !self.sender.is_closed() {
            self.execute_next(&shard);
            if rt::turn::is_over() {
                rt::turn::give_way().await;
            }
        }
        self.go_back();
    }

    fn go_back(self) {
        let Visit { bodies, mut outcomes, sender, .. } = self;
        outcomes.resize_with(bodies.ends.len(), || None);
        // A client that has gone needs no answer.
        let _ = sender.send(Back { bodies, outcomes });
    }

    fn execute_next(&mut self, shard: &Rc<Shard>) {
        let outcome = self.execute(shard, self.outcomes.len());
        if let Some(Ok(answer)) = &outcome {
            self.bytes_left = self.bytes_left.saturating_sub(answer.size().1 as usize);
        }
        self.outcomes.push(outcome);
    }

    /// Reads as [`super::at_once`] does for clients of this shard.
    fn execute(&self, shard: &Rc<Shard>, at: usize) -> Option<Result<Answer, CqlError>> {
        if self.bytes_left == 0 {
            return None;
        }
        let (version, body) = (self.protocol.version, self.bodies.get(at));
        let envelope = Envelope { version, flags: 0, stream: 0, opcode: Opcode::Execute, body };
        let Ok(Request::Execute { id, params, .. }) = Request::decode(self.protocol, &envelope) else {
            return None;
        };
        let statement = shard.statement(id)?;
        let values = handle::bind_values(&statement, &params.values).ok()?;
        let mut request = handle::request(shard, &params, Values(&values));
        request.account = statement.account();
        request.result_bytes_max = Some(self.bytes_left.min(SMALL_BYTES));
        let dialect = &shard.dialect;
        let read = || dialect.read_now(&self.session, &statement.prepared, request);
        let outcome = dialect.store.only_here(read)?;
        let rows = match &outcome {
            Ok(Answer { response: Response::Rows(rows), .. }) => Ok(rows),
            Ok(_) => return None,
            // Its rows may have moved to another generation of the table: the long way looks again.
            Err(CqlError::Store(StoreError::UnknownTable(_))) => return None,
            Err(error) => Err(error),
        };
        (!request.outgrown(rows)).then_some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_lie_side_by_side() {
        let bodies = Bodies { bytes: b"onetwothree".to_vec(), ends: vec![3, 6, 6, 11] };
        let all: Vec<&[u8]> = (0..4).map(|at| bodies.get(at)).collect();
        assert_eq!(all, [&b"one"[..], b"two", b"", b"three"]);
    }
}
