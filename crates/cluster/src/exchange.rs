//! One request to a lane and its answer, for a caller that waits for it.

use crate::job::{Answer, Asker, Job, Task};
use crate::lane::Lane;
use crate::link::Link;
use crate::lost::Lost;
use crate::rows::Owned;
use crate::statements::Statement;
use cql_wire::{HEADER_BYTES, Opcode, Protocol, Request, Response};
use std::cell::RefCell;
use std::rc::Rc;
use tokio::sync::oneshot;

/// A request as its sender has it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub opcode: Opcode,
    pub flags: u8,
    pub body: Vec<u8>,
    pub task: Task,
    pub token: Option<i64>,
}

impl Asked {
    /// A request that is written here.
    pub fn of(request: &Request<'_>, protocol: Protocol, task: Task) -> Asked {
        let mut body = Vec::new();
        request.encode(protocol, 0, 0, &mut body);
        body.drain(..HEADER_BYTES.min(body.len()));
        Asked { opcode: request.opcode(), flags: 0, body, task, token: None }
    }
}

/// What came of a request, and the request.
pub struct Exchanged {
    pub job: Job,
    pub outcome: Result<Owned, Lost>,
}

struct Waiting {
    lane: crate::lane::LaneKey,
    sender: RefCell<Option<oneshot::Sender<Exchanged>>>,
}

impl Asker for Waiting {
    fn answered(&self, job: Job, answer: Answer<'_>) {
        let outcome = match answer {
            Answer::Node(reply) => Ok(Owned::of(self.lane.version, reply)),
            Answer::Lost(lost) => Err(lost),
        };
        if let Some(sender) = self.sender.borrow_mut().take() {
            // Who asked may have stopped waiting.
            let _ = sender.send(Exchanged { job, outcome });
        }
    }
}

/// Sends a request and waits for what comes of it; `None` only while the server stops.
pub async fn exchange(lane: &Rc<Lane>, asked: Asked) -> Option<Exchanged> {
    let Asked { opcode, flags, body, task, token } = asked;
    let (sender, receiver) = oneshot::channel();
    let asker = Rc::new(Waiting { lane: lane.key().clone(), sender: RefCell::new(Some(sender)) });
    lane.send(Job { opcode, flags, body, task, asker, stream: 0, token, again: 0 });
    receiver.await.ok()
}

/// Has the nodes of this lane prepare what another cluster has prepared: the same statement with their own id. `Err`: what they say
/// instead, or nothing.
pub async fn prepare_there(lane: &Rc<Lane>, statement: &Statement) -> Result<Statement, Option<Owned>> {
    let key = lane.key();
    let keyspace = match &statement.keyspace {
        same if *same == key.keyspace => None,
        Some(other) if key.version >= cql_wire::Version::V5 => Some(&**other),
        _ => return Err(None),
    };
    let request = Request::Prepare { query: &statement.text, keyspace };
    // A statement that is asked for again is told to the node by its text, so how it is prepared need not be known.
    let asked = Asked::of(&request, Protocol::new(key.version), Task::Ask);
    let answer = exchange(lane, asked).await.ok_or(None)?.outcome.map_err(|_| None)?;
    let prepared = answer.read(|response| match response {
        Response::Prepared(prepared) => Some(Statement {
            id: prepared.id.as_ref().into(),
            text: statement.text.clone(),
            keyspace: statement.keyspace.clone(),
            class: statement.class,
            partition_key: prepared.partition_key.as_ref().into(),
            sets_keyspace: None,
            is_local: false,
        }),
        _ => None,
    });
    match prepared {
        Ok(Some(prepared)) => Ok(prepared),
        _ => Err(Some(answer)),
    }
}
