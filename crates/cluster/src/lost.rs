//! What became of a request that no node answered, as a fact and as the protocol's error.

use crate::job::{Job, Task};
use crate::route::Class;
use cql_wire::{
    Acknowledgements, BatchType, Consistency, Envelope, ErrorKind, ErrorMessage, Protocol, Request, Version,
    WriteType,
};

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// It was not sent: no node is connected.
    NoNode,
    /// It was not sent: every node has as many requests under way as it may.
    Full,
    /// It was sent, and the connection broke.
    Broken,
    /// It was sent, and the node has been silent for too long.
    Silent,
}

/// The error that tells a client what it must assume. A write that was sent and not answered may have happened: that is what
/// a write timeout says, and drivers and applications know what to do with one.
pub fn lost_error(job: &Job, version: Version, lost: Lost) -> ErrorMessage {
    let (consistency, batch) = asked(job, version);
    let acknowledgements = Acknowledgements { consistency, received: 0, required: 1 };
    let unknown = match lost {
        Lost::NoNode => {
            let text = "No node of the cluster is connected to this front end; it keeps trying";
            return ErrorMessage::new(ErrorKind::Unavailable { consistency, required: 1, alive: 0 }, text);
        }
        Lost::Full => {
            let text =
                "Every node has as many requests of this front end under way as it may have; try again later";
            return ErrorMessage::new(ErrorKind::Overloaded, text);
        }
        Lost::Broken => "The connection to the node broke before it answered",
        Lost::Silent => "The node did not answer in time",
    };
    let read = ErrorKind::ReadTimeout { acknowledgements, data_present: false };
    let write = |write_type| ErrorKind::WriteTimeout { acknowledgements, write_type, contentions: 0 };
    let class = match &job.task {
        Task::Query(class) => *class,
        Task::Execute(statement) => statement.class,
        Task::Batch(_) => Class::Write,
        Task::Prepare(_) | Task::Ask => Class::Other,
    };
    let may_have = "; whether it happened is not known";
    match class {
        Class::Read => ErrorMessage::new(read, unknown),
        Class::Conditional => ErrorMessage::new(write(WriteType::Cas), format!("{unknown}{may_have}")),
        Class::Write => {
            let write_type = match batch {
                None => WriteType::Simple,
                Some(BatchType::Logged) => WriteType::Batch,
                Some(BatchType::Unlogged) => WriteType::UnloggedBatch,
                Some(BatchType::Counter) => WriteType::Counter,
            };
            ErrorMessage::new(write(write_type), format!("{unknown}{may_have}"))
        }
        Class::Other if matches!(job.task, Task::Prepare(_)) => ErrorMessage::new(ErrorKind::Server, unknown),
        Class::Other => ErrorMessage::new(ErrorKind::Server, format!("{unknown}{may_have}")),
    }
}

/// The level that the client asked for, and which kind of batch it is.
fn asked(job: &Job, version: Version) -> (Consistency, Option<BatchType>) {
    let envelope = Envelope { version, flags: job.flags, stream: 0, opcode: job.opcode, body: &job.body };
    match Request::decode(Protocol::new(version), &envelope) {
        Ok(Request::Query { params, .. } | Request::Execute { params, .. }) => (params.consistency, None),
        Ok(Request::Batch(batch)) => (batch.params.consistency, Some(batch.batch_type)),
        _ => (Consistency::One, None),
    }
}
