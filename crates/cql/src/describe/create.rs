//! The statements that would create a thing again.

use cql_syntax::maybe_quote;
use model::timeuuid;
use model::types::UdtType;
use schema::is_virtual_system_name;
use schema::{
    AccessPattern, Backfill, Column, DroppedColumn, Index, IndexKind, Keyspace, NoteKind, NoteTarget,
    OPTIONS, OptionValue, Owner, Projection, Table, TableOption, TableOptions, TotalFunction, View,
    java_double,
};
use std::collections::BTreeMap;
use std::fmt::Write;

const LOCATORS: &str = "org.apache.cassandra.locator.";

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn map_text(map: &BTreeMap<String, String>) -> String {
    let entries: Vec<String> = map.iter().map(|(k, v)| format!("{}: {}", quoted(k), quoted(v))).collect();
    format!("{{{}}}", entries.join(", "))
}

fn wrapped(what: &str, name: &str, body: &str) -> String {
    let kind = what.to_lowercase();
    format!(
        "/*\nWarning: {what} {name} is a virtual {kind} and cannot be recreated with CQL.\nStructure, for reference:\n\
         VIRTUAL {body}\n*/"
    )
}

pub fn keyspace_text(keyspace: &Keyspace) -> String {
    let name = maybe_quote(&keyspace.name);
    if is_virtual_system_name(&keyspace.name) {
        return wrapped("Keyspace", &name, &format!("KEYSPACE {name};"));
    }
    let mut replication = keyspace.replication.clone();
    if let Some(class) = replication.get_mut("class") {
        *class = class.strip_prefix(LOCATORS).unwrap_or(class).to_string();
    }
    let (replication, durable) = (map_text(&replication), keyspace.durable_writes);
    let review = match keyspace.review.as_str() {
        "" => String::new(),
        review => format!(" AND review = {}", quoted(review)),
    };
    let patterns = match keyspace.patterns_mode.as_str() {
        "" => String::new(),
        mode => format!(" AND patterns = {}", quoted(mode)),
    };
    let allow = match keyspace.patterns_allow.is_empty() {
        true => String::new(),
        false => format!(" AND patterns_allow = {}", quoted(&keyspace.patterns_allow.join(", "))),
    };
    let mut tenants = match keyspace.tenant.as_str() {
        "" => String::new(),
        tenant => format!(" AND tenant = {}", quoted(tenant)),
    };
    if !keyspace.tenant_limits.is_empty() {
        let _ = write!(tenants, " AND tenant_limits = {}", map_text(&keyspace.tenant_limits));
    }
    // The two blanks are Cassandra's.
    format!(
        "CREATE KEYSPACE {name} WITH replication = {replication}  AND durable_writes = {durable}{review}{patterns}{allow}{tenants};"
    )
}

pub fn type_text(udt: &UdtType) -> String {
    let field = |f: &model::types::UdtField| format!("\n    {} {}", maybe_quote(&f.name), f.data_type);
    let fields: Vec<String> = udt.fields.iter().map(field).collect();
    format!("CREATE TYPE {}.{} ({}\n);", maybe_quote(&udt.keyspace), maybe_quote(&udt.name), fields.join(","))
}

/// The statement, and behind it what was said about the thing (by its name; empty for the keyspace) and its parts.
pub(super) fn with_notes(keyspace: &Keyspace, name: &str, mut text: String) -> String {
    for note in &keyspace.notes {
        let place = maybe_quote(&keyspace.name);
        let part = |of: &str, part: &str| format!("{place}.{}.{}", maybe_quote(of), maybe_quote(part));
        let (thing, object) = match &note.target {
            NoteTarget::Keyspace => ("", format!("KEYSPACE {place}")),
            NoteTarget::Table(table) => (table.as_str(), format!("TABLE {place}.{}", maybe_quote(table))),
            NoteTarget::Column(table, column) => (table.as_str(), format!("COLUMN {}", part(table, column))),
            NoteTarget::Type(udt) => (udt.as_str(), format!("TYPE {place}.{}", maybe_quote(udt))),
            NoteTarget::Field(udt, field) => (udt.as_str(), format!("FIELD {}", part(udt, field))),
        };
        let word = if note.kind == NoteKind::Comment { "COMMENT" } else { "SECURITY LABEL" };
        if thing == name {
            let _ = write!(text, "\n{word} ON {object} IS {};", quoted(&note.text));
        }
    }
    text
}

