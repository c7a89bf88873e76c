//! The control plane: tables, their settings, tags and time to live. A definition changes as one change of the catalogue.

use super::layout::internal;
use super::record;
use super::table::{KEYSPACE, OpenTable, index_store, is_shown, stream_store};
use super::{Caller, Dynamo, query_error};
use crate::error::{ApiError, ErrorName};
use crate::json::{self, Writer};
use crate::messages::Rule;
use crate::request::{
    CreateTable, ListTables, ListTagsOfResource, TagResource, UntagResource, UpdateTable, UpdateTimeToLive,
};
use crate::table::{IndexStatus, KeyAttribute, KeyType, TableDefinition, TableStatus};
use database::grants::{Permission, Resource};
use model::types::DataType;
use schema::{
    Applied, Catalogue, Change, NewColumn, NewForeign, NewStore, NewTable, Properties, PropertyValue,
    SchemaError, Setting,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use store::Store;

/// Tags of one table.
const TAGS_MAX: usize = 50;

impl<S: Store> Dynamo<S> {
    pub(super) async fn create_table(
        &self,
        caller: &Caller<'_>,
        create: &CreateTable,
    ) -> Result<Vec<u8>, ApiError> {
        if let Some(grants) = caller.grants {
            grants.require(Permission::Create, &Resource::Keyspace(KEYSPACE.into())).map_err(query_error)?;
        }
        let id = uuid_text(self.runtime.ids.uuid());
        let definition = TableDefinition::create(create, id, caller.now_ms());
        self.add_table(caller, &definition.name, definition.clone()).await?;
        let open = self.open(&definition.name)?;
        open.counts.known.store(true, Relaxed);
        // The one that asked is told that it is being made; whoever looks next finds it ready.
        let mut shown = definition;
        shown.indexes.iter_mut().for_each(|index| index.status = IndexStatus::Creating);
        Ok(self.description("TableDescription", &shown, TableStatus::Creating, (0, 0), &[]))
    }

    /// Makes a table exist.
    pub(super) async fn add_table(
        &self,
        caller: &Caller<'_>,
        name: &str,
        definition: TableDefinition,
    ) -> Result<(), ApiError> {
        let name = name.to_string();
        let compute = move |catalogue: &Catalogue, setting: &Setting| -> Result<Applied, ApiError> {
            if catalogue.table(KEYSPACE, &name).is_some() {
                let text = format!("Table already exists: {name}");
                return Err(ApiError::new(ErrorName::ResourceInUse, text));
            }
            let apply = |catalogue: &Catalogue, change: &Change| {
                catalogue.apply(change, setting).map_err(ApiError::from)
            };
            let with_keyspace = apply(catalogue, &keyspace())?.catalogue;
            let table = new_table(&name, &definition)?;
            apply(&with_keyspace, &Change::CreateTable(Box::new(table)))
        };
        let changed = self.runtime.shared.change_aside(&self.runtime.store, caller.now_micros, compute).await;
        changed.map(|_| ())
    }

    /// Changes a table's definition; writes that went by the one from before are made again.
    pub(super) async fn alter(
        &self,
        caller: &Caller<'_>,
        name: &str,
        edit: impl FnOnce(TableDefinition) -> Result<TableDefinition, ApiError> + Send + 'static,
    ) -> Result<Arc<OpenTable>, ApiError> {
        let table_name = name.to_string();
        let compute = move |catalogue: &Catalogue, setting: &Setting| -> Result<Applied, ApiError> {
            let table = catalogue.table(KEYSPACE, &table_name);
            let foreign = table.and_then(|table| table.foreign.as_deref());
            let Some(foreign) = foreign else { return Err(ApiError::no_such_table(&table_name)) };
            let before = TableDefinition::from_json(&foreign.definition.to_string()).map_err(internal)?;
            let after = edit(before)?;
            let stores = stores(&after);
            let definition = serde_json::to_value(&after).map_err(internal)?;
            let foreign = Box::new(NewForeign { definition, stores });
            let change = Change::AlterForeign { keyspace: KEYSPACE.into(), name: table_name, foreign };
            Ok(catalogue.apply(&change, setting)?)
        };
        let changed = self.runtime.shared.change_aside(&self.runtime.store, caller.now_micros, compute).await;
        changed?;
        self.forget(name);
        let open = self.open(name)?;
        open.counts.epoch.fetch_add(1, Relaxed);
        self.forget(name);
        self.open(name)
    }

    pub(super) async fn update_table(
        &self,
        caller: &Caller<'_>,
        update: &UpdateTable,
    ) -> Result<Vec<u8>, ApiError> {
        let before = self.control_of(caller, Permission::Alter, &update.table)?;
        let (wanted, now_ms) = (update.clone(), caller.now_ms());
        let edit = move |definition: TableDefinition| definition.update(&wanted, now_ms);
        let open = self.alter(caller, &update.table, edit).await?;
        if open.definition.indexes.iter().any(|index| index.status == IndexStatus::Creating) {
            self.shared.builds_due.notify_one();
        }
        // The answer still has the throughput from before.
        let mut shown = open.definition.clone();
        shown.throughput = before.definition.throughput;
        for index in &before.definition.indexes {
            if shown.index(&index.name).is_none() {
                let status = IndexStatus::Deleting;
                shown.indexes.push(crate::table::Index { status, ..index.clone() });
            }
        }
        let counted = self.counted(caller, &open).await?;
        Ok(self.description("TableDescription", &shown, TableStatus::Updating, counted, &[]))
    }

    /// A table that somebody wants to change.
    fn control_of(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        name: &str,
    ) -> Result<Arc<OpenTable>, ApiError> {
        let named = |error: ApiError| match error.name() {
            ErrorName::ResourceNotFound => ApiError::no_such_table(name),
            _ => error,
        };
        self.open_for(caller, permission, name).map_err(named)
    }

    pub(super) async fn delete_table(&self, caller: &Caller<'_>, name: &str) -> Result<Vec<u8>, ApiError> {
        let open = self.control_of(caller, Permission::Drop, name)?;
        let definition = &open.definition;
        if definition.deletion_protection {
            return Err(ApiError::validation(
                "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
            ));
        }
        if definition.indexes.iter().any(|index| index.status == IndexStatus::Creating) {
            let text = "Attempt to change a resource which is still in use: Cannot delete table while indexes are being \
                        created, updated, or deleted.";
            return Err(ApiError::new(ErrorName::ResourceInUse, text));
        }
        let counted = (open.counts.items.load(Relaxed).max(0), open.counts.bytes.load(Relaxed).max(0));
        match super::buried::streams(definition).next() {
            Some(_) => self.bury_table(caller, &open).await?,
            None => self.remove_table(caller, name).await?,
        }
        self.forget(name);
        self.shared.forget(open.table.id);
        Ok(self.description("TableDescription", definition, TableStatus::Deleting, counted, &[]))
    }

    /// Drops a table with all that belongs to it.
    pub(super) async fn remove_table(&self, caller: &Caller<'_>, name: &str) -> Result<(), ApiError> {
        let table_name = name.to_string();
        let compute = move |catalogue: &Catalogue, setting: &Setting| {
            let change = Change::DropForeign { keyspace: KEYSPACE.into(), name: table_name.clone() };
            catalogue.apply(&change, setting).map_err(|_| ApiError::no_such_table(&table_name))
        };
        let changed = self.runtime.shared.change_aside(&self.runtime.store, caller.now_micros, compute).await;
        changed.map(|_| ())
    }

    /// Makes a table known under another name.
    pub(super) async fn rename_table(
        &self,
        caller: &Caller<'_>,
        from: &str,
        to: &str,
    ) -> Result<(), ApiError> {
        let (from, to) = (from.to_string(), to.to_string());
        let compute = move |catalogue: &Catalogue, setting: &Setting| {
            let text = format!("Table already exists: {to}");
            let change = Change::RenameForeign { keyspace: KEYSPACE.into(), from, to };
            catalogue.apply(&change, setting).map_err(|_| ApiError::new(ErrorName::TableAlreadyExists, text))
        };
        let changed = self.runtime.shared.change_aside(&self.runtime.store, caller.now_micros, compute).await;
        changed.map(|_| ())
    }

    pub(super) async fn describe_table(&self, caller: &Caller<'_>, name: &str) -> Result<Vec<u8>, ApiError> {
        let open = self.described(caller, name)?;
        let counted = self.counted(caller, &open).await?;
        let mut indexes = Vec::with_capacity(open.indexes.len());
        for store in &open.indexes {
            indexes.push(self.count_rows(caller, *store, super::layout::STORE_COLUMN).await?);
        }
        Ok(self.description("Table", &open.definition, status_of(&open.definition), counted, &indexes))
    }

    pub(super) fn list_tables(&self, caller: &Caller<'_>, list: &ListTables) -> Result<Vec<u8>, ApiError> {
        let (_, catalogue) = self.runtime.catalogue();
        let tables = catalogue.keyspace(KEYSPACE);
        let mut names: Vec<&str> = tables
            .iter()
            .flat_map(|keyspace| keyspace.tables.values())
            .filter(|table| is_shown(table))
            .filter(|table| caller.grants.is_none_or(|grants| grants.may_on_table(Permission::Select, table)))
            .map(|table| &*table.name)
            .filter(|name| list.start.as_deref().is_none_or(|start| *name > start))
            .collect();
        names.sort_unstable();
        let more = names.len() > list.limit;
        names.truncate(list.limit);
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        object.list("TableNames", &names, |name, out| json::write_string(name, out));
        if let Some(last) = names.last().filter(|_| more) {
            object.string("LastEvaluatedTableName", last);
        }
        object.end();
        Ok(out)
    }

    pub(super) async fn update_time_to_live(
        &self,
        caller: &Caller<'_>,
        update: &UpdateTimeToLive,
    ) -> Result<Vec<u8>, ApiError> {
        self.control_of(caller, Permission::Alter, &update.table)?;
        let wanted = update.clone();
        let edit = move |mut definition: TableDefinition| {
            match (&definition.time_to_live, wanted.enabled) {
                (Some(name), _) if *name != wanted.attribute => {
                    return Err(Rule::TtlOtherName.refuse(&[name]));
                }
                (Some(_), true) => return Err(Rule::TtlEnabled.refuse(&[])),
                (None, false) => return Err(Rule::TtlDisabled.refuse(&[])),
                _ => {}
            }
            definition.time_to_live = wanted.enabled.then_some(wanted.attribute);
            Ok(definition)
        };
        self.alter(caller, &update.table, edit).await?;
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut specification = object.nested("TimeToLiveSpecification");
        specification.boolean("Enabled", update.enabled);
        specification.string("AttributeName", &update.attribute);
        specification.end();
        object.end();
        Ok(out)
    }

    pub(super) fn describe_time_to_live(&self, caller: &Caller<'_>, name: &str) -> Result<Vec<u8>, ApiError> {
        let open = self.described(caller, name)?;
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut description = object.nested("TimeToLiveDescription");
        let attribute = &open.definition.time_to_live;
        description.string("TimeToLiveStatus", if attribute.is_some() { "ENABLED" } else { "DISABLED" });
        if let Some(attribute) = attribute {
            description.string("AttributeName", attribute);
        }
        description.end();
        object.end();
        Ok(out)
    }

    pub(super) async fn tag(&self, caller: &Caller<'_>, tag: &TagResource) -> Result<Vec<u8>, ApiError> {
        self.tagged(caller, Permission::Alter, &tag.arn, &tag.table)?;
        let tags = tag.tags.clone();
        let edit = move |mut definition: TableDefinition| {
            for (key, value) in tags {
                match definition.tags.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, known)) => *known = value,
                    None => definition.tags.push((key, value)),
                }
            }
            if definition.tags.len() > TAGS_MAX {
                return Err(ApiError::validation(format!(
                    "One or more parameter values were invalid: Too many tags: a table has at most {TAGS_MAX}"
                )));
            }
            Ok(definition)
        };
        self.alter(caller, &tag.table, edit).await.map(|_| Vec::new())
    }

    pub(super) async fn untag(
        &self,
        caller: &Caller<'_>,
        untag: &UntagResource,
    ) -> Result<Vec<u8>, ApiError> {
        self.tagged(caller, Permission::Alter, &untag.arn, &untag.table)?;
        let keys = untag.keys.clone();
        let edit = move |mut definition: TableDefinition| {
            definition.tags.retain(|(key, _)| !keys.contains(key));
            Ok(definition)
        };
        self.alter(caller, &untag.table, edit).await.map(|_| Vec::new())
    }

    pub(super) fn list_tags(
        &self,
        caller: &Caller<'_>,
        list: &ListTagsOfResource,
    ) -> Result<Vec<u8>, ApiError> {
        let open = self.tagged(caller, Permission::Select, &list.arn, &list.table)?;
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        object.list("Tags", &open.definition.tags, |(key, value), out| {
            let mut tag = Writer::object(out);
            tag.string("Key", key);
            tag.string("Value", value);
            tag.end();
        });
        object.end();
        Ok(out)
    }

    fn tagged(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        arn: &str,
        name: &str,
    ) -> Result<Arc<OpenTable>, ApiError> {
        self.open_for(caller, permission, name).map_err(|error| match error.name() {
            ErrorName::ResourceNotFound => Rule::ResourceArnUnknown.refuse(&[arn]),
            _ => error,
        })
    }
}

