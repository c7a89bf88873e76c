//! Aggregates: many rows in, one value out.

use crate::error::QueryError;
use crate::expr::{Env, Expr};
use crate::fault::FunctionFault;
use crate::function::Function;
use model::arithmetic::{Average, Sum};
use model::types::DataType;
use model::value::ValueError;
use model::value::compare;
use std::sync::Arc;

/// One aggregate call of a plan.
#[derive(Clone, Debug)]
pub struct Aggregate {
    pub kind: AggregateKind,
    /// Evaluated for every row; none for `count(*)`.
    pub argument: Option<Expr>,
    /// Of [`AggregateKind::User`].
    pub user: Option<Box<UserCall>>,
}

/// A call of a user's aggregate.
#[derive(Clone, Debug)]
pub struct UserCall {
    pub state: Arc<Function>,
    pub finish: Option<Arc<Function>>,
    pub initial: Option<Vec<u8>>,
    pub arguments: Vec<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateKind {
    User,
    CountRows,
    /// Rows whose argument is not null.
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

impl AggregateKind {
    pub fn from_name(name: &str) -> Option<AggregateKind> {
        Some(match name {
            "count_rows" | "countrows" => AggregateKind::CountRows,
            "count" => AggregateKind::Count,
            "sum" => AggregateKind::Sum,
            "avg" => AggregateKind::Avg,
            "min" => AggregateKind::Min,
            "max" => AggregateKind::Max,
            _ => return None,
        })
    }

    /// The type of the result for an argument of this type; `None` when the aggregate cannot take it.
    pub fn returns(self, argument: Option<&DataType>) -> Option<DataType> {
        match (self, argument) {
            (AggregateKind::CountRows | AggregateKind::Count, _) => Some(DataType::BigInt),

            (AggregateKind::Sum | AggregateKind::Avg, Some(number)) if number.is_numeric() => {
                Some(number.clone())
            }
            (AggregateKind::Min | AggregateKind::Max, Some(any)) => Some(any.freeze()),
            _ => None,
        }
    }
}

/// What an aggregate has seen so far.
pub enum State {
    Count(i64),
    Sum(Sum),
    Average(Average),
    Least { best: Option<Vec<u8>>, data_type: DataType },
    Greatest { best: Option<Vec<u8>>, data_type: DataType },
    User(Option<Vec<u8>>),
}

impl Aggregate {
    pub fn begin(&self) -> Result<State, QueryError> {
        let data_type = || self.argument.as_ref().map_or(DataType::Int, |a| a.data_type.clone());
        let number = || match data_type() {
            DataType::Counter => DataType::BigInt,
            other => other,
        };
        let not_a_number = || FunctionFault::NotSummable { data_type: data_type().to_string() };
        Ok(match self.kind {
            AggregateKind::User => State::User(self.user.as_ref().and_then(|user| user.initial.clone())),
            AggregateKind::CountRows | AggregateKind::Count => State::Count(0),
            AggregateKind::Sum => State::Sum(Sum::new(&number()).ok_or_else(not_a_number)?),
            AggregateKind::Avg => State::Average(Average::new(&number()).ok_or_else(not_a_number)?),
            AggregateKind::Min => State::Least { best: None, data_type: data_type() },
            AggregateKind::Max => State::Greatest { best: None, data_type: data_type() },
        })
    }

    /// Takes the current row into account.
    pub fn add(&self, state: &mut State, env: &Env<'_, '_>) -> Result<(), QueryError> {
        if let (Some(user), State::User(value)) = (&self.user, &mut *state) {
            return user.add(value, env);
        }
        let Some(argument) = &self.argument else {
            if let State::Count(count) = state {
                *count += 1;
            }
            return Ok(());
        };
        let Some(value) = argument.evaluate_in(env)?.into_bytes() else { return Ok(()) };
        let meaningless = value.is_empty() && argument.data_type.is_empty_meaningless();
        let failed = |error: ValueError| QueryError::from(error);
        match state {
            State::Count(count) => *count += 1,
            State::Sum(sum) if !meaningless => sum.add(&value).map_err(failed)?,
            State::Average(average) if !meaningless => average.add(&value).map_err(failed)?,
            State::Sum(_) | State::Average(_) => {}
            State::Least { best, data_type } => {
                if best.as_ref().is_none_or(|best| compare(data_type, &value, best).is_lt()) {
                    *best = Some(value.into_owned());
                }
            }
            State::Greatest { best, data_type } => {
                if best.as_ref().is_none_or(|best| compare(data_type, &value, best).is_gt()) {
                    *best = Some(value.into_owned());
                }
            }
            State::User(_) => {}
        }
        Ok(())
    }

    /// The result; `None` is null.
    pub fn finish(&self, state: State, env: &Env<'_, '_>) -> Result<Option<Vec<u8>>, QueryError> {
        match (state, self.user.as_ref().and_then(|user| user.finish.as_ref())) {
            (State::User(value), Some(finish)) => finish.call(&[value.as_deref()], &env.call_context()),
            (State::User(value), None) => Ok(value),
            (state, _) => Ok(state.value()),
        }
    }
}

impl UserCall {
    /// The next state. A state function that is not called with nulls leaves the state as it is.
    fn add(&self, value: &mut Option<Vec<u8>>, env: &Env<'_, '_>) -> Result<(), QueryError> {
        let mut given = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            given.push(argument.evaluate_in(env)?.into_bytes());
        }
        let args: Vec<Option<&[u8]>> =
            std::iter::once(value.as_deref()).chain(given.iter().map(|bytes| bytes.as_deref())).collect();
        if self.state.is_strict() && args.iter().any(Option::is_none) {
            return Ok(());
        }
        let next = self.state.call(&args, &env.call_context())?;
        *value = next;
        Ok(())
    }
}

impl State {
    /// What it holds, if that can be much: a value of the rows.
    pub fn bytes(&self) -> usize {
        match self {
            State::Count(_) | State::Sum(_) | State::Average(_) => 0,
            State::Least { best, .. } | State::Greatest { best, .. } | State::User(best) => {
                best.as_ref().map_or(0, Vec::len)
            }
        }
    }

    fn value(self) -> Option<Vec<u8>> {
        match self {
            State::Count(count) => Some(count.to_be_bytes().to_vec()),
            State::Sum(sum) => Some(sum.value()),
            State::Average(average) => Some(average.value()),
            State::Least { best, .. } | State::Greatest { best, .. } | State::User(best) => best,
        }
    }
}
