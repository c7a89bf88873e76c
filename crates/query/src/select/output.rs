//! How a row becomes bytes of the result.

use crate::error::QueryError;
use crate::expr::{Env, Expr, Node};
use crate::fault::ReadFault;
use crate::spec::put_value;
use std::sync::Arc;

/// Most bytes that one row of an answer may have; a page can only end behind a row.
const ROW_BYTES_MAX: usize = 64 << 20;

/// The same where columns are selected several times: a short statement and one large value can make any size, and nothing else
/// has its turn while a row is written.
const REPEATED_BYTES_MAX: usize = 8 << 20;

/// Refuses a row that is too large while it is being written; it has this many values, made of this many columns.
#[inline]
pub(super) fn check_row(bytes: usize, values: usize, columns: usize) -> Result<(), QueryError> {
    if bytes <= REPEATED_BYTES_MAX { Ok(()) } else { check_large_row(bytes, values, columns) }
}

#[cold]
fn check_large_row(bytes: usize, values: usize, columns: usize) -> Result<(), QueryError> {
    let bytes_max = if values > columns { REPEATED_BYTES_MAX } else { ROW_BYTES_MAX };
    if bytes <= bytes_max { Ok(()) } else { Err(ReadFault::RowTooLarge { bytes_max }.into()) }
}

#[derive(Clone, Debug)]
pub enum Output {
    /// Inputs as they are: the fast path.
    Slots(Vec<usize>),
    Exprs(Vec<Expr>),
    /// One JSON object per row: member names and values.
    Json(Vec<(Arc<str>, Expr)>),
}

impl Output {
    /// Bare inputs need no evaluation.
    pub fn simplified(self) -> Output {
        let slot = |e: &Expr| match e.node {
            Node::Input(slot) => Some(slot),
            _ => None,
        };
        match self {
            Output::Exprs(exprs) => match exprs.iter().map(slot).collect::<Option<Vec<_>>>() {
                Some(slots) => Output::Slots(slots),
                None => Output::Exprs(exprs),
            },
            other => other,
        }
    }

    /// Appends the row whose inputs are in `env`.
    pub fn put(&self, env: &Env<'_, '_>, body: &mut Vec<u8>) -> Result<(), QueryError> {
        let start = body.len();
        match self {
            Output::Slots(slots) => {
                for slot in slots {
                    put_value(body, env.inputs.get(*slot).and_then(|v| v.as_deref()));
                    check_row(body.len() - start, slots.len(), env.inputs.len())?;
                }
            }
            Output::Exprs(exprs) => {
                for expr in exprs {
                    put_value(body, expr.evaluate_in(env)?.bytes());
                    check_row(body.len() - start, exprs.len(), env.inputs.len())?;
                }
            }
            Output::Json(members) => {
                let text = json_object(members, env)?;
                put_value(body, Some(text.as_bytes()));
            }
        }
        Ok(())
    }
}

fn json_object(members: &[(Arc<str>, Expr)], env: &Env<'_, '_>) -> Result<String, QueryError> {
    let mut text = String::from("{");
    for (i, (name, expr)) in members.iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push_str(": ");
        match expr.evaluate_in(env)?.bytes() {
            Some(bytes) => model::json::put_json(&mut text, &expr.data_type, bytes),
            None => text.push_str("null"),
        }
        check_row(text.len(), members.len(), env.inputs.len())?;
    }
    text.push('}');
    Ok(text)
}
