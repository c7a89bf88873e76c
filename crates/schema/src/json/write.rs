//! From the catalogue to its JSON document.

use super::document::*;
use super::{
    FORMAT, FORMAT_WITH_COPIES, FORMAT_WITH_DIALECTS, FORMAT_WITH_INDEXES, FORMAT_WITH_RULES,
    FORMAT_WITH_TOTALS, FORMAT_WITH_VIEWS, PLAIN_FORMAT,
};
use crate::catalogue::Catalogue;
use crate::column::{Column, ColumnKind};
use crate::foreign::{Foreign, ForeignStore};
use crate::function::{UserAggregate, UserFunction};
use crate::index::{Index, IndexKind, IndexPart};
use crate::keyspace::{Keyspace, is_local_system_name};
use crate::note::{Note, NoteKind, NoteTarget};
use crate::table::Table;
use crate::totals::TotalFunction;
use crate::view::{View, ViewTest};
use model::comparison::Comparison;
use model::constraint::Constraint;
use std::fmt::Write;

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
    let is_new_place = |k: &Keyspace| {
        let has_more = !k.functions.is_empty() || !k.aggregates.is_empty() || !k.notes.is_empty();
        has_more || !k.tenant.is_empty() || !k.tenant_limits.is_empty()
    };
    let is_new = |t: &Table| {
        let options = &t.options;
        t.is_checked()
            || t.compact.is_some()
            || t.bucketing().is_some()
            || t.rebucketing().is_some()
            || !options.former.is_empty()
            || !options.partition_limit.is_empty()
            || t.has_tenants()
    };
    let spills = |t: &Table| {
        let plans = [t.bucketing(), t.rebucketing().and_then(|next| next.plan.as_ref())];
        plans.into_iter().flatten().any(|plan| plan.spill.is_some())
    };
    let sorts = |t: &Table| t.indexes.iter().any(|index| index.sorted || index.changed);
    let paces_more = |table: &Table| {
        let projection = table.view.as_ref().and_then(|view| view.projection.as_ref());
        projection.is_some_and(|p| p.backfill.mb_per_second.is_some() || p.backfill.p99_millis.is_some())
    };
    let holds = |table: &Table| !table.options.hold_tombstones.is_empty();
    let is_near = |t: &Table| t.indexes.iter().any(|index| index.lists.is_some());
    let newest = |t: &Table| t.later().is_some() || paces_more(t) || holds(t) || sorts(t);
    if catalogue.tables().any(|table| table.row_ttl.is_some() || is_near(table)) {
        FORMAT
    } else if catalogue.tables().any(|table| newest(table)) {
        FORMAT_WITH_COPIES
    } else if catalogue.tables().any(|table| table.totals().is_some() || spills(table)) {
        FORMAT_WITH_TOTALS
    } else if catalogue.keyspaces.values().any(|keyspace| is_new_place(keyspace))
        || catalogue.tables().any(|table| is_new(table))
    {
        FORMAT_WITH_RULES
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
        tenant: keyspace.tenant.clone(),
        tenant_limits: keyspace.tenant_limits.clone(),
        types: types.collect(),
        // Tables that are made up on reading have nothing to keep.
        tables: keyspace
            .tables
            .values()
            .filter(|table| !table.is_virtual())
            .map(|t| table_entry(t))
            .collect(),
        patterns: patterns.collect(),
        functions: keyspace.functions.iter().map(|function| function_entry(function)).collect(),
        aggregates: keyspace.aggregates.iter().map(|aggregate| aggregate_entry(aggregate)).collect(),
        notes: keyspace.notes.iter().map(note_entry).collect(),
    }
}

fn function_entry(function: &UserFunction) -> FunctionEntry {
    FunctionEntry {
        name: function.name.to_string(),
        arguments: function.arguments.clone(),
        returns: function.returns.clone(),
        called_on_null: function.called_on_null,
        language: function.language.clone(),
        body: function.body.clone(),
    }
}

