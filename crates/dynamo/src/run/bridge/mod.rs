//! Tables of CQL served by this API, under the name `keyspace.table`.
//!
//! A table with one partition column and at most one clustering column looks like a table of the API: columns are attributes. Reads are
//! SELECT plans and writes are conditional INSERT and DELETE plans of `query`, so indexes and views of the table stay in step, and CQL's
//! own conditional writes are excluded while one is decided. What a table must be like is in [`refusal`].

mod read;
mod transact;
mod types;
mod write;

pub(super) use write::check_columns;

use super::layout::internal;
use super::table::{Counts, KEYSPACE, OpenTable};
use super::{Caller, Dynamo, Tables, control, query_error};
use crate::error::ApiError;
use crate::json::Writer;
use crate::request::Request;
use crate::table::TableDefinition;
use crate::value::Item;
use database::grants::{Permission, Resource};
use query::context::{Context, VirtualTables};
use query::fault::ForeignFault;
use query::{QueryError, Values};
use schema::{Column, Table};
use serde_json::json;
use std::cell::RefCell;
use std::sync::Arc;
use store::naive::NaiveStore;
use store::{Store, TableId};

/// The operations that a CQL table answers.
const OPERATIONS: &str =
    "DescribeTable, GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan, batches and transactions";

struct NoVirtualTables;

impl VirtualTables for NoVirtualTables {
    fn rows(&self, _: &Table, _: Option<&dyn query::tenant::Gate>) -> Result<NaiveStore, QueryError> {
        Err(ForeignFault::Unserved.into())
    }
}

/// The values of a row, in the order of the table's columns.
type Row = Vec<Option<Vec<u8>>>;

/// The table that a request of a served operation names, if that could be one of CQL.
pub(super) fn name_of(request: &Request) -> Option<&str> {
    let name = match request {
        Request::GetItem(get) => &get.table,
        Request::PutItem(put) => &put.table,
        Request::UpdateItem(update) => &update.table,
        Request::DeleteItem(delete) => &delete.table,
        Request::Query(query) => &query.read.table,
        Request::Scan(scan) => &scan.read.table,
        Request::DescribeTable { table } => table,
        _ => return None,
    };
    name.contains('.').then_some(name)
}

/// Why a table cannot be served; `None`: it can.
fn refusal(table: &Table) -> Option<String> {
    let one_key = table.partition_key.len() == 1 && table.clustering.len() <= 1;
    if !one_key {
        return Some("it must have one partition key column and at most one clustering column".into());
    }
    if table.compact.is_some() {
        return Some(
            "it was made WITH COMPACT STORAGE; ALTER TABLE … DROP COMPACT STORAGE makes it an ordinary table"
                .into(),
        );
    }
    if !table.statics.is_empty() {
        return Some("it has static columns, which items do not have".into());
    }
    if table.view.is_some() {
        return Some("it is a materialized view; use the table that it is made of".into());
    }
    let key = |column: &&Column| types::key_type(&column.data_type).is_none();
    if let Some(column) = table.primary_key().find(key) {
        return Some(format!("its key column {} has the type {}", column.name, column.data_type));
    }
    if let Some(column) = table.regulars.iter().find(|column| !types::has_form(&column.data_type)) {
        return Some(format!("its column {} has the type {}", column.name, column.data_type));
    }
    let masked = table.columns().find(|column| column.mask.is_some());
    masked.map(|column| format!("its column {} is masked", column.name))
}

impl<S: Store> Dynamo<S> {
    /// A table of CQL under this name, if there is one that users may have made.
    fn cql_table(&self, name: &str) -> Option<Arc<Table>> {
        let (keyspace, table) = name.split_once('.')?;
        if keyspace.starts_with("system") || keyspace == KEYSPACE {
            return None;
        }
        let (_, catalogue) = self.runtime.catalogue();
        catalogue.table(keyspace, table).cloned()
    }

