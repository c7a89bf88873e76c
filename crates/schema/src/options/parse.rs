//! From properties to table options, with the checks and texts of Cassandra 5.0.

use super::declared::OPTIONS;
use super::{TableOptions, compaction, elsewhere, older};
use crate::fault::{OptionFault, SchemaError};
use crate::properties::Properties;
use std::collections::BTreeMap;

/// Twenty years, Cassandra's limit for a time to live.
const TTL_MAX: i32 = 20 * 365 * 24 * 60 * 60;
/// Below this a Bloom filter would need more bits per key than Cassandra has tables for.
const BLOOM_CHANCE_MIN: f64 = 6.71e-5;

impl TableOptions {
    /// These options with the given properties changed. `id` is checked for its name only.
    pub fn with(&self, properties: &Properties) -> Result<TableOptions, SchemaError> {
        self.read(properties)?.checked()
    }

    /// The first half of [`TableOptions::with`]: values are read but their ranges are not checked yet, because
    /// Cassandra looks at those only after it knows that the table can be created.
    pub(crate) fn read(&self, properties: &Properties) -> Result<TableOptions, SchemaError> {
        let properties = &older::modern(properties);
        let names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        properties.without(&elsewhere::names()).only(&names)?;
        let mut new = self.clone();
        OPTIONS.iter().try_for_each(|option| (option.read)(&mut new, properties))?;
        Ok(new)
    }

    /// The second half: ranges, and the options of the compaction strategy.
    pub(crate) fn checked(mut self) -> Result<TableOptions, SchemaError> {
        compaction::check(&mut self.compaction)?;
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), OptionFault> {
        let chance = self.bloom_filter_fp_chance;
        if !(chance > BLOOM_CHANCE_MIN && chance <= 1.0) {
            return Err(OptionFault::BloomChance { least: BLOOM_CHANCE_MIN, chance });
        }
        if !(0.0..=1.0).contains(&self.crc_check_chance) {
            return Err(OptionFault::CrcChance { chance: self.crc_check_chance });
        }
        not_below("min_index_interval", self.min_index_interval, 1)?;
        if self.max_index_interval < self.min_index_interval {
            return Err(OptionFault::IndexIntervals {
                least: self.min_index_interval,
                most: self.max_index_interval,
            });
        }
        not_below("memtable_flush_period_in_ms", self.memtable_flush_period_in_ms, 0)
    }
}

pub(super) fn read_repair(text: &str) -> Result<String, OptionFault> {
    match text.to_uppercase().as_str() {
        known @ ("NONE" | "BLOCKING") => Ok(known.into()),
        _ => Err(OptionFault::ReadRepair { text: text.to_string() }),
    }
}

/// Nothing for the usual one.
pub(super) fn memtable(text: &str) -> Result<String, OptionFault> {
    match text {
        "default" => Ok(String::new()),
        "skiplist" | "trie" => Ok(text.into()),
        _ => Err(OptionFault::Memtable { text: text.to_string() }),
    }
}

pub(super) fn time_to_live(seconds: i32) -> Result<u32, OptionFault> {
    not_below("default_time_to_live", seconds, 0)?;
    if seconds > TTL_MAX {
        return Err(OptionFault::TtlTooLong { seconds_max: TTL_MAX, seconds });
    }
    Ok(seconds.unsigned_abs())
}

pub(super) fn grace_seconds(seconds: i32) -> Result<u32, OptionFault> {
    not_below("gc_grace_seconds", seconds, 0)?;
    Ok(seconds.unsigned_abs())
}

fn not_below(name: &'static str, value: i32, least: i32) -> Result<(), OptionFault> {
    if value < least {
        return Err(OptionFault::Below { option: name, least, value });
    }
    Ok(())
}

/// Our own option on tables and keyspaces: what a review finding does to DDL.
pub(crate) fn review(text: &str) -> Result<String, OptionFault> {
    match text.to_ascii_lowercase().as_str() {
        known @ ("enforce" | "warn" | "off") => Ok(known.to_string()),
        _ => Err(OptionFault::Review { text: text.to_string() }),
    }
}

/// Our own option on tables: since which day tombstones are held, or nothing.
pub(super) fn held_since(text: &str) -> Result<String, OptionFault> {
    let day = match text {
        "" => return Ok(String::new()),
        text => model::temporal::parse_date(text),
    };
    day.map(model::temporal::format_date).map_err(|_| OptionFault::HoldTombstones { text: text.to_string() })
}

/// Our own option on keyspaces: what happens to statements of no declared access pattern.
pub(crate) fn patterns(text: &str) -> Result<String, OptionFault> {
    match text.to_ascii_lowercase().as_str() {
        known @ ("enforce" | "warn" | "off") => Ok(known.to_string()),
        _ => Err(OptionFault::Patterns { text: text.to_string() }),
    }
}

pub(super) fn caching(asked: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, OptionFault> {
    let unknown: Vec<_> =
        asked.keys().filter(|k| !["keys", "rows_per_partition"].contains(&k.as_str())).cloned().collect();
    if !unknown.is_empty() {
        return Err(OptionFault::CachingUnknown { names: unknown });
    }
    // A map that leaves a part out turns that part off.
    let keys = asked.get("keys").map_or("NONE", String::as_str);
    let keys_upper = keys.to_uppercase();
    if !["ALL", "NONE"].contains(&keys_upper.as_str()) {
        return Err(OptionFault::CachingKeys { value: keys.to_string() });
    }
    let rows = asked.get("rows_per_partition").map_or("NONE", String::as_str);
    let rows_upper = rows.to_uppercase();
    let number = !rows.is_empty() && rows.bytes().all(|b| b.is_ascii_digit()) && rows.parse::<i32>().is_ok();
    if !["ALL", "NONE"].contains(&rows_upper.as_str()) && !number {
        return Err(OptionFault::CachingRows { value: rows.to_string() });
    }
    Ok([("keys".to_string(), keys_upper), ("rows_per_partition".to_string(), rows_upper)].into())
}
