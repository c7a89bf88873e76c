//! Prepared statements: a registry that all shards share, and each shard's bound copies.
//!
//! A client may prepare on one connection and execute on another, on another shard. The registry
//! keeps texts by id behind a lock that is taken only when a shard meets an id for the first time;
//! executing finds the bound plan in the shard's own map. Both are bounded by bytes.

use crate::audit::{Category, Rules};
use crate::otlp::{Export, Span};
use cql::prepared::Prepared;
use cql_wire::{ColumnSpec, Version, WrittenColumns};
use database::traffic::Observed;
use schema::Catalogue;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use store::Account;

pub type StatementId = [u8; 16];

/// What it takes to bind a statement again.
#[derive(Clone, Debug)]
pub struct Source {
    pub keyspace: Option<Arc<str>>,
    pub text: Arc<str>,
    pub described: Described,
    /// The tables it was bound to. A table that was dropped takes its statements with it, even if another of its name
    /// follows.
    pub tables: Arc<[u32]>,
}

impl Source {
    /// Whether all its tables are still there.
    pub fn is_alive(&self, catalogue: &Catalogue) -> bool {
        self.tables.iter().all(|id| catalogue.table_by_id(*id).is_some())
    }
}

/// What a client was told about a statement's columns: its result, its bind markers.
pub type Described = ([u8; 16], [u8; 16]);

/// Texts of prepared statements, oldest forgotten first when over the budget.
pub struct Registry {
    inner: Mutex<Texts>,
    bytes_max: usize,
}

#[derive(Default)]
struct Texts {
    /// With the number of its arrival.
    by_id: HashMap<StatementId, (u64, Source)>,
    by_arrival: BTreeMap<u64, StatementId>,
    arrivals: u64,
    bytes: usize,
}

/// Bytes an entry costs besides its text.
const ENTRY_BYTES: usize = 128;

impl Registry {
    pub fn new(bytes_max: usize) -> Registry {
        Registry { inner: Mutex::default(), bytes_max }
    }

    pub fn remember(&self, id: StatementId, source: Source) {
        let mut texts = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match texts.by_id.get(&id) {
            Some((number, _)) => *number,
            None => {
                texts.arrivals += 1;
                texts.bytes += source.text.len() + ENTRY_BYTES;
                let number = texts.arrivals;
                texts.by_arrival.insert(number, id);
                number
            }
        };
        texts.by_id.insert(id, (number, source));
        while texts.bytes > self.bytes_max && texts.by_arrival.len() > 1 {
            let Some((_, oldest)) = texts.by_arrival.pop_first() else { break };
            if let Some((_, gone)) = texts.by_id.remove(&oldest) {
                texts.bytes -= gone.text.len() + ENTRY_BYTES;
            }
        }
    }

    /// Forgets a statement that clients know by columns it no longer has.
    pub fn forget(&self, id: &[u8], described: &Described) {
        let mut texts = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(id) = StatementId::try_from(id) else { return };
        // Prepared again meanwhile: that one is right.
        if texts.by_id.get(&id).is_none_or(|(_, source)| source.described != *described) {
            return;
        }
        if let Some((number, gone)) = texts.by_id.remove(&id) {
            texts.bytes -= gone.text.len() + ENTRY_BYTES;
            texts.by_arrival.remove(&number);
        }
    }

    pub fn find(&self, id: &[u8]) -> Option<Source> {
        let id: StatementId = id.try_into().ok()?;
        self.inner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .by_id
            .get(&id)
            .map(|(_, source)| source.clone())
    }

    /// Every statement that can be executed by its id.
    pub fn all(&self) -> Vec<(StatementId, Source)> {
        let texts = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        texts.by_id.iter().map(|(id, (_, source))| (*id, source.clone())).collect()
    }

    /// (statements, bytes), for metrics.
    pub fn size(&self) -> (usize, usize) {
        let texts = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (texts.by_id.len(), texts.bytes)
    }
}

/// A statement bound on this shard, with its wire metadata made once.
pub struct Statement {
    pub prepared: Prepared,
    pub bind: Vec<ColumnSpec>,
    pub result: Vec<ColumnSpec>,
    /// The last version of the catalogue that the plan was found to be right for.
    pub current_at: Cell<u64>,
    /// As what its outcomes are recorded; `None`: they are not.
    pub audited: Option<Category>,
    /// Where a sample of its calls is told.
    pub export: Option<Arc<Export>>,
    /// Where its calls are counted; several of a batch.
    pub observed: Vec<Arc<Observed>>,
    /// Whether its answers may need more than a little room; expected of a read until it was seen.
    pub large: Cell<bool>,
    /// `result` as it goes over the wire, in the version that the last client spoke.
    written: RefCell<Option<Rc<WrittenColumns>>>,
    /// The answer to a conditional write that was applied, likewise; it is always the same but for its stream.
    applied: RefCell<Option<(Version, Rc<[u8]>)>>,
}

impl Statement {
    pub fn described(&self) -> Described {
        (self.prepared.result_id, cql::prepared::columns_id(&self.prepared.markers))
    }

    pub fn new(prepared: Prepared, audit: &Rules, observed: Vec<Arc<Observed>>) -> Statement {
        let bind = crate::cql::wire_type::column_specs(&prepared.markers);
        let result = crate::cql::wire_type::column_specs(&prepared.columns);
        let current_at = Cell::new(prepared.catalogue_version);
        let audited = super::outcome::category(&prepared, audit);
        Statement {
            prepared,
            observed,
            export: None,
            audited,
            bind,
            result,
            current_at,
            large: Cell::new(true),
            written: RefCell::default(),
            applied: RefCell::default(),
        }
    }

