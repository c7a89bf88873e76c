//! Evaluation of expressions.

use super::access::{element, field, slice};
use super::{Env, Evaluated, Expr, Node};
use crate::error::QueryError;
use crate::fault::{FunctionFault, NullIn, UnsetIn};
use crate::function::Function;
use crate::values::Bound;
use model::types::DataType;
use model::value::{canonical, encode_elements, encode_fields, encode_map, encode_set, encode_vector};
use std::borrow::Cow;

type Value<'v> = Cow<'v, [u8]>;

impl Expr {
    /// Evaluates the expression; markers are checked against their types on the way.
    pub fn evaluate_in<'v>(&'v self, env: &Env<'v, '_>) -> Result<Evaluated<'v>, QueryError> {
        Ok(match &self.node {
            Node::Null => Evaluated::Null,
            Node::Constant(bytes) => Evaluated::Value(Cow::Borrowed(bytes)),
            Node::Marker(index) => match env.values.get(*index as usize) {
                Bound::Null => Evaluated::Null,
                Bound::Unset => Evaluated::Unset,
                Bound::Value(bytes) => Evaluated::Value(check(&self.data_type, bytes)?),
            },
            Node::Input(slot) => match env.inputs.get(*slot) {
                Some(Some(bytes)) => Evaluated::Value(Cow::Borrowed(bytes)),
                _ => Evaluated::Null,
            },
            Node::Call(function, args) => {
                let args = evaluate_args(&function.name, args, env)?;
                let args: Vec<Option<&[u8]>> = args.iter().map(|a| a.as_deref()).collect();
                let result = function.call(&args, &env.call_context())?;
                check_result(function, result.as_deref())?;
                owned(result)
            }
            Node::List(parts) => collection(elements(parts, &NullIn::Collection, env)?, encode_elements),
            Node::Set(parts) => {
                let element = element_type(&self.data_type);
                collection(elements(parts, &NullIn::Collection, env)?, |parts| encode_set(element, parts))
            }
            Node::Map(entries) => self.map(entries, env)?,
            Node::Vector(parts) => {
                let element = element_type(&self.data_type);
                collection(elements(parts, &NullIn::Vector, env)?, |parts| encode_vector(element, parts))
            }
            Node::Tuple(parts) => self.tuple(parts, env)?,
            Node::UserType(parts) => self.user_type(parts, env)?,
            Node::Field(of, index) => match of.evaluate_in(env)?.into_bytes() {
                Some(whole) => found(field(whole, *index)),
                None => Evaluated::Null,
            },
            Node::Element(of, key) => {
                let (whole, key) = (of.evaluate_in(env)?, key.evaluate_in(env)?);
                match (whole.into_bytes(), key.into_bytes()) {
                    (Some(whole), Some(key)) => found(element(&of.data_type, whole, &key)),
                    _ => Evaluated::Null,
                }
            }
            Node::Slice { of, from, to } => {
                let Some(whole) = of.evaluate_in(env)?.into_bytes() else { return Ok(Evaluated::Null) };
                let bound = |bound: &'v Option<Box<Expr>>| match bound {
                    Some(bound) => Ok(bound.evaluate_in(env)?.into_bytes()),
                    None => Ok::<_, QueryError>(None),
                };
                owned(slice(&of.data_type, &whole, bound(from)?.as_deref(), bound(to)?.as_deref()))
            }
        })
    }

    fn map<'v>(
        &'v self,
        entries: &'v [(Expr, Expr)],
        env: &Env<'v, '_>,
    ) -> Result<Evaluated<'v>, QueryError> {
        let DataType::Map { key: key_type, .. } = &self.data_type else { return Ok(Evaluated::Null) };
        let mut parts = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let (key, value) = (part(key, &NullIn::Collection, env)?, part(value, &NullIn::Collection, env)?);
            let (Some(key), Some(value)) = (key, value) else {
                return Ok(Evaluated::Unset);
            };
            parts.push((key, value));
        }
        Ok(Evaluated::Value(Cow::Owned(encode_map(key_type, parts))))
    }

    fn tuple<'v>(&'v self, parts: &'v [Expr], env: &Env<'v, '_>) -> Result<Evaluated<'v>, QueryError> {
        let mut values = Vec::with_capacity(parts.len());
        for (i, part) in parts.iter().enumerate() {
            match part.evaluate_in(env)? {
                Evaluated::Unset => {
                    return Err(UnsetIn::TupleField { at: i }.into());
                }
                value => values.push(value.into_bytes()),
            }
        }
        Ok(Evaluated::Value(Cow::Owned(encode_fields(values))))
    }

    fn user_type<'v>(&'v self, parts: &'v [Expr], env: &Env<'v, '_>) -> Result<Evaluated<'v>, QueryError> {
        let DataType::Udt(udt) = &self.data_type else { return Ok(Evaluated::Null) };
        let mut values = Vec::with_capacity(parts.len());
        for (part, field) in parts.iter().zip(udt.fields.iter()) {
            match part.evaluate_in(env)? {
                Evaluated::Unset => {
                    return Err(UnsetIn::TypeField {
                        field: field.name.to_string(),
                        of: udt.name.to_string(),
                    }
                    .into());
                }
                value => values.push(value.into_bytes()),
            }
        }
        Ok(Evaluated::Value(Cow::Owned(encode_fields(values))))
    }
}