pub fn pattern_text(keyspace: &str, pattern: &AccessPattern) -> String {
    let settings: Vec<String> =
        pattern.settings.iter().map(|(name, value)| format!("{} = {value}", maybe_quote(name))).collect();
    let with = if settings.is_empty() {
        String::new()
    } else {
        format!("\n    WITH {}", settings.join("\n    AND "))
    };
    format!(
        "CREATE ACCESS PATTERN {}.{} AS {}{with};",
        maybe_quote(keyspace),
        maybe_quote(&pattern.name),
        pattern.statement
    )
}

pub fn index_text(table: &Table, index: &Index) -> String {
    let place = format!("{}.{}", maybe_quote(&table.keyspace), maybe_quote(&table.name));
    let (name, target) = (maybe_quote(&index.name), index.target());
    let Some(class) = index.class().filter(|_| index.kind == IndexKind::Custom) else {
        return format!("CREATE INDEX {name} ON {place} ({target});");
    };
    let given = index.given_options();
    let options =
        if given.is_empty() { String::new() } else { format!(" WITH OPTIONS = {}", map_text(&given)) };
    format!("CREATE CUSTOM INDEX {name} ON {place} ({target}) USING {}{options};", quoted(class))
}

/// `internals`: with the view's id.
pub fn view_text(keyspace: &Keyspace, table: &Table, view: &View, internals: bool) -> String {
    let place = maybe_quote(&table.keyspace);
    let selected = match view.include_all_columns {
        true => "*".to_string(),
        false => {
            let names: Vec<String> = table.columns().map(|c| maybe_quote(&c.name).to_string()).collect();
            names.join(", ")
        }
    };
    let mut properties = leading_properties(table, internals);
    // What a view's rows live is a matter of its base.
    let options = option_texts(&table.options);
    // And so is whose they are.
    let of_base = |text: &String| text.starts_with("default_time_to_live") || text.starts_with("tenant = ");
    properties.extend(options.into_iter().filter(|text| !of_base(text)));
    if let Some(projection) = &view.projection {
        let base = keyspace.table(&view.base);
        let selected = base.and_then(|base| totals_text(table, base)).unwrap_or(selected);
        return projection_text(table, view, projection, &selected, properties);
    }
    format!(
        "CREATE MATERIALIZED VIEW {place}.{} AS\n    SELECT {selected}\n    FROM {place}.{}\n    WHERE {}\n    PRIMARY KEY \
         ({})\n WITH {};",
        maybe_quote(&table.name),
        maybe_quote(&view.base),
        view.where_clause(),
        key_text(table),
        properties.join("\n    AND ")
    )
}

/// The aggregates of a projection, as they are selected.
fn totals_text(table: &Table, base: &Table) -> Option<String> {
    let totals = table.totals()?;
    let text = |function: &TotalFunction| {
        let name = table.regulars.iter().find(|column| column.id == function.column)?;
        let source = match function.source {
            None => "*".to_string(),
            Some(id) => maybe_quote(&base.columns().find(|column| column.id == id)?.name).to_string(),
        };
        Some(format!("{}({source}) AS {}", function.kind.name(), maybe_quote(&name.name)))
    };
    Some(totals.functions.iter().map(text).collect::<Option<Vec<_>>>()?.join(", "))
}

fn backfill_text(backfill: &Backfill) -> Option<String> {
    let Backfill { rows_per_second, mb_per_second, p99_millis } = *backfill;
    let limits =
        [("rows_per_second", rows_per_second), ("mb_per_second", mb_per_second), ("p99_ms", p99_millis)];
    let limits = limits.iter().filter_map(|(name, limit)| Some(format!("'{name}': '{}'", (*limit)?)));
    let limits: Vec<String> = limits.collect();
    (!limits.is_empty()).then(|| format!("backfill = {{{}}}", limits.join(", ")))
}

