//! What an execution needs besides its plan: the store, time, identifiers, the request's settings.

use crate::error::QueryError;
use crate::fault::ReadFault;
use crate::held::Held;
use crate::spec::Rows;
use crate::tenant::Gate;
use crate::values::Values;
use rt::Budget;
use sandbox::Sandbox;
use schema::Table;
use std::cell::RefCell;
use std::sync::Arc;
use store::naive::NaiveStore;
use store::{Account, Accounted, Store};

/// What expressions may use of their shard: identifiers, which the server backs with its clock and randomness, and a place to run
/// functions of users.
pub trait Ids {
    /// A fresh version-1 UUID, strictly increasing on this shard.
    fn timeuuid(&self) -> [u8; 16];
    /// A random version-4 UUID.
    fn uuid(&self) -> [u8; 16];
    /// Runs functions of users; `None`: they are kept and not run.
    fn sandbox(&self) -> Option<&Sandbox> {
        None
    }
}

impl<T: Ids + ?Sized> Ids for std::rc::Rc<T> {
    fn timeuuid(&self) -> [u8; 16] {
        (**self).timeuuid()
    }

    fn uuid(&self) -> [u8; 16] {
        (**self).uuid()
    }

    fn sandbox(&self) -> Option<&Sandbox> {
        (**self).sandbox()
    }
}

/// Makes up the rows of virtual (system) tables.
pub trait VirtualTables {
    /// A store that holds the current rows of `table` under its id.
    /// What `viewer` may not see is left out; without one everything is there.
    fn rows(&self, table: &Table, viewer: Option<&dyn Gate>) -> Result<NaiveStore, QueryError>;
}

/// The settings of one request, from the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub values: Values<'a>,
    /// Rows per page; `None` means unpaged.
    pub page_size: Option<u32>,
    pub paging_state: Option<&'a [u8]>,
    /// The client's default timestamp in microseconds.
    pub timestamp: Option<i64>,
    /// Server clock of this request: microseconds, strictly increasing on this shard.
    pub now_micros: i64,
    /// Decides every liveness question of the request (client-supplied in protocol v5).
    pub now_seconds: u32,
    /// The caller may not see the clear values of masked columns.
    pub masked: bool,
    /// What the rows of the answer may take, if less than the limits allow: a page ends there, see [`Request::outgrown`].
    pub result_bytes_max: Option<usize>,
    /// Where the work of its reads is counted.
    pub account: Option<&'a Arc<Account>>,
    /// Decides whose rows it may touch, in tables that have tenants.
    pub gate: Option<&'a dyn Gate>,
}

impl<'a> Request<'a> {
    pub fn new(values: Values<'a>, now_micros: i64) -> Request<'a> {
        let now_seconds = (now_micros / 1_000_000) as u32;
        Request {
            values,
            page_size: None,
            paging_state: None,
            timestamp: None,
            now_micros,
            now_seconds,
            masked: false,
            result_bytes_max: None,
            account: None,
            gate: None,
        }
    }

    /// For a read of this request.
    pub fn account(&self) -> Accounted {
        Accounted(self.account.cloned())
    }

    /// Whether the answer would have been another one with more room than `result_bytes_max`.
    pub fn outgrown<E: PartialEq + From<QueryError>>(&self, outcome: Result<&Rows, &E>) -> bool {
        let Some(bytes) = self.result_bytes_max else { return false };
        match (outcome, self.page_size) {
            (Ok(rows), Some(page_size)) => {
                rows.paging_state.is_some() && rows.count < page_size && rows.body.len() >= bytes
            }
            (Err(error), None) => *error == E::from(too_large(bytes)),
            _ => false,
        }
    }
}

/// The answer to an unpaged query whose result outgrows every bound.
pub fn too_large(bytes: usize) -> QueryError {
    ReadFault::ResultTooLarge { bytes_max: bytes }.into()
}

/// An unpaged result may be this many times as large as a page before it is refused.
const UNPAGED_FACTOR: usize = 32;

/// Limits of one request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A result page ends when its body passes this many bytes.
    pub page_bytes_max: usize,
    /// Entries examined between yields of the shard, and before a filtering page ends early.
    pub scan_entries: u64,
    pub tombstones_warn: u64,
    pub tombstones_fail: u64,
    pub batch_bytes_warn: usize,
    pub batch_bytes_fail: usize,
    /// Longest clustering key and longest indexed value that may be written.
    pub key_bytes_max: usize,
    pub index: IndexLimits,
}

/// How much of indexes is read to find out which one to follow.
#[derive(Clone, Copy, Debug)]
pub struct IndexLimits {
    /// Entries of each of several indexes that are read at first; then eight times as many, three times.
    pub turn: u64,
    /// Most entries of a range of values that are collected and sorted in one slice of the ring; fewer if few rows are wanted.
    pub range_entries: u64,
    /// What places of one index may take in memory at a time.
    pub places_bytes: usize,
}

impl Default for IndexLimits {
    fn default() -> IndexLimits {
        IndexLimits { turn: 64, range_entries: 256 << 10, places_bytes: 4 << 20 }
    }
}

impl Limits {
    /// What an answer without paging may grow to.
    pub fn unpaged_bytes_max(&self) -> usize {
        self.page_bytes_max.saturating_mul(UNPAGED_FACTOR)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            page_bytes_max: 8 << 20,
            scan_entries: 10_000,
            tombstones_warn: 1_000,
            tombstones_fail: 100_000,
            batch_bytes_warn: 5 << 10,
            batch_bytes_fail: 50 << 10,
            key_bytes_max: model::key::PARTITION_KEY_BYTES_MAX,
            index: IndexLimits::default(),
        }
    }
}

/// Everything a plan is executed with.
pub struct Context<'a, S: Store> {
    pub store: &'a S,
    pub virtuals: &'a dyn VirtualTables,
    pub ids: &'a dyn Ids,
    pub limits: Limits,
    /// What sorts and plans may hold together, with all other work of the server; `None`: it is not counted.
    pub memory: Option<&'a Budget>,
    pub request: Request<'a>,
    /// Sent to the client with the answer (and printed by cqlsh).
    pub warnings: RefCell<Vec<String>>,
}

impl<S: Store> Context<'_, S> {
    pub(crate) fn held(&self) -> Held {
        Held::of(self.memory)
    }

    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.borrow_mut().push(text.into());
    }
}
