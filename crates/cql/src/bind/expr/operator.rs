//! Arithmetic: the function behind an operator is chosen by what its operands may be.
//!
//! The rules are Cassandra's: an exact fit wins; of several that fit loosely, the one whose operands both have the type of the
//! place; else the statement must say more. Operands of selections are looked at before the operator they belong to.

use super::assign::{Assignable, of_types, value_compatible};
use super::{Binder, term_text};
use crate::CqlError;
use crate::bind::types;
use cql_syntax::ast::{self, BinaryOp, ExprKind, NativeType};
use model::arithmetic::{self, Operator};
use model::types::DataType;
use query::function::{self, Function};

/// What may stand on the left of an operator, numbers first.
const OPERANDS: [DataType; 14] = [
    DataType::TinyInt,
    DataType::SmallInt,
    DataType::Int,
    DataType::BigInt,
    DataType::Float,
    DataType::Double,
    DataType::VarInt,
    DataType::Decimal,
    DataType::Counter,
    DataType::Text,
    DataType::Ascii,
    DataType::Timestamp,
    DataType::Date,
    DataType::Duration,
];

pub(super) fn operator(op: BinaryOp) -> Operator {
    match op {
        BinaryOp::Add => Operator::Add,
        BinaryOp::Subtract => Operator::Subtract,
        BinaryOp::Multiply => Operator::Multiply,
        BinaryOp::Divide => Operator::Divide,
        BinaryOp::Modulo => Operator::Modulo,
    }
}

/// Whether a function that gives `returns` may be called where `expected` is wanted.
pub(super) fn returns_fit(expected: Option<&DataType>, returns: &DataType) -> bool {
    expected.is_none_or(|expected| of_types(expected, returns) != Assignable::No)
}

