//! Execution: requests on one shard's store, whatever the store is.
//!
//! One [`Dynamo`] per shard. Every write is a transaction whose decision (`write`) reads, checks, computes and lists all rows that
//! change: the item, its index entries, its stream record. Reads go to the store directly. What all shards share is in [`AllShards`].

mod account;
pub mod answer;
mod backups;
mod batch;
mod bridge;
mod builds;
mod buried;
mod control;
mod counting;
mod describe;
mod for_cql;
mod item;
mod layout;
mod page;
mod record;
mod search;
mod settings;
mod spare;
mod statements;
mod streams;
mod sweep;
mod table;
mod tenants;
mod token;
mod transact;
mod transfer;
mod watch;
mod words;
mod write;

pub use settings::{AllShards, Settings};
pub use table::KEYSPACE;
pub use transfer::Buckets;
pub use watch::{Shaped, Undeclared, Watched, Watcher};
pub use words::{query_error, store_error};

use crate::error::{ApiError, ErrorName};
use crate::messages::Layers;
use crate::operation::Operation;
use crate::request::{self, Request};
use database::Runtime;
use database::grants::{Grants, Permission, Resource};
use layout::internal;
use query::tenant::Gate;
use settings::TransferKind;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use store::Store;
use table::OpenTable;

/// Definitions change seldom: a write that meets so many changes in a row gives up.
const STALE_MAX: usize = 16;

/// A longer body is not parsed on the shard's thread: one of 16 MB takes a second.
const PARSED_HERE_MAX: usize = 256 << 10;

async fn parse_aside(operation: Operation, body: Vec<u8>, layers: Layers) -> Result<Request, ApiError> {
    rt::aside(move || request::parse(operation, &body, layers)).await
}

/// Who asks, and when.
pub struct Caller<'c> {
    /// `None`: authentication is off, everything is allowed.
    pub grants: Option<&'c Grants>,
    pub now_micros: i64,
    /// The Host header.
    pub host: &'c str,
    /// Whose items it may touch; set where some table has tenants.
    pub gate: Option<&'c dyn Gate>,
    /// The kinds of operations that a request turned out to be, for whoever counts them.
    pub seen: RefCell<Vec<Rc<Watched>>>,
    /// Items of the answer.
    pub items: Cell<u64>,
}

impl<'c> Caller<'c> {
    pub fn new(grants: Option<&'c Grants>, now_micros: i64, host: &'c str) -> Caller<'c> {
        Caller { grants, now_micros, host, gate: None, seen: RefCell::default(), items: Cell::new(0) }
    }

    pub fn now_seconds(&self) -> u32 {
        (self.now_micros / 1_000_000).clamp(0, i64::from(u32::MAX)) as u32
    }

    pub fn now_ms(&self) -> i64 {
        self.now_micros / 1_000
    }
}

/// See the module.
pub struct Dynamo<S: Store> {
    pub runtime: Rc<Runtime<S>>,
    pub shared: Arc<AllShards>,
    tables: RefCell<Tables>,
    /// Tables of CQL.
    served: RefCell<Tables>,
    kinds: RefCell<watch::Kinds>,
    watcher: Option<Box<dyn Watcher>>,
    spare: spare::Spare,
}

/// Tables that were opened under one version of the catalogue.
#[derive(Default)]
struct Tables {
    version: u64,
    open: HashMap<String, Arc<OpenTable>>,
}

impl<S: Store> Dynamo<S> {
    pub fn new(runtime: Rc<Runtime<S>>, shared: Arc<AllShards>) -> Dynamo<S> {
        for_cql::register();
        Dynamo {
            runtime,
            shared,
            tables: RefCell::default(),
            served: RefCell::default(),
            kinds: RefCell::default(),
            watcher: None,
            spare: spare::Spare::default(),
        }
    }

    /// With somebody who is told what operations do.
    pub fn watched_by(mut self, watcher: Box<dyn Watcher>) -> Dynamo<S> {
        self.watcher = Some(watcher);
        self
    }

    /// Takes back the body of an answer that was sent, for one of the next.
    pub fn take_back(&self, body: Vec<u8>) {
        self.spare.put(body);
    }

    /// Executes a request; the answer is a JSON body.
    pub async fn execute(
        &self,
        caller: &Caller<'_>,
        operation: Operation,
        body: &[u8],
    ) -> Result<Vec<u8>, ApiError> {
        if caller.gate.is_none() && self.runtime.has_tenants() {
            return Box::pin(self.execute_tenanted(caller, operation, body)).await;
        }
        let layers = self.shared.settings.layers;
        let request = match body.len() <= PARSED_HERE_MAX {
            true => request::parse(operation, body, layers)?,
            false => Box::pin(parse_aside(operation, body.to_vec(), layers)).await?,
        };
        self.watch_request(caller, &request)?;
        if let Some(open) = bridge::name_of(&request).and_then(|name| self.open_cql(name)) {
            return Box::pin(self.on_cql_table(caller, open, request)).await;
        }
        match request {
            Request::GetItem(get) => self.get_item(caller, &get).await,
            Request::PutItem(put) => self.put_item(caller, put).await,
            Request::UpdateItem(update) => self.update_item(caller, update).await,
            Request::DeleteItem(delete) => self.delete_item(caller, delete).await,
            Request::Query(query) => self.query(caller, &query).await,
            // Apart, so that the future of a single read or write is small: futures are moved.
            other => Box::pin(self.execute_other(caller, other)).await,
        }
    }

