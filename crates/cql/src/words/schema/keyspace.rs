//! Words: keyspaces, replication, notes, and what belongs to the server.

use schema::NoteKind;
use schema::fault::{KeyspaceFault, NoteFault, ReplicationFault, Resource, SystemFault};

pub fn system(fault: &SystemFault) -> String {
    match fault {
        SystemFault::Keyspace { keyspace } => format!("System keyspace '{keyspace}' is not user-modifiable"),
        SystemFault::Unmodifiable { keyspace } => format!("{keyspace} keyspace is not user-modifiable."),
        SystemFault::Resource { verb, keyspace, resource } => {
            let resource = resource_words(keyspace, resource);
            format!("Cannot {verb} <{resource}>")
        }
    }
}

pub fn keyspace(fault: &KeyspaceFault) -> String {
    match fault {
        KeyspaceFault::ReplicationMissing => "Missing mandatory option 'replication'".into(),
        KeyspaceFault::NotAWord { keyspace } => format!(
            "Keyspace name must not be empty and must contain alphanumeric or underscore characters only (got \"{keyspace}\")"
        ),
        KeyspaceFault::NameTooLong { characters_max, characters, keyspace } => format!(
            "Keyspace name must not be more than {characters_max} characters long (got {characters} characters for \"{keyspace}\")"
        ),
    }
}

pub fn replication(fault: &ReplicationFault) -> String {
    match fault {
        ReplicationFault::ClassMissing => "Missing replication strategy class".into(),
        ReplicationFault::LocalStrategy => {
            "Unable to use given strategy class: LocalStrategy is reserved for internal use.".into()
        }
        ReplicationFault::ClassUnknown { class } => {
            format!("Unable to find replication strategy class '{class}'")
        }
        ReplicationFault::Transient => "Transient replication is not enabled on this node".into(),
        ReplicationFault::FactorMalformed { text } => format!("For input string: \"{text}\""),
        ReplicationFault::FactorNegative { factor } => {
            format!("Replication factor must be non-negative, found {factor}")
        }
        ReplicationFault::UnknownOption { option, strategy, keyspace } => {
            format!("Unrecognized strategy option {{{option}}} passed to {strategy} for keyspace {keyspace}")
        }
        ReplicationFault::NoDataCenter => "Configuration for at least one datacenter must be present".into(),
    }
}

pub fn note(fault: &NoteFault) -> String {
    match fault {
        NoteFault::Empty { kind } => match kind {
            NoteKind::Comment => "Cannot set comment to empty string".into(),
            NoteKind::SecurityLabel => "Cannot set security label to empty string".into(),
        },
        NoteFault::ColumnMissing { column, table } => {
            format!("Column '{column}' doesn't exist in table '{table}'")
        }
        NoteFault::FieldMissing { field, name } => format!("Field '{field}' doesn't exist in type '{name}'"),
    }
}

fn resource_words(keyspace: &str, resource: &Resource) -> String {
    match resource {
        Resource::Keyspace => format!("keyspace {keyspace}"),
        Resource::AllTables => format!("all tables in {keyspace}"),
        Resource::Table(table) => format!("table {keyspace}.{table}"),
    }
}
