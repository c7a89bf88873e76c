//! Words for changes of the schema that are refused or not wholly taken, a file for each topic.

mod bucketing;
mod column;
mod compaction;
mod index;
mod keyspace;
mod option;
#[cfg(test)]
mod option_tests;
mod routine;
mod row_ttl;
#[cfg(test)]
mod samples;
mod table;
mod view;
mod warning;

#[cfg(test)]
pub(super) use samples::samples;
pub(crate) use warning::warning;

use super::{CqlError, of_kind};
use schema::SchemaError;

pub(super) fn error(error: SchemaError) -> CqlError {
    let (kind, message) = (error.kind(), words(&error));
    match error {
        SchemaError::KeyspaceExists(keyspace) => {
            CqlError::AlreadyExists { keyspace, table: String::new(), message }
        }
        SchemaError::TableExists { keyspace, table } => CqlError::AlreadyExists { keyspace, table, message },
        SchemaError::TypeExists { .. }
        | SchemaError::PatternExists { .. }
        | SchemaError::KeyspaceMissing(_)
        | SchemaError::TableMissing { .. }
        | SchemaError::TypeMissing { .. }
        | SchemaError::PatternMissing { .. }
        | SchemaError::System(_)
        | SchemaError::Keyspace(_)
        | SchemaError::Replication(_)
        | SchemaError::Note(_)
        | SchemaError::Table(_)
        | SchemaError::Key(_)
        | SchemaError::Compact(_)
        | SchemaError::Foreign(_)
        | SchemaError::Column(_)
        | SchemaError::Type(_)
        | SchemaError::Constraint(_)
        | SchemaError::Index(_)
        | SchemaError::Attached(_)
        | SchemaError::View(_)
        | SchemaError::Projection(_)
        | SchemaError::Totals(_)
        | SchemaError::Routine(_)
        | SchemaError::RowTtl(_)
        | SchemaError::Bucketing(_)
        | SchemaError::Property(_)
        | SchemaError::Option(_)
        | SchemaError::Limit(_)
        | SchemaError::Tenant(_)
        | SchemaError::Compaction(_)
        | SchemaError::Compression(_)
        | SchemaError::Damaged(_) => of_kind(kind, message),
    }
}

fn words(error: &SchemaError) -> String {
    match error {
        SchemaError::KeyspaceExists(name) => format!("Cannot add existing keyspace \"{name}\""),
        SchemaError::TableExists { keyspace, table } => {
            format!("Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"")
        }
        SchemaError::TypeExists { name, .. } => format!("A user type with name '{name}' already exists"),
        SchemaError::PatternExists { keyspace, name } => {
            format!("Access pattern '{keyspace}.{name}' already exists")
        }
        SchemaError::KeyspaceMissing(name) => format!("Keyspace '{name}' doesn't exist"),
        SchemaError::TableMissing { keyspace, table } => format!("Table '{keyspace}.{table}' doesn't exist"),
        SchemaError::TypeMissing { keyspace, name } => format!("Type '{keyspace}.{name}' doesn't exist"),
        SchemaError::PatternMissing { keyspace, name } => {
            format!("Access pattern '{keyspace}.{name}' doesn't exist")
        }
        SchemaError::System(fault) => keyspace::system(fault),
        SchemaError::Keyspace(fault) => keyspace::keyspace(fault),
        SchemaError::Replication(fault) => keyspace::replication(fault),
        SchemaError::Note(fault) => keyspace::note(fault),
        SchemaError::Table(fault) => table::table(fault),
        SchemaError::Key(fault) => table::key(fault),
        SchemaError::Compact(fault) => table::compact(fault),
        SchemaError::Foreign(fault) => table::foreign(fault),
        SchemaError::Column(fault) => column::column(fault),
        SchemaError::Type(fault) => column::user_type(fault),
        SchemaError::Constraint(fault) => column::constraint(fault),
        SchemaError::Index(fault) => index::index(fault),
        SchemaError::Attached(fault) => index::attached(fault),
        SchemaError::View(fault) => view::view(fault),
        SchemaError::Projection(fault) => view::projection(fault),
        SchemaError::Totals(fault) => view::totals(fault),
        SchemaError::Routine(fault) => routine::routine(fault),
        SchemaError::RowTtl(fault) => row_ttl::row_ttl(fault),
        SchemaError::Bucketing(fault) => bucketing::bucketing(fault),
        SchemaError::Property(fault) => option::property(fault),
        SchemaError::Option(fault) => option::option(fault),
        SchemaError::Limit(fault) => option::limit(fault),
        SchemaError::Tenant(fault) => option::tenant(fault),
        SchemaError::Compaction(fault) => compaction::compaction(fault),
        SchemaError::Compression(fault) => compaction::compression(fault),
        SchemaError::Damaged(damage) => damage.to_string(),
    }
}
