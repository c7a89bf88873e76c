//! The one place where failures become protocol errors.
//!
//! Cassandra's class for every kind of failure; texts keep Cassandra's sentence first. Nothing about
//! paths or other tenants reaches a client: stored damage is logged and answered in general words.

use cql::CqlError;
use cql_wire::{Acknowledgements, Consistency, ErrorKind, ErrorMessage, WriteType};
use store::StoreError;

/// What was going on when it failed; some kinds carry it.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    pub consistency: Consistency,
    /// `None` for reads.
    pub write: Option<WriteType>,
}

impl Attempt {
    pub fn read(consistency: Consistency) -> Attempt {
        Attempt { consistency, write: None }
    }
}

pub fn error_message(error: &CqlError, attempt: Attempt) -> ErrorMessage {
    let kind = match error {
        CqlError::Syntax(_) => ErrorKind::Syntax,
        CqlError::Invalid(_) => ErrorKind::Invalid,
        CqlError::Config(_) => ErrorKind::Config,
        CqlError::Unauthorized(_) => ErrorKind::Unauthorized,
        CqlError::Protocol(_) => ErrorKind::Protocol,
        CqlError::Overloaded(_) => ErrorKind::Overloaded,
        CqlError::AlreadyExists { keyspace, table, .. } => {
            ErrorKind::AlreadyExists { keyspace: keyspace.clone(), table: table.clone() }
        }
        CqlError::FunctionFailure { keyspace, function, arguments, .. } => ErrorKind::FunctionFailure {
            keyspace: keyspace.clone(),
            function: function.clone(),
            argument_types: arguments.clone(),
        },
        CqlError::Store(error) => return store_error(error, attempt),
    };
    ErrorMessage::new(kind, error.to_string())
}

fn store_error(error: &StoreError, attempt: Attempt) -> ErrorMessage {
    let failed = |message: String| {
        let acknowledgements =
            Acknowledgements { consistency: attempt.consistency, received: 0, required: 1 };
        let failures = vec![(std::net::Ipv4Addr::LOCALHOST.into(), 0)];
        let kind = match attempt.write {
            Some(write_type) => ErrorKind::WriteFailure { acknowledgements, failures, write_type },
            None => ErrorKind::ReadFailure { acknowledgements, failures, data_present: false },
        };
        ErrorMessage::new(kind, message)
    };
    match error {
        StoreError::Refused(_) => {
            ErrorMessage::new(ErrorKind::Invalid, CqlError::from(error.clone()).to_string())
        }
        StoreError::Overloaded(what) => ErrorMessage::new(
            ErrorKind::Overloaded,
            format!("The server is overloaded ({what}); try again later"),
        ),
        StoreError::TooManyTombstones { scanned, limit } => failed(format!(
            "Scanned over {scanned} tombstones; query aborted (see tombstone_failure_threshold, {limit}). Narrow the query, or wait for compaction to remove deleted rows"
        )),
        StoreError::PartitionFull(_) => ErrorMessage::new(ErrorKind::Invalid, error.to_string()),
        // The reason names a file; it is in the log, and operators have that.
        StoreError::ReadOnly { .. } => failed(
            "Writes are stopped because the commit log failed (see the server's log); reads still work. Fix the disk and restart the server".into(),
        ),
        StoreError::UnknownTable(_) => {
            ErrorMessage::new(ErrorKind::Invalid, "The table was dropped meanwhile")
        }
        StoreError::Unknown => unknown(attempt),
        StoreError::Closed => ErrorMessage::new(ErrorKind::Overloaded, "The server is shutting down"),
        StoreError::Corrupt { .. } | StoreError::Io { .. } => {
            tracing::error!(%error, "a request met damaged or unreadable data");
            failed("Stored data could not be read; see the server's log for the file".into())
        }
    }
}

/// A timeout: drivers and applications know that such a write may have happened.
fn unknown(attempt: Attempt) -> ErrorMessage {
    let acknowledgements = Acknowledgements { consistency: attempt.consistency, received: 0, required: 1 };
    let kind = match attempt.write {
        Some(write_type) => ErrorKind::WriteTimeout { acknowledgements, write_type, contentions: 0 },
        None => ErrorKind::ReadTimeout { acknowledgements, data_present: false },
    };
    ErrorMessage::new(kind, "Operation timed out - received only 0 responses.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_class() {
        let attempt = Attempt { consistency: Consistency::One, write: Some(WriteType::Simple) };
        let store = |e| CqlError::Store(e);
        let cases: Vec<(CqlError, i32)> = vec![
            (CqlError::Syntax("s".into()), 0x2000),
            (CqlError::Invalid("s".into()), 0x2200),
            (CqlError::Config("s".into()), 0x2300),
            (CqlError::Unauthorized("s".into()), 0x2100),
            (CqlError::Protocol("s".into()), 0x000A),
            (CqlError::Overloaded("s".into()), 0x1001),
            (
                CqlError::AlreadyExists { keyspace: "k".into(), table: "t".into(), message: "m".into() },
                0x2400,
            ),
            (store(StoreError::TooManyTombstones { scanned: 2, limit: 1 }), 0x1500),
            (store(StoreError::ReadOnly { reason: "full".into() }), 0x1500),
            (store(StoreError::UnknownTable(store::TableId(1))), 0x2200),
            (store(StoreError::Unknown), 0x1100),
            (store(StoreError::Closed), 0x1001),
            (store(StoreError::Io { context: "x".into() }), 0x1500),
        ];
        for (error, code) in cases {
            assert_eq!(error_message(&error, attempt).kind.code(), code, "{error}");
        }
        let read = Attempt::read(Consistency::One);
        let error = store(StoreError::TooManyTombstones { scanned: 2, limit: 1 });
        assert_eq!(error_message(&error, read).kind.code(), 0x1300);
    }

    #[test]
    fn paths_do_not_reach_clients() {
        let file = "/secret/path".to_string();
        let error = CqlError::Store(StoreError::Corrupt { file, offset: 1, what: "x".into() });
        assert!(!error_message(&error, Attempt::read(Consistency::One)).message.contains("secret"));
        let error = CqlError::Store(StoreError::ReadOnly { reason: "/secret/path/log: no space".into() });
        let write = Attempt { consistency: Consistency::One, write: Some(WriteType::Simple) };
        assert!(!error_message(&error, write).message.contains("secret"));
    }
}
