//! An answer as lines of text that a person can read and a test can compare.

use client::column_type::{data_type, type_text};
use cql_wire::{ChangeTarget, ColumnSpec, ErrorKind, Prefix, Response, Rows};
use model::literal::format_literal;

/// Cassandra says this once in a while, about drivers' methods rather than the statement: no part of the answer.
const SOMETIMES: &str = "`USE <keyspace>` with prepared statements";

/// The lines of one answer: warnings first, then what was answered.
pub fn lines(prefix: &Prefix, response: &Response<'_>) -> Vec<String> {
    let warnings = prefix.warnings.iter().filter(|w| !w.starts_with(SOMETIMES));
    let mut lines: Vec<String> = warnings.map(|w| one_line(&format!("warning: {w}"))).collect();
    match response {
        Response::Void => lines.push("void".into()),
        Response::SetKeyspace(name) => lines.push(format!("keyspace {name}")),
        Response::Error(error) => {
            lines.push(one_line(&format!("error {}: {}", class(&error.kind), error.message)))
        }
        Response::SchemaChange(change) => {
            let target = match &change.target {
                ChangeTarget::Keyspace => "KEYSPACE".into(),
                ChangeTarget::Table { name } => format!("TABLE {name}"),
                ChangeTarget::Type { name } => format!("TYPE {name}"),
                ChangeTarget::Function { name, argument_types } => {
                    format!("FUNCTION {name} {argument_types:?}")
                }
                ChangeTarget::Aggregate { name, argument_types } => {
                    format!("AGGREGATE {name} {argument_types:?}")
                }
            };
            lines.push(format!("schema {:?} {} {target}", change.kind, change.keyspace));
        }
        Response::Rows(rows) => put_rows(&mut lines, rows),
        other => lines.push(one_line(&format!("{other:?}"))),
    }
    lines
}

/// The error class by name, as drivers call it.
fn class(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::AlreadyExists { keyspace, table } => format!("AlreadyExists({keyspace}, {table})"),
        ErrorKind::Unprepared { .. } => "Unprepared".into(),
        ErrorKind::FunctionFailure { keyspace, function, .. } => {
            format!("FunctionFailure({keyspace}, {function})")
        }
        other => {
            let text = format!("{other:?}");
            text.split([' ', '{']).next().unwrap_or_default().to_string()
        }
    }
}

/// `name type, name type`.
pub fn columns(columns: &[ColumnSpec]) -> String {
    let each: Vec<_> = columns.iter().map(|c| format!("{} {}", c.name, type_text(&c.column_type))).collect();
    each.join(", ")
}

fn put_rows(lines: &mut Vec<String>, rows: &Rows<'_>) {
    lines.push(one_line(&format!("columns: {}", columns(&rows.columns))));
    let types: Vec<_> = rows.columns.iter().map(|c| data_type(&c.column_type)).collect();
    let cells: Vec<_> = rows.iter_cells().collect();
    for row in cells.chunks(rows.column_count.max(1)) {
        let values: Vec<_> = row.iter().zip(&types).map(|(cell, kind)| value(kind, *cell)).collect();
        lines.push(one_line(&values.join(" | ")));
    }
}

fn value(kind: &model::types::DataType, cell: Option<&[u8]>) -> String {
    let text = format_literal(kind, cell);
    // Empty bytes that mean nothing are not the same answer as null.
    if cell.is_some_and(<[u8]>::is_empty) && text == "null" { "empty".into() } else { text }
}

fn one_line(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    text.trim_end().to_string()
}