/// A table is busy while one of its indexes has not begun to be filled.
pub(super) fn status_of(definition: &TableDefinition) -> TableStatus {
    let waiting = definition.indexes.iter().any(|index| index.backfilling == Some(false));
    if waiting { TableStatus::Updating } else { TableStatus::Active }
}

pub(super) fn uuid_text(uuid: [u8; 16]) -> String {
    model::timeuuid::format(&uuid)
}

fn keyspace() -> Change {
    let replication: BTreeMap<String, String> =
        [("class", "SimpleStrategy"), ("replication_factor", "1")].map(|(k, v)| (k.into(), v.into())).into();
    let mut properties = Properties::default();
    // The first of its name, so it cannot be there twice.
    let added = properties.add("replication", PropertyValue::Map(replication));
    debug_assert!(added.is_ok());
    Change::CreateKeyspace { name: KEYSPACE.into(), if_not_exists: true, properties }
}

/// The stores that a definition asks for.
fn stores(definition: &TableDefinition) -> Vec<NewStore> {
    let indexes =
        definition.indexes.iter().map(|index| NewStore { name: index_store(index), window_seconds: None });
    let streams = definition.stream.iter().chain(&definition.former_streams);
    let streams = streams.map(|stream| NewStore {
        name: stream_store(&stream.label),
        window_seconds: Some(record::WINDOW_SECONDS),
    });
    indexes.chain(streams).collect()
}

