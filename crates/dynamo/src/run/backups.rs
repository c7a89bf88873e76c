//! On-demand backups: a table as it was at one moment, kept as a table of its own; and tables made from them.
//!
//! A backup begins with a moment: writers wait until every earlier write is applied (`settle`), then go on with ballots above the
//! moment's. From then on a write that changes an item which is older than the moment copies it to the backup first, in the same
//! commit, and the backup copies all others at leisure. So the backup is exact, and writers wait for milliseconds whatever the size.
//! A backup that was not finished when the server ended is removed when it starts. It outlives its table.

use super::control::uuid_text;
use super::counting::all_rows;
use super::layout::{self, STORE_COLUMN, internal};
use super::settings::ACCOUNT;
use super::table::{KEYSPACE, OpenTable, is_shown};
use super::write::Entry;
use super::{Caller, Dynamo, store_error};
use crate::document;
use crate::error::{ApiError, ErrorName};
use crate::json::Writer;
use crate::request::{ListBackups, RestoreTableFromBackup};
use crate::table::{BillingMode, IndexKind, Restored, TableDefinition, TableStatus, key_schema, projection};
use database::grants::Permission;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::types::DataType;
use schema::{Catalogue, Change, NewColumn, NewForeign, NewTable, Properties, PropertyValue, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use store::{
    Commit, Decide, Flow, Moment, Mutation, Position, ReadEnd, Refused, Sink, Store, StoreError, TableId,
    Transaction, WantedRow,
};

/// The keyspace of backups; CQL cannot change it either.
pub const BACKUPS: &str = "dynamo_backups";
/// Items copied in one commit.
const ITEMS_PER_COMMIT: usize = 64;
/// What items of one commit may be together.
const BYTES_PER_COMMIT: usize = 4 << 20;

/// What the catalogue keeps of a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Backup {
    /// The last part of its ARN, and the name of the table that holds it.
    pub id: String,
    pub name: String,
    pub created_ms: i64,
    pub available: bool,
    pub items: i64,
    pub bytes: i64,
    /// The table as it was.
    pub table: TableDefinition,
}

impl Backup {
    fn arn(&self, region: &str) -> String {
        format!("arn:aws:dynamodb:{region}:{ACCOUNT}:table/{}/backup/{}", self.table.name, self.id)
    }

    fn status(&self) -> &'static str {
        if self.available { "AVAILABLE" } else { "CREATING" }
    }

    fn put_details(&self, object: &mut Writer<'_>, region: &str) {
        object.string("BackupArn", &self.arn(region));
        object.string("BackupName", &self.name);
        object.integer("BackupSizeBytes", self.bytes);
        object.string("BackupStatus", self.status());
        object.string("BackupType", "USER");
        object.time("BackupCreationDateTime", self.created_ms);
    }
}

/// A backup under way, as writers see it.
#[derive(Debug, Default)]
pub struct Copying {
    /// 0: none. 1: about to begin, writers wait. Else the id of the table that holds the backup.
    pub target: std::sync::atomic::AtomicU32,
    pub column: std::sync::atomic::AtomicU32,
    pub moment: std::sync::atomic::AtomicI64,
}

pub const NONE: u32 = 0;
pub const BEGINNING: u32 = 1;

impl Copying {
    /// What a write of an item that is there must copy first; called while its row is locked.
    pub fn copy(&self, place: &layout::Place, row: &RowView<'_>, document: &[u8]) -> Option<Mutation> {
        let target = self.target.load(SeqCst);
        if target <= BEGINNING || row.base() > self.moment.load(SeqCst) {
            return None;
        }
        let target = Holder { table: TableId(target), column: self.column.load(SeqCst) };
        Some(target.copied(place.key.clone(), &place.clustering, row.base(), document))
    }

    pub fn is_beginning(&self) -> bool {
        self.target.load(SeqCst) == BEGINNING
    }
}

/// The table that holds a backup.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    pub table: TableId,
    pub column: u32,
}

impl Holder {
    fn of(table: &schema::Table) -> Option<Holder> {
        Some(Holder { table: TableId(table.id), column: table.regulars.first()?.id })
    }

    /// An item in a backup, as old as it was.
    fn copied(self, key: PartitionKey, clustering: &[u8], timestamp: i64, document: &[u8]) -> Mutation {
        let mut writer = RowWriter::with_capacity(document.len() + 32);
        writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
        writer.live(self.column, document);
        let mut mutation = Mutation::new(self.table, key);
        mutation.row(clustering, writer.view());
        mutation
    }
}

