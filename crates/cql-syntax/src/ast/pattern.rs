//! Our own statements: access patterns and EXPLAIN.

use super::Statement;
use super::name::QualifiedName;
use super::property::Property;
use crate::span::Span;

/// `EXPLAIN [ANALYZE] statement`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explain {
    /// The statement is executed too, and what it did is told.
    pub analyze: bool,
    /// Any statement but EXPLAIN.
    pub statement: Box<Statement>,
    /// The place of the inner statement.
    pub span: Span,
}

/// `CREATE ACCESS PATTERN [IF NOT EXISTS] name AS statement [WITH key = value AND ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatePattern {
    pub if_not_exists: bool,
    pub name: QualifiedName,
    /// A SELECT, INSERT, UPDATE or DELETE.
    pub statement: Statement,
    /// The place of the inner statement.
    pub statement_span: Span,
    /// Values may be numbers, strings, booleans, durations, uuids, maps and any names.
    pub properties: Vec<Property>,
}

/// `ALTER ACCESS PATTERN [IF EXISTS] name [AS statement] [WITH key = value AND ...]`; one of the two at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterPattern {
    pub if_exists: bool,
    pub name: QualifiedName,
    /// The new statement and its place; `None` keeps the old one.
    pub statement: Option<(Statement, Span)>,
    /// Settings to add or replace; those not named stay.
    pub properties: Vec<Property>,
}