    /// What an operation that CQL tables do not have says of one; `None`: there is no such table.
    pub(super) fn not_served(&self, name: &str) -> Option<ApiError> {
        self.cql_table(name)?;
        Some(ApiError::validation(format!(
            "{name} is a table of CQL. The DynamoDB API has {OPERATIONS} for it, and not this operation"
        )))
    }

    /// Opens a table of CQL; `None`: the API has a table of this name itself, or nobody has.
    pub(super) fn open_cql(&self, name: &str) -> Option<Result<Arc<OpenTable>, ApiError>> {
        let (version, catalogue) = self.runtime.catalogue();
        if catalogue.table(KEYSPACE, name).is_some() {
            return None;
        }
        let mut served = self.served.borrow_mut();
        if served.version != version {
            *served = Tables { version, ..Tables::default() };
        }
        if let Some(open) = served.open.get(name) {
            return Some(Ok(open.clone()));
        }
        let table = self.cql_table(name)?;
        let open = opened(name, &table).map(Arc::new);
        if let Ok(open) = &open {
            served.open.insert(name.to_string(), open.clone());
        }
        Some(open)
    }

    /// A table of either dialect, if the caller may do this with some of its items. What it touches of a table of this dialect has
    /// to be admitted; tables of CQL are reached by plans, which ask by themselves.
    pub(super) fn open_any(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        name: &str,
    ) -> Result<Arc<OpenTable>, ApiError> {
        let Some(open) = name.contains('.').then(|| self.open_cql(name)).flatten() else {
            return self.open_for_keys(caller, permission, name);
        };
        self.check_cql(caller, permission, name, &open)?;
        open
    }

    /// Whether the caller may do this with a table of CQL.
    fn check_cql(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        name: &str,
        open: &Result<Arc<OpenTable>, ApiError>,
    ) -> Result<(), ApiError> {
        let Some(grants) = caller.grants else { return Ok(()) };
        match open {
            Ok(open) => grants.require_on_table(permission, &open.table).map_err(query_error),
            // Whoever may not look must not learn what is there.
            Err(_) => {
                let name = name.split_once('.').unwrap_or_default();
                let resource = Resource::Table(name.0.into(), name.1.into());
                grants.require(permission, &resource).map_err(query_error)
            }
        }
    }

    /// Executes a request on a table of CQL.
    pub(super) async fn on_cql_table(
        &self,
        caller: &Caller<'_>,
        open: Result<Arc<OpenTable>, ApiError>,
        request: Request,
    ) -> Result<Vec<u8>, ApiError> {
        let writes = matches!(request, Request::PutItem(_) | Request::UpdateItem(_) | Request::DeleteItem(_));
        let permission = if writes { Permission::Modify } else { Permission::Select };
        self.check_cql(caller, permission, name_of(&request).unwrap_or_default(), &open)?;
        let open = open?;
        match request {
            Request::GetItem(get) => self.cql_get(caller, &open, &get).await,
            Request::Query(query) => self.cql_query(caller, &open, &query).await,
            Request::Scan(scan) => self.cql_scan(caller, &open, &scan).await,
            Request::PutItem(put) => self.cql_put(caller, &open, put).await,
            Request::UpdateItem(update) => self.cql_update(caller, &open, update).await,
            Request::DeleteItem(delete) => self.cql_delete(caller, &open, delete).await,
            Request::DescribeTable { .. } => Ok(self.cql_description(&open)),
            _ => Err(internal("a request that is not for tables of CQL")),
        }
    }

    fn context<'c>(&'c self, request: query::Request<'c>) -> Context<'c, S> {
        Context {
            store: &self.runtime.store,
            virtuals: &NoVirtualTables,
            ids: &*self.runtime.ids,
            limits: self.runtime.limits,
            memory: self.runtime.memory.as_ref(),
            request,
            warnings: RefCell::default(),
        }
    }