impl<S: Store> Dynamo<S> {
    pub(super) async fn create_backup(
        &self,
        caller: &Caller<'_>,
        table: &str,
        name: &str,
    ) -> Result<Vec<u8>, ApiError> {
        let open = self.open_for(caller, Permission::Select, table).map_err(|error| match error.name() {
            ErrorName::ResourceNotFound => {
                ApiError::new(ErrorName::TableNotFound, format!("Table not found: {table}"))
            }
            _ => error,
        })?;
        let backup = self.make_backup(caller, &open, name).await?;
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut details = object.nested("BackupDetails");
        backup.put_details(&mut details, &self.shared.settings.region);
        details.end();
        object.end();
        Ok(out)
    }

    /// A backup that is whole when this returns.
    pub(super) async fn make_backup(
        &self,
        caller: &Caller<'_>,
        open: &Arc<OpenTable>,
        name: &str,
    ) -> Result<Backup, ApiError> {
        let copying = &open.counts.copying;
        if copying.target.compare_exchange(NONE, BEGINNING, SeqCst, SeqCst).is_err() {
            let text = "There is another ongoing control plane backup operation on the table";
            return Err(ApiError::new(ErrorName::BackupInUse, text));
        }
        let under_way = UnderWay { open, shared: &self.shared };
        let suffix = uuid_text(self.runtime.ids.uuid());
        let mut backup = Backup {
            id: format!("{:014}-{}", caller.now_ms(), suffix.get(..8).unwrap_or_default()),
            name: name.to_string(),
            created_ms: caller.now_ms(),
            available: false,
            items: 0,
            bytes: 0,
            table: open.definition.clone(),
        };
        let target = self.add_backup(caller, &backup).await?;
        self.runtime.store.settle().await.map_err(store_error)?;
        let moment = self.runtime.store.horizon().await.map_err(store_error)?.given;
        copying.moment.store(moment, SeqCst);
        copying.column.store(target.column, SeqCst);
        copying.target.store(target.table.0, SeqCst);
        self.shared.backup_begun.notify_waiters();
        self.copy_items(caller, open, target, moment).await?;
        // Writes that still copy are applied before the backup counts.
        self.runtime.store.settle().await.map_err(store_error)?;
        drop(under_way);
        let (items, bytes) = self.count_rows(caller, target.table, target.column).await?;
        (backup.items, backup.bytes, backup.available) = (items, bytes, true);
        self.put_backup(caller, &backup).await?;
        Ok(backup)
    }

    async fn copy_items(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        target: Holder,
        moment: i64,
    ) -> Result<(), ApiError> {
        let mut read = all_rows(open.id, caller.now_seconds());
        loop {
            let mut rows = Rows::new(open.column, caller.now_seconds(), moment);
            let end = self.runtime.store.read(&read, &mut rows).await.map_err(store_error)?.end;
            let last = rows.last;
            let mutations: Vec<Mutation> = rows
                .found
                .into_iter()
                .map(|row| target.copied(row.key, &row.clustering, row.timestamp, &row.document))
                .collect();
            if !mutations.is_empty() {
                let commit = Commit { mutations, now_seconds: caller.now_seconds() };
                self.runtime.store.commit(commit).await.map_err(store_error)?;
            }
            read.after = match end {
                ReadEnd::Complete => return Ok(()),
                ReadEnd::Paused(position) => Some(position),
                ReadEnd::Stopped => last,
            };
            tokio::task::yield_now().await;
        }
    }

    pub(super) fn backups(&self) -> Vec<(Backup, Holder)> {
        let (_, catalogue) = self.runtime.catalogue();
        let tables = catalogue.keyspace(BACKUPS).into_iter().flat_map(|keyspace| keyspace.tables.values());
        let backup = |table: &Arc<schema::Table>| {
            let definition = &table.foreign.as_deref()?.definition;
            Some((serde_json::from_value(definition.clone()).ok()?, Holder::of(table)?))
        };
        tables.filter_map(backup).collect()
    }

    fn backup(&self, arn: &str) -> Result<(Backup, Holder), ApiError> {
        let region = &self.shared.settings.region;
        let found = self.backups().into_iter().find(|(backup, _)| backup.arn(region) == arn);
        found.ok_or_else(|| ApiError::new(ErrorName::BackupNotFound, format!("Backup not found: {arn}")))
    }

