//! Statements on service levels.

use std::fmt::{Display, Formatter, Result};

use super::property::with_clause;
use super::{if_exists, if_not_exists};
use crate::ast::ServiceLevel;

impl Display for ServiceLevel {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            ServiceLevel::Create { if_not_exists: present, name, properties } => {
                f.write_str("CREATE SERVICE LEVEL ")?;
                if_not_exists(f, *present)?;
                write!(f, "{name}")?;
                with_clause(f, properties)
            }
            ServiceLevel::Alter { name, properties } => {
                write!(f, "ALTER SERVICE LEVEL {name}")?;
                with_clause(f, properties)
            }
            ServiceLevel::Drop { if_exists: present, name } => {
                f.write_str("DROP SERVICE LEVEL ")?;
                if_exists(f, *present)?;
                write!(f, "{name}")
            }
            ServiceLevel::Attach { name, role } => write!(f, "ATTACH SERVICE LEVEL {name} TO {role}"),
            ServiceLevel::Detach { role } => write!(f, "DETACH SERVICE LEVEL FROM {role}"),
            ServiceLevel::List(Some(name)) => write!(f, "LIST SERVICE LEVEL {name}"),
            ServiceLevel::List(None) => f.write_str("LIST ALL SERVICE LEVELS"),
            ServiceLevel::ListAttached(Some(role)) => write!(f, "LIST ATTACHED SERVICE LEVEL OF {role}"),
            ServiceLevel::ListAttached(None) => f.write_str("LIST ALL ATTACHED SERVICE LEVELS"),
            ServiceLevel::ListEffective(role) => write!(f, "LIST EFFECTIVE SERVICE LEVEL OF {role}"),
        }
    }
}
