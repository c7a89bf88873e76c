//! The options of each compaction strategy, checked as Cassandra checks them.

use super::config;
use crate::error::SchemaError;
use std::collections::BTreeMap;
use std::str::FromStr;

pub(super) const NAMES: [&str; 4] = [
    "SizeTieredCompactionStrategy",
    "LeveledCompactionStrategy",
    "TimeWindowCompactionStrategy",
    "UnifiedCompactionStrategy",
];

/// Options that every strategy knows.
const SHARED: [&str; 8] = [
    "class",
    "enabled",
    "log_all",
    "only_purge_repaired_tombstones",
    "provide_overlapping_tombstones",
    "tombstone_compaction_interval",
    "tombstone_threshold",
    "unchecked_tombstone_compaction",
];
const SIZE_TIERED: [&str; 5] =
    ["bucket_high", "bucket_low", "max_threshold", "min_sstable_size", "min_threshold"];
const LEVELED: [&str; 5] =
    ["fanout_size", "max_threshold", "min_threshold", "single_sstable_uplevel", "sstable_size_in_mb"];
const TIME_WINDOW: [&str; 5] = [
    "compaction_window_size",
    "compaction_window_unit",
    "expired_sstable_check_frequency_seconds",
    "timestamp_resolution",
    "unsafe_aggressive_sstable_expiration",
];
const UNIFIED: [&str; 9] = [
    "base_shard_count",
    "expired_sstable_check_frequency_seconds",
    "flush_size_override",
    "max_sstables_to_compact",
    "min_sstable_size",
    "overlap_inclusion_method",
    "scaling_parameters",
    "sstable_growth",
    "target_sstable_size",
];

const MEBIBYTE: f64 = 1_048_576.0;
const TARGET_BYTES: f64 = 1024.0 * MEBIBYTE;

type Map = BTreeMap<String, String>;

pub(super) fn check(strategy: &str, options: &Map) -> Result<(), SchemaError> {
    shared(options)?;
    let known: Vec<&str> = match strategy {
        "LeveledCompactionStrategy" => {
            leveled(options)?;
            LEVELED.to_vec()
        }
        "TimeWindowCompactionStrategy" => {
            time_window(options)?;
            size_tiered(options)?;
            [&TIME_WINDOW[..], &SIZE_TIERED].concat()
        }
        "UnifiedCompactionStrategy" => {
            unified(options)?;
            [&UNIFIED[..], &["unsafe_aggressive_sstable_expiration"]].concat()
        }
        _ => {
            size_tiered(options)?;
            SIZE_TIERED.to_vec()
        }
    };
    let understood = |name: &str| SHARED.contains(&name) || known.contains(&name);
    let unknown: Vec<_> = options.keys().filter(|name| !understood(name)).cloned().collect();
    if !unknown.is_empty() {
        return Err(config(format!(
            "Properties specified [{}] are not understood by {strategy}",
            unknown.join(", ")
        )));
    }
    Ok(())
}

fn number<T: FromStr>(options: &Map, name: &str, kind: &str, default: T) -> Result<T, SchemaError> {
    match options.get(name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| config(format!("{text} is not a parsable {kind} for {name}"))),
    }
}

fn is_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

fn shared(options: &Map) -> Result<(), SchemaError> {
    let threshold: f64 = number(options, "tombstone_threshold", "int (base10)", 0.2)?;
    if threshold < 0.0 {
        return Err(config(format!("tombstone_threshold must be greater than 0, but was {threshold:.6}")));
    }
    let interval: i64 = number(options, "tombstone_compaction_interval", "int (base10)", 86_400)?;
    if interval < 0 {
        return Err(config(format!(
            "tombstone_compaction_interval must be greater than 0, but was {interval}"
        )));
    }
    if let Some(text) = options.get("unchecked_tombstone_compaction").filter(|t| !is_boolean(t)) {
        return Err(config(format!(
            "'unchecked_tombstone_compaction' should be either 'true' or 'false', not '{text}'"
        )));
    }
    if let Some(text) = options.get("log_all").filter(|t| !is_boolean(t)) {
        return Err(config(format!("'log_all' should either be 'true' or 'false', not {text}")));
    }
    if let Some(text) = options.get("enabled").filter(|t| !is_boolean(t)) {
        return Err(config(format!("enabled should either be 'true' or 'false', not {text}")));
    }
    Ok(())
}

fn size_tiered(options: &Map) -> Result<(), SchemaError> {
    let least: i64 = number(options, "min_sstable_size", "int (base10)", 50 << 20)?;
    if least < 0 {
        return Err(config(format!("min_sstable_size must be non negative: {least}")));
    }
    let low: f64 = number(options, "bucket_low", "float", 0.5)?;
    let high: f64 = number(options, "bucket_high", "float", 1.5)?;
    if high <= low {
        let (high, low) = (crate::options::java_double(high), crate::options::java_double(low));
        return Err(config(format!(
            "bucket_high value ({high}) is less than or equal to the bucket_low value ({low})"
        )));
    }
    Ok(())
}

fn leveled(options: &Map) -> Result<(), SchemaError> {
    for (name, default) in [("sstable_size_in_mb", 160), ("fanout_size", 10)] {
        let value: i32 = number(options, name, "int (base10)", default)?;
        if value < 1 {
            return Err(config(format!("{name} must be larger than 0, but was {value}")));
        }
    }
    match options.get("single_sstable_uplevel") {
        Some(text) if !is_boolean(text) => {
            Err(config(format!("{text} is not valid for single_sstable_uplevel")))
        }
        _ => Ok(()),
    }
}

/// Seconds of a window unit, as Java's TimeUnit names them.
pub(super) fn unit_seconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "MINUTES" => 60,
        "HOURS" => 3600,
        "DAYS" => 86_400,
        _ => return None,
    })
}

