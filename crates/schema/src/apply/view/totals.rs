//! Projections with aggregates: their columns, and what their tables must not have or become.

use crate::change::{NewTotal, NewView};
use crate::column::{Column, ColumnKind};
use crate::fault::{SchemaError, TotalsFault, Unkept};
use crate::table::Table;
use crate::totals::{TotalFunction, TotalKind, Totals};
use model::types::DataType;

/// Every write pays for each list of members, and every group's row is written whole.
const TOTALS_MAX: usize = 16;

/// Gives the projection a column per aggregate.
pub(super) fn add(base: &Table, new: &NewView, table: &mut Table) -> Result<(), SchemaError> {
    let name = &new.name;
    if new.totals.len() > TOTALS_MAX {
        return Err(TotalsFault::TooMany { most: TOTALS_MAX }.into());
    }
    if base.bucketing().is_some() {
        return Err(
            TotalsFault::OfBuckets { projection: name.to_string(), table: base.name.to_string() }.into()
        );
    }
    refuse_ttl(base)?;
    refuse_tenants(base, table)?;
    let mut functions = Vec::with_capacity(new.totals.len());
    for (column, total) in (base.next_column_id..).zip(&new.totals) {
        let (kind, source, data_type) = function(base, table, total)?;
        if table.all_columns().any(|other| *other.name == *total.name) {
            return Err(TotalsFault::DuplicateColumn {
                projection: name.to_string(),
                column: total.name.to_string(),
            }
            .into());
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
    let refused = |why| {
        let (function, argument) = (total.function.clone(), total.argument.clone());
        Err(TotalsFault::Unkept { function, argument, why }.into())
    };
    let Some(kind) = TotalKind::of_name(&total.function) else {
        return refused(Unkept::UnknownFunction);
    };
    let source = match &total.argument {
        None if kind == TotalKind::Count => None,
        None => return refused(Unkept::NotOfAll),
        Some(name) => match base.column(name) {
            None => return refused(Unkept::NoColumn { table: base.name.to_string(), column: name.clone() }),
            Some(column) => Some(column),
        },
    };
    if let Some(source) = source {
        if source.kind == ColumnKind::Static {
            return refused(Unkept::Static { column: source.name.to_string() });
        }
        if source.mask.is_some() {
            return refused(Unkept::Masked { column: source.name.to_string() });
        }
        if kind != TotalKind::Count && table.primary_key().any(|key| key.id == source.id) {
            return refused(Unkept::InKey { column: source.name.to_string() });
        }
        if kind == TotalKind::Sum && matches!(source.data_type, DataType::Float | DataType::Double) {
            return refused(Unkept::Inexact {
                column: source.name.to_string(),
                data_type: source.data_type.clone(),
            });
        }
    }
    match kind.returns(source.map(|source| &source.data_type)) {
        Some(data_type) => Ok((kind, source.map(|source| source.id), data_type)),
        None => {
            let data_type = source.map(|source| source.data_type.clone());
            refused(Unkept::NoSuchTotal { kind, data_type })
        }
    }
}

/// What is selected beside aggregates is the key, which need not be named.
pub(super) fn neither(column: &str) -> SchemaError {
    TotalsFault::Neither { column: column.to_string() }.into()
}

fn refuse_ttl(base: &Table) -> Result<(), SchemaError> {
    match base.options.default_time_to_live {
        0 => Ok(()),
        _ => Err(TotalsFault::OfExpiring { table: base.name.to_string() }.into()),
    }
}

fn refuse_tenants(base: &Table, table: &Table) -> Result<(), SchemaError> {
    let tenant = base.tenant_column().filter(|tenant| !table.primary_key().any(|key| key.id == tenant.id));
    match tenant {
        None => Ok(()),
        Some(tenant) => {
            Err(TotalsFault::OfTenants { table: base.name.to_string(), tenant: tenant.name.to_string() }
                .into())
        }
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
        Some(column) => {
            Err(TotalsFault::Masked { column: column.name.to_string(), projection: view.name.to_string() }
                .into())
        }
    }
}
