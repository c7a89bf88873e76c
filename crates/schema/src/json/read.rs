//! From a JSON document to the catalogue. The document comes from disk: every name in it is checked.

use super::document::*;
use crate::catalogue::Catalogue;
use crate::column::{Column, ColumnKind, DroppedColumn};
use crate::compact::Compact;
use crate::foreign::{Foreign, ForeignStore};
use crate::function::{UserAggregate, UserFunction};
use crate::index::{Index, IndexKind, IndexPart};
use crate::keyspace::Keyspace;
use crate::later::{LagRule, Later};
use crate::note::{Note, NoteKind, NoteTarget};
use crate::pattern::AccessPattern;
use crate::table::{Table, TableKind};
use crate::totals::{TotalFunction, TotalKind, Totals};
use crate::view::{Backfill, Projection, View, ViewRestriction, ViewTest};
use model::comparison::Comparison;
use model::constraint::Constraint;
use model::lists::Lists;
use model::types::{DataType, TypeParseError, UdtField, UdtType};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

type Types = BTreeMap<Arc<str>, Arc<UdtType>>;

pub(super) fn catalogue(document: Document) -> Result<Catalogue, String> {
    let mut catalogue = Catalogue::empty();
    catalogue.next_table_id = catalogue.next_table_id.max(document.next_table_id);
    for entry in document.keyspaces {
        let place = format!("keyspace {}", entry.name);
        let keyspace = keyspace(entry).map_err(|fault| format!("{place}{fault}"))?;
        if catalogue.keyspaces.insert(keyspace.name.clone(), Arc::new(keyspace)).is_some() {
            return Err(format!("{place}: is there twice"));
        }
    }
    Ok(catalogue.versioned())
}

fn keyspace(entry: KeyspaceEntry) -> Result<Keyspace, String> {
    let mut keyspace = Keyspace::new(&entry.name, entry.replication);
    keyspace.durable_writes = entry.durable_writes;
    keyspace.review = entry.review;
    keyspace.patterns_mode = entry.patterns_mode;
    keyspace.patterns_allow = entry.patterns_allow;
    keyspace.tenant = entry.tenant;
    keyspace.tenant_limits = entry.tenant_limits;
    let (types, named) = types(&entry.name, &entry.types)?;
    keyspace.types = types;
    for table_entry in entry.tables {
        let place = format!(", table {}", table_entry.name);
        let table = table(&entry.name, table_entry, &named).map_err(|fault| format!("{place}{fault}"))?;
        if keyspace.tables.insert(table.name.clone(), Arc::new(table)).is_some() {
            return Err(format!("{place}: is there twice"));
        }
    }
    for pattern in entry.patterns {
        let pattern = AccessPattern {
            name: pattern.name.into(),
            statement: pattern.statement,
            settings: pattern.settings,
        };
        keyspace.patterns.insert(pattern.name.clone(), Arc::new(pattern));
    }
    keyspace.functions =
        entry.functions.into_iter().map(|function| Arc::new(function_of(function))).collect();
    keyspace.aggregates =
        entry.aggregates.into_iter().map(|aggregate| Arc::new(aggregate_of(aggregate))).collect();
    keyspace.sort_functions();
    keyspace.notes = entry.notes.into_iter().map(note).collect();
    Ok(keyspace)
}

fn function_of(entry: FunctionEntry) -> UserFunction {
    UserFunction {
        name: entry.name.into(),
        arguments: entry.arguments,
        returns: entry.returns,
        called_on_null: entry.called_on_null,
        language: entry.language,
        body: entry.body,
    }
}

fn aggregate_of(entry: AggregateEntry) -> UserAggregate {
    UserAggregate {
        name: entry.name.into(),
        arguments: entry.arguments,
        state_function: entry.state_function,
        state_type: entry.state_type,
        final_function: entry.final_function,
        initial: entry.initial,
        returns: entry.returns,
    }
}

fn note(entry: NoteEntry) -> Note {
    let target = match entry.on {
        NotedEntry::Keyspace => NoteTarget::Keyspace,
        NotedEntry::Table => NoteTarget::Table(entry.name),
        NotedEntry::Column => NoteTarget::Column(entry.name, entry.part),
        NotedEntry::Type => NoteTarget::Type(entry.name),
        NotedEntry::Field => NoteTarget::Field(entry.name, entry.part),
    };
    let kind = if entry.label { NoteKind::SecurityLabel } else { NoteKind::Comment };
    Note { target, kind, text: entry.text }
}

