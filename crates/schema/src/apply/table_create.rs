//! CREATE TABLE.

use super::types::check_type_size;
use super::{
    changed, constraint, existing_keyspace, foreign, guard, is_word, row_ttl, unchanged, with_table,
};
use crate::bucketing;
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewColumn, NewTable, Setting, TargetKind};
use crate::column::{Column, ColumnKind};
use crate::compact;
use crate::fault::{KeyFault, Resource, SchemaError, TableFault};
use crate::name::FullName;
use crate::options::{TableOptions, elsewhere};
use crate::properties::Properties;
use crate::table::{Table, TableKind};
use crate::tenant;
use model::timeuuid;
use model::types::DataType;
use std::collections::HashSet;
use std::sync::Arc;

/// Longest table name: with its id it must fit the name of a folder.
const NAME_CHARACTERS_MAX: usize = 222;

/// Most columns of a table, and most of them in its key. Each prepared statement knows all columns of its table, and a row
/// is written and read column by column.
pub(super) const COLUMNS_MAX: usize = 5_000;
const KEY_COLUMNS_MAX: usize = 256;

pub(super) fn create(
    catalogue: &Catalogue,
    new: &NewTable,
    setting: &Setting,
) -> Result<Applied, SchemaError> {
    check_definition(new)?;
    let mut options = TableOptions::read_new(&new.properties)?;
    guard(&new.keyspace, "CREATE", || Resource::AllTables)?;
    let keyspace = existing_keyspace(catalogue, &new.keyspace)?;
    if keyspace.table(&new.name).is_some() {
        return match new.if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => {
                Err(SchemaError::TableExists { keyspace: new.keyspace.clone(), table: new.name.clone() })
            }
        };
    }
    let id = catalogue.next_table_id;
    let mut next_id = id + 1;
    let (bucketed, bucketing) = bucketing::adopt(new)?;
    let new = &*bucketed;
    options.bucketing = bucketing;
    if let Some(plan) = &mut options.bucketing {
        next_id = plan.number(next_id);
    }
    let options = options.checked()?;
    let uuid = table_uuid(catalogue, &new.properties, id, setting)?;
    let mut table = build(new, id, uuid, options)?;
    row_ttl::adopt(&mut table, &new.columns)?;
    constraint::check_table(&table)?;
    bucketing::check_limit(&table)?;
    tenant::adopt(keyspace, &mut table)?;
    match &new.foreign {
        None => check_name(&new.keyspace, &new.name)?,
        Some(new_foreign) => {
            foreign::check_name(&new.keyspace, &new.name)?;
            table.foreign = Some(Arc::new(foreign::adopt(new_foreign, None, &mut next_id)));
        }
    }
    let mut next = with_table(catalogue, keyspace, table);
    next.next_table_id = next_id;
    let warnings = elsewhere::warnings(&new.properties);
    Ok(Applied {
        warnings,
        ..changed(next, EffectKind::Created, TargetKind::Table, &new.keyspace, &new.name)
    })
}

impl Table {
    /// A system table as the server defines it: fixed id, a UUID made of its name.
    pub fn system(id: u32, kind: TableKind, new: &NewTable) -> Result<Table, SchemaError> {
        let uuid = crate::version::name_uuid(format!("{}{}", new.keyspace, new.name).as_bytes());
        let options = TableOptions::read_new(&new.properties)?.checked()?;
        let mut table = build(new, id, uuid, options)?;
        table.kind = kind;
        Ok(table)
    }
}

/// What is wrong with the statement whatever the catalogue holds.
fn check_definition(new: &NewTable) -> Result<(), SchemaError> {
    let mut seen = HashSet::with_capacity(new.columns.len());
    for column in &new.columns {
        if !seen.insert(&column.name) {
            return Err(TableFault::DuplicateColumn {
                column: column.name.to_string(),
                table: FullName::new(&new.keyspace, &new.name),
            }
            .into());
        }
    }
    if new.partition_key.is_empty() {
        return Err(TableFault::NoPrimaryKey { table: FullName::new(&new.keyspace, &new.name) }.into());
    }
    check_column_count(&new.name, new.columns.len())?;
    let mut seen = HashSet::with_capacity(new.clustering_order.len());
    for (column, _) in &new.clustering_order {
        if !seen.insert(column) {
            return Err(TableFault::DuplicateInOrder {
                column: column.to_string(),
                table: FullName::new(&new.keyspace, &new.name),
            }
            .into());
        }
    }
    Ok(())
}

