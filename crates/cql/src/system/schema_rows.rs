//! `system_schema` and `system_virtual_schema`: the catalogue as rows.

use super::cells::*;
use super::rows::Filler;
use crate::ddl::parse_mask;
use schema::{
    Catalogue, Column, ColumnKind, Keyspace, OPTIONS, OptionValue, Owner, Table, TableOptions,
    is_virtual_system_name,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names the column that says when rows expire.
const ROW_TTL_EXTENSION: &str = "partita.row_ttl";

/// Triggers stay empty: there are none.
pub(super) fn fill(filler: &mut Filler<'_>, table: &str, catalogue: &Catalogue) {
    let keyspaces = || catalogue.keyspaces.values().filter(|k| !is_virtual_system_name(&k.name));
    let tables = || keyspaces().flat_map(|keyspace| keyspace.tables.values());
    match table {
        "keyspaces" => keyspaces().for_each(|k| keyspace_row(filler, k)),
        "tables" => tables().filter(|t| t.view.is_none()).for_each(|t| table_row(filler, t)),
        "views" => tables().for_each(|t| view_row(filler, catalogue, t)),
        "columns" => tables().for_each(|t| column_rows(filler, t)),
        "dropped_columns" => tables().for_each(|t| dropped_rows(filler, t)),
        "column_masks" => tables().for_each(|t| mask_rows(filler, t)),
        "indexes" => tables().for_each(|t| index_rows(filler, t)),
        "types" => keyspaces().for_each(|k| type_rows(filler, k)),
        "functions" => keyspaces().for_each(|k| function_rows(filler, k)),
        "aggregates" => keyspaces().for_each(|k| aggregate_rows(filler, k)),
        _ => {}
    }
}

pub(super) fn fill_virtual(filler: &mut Filler<'_>, table: &str, catalogue: &Catalogue) {
    let keyspaces = || catalogue.keyspaces.values().filter(|k| is_virtual_system_name(&k.name));
    let tables = || keyspaces().flat_map(|keyspace| keyspace.tables.values());
    match table {
        "keyspaces" => keyspaces().for_each(|k| filler.row(&[("keyspace_name", text(&k.name))])),
        "tables" => tables().for_each(|t| {
            filler.row(&[
                ("keyspace_name", text(&t.keyspace)),
                ("table_name", text(&t.name)),
                ("comment", text(&t.options.comment)),
            ]);
        }),
        "columns" => tables().for_each(|t| column_rows(filler, t)),
        _ => {}
    }
}

fn keyspace_row(filler: &mut Filler<'_>, keyspace: &Arc<Keyspace>) {
    filler.row(&[
        ("keyspace_name", text(&keyspace.name)),
        ("durable_writes", boolean(keyspace.durable_writes)),
        ("replication", text_map(&keyspace.replication)),
    ]);
}

fn table_row(filler: &mut Filler<'_>, table: &Arc<Table>) {
    let own = [("table_name", text(&table.name)), ("flags", text_set(table.flags()))];
    filler.row(&own.into_iter().chain(option_cells(table)).collect::<Vec<_>>());
}

fn view_row(filler: &mut Filler<'_>, catalogue: &Catalogue, table: &Arc<Table>) {
    let Some(view) = &table.view else { return };
    let base = catalogue.table(&table.keyspace, &view.base);
    let own = [
        ("view_name", text(&table.name)),
        ("base_table_id", base.and_then(|base| uuid(&base.uuid))),
        ("base_table_name", text(&view.base)),
        ("include_all_columns", boolean(view.include_all_columns)),
        ("where_clause", text(view.where_clause())),
    ];
    filler.row(&own.into_iter().chain(option_cells(table)).collect::<Vec<_>>());
}

/// What tables and views have in common.
fn option_cells(table: &Table) -> Vec<(&'static str, Cell)> {
    let mut cells = vec![
        ("keyspace_name", text(&table.keyspace)),
        ("id", uuid(&table.uuid)),
        // Cassandra has these two no more, and shows them.
        ("dclocal_read_repair_chance", double(0.0)),
        ("read_repair_chance", double(0.0)),
    ];
    let usual = TableOptions::default();
    for option in &OPTIONS {
        let value = (option.shown)(&table.options);
        let is_shown = match option.owner {
            Owner::Cassandra => true,
            Owner::CassandraSometimes => value != (option.shown)(&usual),
            Owner::Partita | Owner::Elsewhere => continue,
        };
        let cell = match option.name {
            "extensions" => blob_map(&extensions(table)),
            _ => value.filter(|_| is_shown).and_then(option_cell),
        };
        cells.push((option.name, cell));
    }
    cells
}

fn option_cell(value: OptionValue<'_>) -> Cell {
    match value {
        OptionValue::Boolean(value) => boolean(value),
        OptionValue::Integer(value) => int(value),
        OptionValue::Double(value) => double(value),
        OptionValue::Text(value) => text(value),
        OptionValue::Map(map) => text_map(map),
        OptionValue::Blobs(blobs) => blob_map(blobs),
    }
}

/// The column that says when rows expire is no column of `system_schema` in Cassandra, so it stands among the extensions.
fn extensions(table: &Table) -> BTreeMap<String, Vec<u8>> {
    let mut extensions = table.options.extensions.clone();
    if let Some(column) = table.row_ttl_column() {
        extensions.insert(ROW_TTL_EXTENSION.into(), column.name.as_bytes().to_vec());
    }
    extensions
}

fn column_rows(filler: &mut Filler<'_>, table: &Arc<Table>) {
    for column in table.all_columns() {
        let position = if column.kind.is_primary_key() { column.position as i32 } else { -1 };
        filler.row(&[
            ("keyspace_name", text(&table.keyspace)),
            ("table_name", text(&table.name)),
            ("column_name", text(&column.name)),
            ("clustering_order", text(clustering_order(column))),
            ("column_name_bytes", text(&column.name)),
            ("kind", text(column.kind.name())),
            ("position", int(position)),
            ("type", text(column.data_type.to_string())),
        ]);
    }
}

fn clustering_order(column: &Column) -> &'static str {
    match (column.kind, column.descending) {
        (ColumnKind::Clustering, true) => "desc",
        (ColumnKind::Clustering, false) => "asc",
        _ => "none",
    }
}