    fn check_backup_permission(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        table: &str,
    ) -> Result<(), ApiError> {
        let Some(grants) = caller.grants else { return Ok(()) };
        let resource = database::grants::Resource::Table(KEYSPACE.into(), table.into());
        // A backup has the items of all tenants.
        grants
            .require_unbound(&resource)
            .and_then(|()| grants.require(permission, &resource))
            .map_err(super::query_error)
    }

    pub(super) fn describe_backup(&self, caller: &Caller<'_>, arn: &str) -> Result<Vec<u8>, ApiError> {
        let (backup, _) = self.backup(arn)?;
        self.check_backup_permission(caller, Permission::Select, &backup.table.name)?;
        Ok(self.backup_description(&backup, backup.status()))
    }

    fn backup_description(&self, backup: &Backup, status: &str) -> Vec<u8> {
        let region = &self.shared.settings.region;
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut description = object.nested("BackupDescription");
        let mut details = description.nested("BackupDetails");
        details.string("BackupArn", &backup.arn(region));
        details.string("BackupName", &backup.name);
        details.integer("BackupSizeBytes", backup.bytes);
        details.string("BackupStatus", status);
        details.string("BackupType", "USER");
        details.time("BackupCreationDateTime", backup.created_ms);
        details.end();
        let table = &backup.table;
        let mut source = description.nested("SourceTableDetails");
        source.string("TableName", &table.name);
        source.string("TableId", &table.id);
        source.string("TableArn", &self.shared.table_arn(&table.name));
        source.integer("TableSizeBytes", backup.bytes);
        source.integer("ItemCount", backup.items);
        source.string("BillingMode", table.billing.name());
        source.time("TableCreationDateTime", table.created_ms);
        key_schema(&table.key, &mut source);
        let mut throughput = source.nested("ProvisionedThroughput");
        throughput.integer("ReadCapacityUnits", table.throughput.read);
        throughput.integer("WriteCapacityUnits", table.throughput.write);
        throughput.end();
        source.end();
        let mut features = description.nested("SourceTableFeatureDetails");
        for (member, kind) in
            [("GlobalSecondaryIndexes", IndexKind::Global), ("LocalSecondaryIndexes", IndexKind::Local)]
        {
            let indexes: Vec<_> = table.indexes.iter().filter(|index| index.kind == kind).collect();
            if indexes.is_empty() {
                continue;
            }
            features.list(member, &indexes, |index, out| {
                let mut object = Writer::object(out);
                object.string("IndexName", &index.name);
                key_schema(&index.key, &mut object);
                projection(&index.projection, &mut object);
                object.end();
            });
        }
        features.end();
        description.end();
        object.end();
        out
    }

    pub(super) fn list_backups(&self, caller: &Caller<'_>, list: &ListBackups) -> Result<Vec<u8>, ApiError> {
        let region = &self.shared.settings.region;
        let mut backups: Vec<Backup> = self.backups().into_iter().map(|(backup, _)| backup).collect();
        backups.retain(|backup| {
            list.table.as_ref().is_none_or(|table| backup.table.name == *table)
                && list.from_ms.is_none_or(|from| backup.created_ms >= from)
                && list.to_ms.is_none_or(|to| backup.created_ms < to)
                && list.kind.as_deref().is_none_or(|kind| matches!(kind, "USER" | "ALL"))
                && self.check_backup_permission(caller, Permission::Select, &backup.table.name).is_ok()
        });
        backups.sort_by(|a, b| a.id.cmp(&b.id));
        backups.retain(|backup| {
            list.start
                .as_ref()
                .is_none_or(|start| start.rsplit('/').next().is_some_and(|id| *backup.id > *id))
        });
        let more = backups.len() > list.limit;
        backups.truncate(list.limit);
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        object.list("BackupSummaries", &backups, |backup, out| {
            let mut summary = Writer::object(out);
            summary.string("TableName", &backup.table.name);
            summary.string("TableId", &backup.table.id);
            summary.string("TableArn", &self.shared.table_arn(&backup.table.name));
            backup.put_details(&mut summary, region);
            summary.end();
        });
        if let Some(last) = backups.last().filter(|_| more) {
            object.string("LastEvaluatedBackupArn", &last.arn(region));
        }
        object.end();
        Ok(out)
    }

