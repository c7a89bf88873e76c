//! Expressions.

use std::fmt::{Display, Formatter, Result};

use super::{join, name, parenthesised};
use crate::ast::{BinaryOp, BindMarker, Expr, ExprKind, Literal, REFERENCE_BASE};
use crate::quote;

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Literal::String(text) => f.write_str(&quote::string(text)),
            other => f.write_str(other.text()),
        }
    }
}

impl Display for BindMarker {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.index >= REFERENCE_BASE
            && let Some(name) = &self.name
        {
            return f.write_str(&name.name);
        }
        match &self.name {
            Some(name) => write!(f, ":{name}"),
            None => f.write_str("?"),
        }
    }
}

/// How tightly an expression holds together. Operands that hold less tightly than their place asks get parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Sum,
    Product,
    Signed,
    Accessed,
    Primary,
}

fn strength(kind: &ExprKind) -> Strength {
    match kind {
        ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Subtract, .. } => Strength::Sum,
        ExprKind::Binary { .. } => Strength::Product,
        ExprKind::Negate(_) => Strength::Signed,
        ExprKind::Field { .. } | ExprKind::Element { .. } | ExprKind::Slice { .. } => Strength::Accessed,
        _ => Strength::Primary,
    }
}

/// An operand whose place asks for at least this strength.
struct Operand<'a>(&'a Expr, Strength);

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if strength(&self.0.kind) < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            ExprKind::Literal(literal) => write!(f, "{literal}"),
            ExprKind::Null => f.write_str("NULL"),
            ExprKind::Marker(marker) => write!(f, "{marker}"),
            ExprKind::Column(column) => name::selected_column(f, column),
            ExprKind::CountRows => f.write_str("count(*)"),
            ExprKind::Function { name, args } => {
                name::function(f, name)?;
                parenthesised(f, args)
            }
            ExprKind::Cast { expr, to } => write!(f, "CAST({expr} AS {to})"),
            ExprKind::TypeHint { to, expr } => write!(f, "({to}){}", Operand(expr, Strength::Primary)),
            ExprKind::Binary { op, left, right } => binary(f, *op, left, right),
            ExprKind::Negate(operand) => negate(f, operand),
            ExprKind::Field { of, field } => write!(f, "{}.{field}", Accessed(of)),
            ExprKind::Element { of, key } => write!(f, "{}[{key}]", Accessed(of)),
            ExprKind::Slice { of, from, to } => {
                write!(f, "{}[", Accessed(of))?;
                if let Some(from) = from {
                    write!(f, "{from}")?;
                }
                f.write_str("..")?;
                if let Some(to) = to {
                    write!(f, "{to}")?;
                }
                f.write_str("]")
            }
            ExprKind::CellInfo { info, of } => write!(f, "{}({of})", info.name()),
            ExprKind::List(items) => bracketed(f, '[', items, ']'),
            ExprKind::Set(items) => bracketed(f, '{', items, '}'),
            ExprKind::Map(entries) => {
                let entries: Vec<Entry<'_, Expr>> =
                    entries.iter().map(|(key, value)| Entry(key, value)).collect();
                bracketed(f, '{', &entries, '}')
            }
            ExprKind::UserType(fields) => {
                let fields: Vec<Entry<'_, _>> =
                    fields.iter().map(|(field, value)| Entry(field, value)).collect();
                bracketed(f, '{', &fields, '}')
            }
            ExprKind::Tuple(items) => parenthesised(f, items),
        }
    }
}

fn binary(f: &mut Formatter<'_>, op: BinaryOp, left: &Expr, right: &Expr) -> Result {
    // Operators of one strength group to the left, so only the right operand must hold more tightly.
    let (left_place, right_place) = match op {
        BinaryOp::Add | BinaryOp::Subtract => (Strength::Sum, Strength::Product),
        _ => (Strength::Product, Strength::Signed),
    };
    write!(f, "{} {} {}", Operand(left, left_place), op.symbol(), Operand(right, right_place))
}

/// A blank keeps the minus apart from a number, which would swallow it, and from another minus, which would make a
/// comment.
fn negate(f: &mut Formatter<'_>, operand: &Expr) -> Result {
    let apart = begins_badly(operand);
    write!(f, "-{}{}", if apart { " " } else { "" }, Operand(operand, Strength::Signed))
}

fn begins_badly(operand: &Expr) -> bool {
    match &operand.kind {
        ExprKind::Literal(_) | ExprKind::Negate(_) => true,
        ExprKind::Field { of, .. } | ExprKind::Element { of, .. } | ExprKind::Slice { of, .. } => {
            begins_badly(of)
        }
        _ => false,
    }
}

/// What is before a dot or bracket. A blank keeps a number apart from the dot, which would become part of it.
struct Accessed<'a>(&'a Expr);

impl Display for Accessed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", Operand(self.0, Strength::Accessed))?;
        if ends_with_literal(self.0) { f.write_str(" ") } else { Ok(()) }
    }
}

fn ends_with_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::TypeHint { expr, .. } => ends_with_literal(expr),
        _ => false,
    }
}

fn bracketed<T: Display>(f: &mut Formatter<'_>, open: char, items: &[T], close: char) -> Result {
    write!(f, "{open}")?;
    join(f, items, ", ")?;
    write!(f, "{close}")
}

struct Entry<'a, K>(&'a K, &'a Expr);

impl<K: Display> Display for Entry<'_, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: {}", self.0, self.1)
    }
}