    /// Where the work of its reads is counted.
    pub fn account(&self) -> Option<&Arc<Account>> {
        self.observed.first().map(|observed| &observed.account)
    }

    /// A call was answered with this much.
    #[inline]
    pub fn answered(&self, rows: u64, bytes: u64) {
        self.observed.iter().for_each(|observed| observed.answered(rows, bytes));
    }

    pub fn failed(&self, refused: bool) {
        self.observed.iter().for_each(|observed| observed.failed(refused));
    }

    /// So many calls took this long.
    #[inline]
    pub fn took(&self, micros: u64, calls: u64) {
        self.observed.iter().for_each(|observed| observed.micros.record_many(micros, calls));
        if let Some(export) = &self.export {
            self.sample(export, micros);
        }
    }

    #[cold]
    fn sample(&self, export: &Export, micros: u64) {
        if !export.is_due() {
            return;
        }
        let mut span = Span::ended("statement", micros, None);
        if let Some(observed) = self.observed.first() {
            span.attributes.push(("db.query.text", observed.statement.clone()));
        }
        if let Some(table) = self.prepared.tables.first() {
            span.attributes.push(("db.namespace", table.keyspace.to_string()));
            span.attributes.push(("db.collection.name", table.name.to_string()));
        }
        export.send(span);
    }

    /// The answer to a conditional write that was applied; `encode` makes it the first time.
    pub fn applied(&self, version: Version, encode: impl FnOnce() -> Vec<u8>) -> Rc<[u8]> {
        if let Some((_, answer)) = self.applied.borrow().as_ref().filter(|(made_for, _)| *made_for == version)
        {
            return answer.clone();
        }
        let answer: Rc<[u8]> = encode().into();
        self.applied.replace(Some((version, answer.clone())));
        answer
    }

    /// The result columns in the form of a protocol version.
    pub fn written_result(&self, version: Version) -> Rc<WrittenColumns> {
        let mut written = self.written.borrow_mut();
        match &*written {
            Some(columns) if columns.version() == version => columns.clone(),
            _ => {
                let columns = Rc::new(WrittenColumns::new(&self.result, version));
                *written = Some(columns.clone());
                columns
            }
        }
    }
}

/// This shard's bound statements.
pub struct Bound {
    by_id: RefCell<HashMap<StatementId, Rc<Statement>, BuildHasherDefault<IdHasher>>>,
    bytes: Cell<usize>,
    bytes_max: usize,
}

/// Ids are MD5 sums: their own first bytes are as good a hash as any made from them.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk::<8>() {
            self.0 ^= u64::from_le_bytes(*first);
        }
    }

    /// The length of the id, which is always the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What a bound statement is taken to cost: its plan grows with its text. What is written out in a long text are values, each
/// of which is an expression; a short one is mostly names.
fn bound_bytes(statement: &Statement) -> usize {
    const SHORT_BYTES: usize = 4 << 10;
    let length = statement.prepared.text.len();
    1024 + 4 * length.min(SHORT_BYTES) + 64 * length.saturating_sub(SHORT_BYTES)
}

impl Bound {
    pub fn new(bytes_max: usize) -> Bound {
        Bound { by_id: RefCell::default(), bytes: Cell::new(0), bytes_max }
    }

    pub fn get(&self, id: &[u8]) -> Option<Rc<Statement>> {
        let id: &StatementId = id.try_into().ok()?;
        self.by_id.borrow().get(id).cloned()
    }

    pub fn put(&self, id: StatementId, statement: Rc<Statement>) {
        let mut map = self.by_id.borrow_mut();
        // Emptied when full, and filled anew from the registry by those that are used.
        if self.bytes.get() >= self.bytes_max {
            map.clear();
            self.bytes.set(0);
        }
        let bytes = bound_bytes(&statement);
        if map.insert(id, statement).is_none() {
            self.bytes.set(self.bytes.get() + bytes);
        }
    }

    pub fn forget(&self, id: &[u8]) {
        if let Ok(id) = <&StatementId>::try_from(id) {
            let gone = self.by_id.borrow_mut().remove(id);
            let bytes = gone.map_or(0, |statement| bound_bytes(&statement));
            self.bytes.set(self.bytes.get().saturating_sub(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_forgets_the_oldest() {
        let registry = Registry::new(3 * (ENTRY_BYTES + 10));
        for i in 0..5u8 {
            let text = format!("statement{i}").into();
            registry.remember(
                [i; 16],
                Source { keyspace: None, text, described: Default::default(), tables: [].into() },
            );
        }
        assert!(registry.find(&[1; 16]).is_none());
        assert_eq!(registry.find(&[4; 16]).unwrap().text.as_ref(), "statement4");
        assert_eq!(registry.size(), (3, 3 * (ENTRY_BYTES + 10)));
        assert!(registry.find(b"short").is_none());
        registry.forget(&[4; 16], &([1; 16], [1; 16]));
        assert!(registry.find(&[4; 16]).is_some(), "it was described otherwise meanwhile");
        registry.forget(&[4; 16], &Default::default());
        assert!(registry.find(&[4; 16]).is_none());
        assert_eq!(registry.size(), (2, 2 * (ENTRY_BYTES + 10)));
    }
}
