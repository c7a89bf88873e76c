//! Relations and conditions.

use std::fmt::{Display, Formatter, Result};

use super::{join, parenthesised};
use crate::ast::{Condition, Operand, Relation, RelationOp, Subject};

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.op == RelationOp::Matches {
            return write!(f, "expr({}, {})", self.subject, self.operand);
        }
        write!(f, "{} {}", self.subject, self.op.symbol())?;
        match &self.operand {
            Operand::None => Ok(()),
            operand => write!(f, " {operand}"),
        }
    }
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Subject::Column(column) => write!(f, "{column}"),
            Subject::Element { column, key } => write!(f, "{column}[{key}]"),
            Subject::Field { column, field } => write!(f, "{column}.{field}"),
            Subject::Token(columns) => {
                f.write_str("token")?;
                parenthesised(f, columns)
            }
            Subject::Columns(columns) => parenthesised(f, columns),
            Subject::Index(index) => write!(f, "{index}"),
        }
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Operand::None => Ok(()),
            Operand::One(value) => write!(f, "{value}"),
            Operand::List(values) => parenthesised(f, values),
            Operand::Range(low, high) => write!(f, "{low} AND {high}"),
        }
    }
}

/// ` WHERE a AND b`, or nothing.
pub(super) fn where_clause(f: &mut Formatter<'_>, relations: &[Relation]) -> Result {
    if relations.is_empty() {
        return Ok(());
    }
    f.write_str(" WHERE ")?;
    join(f, relations, " AND ")
}

/// ` IF ...`, or nothing.
pub(super) fn if_clause(f: &mut Formatter<'_>, condition: &Option<Condition>) -> Result {
    match condition {
        None => Ok(()),
        Some(Condition::Exists(_)) => f.write_str(" IF EXISTS"),
        Some(Condition::Relations(relations)) => {
            f.write_str(" IF ")?;
            join(f, relations, " AND ")
        }
    }
}
