//! A Chebotko diagram of a table: columns with their part in the key. K partition key, C clustering with its direction,
//! S static, ++ counter, [] list, {} set, <> map.

use super::html::escape;
use crate::catalogue::{Column, Role, Table};
use crate::dynamo;
use crate::vocabulary;
use cql_syntax::ast::{NativeType, TypeKind};
use std::fmt::Write;

/// The diagram as an HTML table; key columns first, in key order.
pub fn write(table: &Table) -> String {
    let mut out = String::from("<table class=\"chebotko\"><thead><tr><th colspan=\"3\">");
    out.push_str(&escape(&table.name));
    if table.is_view() {
        out.push_str(" <em>view</em>");
    }
    out.push_str("</th></tr></thead><tbody>");
    for column in table.partition_columns() {
        row(&mut out, column, "K");
    }
    for item in &table.clustering {
        if let Some(column) = table.columns.get(item.column) {
            row(&mut out, column, if item.descending { "C↓" } else { "C↑" });
        }
    }
    for column in table.columns.iter().filter(|c| c.role == Role::Regular) {
        row(&mut out, column, if column.is_static { "S" } else { mark(column) });
    }
    out.push_str("</tbody></table>");
    out
}

/// A table of DynamoDB: its key, then the key of every index.
pub fn write_dynamo(table: &dynamo::Table) -> String {
    let mut out = format!(
        "<table class=\"chebotko\"><thead><tr><th colspan=\"3\">{}</th></tr></thead><tbody>",
        escape(&table.name)
    );
    let key = |out: &mut String, key: &dynamo::Key, class: &str, mark: &str| {
        let kind = key.kind.map(String::from).unwrap_or_default();
        let _ = write!(
            out,
            "<tr class=\"{class}\"><td>{}</td><td>{kind}</td><td>{mark}</td></tr>",
            escape(&key.name)
        );
    };
    key(&mut out, &table.hash, "k", "K");
    if let Some(range) = &table.range {
        key(&mut out, range, "c", "C↑");
    }
    for index in &table.indexes {
        let kind = if index.is_local { "local index" } else { "index" };
        let _ = write!(out, "<tr class=\"r\"><td colspan=\"3\">{kind} {}</td></tr>", escape(&index.name));
        key(&mut out, &index.hash, "k", "K");
        if let Some(range) = &index.range {
            key(&mut out, range, "c", "C↑");
        }
    }
    if let Some(ttl) = &table.ttl {
        let _ = write!(out, "<tr class=\"r\"><td>{}</td><td>N</td><td>TTL</td></tr>", escape(&ttl.attribute));
    }
    out.push_str("</tbody></table>");
    out
}

fn row(out: &mut String, column: &Column, mark: &str) {
    let class = match column.role {
        Role::Partition => "k",
        Role::Clustering => "c",
        Role::Regular => "r",
    };
    let _ = write!(
        out,
        "<tr class=\"{class}\"><td>{}</td><td>{}</td><td>{mark}</td></tr>",
        escape(&column.name),
        escape(&column.data_type.to_string())
    );
}

fn mark(column: &Column) -> &'static str {
    let kind = match &column.data_type.kind {
        TypeKind::Frozen(inner) => &inner.kind,
        kind => kind,
    };
    match kind {
        TypeKind::List(_) => "[ ]",
        TypeKind::Set(_) => "{ }",
        TypeKind::Map(..) => "&lt; &gt;",
        _ if vocabulary::native(&column.data_type) == Some(NativeType::Counter) => "++",
        _ => "",
    }
}