    pub(super) async fn delete_backup(&self, caller: &Caller<'_>, arn: &str) -> Result<Vec<u8>, ApiError> {
        let (backup, _) = self.backup(arn)?;
        self.check_backup_permission(caller, Permission::Drop, &backup.table.name)?;
        if !backup.available {
            return Err(ApiError::new(ErrorName::BackupInUse, format!("Backup is being created: {arn}")));
        }
        self.drop_backup(caller, &backup).await?;
        Ok(self.backup_description(&backup, "DELETED"))
    }

    /// Removes backups and restored tables that were under way when the server ended. Call it once, before the first request.
    pub async fn remove_unfinished(&self, caller: &Caller<'_>) {
        let (_, catalogue) = self.runtime.catalogue();
        let tables = catalogue.keyspace(KEYSPACE).into_iter().flat_map(|keyspace| keyspace.tables.values());
        for table in tables.filter(|table| table.foreign.is_some() && !is_shown(table)) {
            if let Err(error) = self.remove_table(caller, &table.name).await {
                tracing::warn!(table = %table.name, %error, "an unfinished table could not be removed");
            }
        }
        for (backup, _) in self.backups().into_iter().filter(|(backup, _)| !backup.available) {
            if let Err(error) = self.drop_backup(caller, &backup).await {
                tracing::warn!(backup = backup.id, %error, "an unfinished backup could not be removed");
            }
        }
    }

    async fn add_backup(&self, caller: &Caller<'_>, backup: &Backup) -> Result<Holder, ApiError> {
        let (id, has_sort) = (backup.id.clone(), !backup.table.key.sort.is_empty());
        let definition = serde_json::to_value(backup).map_err(internal)?;
        let compute = move |catalogue: &Catalogue, setting: &Setting| {
            let apply = |catalogue: &Catalogue, change: &Change| {
                catalogue.apply(change, setting).map_err(ApiError::from)
            };
            let with_keyspace = apply(catalogue, &backups_keyspace())?.catalogue;
            apply(&with_keyspace, &Change::CreateTable(Box::new(holder(id, has_sort, definition))))
        };
        self.change(caller, compute).await?;
        let (_, catalogue) = self.runtime.catalogue();
        let table = catalogue.table(BACKUPS, &backup.id).ok_or_else(|| internal("the backup is gone"))?;
        Holder::of(table).ok_or_else(|| internal("the backup has no column"))
    }

    async fn put_backup(&self, caller: &Caller<'_>, backup: &Backup) -> Result<(), ApiError> {
        let name = backup.id.clone();
        let foreign = Box::new(NewForeign {
            definition: serde_json::to_value(backup).map_err(internal)?,
            stores: Vec::new(),
        });
        let change = Change::AlterForeign { keyspace: BACKUPS.into(), name, foreign };
        self.change(caller, move |catalogue, setting| {
            catalogue.apply(&change, setting).map_err(ApiError::from)
        })
        .await
    }

    pub(super) async fn drop_backup(&self, caller: &Caller<'_>, backup: &Backup) -> Result<(), ApiError> {
        let change = Change::DropForeign { keyspace: BACKUPS.into(), name: backup.id.clone() };
        self.change(caller, move |catalogue, setting| {
            catalogue.apply(&change, setting).map_err(ApiError::from)
        })
        .await
    }

