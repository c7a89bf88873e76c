//! Values on the right side of a relation: one, a list of alternatives, or one marker for the list.

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use model::types::DataType;
use model::value::elements::{elements, fields};
use std::borrow::Cow;

/// The value for one column, or the values for several columns.
#[derive(Clone, Debug)]
pub enum Item {
    /// One expression per column.
    Parts(Vec<Expr>),
    /// One tuple (a marker) for all columns.
    Tuple(Expr),
}

/// The alternatives of an equality (one) or an IN.
#[derive(Clone, Debug)]
pub enum Terms {
    One(Item),
    List(Vec<Item>),
    /// `IN ?`: a list value whose elements are values (one column) or tuples (several).
    ListValue {
        list: Expr,
        tuples: bool,
    },
}

/// The values of one alternative, one per column.
pub type Row<'v> = Vec<Cow<'v, [u8]>>;

impl Terms {
    pub fn one(expr: Expr) -> Terms {
        Terms::One(Item::Parts(vec![expr]))
    }

    /// Whether there is exactly one alternative (an equality, not an IN).
    pub fn is_one(&self) -> bool {
        matches!(self, Terms::One(_))
    }

    /// The marker that is the only value for the only column, if so.
    pub fn as_marker(&self) -> Option<u32> {
        match self {
            Terms::One(Item::Parts(parts)) => match parts.as_slice() {
                [only] => only.as_marker(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Evaluates every alternative; `name` gives the name of a column for messages.
    pub fn evaluate<'v>(
        &'v self,
        name: &dyn Fn(usize) -> String,
        request: &Request<'v>,
        ids: &dyn Ids,
    ) -> Result<Vec<Row<'v>>, QueryError> {
        match self {
            Terms::One(item) => Ok(vec![item.evaluate(name, request, ids)?]),
            Terms::List(items) => items.iter().map(|item| item.evaluate(name, request, ids)).collect(),
            Terms::ListValue { list, tuples } => {
                let bytes = required(list.evaluate(request, ids)?, &|| name(0))?;
                list_rows(list, &bytes, *tuples, name)
            }
        }
    }
}

impl Item {
    pub fn evaluate<'v>(
        &'v self,
        name: &dyn Fn(usize) -> String,
        request: &Request<'v>,
        ids: &dyn Ids,
    ) -> Result<Row<'v>, QueryError> {
        match self {
            Item::Parts(parts) => {
                let value =
                    |(i, part): (usize, &'v Expr)| required(part.evaluate(request, ids)?, &|| name(i));
                parts.iter().enumerate().map(value).collect()
            }
            Item::Tuple(expr) => {
                let bytes = required(expr.evaluate(request, ids)?, &|| name(0))?;
                tuple_parts(&bytes, arity(&expr.data_type), name)
            }
        }
    }
}

/// The value of a condition: null and unset are refused.
pub fn required<'v>(value: Evaluated<'v>, name: &dyn Fn() -> String) -> Result<Cow<'v, [u8]>, QueryError> {
    match value {
        Evaluated::Value(bytes) => Ok(bytes),
        Evaluated::Null => {
            Err(QueryError::invalid(format!("Invalid null value in condition for column {}", name())))
        }
        Evaluated::Unset => Err(QueryError::invalid(format!("Invalid unset value for column {}", name()))),
    }
}

fn arity(data_type: &DataType) -> usize {
    match data_type {
        DataType::Tuple(components) => components.len(),
        _ => 1,
    }
}

fn tuple_parts<'v>(
    bytes: &[u8],
    arity: usize,
    name: &dyn Fn(usize) -> String,
) -> Result<Row<'v>, QueryError> {
    let mut walk = fields(bytes);
    (0..arity)
        .map(|i| match walk.next_or_null() {
            Ok(Some(part)) => Ok(Cow::Owned(part.to_vec())),
            _ => {
                let text = format!("Invalid null value in condition for column {}", name(i));
                Err(QueryError::invalid(text))
            }
        })
        .collect()
}

fn list_rows<'v>(
    list: &Expr,
    bytes: &[u8],
    tuples: bool,
    name: &dyn Fn(usize) -> String,
) -> Result<Vec<Row<'v>>, QueryError> {
    let DataType::List { element, .. } = &list.data_type else { return Ok(Vec::new()) };
    let parts = elements(bytes).map_err(|_| QueryError::invalid("Not enough bytes to read a list"))?;
    parts
        .map(|part| match part {
            Ok(Some(part)) if tuples => tuple_parts(part, arity(element), name),
            Ok(Some(part)) => Ok(vec![Cow::Owned(part.to_vec())]),
            _ => {
                let text = format!("Invalid null value in condition for column {}", name(0));
                Err(QueryError::invalid(text))
            }
        })
        .collect()
}
