//! ScyllaDB's service levels: accepted, so that scripts run, and answered with what they do here. Nothing is kept of them.

use cql_syntax::ast::ServiceLevel;
use model::types::DataType;
use query::{ColumnSpec, Rows};

const NOTHING: &str = "Service levels have no effect and are not kept: requests of all roles are served alike. \
                       What one tenant takes can be limited WITH tenant_limits";

/// What is answered, and what is said to it.
pub fn answer(statement: &ServiceLevel) -> (Option<Rows>, String) {
    let columns: &[(&str, DataType)] = match statement {
        ServiceLevel::List(_) => &[
            ("service_level", DataType::Text),
            ("timeout", DataType::Duration),
            ("workload_type", DataType::Text),
            ("shares", DataType::Int),
        ],
        ServiceLevel::ListAttached(_) => &[("role", DataType::Text), ("service_level", DataType::Text)],
        ServiceLevel::ListEffective(_) => &[
            ("service_level_option", DataType::Text),
            ("effective_service_level", DataType::Text),
            ("value", DataType::Text),
        ],
        _ => return (None, NOTHING.into()),
    };
    let spec = |(name, data_type): &(&str, DataType)| ColumnSpec {
        keyspace: "system".into(),
        table: "service_levels".into(),
        name: (*name).into(),
        data_type: data_type.clone(),
    };
    (Some(Rows::empty(columns.iter().map(spec).collect())), NOTHING.into())
}