/// Most bytes that a call may give: calls nest, and some give twice what they take.
const RESULT_BYTES_MAX: usize = 4 << 20;

fn check_result(function: &Function, result: Option<&[u8]>) -> Result<(), QueryError> {
    if result.is_none_or(|bytes| bytes.len() <= RESULT_BYTES_MAX) {
        return Ok(());
    }
    Err(FunctionFault::ResultTooLarge { function: function.name.to_string(), bytes_max: RESULT_BYTES_MAX }
        .into())
}

/// A bound value in its one stored form; an error says what is wrong with it.
pub fn check<'v>(data_type: &DataType, bytes: &'v [u8]) -> Result<Value<'v>, QueryError> {
    canonical(data_type, bytes).map_err(QueryError::from)
}

fn evaluate_args<'v>(
    function: &str,
    args: &'v [Expr],
    env: &Env<'v, '_>,
) -> Result<Vec<Option<Value<'v>>>, QueryError> {
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        match arg.evaluate_in(env)? {
            Evaluated::Unset => {
                return Err(UnsetIn::Argument { function: function.to_string() }.into());
            }
            value => {
                let value = value.into_bytes();
                check_nested(arg, value.as_deref())?;
                values.push(value);
            }
        }
    }
    Ok(values)
}

/// Most bytes that the calls inside a call may give, all of them together: each copies what it takes, and nothing else has its
/// turn meanwhile.
const NESTED_BYTES_MAX: usize = 2 << 20;
/// Results up to this size do not count: nobody nests so many calls that they add up to more.
const NESTED_BYTES_FREE: usize = 32 << 10;

fn check_nested(arg: &Expr, value: Option<&[u8]>) -> Result<(), QueryError> {
    let bytes = value.map_or(0, <[u8]>::len);
    if bytes <= NESTED_BYTES_FREE {
        return Ok(());
    }
    let (mut steps, mut calls) = (0, 0);
    arg.count(&mut steps, &mut calls);
    // A column or a bound value is as long as it is.
    if calls == 0 || bytes.saturating_mul(calls) <= NESTED_BYTES_MAX {
        return Ok(());
    }
    let function = match &arg.node {
        Node::Call(function, _) => format!("{}, inside another call,", function.name),
        _ => "the calls inside another call".to_string(),
    };
    Err(FunctionFault::ResultTooLarge { function, bytes_max: NESTED_BYTES_MAX / calls }.into())
}

/// A part of a collection: a value, or `None` when it is unset; null is refused.
fn part<'v>(part: &'v Expr, inside: &NullIn, env: &Env<'v, '_>) -> Result<Option<Value<'v>>, QueryError> {
    match part.evaluate_in(env)? {
        Evaluated::Value(bytes) => Ok(Some(bytes)),
        Evaluated::Unset => Ok(None),
        Evaluated::Null => Err(inside.clone().into()),
    }
}

/// The parts of a collection; `None` when one of them is unset, which makes the whole unset.
fn elements<'v>(
    parts: &'v [Expr],
    inside: &NullIn,
    env: &Env<'v, '_>,
) -> Result<Option<Vec<Value<'v>>>, QueryError> {
    parts.iter().map(|p| part(p, inside, env)).collect()
}

fn collection<'v>(
    parts: Option<Vec<Value<'v>>>,
    encode: impl FnOnce(Vec<Value<'v>>) -> Vec<u8>,
) -> Evaluated<'v> {
    match parts {
        Some(parts) => Evaluated::Value(Cow::Owned(encode(parts))),
        None => Evaluated::Unset,
    }
}

fn element_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } | DataType::Vector { element, .. } => {
            element
        }
        other => other,
    }
}

fn owned<'v>(value: Option<Vec<u8>>) -> Evaluated<'v> {
    value.map_or(Evaluated::Null, |bytes| Evaluated::Value(Cow::Owned(bytes)))
}

fn found(value: Option<Value<'_>>) -> Evaluated<'_> {
    value.map_or(Evaluated::Null, Evaluated::Value)
}
