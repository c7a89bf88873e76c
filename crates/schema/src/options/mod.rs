//! Table options: accepted, kept, shown; a few mean something to the store.

mod compaction;
mod compression;
mod declared;
pub(crate) mod elsewhere;
mod limit;
mod number;
mod older;
mod parse;
mod retry;
pub(crate) mod tenant;

pub use compaction::CompactionPlan;
pub use compression::CompressionPlan;
pub use declared::{OPTIONS, OptionValue, Owner, TableOption};
pub use limit::LimitPlan;
pub use limit::bytes as size_in_bytes;
pub use number::java_double;
pub(crate) use parse::{patterns, review};
pub use tenant::{TenantLimit, TenantLimits};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options as Cassandra 5.0 names them. Values that only travel are kept as they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableOptions {
    pub comment: String,
    pub default_time_to_live: u32,
    pub gc_grace_seconds: u32,
    pub bloom_filter_fp_chance: f64,
    pub crc_check_chance: f64,
    pub min_index_interval: i32,
    pub max_index_interval: i32,
    pub memtable_flush_period_in_ms: i32,
    pub speculative_retry: String,
    pub additional_write_policy: String,
    pub read_repair: String,
    /// Empty means `default`.
    pub memtable: String,
    pub cdc: bool,
    pub allow_auto_snapshot: bool,
    pub incremental_backups: bool,
    pub caching: BTreeMap<String, String>,
    pub compaction: BTreeMap<String, String>,
    pub compression: BTreeMap<String, String>,
    pub extensions: BTreeMap<String, Vec<u8>>,
    /// Ours: how rows are spread over partitions. Made with the table, not read from properties here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucketing: Option<crate::bucketing::Bucketing>,
    /// Ours: the plan that a job is moving the rows to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebucketing: Option<crate::bucketing::Rebucketing>,
    /// Ours: earlier generations of the table, the last one last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<crate::bucketing::Former>,
    /// Ours: `'enforce' | 'warn' | 'off'`; empty means the keyspace's or the default.
    pub review: String,
    /// Ours: see [`LimitPlan`]; empty means none.
    pub partition_limit: BTreeMap<String, String>,
    /// Ours: the column that says whose a row is, see `tenant`; empty means that rows are nobody's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Ours: see [`TenantLimits`]; empty means none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tenant_limits: BTreeMap<String, String>,
    /// Ours: since which day no tombstone may go, because a migration brings older rows; empty means that they go as usual.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hold_tombstones: String,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect::<BTreeMap<_, _>>()
        };
        TableOptions {
            comment: String::new(),
            default_time_to_live: 0,
            gc_grace_seconds: 864_000,
            bloom_filter_fp_chance: 0.01,
            crc_check_chance: 1.0,
            min_index_interval: 128,
            max_index_interval: 2048,
            memtable_flush_period_in_ms: 0,
            speculative_retry: "99p".into(),
            additional_write_policy: "99p".into(),
            read_repair: "BLOCKING".into(),
            memtable: String::new(),
            cdc: false,
            allow_auto_snapshot: true,
            incremental_backups: true,
            caching: map(&[("keys", "ALL"), ("rows_per_partition", "NONE")]),
            compaction: map(&[
                ("class", "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy"),
                ("max_threshold", "32"),
                ("min_threshold", "4"),
            ]),
            compression: map(&[
                ("chunk_length_in_kb", "16"),
                ("class", "org.apache.cassandra.io.compress.LZ4Compressor"),
            ]),
            extensions: BTreeMap::new(),
            bucketing: None,
            rebucketing: None,
            former: Vec::new(),
            review: String::new(),
            partition_limit: BTreeMap::new(),
            tenant: String::new(),
            tenant_limits: BTreeMap::new(),
            hold_tombstones: String::new(),
        }
    }
}

impl TableOptions {
    /// The options of a new table, read but not checked: where nothing is said, a levelled one gets smaller Bloom
    /// filters.
    pub(crate) fn read_new(properties: &crate::Properties) -> Result<TableOptions, crate::SchemaError> {
        let mut options = TableOptions::default().read(properties)?;
        let levelled =
            options.compaction.get("class").is_some_and(|c| c.ends_with(".LeveledCompactionStrategy"));
        if levelled && !properties.has("bloom_filter_fp_chance") {
            options.bloom_filter_fp_chance = 0.1;
        }
        Ok(options)
    }

    /// What the compaction map means to a store.
    pub fn compaction_plan(&self) -> CompactionPlan {
        compaction::plan(&self.compaction)
    }

    /// How large a partition may become, if that is limited.
    pub fn partition_limit(&self) -> Option<LimitPlan> {
        limit::plan(&self.partition_limit)
    }

    /// How long tombstones are kept. While a migration brings rows that are older than they are, for ever: a deletion that was
    /// forgotten could not keep what it deleted from coming back.
    pub fn tombstone_seconds(&self) -> u32 {
        if self.hold_tombstones.is_empty() { self.gc_grace_seconds } else { u32::MAX }
    }

    /// What the compression map means to a store.
    pub fn compression_plan(&self) -> CompressionPlan {
        compression::plan(&self.compression)
    }
}