    pub(super) async fn restore(
        &self,
        caller: &Caller<'_>,
        restore: &RestoreTableFromBackup,
    ) -> Result<Vec<u8>, ApiError> {
        let (backup, source) = self.backup(&restore.backup_arn)?;
        self.check_backup_permission(caller, Permission::Create, &restore.target)?;
        self.check_backup_permission(caller, Permission::Select, &backup.table.name)?;
        if !backup.available {
            let text = format!("Backup is being created: {}", restore.backup_arn);
            return Err(ApiError::new(ErrorName::BackupInUse, text));
        }
        if self.open(&restore.target).is_ok() {
            let text = format!("Table already exists: {}", restore.target);
            return Err(ApiError::new(ErrorName::TableAlreadyExists, text));
        }
        let mut definition = TableDefinition {
            name: restore.target.clone(),
            id: uuid_text(self.runtime.ids.uuid()),
            created_ms: caller.now_ms(),
            // What the service does not restore either.
            stream: None,
            former_streams: Vec::new(),
            time_to_live: None,
            tags: Vec::new(),
            deletion_protection: false,
            restored: Some(Restored {
                backup_arn: restore.backup_arn.clone(),
                source_arn: self.shared.table_arn(&backup.table.name),
                at_ms: backup.created_ms,
                in_progress: false,
            }),
            ..backup.table.clone()
        };
        if let Some(billing) = restore.billing {
            definition.billing = billing;
            if billing == BillingMode::PayPerRequest {
                definition.throughput = Default::default();
            }
        }
        if let Some(throughput) = restore.throughput {
            definition.throughput = throughput;
        }
        if restore.on_demand.is_some() {
            definition.on_demand = restore.on_demand;
        }
        if restore.encryption.is_some() {
            definition.encryption = restore.encryption.clone();
        }
        for (kind, kept) in
            [(IndexKind::Global, &restore.global_indexes), (IndexKind::Local, &restore.local_indexes)]
        {
            if let Some(kept) = kept {
                definition.indexes.retain(|index| index.kind != kind || kept.contains(&index.name));
            }
        }
        if let Some(kept) = &restore.vector_indexes {
            definition.vector_indexes.retain(|index| kept.contains(&index.name));
        }
        // Filled under another name and shown when it is whole.
        let hidden = format!("restoring.{}", definition.id);
        self.add_table(caller, &hidden, definition.clone()).await?;
        let open = self.open(&hidden)?;
        if let Err(error) = self.fill_from(caller, source, &open).await {
            self.remove_table(caller, &hidden).await?;
            return Err(error);
        }
        if let Err(error) = self.rename_table(caller, &hidden, &definition.name).await {
            self.remove_table(caller, &hidden).await?;
            return Err(error);
        }
        let open = self.open(&definition.name)?;
        let counted = (backup.items, backup.bytes);
        open.counts.count(counted.0, counted.1);
        open.counts.known.store(true, SeqCst);
        Ok(self.description("TableDescription", &definition, TableStatus::Creating, counted, &[]))
    }

    /// Puts items into a table that nobody else knows, with the entries of its indexes.
    pub(super) async fn put_rows(
        &self,
        caller: &Caller<'_>,
        open: &Arc<OpenTable>,
        rows: Vec<Row>,
    ) -> Result<(), ApiError> {
        if rows.is_empty() {
            return Ok(());
        }
        let wanted = rows.iter().map(|row| WantedRow {
            table: open.id,
            key: row.key.clone(),
            clustering: row.clustering.clone(),
        });
        let wanted = wanted.collect();
        let decide = PutAll { open: open.clone(), rows };
        let transaction = Transaction { rows: wanted, decide, now_seconds: caller.now_seconds() };
        self.runtime.store.transact(transaction).await.map_err(store_error)
    }

    /// Puts every item of a backup into a table that nobody else knows.
    async fn fill_from(
        &self,
        caller: &Caller<'_>,
        source: Holder,
        open: &Arc<OpenTable>,
    ) -> Result<(), ApiError> {
        let mut read = all_rows(source.table, caller.now_seconds());
        loop {
            let mut rows = Rows::new(source.column, caller.now_seconds(), i64::MAX);
            let end = self.runtime.store.read(&read, &mut rows).await.map_err(store_error)?.end;
            let last = rows.last.clone();
            self.put_rows(caller, open, rows.found).await?;
            read.after = match end {
                ReadEnd::Complete => return Ok(()),
                ReadEnd::Paused(position) => Some(position),
                ReadEnd::Stopped => last,
            };
            tokio::task::yield_now().await;
        }
    }
}

/// Ends a backup for writers, however it ends.
struct UnderWay<'t> {
    open: &'t OpenTable,
    shared: &'t super::AllShards,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.open.counts.copying.target.store(NONE, SeqCst);
        self.shared.backup_begun.notify_waiters();
    }
}

/// Items with the entries of their indexes.
struct PutAll {
    open: Arc<OpenTable>,
    rows: Vec<Row>,
}

impl Decide for PutAll {
    type Outcome = ();

