//! From the catalogue to its JSON document.

use super::document::*;
use super::{FORMAT, FORMAT_WITH_DIALECTS, FORMAT_WITH_INDEXES, FORMAT_WITH_VIEWS, PLAIN_FORMAT};
use crate::catalogue::Catalogue;
use crate::column::{Column, ColumnKind};
use crate::foreign::{Foreign, ForeignStore};
use crate::index::{Index, IndexKind, IndexPart};
use crate::keyspace::{Keyspace, is_local_system_name};
use crate::table::Table;
use crate::view::{View, ViewTest};

pub(super) fn document(catalogue: &Catalogue) -> Document {
    let kept = catalogue.keyspaces.values().filter(|keyspace| !is_local_system_name(&keyspace.name));
    Document {
        format: format(catalogue),
        host_id: None,
        next_table_id: catalogue.next_table_id,
        keyspaces: kept.map(|keyspace| keyspace_entry(keyspace)).collect(),
    }
}

/// The oldest format that can say what is in the catalogue.
fn format(catalogue: &Catalogue) -> u32 {
    let is_projection = |table: &Table| table.view.as_ref().is_some_and(|view| view.projection.is_some());
    if catalogue.tables().any(|table| table.bucketing().is_some()) {
        FORMAT
    } else if catalogue.tables().any(|table| table.foreign.is_some() || is_projection(table)) {
        FORMAT_WITH_DIALECTS
    } else if catalogue.tables().any(|table| table.view.is_some()) {
        FORMAT_WITH_VIEWS
    } else if catalogue.tables().any(|table| !table.indexes.is_empty()) {
        FORMAT_WITH_INDEXES
    } else {
        PLAIN_FORMAT
    }
}

fn keyspace_entry(keyspace: &Keyspace) -> KeyspaceEntry {
    let types = keyspace.types.values().map(|udt| TypeEntry {
        name: udt.name.to_string(),
        fields: udt.fields.iter().map(|f| (f.name.to_string(), f.data_type.to_string())).collect(),
    });
    let patterns = keyspace.patterns.values().map(|pattern| PatternEntry {
        name: pattern.name.to_string(),
        statement: pattern.statement.clone(),
        settings: pattern.settings.clone(),
    });
    KeyspaceEntry {
        name: keyspace.name.to_string(),
        replication: keyspace.replication.clone(),
        durable_writes: keyspace.durable_writes,
        review: keyspace.review.clone(),
        patterns_mode: keyspace.patterns_mode.clone(),
        patterns_allow: keyspace.patterns_allow.clone(),
        types: types.collect(),
        // Tables that are made up on reading have nothing to keep.
        tables: keyspace
            .tables
            .values()
            .filter(|table| !table.is_virtual())
            .map(|t| table_entry(t))
            .collect(),
        patterns: patterns.collect(),
    }
}

fn table_entry(table: &Table) -> TableEntry {
    let dropped = table.dropped.iter().map(|column| DroppedEntry {
        name: column.name.to_string(),
        data_type: column.data_type.to_string(),
        is_static: column.is_static,
        dropped_at: column.dropped_at,
    });
    TableEntry {
        name: table.name.to_string(),
        id: table.id,
        uuid: model::timeuuid::format(&table.uuid),
        incarnation: table.incarnation,
        next_column_id: table.next_column_id,
        columns: table.columns().map(column_entry).collect(),
        dropped: dropped.collect(),
        indexes: table.indexes.iter().map(index_entry).collect(),
        view: table.view.as_ref().map(view_entry),
        foreign: table.foreign.as_deref().map(foreign_entry),
        options: table.options.clone(),
    }
}

fn foreign_entry(foreign: &Foreign) -> ForeignEntry {
    let store = |store: &ForeignStore| StoreEntry {
        name: store.name.clone(),
        id: store.id,
        window_seconds: store.window_seconds,
    };
    ForeignEntry {
        definition: foreign.definition.clone(),
        stores: foreign.stores.iter().map(store).collect(),
    }
}

fn view_entry(view: &View) -> ViewEntry {
    let restrictions = view.restrictions.iter().map(|restriction| RestrictionEntry {
        columns: restriction.columns.iter().map(|name| name.to_string()).collect(),
        is_tuple: restriction.is_tuple,
        condition: restriction.condition.clone(),
        tests: restriction.tests.as_ref().map(|tests| tests.iter().map(test_entry).collect()),
    });
    ViewEntry {
        base: view.base.to_string(),
        base_id: view.base_id,
        include_all_columns: view.include_all_columns,
        restrictions: restrictions.collect(),
        built: view.built,
        disabled: view.disabled.clone(),
        projection: view.projection.as_ref().map(|projection| ProjectionEntry {
            owner: projection.owner.clone(),
            backfill_rows_per_second: projection.backfill_rows_per_second,
            wait: projection.wait,
        }),
    }
}

fn test_entry(test: &ViewTest) -> TestEntry {
    let hex = |value: &Vec<u8>| value.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    TestEntry {
        comparison: test.comparison.symbol().to_string(),
        alternatives: test.alternatives.iter().map(|values| values.iter().map(hex).collect()).collect(),
    }
}

fn column_entry(column: &Column) -> ColumnEntry {
    ColumnEntry {
        id: column.id,
        name: column.name.to_string(),
        data_type: column.data_type.to_string(),
        kind: match column.kind {
            ColumnKind::PartitionKey => KindEntry::PartitionKey,
            ColumnKind::Clustering => KindEntry::Clustering,
            ColumnKind::Static => KindEntry::Static,
            ColumnKind::Regular => KindEntry::Regular,
        },
        descending: column.descending,
        mask: column.mask.clone(),
    }
}

fn index_entry(index: &Index) -> IndexEntry {
    IndexEntry {
        name: index.name.to_string(),
        id: index.id,
        column: index.column.to_string(),
        part: match index.part {
            IndexPart::Whole => PartEntry::Whole,
            IndexPart::Keys => PartEntry::Keys,
            IndexPart::Values => PartEntry::Values,
            IndexPart::Entries => PartEntry::Entries,
            IndexPart::Full => PartEntry::Full,
        },
        kind: match index.kind {
            IndexKind::Composites => IndexKindEntry::Composites,
            IndexKind::Custom => IndexKindEntry::Custom,
        },
        options: index.options.clone(),
        built: index.built,
    }
}
