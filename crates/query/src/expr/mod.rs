//! Expressions: values computed from constants, bound values and columns.
//!
//! One tree serves terms (VALUES, SET, WHERE, IF) and selectors (SELECT, GROUP BY). Every expression
//! knows its type; results are wire bytes. A bare marker, constant or input borrows: evaluating it
//! neither copies nor allocates. Names and types were resolved by the dialect; nothing here parses.

mod access;
mod evaluate;
#[cfg(test)]
mod tests;

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::function::{CallContext, Function};
use crate::values::{Bound, Values};
use model::types::DataType;
use model::value::is_plain_value;
use std::borrow::Cow;
use std::sync::Arc;

/// An expression and the type of its result.
#[derive(Clone, Debug)]
pub struct Expr {
    pub data_type: DataType,
    pub node: Node,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum Node {
    Null,
    /// Checked wire bytes.
    Constant(Arc<[u8]>),
    /// A bound value; checked against the expression's type when it is evaluated.
    Marker(u32),
    /// A column, cell property or aggregate of the row at hand, by its place among the inputs.
    Input(usize),
    Call(Arc<Function>, Vec<Expr>),
    List(Vec<Expr>),
    Set(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Vector(Vec<Expr>),
    Tuple(Vec<Expr>),
    /// One expression per field of the type, in the type's order.
    UserType(Vec<Expr>),
    /// A field of a user-defined type.
    Field(Box<Expr>, usize),
    /// An element of a list (by index), set (the element itself, or null) or map (by key).
    Element(Box<Expr>, Box<Expr>),
    /// The elements of a set or map between two bounds, both included.
    Slice {
        of: Box<Expr>,
        from: Option<Box<Expr>>,
        to: Option<Box<Expr>>,
    },
}

/// The result of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluated<'v> {
    Null,
    /// Leave the column as it is.
    Unset,
    Value(Cow<'v, [u8]>),
}

impl<'v> Evaluated<'v> {
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Evaluated::Value(bytes) => Some(bytes),
            Evaluated::Null | Evaluated::Unset => None,
        }
    }

    /// The value; unset counts as null.
    pub fn into_bytes(self) -> Option<Cow<'v, [u8]>> {
        match self {
            Evaluated::Value(bytes) => Some(bytes),
            Evaluated::Null | Evaluated::Unset => None,
        }
    }

    pub fn is_unset(&self) -> bool {
        matches!(self, Evaluated::Unset)
    }
}

/// What an expression is evaluated in.
#[derive(Clone, Copy)]
pub struct Env<'v, 'c> {
    pub values: Values<'v>,
    pub inputs: &'v [Option<Cow<'v, [u8]>>],
    pub now_micros: i64,
    pub ids: &'c dyn Ids,
}

impl<'v, 'c> Env<'v, 'c> {
    /// For terms: no row at hand.
    pub fn of_request(request: &Request<'v>, ids: &'c dyn Ids) -> Env<'v, 'c> {
        Env { values: request.values, inputs: &[], now_micros: request.now_micros, ids }
    }

    /// For calls of functions.
    pub fn call_context(&self) -> CallContext<'c> {
        CallContext { now_micros: self.now_micros, ids: self.ids }
    }
}

impl Expr {
    pub fn new(data_type: DataType, node: Node) -> Expr {
        Expr { data_type, node }
    }

    pub fn constant(data_type: DataType, bytes: impl Into<Arc<[u8]>>) -> Expr {
        Expr::new(data_type, Node::Constant(bytes.into()))
    }

    pub fn null(data_type: DataType) -> Expr {
        Expr::new(data_type, Node::Null)
    }

    /// Evaluates a term. Most are markers of simple types: those are not worth a call.
    #[inline]
    pub fn evaluate<'v>(&'v self, request: &Request<'v>, ids: &dyn Ids) -> Result<Evaluated<'v>, QueryError> {
        if let Node::Marker(index) = self.node
            && let Bound::Value(bytes) = request.values.get(index as usize)
            && is_plain_value(&self.data_type, bytes)
        {
            return Ok(Evaluated::Value(Cow::Borrowed(bytes)));
        }
        self.evaluate_in(&Env::of_request(request, ids))
    }

    /// The marker, if the expression is just one.
    pub fn as_marker(&self) -> Option<u32> {
        match self.node {
            Node::Marker(index) => Some(index),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Null)
    }

    /// Whether a marker stands anywhere in it.
    pub fn has_marker(&self) -> bool {
        match &self.node {
            Node::Null | Node::Constant(_) | Node::Input(_) => false,
            Node::Marker(_) => true,
            Node::Call(_, parts)
            | Node::List(parts)
            | Node::Set(parts)
            | Node::Vector(parts)
            | Node::Tuple(parts)
            | Node::UserType(parts) => parts.iter().any(Expr::has_marker),
            Node::Map(entries) => entries.iter().any(|(key, value)| key.has_marker() || value.has_marker()),
            Node::Field(of, _) => of.has_marker(),
            Node::Element(of, key) => of.has_marker() || key.has_marker(),
            Node::Slice { of, from, to } => {
                of.has_marker() || [from, to].into_iter().flatten().any(|bound| bound.has_marker())
            }
        }
    }

    /// Adds the steps that evaluating takes, and those among them that are calls.
    pub fn count(&self, steps: &mut usize, calls: &mut usize) {
        *steps += 1;
        match &self.node {
            Node::Null | Node::Constant(_) | Node::Input(_) | Node::Marker(_) => {}
            Node::Call(_, parts) => {
                *calls += 1;
                parts.iter().for_each(|part| part.count(steps, calls));
            }
            Node::List(parts)
            | Node::Set(parts)
            | Node::Vector(parts)
            | Node::Tuple(parts)
            | Node::UserType(parts) => parts.iter().for_each(|part| part.count(steps, calls)),
            Node::Map(entries) => entries.iter().for_each(|(key, value)| {
                key.count(steps, calls);
                value.count(steps, calls);
            }),
            Node::Field(of, _) => of.count(steps, calls),
            Node::Element(of, key) => {
                of.count(steps, calls);
                key.count(steps, calls);
            }
            Node::Slice { of, from, to } => {
                of.count(steps, calls);
                [from, to].into_iter().flatten().for_each(|bound| bound.count(steps, calls));
            }
        }
    }
}
