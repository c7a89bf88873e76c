//! Relations as text, for messages.

use crate::bind::expr::term_text;
use cql_syntax::ast::{Expr, Ident, Operand, Relation, Subject};

/// A relation as Cassandra quotes it.
pub fn relation_text(relation: &Relation) -> String {
    let operator = relation.op.symbol();
    let subject = subject_text(&relation.subject);
    match &relation.operand {
        Operand::None => format!("{subject} {operator}"),
        Operand::One(value) => format!("{subject} {operator} {}", term_text(value)),
        Operand::List(values) => format!("{subject} {operator} ({})", list(values.iter().map(term_text))),
        Operand::Range(from, to) => format!("{subject} {operator} {} AND {}", term_text(from), term_text(to)),
    }
}

fn subject_text(subject: &Subject) -> String {
    let names = |columns: &[Ident]| list(columns.iter().map(|c| c.as_str().to_string()));
    match subject {
        Subject::Column(column) | Subject::Index(column) => column.as_str().to_string(),
        Subject::Element { column, key } => format!("{}[{}]", column.as_str(), key_text(key)),
        Subject::Field { column, field } => format!("{}.{}", column.as_str(), field.as_str()),
        Subject::Token(columns) => format!("token({})", names(columns)),
        Subject::Columns(columns) => format!("({})", names(columns)),
    }
}

fn key_text(key: &Expr) -> String {
    term_text(key)
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}