/// Refuses a table with too many columns, in the words of Cassandra's guardrail.
pub(super) fn check_column_count(table: &str, columns: usize) -> Result<(), SchemaError> {
    if columns <= COLUMNS_MAX {
        return Ok(());
    }
    Err(TableFault::TooManyColumns { most: COLUMNS_MAX, columns, table: table.to_string() }.into())
}

pub(super) fn check_name(keyspace: &str, name: &str) -> Result<(), SchemaError> {
    if !is_word(name) {
        return Err(
            TableFault::NotAWord { table: FullName::new(keyspace, name), name: name.to_string() }.into()
        );
    }
    if name.len() > NAME_CHARACTERS_MAX {
        return Err(TableFault::NameTooLong {
            table: FullName::new(keyspace, name),
            characters_max: NAME_CHARACTERS_MAX,
            characters: name.len(),
            name: name.to_string(),
        }
        .into());
    }
    Ok(())
}

/// The id that clients see: the one asked for, else one made of the time and the table's number.
pub(super) fn table_uuid(
    catalogue: &Catalogue,
    properties: &Properties,
    id: u32,
    setting: &Setting,
) -> Result<[u8; 16], SchemaError> {
    let Some(text) = properties.text("id")? else {
        let [a, b, c, d] = id.to_be_bytes();
        let node = timeuuid::clock_and_node((id & 0x3fff) as u16, [0x03, 0x50, a, b, c, d]);
        return Ok(timeuuid::from_unix_micros(setting.now_micros, node));
    };
    let uuid = timeuuid::parse(text).ok_or(TableFault::IdMalformed)?;
    match catalogue.tables().find(|table| table.uuid == uuid) {
        None => Ok(uuid),
        Some(taken) => Err(TableFault::IdTaken { id: text.to_string(), table: taken.full_name() }.into()),
    }
}

fn build(new: &NewTable, id: u32, uuid: [u8; 16], options: TableOptions) -> Result<Table, SchemaError> {
    let mut table = Table {
        id,
        uuid,
        keyspace: new.keyspace.as_str().into(),
        name: new.name.as_str().into(),
        kind: TableKind::Stored,
        partition_key: Vec::new(),
        clustering: Vec::new(),
        statics: Vec::new(),
        regulars: Vec::new(),
        options,
        dropped: Vec::new(),
        next_column_id: 0,
        incarnation: 0,
        indexes: Vec::new(),
        view: None,
        foreign: None,
        compact: None,
        row_ttl: None,
    };
    add_key_columns(new, &mut table)?;
    let in_key: HashSet<&String> = new.partition_key.iter().chain(&new.clustering).collect();
    if new.is_compact {
        let outside: Vec<&NewColumn> =
            new.columns.iter().filter(|column| !in_key.contains(&column.name)).collect();
        compact::check_columns(&outside)?;
    }
    for column in new.columns.iter().filter(|column| !in_key.contains(&column.name)) {
        if column.is_static && table.clustering.is_empty() {
            return Err(statics_need_clustering());
        }
        if is_unsupported_udt(&column.data_type) {
            return Err(TableFault::NestedCollections.into());
        }
        check_type_size(&column.name, &column.data_type)?;
        let kind = if column.is_static { ColumnKind::Static } else { ColumnKind::Regular };
        push_column(&mut table, column, kind);
    }
    sort_columns(&mut table);
    apply_order(new, &mut table)?;
    let counters = table.is_counter();
    let plain = |column: &Column| column.data_type != DataType::Counter;
    if counters && table.statics.iter().chain(&table.regulars).any(plain) {
        return Err(TableFault::CountersAndOthers.into());
    }
    check_counter_ttl(&table)?;
    if new.is_compact {
        compact::lay_out(&mut table)?;
    }
    Ok(table)
}

pub(super) fn statics_need_clustering() -> SchemaError {
    TableFault::StaticsNeedClustering.into()
}

pub(super) fn check_counter_ttl(table: &Table) -> Result<(), SchemaError> {
    if table.is_counter() && table.options.default_time_to_live > 0 {
        return Err(TableFault::TtlOfCounters.into());
    }
    Ok(())
}

