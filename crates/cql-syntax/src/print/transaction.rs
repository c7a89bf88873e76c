//! `BEGIN TRANSACTION … COMMIT TRANSACTION`.

use std::fmt::{Display, Formatter, Result};

use super::join;
use crate::ast::{Place, Reference, Returning, Transaction, TransactionCondition};

impl Display for Transaction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("BEGIN TRANSACTION ")?;
        for found in &self.lets {
            write!(f, "LET {} = ({}); ", found.name, found.select)?;
        }
        match &self.returning {
            None => {}
            Some(Returning::Select(select)) => write!(f, "{select}; ")?,
            Some(Returning::References(references)) => {
                f.write_str("SELECT ")?;
                join(f, references, ", ")?;
                f.write_str("; ")?;
            }
        }
        if !self.conditions.is_empty() {
            f.write_str("IF ")?;
            join(f, &self.conditions, " AND ")?;
            f.write_str(" THEN ")?;
        }
        for write in &self.writes {
            write!(f, "{write}; ")?;
        }
        if !self.conditions.is_empty() {
            f.write_str("END IF ")?;
        }
        f.write_str("COMMIT TRANSACTION")
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "[{}:{}]", self.line, self.column)
    }
}

impl Display for Reference {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.field {
            Some(field) => write!(f, "{}.{field}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl Display for TransactionCondition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TransactionCondition::Null { reference, is_null: true } => write!(f, "{reference} IS NULL"),
            TransactionCondition::Null { reference, is_null: false } => write!(f, "{reference} IS NOT NULL"),
            TransactionCondition::Compare { reference, op, value } => {
                write!(f, "{reference} {} {value}", op.symbol())
            }
        }
    }
}
