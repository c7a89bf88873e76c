//! CREATE TABLE and the column definitions of ALTER TABLE, from the syntax tree to the schema's terms.

use super::constraint::constraints;
use super::mask::mask_text;
use super::properties::properties;
use crate::CqlError;
use crate::bind::{Scope, types};
use cql_syntax::ast::{ColumnDef, CreateTable, SortOrder, TableOption};
use model::types::DataType;
use schema::{NewColumn, NewTable};

/// What CREATE TABLE asks for. `resolve_types` is off when the change will be refused or skipped before types matter
/// (the table exists, the keyspace does not): Cassandra looks at them last.
pub(crate) fn new_table(
    scope: Scope<'_>,
    keyspace: &str,
    create: &CreateTable,
    resolve_types: bool,
) -> Result<NewTable, CqlError> {
    let name = create.name.as_str().to_string();
    check_written(create)?;
    let names = |idents: &[cql_syntax::ast::Ident]| idents.iter().map(|i| i.as_str().to_string()).collect();
    let key = create.primary_keys.first();
    let order = create.clustering_order();
    Ok(NewTable {
        keyspace: keyspace.to_string(),
        name,
        if_not_exists: create.if_not_exists,
        columns: columns(scope, keyspace, &create.columns, resolve_types)?,
        partition_key: key.map_or_else(Vec::new, |key| names(&key.partition)),
        clustering: key.map_or_else(Vec::new, |key| names(&key.clustering)),
        clustering_order: order
            .map(|item| (item.column.as_str().to_string(), item.order == SortOrder::Desc))
            .collect(),
        properties: properties(create.properties())?,
        foreign: None,
        is_compact: create.options.iter().any(|option| matches!(option, TableOption::CompactStorage(_))),
    })
}

/// What Cassandra finds while it parses; its sentences name the table as it was written.
fn check_written(create: &CreateTable) -> Result<(), CqlError> {
    let place = match create.name.keyspace_str() {
        Some(keyspace) => format!("{keyspace}.{}", create.name.as_str()),
        None => create.name.as_str().to_string(),
    };
    if create.primary_keys.len() > 1 {
        return Err(CqlError::Invalid(format!(
            "Multiple PRIMARY KEY specified for table '{place}' (exactly one required)"
        )));
    }
    if let Some(twice) = repeated(create.columns.iter().map(|c| c.name.as_str())) {
        return Err(CqlError::Invalid(format!("Duplicate column '{twice}' declaration for table '{place}'")));
    }
    if create.primary_keys.is_empty() {
        return Err(CqlError::Invalid(format!(
            "No PRIMARY KEY specifed for table '{place}' (exactly one required)"
        )));
    }
    if let Some(twice) = repeated(create.clustering_order().map(|item| item.column.as_str())) {
        return Err(CqlError::Invalid(format!(
            "Duplicate column '{twice}' in CLUSTERING ORDER BY clause for table '{place}'"
        )));
    }
    Ok(())
}

fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = std::collections::BTreeSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}

pub(super) fn columns(
    scope: Scope<'_>,
    keyspace: &str,
    written: &[ColumnDef],
    resolve_types: bool,
) -> Result<Vec<NewColumn>, CqlError> {
    let column = |definition: &ColumnDef| {
        let name = definition.name.as_str().to_string();
        let data_type = match resolve_types {
            true => types::resolve(scope, keyspace, &definition.data_type)?,
            false => DataType::Blob,
        };
        let mask = match (&definition.mask, resolve_types) {
            (Some(mask), true) => Some(mask_text(&name, &data_type, mask)?),
            _ => None,
        };
        let checks = match resolve_types {
            true => constraints(&name, &data_type, &definition.checks)?,
            false => Vec::new(),
        };
        Ok(NewColumn {
            name,
            data_type,
            is_static: definition.is_static,
            is_ttl: definition.is_ttl,
            mask,
            checks,
        })
    };
    written.iter().map(column).collect()
}
