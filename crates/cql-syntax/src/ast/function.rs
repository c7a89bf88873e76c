//! User-defined functions, aggregates and triggers.

use super::expr::Expr;
use super::name::{Ident, QualifiedName, Text};
use super::types::DataType;

/// `CREATE [OR REPLACE] FUNCTION [IF NOT EXISTS] name (args) ... LANGUAGE l AS 'body'`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateFunction {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub name: QualifiedName,
    pub args: Vec<FunctionArg>,
    pub null_input: NullInput,
    pub returns: DataType,
    pub language: Ident,
    pub body: Text,
}

/// `name type`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionArg {
    pub name: Ident,
    pub data_type: DataType,
}

/// What a function does with a null argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NullInput {
    /// `CALLED ON NULL INPUT`
    Called,
    /// `RETURNS NULL ON NULL INPUT`
    ReturnsNull,
}

/// `CREATE [OR REPLACE] AGGREGATE [IF NOT EXISTS] name (types) SFUNC f STYPE t [FINALFUNC g] [INITCOND v]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateAggregate {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub name: QualifiedName,
    pub arg_types: Vec<DataType>,
    pub state_function: Ident,
    pub state_type: DataType,
    pub final_function: Option<Ident>,
    pub initial: Option<Expr>,
}

/// `DROP FUNCTION|AGGREGATE [IF EXISTS] name [(types)]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropFunction {
    pub if_exists: bool,
    pub name: QualifiedName,
    /// None without parentheses: whichever function has the name, if it is the only one.
    pub arg_types: Option<Vec<DataType>>,
}

/// `CREATE TRIGGER [IF NOT EXISTS] name ON table USING 'class'`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTrigger {
    pub if_not_exists: bool,
    pub name: Ident,
    pub table: QualifiedName,
    pub using: Text,
}

/// `DROP TRIGGER [IF EXISTS] name ON table`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropTrigger {
    pub if_exists: bool,
    pub name: Ident,
    pub table: QualifiedName,
}