/// Types may be written in any order; what a type names is read before it.
///
/// A type that is too deep or too large (older servers had no limit) is kept, so that it can be described and dropped, but
/// whatever names it gets no more than its name. So nothing in memory is deeper than the limit.
fn types(keyspace: &str, entries: &[TypeEntry]) -> Result<(Types, Types), String> {
    let places: HashMap<&str, usize> = entries.iter().map(|entry| entry.name.as_str()).zip(0..).collect();
    if let Some((_, twice)) =
        entries.iter().enumerate().find(|(at, entry)| places[entry.name.as_str()] != *at)
    {
        return Err(format!(", type {}: is there twice", twice.name));
    }
    let (mut known, mut named) = (Types::new(), Types::new());
    let mut open: Vec<usize> = Vec::new();
    let mut entered: HashSet<usize> = HashSet::new();
    for first in 0..entries.len() {
        open.push(first);
        while let Some(&at) = open.last() {
            let entry = &entries[at];
            if known.contains_key(entry.name.as_str()) {
                open.pop();
                continue;
            }
            entered.insert(at);
            match fields(entry, &named) {
                Ok(fields) => {
                    let name: Arc<str> = entry.name.as_str().into();
                    let udt =
                        UdtType { keyspace: keyspace.into(), name: name.clone(), fields, frozen: false };
                    let usable = udt.check_size().is_ok();
                    let udt = Arc::new(udt);
                    let unusable = || Arc::new(UdtType { fields: Arc::new([]), ..UdtType::clone(&udt) });
                    named.insert(name.clone(), if usable { udt.clone() } else { unusable() });
                    known.insert(name, udt);
                    open.pop();
                }
                Err((field, fault)) => {
                    let missing = match &fault {
                        TypeParseError::UnknownType { name } => places.get(name.as_str()),
                        _ => None,
                    };
                    match missing.filter(|missing| !entered.contains(missing)) {
                        Some(missing) => open.push(*missing),
                        None => return Err(format!(", type {}, field {field}: {fault}", entry.name)),
                    }
                }
            }
        }
    }
    Ok((known, named))
}

fn fields(entry: &TypeEntry, known: &Types) -> Result<Arc<[UdtField]>, (String, TypeParseError)> {
    let read = |(name, text): &(String, String)| {
        let data_type = DataType::parse(text, &|_, name| known.get(name).cloned());
        Ok(UdtField {
            name: name.as_str().into(),
            data_type: data_type.map_err(|fault| (name.clone(), fault))?,
        })
    };
    entry.fields.iter().map(read).collect()
}

fn data_type(text: &str, known: &Types) -> Result<DataType, String> {
    DataType::parse(text, &|_, name| known.get(name).cloned()).map_err(|fault| fault.to_string())
}

fn table(keyspace: &str, entry: TableEntry, types: &Types) -> Result<Table, String> {
    let uuid =
        model::timeuuid::parse(&entry.uuid).ok_or_else(|| format!(": {} is not a uuid", entry.uuid))?;
    let compact = match entry.compact.as_deref() {
        Some(name) => {
            Some(Compact::named(name).ok_or_else(|| format!(": {name} is no form of COMPACT STORAGE"))?)
        }
        None => None,
    };
    let mut table = Table {
        id: entry.id,
        uuid,
        keyspace: keyspace.into(),
        name: entry.name.into(),
        kind: TableKind::Stored,
        partition_key: Vec::new(),
        clustering: Vec::new(),
        statics: Vec::new(),
        regulars: Vec::new(),
        options: entry.options,
        dropped: Vec::new(),
        next_column_id: entry.next_column_id,
        incarnation: entry.incarnation,
        indexes: Vec::new(),
        view: entry.view.map(view),
        foreign: entry.foreign.map(|entry| Arc::new(foreign(entry))),
        compact,
        row_ttl: entry.row_ttl,
    };
    for column in entry.columns {
        let place = format!(", column {}", column.name);
        let data_type = data_type(&column.data_type, types).map_err(|fault| format!("{place}: {fault}"))?;
        let (kind, columns) = match column.kind {
            KindEntry::PartitionKey => (ColumnKind::PartitionKey, &mut table.partition_key),
            KindEntry::Clustering => (ColumnKind::Clustering, &mut table.clustering),
            KindEntry::Static => (ColumnKind::Static, &mut table.statics),
            KindEntry::Regular => (ColumnKind::Regular, &mut table.regulars),
        };
        let position = if kind.is_primary_key() { columns.len() } else { 0 };
        let checks = column.checks.into_iter().map(check).collect::<Result<_, _>>();
        let checks = checks.map_err(|fault| format!(", column {}: {fault}", column.name))?;
        let (name, mask) = (column.name.into(), column.mask);
        columns.push(Column {
            id: column.id,
            name,
            data_type,
            kind,
            position,
            descending: column.descending,
            mask,
            checks,
        });
    }
    for column in entry.dropped {
        let data_type = data_type(&column.data_type, types)
            .map_err(|f| format!(", dropped column {}: {f}", column.name))?;
        let (name, is_static, dropped_at) = (column.name.into(), column.is_static, column.dropped_at);
        table.dropped.push(DroppedColumn { name, data_type, is_static, dropped_at });
    }
    table.indexes = entry.indexes.into_iter().map(index).collect::<Result<_, _>>()?;
    Ok(table)
}

fn foreign(entry: ForeignEntry) -> Foreign {
    let store = |store: StoreEntry| ForeignStore {
        name: store.name,
        id: store.id,
        window_seconds: store.window_seconds,
    };
    Foreign { definition: entry.definition, stores: entry.stores.into_iter().map(store).collect() }
}