/// The service's limit of an item collection, which only tables with a local index have.
fn collection_limit(definition: &TableDefinition) -> Result<Properties, ApiError> {
    let mut properties = Properties::default();
    if definition.has_local_indexes() {
        let limit = [("bytes", "10GB"), ("action", "refuse")];
        let limit = limit.map(|(name, value)| (name.to_string(), value.to_string()));
        properties.add("partition_limit", PropertyValue::Map(limit.into())).map_err(SchemaError::from)?;
    }
    Ok(properties)
}

/// The table as the catalogue has it: keys as columns, all attributes in one column more.
fn new_table(name: &str, definition: &TableDefinition) -> Result<NewTable, ApiError> {
    let column = |attribute: &KeyAttribute| {
        let data_type = match attribute.kind {
            KeyType::S => DataType::Text,
            KeyType::N | KeyType::B => DataType::Blob,
        };
        NewColumn::regular(&attribute.name, data_type)
    };
    let mut columns: Vec<NewColumn> = definition.key.attributes().map(column).collect();
    let mut item = String::from("item");
    while definition.key.contains(&item) {
        item.push('_');
    }
    columns.push(NewColumn::regular(&item, DataType::Blob));
    let names = |attributes: &[KeyAttribute]| attributes.iter().map(|a| a.name.clone()).collect();
    Ok(NewTable {
        keyspace: KEYSPACE.into(),
        name: name.to_string(),
        if_not_exists: false,
        columns,
        partition_key: names(&definition.key.hash),
        clustering: names(&definition.key.sort),
        clustering_order: Vec::new(),
        properties: collection_limit(definition)?,
        is_compact: false,
        foreign: Some(NewForeign {
            definition: serde_json::to_value(definition).map_err(internal)?,
            stores: stores(definition),
        }),
    })
}
