//! What lower layers refuse, as the API answers it: the one place where kinds and facts become its names and texts.
//!
//! Most of what a plan or a store can refuse cannot come up here, because requests are checked before they reach either. Where it does
//! all the same, it is a fault of ours, and the log has the facts.

use super::layout::internal;
use crate::error::{ApiError, ErrorName};
use query::QueryError;
use query::fault::{AccessFault, Fault, Kind};
use schema::SchemaError;
use schema::fault::TenantFault;
use store::{Refused, StoreError};

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        store_error(error)
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> ApiError {
        query_error(error)
    }
}

impl From<SchemaError> for ApiError {
    fn from(error: SchemaError) -> ApiError {
        query_error(error.into())
    }
}

/// What a client is told when the store fails.
pub fn store_error(error: StoreError) -> ApiError {
    match error {
        StoreError::Overloaded(what) => {
            ApiError::new(ErrorName::Throttling, format!("{what}; try again later"))
        }
        StoreError::PartitionFull(_) => {
            let text = "Collection size exceeded.";
            ApiError::new(ErrorName::ItemCollectionSizeLimitExceeded, text)
        }
        StoreError::UnknownTable(_) => ApiError::no_such_resource(),
        StoreError::Refused(why) => ApiError::validation(refused(&why)),
        StoreError::TooManyTombstones { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Unknown
        | StoreError::Closed
        | StoreError::Io { .. } => {
            tracing::error!(%error, "the store failed");
            internal("the store failed; the server's log says why")
        }
    }
}

/// What a client is told when a plan, a permission or a schema refuses.
pub fn query_error(error: QueryError) -> ApiError {
    let fault = match error {
        QueryError::Store(error) => return store_error(error),
        QueryError::Fault(fault) => fault,
    };
    match fault.kind() {
        Kind::Overloaded => ApiError::new(ErrorName::Throttling, words(&fault)),
        Kind::Unauthorized => ApiError::new(ErrorName::AccessDenied, words(&fault)),
        Kind::Invalid
        | Kind::TooLarge
        | Kind::NotFound
        | Kind::AlreadyExists
        | Kind::Misconfigured
        | Kind::Syntax
        | Kind::Malformed
        | Kind::FunctionFailed
        | Kind::Corrupt
        | Kind::Unknown
        | Kind::Unavailable => {
            tracing::error!(?fault, "a request passed its checks and was refused below");
            internal(words(&fault))
        }
    }
}

fn words(fault: &Fault) -> String {
    match fault {
        Fault::Access(fault) => access(fault),
        Fault::Schema(error) => schema(error),
        Fault::Read(_) => "The memory for sorting and grouping is taken; try again later".into(),
        Fault::Key(_)
        | Fault::Value(_)
        | Fault::Function(_)
        | Fault::Restriction(_)
        | Fault::Write(_)
        | Fault::Condition(_)
        | Fault::Bucket(_)
        | Fault::Job(_)
        | Fault::Foreign(_) => "the request could not be executed; the server's log says why".into(),
    }
}

/// Requests of this API are checked before they change the schema; the tenants of a keyspace are said in CQL, so they can be in the way.
fn schema(error: &SchemaError) -> String {
    match error {
        SchemaError::Tenant(fault) => tenant(fault),
        SchemaError::TableExists { keyspace, table } => format!("Table {keyspace}.{table} already exists"),
        SchemaError::KeyspaceMissing(keyspace) => format!("Keyspace {keyspace} does not exist"),
        SchemaError::TableMissing { keyspace, table } => format!("Table {keyspace}.{table} does not exist"),
        SchemaError::KeyspaceExists(_)
        | SchemaError::TypeExists { .. }
        | SchemaError::PatternExists { .. }
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
        | SchemaError::Compaction(_)
        | SchemaError::Compression(_)
        | SchemaError::Damaged(_) => "the table could not be changed; the server's log says why".into(),
    }
}

fn tenant(fault: &TenantFault) -> String {
    match fault {
        TenantFault::OfKeyspace { keyspace, tenant, wanted } => {
            format!("Keyspace {keyspace} has the tenant '{tenant}', so a table there cannot have '{wanted}'")
        }
        TenantFault::NotFirst { tenant, table, first } => format!(
            "{table} would have the tenant '{tenant}', and its partition key is '{first}': name the partition key '{tenant}'"
        ),
        TenantFault::Type { tenant, table, .. } => {
            format!("The tenant '{tenant}' of {table} must be a string or a number with one form")
        }
        TenantFault::LimitsAlone { table } => format!("{table} has limits for tenants and no tenants"),
        TenantFault::OfView { option } => format!("{option} is said on a table, not on a copy of it"),
        TenantFault::TooManyLimits { .. } | TenantFault::UnknownLimit { .. } | TenantFault::Limit { .. } => {
            "the limits for tenants are set in CQL, and cannot be these".into()
        }
    }
}

fn access(fault: &AccessFault) -> String {
    match fault {
        AccessFault::TenantUnsaid { keyspace, table } => {
            format!("{keyspace}.{table} has tenants, and this request does not say for whom it is")
        }
        AccessFault::NoPrivilege { role } => {
            format!("User {role} does not have sufficient privileges to perform the requested operation")
        }
        AccessFault::NoPermission { role, permission, resource } => {
            format!("User {role} has no {permission} permission on {resource} or any of its parents")
        }
        AccessFault::NoSuchPermission { class } => format!("{class} has none of the permissions"),
        AccessFault::SystemKeyspace { keyspace } => format!("{keyspace} belongs to the server"),
        AccessFault::SystemResource { permission, resource } => format!("Cannot {permission} {resource}"),
        AccessFault::AllTenants { role, resource } => {
            format!("User {role} is bound to tenants in {resource}: what concerns all tenants is not for it")
        }
        AccessFault::OtherTenants { role, keyspace, table, column } => format!(
            "User {role} is bound to tenants of {keyspace}.{table}: the statement must restrict {column} to its own, with = or IN"
        ),
        AccessFault::TenantLimit { tenant, number, what, place } => format!(
            "Tenant {tenant} has used its limit of {number} {what} per second in {place}: try again later, or ask for more \
             (tenant_limits)"
        ),
    }
}

fn refused(why: &Refused) -> String {
    match why {
        Refused::CommitTooLarge { bytes, limit } => {
            format!("the mutations are {bytes} bytes together; the limit is {limit}")
        }
        Refused::RowsOfTransaction { most } => format!("a transaction needs 1 to {most} rows"),
        Refused::RowKeyTooLong => "the key of the row is too long".into(),
        Refused::ConditionTooDeep { most } => format!("A condition may be nested at most {most} deep"),
        Refused::TooManyTouched { most } => format!(
            "The table has materialized views or its buckets are being changed, and one request may touch at most {most} of its rows"
        ),
        Refused::Expires => "A projection keeps totals of this table, and totals cannot follow rows and values that expire. Write without TTL, or drop \
                             the projection"
            .into(),
        Refused::NoSum(error) => {
            format!("A projection keeps totals of this table, and the sum cannot be made: {error}")
        }
        Refused::NoBucket => {
            "The buckets of the table are being changed, and the new plan has none for the item".into()
        }
        Refused::Undecided { why } => why.clone(),
        Refused::NoTransactions
        | Refused::NotARange
        | Refused::PartitionsOfTransaction { .. }
        | Refused::DeferredInTransaction
        | Refused::UnnamedPartition
        | Refused::NoMirrors
        | Refused::Occupied { .. }
        | Refused::ComparedWithNull { .. }
        | Refused::ComparedWithEmpty { .. }
        | Refused::Unsatisfied(_)
        | Refused::ListIsNull { .. }
        | Refused::ListIndex { .. }
        | Refused::Arithmetic(_) => {
            tracing::error!(?why, "the store refused a request that had passed its checks");
            "the store refused the request; the server's log says why".into()
        }
    }
}
