//! Expressions as text: in messages, and as names of result columns.

use super::super::types;
use cql_syntax::ast::{self, ExprKind, Literal};

/// A term as Cassandra quotes it in messages.
pub fn term_text(written: &ast::Expr) -> String {
    render(written, &|name, args| format!("{name}({args})"))
}

/// The name of the result column of a selector without alias: functions carry their keyspace. `keyspace_of` knows that of
/// user-defined ones.
pub fn selector_name(written: &ast::Expr, keyspace_of: &dyn Fn(&str) -> Option<String>) -> String {
    render(written, &|name, args| match keyspace_of(name) {
        Some(keyspace) => format!("{keyspace}.{name}({args})"),
        None => format!("system.{name}({args})"),
    })
}

fn join(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(", ")
}

fn render(written: &ast::Expr, native: &dyn Fn(&str, &str) -> String) -> String {
    let text = |e: &ast::Expr| render(e, native);
    let list = |parts: &[ast::Expr]| join(parts.iter().map(text));
    match &written.kind {
        ExprKind::Literal(Literal::String(content)) => format!("'{}'", content.replace('\'', "''")),
        ExprKind::Literal(literal) => literal.text().to_string(),
        ExprKind::Null => "NULL".into(),
        ExprKind::Marker(marker) => match &marker.name {
            Some(name) => format!(":{}", name.as_str()),
            None => "?".into(),
        },
        ExprKind::Column(name) => name.as_str().to_string(),
        ExprKind::CountRows => "count".into(),
        ExprKind::Function { name, args } if is_count_of_one(name, args) => "count".into(),
        ExprKind::Function { name, args } => match name.keyspace_str() {
            Some(keyspace) => format!("{keyspace}.{}({})", name.as_str(), list(args)),
            None => native(name.as_str(), &list(args)),
        },
        ExprKind::Cast { expr, to } => format!("cast({} as {})", text(expr), types::text_of(to)),
        ExprKind::TypeHint { to, expr } => format!("({}){}", types::text_of(to), text(expr)),
        ExprKind::Binary { op, left, right } => format!("{} {} {}", text(left), op.symbol(), text(right)),
        ExprKind::Negate(inner) => format!("-{}", text(inner)),
        ExprKind::Field { of, field } => format!("{}.{}", text(of), field.as_str()),
        ExprKind::Element { of, key } => format!("{}[{}]", text(of), text(key)),
        ExprKind::Slice { of, from, to } => {
            let bound = |b: &Option<Box<ast::Expr>>| b.as_ref().map(|b| text(b)).unwrap_or_default();
            format!("{}[{}..{}]", text(of), bound(from), bound(to))
        }
        ExprKind::CellInfo { info, of } => format!("{}({})", info.name(), text(of)),
        ExprKind::List(parts) => format!("[{}]", list(parts)),
        ExprKind::Set(parts) => format!("{{{}}}", list(parts)),
        ExprKind::Map(entries) => {
            format!("{{{}}}", join(entries.iter().map(|(k, v)| format!("{}: {}", text(k), text(v)))))
        }
        ExprKind::UserType(fields) => {
            format!("{{{}}}", join(fields.iter().map(|(n, v)| format!("{}: {}", n.as_str(), text(v)))))
        }
        ExprKind::Tuple(parts) => format!("({})", list(parts)),
    }
}

/// `count(1)` is another way to write `count(*)`.
fn is_count_of_one(name: &ast::QualifiedName, args: &[ast::Expr]) -> bool {
    let one = |e: &ast::Expr| matches!(e.as_literal(), Some(Literal::Integer(digits)) if digits == "1");
    name.keyspace.is_none() && name.as_str() == "count" && matches!(args, [only] if one(only))
}