    fn plain_request<'c>(&self, caller: &Caller<'c>) -> query::Request<'c> {
        let mut request = query::Request::new(Values::NONE, caller.now_micros);
        request.gate = caller.gate;
        request
    }

    /// What DescribeTable says: items and bytes are not counted, so there are no numbers of them.
    fn cql_description(&self, open: &OpenTable) -> Vec<u8> {
        let definition = &open.definition;
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut table = object.nested("Table");
        table.string("TableName", &definition.name);
        table.string("TableStatus", "ACTIVE");
        table.string("TableArn", &self.shared.table_arn(&definition.name));
        table.string("TableId", &definition.id);
        table.time("CreationDateTime", definition.created_ms);
        let attributes: Vec<_> = definition.key.attributes().collect();
        table.list("AttributeDefinitions", &attributes, |attribute, out| {
            let mut member = Writer::object(out);
            member.string("AttributeName", &attribute.name);
            member.string("AttributeType", attribute.kind.name());
            member.end();
        });
        table.list("KeySchema", &attributes, |attribute, out| {
            let mut member = Writer::object(out);
            let hash = definition.key.hash.iter().any(|known| known.name == attribute.name);
            member.string("AttributeName", &attribute.name);
            member.string("KeyType", if hash { "HASH" } else { "RANGE" });
            member.end();
        });
        let mut billing = table.nested("BillingModeSummary");
        billing.string("BillingMode", "PAY_PER_REQUEST");
        billing.end();
        let mut throughput = table.nested("ProvisionedThroughput");
        throughput.integer("NumberOfDecreasesToday", 0);
        throughput.integer("ReadCapacityUnits", 0);
        throughput.integer("WriteCapacityUnits", 0);
        throughput.end();
        table.boolean("DeletionProtectionEnabled", false);
        table.end();
        object.end();
        out
    }
}

/// A table of CQL as one of the API.
fn opened(name: &str, table: &Arc<Table>) -> Result<OpenTable, ApiError> {
    if let Some(reason) = refusal(table) {
        return Err(ApiError::validation(format!(
            "The table {name} of CQL cannot be served by the DynamoDB API: {reason}"
        )));
    }
    let attribute = |column: &Column| {
        let kind = types::key_type(&column.data_type).map_or("S", |kind| kind.name());
        json!({"name": &*column.name, "type": kind})
    };
    let created = model::timeuuid::unix_millis(&table.uuid);
    let definition = json!({
        "format": 1, "name": name, "id": control::uuid_text(table.uuid), "created_ms": created,
        "key": {
            "hash": table.partition_key.iter().map(attribute).collect::<Vec<_>>(),
            "sort": table.clustering.iter().map(attribute).collect::<Vec<_>>(),
        },
        "billing": "PayPerRequest",
    });
    Ok(OpenTable {
        definition: TableDefinition::from_json(&definition.to_string()).map_err(internal)?,
        id: TableId(table.id),
        column: 0,
        indexes: Vec::new(),
        stream: None,
        table: table.clone(),
        counts: Arc::new(Counts::default()),
        epoch: 0,
    })
}

/// A row as an item: nulls are left out.
fn item_of(table: &Table, row: &Row) -> Item {
    let mut item = Item::new();
    for (column, bytes) in table.columns().zip(row) {
        let value = bytes.as_deref().and_then(|bytes| types::to_value(&column.data_type, bytes));
        if let Some(value) = value {
            item.insert(&*column.name, value);
        }
    }
    item
}

/// The bytes of a column for the attribute of its name; `None` is null.
fn bytes_of(table: &Table, column: &Column, item: &Item) -> Result<Option<Vec<u8>>, ApiError> {
    let Some(value) = item.get(&column.name) else { return Ok(None) };
    types::from_value(&column.data_type, value).map_err(|reason| {
        ApiError::validation(format!(
            "One or more parameter values were invalid: the column {} of the CQL table {}.{} has the type {}: {reason}",
            column.name, table.keyspace, table.name, column.data_type
        ))
    })
}

/// The bytes of a key column.
fn key_bytes(table: &Table, column: &Column, key: &Item) -> Result<Vec<u8>, ApiError> {
    bytes_of(table, column, key)?.ok_or_else(|| internal("a key without a value"))
}