    fn decide(
        self,
        found: &[Option<RowView<'_>>],
        moment: Moment,
    ) -> Result<((), Vec<Mutation>), StoreError> {
        let fault = |error: ApiError| StoreError::from(Refused::Undecided { why: error.to_string() });
        let definition = &self.open.definition;
        let mut writer = RowWriter::new();
        let mut mutations = Vec::new();
        for (row, found) in self.rows.into_iter().zip(found) {
            // A file may bring an item twice: the entries of the first are to go.
            if let Some(old) =
                found.and_then(|row| layout::document_bytes(&row, self.open.column, moment.now_seconds))
            {
                let item = document::decode(old).map_err(|e| fault(internal(e)))?;
                let Some(key) = definition.stored_key(&item) else { continue };
                for (index, store) in definition.indexes.iter().zip(&self.open.indexes) {
                    let Some(entry) = definition.index_entry(index, &item) else { continue };
                    let entry = Entry::of(entry, &key).map_err(fault)?;
                    // Below what is put for this item now.
                    layout::deleted_row(&mut writer, moment.ballot - 1, moment.now_seconds);
                    let mut mutation = Mutation::new(*store, entry.place.key);
                    mutation.row(&entry.place.clustering, writer.view());
                    mutations.push(mutation);
                }
            }
            layout::document_row(&mut writer, moment.ballot, self.open.column, &row.document);
            let mut mutation = Mutation::new(self.open.id, row.key);
            mutation.row(&row.clustering, writer.view());
            mutations.push(mutation);
            if definition.indexes.is_empty() {
                continue;
            }
            let item = document::decode(&row.document).map_err(|e| fault(internal(e)))?;
            let Some(key) = definition.stored_key(&item) else { continue };
            for (index, store) in definition.indexes.iter().zip(&self.open.indexes) {
                let Some(entry) = definition.index_entry(index, &item) else { continue };
                let entry = Entry::of(entry, &key).map_err(fault)?;
                layout::document_row(&mut writer, moment.ballot, STORE_COLUMN, &entry.document);
                let mut mutation = Mutation::new(*store, entry.place.key);
                mutation.row(&entry.place.clustering, writer.view());
                mutations.push(mutation);
            }
        }
        Ok(((), mutations))
    }
}

pub struct Row {
    pub key: PartitionKey,
    pub clustering: Vec<u8>,
    pub timestamp: i64,
    pub document: Vec<u8>,
}

/// Collects rows up to a ballot.
pub struct Rows {
    column: u32,
    now_seconds: u32,
    up_to: i64,
    key: Option<PartitionKey>,
    pub found: Vec<Row>,
    bytes: usize,
    pub last: Option<Position>,
}

impl Rows {
    pub fn new(column: u32, now_seconds: u32, up_to: i64) -> Rows {
        Rows { column, now_seconds, up_to, key: None, found: Vec::new(), bytes: 0, last: None }
    }
}

impl Sink for Rows {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let Some(key) = self.key.clone() else { return Flow::Stop };
        if row.base() > self.up_to {
            return Flow::Continue;
        }
        let Some(bytes) = layout::document_bytes(&row, self.column, self.now_seconds) else {
            return Flow::Continue;
        };
        self.last = Some(Position { key: key.clone(), clustering: Some(clustering.to_vec()) });
        self.bytes += bytes.len();
        self.found.push(Row {
            key,
            clustering: clustering.to_vec(),
            timestamp: row.base(),
            document: bytes.to_vec(),
        });
        let full = self.found.len() >= ITEMS_PER_COMMIT || self.bytes >= BYTES_PER_COMMIT;
        if full { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

fn backups_keyspace() -> Change {
    let replication: BTreeMap<String, String> =
        [("class", "SimpleStrategy"), ("replication_factor", "1")].map(|(k, v)| (k.into(), v.into())).into();
    let mut properties = Properties::default();
    // The first of its name, so it cannot be there twice.
    let added = properties.add("replication", PropertyValue::Map(replication));
    debug_assert!(added.is_ok());
    Change::CreateKeyspace { name: BACKUPS.into(), if_not_exists: true, properties }
}

/// The table that holds a backup: keys as bytes, items as documents.
fn holder(id: String, has_sort: bool, definition: serde_json::Value) -> NewTable {
    let names = ["key", "item", "sort"].into_iter().take(if has_sort { 3 } else { 2 });
    NewTable {
        keyspace: BACKUPS.into(),
        name: id,
        columns: names.map(|name| NewColumn::regular(name, DataType::Blob)).collect(),
        partition_key: vec!["key".into()],
        clustering: if has_sort { vec!["sort".into()] } else { Vec::new() },
        foreign: Some(NewForeign { definition, stores: Vec::new() }),
        ..NewTable::default()
    }
}