impl Binder<'_, '_> {
    /// What the place of a call wants. In a selection nothing but the arguments decides.
    pub(super) fn wanted<'t>(&self, expected: Option<&'t DataType>) -> Option<&'t DataType> {
        expected.filter(|_| self.row.is_none())
    }

    /// The function of `left op right`.
    pub(super) fn operation(
        &self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        expected: Option<&DataType>,
    ) -> Result<Function, CqlError> {
        self.check_inner(left)?;
        self.check_inner(right)?;
        let wanted = self.wanted(expected);
        let fits = |operand: &ast::Expr| OPERANDS.each_ref().map(|of| self.test(operand, of));
        let (left_fits, right_fits) = (fits(left), fits(right));
        let mut loose = Vec::new();
        for (a, left_fit) in OPERANDS.iter().zip(left_fits) {
            for (b, right_fit) in OPERANDS.iter().zip(right_fits) {
                if left_fit == Assignable::No || right_fit == Assignable::No {
                    continue;
                }
                let returns = arithmetic::result_type(operator(op), a, b);
                if !returns.is_some_and(|returns| returns_fit(wanted, &returns)) {
                    continue;
                }
                if left_fit == Assignable::Exact && right_fit == Assignable::Exact {
                    return made(op, a, b);
                }
                loose.push((a, b));
            }
        }
        let (symbol, left_text, right_text) = (op.symbol(), term_text(left), term_text(right));
        match loose.as_slice() {
            [] => Err(CqlError::invalid(format!(
                "the '{symbol}' operation is not supported between {left_text} and {right_text}"
            ))),
            [(a, b)] => made(op, a, b),
            _ => {
                let marked = [left, right].iter().any(|e| matches!(e.kind, ExprKind::Marker(_)));
                match wanted.filter(|wanted| !marked && loose.contains(&(wanted, wanted))) {
                    Some(wanted) => made(op, wanted, wanted),
                    None => Err(CqlError::invalid(format!(
                        "Ambiguous '{symbol}' operation with args {left_text} and {right_text}: use type hint to \
                         disambiguate, example '(int) ?'"
                    ))),
                }
            }
        }
    }

    /// The function of `-operand`.
    pub(super) fn negation(
        &self,
        operand: &ast::Expr,
        expected: Option<&DataType>,
    ) -> Result<Function, CqlError> {
        self.check_inner(operand)?;
        let wanted = self.wanted(expected);
        let mut loose = Vec::new();
        for number in OPERANDS.iter().filter(|of| of.is_numeric() && returns_fit(wanted, of)) {
            match self.test(operand, number) {
                Assignable::Exact => return negated(number),
                Assignable::Weak => loose.push(number),
                Assignable::No => {}
            }
        }
        match loose.as_slice() {
            [] => Err(no_negation()),
            [number] => negated(number),
            _ => Err(CqlError::invalid("Ambiguous negation: use type casts to disambiguate")),
        }
    }

    /// The function of `CAST(operand AS to)` where no column can be named: literals and markers have no type of their own.
    pub(super) fn cast_of_term(
        &self,
        operand: &ast::Expr,
        to: &DataType,
        expected: Option<&DataType>,
    ) -> Result<Function, CqlError> {
        let sources = NativeType::ALL.into_iter().map(types::native_type).filter(|from| from != to);
        let known: Vec<Function> = sources.filter_map(|from| function::cast_function(&from, to)).collect();
        let mut loose = Vec::new();
        for candidate in
            known.iter().filter(|candidate| returns_fit(self.wanted(expected), &candidate.returns))
        {
            match candidate.args.first().map(|from| self.test(operand, from)) {
                Some(Assignable::Exact) => return Ok(candidate.clone()),
                Some(Assignable::Weak) => loose.push(candidate),
                Some(Assignable::No) | None => {}
            }
        }
        match loose.as_slice() {
            [] if known.is_empty() => {
                Err(CqlError::invalid(format!("{} cannot be cast to {to}", term_text(operand))))
            }
            [] => Err(CqlError::invalid(format!(
                "Invalid call to function system.cast_as_{to}, none of its type signatures match (known type signatures: {})",
                signatures(known.iter())
            ))),
            [only] => Ok((*only).clone()),
            several => Err(CqlError::invalid(format!(
                "Ambiguous call to function system.cast_as_{to} (can be matched by following signatures: {}): use type casts \
                 to disambiguate",
                signatures(several.iter().copied())
            ))),
        }
    }

    /// What is wrong inside an operand or argument of a selection: it goes before what is wrong with the whole.
    pub(super) fn check_inner(&self, written: &ast::Expr) -> Result<(), CqlError> {
        if self.row.is_none() || self.type_of(written, None).is_some() {
            return Ok(());
        }
        match &written.kind {
            ExprKind::Function { name, args } => self.callee(name, args, None).map(drop),
            ExprKind::Binary { op, left, right } => self.operation(*op, left, right, None).map(drop),
            ExprKind::Negate(operand) => self.negation(operand, None).map(drop),
            ExprKind::Tuple(parts) | ExprKind::List(parts) | ExprKind::Set(parts) => {
                parts.iter().try_for_each(|part| self.check_inner(part))
            }
            _ => Ok(()),
        }
    }
}

fn made(op: BinaryOp, left: &DataType, right: &DataType) -> Result<Function, CqlError> {
    function::operator_function(operator(op), left, right)
        .ok_or_else(|| CqlError::invalid(format!("there is no {left} {} {right}", op.symbol())))
}

fn negated(of: &DataType) -> Result<Function, CqlError> {
    function::negate_function(of).ok_or_else(no_negation)
}

fn signatures<'f>(functions: impl Iterator<Item = &'f Function>) -> String {
    functions.map(|f| f.to_string()).collect::<Vec<_>>().join(", ")
}

/// The number types whose bytes this type's values have, too.
pub(super) fn numbers_like(of: &DataType) -> Vec<DataType> {
    let natives = NativeType::ALL.into_iter().map(types::native_type);
    natives.filter(|n| n.is_numeric() && *n != DataType::Counter && value_compatible(n, of)).collect()
}

fn no_negation() -> CqlError {
    let natives = NativeType::ALL.into_iter().map(types::native_type).filter(DataType::is_numeric);
    let known: Vec<String> = natives.map(|n| format!("system.\"_negate\" : ({n}) -> {n}")).collect();
    CqlError::invalid(format!(
        "Invalid call to function system._negate, none of its type signatures match (known type signatures: {})",
        known.join(", ")
    ))
}
