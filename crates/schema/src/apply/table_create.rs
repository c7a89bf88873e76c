//! CREATE TABLE.

use super::{changed, existing_keyspace, guard, is_word, unchanged, with_table};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewColumn, NewTable, Setting, TargetKind};
use crate::column::{Column, ColumnKind};
use crate::error::SchemaError;
use crate::options::TableOptions;
use crate::properties::Properties;
use crate::table::{Table, TableKind};
use model::timeuuid;
use model::types::DataType;

/// Longest table name: with its id it must fit the name of a folder.
const NAME_CHARACTERS_MAX: usize = 222;

pub(super) fn create(
    catalogue: &Catalogue,
    new: &NewTable,
    setting: &Setting,
) -> Result<Applied, SchemaError> {
    check_definition(new)?;
    let options = TableOptions::read_new(&new.properties)?;
    guard(&new.keyspace, "CREATE", || format!("all tables in {}", new.keyspace))?;
    let keyspace = existing_keyspace(catalogue, &new.keyspace)?;
    if keyspace.table(&new.name).is_some() {
        return match new.if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => {
                Err(SchemaError::TableExists { keyspace: new.keyspace.clone(), table: new.name.clone() })
            }
        };
    }
    let options = options.checked()?;
    let id = catalogue.next_table_id;
    let uuid = table_uuid(catalogue, &new.properties, id, setting)?;
    let table = build(new, id, uuid, options)?;
    check_name(&new.keyspace, &new.name)?;
    let mut next = with_table(catalogue, keyspace, table);
    next.next_table_id = id + 1;
    Ok(changed(next, EffectKind::Created, TargetKind::Table, &new.keyspace, &new.name))
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
    let place = format!("{}.{}", new.keyspace, new.name);
    for (at, column) in new.columns.iter().enumerate() {
        if new.columns[..at].iter().any(|earlier| earlier.name == column.name) {
            return Err(SchemaError::Invalid(format!(
                "Duplicate column '{}' declaration for table '{place}'",
                column.name
            )));
        }
    }
    if new.partition_key.is_empty() {
        return Err(SchemaError::Invalid(format!(
            "No PRIMARY KEY specifed for table '{place}' (exactly one required)"
        )));
    }
    for (at, (column, _)) in new.clustering_order.iter().enumerate() {
        if new.clustering_order[..at].iter().any(|(earlier, _)| earlier == column) {
            return Err(SchemaError::Invalid(format!(
                "Duplicate column '{column}' in CLUSTERING ORDER BY clause for table '{place}'"
            )));
        }
    }
    Ok(())
}