fn time_window(options: &Map) -> Result<(), SchemaError> {
    let resolutions = ["MICROSECONDS", "MILLISECONDS", "NANOSECONDS", "SECONDS", "MINUTES", "HOURS", "DAYS"];
    if let Some(text) = options.get("timestamp_resolution").filter(|t| !resolutions.contains(&t.as_str())) {
        return Err(config(format!("{text} is not valid for timestamp_resolution")));
    }
    if let Some(text) = options.get("compaction_window_unit").filter(|t| unit_seconds(t).is_none()) {
        return Err(config(format!("{text} is not valid for compaction_window_unit")));
    }
    let size: i32 = number(options, "compaction_window_size", "int (base10)", 1)?;
    if size < 1 {
        return Err(config(format!("{size} must be greater than 1 for compaction_window_size")));
    }
    let name = "expired_sstable_check_frequency_seconds";
    let seconds: i64 = number(options, name, "int (base10)", 600)?;
    if seconds < 0 {
        return Err(config(format!("{name} must not be negative, but was {seconds}")));
    }
    let name = "unsafe_aggressive_sstable_expiration";
    match options.get(name).map(|t| t.to_ascii_lowercase()) {
        Some(text) if text == "true" => Err(config(format!(
            "{name} is requested but not allowed, restart cassandra with -Dcassandra.allow_{name}=true to allow it. \
             Partita drops files whose data has all expired without it."
        ))),
        Some(text) if text != "false" => Err(config(format!("{name} is not 'true' or 'false' ({text})"))),
        _ => Ok(()),
    }
}

/// `N`, `L10`, `T4` or an integer: the unified strategy's W; `None` when it is none of them.
pub(super) fn scaling(text: &str) -> Option<i32> {
    let fan =
        |digits: &str| digits.parse::<i32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    match text.as_bytes().first()? {
        b'N' if text.len() == 1 => Some(0),
        b'L' => Some(2 - fan(&text[1..])?),
        b'T' => Some(fan(&text[1..])? - 2),
        _ => text.parse().ok(),
    }
}

/// `1GiB` in bytes.
fn bytes(text: &str) -> Option<f64> {
    let body = text.strip_suffix('B')?;
    let (body, base) = match body.strip_suffix('i') {
        Some(body) => (body, 1024f64),
        None => (body, 1000f64),
    };
    let (digits, power) = match body.as_bytes().last()? {
        b'k' | b'K' => (&body[..body.len() - 1], 1),
        b'M' => (&body[..body.len() - 1], 2),
        b'G' => (&body[..body.len() - 1], 3),
        b'T' => (&body[..body.len() - 1], 4),
        _ => (body, 0),
    };
    Some(digits.trim().parse::<f64>().ok()? * base.powi(power))
}

fn gibibytes(value: f64) -> String {
    if value >= TARGET_BYTES {
        format!("{:.3}GiB", value / TARGET_BYTES)
    } else {
        format!("{:.3}MiB", value / MEBIBYTE)
    }
}

fn unified(options: &Map) -> Result<(), SchemaError> {
    for part in options.get("scaling_parameters").map_or("T4", String::as_str).split(',').map(str::trim) {
        let Some(value) = scaling(part) else {
            return Err(config(format!("Scaling parameter {part} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+")));
        };
        if (part.starts_with('T') && value < 0) || (part.starts_with('L') && value > 0) {
            return Err(config(format!("Fan factor cannot be lower than 2 in {part}")));
        }
    }
    let shards: i32 = number(options, "base_shard_count", "int (base10)", 4)?;
    if shards <= 0 {
        return Err(config(format!("Invalid configuration, base_shard_count should be positive: {shards}")));
    }
    let target = target_bytes(options)?;
    let _: i64 = number(options, "expired_sstable_check_frequency_seconds", "long (base10)", 600)?;
    let _: i32 = number(options, "max_sstables_to_compact", "int (base10)", 0)?;
    if let Some(text) = options.get("sstable_growth") {
        let growth: f64 = text.parse().map_err(|_| {
            config(format!(
                "sstable_growth is not a valid number between 0 and 1: For input string: \"{text}\""
            ))
        })?;
        if !(0.0..=1.0).contains(&growth) {
            return Err(config(format!("sstable_growth {text} must be between 0 and 1")));
        }
    }
    if let Some(text) = options.get("min_sstable_size") {
        let least = bytes(text)
            .ok_or_else(|| config(format!("{text} is not a valid size in bytes for min_sstable_size")))?;
        if least >= target * 0.7 {
            return Err(config(format!(
                "Invalid configuration, min_sstable_size ({}) should be less than 70% of the targetSSTableSize ({})",
                gibibytes(least),
                gibibytes(target)
            )));
        }
    }
    let methods = ["NONE", "SINGLE", "TRANSITIVE"];
    match options.get("overlap_inclusion_method") {
        Some(text) if !methods.contains(&text.to_uppercase().as_str()) => Err(config(format!(
            "Invalid overlap inclusion method {text}. The valid options are [{}].",
            methods.join(", ")
        ))),
        _ => Ok(()),
    }
}

fn target_bytes(options: &Map) -> Result<f64, SchemaError> {
    let Some(text) = options.get("target_sstable_size") else { return Ok(TARGET_BYTES) };
    let target = bytes(text).ok_or_else(|| {
        config(format!(
            "target_sstable_size {text} is not a valid size in bytes: {text} does not end in unit B"
        ))
    })?;
    if target < MEBIBYTE {
        return Err(config(format!(
            "target_sstable_size {text} is not acceptable, size must be at least 1.000MiB"
        )));
    }
    Ok(target)
}
