//! `CHECK` and `NOT NULL` of columns, from the syntax tree to constraints. Which of them a column may have is the schema's to say.

use crate::CqlError;
use crate::bind::comparison::of_values;
use crate::bind::encode_constant;
use cql_syntax::ast::{CheckKind, ColumnCheck, Expr, ExprKind, Ident, Literal, RelationOp};
use model::constraint::Constraint;
use model::types::DataType;
use schema::SchemaError;
use schema::fault::ConstraintFault;

/// The constraints of a column.
pub(super) fn constraints(
    column: &str,
    data_type: &DataType,
    checks: &[ColumnCheck],
) -> Result<Vec<Constraint>, CqlError> {
    checks.iter().map(|check| constraint(column, data_type, check)).collect()
}

fn constraint(column: &str, data_type: &DataType, check: &ColumnCheck) -> Result<Constraint, CqlError> {
    match &check.kind {
        CheckKind::NotNull => Ok(Constraint::NotNull),
        CheckKind::Column { column: named, op, term } => {
            if named.as_str() != column {
                return Err(CqlError::Invalid(format!(
                    "Constraint {check} was not specified on a column it operates on: {column} but on: {named}"
                )));
            }
            let value = stored(column, data_type, term)?;
            Ok(Constraint::Value { comparison: of_values(*op)?, term: term.to_string(), value })
        }
        CheckKind::Function { name, args, compared } => function(column, name, args, compared.as_ref()),
    }
}

fn function(
    column: &str,
    name: &Ident,
    args: &[Expr],
    compared: Option<&(RelationOp, Expr)>,
) -> Result<Constraint, CqlError> {
    let upper = name.as_str().to_uppercase();
    // The column may be named, as Cassandra's documents write it; nothing else is an argument.
    match args {
        [] => {}
        [Expr { kind: ExprKind::Column(named), .. }] if named.as_str() == column => {}
        [Expr { kind: ExprKind::Column(named), .. }] => {
            return Err(CqlError::Invalid(format!(
                "Constraint {upper}({named}) was not specified on a column it operates on: {column} but on: {named}"
            )));
        }
        _ => return Err(CqlError::Invalid(format!("Constraint {upper} does not accept any arguments."))),
    }
    let unknown = || CqlError::Invalid(format!("Unrecognized constraint function: {}", name.as_str()));
    match (upper.as_str(), compared) {
        ("NOT_NULL", None) => Ok(Constraint::NotNull),
        ("JSON", None) => Ok(Constraint::Json),
        ("LENGTH" | "OCTET_LENGTH", Some((op, term))) => {
            let octets = upper == "OCTET_LENGTH";
            Ok(Constraint::Length { octets, comparison: of_values(*op)?, count: count(&upper, term)? })
        }
        ("REGEXP", Some((op, term))) => {
            if !matches!(op, RelationOp::Eq | RelationOp::Ne) {
                return Err(CqlError::Invalid(format!(
                    "REGEXP constraint of relation '{}' is not supported. Only these are: [=, !=]",
                    op.symbol()
                )));
            }
            let ExprKind::Literal(Literal::String(pattern)) = &term.kind else {
                return Err(CqlError::Invalid(format!("String '{term}' is not a valid regular expression")));
            };
            Constraint::regexp(*op == RelationOp::Eq, pattern)
                .map_err(|fault| SchemaError::from(ConstraintFault::Unfit(fault)).into())
        }
        _ => Err(unknown()),
    }
}

fn count(name: &str, term: &Expr) -> Result<i64, CqlError> {
    let number = match &term.kind {
        ExprKind::Literal(Literal::Integer(text)) => text.parse().ok(),
        _ => None,
    };
    number
        .ok_or_else(|| CqlError::Invalid(format!("{name} is compared with a whole number, not with {term}")))
}

/// What a column of this type stores for the term. Types that cannot be compared are refused by the schema, whatever the term.
fn stored(column: &str, data_type: &DataType, term: &Expr) -> Result<Vec<u8>, CqlError> {
    let comparable = (data_type.is_numeric() && *data_type != DataType::Counter)
        || matches!(data_type, DataType::Time | DataType::Date | DataType::Timestamp);
    if !comparable {
        return Ok(Vec::new());
    }
    let refused =
        || CqlError::Invalid(format!("Cannot parse constraint value from {term} for column '{column}'"));
    let ExprKind::Literal(literal) = &term.kind else { return Err(refused()) };
    encode_constant(literal, data_type, column).ok_or_else(refused)
}