/// A non-frozen user-defined type with a non-frozen collection inside.
pub(super) fn is_unsupported_udt(data_type: &DataType) -> bool {
    match data_type {
        DataType::Udt(udt) if !udt.frozen => udt.fields.iter().any(|field| field.data_type.is_multi_cell()),
        _ => false,
    }
}

/// Puts the columns outside the key in the order of their names, behind one or more [`push_column`].
pub(super) fn sort_columns(table: &mut Table) {
    for columns in [&mut table.statics, &mut table.regulars] {
        columns.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// Adds a column that is not part of the key behind the others; [`sort_columns`] brings it to its place.
pub(super) fn push_column(table: &mut Table, new: &NewColumn, kind: ColumnKind) {
    let column = Column {
        id: table.next_column_id,
        name: new.name.as_str().into(),
        data_type: new.data_type.clone(),
        kind,
        position: 0,
        descending: false,
        mask: new.mask.clone(),
        checks: new.checks.clone(),
    };
    table.next_column_id += 1;
    let columns = if kind == ColumnKind::Static { &mut table.statics } else { &mut table.regulars };
    columns.push(column);
}

fn add_key_columns(new: &NewTable, table: &mut Table) -> Result<(), SchemaError> {
    let key_columns = new.partition_key.len() + new.clustering.len();
    if key_columns > KEY_COLUMNS_MAX {
        return Err(TableFault::TooManyKeyColumns {
            table: new.name.to_string(),
            columns: key_columns,
            most: KEY_COLUMNS_MAX,
        }
        .into());
    }
    let partition = new.partition_key.iter().map(|name| (name, ColumnKind::PartitionKey));
    let clustering = new.clustering.iter().map(|name| (name, ColumnKind::Clustering));
    for (name, kind) in partition.chain(clustering) {
        let column = new
            .columns
            .iter()
            .find(|column| column.name == *name)
            .ok_or_else(|| KeyFault::Unknown { column: name.to_string(), table: new.name.to_string() })?;
        if table.column(name).is_some() {
            return Err(KeyFault::Twice { column: name.to_string(), table: new.name.to_string() }.into());
        }
        check_key_column(column)?;
        check_type_size(name, &column.data_type)?;
        let id = table.next_column_id;
        table.next_column_id += 1;
        let columns =
            if kind == ColumnKind::PartitionKey { &mut table.partition_key } else { &mut table.clustering };
        columns.push(Column {
            id,
            name: name.as_str().into(),
            data_type: column.data_type.clone(),
            kind,
            position: columns.len(),
            descending: false,
            mask: column.mask.clone(),
            checks: column.checks.clone(),
        });
    }
    Ok(())
}

fn check_key_column(column: &NewColumn) -> Result<(), SchemaError> {
    let NewColumn { name, data_type, .. } = column;
    let column_name = name.clone();
    Err(match data_type {
        _ if column.is_static => KeyFault::Static { column: column_name },
        DataType::Counter => KeyFault::Counter { column: column_name },
        DataType::Udt(udt) if !udt.frozen => {
            KeyFault::Udt { udt: FullName::new(&udt.keyspace, &udt.name), column: column_name }
        }
        other if other.is_multi_cell() => {
            KeyFault::Collection { data_type: other.clone(), column: column_name }
        }
        other if other.references_duration() => KeyFault::Duration { column: column_name },
        _ => return Ok(()),
    }
    .into())
}

/// CLUSTERING ORDER BY names a prefix of the clustering columns, in their order.
fn apply_order(new: &NewTable, table: &mut Table) -> Result<(), SchemaError> {
    let listed = |name: &str| new.clustering_order.iter().any(|(column, _)| column == name);
    let foreign: Vec<&str> = new
        .clustering_order
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| !new.clustering.iter().any(|column| column == name))
        .collect();
    if !foreign.is_empty() {
        return Err(KeyFault::OrderOfOthers {
            columns: foreign.iter().map(|name| name.to_string()).collect(),
        }
        .into());
    }
    for (column, (name, descending)) in table.clustering.iter_mut().zip(&new.clustering_order) {
        if *column.name != **name {
            let (column, before) = (column.name.to_string(), name.to_string());
            return Err(match listed(&column) {
                true => KeyFault::OrderSwapped { column, before },
                false => KeyFault::OrderMissing { column },
            }
            .into());
        }
        column.descending = *descending;
    }
    Ok(())
}
