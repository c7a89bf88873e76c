//! The `partition_limit` map, ours: how large a partition of the table may become, and what happens then.

use crate::fault::LimitFault;
use std::collections::BTreeMap;

/// What a store should do. `u64::MAX` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitPlan {
    pub bytes: u64,
    pub rows: u64,
    /// From here on writers are warned.
    pub warn_bytes: u64,
    pub warn_rows: u64,
    /// Whether writes that add to a full partition are refused.
    pub refuse: bool,
    /// Whether a time bucket at its limit goes on in finer ones.
    pub spill: bool,
}

const NAMES: [&str; 4] = ["action", "bytes", "rows", "warn"];
/// The map as it is stored; an empty one takes the limit away.
pub(super) fn normalise(asked: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, LimitFault> {
    let stored: BTreeMap<String, String> =
        asked.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string())).collect();
    if stored.is_empty() {
        return Ok(stored);
    }
    if let Some(name) = stored.keys().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(LimitFault::UnknownSetting { name: name.to_string() });
    }
    if !stored.contains_key("bytes") && !stored.contains_key("rows") {
        return Err(LimitFault::NoLimit);
    }
    if let Some(text) = stored.get("bytes")
        && bytes(text).is_none_or(|bytes| bytes == 0)
    {
        return Err(LimitFault::Bytes { text: text.to_string() });
    }
    if let Some(text) = stored.get("rows")
        && text.parse::<u64>().map_or(true, |rows| rows == 0)
    {
        return Err(LimitFault::Rows { text: text.to_string() });
    }
    if let Some(text) = stored.get("warn")
        && !share(text).is_some_and(|share| share > 0.0 && share <= 1.0)
    {
        return Err(LimitFault::Warn { text: text.to_string() });
    }
    match stored.get("action").map(String::as_str) {
        None | Some("warn" | "refuse" | "spill") => Ok(stored),
        Some(other) => Err(LimitFault::Action { text: other.to_string() }),
    }
}

pub(super) fn plan(stored: &BTreeMap<String, String>) -> Option<LimitPlan> {
    if stored.is_empty() {
        return None;
    }
    let bytes = stored.get("bytes").and_then(|text| bytes(text)).unwrap_or(u64::MAX);
    let rows = stored.get("rows").and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let share = stored.get("warn").and_then(|text| share(text)).unwrap_or(0.8);
    let part = |limit: u64| if limit == u64::MAX { limit } else { ((limit as f64 * share) as u64).max(1) };
    let acts = |wanted: &str| stored.get("action").is_some_and(|action| action == wanted);
    let (refuse, spill) = (acts("refuse"), acts("spill"));
    Some(LimitPlan { bytes, rows, warn_bytes: part(bytes), warn_rows: part(rows), refuse, spill })
}

fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|share: &f64| share.is_finite())
}

/// `100MB`, `64 KiB`, `1GB` or a plain number of bytes.
pub fn bytes(text: &str) -> Option<u64> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return None,
    };
    match number.parse::<u64>() {
        Ok(number) => number.checked_mul(factor),
        Err(_) => {
            let product = number.parse::<f64>().ok()? * factor as f64;
            (product.is_finite() && product < 1e18).then_some(product as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn limits_are_read_and_wrong_ones_told() {
        let stored = normalise(&map(&[("bytes", "1.5MB"), ("action", "refuse")])).unwrap();
        let expected = LimitPlan {
            bytes: 1_500_000,
            rows: u64::MAX,
            warn_bytes: 1_200_000,
            warn_rows: u64::MAX,
            refuse: true,
            spill: false,
        };
        assert_eq!(plan(&stored), Some(expected));
        let stored = normalise(&map(&[("rows", "10"), ("warn", "0.5")])).unwrap();
        let found = plan(&stored).unwrap();
        assert_eq!((found.rows, found.warn_rows, found.bytes, found.refuse), (10, 5, u64::MAX, false));
        let stored = normalise(&map(&[("rows", "10"), ("action", "spill")])).unwrap();
        assert!(plan(&stored).is_some_and(|found| found.spill && !found.refuse));
        assert_eq!(plan(&normalise(&map(&[])).unwrap()), None);
        let text = |text: &str| text.to_string();
        for (wrong, fault) in [
            (&[("size", "1")][..], LimitFault::UnknownSetting { name: text("size") }),
            (&[("warn", "0.5")], LimitFault::NoLimit),
            (&[("bytes", "many")], LimitFault::Bytes { text: text("many") }),
            (&[("bytes", "0")], LimitFault::Bytes { text: text("0") }),
            (&[("bytes", "1XB")], LimitFault::Bytes { text: text("1XB") }),
            (&[("rows", "-1")], LimitFault::Rows { text: text("-1") }),
            (&[("rows", "1"), ("warn", "1.5")], LimitFault::Warn { text: text("1.5") }),
            (&[("rows", "1"), ("warn", "NaN")], LimitFault::Warn { text: text("NaN") }),
            (&[("rows", "1"), ("action", "shout")], LimitFault::Action { text: text("shout") }),
        ] {
            assert_eq!(normalise(&map(wrong)), Err(fault));
        }
    }
}
