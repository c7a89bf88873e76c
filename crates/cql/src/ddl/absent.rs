//! Statements about things that do not exist here: functions, aggregates, triggers.
//!
//! Creating one is refused with what to do instead; dropping one finds nothing, in Cassandra's words.

use super::DdlPlan;
use crate::bind::types::text_of;
use cql_syntax::ast::{DropFunction, Statement};
use query::QueryError;

/// Refuses to create what is not supported.
pub(super) fn refuse(statement: &Statement) -> Result<(), QueryError> {
    let text = match statement {
        Statement::CreateFunction(_) => {
            "User-defined functions are disabled. Partita runs no code inside the server; compute the value in the \
             application or use the native functions"
                .to_string()
        }
        Statement::CreateAggregate(_) => {
            "User-defined functions are disabled, and with them user-defined aggregates. Use the native aggregates \
             (count, min, max, sum, avg) or aggregate in the application"
                .to_string()
        }
        Statement::CreateTrigger(_) => {
            "Triggers are not supported. Partita runs no code inside the server; write the second change in the same \
             BATCH"
                .to_string()
        }
        _ => return Ok(()),
    };
    Err(QueryError::Invalid(text))
}

/// Whether the statement drops or alters something of a kind that never exists, and says that it need not.
pub(super) fn is_about_nothing(plan: &DdlPlan) -> Result<bool, QueryError> {
    let keyspace = &plan.keyspace;
    let (tolerated, message) = match &plan.statement {
        Statement::DropFunction(s) => {
            (s.if_exists, format!("Function '{}' doesn't exist", signature(plan, s)))
        }
        Statement::DropAggregate(s) => {
            (s.if_exists, format!("Aggregate '{}' doesn't exist", signature(plan, s)))
        }
        Statement::DropTrigger(s) => (
            s.if_exists,
            format!("Trigger '{}' on '{keyspace}.{}' doesn't exist", s.name.as_str(), s.table.as_str()),
        ),
        _ => return Ok(false),
    };
    if tolerated { Ok(true) } else { Err(QueryError::Invalid(message)) }
}

fn signature(plan: &DdlPlan, drop: &DropFunction) -> String {
    let arguments = drop.arg_types.as_ref().map_or(String::new(), |types| {
        format!("({})", types.iter().map(text_of).collect::<Vec<_>>().join(", "))
    });
    format!("{}.{}{arguments}", plan.keyspace, drop.name.as_str())
}
