//! Statements about things that do not exist here: triggers.
//!
//! Creating one is refused with what to do instead; dropping one finds nothing, in Cassandra's words.

use super::DdlPlan;
use crate::CqlError;
use cql_syntax::ast::Statement;

/// Refuses to create what is not supported.
pub(super) fn refuse(statement: &Statement) -> Result<(), CqlError> {
    let text = match statement {
        Statement::CreateTrigger(_) => {
            "Triggers are not supported. Partita runs no code inside the server; write the second change in the same \
             BATCH"
                .to_string()
        }
        _ => return Ok(()),
    };
    Err(CqlError::Invalid(text))
}

/// Whether the statement drops or alters something of a kind that never exists, and says that it need not.
pub(super) fn is_about_nothing(plan: &DdlPlan) -> Result<bool, CqlError> {
    let keyspace = &plan.keyspace;
    let (tolerated, message) = match &plan.statement {
        Statement::DropTrigger(s) => (
            s.if_exists,
            format!("Trigger '{}' on '{keyspace}.{}' doesn't exist", s.name.as_str(), s.table.as_str()),
        ),
        _ => return Ok(false),
    };
    if tolerated { Ok(true) } else { Err(CqlError::Invalid(message)) }
}
