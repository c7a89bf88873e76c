//! Index hints: `WITH included_indexes = {a} AND excluded_indexes = {b}`.
//!
//! The statement is bound as if the table had only the indexes that count; the plan then gets the real table back.

use super::super::Scope;
use super::super::markers::Markers;
use crate::CqlError;
use cql_syntax::ast::{Ident, IndexHints, Select};
use query::select::{IndexPath, SelectPlan};
use schema::{Catalogue, Index, Keyspace, Table};
use std::sync::Arc;

pub fn bind(
    scope: Scope<'_>,
    select: &Select,
    hints: &IndexHints,
    markers: &mut Markers,
) -> Result<SelectPlan, CqlError> {
    let table = scope.table(&select.table)?;
    let named = |index: &Index, names: &[Ident]| names.iter().any(|name| *index.name == *name.as_str());
    for name in hints.included.iter().chain(&hints.excluded) {
        if table.index(name.as_str()).is_none() {
            return Err(CqlError::Invalid(format!(
                "Table {} doesn't have an index named {}",
                table.name,
                name.as_str()
            )));
        }
    }
    let both = hints.included.iter().filter(|name| hints.excluded.contains(name));
    let both: Vec<&str> = both.map(Ident::as_str).collect();
    if !both.is_empty() {
        let text = format!("Indexes cannot be both included and excluded: {}", both.join(", "));
        return Err(CqlError::Invalid(text));
    }
    let mut preferred: Vec<IndexPath> = Vec::new();
    for name in &hints.included {
        let alone = Select { hints: None, allow_filtering: Some(select.span), ..select.clone() };
        let only = |index: &Index| *index.name == *name.as_str();
        let plan = bind_with(scope, table, &alone, only, markers)?;
        preferred.push(plan.index.ok_or_else(|| {
            CqlError::invalid("It's not possible to use all the specified included indexes with this query.")
        })?);
    }
    let plain = Select { hints: None, ..select.clone() };
    // What counts of a text is a matter of the index: only the one that is read may have a say.
    let has_rival = |index: &Index| {
        !named(index, &hints.included)
            && table.indexes_on(&index.column).any(|other| named(other, &hints.included))
    };
    let keep = |index: &Index| !named(index, &hints.excluded) && !has_rival(index);
    let mut plan = bind_with(scope, table, &plain, keep, markers)?;
    let mut preferred = preferred.into_iter();
    if let (Some(_), Some(mut first)) = (&plan.index, preferred.next()) {
        // Rows and whole partitions have no places in common.
        first.beside.extend(preferred.filter(|path| path.whole_partitions == first.whole_partitions));
        plan.index = Some(first);
    }
    Ok(plan)
}

/// Binds against a table that has only the indexes that are kept.
fn bind_with(
    scope: Scope<'_>,
    table: &Arc<Table>,
    select: &Select,
    keep: impl Fn(&Index) -> bool,
    markers: &mut Markers,
) -> Result<SelectPlan, CqlError> {
    let mut kept = Table::clone(table);
    kept.indexes.retain(|index| keep(index));
    let catalogue = with_table(scope.catalogue, kept);
    let mut plan = super::bind(Scope { catalogue: &catalogue, ..scope }, select, markers)?;
    restore(&mut plan, table);
    Ok(plan)
}

fn with_table(catalogue: &Catalogue, table: Table) -> Catalogue {
    let Some(keyspace) = catalogue.keyspace(&table.keyspace) else { return catalogue.clone() };
    let mut keyspace = Keyspace::clone(keyspace);
    keyspace.tables.insert(table.name.clone(), Arc::new(table));
    catalogue.with_keyspace(keyspace)
}

fn restore(plan: &mut SelectPlan, table: &Arc<Table>) {
    plan.table = table.clone();
    plan.restrictions.table = table.clone();
    if let Some(masked) = &mut plan.masked {
        restore(masked, table);
    }
}
