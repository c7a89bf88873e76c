//! Projections with aggregates: their columns, and what their tables must not have or become.

use crate::change::{NewTotal, NewView};
use crate::column::{Column, ColumnKind};
use crate::error::SchemaError;
use crate::table::Table;
use crate::totals::{TotalFunction, TotalKind, Totals};
use model::types::DataType;

/// Every write pays for each list of members, and every group's row is written whole.
const TOTALS_MAX: usize = 16;

/// Gives the projection a column per aggregate.
pub(super) fn add(base: &Table, new: &NewView, table: &mut Table) -> Result<(), SchemaError> {
    let name = &new.name;
    if new.totals.len() > TOTALS_MAX {
        return Err(SchemaError::Invalid(format!("A projection has at most {TOTALS_MAX} aggregates")));
    }
    if base.bucketing().is_some() {
        return Err(SchemaError::Invalid(format!(
            "Projection '{name}' cannot have aggregates: table {} has buckets, and rows of other buckets are other rows to it. Make a projection \
             of a table without buckets",
            base.name
        )));
    }
    refuse_ttl(base)?;
    refuse_tenants(base, table)?;
    let mut functions = Vec::with_capacity(new.totals.len());
    for (column, total) in (base.next_column_id..).zip(&new.totals) {
        let (kind, source, data_type) = function(base, table, total)?;
        if table.all_columns().any(|other| *other.name == *total.name) {
            return Err(SchemaError::Invalid(format!(
                "Projection '{name}' has two columns called {}: name one with AS",
                total.name
            )));
        }
        functions.push(TotalFunction { column, kind, source });
        table.regulars.push(Column {
            id: column,
            name: total.name.as_str().into(),
            data_type,
            kind: ColumnKind::Regular,
            position: 0,
            descending: false,
            mask: None,
            checks: Vec::new(),
        });
        table.next_column_id = column + 1;
    }
    table.regulars.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(projection) = table.view.as_mut().and_then(|view| view.projection.as_mut()) {
        projection.totals = Some(Totals { members: 0, functions });
    }
    Ok(())
}

pub(super) fn of_mut(table: &mut Table) -> Option<&mut Totals> {
    table.view.as_mut()?.projection.as_mut()?.totals.as_mut()
}

fn function(
    base: &Table,
    table: &Table,
    total: &NewTotal,
) -> Result<(TotalKind, Option<u32>, DataType), SchemaError> {
    let written = format!("{}({})", total.function, total.argument.as_deref().unwrap_or("*"));
    let refused =
        |why: String| Err(SchemaError::Invalid(format!("A projection cannot keep {written}: {why}")));
    let Some(kind) = TotalKind::of_name(&total.function) else {
        return refused("it keeps count, sum, min and max".into());
    };
    let source = match &total.argument {
        None if kind == TotalKind::Count => None,
        None => return refused("only count takes *".into()),
        Some(name) => match base.column(name) {
            None => return refused(format!("table {} has no column {name}", base.name)),
            Some(column) => Some(column),
        },
    };
    if let Some(source) = source {
        if source.kind == ColumnKind::Static {
            return refused(format!("{} is static, so it is not a value of each row", source.name));
        }
        if source.mask.is_some() {
            return refused(format!(
                "{} is masked, and the total would show what the mask hides",
                source.name
            ));
        }
        if kind != TotalKind::Count && table.primary_key().any(|key| key.id == source.id) {
            return refused(format!(
                "{} is part of the projection's key, so all rows of a key have the same",
                source.name
            ));
        }
        if kind == TotalKind::Sum && matches!(source.data_type, DataType::Float | DataType::Double) {
            return refused(format!(
                "the sum of {} depends on the order in which {} numbers are added, so it cannot be kept exactly; use decimal",
                source.name, source.data_type
            ));
        }
    }
    match kind.returns(source.map(|source| &source.data_type)) {
        Some(data_type) => Ok((kind, source.map(|source| source.id), data_type)),
        None => {
            let data_type = source.map_or_else(String::new, |source| source.data_type.to_string());
            refused(format!("there is no {} of values of the type {data_type}", kind.name()))
        }
    }
}

/// What is selected beside aggregates is the key, which need not be named.
pub(super) fn neither(column: &str) -> SchemaError {
    SchemaError::Invalid(format!(
        "Column {column} is neither in the projection's key nor in an aggregate: a row per key has no place for it. Add it to PRIMARY \
         KEY, or select an aggregate of it"
    ))
}

fn refuse_ttl(base: &Table) -> Result<(), SchemaError> {
    match base.options.default_time_to_live {
        0 => Ok(()),
        _ => Err(SchemaError::Invalid(format!(
            "Rows of {} expire (default_time_to_live), and nobody writes when they do, so totals of them could not be exact. Use a table \
             without TTL, and delete rows",
            base.name
        ))),
    }
}

fn refuse_tenants(base: &Table, table: &Table) -> Result<(), SchemaError> {
    let tenant = base.tenant_column().filter(|tenant| !table.primary_key().any(|key| key.id == tenant.id));
    match tenant {
        None => Ok(()),
        Some(tenant) => Err(SchemaError::Invalid(format!(
            "Totals of {} must have its tenant {} in their key: otherwise they would add up rows of several tenants",
            base.name, tenant.name
        ))),
    }
}

/// What ALTER TABLE must not do to a table that totals are kept of.
pub(super) fn check_altered(view: &Table, before: &Table, after: &Table) -> Result<(), SchemaError> {
    let Some(totals) = view.totals() else { return Ok(()) };
    refuse_ttl(after)?;
    refuse_tenants(after, view)?;
    let was_masked = |id: u32| before.columns().any(|column| column.id == id && column.mask.is_some());
    let masked =
        |column: &&Column| column.mask.is_some() && totals.needs(column.id) && !was_masked(column.id);
    match after.columns().find(masked) {
        None => Ok(()),
        Some(column) => Err(SchemaError::Invalid(format!(
            "Column {} cannot be masked: projection {} shows totals of it. Drop the projection first",
            column.name, view.name
        ))),
    }
}
