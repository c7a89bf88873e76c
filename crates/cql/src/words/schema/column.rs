//! Words: columns, user-defined types and constraints.

use model::constraint::{BoundsOf, ConstraintError};
use model::types::{DataType, TypeSizeError, java_class_name};
use schema::fault::{ColumnFault, ConstraintFault, TypeFault};

pub fn column(fault: &ColumnFault) -> String {
    match fault {
        ColumnFault::Missing { column } => format!("Column '{column}' doesn't exist"),
        ColumnFault::Exists { column } => format!("Column with name '{column}' already exists"),
        ColumnFault::NestedCollections { column } => format!(
            "Non-frozen UDTs with nested non-frozen collections are not supported for column {column}"
        ),
        ColumnFault::CounterAmongOthers { table, column } => {
            format!("{table}: Cannot have a counter column (\"{column}\") in a non counter table")
        }
        ColumnFault::OtherAmongCounters { table, column } => {
            format!("{table}: Cannot have a non counter column (\"{column}\") in a counter table")
        }
        ColumnFault::CounterReturns { column } => {
            format!("Cannot re-add previously dropped counter column {column}")
        }
        ColumnFault::ReturnsAsType { column, data_type, before } => format!(
            "Cannot re-add previously dropped column '{column}' of type {data_type}, incompatible with previous type {before}"
        ),
        ColumnFault::ReturnsAsKind { column, kind, before } => format!(
            "Cannot re-add previously dropped column '{column}' of kind {kind}, incompatible with previous kind {before}"
        ),
        ColumnFault::NotFound { column, table } => {
            format!("Column {column} was not found in table '{table}'")
        }
        ColumnFault::KeyDropped { column } => format!("Cannot drop PRIMARY KEY column {column}"),
        ColumnFault::UdtDropped { column, udt } => {
            format!("Cannot drop non-frozen column {column} of user type {udt}")
        }
        ColumnFault::Undefined { column, table } => {
            format!("Undefined column name {column} in table {table}")
        }
        ColumnFault::OtherRenamed { column } => format!("Cannot rename non PRIMARY KEY column {column}"),
        ColumnFault::RenameTaken { from, to, table } => format!(
            "Cannot rename column {from} to {to} in table '{table}'; another column with that name already exists"
        ),
        ColumnFault::MaskedMissing { column, table } => {
            format!("Column with name '{column}' doesn't exist on table '{table}'")
        }
        ColumnFault::TypeTooLarge { column, error } => format!(
            "The type of column {column} {error}. Use fewer levels, or keep the inner values as text or blob",
            error = type_size(error)
        ),
    }
}

pub fn user_type(fault: &TypeFault) -> String {
    match fault {
        TypeFault::Reserved { name } => format!("Invalid (reserved) user type name {name}"),
        TypeFault::DuplicateField { field, name } => {
            format!("Duplicate field name '{field}' in type '{name}'")
        }
        TypeFault::Counter => "A user type cannot contain counters".into(),
        TypeFault::NotFrozen => "A user type cannot contain non-frozen UDTs".into(),
        TypeFault::AlteredMissing { name } => format!("Type {name} doesn't exist"),
        TypeFault::FieldExists { field, name } => {
            format!("Cannot add field {field} to type {name}: a field with name {field} already exists")
        }
        TypeFault::InFirstState { name, aggregates } => format!(
            "Cannot alter user type {name} as it is still used in INITCOND by aggregates {aggregates}",
            aggregates = aggregates.join(", ")
        ),
        TypeFault::FieldMissing { field, name } => format!("Unkown field {field} in user type {name}"),
        TypeFault::RenamedTwice { field, keyspace } => {
            format!("Duplicate field name {field} in type {keyspace}")
        }
        TypeFault::TooLarge { name, error } => format!(
            "Type {name} {error}. Use fewer levels, or keep the inner values as text or blob",
            error = type_size(error)
        ),
        TypeFault::Circular { field, data_type, name } => format!(
            "Cannot add new field {field} of type {data_type} to user type {name} as it would create a circular reference",
            data_type = qualified(data_type)
        ),
        TypeFault::InPartitionKey { field, data_type, name, tables } => format!(
            "Cannot add new field {field} of type {data_type} to user type {name} as the type is being used in partition key by the following tables: {tables}",
            data_type = qualified(data_type),
            tables = tables.join(", ")
        ),
        TypeFault::UsedByFunctions { name, functions } => format!(
            "Cannot drop user type '{name}' as it is still used by functions {functions}",
            functions = functions.join(", ")
        ),
        TypeFault::UsedByTypes { name, types } => format!(
            "Cannot drop user type '{name}' as it is still used by user types {types}",
            types = types.join(", ")
        ),
        TypeFault::UsedByTables { name, tables } => format!(
            "Cannot drop user type '{name}' as it is still used by tables {tables}",
            tables = tables.join(", ")
        ),
    }
}

