//! Schema errors as query errors: the protocol class of each.

use query::QueryError;
use schema::SchemaError;

pub fn query_error(error: SchemaError) -> QueryError {
    let message = error.to_string();
    match error {
        SchemaError::KeyspaceExists(keyspace) => {
            QueryError::AlreadyExists { keyspace, table: String::new(), message }
        }
        SchemaError::TableExists { keyspace, table } => {
            QueryError::AlreadyExists { keyspace, table, message }
        }
        SchemaError::TypeExists { .. }
        | SchemaError::PatternExists { .. }
        | SchemaError::KeyspaceMissing(_)
        | SchemaError::TableMissing { .. }
        | SchemaError::TypeMissing { .. }
        | SchemaError::PatternMissing { .. }
        | SchemaError::Invalid(_)
        | SchemaError::Damaged(_) => QueryError::Invalid(message),
        SchemaError::Config(_) => QueryError::Config(message),
        SchemaError::Syntax(_) => QueryError::Syntax(message),
        SchemaError::Unauthorized(_) => QueryError::Unauthorized(message),
    }
}