fn aggregate_entry(aggregate: &UserAggregate) -> AggregateEntry {
    AggregateEntry {
        name: aggregate.name.to_string(),
        arguments: aggregate.arguments.clone(),
        state_function: aggregate.state_function.clone(),
        state_type: aggregate.state_type.clone(),
        final_function: aggregate.final_function.clone(),
        initial: aggregate.initial.clone(),
        returns: aggregate.returns.clone(),
    }
}

fn note_entry(note: &Note) -> NoteEntry {
    let (on, name, part) = match &note.target {
        NoteTarget::Keyspace => (NotedEntry::Keyspace, "", ""),
        NoteTarget::Table(name) => (NotedEntry::Table, name.as_str(), ""),
        NoteTarget::Column(name, part) => (NotedEntry::Column, name.as_str(), part.as_str()),
        NoteTarget::Type(name) => (NotedEntry::Type, name.as_str(), ""),
        NoteTarget::Field(name, part) => (NotedEntry::Field, name.as_str(), part.as_str()),
    };
    let label = note.kind == NoteKind::SecurityLabel;
    NoteEntry { on, name: name.into(), part: part.into(), label, text: note.text.clone() }
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
        columns: table.all_columns().map(column_entry).collect(),
        dropped: dropped.collect(),
        indexes: table.indexes.iter().map(index_entry).collect(),
        view: table.view.as_ref().map(view_entry),
        foreign: table.foreign.as_deref().map(foreign_entry),
        compact: table.compact.map(|compact| compact.name().to_string()),
        row_ttl: table.row_ttl,
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
            backfill_rows_per_second: projection.backfill.rows_per_second,
            backfill_mb_per_second: projection.backfill.mb_per_second,
            backfill_p99_ms: projection.backfill.p99_millis,
            wait: projection.wait,
            later: projection.later.as_ref().map(|later| LaterEntry {
                bound_ms: later.bound_millis,
                on_lag: later.on_lag.word().to_string(),
                pending: later.pending,
                places: later.places,
            }),
            totals: projection.totals.as_ref().map(|totals| TotalsEntry {
                members: totals.members,
                functions: totals.functions.iter().map(total_entry).collect(),
            }),
        }),
    }
}

fn total_entry(total: &TotalFunction) -> TotalEntry {
    TotalEntry { column: total.column, function: total.kind.name().to_string(), source: total.source }
}

fn test_entry(test: &ViewTest) -> TestEntry {
    let hexes = |values: &Vec<Vec<u8>>| values.iter().map(|value| hex(value)).collect();
    TestEntry {
        comparison: test.comparison.symbol().to_string(),
        alternatives: test.alternatives.iter().map(hexes).collect(),
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
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
        checks: column.checks.iter().map(check_entry).collect(),
    }
}

fn check_entry(check: &Constraint) -> CheckEntry {
    let symbol = |comparison: &Comparison| comparison.symbol().to_string();
    match check {
        Constraint::NotNull => CheckEntry::NotNull {},
        Constraint::Json => CheckEntry::Json {},
        Constraint::Value { comparison, term, value } => {
            CheckEntry::Value { comparison: symbol(comparison), term: term.clone(), value: hex(value) }
        }
        Constraint::Length { octets: false, comparison, count } => {
            CheckEntry::Length { comparison: symbol(comparison), count: *count }
        }
        Constraint::Length { octets: true, comparison, count } => {
            CheckEntry::OctetLength { comparison: symbol(comparison), count: *count }
        }
        Constraint::Regexp { equal, pattern, .. } => {
            CheckEntry::Regexp { equal: *equal, pattern: pattern.clone() }
        }
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
        sorted: index.sorted,
        changed: index.changed,
        lists: index.lists.as_ref().map(|lists| hex(&lists.encode())),
        built: index.built,
    }
}
