//! Function calls, casts and arithmetic.

use super::{Binder, term_text};
use cql_syntax::ast::{self, ExprKind};
use model::types::DataType;
use query::QueryError;
use query::expr::Expr;

impl Binder<'_, '_> {
    /// Binds an expression whose type must come from itself: a selector, or what one is made of.
    pub fn selector(&mut self, written: &ast::Expr) -> Result<Expr, QueryError> {
        match &written.kind {
            ExprKind::Column(_)
            | ExprKind::CellInfo { .. }
            | ExprKind::Field { .. }
            | ExprKind::Element { .. }
            | ExprKind::Slice { .. } => self.input(written),
            _ => Err(QueryError::invalid(format!(
                "Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                term_text(written)
            ))),
        }
    }

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