    async fn execute_other(&self, caller: &Caller<'_>, request: Request) -> Result<Vec<u8>, ApiError> {
        match request {
            Request::Scan(scan) => self.scan(caller, &scan).await,
            Request::BatchGetItem(batch) => self.batch_get(caller, &batch).await,
            Request::BatchWriteItem(batch) => self.batch_write(caller, batch).await,
            Request::TransactGetItems(gets) => self.transact_get(caller, gets).await,
            Request::TransactWriteItems(writes) => self.transact_write(caller, writes).await,
            Request::ExecuteStatement(execute) => self.execute_statement(caller, execute).await,
            Request::BatchExecuteStatement(batch) => self.batch_statements(caller, batch).await,
            Request::ExecuteTransaction(execute) => self.transact_statements(caller, execute).await,
            Request::CreateTable(create) => self.create_table(caller, &create).await,
            Request::UpdateTable(update) => self.update_table(caller, &update).await,
            Request::DeleteTable { table } => self.delete_table(caller, &table).await,
            Request::DescribeTable { table } => self.describe_table(caller, &table).await,
            Request::ListTables(list) => self.list_tables(caller, &list),
            Request::UpdateTimeToLive(update) => self.update_time_to_live(caller, &update).await,
            Request::DescribeTimeToLive { table } => self.describe_time_to_live(caller, &table),
            Request::TagResource(tag) => self.tag(caller, &tag).await,
            Request::UntagResource(untag) => self.untag(caller, &untag).await,
            Request::ListTagsOfResource(list) => self.list_tags(caller, &list),
            Request::ListStreams(list) => self.list_streams(caller, &list),
            Request::DescribeStream(describe) => self.describe_stream(caller, &describe).await,
            Request::GetShardIterator(get) => self.shard_iterator(caller, &get).await,
            Request::GetRecords(get) => self.records(caller, &get).await,
            Request::CreateBackup { table, name } => self.create_backup(caller, &table, &name).await,
            Request::DescribeBackup { arn } => self.describe_backup(caller, &arn),
            Request::ListBackups(list) => self.list_backups(caller, &list),
            Request::DeleteBackup { arn } => self.delete_backup(caller, &arn).await,
            Request::RestoreTableFromBackup(restore) => self.restore(caller, &restore).await,
            Request::ExportTable(export) => self.export(caller, &export).await,
            Request::DescribeExport { arn } => self.describe_transfer(TransferKind::Export, &arn),
            Request::ListExports { table, limit, skip } => {
                Ok(self.list_transfers(TransferKind::Export, table.as_deref(), skip, limit))
            }
            Request::ImportTable(import) => self.import(caller, &import).await,
            Request::DescribeImport { arn } => self.describe_transfer(TransferKind::Import, &arn),
            Request::ListImports { table, limit, skip } => {
                Ok(self.list_transfers(TransferKind::Import, table.as_deref(), skip, limit))
            }
            Request::SearchVectors(search) => self.search(caller, &search).await,
            Request::DescribeEndpoints => Ok(answer::endpoints(caller.host)),
            Request::OnTable(on) => {
                self.described(caller, &on.table)?;
                Ok(on.body)
            }
            Request::Answer(body) => Ok(body),
            Request::GetItem(_)
            | Request::PutItem(_)
            | Request::UpdateItem(_)
            | Request::DeleteItem(_)
            | Request::Query(_) => Err(internal("executed elsewhere")),
        }
    }

    /// A table for item operations.
    fn open(&self, name: &str) -> Result<Arc<OpenTable>, ApiError> {
        let mut tables = self.tables.borrow_mut();
        loop {
            let (version, catalogue) = self.runtime.catalogue();
            if tables.version != version {
                *tables = Tables { version, open: HashMap::new() };
            }
            if let Some(open) = tables.open.get(name) {
                return Ok(open.clone());
            }
            let table = catalogue.table(KEYSPACE, name).filter(|table| table.foreign.is_some());
            let table =
                table.ok_or_else(|| self.not_served(name).unwrap_or_else(ApiError::no_such_resource))?;
            let counts = self.shared.counts(table.id);
            let epoch = counts.epoch.load(Relaxed);
            // A change that was published meanwhile may have moved the epoch on already.
            if self.runtime.shared.version() != version {
                continue;
            }
            let open = Arc::new(OpenTable::open(table, counts, epoch)?);
            tables.open.insert(name.to_string(), open.clone());
            return Ok(open);
        }
    }

    /// The same, if the caller may do this with all of it.
    fn open_for(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        name: &str,
    ) -> Result<Arc<OpenTable>, ApiError> {
        let open = self.open_permitted(caller, permission, name)?;
        self.refuse_bound(caller, &open)?;
        Ok(open)
    }

    fn open_permitted(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        name: &str,
    ) -> Result<Arc<OpenTable>, ApiError> {
        let open = self.open(name);
        let Some(grants) = caller.grants else { return open };
        match &open {
            Ok(table) => grants.require_on_table(permission, &table.table).map_err(query_error)?,
            // Whoever may not look must not learn what is there.
            Err(_) => {
                let resource = Resource::Table(KEYSPACE.into(), name.into());
                grants.require(permission, &resource).map_err(query_error)?
            }
        }
        open
    }

    /// A table for the control plane, which says more about one that is not there.
    fn described(&self, caller: &Caller<'_>, name: &str) -> Result<Arc<OpenTable>, ApiError> {
        let named = |error: ApiError| match error.name() {
            ErrorName::ResourceNotFound => ApiError::no_such_table(name),
            _ => error,
        };
        self.open_permitted(caller, Permission::Select, name).map_err(named)
    }

    /// A write has met another definition, or a backup that is about to begin.
    async fn look_again(&self, table: &OpenTable, name: &str) {
        self.forget(name);
        let begun = self.shared.backup_begun.notified();
        if table.counts.copying.is_beginning() {
            begun.await;
        }
    }

    /// Looks the table up again next time.
    fn forget(&self, name: &str) {
        self.tables.borrow_mut().open.remove(name);
    }
}
