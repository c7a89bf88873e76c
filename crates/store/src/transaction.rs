//! Transactions that read before they write: which rows they need, and what they decide.
//!
//! A dialect whose every write depends on what is there (DynamoDB's conditions, updates, indexes and streams) gives the store
//! the rows that it must see and a [`Decide`]. The store locks the rows, reads them, lets it decide, and commits the
//! decision as one record. A decision is a pure function of the rows, the ballot and its own content, so that a store of several
//! nodes can run it anywhere and write "if the rows are still those that were read".
//!
//! Rows are locked one by one, not whole partitions: a transaction excludes transactions on the same rows, nothing else. Tables
//! written by transactions are not to be written by conditional commits as well. Mutations may go to other rows, of
//! any table. Two transactions cannot write such a row at once, because both want the row that it follows (an index entry
//! follows its item).

use crate::TableId;
use crate::error::StoreError;
use crate::mutation::Mutation;
use model::key::PartitionKey;
use model::row::RowView;

/// A row that a decision needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedRow {
    pub table: TableId,
    pub key: PartitionKey,
    pub clustering: Vec<u8>,
}

/// Rows, and what to decide about them.
#[derive(Clone, Debug)]
pub struct Transaction<D> {
    /// At least one. The transaction is run where the first of them lives.
    pub rows: Vec<WantedRow>,
    pub decide: D,
    /// Decides what is live.
    pub now_seconds: u32,
}

/// What is known when a transaction is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The timestamp for all mutations: above those of all earlier transactions on the same rows.
    pub ballot: i64,
    /// Where it is decided. Two transactions never have both the same ballot and the same place.
    pub place: u32,
    pub now_seconds: u32,
}

/// A pure function from current rows to mutations.
pub trait Decide: Send + 'static {
    /// What the caller gets, once the mutations are durable.
    type Outcome: Send + 'static;

    /// The rows come in the order in which they were wanted; `None`: not there. Without mutations nothing is committed.
    fn decide(
        self,
        rows: &[Option<RowView<'_>>],
        moment: Moment,
    ) -> Result<(Self::Outcome, Vec<Mutation>), StoreError>;
}

/// What the mutations of exclusive work are stamped with until they have their ballot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    pub provisional_timestamp: i64,
    pub now_seconds: u32,
}

/// How far transactions have got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// Every transaction with a ballot up to this one is applied or never will be, and no later one gets such a ballot.
    pub settled: i64,
    /// No ballot above this one was given before.
    pub given: i64,
}
