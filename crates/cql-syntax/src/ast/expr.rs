//! Expressions: what a SELECT clause computes and what a WHERE, SET, VALUES or IF clause compares or writes.
//!
//! Cassandra has two grammars here, "selectors" (may name columns) and "terms" (may not). They have one tree: in a
//! term there is no [`ExprKind::Column`] and no [`ExprKind::CellInfo`]; everything else may occur in both.

use super::name::{Ident, QualifiedName};
use super::types::DataType;
use crate::span::Span;

/// An expression with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExprKind {
    Literal(Literal),
    Null,
    Marker(BindMarker),
    /// A column; only in SELECT and GROUP BY.
    Column(Ident),
    /// `count(*)`. (`count(1)` is an ordinary [`ExprKind::Function`].)
    CountRows,
    /// `[keyspace.]name(args)`, native or user-defined, scalar or aggregate; `token(...)` as a value too.
    Function {
        name: QualifiedName,
        args: Vec<Expr>,
    },
    /// `CAST(expr AS type)`; the type is native.
    Cast {
        expr: Box<Expr>,
        to: DataType,
    },
    /// `(type) expr`: says what an otherwise ambiguous value is, converts nothing.
    TypeHint {
        to: DataType,
        expr: Box<Expr>,
    },
    /// Arithmetic or concatenation.
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `-expr`. The sign of a number literal belongs to the literal: `-3` is not a negation.
    Negate(Box<Expr>),
    /// `of.field`
    Field {
        of: Box<Expr>,
        field: Ident,
    },
    /// `of[key]`
    Element {
        of: Box<Expr>,
        key: Box<Expr>,
    },
    /// `of[from..to]`; at least one bound is present.
    Slice {
        of: Box<Expr>,
        from: Option<Box<Expr>>,
        to: Option<Box<Expr>>,
    },
    /// `WRITETIME(of)`, `MAXWRITETIME(of)`, `TTL(of)`; `of` is a column, possibly with fields, elements or a slice.
    CellInfo {
        info: CellInfo,
        of: Box<Expr>,
    },
    /// `[a, b]`: a list or a vector.
    List(Vec<Expr>),
    /// `{a, b}`: a set. Empty (`{}`) it may also mean an empty map.
    Set(Vec<Expr>),
    /// `{k: v, ...}`: a map; never empty.
    Map(Vec<(Expr, Expr)>),
    /// `{field: v, ...}`: a user-defined type's value; never empty. In a SELECT clause, where names may be columns, it
    /// may also be a map whose keys are columns: only the type hint before it tells.
    UserType(Vec<(Ident, Expr)>),
    /// `(a, b)`: a tuple; never empty. With one element it is a tuple of one or just parentheses: the type expected
    /// at this place tells.
    Tuple(Vec<Expr>),
}

/// The binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl BinaryOp {
    /// The character of the operator.
    pub const fn symbol(self) -> char {
        match self {
            BinaryOp::Add => '+',
            BinaryOp::Subtract => '-',
            BinaryOp::Multiply => '*',
            BinaryOp::Divide => '/',
            BinaryOp::Modulo => '%',
        }
    }
}

/// What is asked of a stored cell besides its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellInfo {
    WriteTime,
    MaxWriteTime,
    Ttl,
}

impl CellInfo {
    /// The name in lower case, as it appears in result column names.
    pub const fn name(self) -> &'static str {
        match self {
            CellInfo::WriteTime => "writetime",
            CellInfo::MaxWriteTime => "maxwritetime",
            CellInfo::Ttl => "ttl",
        }
    }
}

/// `?` or `:name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindMarker {
    /// Position among the markers of the statement, from 0.
    pub index: u32,
    /// The name of a named marker, folded like any name.
    pub name: Option<Ident>,
    pub span: Span,
}

/// A constant. Numbers keep their text, so that no precision is lost before the type is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// The content of a string, without quotes and with escapes resolved.
    String(String),
    /// Optional minus and digits.
    Integer(String),
    /// Digits with point or exponent, or `NaN`, `Infinity`, `-Infinity`.
    Float(String),
    Boolean(bool),
    /// As written, for example `1h30m`, `-P1Y2M`, `P0001-02-03T04:05:06`. See [`crate::duration::parse`].
    Duration(String),
    /// As written; 36 characters.
    Uuid(String),
    /// As written, with the leading `0x`; the number of digits may be odd.
    Blob(String),
}

impl Literal {
    /// The text of the constant, as Cassandra quotes it in messages and stores it in properties.
    pub fn text(&self) -> &str {
        match self {
            Literal::String(text)
            | Literal::Integer(text)
            | Literal::Float(text)
            | Literal::Duration(text)
            | Literal::Uuid(text)
            | Literal::Blob(text) => text,
            Literal::Boolean(true) => "true",
            Literal::Boolean(false) => "false",
        }
    }

    /// Cassandra's name for the kind of constant: `Invalid STRING constant (a) for "v" of type int`.
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Literal::String(_) => "STRING",
            Literal::Integer(_) => "INTEGER",
            Literal::Float(_) => "FLOAT",
            Literal::Boolean(_) => "BOOLEAN",
            Literal::Duration(_) => "DURATION",
            Literal::Uuid(_) => "UUID",
            Literal::Blob(_) => "HEX",
        }
    }
}

impl Expr {
    /// An expression that was not read from a text.
    pub fn new(kind: ExprKind) -> Self {
        Expr { kind, span: Span::default() }
    }

    /// The bind marker, if the expression is one.
    pub fn as_marker(&self) -> Option<&BindMarker> {
        match &self.kind {
            ExprKind::Marker(marker) => Some(marker),
            _ => None,
        }
    }

    /// The constant, if the expression is one.
    pub fn as_literal(&self) -> Option<&Literal> {
        match &self.kind {
            ExprKind::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The column, if the expression is just a column.
    pub fn as_column(&self) -> Option<&Ident> {
        match &self.kind {
            ExprKind::Column(column) => Some(column),
            _ => None,
        }
    }
}
