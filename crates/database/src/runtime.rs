//! What one shard runs statements with, whatever language they came in: its store, the catalogue as it last saw it,
//! identifiers, limits, and the grants of the roles it has met.
//!
//! Belongs to one thread and takes no lock: the catalogue is a snapshot that is refreshed when its version has moved on.

use crate::catalogue::SharedCatalogue;
use crate::grants;
use crate::tenants::Seats;
use query::Ids;
use query::context::Limits;
use rt::Budget;
use schema::Catalogue;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use store::Store;

/// See the module.
pub struct Runtime<S: Store> {
    pub store: S,
    pub shared: Arc<SharedCatalogue>,
    pub ids: Box<dyn Ids>,
    pub limits: Limits,
    /// What sorts and plans may hold, with all other work of the server; `None`: it is not counted.
    pub memory: Option<Budget>,
    pub grants: grants::Cache,
    /// The tenants that this shard has met.
    pub tenants: Seats,
    snapshot: RefCell<(u64, Arc<Catalogue>)>,
    /// Whether some table has tenants, as of a version of the catalogue.
    tenanted: Cell<(u64, bool)>,
}

impl<S: Store> Runtime<S> {
    pub fn new(store: S, shared: Arc<SharedCatalogue>, ids: Box<dyn Ids>, limits: Limits) -> Runtime<S> {
        let snapshot = RefCell::new(shared.load());
        Runtime {
            store,
            shared,
            ids,
            limits,
            memory: None,
            grants: grants::Cache::default(),
            tenants: Seats::default(),
            snapshot,
            tenanted: Cell::new((0, false)),
        }
    }

    /// Whether some table has tenants; one atomic load when nothing has changed.
    pub fn has_tenants(&self) -> bool {
        let (known, answer) = self.tenanted.get();
        if known == self.shared.version() {
            return answer;
        }
        let (version, catalogue) = self.catalogue();
        let answer = catalogue.tables().any(|table| table.has_tenants());
        self.tenanted.set((version, answer));
        answer
    }

    /// The current catalogue and its version; one atomic load when nothing has changed.
    pub fn catalogue(&self) -> (u64, Arc<Catalogue>) {
        let version = self.shared.version();
        let mut snapshot = self.snapshot.borrow_mut();
        if snapshot.0 != version {
            *snapshot = self.shared.load();
        }
        snapshot.clone()
    }
}
