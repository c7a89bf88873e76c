//! Expressions and terms -> `query::expr`.
//!
//! Names become inputs, literals become checked wire bytes, markers learn their types, functions
//! are chosen by the types of their arguments. Texts of refusals are Cassandra's.

mod assign;
mod call;
mod collection;
mod literal;
mod memo;
mod operator;
mod row;
mod text;
mod user;

pub use assign::{Assignable, value_compatible};
pub use row::{RowScope, undefined};
pub use text::{selector_name, term_text};

use self::memo::Memo;
use super::Scope;
use super::markers::Markers;
use super::types;
use crate::CqlError;
use cql_syntax::ast::{self, ExprKind};
use model::types::DataType;
use query::expr::{Expr, Node};
use query::function::{Function, candidates};
use schema::Table;
use std::sync::Arc;

/// The bytes of a constant of this type; `None` when it cannot stand for such a value, or only once a statement runs.
pub fn encode_constant(constant: &ast::Literal, data_type: &DataType, receiver: &str) -> Option<Vec<u8>> {
    if literal::test(constant, data_type) == Assignable::No || literal::is_now(constant, data_type) {
        return None;
    }
    literal::encode(constant, data_type, receiver).ok()
}

/// Binds an expression that may not name columns, for a place that wants `expected`.
/// `receiver` names that place in messages and in the specs of markers.
pub fn bind_term(
    scope: Scope<'_>,
    written: &ast::Expr,
    expected: &DataType,
    receiver: &str,
    markers: &mut Markers,
) -> Result<Expr, CqlError> {
    Binder::new(scope, markers, None, None).bind(written, expected, receiver)
}

/// Turns written expressions into evaluable ones.
pub struct Binder<'a, 'm> {
    pub scope: Scope<'a>,
    pub markers: &'m mut Markers,
    /// The columns that may be named; `None` in terms.
    pub row: Option<&'m mut RowScope>,
    /// The table `token()` is about, in terms.
    pub table: Option<&'m Arc<Table>>,
    memo: Memo,
}

impl<'a, 'm> Binder<'a, 'm> {
    /// Binds against these columns, or none; see the fields.
    pub fn new(
        scope: Scope<'a>,
        markers: &'m mut Markers,
        row: Option<&'m mut RowScope>,
        table: Option<&'m Arc<Table>>,
    ) -> Binder<'a, 'm> {
        Binder { scope, markers, row, table, memo: Memo::default() }
    }

    /// Binds something that lives shorter than the binder.
    fn briefly<T>(&mut self, bind: impl FnOnce(&mut Self) -> T) -> T {
        let memo = std::mem::take(&mut self.memo);
        let bound = bind(self);
        self.memo = memo;
        bound
    }
}

impl Binder<'_, '_> {
    /// The keyspace that unqualified types and functions are looked up in.
    pub fn keyspace(&self) -> String {
        match &self.row {
            Some(row) => row.table.keyspace.to_string(),
            None => self.scope.keyspace.unwrap_or_default().to_string(),
        }
    }

    /// Binds an expression for a place of a known type.
    pub fn bind(
        &mut self,
        written: &ast::Expr,
        expected: &DataType,
        receiver: &str,
    ) -> Result<Expr, CqlError> {
        match &written.kind {
            ExprKind::Null => Ok(Expr::null(expected.clone())),
            ExprKind::Marker(marker) => {
                self.markers.learn(marker, receiver, expected);
                Ok(Expr::new(expected.clone(), Node::Marker(self.markers.slot(marker))))
            }
            ExprKind::Literal(constant) if literal::is_now(constant, expected) => Ok(now()),
            ExprKind::Literal(literal) => {
                let bytes = literal::encode(literal, expected, receiver)?;
                Ok(Expr::constant(expected.clone(), bytes))
            }
            ExprKind::List(parts) => self.list(parts, expected, receiver),
            ExprKind::Set(parts) => self.set(parts, expected, receiver),
            ExprKind::Map(entries) => self.map(entries, expected, receiver),
            ExprKind::UserType(fields) => self.user_type(fields, expected, receiver),
            ExprKind::Tuple(parts) => self.tuple(parts, expected, receiver),
            ExprKind::TypeHint { to, expr } => {
                let hinted = types::resolve(self.scope, &self.keyspace(), to)?;
                if self.test(expr, &hinted) == Assignable::No {
                    let (value, to) = (term_text(expr), types::text_of(to));
                    return Err(CqlError::invalid(format!("Cannot cast value {value} to type {to}")));
                }
                if assign::of_types(expected, &hinted) == Assignable::No {
                    return Err(CqlError::invalid(format!(
                        "Cannot assign value {} to {receiver} of type {expected}",
                        term_text(written)
                    )));
                }
                self.bind(expr, &hinted, receiver)
            }
            ExprKind::Function { .. }
            | ExprKind::CountRows
            | ExprKind::Binary { .. }
            | ExprKind::Negate(_)
            | ExprKind::Cast { .. } => self.call_for(written, expected, receiver),
            ExprKind::Column(_)
            | ExprKind::CellInfo { .. }
            | ExprKind::Field { .. }
            | ExprKind::Element { .. }
            | ExprKind::Slice { .. } => self.input_for(written, expected, receiver),
        }
    }
}

/// The string `now` as a timestamp: the time of the request, not of its preparation.
fn now() -> Expr {
    let found: Option<Vec<Function>> = candidates("current_timestamp", &[], None).and_then(Result::ok);
    match found.and_then(|functions| functions.into_iter().next()) {
        Some(function) => Expr::new(DataType::Timestamp, Node::Call(Arc::new(function), Vec::new())),
        None => Expr::null(DataType::Timestamp),
    }
}
