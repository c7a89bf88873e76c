//! Materialized views as a store must know them.

use query::QueryError;
use query::fault::JobFault;
use schema::{Catalogue, LagRule, Table};
use std::sync::Arc;
use store::view::{ViewCondition, ViewConfig};
use store::{LaterConfig, OnLag, TableId};

/// The views of a table that are kept in step with it, in its commits.
pub fn configs(catalogue: &Catalogue, base: &Table) -> Result<Vec<ViewConfig>, QueryError> {
    let Some(keyspace) = catalogue.keyspace(&base.keyspace) else { return Ok(Vec::new()) };
    let enabled = |table: &&Arc<Table>| {
        table.later().is_none() && table.view.as_ref().is_some_and(|view| view.disabled.is_none())
    };
    let config =
        |view: &Arc<Table>| configs_of(base, view).map_err(|why| QueryError::from(unkeepable(view, why)));
    let configs: Vec<Vec<ViewConfig>> =
        keyspace.views_of(base).filter(enabled).map(config).collect::<Result<_, QueryError>>()?;
    Ok(configs.into_iter().flatten().collect())
}

/// A projection that follows later, and how.
pub type Follower = (Arc<Table>, Arc<LaterConfig>);

/// The projections of a table that follow it later.
pub fn later_configs(catalogue: &Catalogue, base: &Table) -> Result<Vec<Follower>, QueryError> {
    let Some(keyspace) = catalogue.keyspace(&base.keyspace) else { return Ok(Vec::new()) };
    let mut configs = Vec::new();
    for table in keyspace.views_of(base) {
        let enabled = table.view.as_ref().is_some_and(|view| view.disabled.is_none());
        let Some(later) = table.later().filter(|_| enabled) else { continue };
        let views = configs_of(base, table).map_err(|why| unkeepable(table, why))?;
        for view in views {
            let config = LaterConfig {
                base: TableId(base.id),
                view,
                pending: TableId(later.pending),
                places: TableId(later.places),
                bound_millis: later.bound_millis.into(),
                on_lag: match later.on_lag {
                    LagRule::Wait => OnLag::Wait,
                    LagRule::Refuse => OnLag::Refuse,
                    LagRule::Late => OnLag::Late,
                },
            };
            configs.push((table.clone(), Arc::new(config)));
        }
    }
    Ok(configs)
}

/// A view that cannot be kept in step, and why.
pub fn unkeepable(view: &Table, why: String) -> JobFault {
    JobFault::Unkeepable { keyspace: view.keyspace.to_string(), name: view.name.to_string(), why }
}

/// How the store keeps one view in step with its base: one of these, or one per list of members if it has totals. The error says
/// why that is impossible.
pub fn configs_of(base: &Table, view: &Table) -> Result<Vec<ViewConfig>, String> {
    let conditions = conditions(base, view)?;
    let configs = match view.totals() {
        Some(_) => query::view::member_configs(base, view, &conditions),
        None => query::view::config(base, view, conditions).map(|config| vec![config]),
    };
    configs.ok_or_else(|| "its table lacks a column of its key".into())
}

fn conditions(base: &Table, view: &Table) -> Result<Vec<ViewCondition>, String> {
    let mut conditions = Vec::new();
    for restriction in view.view.iter().flat_map(|definition| &definition.restrictions) {
        let text = restriction.text();
        let tests =
            restriction.tests.as_ref().ok_or_else(|| format!("nobody has read its condition {text}"))?;
        if tests.is_empty() {
            continue;
        }
        let column = |name: &Arc<str>| query::view::key_column(base, base.column(name)?);
        let columns = restriction.columns.iter().map(column).collect::<Option<Vec<_>>>();
        let columns =
            columns.ok_or_else(|| format!("{text} is about a column that its table does not have"))?;
        for test in tests {
            if test.alternatives.iter().any(|values| values.len() != columns.len()) {
                return Err(format!("{text} compares other than {} values", columns.len()));
            }
            conditions.push(ViewCondition {
                columns: columns.clone(),
                comparison: test.comparison,
                alternatives: test.alternatives.clone(),
            });
        }
    }
    Ok(conditions)
}

/// The catalogue with every view disabled that cannot be kept in step with its base, so that it keeps nothing else from being
/// served. A disabled view stays disabled: it has missed writes.
pub fn disable_damaged(mut catalogue: Catalogue) -> Catalogue {
    for keyspace in catalogue.keyspaces.values_mut() {
        let damaged = |view: &Arc<Table>| {
            let definition = view.view.as_ref().filter(|definition| definition.disabled.is_none())?;
            let fault = match keyspace.table(&definition.base) {
                Some(base) => configs_of(base, view).err()?,
                None => "its table is gone".to_string(),
            };
            Some((view.name.clone(), fault))
        };
        let damaged: Vec<_> = keyspace.tables.values().filter_map(damaged).collect();
        for (name, fault) in damaged {
            tracing::error!(keyspace = %keyspace.name, view = %name, %fault, "a materialized view is disabled: drop it and create it again");
            let keyspace = Arc::make_mut(keyspace);
            let Some(view) = keyspace.tables.get_mut(&name) else { continue };
            Arc::make_mut(view).view.iter_mut().for_each(|view| view.disabled = Some(fault.clone()));
        }
    }
    catalogue
}
