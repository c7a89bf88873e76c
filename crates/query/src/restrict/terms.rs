//! Values on the right side of a relation: one, a list of alternatives, or one marker for the list.

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{NullIn, UnsetIn, ValueFault};
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

/// What the values are for: names for messages, and what null means there.
pub struct Receiver<'n> {
    /// The name of a column by its place among the columns.
    pub name: &'n dyn Fn(usize) -> String,
    pub nulls: Nulls,
}

/// How a null value is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// Refused, as a condition on a key.
    Condition,
    /// Refused, as a filter; but among alternatives it just matches nothing.
    Filter,
    /// Refused, as a filter on a map entry.
    MapEntry,
}

impl<'n> Receiver<'n> {
    pub fn new(name: &'n dyn Fn(usize) -> String) -> Receiver<'n> {
        Receiver { name, nulls: Nulls::Condition }
    }

    fn null(&self, at: usize) -> QueryError {
        let column = (self.name)(at);
        match self.nulls {
            Nulls::Condition => NullIn::Restriction { column }.into(),
            Nulls::Filter => NullIn::Filter { column }.into(),
            Nulls::MapEntry => NullIn::FilterEntry { column }.into(),
        }
    }

    pub fn required<'v>(&self, value: Evaluated<'v>, at: usize) -> Result<Cow<'v, [u8]>, QueryError> {
        match value {
            Evaluated::Null => Err(self.null(at)),
            Evaluated::Unset if self.nulls != Nulls::Condition => {
                let column = (self.name)(at);
                Err(match self.nulls {
                    Nulls::MapEntry => UnsetIn::FilterEntry { column }.into(),
                    Nulls::Filter | Nulls::Condition => UnsetIn::Filter { column }.into(),
                })
            }
            value => required(value, &|| (self.name)(at)),
        }
    }
}

impl Terms {
    pub fn one(expr: Expr) -> Terms {
        Terms::One(Item::Parts(vec![expr]))
    }

    /// Whether there is exactly one alternative (an equality, not an IN).
    pub fn is_one(&self) -> bool {
        matches!(self, Terms::One(_))
    }

    /// An equality, or an IN with one alternative written out, which is the same.
    pub fn is_equality(&self) -> bool {
        match self {
            Terms::One(_) => true,
            Terms::List(items) => items.len() == 1,
            Terms::ListValue { .. } => false,
        }
    }

    /// The marker that is the only value for the only column, if so.
    pub fn as_marker(&self) -> Option<u32> {
        self.as_single().and_then(Expr::as_marker)
    }

    /// The expression of an equality on one column: the common case, evaluated without lists.
    pub fn as_single(&self) -> Option<&Expr> {
        match self {
            Terms::One(Item::Parts(parts)) => match parts.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many alternatives there are, as far as it can be told without evaluating them.
    pub fn count(&self) -> usize {
        match self {
            Terms::List(items) => items.len(),
            Terms::One(_) | Terms::ListValue { .. } => 1,
        }
    }

    /// The values of all alternatives of one column, in a row.
    pub fn evaluate_single<'v>(
        &'v self,
        receiver: &Receiver<'_>,
        request: &Request<'v>,
        ids: &dyn Ids,
    ) -> Result<Vec<Cow<'v, [u8]>>, QueryError> {
        let Terms::List(items) = self else {
            return Ok(self.evaluate(receiver, request, ids)?.into_iter().flatten().collect());
        };
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Item::Parts(parts) if parts.len() == 1 && receiver.nulls == Nulls::Condition => {
                    values.push(receiver.required(parts[0].evaluate(request, ids)?, 0)?);
                }
                item => values.extend(item.alternative(receiver, request, ids)?),
            }
        }
        Ok(values)
    }

    /// Evaluates every alternative.
    pub fn evaluate<'v>(
        &'v self,
        receiver: &Receiver<'_>,
        request: &Request<'v>,
        ids: &dyn Ids,
    ) -> Result<Vec<Row<'v>>, QueryError> {
        match self {
            Terms::One(item) => Ok(vec![item.alternative(receiver, request, ids)?]),
            Terms::List(items) => {
                let mut rows = Vec::with_capacity(items.len());
                for item in items {
                    if receiver.nulls == Nulls::Filter && item.is_null(request, ids)? {
                        continue;
                    }
                    rows.push(item.alternative(receiver, request, ids)?);
                }
                Ok(rows)
            }
            Terms::ListValue { list, tuples } => {
                let bytes = match list.evaluate(request, ids)? {
                    Evaluated::Null if *tuples => {
                        return Err(NullIn::Alternatives.into());
                    }
                    Evaluated::Null => return Err(null_in_alternative(receiver, 0)),
                    Evaluated::Unset if *tuples => {
                        return Err(UnsetIn::Tuples { columns: names(&list.data_type, receiver) }.into());
                    }
                    value => receiver.required(value, 0)?,
                };
                list_rows(list, &bytes, *tuples, receiver)
            }
        }
    }
}

