//! The options of each compaction strategy, checked as Cassandra checks them.

use crate::fault::CompactionFault;
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

pub(super) fn check(strategy: &str, options: &Map) -> Result<(), CompactionFault> {
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
        return Err(CompactionFault::UnknownOptions { options: unknown, strategy: strategy.to_string() });
    }
    Ok(())
}

fn number<T: FromStr>(
    options: &Map,
    name: &'static str,
    kind: &'static str,
    default: T,
) -> Result<T, CompactionFault> {
    match options.get(name) {
        None => Ok(default),
        Some(text) => {
            text.parse().map_err(|_| CompactionFault::NotParsable { text: text.to_string(), kind, name })
        }
    }
}

fn is_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

fn shared(options: &Map) -> Result<(), CompactionFault> {
    let threshold: f64 = number(options, "tombstone_threshold", "int (base10)", 0.2)?;
    if threshold < 0.0 {
        return Err(CompactionFault::TombstoneThreshold { threshold });
    }
    let interval: i64 = number(options, "tombstone_compaction_interval", "int (base10)", 86_400)?;
    if interval < 0 {
        return Err(CompactionFault::TombstoneInterval { interval });
    }
    if let Some(text) = options.get("unchecked_tombstone_compaction").filter(|t| !is_boolean(t)) {
        return Err(CompactionFault::Unchecked { text: text.to_string() });
    }
    if let Some(text) = options.get("log_all").filter(|t| !is_boolean(t)) {
        return Err(CompactionFault::LogAll { text: text.to_string() });
    }
    if let Some(text) = options.get("enabled").filter(|t| !is_boolean(t)) {
        return Err(CompactionFault::Enabled { text: text.to_string() });
    }
    Ok(())
}

fn size_tiered(options: &Map) -> Result<(), CompactionFault> {
    let least: i64 = number(options, "min_sstable_size", "int (base10)", 50 << 20)?;
    if least < 0 {
        return Err(CompactionFault::LeastSizeNegative { size: least });
    }
    let low: f64 = number(options, "bucket_low", "float", 0.5)?;
    let high: f64 = number(options, "bucket_high", "float", 1.5)?;
    if high <= low {
        return Err(CompactionFault::BucketsCross { high, low });
    }
    Ok(())
}

fn leveled(options: &Map) -> Result<(), CompactionFault> {
    for (name, default) in [("sstable_size_in_mb", 160), ("fanout_size", 10)] {
        let value: i32 = number(options, name, "int (base10)", default)?;
        if value < 1 {
            return Err(CompactionFault::NotPositive { name, value });
        }
    }
    match options.get("single_sstable_uplevel") {
        Some(text) if !is_boolean(text) => {
            Err(CompactionFault::NotValid { text: text.to_string(), name: "single_sstable_uplevel" })
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

fn time_window(options: &Map) -> Result<(), CompactionFault> {
    let resolutions = ["MICROSECONDS", "MILLISECONDS", "NANOSECONDS", "SECONDS", "MINUTES", "HOURS", "DAYS"];
    if let Some(text) = options.get("timestamp_resolution").filter(|t| !resolutions.contains(&t.as_str())) {
        return Err(CompactionFault::NotValid { text: text.to_string(), name: "timestamp_resolution" });
    }
    if let Some(text) = options.get("compaction_window_unit").filter(|t| unit_seconds(t).is_none()) {
        return Err(CompactionFault::NotValid { text: text.to_string(), name: "compaction_window_unit" });
    }
    let size: i32 = number(options, "compaction_window_size", "int (base10)", 1)?;
    if size < 1 {
        return Err(CompactionFault::WindowSize { size });
    }
    let name = "expired_sstable_check_frequency_seconds";
    let seconds: i64 = number(options, name, "int (base10)", 600)?;
    if seconds < 0 {
        return Err(CompactionFault::Negative { name, value: seconds });
    }
    let name = "unsafe_aggressive_sstable_expiration";
    match options.get(name).map(|t| t.to_ascii_lowercase()) {
        Some(text) if text == "true" => Err(CompactionFault::AggressiveExpiration { name }),
        Some(text) if text != "false" => Err(CompactionFault::NotBoolean { name, text: text.to_string() }),
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

fn unified(options: &Map) -> Result<(), CompactionFault> {
    for part in options.get("scaling_parameters").map_or("T4", String::as_str).split(',').map(str::trim) {
        let Some(value) = scaling(part) else {
            return Err(CompactionFault::Scaling { text: part.to_string() });
        };
        if (part.starts_with('T') && value < 0) || (part.starts_with('L') && value > 0) {
            return Err(CompactionFault::FanFactor { text: part.to_string() });
        }
    }
    let shards: i32 = number(options, "base_shard_count", "int (base10)", 4)?;
    if shards <= 0 {
        return Err(CompactionFault::ShardCount { shards });
    }
    let target = target_bytes(options)?;
    let _: i64 = number(options, "expired_sstable_check_frequency_seconds", "long (base10)", 600)?;
    let _: i32 = number(options, "max_sstables_to_compact", "int (base10)", 0)?;
    if let Some(text) = options.get("sstable_growth") {
        let growth: f64 =
            text.parse().map_err(|_| CompactionFault::GrowthMalformed { text: text.to_string() })?;
        if !(0.0..=1.0).contains(&growth) {
            return Err(CompactionFault::GrowthOutOfBounds { text: text.to_string() });
        }
    }
    if let Some(text) = options.get("min_sstable_size") {
        let least =
            bytes(text).ok_or_else(|| CompactionFault::LeastSizeMalformed { text: text.to_string() })?;
        if least >= target * 0.7 {
            return Err(CompactionFault::LeastSizeAboveTarget { least, target });
        }
    }
    let methods = ["NONE", "SINGLE", "TRANSITIVE"];
    match options.get("overlap_inclusion_method") {
        Some(text) if !methods.contains(&text.to_uppercase().as_str()) => {
            Err(CompactionFault::OverlapMethod {
                text: text.to_string(),
                methods: methods.map(str::to_string).to_vec(),
            })
        }
        _ => Ok(()),
    }
}

fn target_bytes(options: &Map) -> Result<f64, CompactionFault> {
    let Some(text) = options.get("target_sstable_size") else { return Ok(TARGET_BYTES) };
    let target = bytes(text).ok_or_else(|| CompactionFault::TargetMalformed { text: text.to_string() })?;
    if target < MEBIBYTE {
        return Err(CompactionFault::TargetTooSmall { text: text.to_string() });
    }
    Ok(target)
}
