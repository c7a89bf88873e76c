//! BATCH as text. (The protocol's BATCH message puts prepared plans together without this.)

use super::super::Scope;
use super::super::expr::bind_term;
use super::super::markers::Markers;
use crate::CqlError;
use cql_syntax::ast;
use model::types::DataType;
use query::write::{BatchKind, BatchPlan};
use std::sync::Arc;

pub fn bind(scope: Scope<'_>, batch: &ast::Batch, markers: &mut Markers) -> Result<BatchPlan, CqlError> {
    if batch.using.ttl().is_some() {
        return Err(CqlError::invalid("Global TTL on the BATCH statement is not supported."));
    }
    let timestamp = batch
        .using
        .timestamp()
        .map(|e| bind_term(scope, e, &DataType::BigInt, "[timestamp]", markers))
        .transpose()?;
    let mut statements = Vec::with_capacity(batch.statements.len());
    for statement in &batch.statements {
        statements.push(Arc::new(super::bind(scope, statement, markers)?));
    }
    let plan = BatchPlan { kind: kind(batch.kind), statements, timestamp };
    plan.check()?;
    Ok(plan)
}

fn kind(kind: ast::BatchKind) -> BatchKind {
    match kind {
        ast::BatchKind::Logged => BatchKind::Logged,
        ast::BatchKind::Unlogged => BatchKind::Unlogged,
        ast::BatchKind::Counter => BatchKind::Counter,
    }
}