pub fn constraint(fault: &ConstraintFault) -> String {
    match fault {
        ConstraintFault::NotFrozen { column, data_type, table, kind } => format!(
            "Constraint cannot be defined on the column {column} of type {data_type} for the table {table}. When using {kind}, constraints can be used only of frozen {kind}."
        ),
        ConstraintFault::NotNullOfKey { key, column } => {
            format!("NOT_NULL constraint can not be specified on a {key} key column '{column}'")
        }
        ConstraintFault::CounterValue { term, column } => {
            format!("Cannot parse constraint value from {term} for column '{column}'")
        }
        ConstraintFault::Counter { column } => {
            format!("Constraints are not supported on the counter column '{column}'")
        }
        ConstraintFault::Unfit(fault) => unfit(fault),
    }
}

fn unfit(error: &ConstraintError) -> String {
    match error {
        ConstraintError::NotARegexp { pattern } => {
            format!("String '{pattern}' is not a valid regular expression")
        }
        ConstraintError::WrongType { constraint, types, data_type } => {
            let names: Vec<String> = types.iter().map(java_class_name).collect();
            let class = java_class_name(data_type);
            let class = class.strip_prefix("org.apache.cassandra.db.marshal.FrozenType(").unwrap_or(&class);
            let class = class.split('(').next().unwrap_or_default();
            format!(
                "Constraint '{constraint}' can be used only for columns of type [{}] but it was class {class}",
                names.join(", ")
            )
        }
        ConstraintError::Repeated { column, constraints } => format!(
            "There are duplicate constraint definitions on column '{column}': [{}]",
            constraints.join(", ")
        ),
        ConstraintError::Unsatisfiable { of, bounds } => {
            format!("Constraints of {} are not satisfiable: {}", bounds_of(*of), bounds.join(", "))
        }
        ConstraintError::Uncombinable { of, bounds } => {
            format!("Constraints combination of {} is not supported: {}", bounds_of(*of), bounds.join(", "))
        }
    }
}

fn bounds_of(of: BoundsOf) -> &'static str {
    match of {
        BoundsOf::Values => "scalar",
        BoundsOf::Lengths { octets: true } => "OCTET_LENGTH",
        BoundsOf::Lengths { octets: false } => "LENGTH",
    }
}

fn type_size(error: &TypeSizeError) -> String {
    error.to_string()
}

/// The type's text with user-defined types named in full, as ALTER TYPE says it.
fn qualified(data_type: &DataType) -> String {
    let frozen = |frozen: bool, text: String| if frozen { format!("frozen<{text}>") } else { text };
    match data_type {
        DataType::Udt(udt) => frozen(udt.frozen, format!("{}.{}", udt.keyspace, udt.name)),
        DataType::List { element, frozen: flag } => frozen(*flag, format!("list<{}>", qualified(element))),
        DataType::Set { element, frozen: flag } => frozen(*flag, format!("set<{}>", qualified(element))),
        DataType::Map { key, value, frozen: flag } => {
            frozen(*flag, format!("map<{}, {}>", qualified(key), qualified(value)))
        }
        DataType::Tuple(components) => {
            let inside: Vec<String> = components.iter().map(qualified).collect();
            format!("frozen<tuple<{}>>", inside.join(", "))
        }
        DataType::Vector { element, dimensions } => format!("vector<{}, {dimensions}>", qualified(element)),
        other => other.to_string(),
    }
}