fn dropped_rows(filler: &mut Filler<'_>, table: &Arc<Table>) {
    for column in &table.dropped {
        let kind = if column.is_static { ColumnKind::Static } else { ColumnKind::Regular };
        filler.row(&[
            ("keyspace_name", text(&table.keyspace)),
            ("table_name", text(&table.name)),
            ("column_name", text(&column.name)),
            ("dropped_time", timestamp(column.dropped_at.div_euclid(1000))),
            ("kind", text(kind.name())),
            ("type", text(column.data_type.to_string())),
        ]);
    }
}

fn mask_rows(filler: &mut Filler<'_>, table: &Arc<Table>) {
    for column in table.columns() {
        let Some(mask) = column.mask.as_deref().and_then(parse_mask) else { continue };
        let arguments = &mask.arguments;
        filler.row(&[
            ("keyspace_name", text(&table.keyspace)),
            ("table_name", text(&table.name)),
            ("column_name", text(&column.name)),
            ("function_argument_nulls", boolean_list(arguments.iter().map(|(_, value)| value.is_none()))),
            ("function_argument_types", text_list(arguments.iter().map(|(data_type, _)| data_type))),
            (
                "function_argument_values",
                text_list(arguments.iter().map(|(_, v)| v.as_deref().unwrap_or_default())),
            ),
            ("function_keyspace", text("system")),
            ("function_name", text(&mask.function)),
        ]);
    }
}

fn index_rows(filler: &mut Filler<'_>, table: &Arc<Table>) {
    for index in &table.indexes {
        filler.row(&[
            ("keyspace_name", text(&table.keyspace)),
            ("table_name", text(&table.name)),
            ("index_name", text(&index.name)),
            ("kind", text(index.kind.name())),
            ("options", text_map(&index.options)),
        ]);
    }
}

/// The rows of `system."IndexInfo"`: indexes that are built. Its `table_name` is a keyspace, as in Cassandra.
pub(super) fn built_indexes(filler: &mut Filler<'_>, catalogue: &Catalogue) {
    for table in catalogue.tables() {
        for index in table.indexes.iter().filter(|index| index.built) {
            filler.row(&[("table_name", text(&table.keyspace)), ("index_name", text(&index.name))]);
        }
    }
}

/// The rows of `system.built_views`.
pub(super) fn built_views(filler: &mut Filler<'_>, catalogue: &Catalogue) {
    for table in catalogue.tables().filter(|table| table.view.as_ref().is_some_and(|view| view.built)) {
        filler.row(&[
            ("keyspace_name", text(&table.keyspace)),
            ("view_name", text(&table.name)),
            ("status_replicated", boolean(true)),
        ]);
    }
}

/// The rows of `system_distributed.view_build_status`.
pub(super) fn view_builds(filler: &mut Filler<'_>, catalogue: &Catalogue, host_id: &[u8; 16]) {
    for table in catalogue.tables() {
        let Some(view) = &table.view else { continue };
        filler.row(&[
            ("keyspace_name", text(&table.keyspace)),
            ("view_name", text(&table.name)),
            ("host_id", uuid(host_id)),
            ("status", text(if view.built { "SUCCESS" } else { "STARTED" })),
        ]);
    }
}

fn function_rows(filler: &mut Filler<'_>, keyspace: &Arc<Keyspace>) {
    for function in &keyspace.functions {
        filler.row(&[
            ("keyspace_name", text(&keyspace.name)),
            ("function_name", text(&function.name)),
            ("argument_types", text_list(function.argument_types().iter())),
            ("argument_names", text_list(function.arguments.iter().map(|(name, _)| name))),
            ("body", text(&function.body)),
            ("called_on_null_input", boolean(function.called_on_null)),
            ("language", text(&function.language)),
            ("return_type", text(&function.returns)),
        ]);
    }
}

fn aggregate_rows(filler: &mut Filler<'_>, keyspace: &Arc<Keyspace>) {
    for aggregate in &keyspace.aggregates {
        filler.row(&[
            ("keyspace_name", text(&keyspace.name)),
            ("aggregate_name", text(&aggregate.name)),
            ("argument_types", text_list(aggregate.arguments.iter())),
            ("final_func", aggregate.final_function.as_ref().and_then(text)),
            ("initcond", aggregate.initial.as_ref().and_then(text)),
            ("return_type", text(&aggregate.returns)),
            ("state_func", text(&aggregate.state_function)),
            ("state_type", text(&aggregate.state_type)),
        ]);
    }
}

fn type_rows(filler: &mut Filler<'_>, keyspace: &Arc<Keyspace>) {
    for udt in keyspace.types.values() {
        filler.row(&[
            ("keyspace_name", text(&keyspace.name)),
            ("type_name", text(&udt.name)),
            ("field_names", text_list(udt.fields.iter().map(|field| &field.name))),
            ("field_types", text_list(udt.fields.iter().map(|field| field.data_type.to_string()))),
        ]);
    }
}
