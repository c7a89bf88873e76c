//! The `compaction` map: Cassandra's strategies and their options are checked and kept; a store sees the few
//! numbers that it can act on.

mod strategy;

use crate::fault::CompactionFault;
use std::collections::BTreeMap;

const PACKAGE: &str = "org.apache.cassandra.db.compaction.";
/// Cassandra's `min_threshold` and `max_threshold` when a map does not say.
const THRESHOLDS: (i32, i32) = (4, 32);

/// What a store should do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CompactionPlan {
    /// From tiered (positive) to levelled (negative): the unified strategy's `W` parameter.
    Unified { scaling: i32 },
    /// Files of one time window are merged with each other only.
    TimeWindow { window_seconds: u64 },
    /// `'enabled': 'false'`.
    Off,
}

pub(super) fn plan(stored: &BTreeMap<String, String>) -> CompactionPlan {
    let number = |name: &str, default: i32| stored.get(name).and_then(|t| t.parse().ok()).unwrap_or(default);
    if stored.get("enabled").is_some_and(|text| text.eq_ignore_ascii_case("false")) {
        return CompactionPlan::Off;
    }
    match stored.get("class").and_then(|class| class.strip_prefix(PACKAGE)) {
        Some("LeveledCompactionStrategy") => {
            // A level holds `fanout` times the one before it: W = 2 - fanout.
            let fanout = number("fanout_size", 10).clamp(2, 1000);
            CompactionPlan::Unified { scaling: 2 - fanout }
        }
        Some("TimeWindowCompactionStrategy") => {
            let unit = stored.get("compaction_window_unit").map_or("DAYS", String::as_str);
            let size = u64::from(number("compaction_window_size", 1).max(1).unsigned_abs());
            CompactionPlan::TimeWindow {
                window_seconds: size * strategy::unit_seconds(unit).unwrap_or(86_400),
            }
        }
        Some("UnifiedCompactionStrategy") => {
            let text = stored.get("scaling_parameters").map_or("T4", String::as_str);
            let first = text.split(',').next().unwrap_or("T4");
            CompactionPlan::Unified { scaling: strategy::scaling(first.trim()).unwrap_or(2) }
        }
        // Size-tiered: as many files of a size as `min_threshold` are merged: W = threshold - 2.
        _ => CompactionPlan::Unified { scaling: number("min_threshold", THRESHOLDS.0).clamp(2, 1000) - 2 },
    }
}

/// The map with its class named in full; see [`check`] for the rest.
pub(super) fn read(asked: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, CompactionFault> {
    let class = asked.get("class").ok_or(CompactionFault::ClassMissing)?;
    let class = if class.contains('.') { class.clone() } else { format!("{PACKAGE}{class}") };
    let short = class.strip_prefix(PACKAGE).unwrap_or_default();
    if !strategy::NAMES.contains(&short) {
        return Err(CompactionFault::ClassUnknown { class: class.to_string() });
    }
    let mut stored = asked.clone();
    stored.insert("class".into(), class.clone());
    if let Some(value) = stored.get_mut("provide_overlapping_tombstones") {
        *value = value.to_uppercase();
        if !["NONE", "ROW", "CELL"].contains(&value.as_str()) {
            return Err(CompactionFault::OverlappingTombstones { value: value.to_string() });
        }
    }
    Ok(stored)
}

/// Checks the options of the strategy and fills in thresholds: the map as it is stored.
pub(super) fn check(stored: &mut BTreeMap<String, String>) -> Result<(), CompactionFault> {
    let class = stored.get("class").cloned().unwrap_or_default();
    let short = class.strip_prefix(PACKAGE).unwrap_or_default();
    strategy::check(short, stored)?;
    if short != "UnifiedCompactionStrategy" {
        thresholds(stored)?;
    }
    Ok(())
}

fn thresholds(stored: &mut BTreeMap<String, String>) -> Result<(), CompactionFault> {
    let mut read = |name: &str, default: i32| -> Result<i32, CompactionFault> {
        let text = stored.entry(name.to_string()).or_insert_with(|| default.to_string());
        text.parse()
            .map_err(|_| CompactionFault::Threshold { value: text.to_string(), name: name.to_string() })
    };
    let low = read("min_threshold", THRESHOLDS.0)?;
    let high = read("max_threshold", THRESHOLDS.1)?;
    if low <= 0 || high <= 0 {
        return Err(CompactionFault::ThresholdZero);
    }
    if low <= 1 {
        return Err(CompactionFault::ThresholdTooLow { low });
    }
    if low > high {
        return Err(CompactionFault::ThresholdsCross { low, high });
    }
    Ok(())
}
