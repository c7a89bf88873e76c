//! Prepared statements that clients know, by the cluster's own ids.
//!
//! The front end keeps what it needs to decide about an EXECUTE without asking: whether it changes anything, which markers
//! are the partition key, and the PREPARE itself, so that a node which does not know the statement can be told. All
//! front-end threads share one list. It is bounded in bytes; who was put out hears UNPREPARED and prepares again, as after
//! a restart of a node.

use crate::route::Class;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a statement takes besides its bytes.
const STATEMENT_BYTES: usize = 200;

#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    pub id: Box<[u8]>,
    /// The text.
    pub text: Box<str>,
    /// The keyspace that unqualified names in it are in.
    pub keyspace: Option<Arc<str>>,
    pub class: Class,
    /// The markers that are the columns of the partition key, in their order; empty if they are not all bound.
    pub partition_key: Box<[u16]>,
    /// The keyspace that it sets, if it is a USE.
    pub sets_keyspace: Option<Arc<str>>,
    /// It is answered here: the front end's own id.
    pub is_local: bool,
}

impl Statement {
    fn bytes(&self) -> usize {
        STATEMENT_BYTES + self.id.len() + self.text.len() + 2 * self.partition_key.len()
    }
}

#[derive(Debug)]
pub struct Statements {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_id: HashMap<Box<[u8]>, Arc<Statement>>,
    /// The oldest first.
    order: VecDeque<Box<[u8]>>,
    bytes: usize,
}

impl Statements {
    pub fn new(bytes_max: usize) -> Statements {
        Statements { bytes_max, kept: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, id: &[u8]) -> Option<Arc<Statement>> {
        self.lock().by_id.get(id).cloned()
    }

    pub fn keep(&self, statement: Statement) {
        let mut kept = self.lock();
        let statement = Arc::new(statement);
        kept.bytes += statement.bytes();
        match kept.by_id.insert(statement.id.clone(), statement.clone()) {
            Some(before) => kept.bytes -= before.bytes(),
            None => kept.order.push_back(statement.id.clone()),
        }
        while kept.bytes > self.bytes_max
            && kept.order.len() > 1
            && let Some(oldest) = kept.order.pop_front()
        {
            if let Some(gone) = kept.by_id.remove(&oldest) {
                kept.bytes -= gone.bytes();
            }
        }
    }

    pub fn len(&self) -> usize {
        self.lock().by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(id: u8, text: &str) -> Statement {
        Statement {
            id: [id].into(),
            text: text.into(),
            keyspace: None,
            class: Class::Read,
            partition_key: [].into(),
            sets_keyspace: None,
            is_local: false,
        }
    }

    #[test]
    fn the_oldest_makes_room_and_the_last_always_fits() {
        let statements = Statements::new(3 * (STATEMENT_BYTES + 11));
        for id in 0..3 {
            statements.keep(statement(id, "0123456789"));
        }
        statements.keep(statement(1, "0123456789"));
        assert_eq!(statements.len(), 3, "the same again takes no more room");
        statements.keep(statement(3, "0123456789"));
        assert!(statements.get(&[0]).is_none() && statements.get(&[3]).is_some());
        statements.keep(statement(4, &"x".repeat(10_000)));
        assert_eq!(statements.len(), 1);
        assert!(statements.get(&[4]).is_some());
    }
}