/// Ours, so nobody else has to read it.
fn projection_text(
    table: &Table,
    view: &View,
    projection: &Projection,
    selected: &str,
    mut properties: Vec<String>,
) -> String {
    properties.push(format!("freshness = {}", quoted(&table.freshness())));
    properties
        .extend(projection.later.as_ref().map(|later| format!("on_lag = {}", quoted(later.on_lag.word()))));
    properties.extend(projection.owner.as_ref().map(|owner| format!("owner = {}", quoted(owner))));
    properties.extend(backfill_text(&projection.backfill));
    if projection.wait {
        properties.push("wait = true".to_string());
    }
    let condition = match view.restrictions.is_empty() {
        true => String::new(),
        false => format!("\n    WHERE {}", view.where_clause()),
    };
    let place = maybe_quote(&table.keyspace);
    format!(
        "CREATE PROJECTION {place}.{} ON {place}.{} AS\n    SELECT {selected}{condition}\n    PRIMARY KEY ({})\n WITH {};",
        maybe_quote(&table.name),
        maybe_quote(&view.base),
        key_text(table),
        properties.join("\n    AND ")
    )
}

/// The properties that stand before the options: the id and the order.
fn leading_properties(table: &Table, internals: bool) -> Vec<String> {
    let mut properties = Vec::new();
    if table.compact.is_some() {
        properties.push("COMPACT STORAGE".to_string());
    }
    if internals {
        properties.push(format!("ID = {}", timeuuid::format(&table.uuid)));
    }
    if table.clustering.iter().any(|column| !table.hides(column)) {
        let direction = |c: &Column| if c.descending { "DESC" } else { "ASC" };
        let order: Vec<String> =
            table.clustering.iter().map(|c| format!("{} {}", maybe_quote(&c.name), direction(c))).collect();
        properties.push(format!("CLUSTERING ORDER BY ({})", order.join(", ")));
    }
    properties
}

/// `internals`: with the table's id, and with dropped columns as they were.
pub fn table_text(table: &Table, internals: bool) -> String {
    let name = format!("{}.{}", maybe_quote(&table.keyspace), maybe_quote(&table.name));
    let is_virtual = is_virtual_system_name(&table.keyspace);
    let mut text = format!("TABLE {name} (\n");
    put_columns(&mut text, table, internals);
    text.push_str(") WITH ");
    let mut properties = leading_properties(table, internals);
    match is_virtual {
        true => properties.push(format!("comment = {}", quoted(&table.options.comment))),
        false => properties.extend(option_texts(&table.options)),
    }
    if let (Some(plan), Some(place)) =
        (table.bucketing_text(), properties.iter_mut().find(|text| text.starts_with("extensions")))
    {
        // Cassandra accepts and ignores it, and CREATE TABLE reads it back.
        *place = format!("extensions = {{{}: {}}}", quoted(schema::bucketing::EXTENSION), quoted(&plan));
    }
    text.push_str(&properties.join("\n    AND "));
    text.push(';');
    if is_virtual {
        return wrapped("Table", &name, &text);
    }
    if internals {
        put_dropped(&mut text, table, &name);
    }
    format!("CREATE {text}")
}

/// Key columns, then static and regular ones, each with its collections last: the order in which Cassandra keeps them.
fn put_columns(text: &mut String, table: &Table, internals: bool) {
    let shown_static = if table.compact.is_some() { "" } else { " static" };
    let simple_key = table.partition_key.len() == 1 && table.clustering.is_empty();
    let returned = |column: &Column| internals && table.dropped.iter().any(|d| d.name == column.name);
    let mut lines: Vec<String> = Vec::new();
    for column in table.primary_key().filter(|column| !table.hides(column)) {
        let key = if simple_key { " PRIMARY KEY" } else { "" };
        lines.push(format!("{}{}{}{key}", column_text(column), mask_suffix(column), check_suffix(column)));
    }
    for (columns, suffix) in [(&table.statics, shown_static), (&table.regulars, "")] {
        for multi_cell in [false, true] {
            let of_kind =
                |c: &&Column| c.data_type.is_multi_cell() == multi_cell && !returned(c) && !table.hides(c);
            lines.extend(columns.iter().filter(of_kind).map(|c| {
                let ttl = if table.row_ttl == Some(c.id) { " TTL" } else { "" };
                format!("{}{suffix}{ttl}{}{}", column_text(c), mask_suffix(c), check_suffix(c))
            }));
        }
    }
    if internals {
        let mut dropped: Vec<&DroppedColumn> = table.dropped.iter().collect();
        dropped.sort_by(|a, b| a.name.cmp(&b.name));
        lines.extend(dropped.iter().map(|d| {
            format!("{} {}{}", maybe_quote(&d.name), d.data_type, if d.is_static { " static" } else { "" })
        }));
    }
    if !simple_key {
        lines.push(format!("PRIMARY KEY ({})", key_text(table)));
    }
    for (at, line) in lines.iter().enumerate() {
        let comma = if at + 1 < lines.len() { "," } else { "" };
        let _ = writeln!(text, "    {line}{comma}");
    }
}

