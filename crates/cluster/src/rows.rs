//! What a front end asks the cluster for itself: one request, its answer decoded.

use crate::job::{Answer, Asker, Job, Reply, Task};
use crate::lost::Lost;
use crate::upstream::Upstream;
use cql_wire::{
    Consistency, Envelope, ErrorMessage, HEADER_BYTES, Opcode, Protocol, QueryParams, Request, Response,
    Version,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tokio::sync::oneshot;

/// An answer that outlives its connection's buffer.
pub struct Owned {
    version: Version,
    flags: u8,
    opcode: Opcode,
    body: Vec<u8>,
}

/// Why there are no rows.
#[derive(Debug)]
pub enum AskError {
    Lost(Lost),
    Error(ErrorMessage),
    Unexpected(String),
}

impl std::fmt::Display for AskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AskError::Lost(lost) => write!(f, "no answer: {lost:?}"),
            AskError::Error(error) => f.write_str(&error.message),
            AskError::Unexpected(what) => write!(f, "unexpected answer: {what}"),
        }
    }
}

/// Waits for one answer.
struct Once {
    version: Version,
    sender: RefCell<Option<oneshot::Sender<Result<Owned, Lost>>>>,
}

impl Asker for Once {
    fn answered(&self, _: Job, answer: Answer<'_>) {
        let owned = match answer {
            Answer::Node(reply) => Ok(Owned::of(self.version, reply)),
            Answer::Lost(lost) => Err(lost),
        };
        if let Some(sender) = self.sender.borrow_mut().take() {
            // Who asked may have gone.
            let _ = sender.send(owned);
        }
    }
}

impl Owned {
    pub(crate) fn of(version: Version, reply: Reply<'_>) -> Owned {
        Owned { version, flags: reply.flags, opcode: reply.opcode, body: reply.body.to_vec() }
    }

    /// As the node said it.
    pub fn reply(&self) -> Reply<'_> {
        Reply { flags: self.flags, opcode: self.opcode, body: &self.body }
    }

    pub fn read<T>(&self, read: impl FnOnce(&Response<'_>) -> T) -> Result<T, AskError> {
        let envelope = Envelope {
            version: self.version,
            flags: self.flags,
            stream: 0,
            opcode: self.opcode,
            body: &self.body,
        };
        let (_, response) = Response::decode(Protocol::new(self.version), &envelope)
            .map_err(|error| AskError::Unexpected(error.to_string()))?;
        match response {
            Response::Error(error) => Err(AskError::Error(error)),
            response => Ok(read(&response)),
        }
    }
}

/// Sends one request on this connection and waits for its answer.
pub async fn ask(upstream: &Upstream, request: &Request<'_>) -> Result<Owned, AskError> {
    let version = upstream.version();
    let mut plain = Vec::new();
    request.encode(Protocol::new(version), 0, 0, &mut plain);
    plain.drain(..HEADER_BYTES);
    let (sender, receiver) = oneshot::channel();
    let job = Job {
        opcode: request.opcode(),
        flags: 0,
        body: plain,
        task: Task::Ask,
        asker: Rc::new(Once { version, sender: RefCell::new(Some(sender)) }),
        stream: 0,
        token: None,
        again: 0,
    };
    upstream.send(Box::new(job)).map_err(|_| AskError::Lost(Lost::Full))?;
    receiver.await.map_err(|_| AskError::Lost(Lost::Broken))?.map_err(AskError::Lost)
}

/// A row by the names of its columns; nulls are left out.
pub type Row = HashMap<String, Vec<u8>>;

/// The rows of a query that has few.
pub async fn rows(upstream: &Upstream, query: &str) -> Result<Vec<Row>, AskError> {
    let request = Request::Query { query, params: QueryParams::new(Consistency::One) };
    let answer = ask(upstream, &request).await?;
    answer.read(|response| match response {
        Response::Rows(rows) => {
            let cells: Vec<_> = rows.iter_cells().collect();
            let row = |cells: &[Option<&[u8]>]| {
                let named = rows.columns.iter().zip(cells);
                named
                    .filter_map(|(column, cell)| Some((column.name.to_string(), (*cell)?.to_vec())))
                    .collect()
            };
            Ok(cells.chunks(rows.column_count.max(1)).map(row).collect())
        }
        other => Err(AskError::Unexpected(other.opcode().to_string())),
    })?
}
