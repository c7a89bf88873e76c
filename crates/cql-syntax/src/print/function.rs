//! Functions, aggregates, triggers.

use std::fmt::{Display, Formatter, Result};

use super::{if_exists, if_not_exists, name, parenthesised};
use crate::ast::{
    CreateAggregate, CreateFunction, CreateTrigger, DropFunction, DropTrigger, FunctionArg, Ident, NullInput,
    QualifiedName,
};

fn create(
    f: &mut Formatter<'_>,
    or_replace: bool,
    what: &str,
    present: bool,
    name: &QualifiedName,
) -> Result {
    f.write_str(if or_replace { "CREATE OR REPLACE " } else { "CREATE " })?;
    write!(f, "{what} ")?;
    if_not_exists(f, present)?;
    name::function(f, name)?;
    f.write_str(" ")
}

/// A function's name without keyspace.
struct Part<'a>(&'a Ident);

impl Display for Part<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        name::function(f, &QualifiedName { keyspace: None, name: self.0.clone() })
    }
}

impl Display for CreateFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        create(f, self.or_replace, "FUNCTION", self.if_not_exists, &self.name)?;
        parenthesised(f, &self.args)?;
        f.write_str(match self.null_input {
            NullInput::Called => " CALLED ON NULL INPUT",
            NullInput::ReturnsNull => " RETURNS NULL ON NULL INPUT",
        })?;
        write!(f, " RETURNS {} LANGUAGE {} AS {}", self.returns, self.language, self.body)
    }
}

impl Display for FunctionArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {}", self.name, self.data_type)
    }
}

impl Display for CreateAggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        create(f, self.or_replace, "AGGREGATE", self.if_not_exists, &self.name)?;
        parenthesised(f, &self.arg_types)?;
        write!(f, " SFUNC {} STYPE {}", Part(&self.state_function), self.state_type)?;
        if let Some(function) = &self.final_function {
            write!(f, " FINALFUNC {}", Part(function))?;
        }
        match &self.initial {
            Some(initial) => write!(f, " INITCOND {initial}"),
            None => Ok(()),
        }
    }
}

/// `DROP what [IF EXISTS] name [(types)]`
pub(super) fn drop_function(f: &mut Formatter<'_>, what: &str, drop: &DropFunction) -> Result {
    write!(f, "DROP {what} ")?;
    if_exists(f, drop.if_exists)?;
    name::function(f, &drop.name)?;
    match &drop.arg_types {
        Some(types) => parenthesised(f, types),
        None => Ok(()),
    }
}

impl Display for CreateTrigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("CREATE TRIGGER ")?;
        if_not_exists(f, self.if_not_exists)?;
        write!(f, "{} ON {} USING {}", self.name, self.table, self.using)
    }
}

impl Display for DropTrigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DROP TRIGGER ")?;
        if_exists(f, self.if_exists)?;
        write!(f, "{} ON {}", self.name, self.table)
    }
}
