//! How many copies a table may have: every write pays for each of them.

use super::DdlPlan;
use crate::CqlError;
use cql_syntax::ast::Statement;
use schema::fault::Warning;
use schema::{Applied, Table};

/// From here on the statement is told what the copies cost.
const WARN_ABOVE: usize = 5;
const COPIES_MAX: usize = 20;

/// Refuses one copy too many; warns of many, where statements are reviewed.
pub(super) fn check(plan: &DdlPlan, is_reviewed: bool, applied: &mut Applied) -> Result<(), CqlError> {
    if !matches!(plan.statement, Statement::CreateIndex(_) | Statement::CreateView(_)) {
        return Ok(());
    }
    let Some(effect) = &applied.effect else { return Ok(()) };
    let Some(keyspace) = applied.catalogue.keyspace(&effect.keyspace) else { return Ok(()) };
    // An index changes its table; a view is a table of its own.
    let Some(table) = keyspace.table(&effect.name) else { return Ok(()) };
    let base: &Table = match &table.view {
        Some(view) => match keyspace.table(&view.base) {
            Some(base) => base,
            None => return Ok(()),
        },
        None => table,
    };
    let count = base.indexes.len() + keyspace.views_of(base).count();
    let name = format!("{}.{}", base.keyspace, base.name);
    if count > COPIES_MAX {
        return Err(CqlError::invalid(format!(
            "Table {name} has {COPIES_MAX} indexes, views and projections already, and every write pays for each of them. Drop one that \
             nobody reads (SELECT * FROM system_views.projections), or make one serve several reads"
        )));
    }
    let is_off = base.options.review == "off" || (base.options.review.is_empty() && keyspace.review == "off");
    if is_reviewed && !is_off && count > WARN_ABOVE {
        let text = format!(
            "review warning (many-copies): every write to {name} now keeps {count} indexes, views and projections in step; more than {COPIES_MAX} are refused"
        );
        applied.warnings.push(Warning::Written(text));
    }
    Ok(())
}
