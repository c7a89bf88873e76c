//! Relations of a WHERE clause and conditions of an IF clause: one shape for both.

use super::expr::Expr;
use super::name::Ident;
use crate::span::Span;

/// `subject op operand`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub subject: Subject,
    pub op: RelationOp,
    pub operand: Operand,
    pub span: Span,
}

/// The left side of a relation. In an IF clause: a column, element or field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// `c`
    Column(Ident),
    /// `m[k]`, `l[i]`
    Element { column: Ident, key: Box<Expr> },
    /// `u.f`
    Field { column: Ident, field: Ident },
    /// `token(a, b)`
    Token(Vec<Ident>),
    /// `(a, b)`; may have one column
    Columns(Vec<Ident>),
    /// `expr(index, value)`: a custom index's own expression; the operator is [`RelationOp::Matches`]
    Index(Ident),
}

/// The operators. Which operand each has is said at [`Operand`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelationOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
    Between,
    Contains,
    ContainsKey,
    NotContains,
    NotContainsKey,
    Like,
    IsNotNull,
    /// Only with [`Subject::Index`].
    Matches,
}

impl RelationOp {
    /// The operator as CQL spells it; `expr` for [`RelationOp::Matches`].
    pub const fn symbol(self) -> &'static str {
        match self {
            RelationOp::Eq => "=",
            RelationOp::Ne => "!=",
            RelationOp::Lt => "<",
            RelationOp::Le => "<=",
            RelationOp::Gt => ">",
            RelationOp::Ge => ">=",
            RelationOp::In => "IN",
            RelationOp::NotIn => "NOT IN",
            RelationOp::Between => "BETWEEN",
            RelationOp::Contains => "CONTAINS",
            RelationOp::ContainsKey => "CONTAINS KEY",
            RelationOp::NotContains => "NOT CONTAINS",
            RelationOp::NotContainsKey => "NOT CONTAINS KEY",
            RelationOp::Like => "LIKE",
            RelationOp::IsNotNull => "IS NOT NULL",
            RelationOp::Matches => "expr",
        }
    }

    /// `<`, `<=`, `>`, `>=` and `BETWEEN`.
    pub const fn is_slice(self) -> bool {
        matches!(
            self,
            RelationOp::Lt | RelationOp::Le | RelationOp::Gt | RelationOp::Ge | RelationOp::Between
        )
    }
}

/// The right side of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// `IS NOT NULL` has none.
    None,
    /// One value. With `IN` and `NOT IN`: one marker for the whole list (`IN ?`).
    One(Expr),
    /// `IN (a, b)`, `NOT IN (a, b)`; may be empty.
    List(Vec<Expr>),
    /// `BETWEEN a AND b`
    Range(Box<Expr>, Box<Expr>),
}
