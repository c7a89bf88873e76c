//! Words: tables and their keys.

use schema::fault::{CompactFault, ForeignFault, KeyFault, TableFault};

pub fn table(fault: &TableFault) -> String {
    match fault {
        TableFault::LikeView => "Cannot use CREATE TABLE LIKE on a materialized view".into(),
        TableFault::LikeTypeElsewhere { column, data_type, of, into } => format!("Column {column} has the user-defined type {data_type} of keyspace {of}: a table of keyspace {into} cannot have it"),
        TableFault::DuplicateColumn { column, table } => format!("Duplicate column '{column}' declaration for table '{table}'"),
        TableFault::NoPrimaryKey { table } => format!("No PRIMARY KEY specifed for table '{table}' (exactly one required)"),
        TableFault::DuplicateInOrder { column, table } => format!("Duplicate column '{column}' in CLUSTERING ORDER BY clause for table '{table}'"),
        TableFault::TooManyColumns { most, columns, table } => format!("Guardrail columns_per_table violated: Tables cannot have more than {most} columns, but {columns} provided for table {table}. Keep what varies in a map or in rows of a clustering column"),
        TableFault::NotAWord { table, name } => format!("{table}: Table name must not be empty or not contain non-alphanumeric-underscore characters (got \"{name}\")"),
        TableFault::NameTooLong { table, characters_max, characters, name } => format!("{table}: Table name must not be more than {characters_max} characters long (got {characters} characters for \"{name}\")"),
        TableFault::IdMalformed => "Invalid table id".into(),
        TableFault::IdTaken { id, table } => format!("Invalid table id: {id} is the id of {table}; leave the id out to get a fresh one"),
        TableFault::NestedCollections => "Non-frozen UDTs with nested non-frozen collections are not supported".into(),
        TableFault::CountersAndOthers => "Cannot mix counter and non counter columns in the same table".into(),
        TableFault::StaticsNeedClustering => "Static columns are only useful (and thus allowed) if the table has at least one clustering column".into(),
        TableFault::TtlOfCounters => "Cannot set default_time_to_live on a table with counters".into(),
        TableFault::TooManyKeyColumns { table, columns, most } => format!("The PRIMARY KEY of table '{table}' has {columns} columns; at most {most} are possible"),
        TableFault::IdAltered => "Cannot alter table id.".into(),
        TableFault::TruncatedKeyspaceMissing { keyspace } => format!("keyspace {keyspace} does not exist"),
        TableFault::TruncatedMissing { table } => format!("table {table} does not exist"),
        TableFault::NotTruncatable { table } => format!("Truncation is not supported by table {table}"),
        TableFault::LikeTargetMissing { keyspace } => format!("Target Keyspace '{keyspace}' doesn't exist"),
        TableFault::LikeSourceKeyspaceMissing { keyspace } => format!("Source Keyspace '{keyspace}' doesn't exist"),
        TableFault::LikeSourceMissing { table } => format!("Source Table '{table}' doesn't exist"),
    }
}

pub fn key(fault: &KeyFault) -> String {
    match fault {
        KeyFault::Unknown { column, table } => {
            format!("Unknown column '{column}' referenced in PRIMARY KEY for table '{table}'")
        }
        KeyFault::Twice { column, table } => {
            format!("Duplicate column '{column}' in PRIMARY KEY clause for table '{table}'")
        }
        KeyFault::OrderOfOthers { columns } => format!(
            "Only clustering key columns can be defined in CLUSTERING ORDER directive: [{columns}] are not clustering columns",
            columns = columns.join(", ")
        ),
        KeyFault::Static { column } => format!("Static column '{column}' cannot be part of the PRIMARY KEY"),
        KeyFault::Counter { column } => {
            format!("counter type is not supported for PRIMARY KEY column '{column}'")
        }
        KeyFault::Udt { udt, column } => {
            format!("Invalid non-frozen user-defined type \"{udt}\" for PRIMARY KEY column '{column}'")
        }
        KeyFault::Collection { data_type, column } => {
            format!("Invalid non-frozen collection type {data_type} for PRIMARY KEY column '{column}'")
        }
        KeyFault::Duration { column } => {
            format!("duration type is not supported for PRIMARY KEY column '{column}'")
        }
        KeyFault::OrderSwapped { column, before } => format!(
            "The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns ({column} must appear before {before})"
        ),
        KeyFault::OrderMissing { column } => format!("Missing CLUSTERING ORDER for column {column}"),
    }
}

pub fn compact(fault: &CompactFault) -> String {
    match fault {
        CompactFault::NotCompact => "Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE".into(),
        CompactFault::ColumnAdded => "Cannot add new column to a COMPACT STORAGE table".into(),
        CompactFault::ColumnDropped { column, table } => format!(
            "Cannot drop column {column}: a table with COMPACT STORAGE has no row without it. Say ALTER TABLE {table} DROP COMPACT STORAGE first"
        ),
        CompactFault::Collections => {
            "Non-frozen collections and UDTs are not supported with COMPACT STORAGE".into()
        }
        CompactFault::Statics => "Static columns are not supported in COMPACT STORAGE tables".into(),
        CompactFault::NoValue => "No definition found that is not part of the PRIMARY KEY".into(),
        CompactFault::SeveralValues { columns } => format!(
            "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the PRIMARY KEY (got: {columns})",
            columns = columns.join(", ")
        ),
    }
}

pub fn foreign(fault: &ForeignFault) -> String {
    match fault {
        ForeignFault::NoStores => "both tables have stores".into(),
        ForeignFault::NotAName { table } => format!("{table}: no name for a table"),
        ForeignFault::OfDynamo { table } => format!(
            "Table {table} belongs to the DynamoDB API: CQL can read it, but changing it would bypass its indexes, its stream and its limits. Use the DynamoDB API (UpdateTable, DeleteTable)"
        ),
    }
}