pub(super) fn check_name(keyspace: &str, name: &str) -> Result<(), SchemaError> {
    if !is_word(name) {
        return Err(SchemaError::Config(format!(
            "{keyspace}.{name}: Table name must not be empty or not contain non-alphanumeric-underscore characters \
             (got \"{name}\")"
        )));
    }
    if name.len() > NAME_CHARACTERS_MAX {
        return Err(SchemaError::Config(format!(
            "{keyspace}.{name}: Table name must not be more than {NAME_CHARACTERS_MAX} characters long (got {} \
             characters for \"{name}\")",
            name.len()
        )));
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
    let uuid = timeuuid::parse(text).ok_or_else(|| SchemaError::config("Invalid table id"))?;
    match catalogue.tables().find(|table| table.uuid == uuid) {
        None => Ok(uuid),
        Some(taken) => Err(SchemaError::Config(format!(
            "Invalid table id: {text} is the id of {}.{}; leave the id out to get a fresh one",
            taken.keyspace, taken.name
        ))),
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
    };
    add_key_columns(new, &mut table)?;
    let in_key = |name: &str| new.partition_key.iter().chain(&new.clustering).any(|key| key == name);
    for column in new.columns.iter().filter(|column| !in_key(&column.name)) {
        if column.is_static && table.clustering.is_empty() {
            return Err(statics_need_clustering());
        }
        if is_unsupported_udt(&column.data_type) {
            return Err(SchemaError::invalid(UNSUPPORTED_UDT));
        }
        let kind = if column.is_static { ColumnKind::Static } else { ColumnKind::Regular };
        push_column(&mut table, column, kind);
    }
    apply_order(new, &mut table)?;
    let counters = table.is_counter();
    let plain = |column: &Column| column.data_type != DataType::Counter;
    if counters && table.statics.iter().chain(&table.regulars).any(plain) {
        return Err(SchemaError::invalid("Cannot mix counter and non counter columns in the same table"));
    }
    check_counter_ttl(&table)?;
    Ok(table)
}

pub(super) const UNSUPPORTED_UDT: &str =
    "Non-frozen UDTs with nested non-frozen collections are not supported";

pub(super) fn statics_need_clustering() -> SchemaError {
    SchemaError::invalid(
        "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
    )
}

pub(super) fn check_counter_ttl(table: &Table) -> Result<(), SchemaError> {
    if table.is_counter() && table.options.default_time_to_live > 0 {
        return Err(SchemaError::invalid("Cannot set default_time_to_live on a table with counters"));
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

/// Adds a column that is not part of the key, at its place in the order of names.
pub(super) fn push_column(table: &mut Table, new: &NewColumn, kind: ColumnKind) {
    let column = Column {
        id: table.next_column_id,
        name: new.name.as_str().into(),
        data_type: new.data_type.clone(),
        kind,
        position: 0,
        descending: false,
        mask: new.mask.clone(),
    };
    table.next_column_id += 1;
    let columns = if kind == ColumnKind::Static { &mut table.statics } else { &mut table.regulars };
    let place = columns.partition_point(|other| other.name < column.name);
    columns.insert(place, column);
}

fn add_key_columns(new: &NewTable, table: &mut Table) -> Result<(), SchemaError> {
    let partition = new.partition_key.iter().map(|name| (name, ColumnKind::PartitionKey));
    let clustering = new.clustering.iter().map(|name| (name, ColumnKind::Clustering));
    for (name, kind) in partition.chain(clustering) {
        let column = new.columns.iter().find(|column| column.name == *name).ok_or_else(|| {
            SchemaError::Invalid(format!(
                "Unknown column '{name}' referenced in PRIMARY KEY for table '{}'",
                new.name
            ))
        })?;
        if table.column(name).is_some() {
            return Err(SchemaError::Invalid(format!(
                "Duplicate column '{name}' in PRIMARY KEY clause for table '{}'",
                new.name
            )));
        }
        check_key_column(column)?;
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
        });
    }
    Ok(())
}

fn check_key_column(column: &NewColumn) -> Result<(), SchemaError> {
    let NewColumn { name, data_type, .. } = column;
    let fault = match data_type {
        _ if column.is_static => format!("Static column '{name}' cannot be part of the PRIMARY KEY"),
        DataType::Counter => format!("counter type is not supported for PRIMARY KEY column '{name}'"),
        DataType::Udt(udt) if !udt.frozen => format!(
            "Invalid non-frozen user-defined type \"{}.{}\" for PRIMARY KEY column '{name}'",
            udt.keyspace, udt.name
        ),
        other if other.is_multi_cell() => {
            format!("Invalid non-frozen collection type {other} for PRIMARY KEY column '{name}'")
        }
        other if other.references_duration() => {
            format!("duration type is not supported for PRIMARY KEY column '{name}'")
        }
        _ => return Ok(()),
    };
    Err(SchemaError::Invalid(fault))
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
        return Err(SchemaError::Invalid(format!(
            "Only clustering key columns can be defined in CLUSTERING ORDER directive: [{}] are not clustering \
             columns",
            foreign.join(", ")
        )));
    }
    for (column, (name, descending)) in table.clustering.iter_mut().zip(&new.clustering_order) {
        if *column.name != **name {
            return Err(SchemaError::Invalid(match listed(&column.name) {
                true => format!(
                    "The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns \
                     ({} must appear before {name})",
                    column.name
                ),
                false => format!("Missing CLUSTERING ORDER for column {}", column.name),
            }));
        }
        column.descending = *descending;
    }
    Ok(())
}