impl Item {
    /// Whether it is one value and that is null.
    pub fn is_null(&self, request: &Request<'_>, ids: &dyn Ids) -> Result<bool, QueryError> {
        match self {
            Item::Parts(parts) => match parts.as_slice() {
                [only] => Ok(only.evaluate(request, ids)? == Evaluated::Null),
                _ => Ok(false),
            },
            Item::Tuple(_) => Ok(false),
        }
    }

    /// The values as a bound.
    pub fn evaluate<'v>(
        &'v self,
        receiver: &Receiver<'_>,
        request: &Request<'v>,
        ids: &dyn Ids,
    ) -> Result<Row<'v>, QueryError> {
        match self {
            Item::Parts(parts) => {
                let value = |(at, part): (usize, &'v Expr)| match part.evaluate(request, ids)? {
                    Evaluated::Unset if parts.len() > 1 => Err(unset_field(at)),
                    value => receiver.required(value, at),
                };
                parts.iter().enumerate().map(value).collect()
            }
            Item::Tuple(expr) => {
                let value = expr.evaluate(request, ids)?;
                if value.is_unset() {
                    return Err(UnsetIn::Tuple { columns: names(&expr.data_type, receiver) }.into());
                }
                let bytes = receiver.required(value, 0)?;
                tuple_parts(&bytes, arity(&expr.data_type), receiver)
            }
        }
    }

    /// The values of an equality or of one alternative of IN.
    fn alternative<'v>(
        &'v self,
        receiver: &Receiver<'_>,
        request: &Request<'v>,
        ids: &dyn Ids,
    ) -> Result<Row<'v>, QueryError> {
        match self {
            Item::Parts(parts) if parts.len() > 1 => {
                let value = |(at, part): (usize, &'v Expr)| match part.evaluate(request, ids)? {
                    Evaluated::Null => Err(null_in_alternative(receiver, at)),
                    Evaluated::Unset => Err(unset_field(at)),
                    value => receiver.required(value, at),
                };
                parts.iter().enumerate().map(value).collect()
            }
            _ => self.evaluate(receiver, request, ids),
        }
    }
}

/// A null inside a tuple, or instead of a whole list of alternatives.
fn null_in_alternative(receiver: &Receiver<'_>, at: usize) -> QueryError {
    NullIn::Alternative { column: (receiver.name)(at) }.into()
}

/// The columns that a tuple, or a list of tuples, is compared with.
fn names(data_type: &DataType, receiver: &Receiver<'_>) -> Vec<String> {
    let tuple = match data_type {
        DataType::List { element, .. } => element,
        other => other,
    };
    (0..arity(tuple)).map(|at| (receiver.name)(at)).collect()
}

fn unset_field(at: usize) -> QueryError {
    UnsetIn::TupleField { at }.into()
}

/// The value of a condition: null and unset are refused.
pub fn required<'v>(value: Evaluated<'v>, name: &dyn Fn() -> String) -> Result<Cow<'v, [u8]>, QueryError> {
    match value {
        Evaluated::Value(bytes) => Ok(bytes),
        Evaluated::Null => Err(NullIn::Restriction { column: name() }.into()),
        Evaluated::Unset => Err(UnsetIn::Restriction { column: name() }.into()),
    }
}

fn arity(data_type: &DataType) -> usize {
    match data_type {
        DataType::Tuple(components) => components.len(),
        _ => 1,
    }
}

fn tuple_parts<'v>(bytes: &[u8], arity: usize, receiver: &Receiver<'_>) -> Result<Row<'v>, QueryError> {
    let mut walk = fields(bytes);
    (0..arity)
        .map(|at| match walk.next_or_null() {
            Ok(Some(part)) => Ok(Cow::Owned(part.to_vec())),
            _ => Err(null_in_alternative(receiver, at)),
        })
        .collect()
}

fn list_rows<'v>(
    list: &Expr,
    bytes: &[u8],
    tuples: bool,
    receiver: &Receiver<'_>,
) -> Result<Vec<Row<'v>>, QueryError> {
    let DataType::List { element, .. } = &list.data_type else { return Ok(Vec::new()) };
    let parts = elements(bytes).map_err(|_| ValueFault::ShortList)?;
    parts
        .map(|part| match part {
            Ok(Some(part)) if tuples => tuple_parts(part, arity(element), receiver)
                .map_err(|_| NullIn::Restrictions { columns: names(element, receiver) }.into()),
            Ok(Some(part)) => Ok(vec![Cow::Owned(part.to_vec())]),
            _ => Err(receiver.null(0)),
        })
        .collect()
}
