//! The shape of the stored JSON.

use crate::options::TableOptions;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Read first, so that a newer format is recognised before its unknown fields are.
#[derive(Deserialize)]
pub(super) struct Head {
    pub format: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub format: u32,
    /// The node's identity; not part of the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_id: Option<String>,
    pub next_table_id: u32,
    pub keyspaces: Vec<KeyspaceEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyspaceEntry {
    pub name: String,
    pub replication: BTreeMap<String, String>,
    pub durable_writes: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub review: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub patterns_mode: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns_allow: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tenant_limits: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypeEntry>,
    #[serde(default)]
    pub tables: Vec<TableEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<PatternEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aggregates: Vec<AggregateEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteEntry>,
}

/// A comment or security label of a keyspace (no name), or of a table or type, or of a part of one.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoteEntry {
    pub on: NotedEntry,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub label: bool,
    pub text: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NotedEntry {
    Keyspace,
    Table,
    Column,
    Type,
    Field,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FunctionEntry {
    pub name: String,
    /// Name and type of each argument, in order.
    pub arguments: Vec<(String, String)>,
    pub returns: String,
    pub called_on_null: bool,
    pub language: String,
    pub body: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AggregateEntry {
    pub name: String,
    pub arguments: Vec<String>,
    pub state_function: String,
    pub state_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_function: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<String>,
    pub returns: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeEntry {
    pub name: String,
    /// Name and type of each field, in order.
    pub fields: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableEntry {
    pub name: String,
    pub id: u32,
    pub uuid: String,
    pub incarnation: u32,
    pub next_column_id: u32,
    pub columns: Vec<ColumnEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<IndexEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignEntry>,
    /// WITH COMPACT STORAGE: `static`, `dense` or `keys`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<String>,
    /// The id of the column that says when a row expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_ttl: Option<u32>,
    /// Only what differs from the default, so that the text stays short and says something.
    #[serde(default, serialize_with = "changed_options")]
    pub options: TableOptions,
}

fn changed_options<S: Serializer>(options: &TableOptions, serializer: S) -> Result<S::Ok, S::Error> {
    static DEFAULT: OnceLock<TableOptions> = OnceLock::new();
    static USUAL: OnceLock<Map<String, Value>> = OnceLock::new();
    // The usual case, and every schema change writes every table: comparing costs a hundredth of making values.
    if options == DEFAULT.get_or_init(TableOptions::default) {
        return Map::new().serialize(serializer);
    }
    let fields = |options: &TableOptions| match serde_json::to_value(options) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let usual = USUAL.get_or_init(|| fields(&TableOptions::default()));
    let mut changed = fields(options);
    changed.retain(|name, value| usual.get(name) != Some(value));
    changed.serialize(serializer)
}

/// Key columns come in key order; static and regular columns by name.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnEntry {
    pub id: u32,
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: String,
    pub kind: KindEntry,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckEntry>,
}

/// A constraint of a column. Terms are as they were written, values in hexadecimal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "rule", rename_all = "snake_case")]
pub(super) enum CheckEntry {
    NotNull {},
    Json {},
    Value { comparison: String, term: String, value: String },
    Length { comparison: String, count: i64 },
    OctetLength { comparison: String, count: i64 },
    Regexp { equal: bool, pattern: String },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindEntry {
    PartitionKey,
    Clustering,
    Static,
    Regular,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DroppedEntry {
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: String,
    #[serde(default, rename = "static", skip_serializing_if = "std::ops::Not::not")]
    pub is_static: bool,
    pub dropped_at: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IndexEntry {
    pub name: String,
    pub id: u32,
    pub column: String,
    pub part: PartEntry,
    pub kind: IndexKindEntry,
    pub options: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sorted: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// In hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<String>,
    pub built: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ViewEntry {
    pub base: String,
    pub base_id: u32,
    pub include_all_columns: bool,
    #[serde(rename = "where")]
    pub restrictions: Vec<RestrictionEntry>,
    pub built: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<ProjectionEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectionEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill_rows_per_second: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill_mb_per_second: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill_p99_ms: Option<u32>,
    #[serde(default)]
    pub wait: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<TotalsEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<LaterEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaterEntry {
    pub bound_ms: u32,
    /// `wait`, `refuse` or `late`.
    pub on_lag: String,
    pub pending: u32,
    pub places: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TotalsEntry {
    pub members: u32,
    pub functions: Vec<TotalEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TotalEntry {
    pub column: u32,
    /// `count`, `sum`, `min` or `max`.
    pub function: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForeignEntry {
    pub definition: Value,
    pub stores: Vec<StoreEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreEntry {
    pub name: String,
    pub id: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_seconds: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RestrictionEntry {
    pub columns: Vec<String>,
    #[serde(default, rename = "tuple", skip_serializing_if = "std::ops::Not::not")]
    pub is_tuple: bool,
    pub condition: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Vec<TestEntry>>,
}

/// Values are in hexadecimal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestEntry {
    pub comparison: String,
    pub alternatives: Vec<Vec<String>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PartEntry {
    Whole,
    Keys,
    Values,
    Entries,
    Full,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IndexKindEntry {
    Composites,
    Custom,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatternEntry {
    pub name: String,
    pub statement: String,
    pub settings: BTreeMap<String, String>,
}

impl Document {
    /// Makes alike what differs without being schema: how often a table was truncated, and whether an index or view is built.
    pub(super) fn forget_progress(&mut self) {
        for table in self.keyspaces.iter_mut().flat_map(|keyspace| &mut keyspace.tables) {
            table.incarnation = 0;
            table.indexes.iter_mut().for_each(|index| (index.built, index.lists) = (true, None));
            table.view.iter_mut().for_each(|view| view.built = true);
        }
    }
}
