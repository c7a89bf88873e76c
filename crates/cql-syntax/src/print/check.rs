//! Constraints of columns.

use std::fmt::{Display, Formatter, Result};

use super::{join, parenthesised};
use crate::ast::{CheckKind, ColumnCheck};

impl Display for ColumnCheck {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            CheckKind::NotNull => f.write_str("NOT NULL"),
            CheckKind::Column { column, op, term } => write!(f, "{column} {} {term}", op.symbol()),
            CheckKind::Function { name, args, compared } => {
                write!(f, "{name}")?;
                parenthesised(f, args)?;
                match compared {
                    Some((op, term)) => write!(f, " {} {term}", op.symbol()),
                    None => Ok(()),
                }
            }
        }
    }
}

/// ` CHECK a AND b`, or nothing.
pub(super) fn checks(f: &mut Formatter<'_>, checks: &[ColumnCheck]) -> Result {
    if checks.is_empty() {
        return Ok(());
    }
    f.write_str(" CHECK ")?;
    join(f, checks, " AND ")
}
