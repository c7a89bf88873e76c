//! The columns a selector may name: each use becomes an input of the row, shared by equal uses.

use super::{Binder, assign, term_text};
use cql_syntax::ast;
use model::types::DataType;
use query::QueryError;
use query::expr::Expr;
use schema::Table;
use std::sync::Arc;

/// What selectors of one statement see.
pub struct RowScope {
    pub table: Arc<Table>,
}

impl Binder<'_, '_> {
    /// Binds a column, or a part or property of one, for a place of a known type.
    pub(super) fn input_for(
        &mut self,
        written: &ast::Expr,
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, QueryError> {
        let bound = self.input(written)?;
        if assign::of_types(expected, &bound.data_type) == assign::Assignable::No {
            return Err(QueryError::invalid(format!(
                "Type error: {} cannot be passed as argument {receiver} of type {expected}",
                term_text(written)
            )));
        }
        Ok(bound)
    }

    pub(super) fn input(&mut self, written: &ast::Expr) -> Result<Expr, QueryError> {
        Err(QueryError::invalid(format!("Invalid reference to {} in a term", term_text(written))))
    }
}
