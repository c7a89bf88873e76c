//! Names that no file declares: a statement on an unknown table or column is an error of the file.

use super::{Access, Catalogue, Table};
use crate::finding::ReadError;
use cql_syntax::ast::{Expr, ExprKind, InsertSource, Selection, Statement};

/// Adds an error for every statement that names an unknown table or column.
pub(super) fn check(catalogue: &mut Catalogue) {
    if catalogue.tables.is_empty() {
        // Statements alone: the schema is elsewhere.
        return;
    }
    let problem = |access: &Access| -> Option<ReadError> {
        let message = match catalogue.table(access) {
            Some(table) => {
                let column = unknown_column(table, access)?;
                format!(
                    "Undefined column name {column} in table {}: no statement here declares it",
                    table.name
                )
            }
            None if is_elsewhere(catalogue, access) => return None,
            None => format!("table {} does not exist: no statement here creates it", access.table_name),
        };
        Some(ReadError { place: access.place, message })
    };
    let errors: Vec<ReadError> = catalogue.accesses.iter().filter_map(problem).collect();
    catalogue.errors.extend(errors);
}

/// Tables of the server, of keyspaces that no file touches, and such as were dropped.
fn is_elsewhere(catalogue: &Catalogue, access: &Access) -> bool {
    let keyspace = access.keyspace.as_deref();
    let is_known =
        |name: &str| catalogue.tables.iter().any(|t| t.keyspace.as_deref().is_none_or(|k| k == name));
    access.table_name.is_empty()
        || catalogue.dropped.contains(&access.table_name)
        || keyspace.is_some_and(|name| name.starts_with("system") || !is_known(name))
}

fn unknown_column<'a>(table: &Table, access: &'a Access) -> Option<&'a str> {
    let unknown = |name: &&'a str| table.column(name).is_none() && *name != "solr_query";
    let restricted = access.restrictions.iter().filter(|r| !r.is_index).flat_map(|r| r.columns.iter());
    let assigned = access.assigned.iter().map(|(name, _)| name);
    let ordered = access.order_by.iter().map(|(name, ..)| name);
    let named = restricted.chain(assigned).chain(ordered).map(String::as_str);
    named.chain(selected(&access.statement)).find(unknown)
}

/// The columns that a SELECT clause or an INSERT names.
fn selected(statement: &Statement) -> Vec<&str> {
    let mut names = Vec::new();
    match statement {
        Statement::Select(select) => {
            if let Selection::Items(items) = &select.selection {
                items.iter().for_each(|item| columns(&item.expr, &mut names));
            }
        }
        Statement::Insert(insert) => {
            if let InsertSource::Values { columns, .. } = &insert.source {
                names.extend(columns.iter().map(|column| column.name.as_str()));
            }
        }
        _ => {}
    }
    names
}

fn columns<'e>(expr: &'e Expr, names: &mut Vec<&'e str>) {
    match &expr.kind {
        ExprKind::Column(column) => names.push(&column.name),
        ExprKind::Function { args, .. } => args.iter().for_each(|arg| columns(arg, names)),
        ExprKind::Cast { expr, .. } => columns(expr, names),
        ExprKind::CellInfo { of, .. } | ExprKind::Field { of, .. } | ExprKind::Element { of, .. } => {
            columns(of, names);
        }
        _ => {}
    }
}
