//! A request on its way to a node, and who hears its answer.

use crate::lost::Lost;
use crate::route::Class;
use crate::statements::Statement;
use cql_wire::Opcode;
use std::rc::Rc;
use std::sync::Arc;

/// What a request asks, as far as the link must know: how to send it again, and whether it may.
#[derive(Clone, Debug)]
pub enum Task {
    /// A text.
    Query(Class),
    Execute(Arc<Statement>),
    /// The prepared statements in it.
    Batch(Vec<Arc<Statement>>),
    /// Its answer is a prepared statement.
    Prepare(Box<Preparing>),
    /// REGISTER, OPTIONS and what a front end asks for itself.
    Ask,
}

/// What will be known of a statement besides what the node says of it.
#[derive(Clone, Debug)]
pub struct Preparing {
    pub class: Class,
    pub keyspace: Option<Arc<str>>,
    pub sets_keyspace: Option<Arc<str>>,
}

impl Task {
    /// Whether it changes nothing, so that it may be sent to another node when its answer is lost.
    pub fn may_repeat(&self) -> bool {
        match self {
            Task::Query(class) => *class == Class::Read,
            Task::Execute(statement) => statement.class == Class::Read,
            Task::Prepare(_) => true,
            Task::Batch(_) | Task::Ask => false,
        }
    }

    /// The prepared statement with this id.
    pub fn statement(&self, id: &[u8]) -> Option<&Arc<Statement>> {
        match self {
            Task::Execute(statement) => Some(statement).filter(|statement| *statement.id == *id),
            Task::Batch(statements) => statements.iter().find(|statement| *statement.id == *id),
            Task::Query(_) | Task::Prepare(_) | Task::Ask => None,
        }
    }
}

/// A request: the client's body as it came, and what its answer needs.
pub struct Job {
    pub opcode: Opcode,
    /// Header flags of the client; compression is the connection's own business.
    pub flags: u8,
    pub body: Vec<u8>,
    pub task: Task,
    pub asker: Rc<dyn Asker>,
    /// The client's stream, for the asker.
    pub stream: i16,
    /// Of the partition key, if it is known.
    pub token: Option<i64>,
    /// How often it was sent again: to another node, or after a statement was prepared once more.
    pub again: u16,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("opcode", &self.opcode)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

impl Job {
    pub fn answer(self, answer: Answer<'_>) {
        let asker = self.asker.clone();
        asker.answered(self, answer);
    }
}

/// What a node said, undecoded.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    pub flags: u8,
    pub opcode: Opcode,
    pub body: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    Node(Reply<'a>),
    Lost(Lost),
}

/// Who hears answers. Called once per job, possibly before the call that sent the job returns.
pub trait Asker {
    fn answered(&self, job: Job, answer: Answer<'_>);
}
