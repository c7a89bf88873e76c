//! Function calls, casts and arithmetic.

use super::{Binder, term_text};
use cql_syntax::ast;
use model::types::DataType;
use query::QueryError;
use query::expr::Expr;

impl Binder<'_, '_> {
    pub(super) fn call_for(
        &mut self,
        written: &ast::Expr,
        _expected: &DataType,
        _receiver: &str,
    ) -> Result<Expr, QueryError> {
        Err(QueryError::invalid(format!("Unknown function {} called", term_text(written))))
    }

    /// The type of a call, column or part of one, if it can be told without binding it.
    pub fn type_of(&self, _written: &ast::Expr, _expected: Option<&DataType>) -> Option<DataType> {
        None
    }
}
