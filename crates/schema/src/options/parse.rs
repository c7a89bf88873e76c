//! From properties to table options, with the checks and texts of Cassandra 5.0.

use super::number::java_double;
use super::{TableOptions, compaction, compression, elsewhere, limit, older, retry, tenant};
use crate::error::SchemaError;
use crate::properties::Properties;
use std::collections::BTreeMap;

/// Twenty years, Cassandra's limit for a time to live.
const TTL_MAX: i32 = 20 * 365 * 24 * 60 * 60;
/// Below this a Bloom filter would need more bits per key than Cassandra has tables for.
const BLOOM_CHANCE_MIN: f64 = 6.71e-5;

const KNOWN: [&str; 27] = [
    "additional_write_policy",
    "allow_auto_snapshot",
    "bloom_filter_fp_chance",
    "bucketing",
    "caching",
    "cdc",
    "comment",
    "compaction",
    "compression",
    "crc_check_chance",
    "default_time_to_live",
    "extensions",
    "gc_grace_seconds",
    "hold_tombstones",
    "id",
    "incremental_backups",
    "max_index_interval",
    "memtable",
    "memtable_flush_period_in_ms",
    "min_index_interval",
    "partition_limit",
    "read_repair",
    "retention",
    "review",
    "speculative_retry",
    "tenant",
    "tenant_limits",
];

impl TableOptions {
    /// These options with the given properties changed. `id` is checked for its name only.
    pub fn with(&self, properties: &Properties) -> Result<TableOptions, SchemaError> {
        self.read(properties)?.checked()
    }

    /// The first half of [`TableOptions::with`]: values are read but their ranges are not checked yet, because
    /// Cassandra looks at those only after it knows that the table can be created.
    pub(crate) fn read(&self, properties: &Properties) -> Result<TableOptions, SchemaError> {
        let properties = &older::modern(properties);
        properties.without(&elsewhere::names()).only(&KNOWN)?;
        let mut new = self.clone();
        new.set_texts(properties)?;
        new.set_numbers(properties)?;
        new.set_maps(properties)?;
        Ok(new)
    }

    /// The second half: ranges, and the options of the compaction strategy.
    pub(crate) fn checked(mut self) -> Result<TableOptions, SchemaError> {
        compaction::check(&mut self.compaction)?;
        self.check()?;
        Ok(self)
    }

    fn set_texts(&mut self, from: &Properties) -> Result<(), SchemaError> {
        if let Some(text) = from.text("comment")? {
            self.comment = text.into();
        }
        if let Some(text) = from.text("speculative_retry")? {
            self.speculative_retry = retry::canonical(text)?;
        }
        if let Some(text) = from.text("additional_write_policy")? {
            self.additional_write_policy = retry::canonical(text)?;
        }
        if let Some(text) = from.text("read_repair")? {
            self.read_repair = match text.to_uppercase().as_str() {
                known @ ("NONE" | "BLOCKING") => known.into(),
                _ => {
                    return Err(SchemaError::Config(format!(
                        "Invalid value {text} for option 'read_repair': must be one of the following [NONE, BLOCKING]"
                    )));
                }
            };
        }
        if let Some(text) = from.text("memtable")? {
            self.memtable = match text {
                "default" | "skiplist" | "trie" => if text == "default" { "" } else { text }.into(),
                _ => {
                    return Err(SchemaError::Config(format!("Memtable configuration \"{text}\" not found.")));
                }
            };
        }
        if let Some(text) = from.text("review")? {
            self.review = review(text)?;
        }
        if let Some(text) = from.text("tenant")? {
            self.tenant = text.into();
        }
        if let Some(text) = from.text("hold_tombstones")? {
            self.hold_tombstones = held_since(text)?;
        }
        Ok(())
    }

    fn set_numbers(&mut self, from: &Properties) -> Result<(), SchemaError> {
        if let Some(chance) = from.double("bloom_filter_fp_chance")? {
            self.bloom_filter_fp_chance = chance;
        }
        if let Some(chance) = from.double("crc_check_chance")? {
            self.crc_check_chance = chance;
        }
        if let Some(seconds) = from.int("default_time_to_live")? {
            not_below("default_time_to_live", seconds, 0)?;
            if seconds > TTL_MAX {
                return Err(SchemaError::Config(format!(
                    "default_time_to_live must be less than or equal to {TTL_MAX} (got {seconds})"
                )));
            }
            self.default_time_to_live = seconds.unsigned_abs();
        }
        if let Some(seconds) = from.int("gc_grace_seconds")? {
            not_below("gc_grace_seconds", seconds, 0)?;
            self.gc_grace_seconds = seconds.unsigned_abs();
        }
        for (name, slot) in [
            ("min_index_interval", &mut self.min_index_interval),
            ("max_index_interval", &mut self.max_index_interval),
            ("memtable_flush_period_in_ms", &mut self.memtable_flush_period_in_ms),
        ] {
            if let Some(value) = from.int(name)? {
                *slot = value;
            }
        }
        if let Some(cdc) = elsewhere::cdc(from)? {
            self.cdc = cdc;
        }
        for (name, slot) in [
            ("allow_auto_snapshot", &mut self.allow_auto_snapshot),
            ("incremental_backups", &mut self.incremental_backups),
        ] {
            if let Some(value) = from.boolean(name)? {
                *slot = value;
            }
        }
        Ok(())
    }

