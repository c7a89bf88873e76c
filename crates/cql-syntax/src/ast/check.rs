//! Constraints of columns: `CHECK …` and `NOT NULL`.

use super::expr::Expr;
use super::name::Ident;
use super::relation::RelationOp;
use crate::span::Span;

/// One constraint; several stand beside each other with AND.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnCheck {
    pub kind: CheckKind,
    pub span: Span,
}

/// What a constraint says. Operators are those of comparison: `=`, `!=`, `<`, `<=`, `>`, `>=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckKind {
    NotNull,
    /// `column op term`; which column may be named is for the binder to say
    Column {
        column: Ident,
        op: RelationOp,
        term: Expr,
    },
    /// `name() op term`, or `name()` alone
    Function {
        name: Ident,
        args: Vec<Expr>,
        compared: Option<(RelationOp, Expr)>,
    },
}
