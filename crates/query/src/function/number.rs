//! Arithmetic, casts and the mathematical functions.

use super::{Args, CallContext, CallResult, Function};
use model::arithmetic::{self, MathFunction, Operator, apply_math};
use model::cast::cast;
use model::types::DataType;

const NUMBERS: [DataType; 9] = [
    DataType::TinyInt,
    DataType::SmallInt,
    DataType::Int,
    DataType::BigInt,
    DataType::Float,
    DataType::Double,
    DataType::VarInt,
    DataType::Decimal,
    DataType::Counter,
];

pub fn find(name: &str) -> Option<Vec<Function>> {
    let body: super::Body = match name {
        "abs" => |f, a, _| math(f, a, MathFunction::Abs),
        "exp" => |f, a, _| math(f, a, MathFunction::Exp),
        "log" => |f, a, _| math(f, a, MathFunction::Log),
        "log10" => |f, a, _| math(f, a, MathFunction::Log10),
        "round" => |f, a, _| math(f, a, MathFunction::Round),
        _ => return None,
    };
    Some(NUMBERS.iter().map(|t| Function::new(name, vec![t.clone()], t.clone(), body)).collect())
}

fn math(function: &Function, args: &Args<'_>, which: MathFunction) -> CallResult {
    let value = args.first().copied().flatten();
    apply_math(which, &function.returns, value).map_err(|e| function.failure(e))
}

/// The function behind `left op right`; `None` when the operator does not take these types.
pub fn operator_function(operator: Operator, left: &DataType, right: &DataType) -> Option<Function> {
    let returns = arithmetic::result_type(operator, left, right)?;
    let body: super::Body = match operator {
        Operator::Add => |f, a, _| binary(f, a, Operator::Add),
        Operator::Subtract => |f, a, _| binary(f, a, Operator::Subtract),
        Operator::Multiply => |f, a, _| binary(f, a, Operator::Multiply),
        Operator::Divide => |f, a, _| binary(f, a, Operator::Divide),
        Operator::Modulo => |f, a, _| binary(f, a, Operator::Modulo),
    };
    let name = operator.function_name();
    Some(Function::new(name, vec![left.clone(), right.clone()], returns, body))
}

fn binary(function: &Function, args: &Args<'_>, operator: Operator) -> CallResult {
    let ([left_type, right_type], [left, right]) = (function.args.as_slice(), args) else { return Ok(None) };
    arithmetic::apply(operator, left_type, *left, right_type, *right).map_err(|e| function.failure(e))
}

/// `-x`.
pub fn negate_function(of: &DataType) -> Option<Function> {
    let body: super::Body = |f, args, _: &CallContext<'_>| {
        let value = args.first().copied().flatten();
        arithmetic::negate(&f.returns, value).map_err(|e| f.failure(e))
    };
    of.is_numeric().then(|| Function::new("_negate", vec![of.clone()], of.clone(), body))
}

/// `CAST(x AS to)`; `None` when there is no such cast.
pub fn cast_function(from: &DataType, to: &DataType) -> Option<Function> {
    let body: super::Body = |f, args, _: &CallContext<'_>| {
        let Some(from) = f.args.first() else { return Ok(None) };
        let value = args.first().copied().flatten();
        cast(from, &f.returns, value).map_err(|e| f.failure(e))
    };
    let name = format!("cast_as_{to}");
    model::cast::can_cast(from, to).then(|| Function::new(&name, vec![from.clone()], to.clone(), body))
}