/// A view whose tests cannot be read is disabled: one damaged view must not keep the others from being served.
fn view(entry: ViewEntry) -> View {
    let mut disabled = entry.disabled;
    let mut restrictions = Vec::with_capacity(entry.restrictions.len());
    for restriction in entry.restrictions {
        let tests = restriction.tests.map(|tests| tests.into_iter().map(test).collect::<Result<Vec<_>, _>>());
        let tests = tests.transpose().unwrap_or_else(|fault| {
            disabled.get_or_insert(fault);
            Some(Vec::new())
        });
        restrictions.push(ViewRestriction {
            columns: restriction.columns.into_iter().map(Arc::from).collect(),
            is_tuple: restriction.is_tuple,
            condition: restriction.condition,
            tests,
        });
    }
    let projection = entry.projection.map(|entry| Projection {
        owner: entry.owner,
        backfill: Backfill {
            rows_per_second: entry.backfill_rows_per_second,
            mb_per_second: entry.backfill_mb_per_second,
            p99_millis: entry.backfill_p99_ms,
        },
        wait: entry.wait,
        totals: entry.totals.map(|entry| totals(entry, &mut disabled)),
        later: entry.later.map(|entry| later(entry, &mut disabled)),
    });
    View {
        base: entry.base.into(),
        base_id: entry.base_id,
        include_all_columns: entry.include_all_columns,
        restrictions,
        built: entry.built,
        disabled,
        projection,
    }
}

fn later(entry: LaterEntry, disabled: &mut Option<String>) -> Later {
    let LaterEntry { bound_ms: bound_millis, on_lag, pending, places } = entry;
    let rule = LagRule::of_word(&on_lag);
    if rule.is_none() {
        disabled.get_or_insert(format!("'{on_lag}' is no rule for a projection that is late"));
    }
    Later { bound_millis, on_lag: rule.unwrap_or_default(), pending, places }
}

fn totals(entry: TotalsEntry, disabled: &mut Option<String>) -> Totals {
    let mut functions = Vec::with_capacity(entry.functions.len());
    for TotalEntry { column, function, source } in entry.functions {
        match TotalKind::of_name(&function) {
            Some(kind) => functions.push(TotalFunction { column, kind, source }),
            None => drop(disabled.get_or_insert(format!("'{function}' is no aggregate of a projection"))),
        }
    }
    Totals { members: entry.members, functions }
}

fn check(entry: CheckEntry) -> Result<Constraint, String> {
    Ok(match entry {
        CheckEntry::NotNull {} => Constraint::NotNull,
        CheckEntry::Json {} => Constraint::Json,
        CheckEntry::Value { comparison, term, value } => {
            Constraint::Value { comparison: self::comparison(&comparison)?, term, value: bytes(&value)? }
        }
        CheckEntry::Length { comparison, count } => {
            Constraint::Length { octets: false, comparison: self::comparison(&comparison)?, count }
        }
        CheckEntry::OctetLength { comparison, count } => {
            Constraint::Length { octets: true, comparison: self::comparison(&comparison)?, count }
        }
        CheckEntry::Regexp { equal, pattern } => Constraint::regexp(equal, &pattern)
            .map_err(|_| format!("'{pattern}' is not a regular expression"))?,
    })
}

fn comparison(symbol: &str) -> Result<Comparison, String> {
    Comparison::of_symbol(symbol).ok_or_else(|| format!("'{symbol}' is not a comparison"))
}

fn test(entry: TestEntry) -> Result<ViewTest, String> {
    let comparison = comparison(&entry.comparison)?;
    let values = |values: Vec<String>| values.iter().map(|value| bytes(value)).collect::<Result<Vec<_>, _>>();
    let alternatives = entry.alternatives.into_iter().map(values).collect::<Result<Vec<_>, _>>()?;
    Ok(ViewTest { comparison, alternatives })
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let fault = || format!("'{hex}' is not hexadecimal");
    if !hex.len().is_multiple_of(2) {
        return Err(fault());
    }
    let pair = |at: usize| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..hex.len()).step_by(2).map(|at| pair(at).ok_or_else(fault)).collect()
}

fn index(entry: IndexEntry) -> Result<Index, String> {
    let read = |hex: String| {
        let lists = Lists::decode(&bytes(&hex)?).ok_or("its lists are damaged")?;
        Ok::<_, String>(Arc::new(lists))
    };
    let lists =
        entry.lists.map(read).transpose().map_err(|fault| format!(", index {}: {fault}", entry.name))?;
    Ok(Index {
        name: entry.name.into(),
        id: entry.id,
        column: entry.column.into(),
        part: match entry.part {
            PartEntry::Whole => IndexPart::Whole,
            PartEntry::Keys => IndexPart::Keys,
            PartEntry::Values => IndexPart::Values,
            PartEntry::Entries => IndexPart::Entries,
            PartEntry::Full => IndexPart::Full,
        },
        kind: match entry.kind {
            IndexKindEntry::Composites => IndexKind::Composites,
            IndexKindEntry::Custom => IndexKind::Custom,
        },
        options: entry.options,
        sorted: entry.sorted,
        changed: entry.changed,
        lists,
        built: entry.built,
    })
}
