//! Options as Cassandra 1.2 to 3.x wrote them: read as what they are called now, so that old dumps load.

use crate::fault::Warning;
use crate::properties::{Properties, PropertyValue};
use std::collections::BTreeMap;

const DATE_TIERED: &str = "DateTieredCompactionStrategy";

/// The properties with old spellings replaced by those of Cassandra 5.
pub(super) fn modern(properties: &Properties) -> Properties {
    let mut modern = properties.clone();
    if let Ok(Some(text)) = properties.text("caching")
        && let Some(map) = caching(text)
    {
        modern.set("caching", PropertyValue::Map(map));
    }
    if let Ok(Some(map)) = properties.map("compression")
        && let Some(map) = compression(map)
    {
        modern.set("compression", PropertyValue::Map(map));
    }
    if let Ok(Some(map)) = properties.map("compaction")
        && is_date_tiered(map)
    {
        let class = ("class".to_string(), "TimeWindowCompactionStrategy".to_string());
        modern.set("compaction", PropertyValue::Map(BTreeMap::from([class])));
    }
    modern
}

/// What to tell of those whose meaning changes.
pub(super) fn warning(properties: &Properties) -> Option<Warning> {
    let map = properties.map("compaction").ok().flatten()?;
    is_date_tiered(map).then_some(Warning::DateTiered)
}

/// `'KEYS_ONLY'` of 2.0, or the map as JSON of 2.1.
fn caching(text: &str) -> Option<BTreeMap<String, String>> {
    let map = |keys: &str, rows: &str| {
        BTreeMap::from([("keys".to_string(), keys.to_string()), ("rows_per_partition".into(), rows.into())])
    };
    match text.to_ascii_uppercase().as_str() {
        "ALL" => Some(map("ALL", "ALL")),
        "KEYS_ONLY" => Some(map("ALL", "NONE")),
        "ROWS_ONLY" => Some(map("NONE", "ALL")),
        "NONE" => Some(map("NONE", "NONE")),
        _ => serde_json::from_str(text).ok(),
    }
}

/// `sstable_compression` and `chunk_length_kb`; an empty class was no compression.
fn compression(map: &BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
    let class = map.get("sstable_compression").filter(|_| !map.contains_key("class"))?;
    let mut modern = map.clone();
    modern.remove("sstable_compression");
    if class.is_empty() {
        return Some(BTreeMap::from([("enabled".to_string(), "false".to_string())]));
    }
    modern.insert("class".into(), class.clone());
    if let Some(length) = modern.remove("chunk_length_kb") {
        modern.insert("chunk_length_in_kb".into(), length);
    }
    // A table has an option of its own for this now.
    modern.remove("crc_check_chance");
    Some(modern)
}

fn is_date_tiered(map: &BTreeMap<String, String>) -> bool {
    map.get("class").is_some_and(|class| class.rsplit('.').next() == Some(DATE_TIERED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{CompactionFault, CompressionFault, PropertyFault};
    use crate::options::TableOptions;

    fn map(pairs: &[(&str, &str)]) -> PropertyValue {
        PropertyValue::Map(pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect())
    }

    fn options(name: &'static str, value: PropertyValue) -> TableOptions {
        TableOptions::default().with(&Properties::from_iter([(name, value)])).unwrap()
    }

    #[test]
    fn old_spellings_say_what_new_ones_say() {
        let keys_only = options("caching", map(&[("keys", "ALL"), ("rows_per_partition", "NONE")]));
        for text in ["KEYS_ONLY", "keys_only", "{\"keys\":\"ALL\", \"rows_per_partition\":\"NONE\"}"] {
            assert_eq!(options("caching", PropertyValue::Text(text.into())), keys_only);
        }
        let lz4 = options("compression", map(&[("class", "LZ4Compressor"), ("chunk_length_in_kb", "64")]));
        let old = map(&[("sstable_compression", "LZ4Compressor"), ("chunk_length_kb", "64")]);
        assert_eq!(options("compression", old), lz4);
        let none = options("compression", map(&[("enabled", "false")]));
        assert_eq!(options("compression", map(&[("sstable_compression", "")])), none);
        let windows = options("compaction", map(&[("class", "TimeWindowCompactionStrategy")]));
        let old = map(&[("class", DATE_TIERED), ("max_sstable_age_days", "365")]);
        assert_eq!(options("compaction", old), windows);
    }

    #[test]
    fn what_was_never_right_stays_wrong() {
        let refused =
            |name, value| TableOptions::default().with(&Properties::from_iter([(name, value)])).unwrap_err();
        let text = PropertyValue::Text("SOME".into());
        assert_eq!(refused("caching", text), PropertyFault::NotAMap { name: "caching".into() }.into());
        let length = map(&[("chunk_length_kb", "64")]);
        assert_eq!(refused("compression", length), CompressionFault::ClassMissing.into());
        let fault =
            CompactionFault::ClassUnknown { class: "org.apache.cassandra.db.compaction.NopeStrategy".into() };
        assert_eq!(refused("compaction", map(&[("class", "NopeStrategy")])), fault.into());
    }
}
