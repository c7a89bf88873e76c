//! Roles and permissions. Being built by helper "roles".

use crate::prepared::Prepared;
use crate::session::{Dialect, Session};
use cql_syntax::ast::Statement;
use query::write::WritePlan;
use query::{QueryError, Request, Rows};
use std::sync::Arc;
use store::Store;

pub enum RolePlan {}

pub fn bind(_: &Statement) -> Result<Option<RolePlan>, QueryError> {
    Ok(None)
}

pub async fn execute<S: Store>(
    _: &Dialect<S>,
    _: &Session,
    plan: &RolePlan,
    _: &Request<'_>,
) -> Result<Option<Rows>, QueryError> {
    match *plan {}
}

pub async fn authorize<S: Store>(_: &Dialect<S>, _: &Session, _: &Prepared) -> Result<(), QueryError> {
    Ok(())
}

pub async fn authorize_writes<S: Store>(
    _: &Dialect<S>,
    _: &Session,
    _: &[Arc<WritePlan>],
) -> Result<(), QueryError> {
    Ok(())
}