fn column_text(column: &Column) -> String {
    format!("{} {}", maybe_quote(&column.name), column.data_type)
}

fn mask_suffix(column: &Column) -> String {
    column.mask.as_ref().map_or(String::new(), |mask| format!(" MASKED WITH {mask}"))
}

fn check_suffix(column: &Column) -> String {
    if column.checks.is_empty() {
        return String::new();
    }
    let name = maybe_quote(&column.name);
    let checks: Vec<String> = column.checks.iter().map(|check| check.to_string_for(&name)).collect();
    format!(" CHECK {}", checks.join(" AND "))
}

fn key_text(table: &Table) -> String {
    let list = |columns: &[Column]| {
        columns.iter().map(|column| maybe_quote(&column.name).to_string()).collect::<Vec<_>>().join(", ")
    };
    let partition = list(&table.partition_key);
    let partition = if table.partition_key.len() > 1 { format!("({partition})") } else { partition };
    if table.clustering.iter().all(|column| table.hides(column)) {
        partition
    } else {
        format!("{partition}, {}", list(&table.clustering))
    }
}

/// Drops what was dropped and adds again what came back, so that even the history can be replayed.
fn put_dropped(text: &mut String, table: &Table, name: &str) {
    let mut dropped: Vec<&DroppedColumn> = table.dropped.iter().collect();
    dropped.sort_by(|a, b| a.name.cmp(&b.name));
    for column in dropped {
        let column_name = maybe_quote(&column.name);
        let _ =
            write!(text, "\nALTER TABLE {name} DROP {column_name} USING TIMESTAMP {};", column.dropped_at);
        if let Some(back) = table.column(&column.name) {
            let suffix = if column.is_static { " static" } else { "" };
            let _ = write!(text, "\nALTER TABLE {name} ADD {}{suffix};", column_text(back));
        }
    }
}

/// In Cassandra's order; ours last, and only where it says something.
fn option_texts(options: &TableOptions) -> Vec<String> {
    // By name, but what became of memtables stands where Cassandra put it first.
    let order = |option: &TableOption| if option.name == "memtable" { "compression " } else { option.name };
    let (mut theirs, ours): (Vec<&TableOption>, Vec<&TableOption>) =
        OPTIONS.iter().partition(|option| option.owner != Owner::Partita);
    theirs.sort_by_key(|option| order(option));
    let text = |option: &TableOption| {
        (option.shown)(options).map(|value| format!("{} = {}", option.name, value_text(&value)))
    };
    theirs.into_iter().chain(ours).filter_map(text).collect()
}

fn value_text(value: &OptionValue<'_>) -> String {
    match value {
        OptionValue::Boolean(value) => value.to_string(),
        OptionValue::Integer(value) => value.to_string(),
        OptionValue::Double(value) => java_double(*value),
        OptionValue::Text(text) => quoted(text),
        OptionValue::Map(map) => map_text(map),
        OptionValue::Blobs(blobs) => {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let blobs: Vec<String> =
                blobs.iter().map(|(key, value)| format!("{}: 0x{}", quoted(key), hex(value))).collect();
            format!("{{{}}}", blobs.join(", "))
        }
    }
}