    fn set_maps(&mut self, from: &Properties) -> Result<(), SchemaError> {
        if let Some(map) = from.map("caching")? {
            self.caching = caching(map)?;
        }
        if let Some(map) = from.map("compaction")? {
            self.compaction = compaction::read(map)?;
        }
        if let Some(map) = from.map("compression")? {
            self.compression = compression::normalise(map)?;
        }
        if let Some(map) = from.map("partition_limit")? {
            self.partition_limit = limit::normalise(map)?;
        }
        if let Some(map) = from.map("tenant_limits")? {
            self.tenant_limits = tenant::normalise(map)?;
        }
        // A plan is made with its table, see `bucketing`.
        from.map("bucketing")?;
        // Cassandra reads `extensions` and ignores it in CREATE and ALTER; so do we.
        from.map("extensions")?;
        Ok(())
    }

    fn check(&self) -> Result<(), SchemaError> {
        let chance = self.bloom_filter_fp_chance;
        if !(chance > BLOOM_CHANCE_MIN && chance <= 1.0) {
            return Err(SchemaError::Config(format!(
                "bloom_filter_fp_chance must be larger than {} and less than or equal to 1.0 (got {})",
                java_double(BLOOM_CHANCE_MIN),
                java_double(chance)
            )));
        }
        if !(0.0..=1.0).contains(&self.crc_check_chance) {
            return Err(SchemaError::Config(format!(
                "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {})",
                java_double(self.crc_check_chance)
            )));
        }
        not_below("min_index_interval", self.min_index_interval, 1)?;
        if self.max_index_interval < self.min_index_interval {
            return Err(SchemaError::Config(format!(
                "max_index_interval must be greater than or equal to min_index_interval ({}) (got {})",
                self.min_index_interval, self.max_index_interval
            )));
        }
        not_below("memtable_flush_period_in_ms", self.memtable_flush_period_in_ms, 0)
    }
}

fn not_below(name: &str, value: i32, least: i32) -> Result<(), SchemaError> {
    if value < least {
        return Err(SchemaError::Config(format!(
            "{name} must be greater than or equal to {least} (got {value})"
        )));
    }
    Ok(())
}

/// Our own option on tables and keyspaces: what a review finding does to DDL.
pub(crate) fn review(text: &str) -> Result<String, SchemaError> {
    match text.to_ascii_lowercase().as_str() {
        known @ ("enforce" | "warn" | "off") => Ok(known.to_string()),
        _ => Err(SchemaError::Config(format!(
            "Invalid value {text} for option 'review': use 'enforce' (refuse what the review calls an error), \
             'warn' (the default) or 'off'"
        ))),
    }
}

/// Our own option on tables: since which day tombstones are held, or nothing.
fn held_since(text: &str) -> Result<String, SchemaError> {
    let day = match text {
        "" => return Ok(String::new()),
        text => model::temporal::parse_date(text),
    };
    day.map(model::temporal::format_date).map_err(|_| {
        SchemaError::Config(format!(
            "Invalid value {text} for option 'hold_tombstones': say since which day they are held ('2026-11-19'), or '' to let \
             them go"
        ))
    })
}

/// Our own option on keyspaces: what happens to statements of no declared access pattern.
pub(crate) fn patterns(text: &str) -> Result<String, SchemaError> {
    match text.to_ascii_lowercase().as_str() {
        known @ ("enforce" | "warn" | "off") => Ok(known.to_string()),
        _ => Err(SchemaError::Config(format!(
            "Invalid value {text} for option 'patterns': use 'enforce' (refuse statements of no declared access pattern), \
             'warn' or 'off' (the default)"
        ))),
    }
}

fn caching(asked: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, SchemaError> {
    let unknown: Vec<_> =
        asked.keys().filter(|k| !["keys", "rows_per_partition"].contains(&k.as_str())).cloned().collect();
    if !unknown.is_empty() {
        return Err(SchemaError::Config(format!(
            "Invalid caching sub-options [{}]: only 'keys' and 'rows_per_partition' are allowed",
            unknown.join(", ")
        )));
    }
    // A map that leaves a part out turns that part off.
    let keys = asked.get("keys").map_or("NONE", String::as_str);
    let keys_upper = keys.to_uppercase();
    if !["ALL", "NONE"].contains(&keys_upper.as_str()) {
        return Err(SchemaError::Config(format!(
            "Invalid value '{keys}' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed"
        )));
    }
    let rows = asked.get("rows_per_partition").map_or("NONE", String::as_str);
    let rows_upper = rows.to_uppercase();
    let number = !rows.is_empty() && rows.bytes().all(|b| b.is_ascii_digit()) && rows.parse::<i32>().is_ok();
    if !["ALL", "NONE"].contains(&rows_upper.as_str()) && !number {
        return Err(SchemaError::Config(format!(
            "Invalid value '{rows}' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer \
             values are allowed"
        )));
    }
    Ok([("keys".to_string(), keys_upper), ("rows_per_partition".to_string(), rows_upper)].into())
}
