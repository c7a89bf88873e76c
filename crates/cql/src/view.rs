//! Materialized views as a store must know them.

use crate::bind::Scope;
use crate::bind::restrictions::bind_view_where;
use cql_syntax::ast::Statement;
use query::QueryError;
use schema::{Catalogue, Table};
use std::sync::Arc;
use store::view::ViewConfig;

/// The views of a table. The error says that a stored definition cannot be read: then the view must not be served, because
/// nobody would keep it in step.
pub(crate) fn configs(catalogue: &Catalogue, base: &Arc<Table>) -> Result<Vec<ViewConfig>, QueryError> {
    let Some(keyspace) = catalogue.keyspace(&base.keyspace) else { return Ok(Vec::new()) };
    keyspace.views_of(base).map(|view| config(catalogue, base, view)).collect()
}

/// How the store keeps one view in step with its base.
pub(crate) fn config(
    catalogue: &Catalogue,
    base: &Arc<Table>,
    view: &Table,
) -> Result<ViewConfig, QueryError> {
    let damaged = |fault: &str| {
        QueryError::Invalid(format!(
            "The definition of the materialized view {}.{} cannot be read: {fault}",
            view.keyspace, view.name
        ))
    };
    let clause = view.view.as_ref().map(|definition| definition.where_clause()).unwrap_or_default();
    let text = format!("SELECT * FROM v WHERE {clause}");
    let parsed = cql_syntax::parse_statement(&text).map_err(|fault| damaged(&fault.to_string()))?;
    let Statement::Select(select) = &parsed.statement else { return Err(damaged("it is no query")) };
    let scope = Scope { catalogue, keyspace: Some(&base.keyspace) };
    let conditions =
        bind_view_where(scope, base, &select.relations).map_err(|fault| damaged(&fault.to_string()))?;
    query::view::config(base, view, conditions).ok_or_else(|| damaged("a column is missing"))
}
