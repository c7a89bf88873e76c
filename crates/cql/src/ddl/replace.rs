//! REPLACE PROJECTION asks for proof: only a copy that was compared with its table and found clean takes another's place.

use super::DdlPlan;
use crate::CqlError;
use cql_syntax::ast::{Statement, TableChange};
use database::jobs::Jobs;
use schema::Catalogue;

pub(super) fn check_verified(plan: &DdlPlan, jobs: &Jobs, catalogue: &Catalogue) -> Result<(), CqlError> {
    let Statement::AlterTable(alter) = &plan.statement else { return Ok(()) };
    let TableChange::Replace { old, new } = &alter.change else { return Ok(()) };
    // What is not there or not ready is told by the schema's rules.
    let Some(copy) = catalogue.table(&plan.keyspace, new.as_str()) else { return Ok(()) };
    let why = match jobs.last_check(copy.id) {
        Some(check) if check.missing + check.extra + check.stale == 0 => return Ok(()),
        Some(_) => "its last check has found drift: REPAIR and CHECK it first",
        None => "it was never compared with its table: CHECK it first",
    };
    let keyspace = &plan.keyspace;
    Err(CqlError::invalid(format!(
        "Projection {new} cannot replace {old} yet, {why} (CHECK PROJECTION {keyspace}.{new})"
    )))
}
