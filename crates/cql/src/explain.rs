//! EXPLAIN. Being built by helper "select".

use crate::bind::Scope;
use crate::bind::markers::Markers;
use cql_syntax::ast::Explain;
use query::{QueryError, Rows};

pub enum ExplainPlan {}

pub fn bind(_: Scope<'_>, _: &Explain, _: &mut Markers) -> Result<ExplainPlan, QueryError> {
    Err(QueryError::invalid("EXPLAIN is not built yet"))
}

pub fn execute(plan: &ExplainPlan) -> Rows {
    match *plan {}
}
