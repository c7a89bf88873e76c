//! The `bucketing` clause of a table: buckets that the server makes and walks, so that statements need not name them.
//!
//! docs/bucketing.md says what it means; here is only what the review needs. DESCRIBE writes the same plan as an
//! extension, with the bucket columns in the key.

use crate::vocabulary::Grain;
use cql_syntax::ast::PropertyValue;

/// Under this name DESCRIBE puts the plan among the extensions of a table.
const EXTENSION: &str = "partita.bucketing";

/// How the rows of what statements call one key are parted.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucketing {
    pub time: Option<TimeBuckets>,
    pub hash: Option<HashBuckets>,
    /// The name of the bucket column, where it is not `bucket`.
    pub column: Option<String>,
}

/// A bucket for every stretch of time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeBuckets {
    pub by: String,
    /// As it is written: `1d`, `month`.
    pub every: String,
    pub days: f64,
    /// How one that has grown too large goes on.
    pub spill: Option<Spill>,
}

/// Finer buckets for the keys that need them.
#[derive(Debug, Clone, PartialEq)]
pub struct Spill {
    /// As it is written.
    pub every: String,
    pub days: f64,
    /// From which size on, as it is written.
    pub at: Option<String>,
}

impl TimeBuckets {
    /// How many days of a key that outgrows its buckets one partition has.
    pub fn finest_days(&self) -> f64 {
        self.spill.as_ref().map_or(self.days, |spill| spill.days.min(self.days))
    }
}

/// So many buckets, by the hash of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct HashBuckets {
    pub by: String,
    pub into: u32,
}

impl Bucketing {
    /// From the map of the clause; none where it says nothing that makes sense (the server will say what is wrong).
    pub fn of_property(value: &PropertyValue) -> Option<Bucketing> {
        Bucketing::of_pairs(value.map()?.map(|(key, value)| (key.to_string(), value.to_string())))
    }

    /// From the extensions of a table that was described.
    pub fn of_extensions(value: &PropertyValue) -> Option<Bucketing> {
        let (_, plan) = value.map()?.find(|(key, _)| *key == EXTENSION)?;
        let pairs = plan.split(';').filter_map(|part| part.split_once('='));
        Bucketing::of_pairs(pairs.map(|(key, value)| (key.trim().to_string(), value.trim().to_string())))
    }

    fn of_pairs(pairs: impl Iterator<Item = (String, String)>) -> Option<Bucketing> {
        let (mut by, mut every, mut hash, mut into, mut column) = (None, None, None, None, None);
        let (mut spill, mut at) = (None, None);
        for (key, value) in pairs {
            match key.as_str() {
                "by" => by = Some(value),
                "every" => every = Some(value),
                "hash" => hash = Some(value),
                "into" => into = value.parse::<u32>().ok(),
                "column" => column = Some(value),
                "spill" => spill = days(&value).map(|days| (value, days)),
                "at" => at = Some(value),
                _ => {}
            }
        }
        let time = every.zip(by.clone()).and_then(|(every, by)| {
            let days = days(&every)?;
            let spill = spill.map(|(every, days)| Spill { every, days, at });
            Some(TimeBuckets { by, every, days, spill })
        });
        let hashed = if time.is_some() { hash } else { by };
        let hash = hashed.zip(into.filter(|n| *n >= 2)).map(|(by, into)| HashBuckets { by, into });
        (time.is_some() || hash.is_some()).then_some(Bucketing { time, hash, column })
    }

    /// The bucket columns, in the order in which they end the partition key; true for those that hold a time.
    pub fn columns(&self) -> Vec<(String, bool)> {
        let first = self.column.clone().unwrap_or_else(|| "bucket".into());
        match (&self.time, &self.hash) {
            (Some(_), Some(_)) => vec![(first.clone(), true), (format!("{first}_hash"), false)],
            (Some(_), None) => vec![(first, true)],
            _ => vec![(first, false)],
        }
    }

    /// The grain that is nearest to the length of a bucket.
    pub fn grain(&self) -> Option<Grain> {
        let days = self.time.as_ref()?.days;
        let far = |grain: &Grain| (grain.days().unwrap_or(1.0) / days).ln().abs();
        Grain::KNOWN.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))
    }

    /// Partitions that each time bucket has, or the key where there are no time buckets.
    pub fn fan_out(&self) -> f64 {
        self.hash.as_ref().map_or(1.0, |hash| f64::from(hash.into))
    }

    /// The clause as it is written, without `bucketing =`.
    pub fn text(&self) -> String {
        let entries = self.entries();
        let entries = entries.iter().map(|(key, value)| match value.parse::<u32>() {
            Ok(number) if key == "into" => format!("'{key}': {number}"),
            _ => format!("'{key}': {}", cql_syntax::quote::string(value)),
        });
        format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
    }

    /// Keys and values of the clause.
    pub fn entries(&self) -> Vec<(String, String)> {
        let mut out: Vec<(&str, String)> = Vec::new();
        if let Some(time) = &self.time {
            out.extend([("by", time.by.clone()), ("every", time.every.clone())]);
            let spill = time.spill.iter();
            let spill =
                spill.flat_map(|spill| [("spill", Some(spill.every.clone())), ("at", spill.at.clone())]);
            out.extend(spill.filter_map(|(key, value)| Some((key, value?))));
        }
        if let Some(hash) = &self.hash {
            let key = if self.time.is_some() { "hash" } else { "by" };
            out.extend([(key, hash.by.clone()), ("into", hash.into.to_string())]);
        }
        out.extend(self.column.iter().map(|column| ("column", column.clone())));
        out.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }
}

/// What `every` says for a grain.
pub fn every(grain: Grain) -> &'static str {
    match grain {
        Grain::Minute => "1m",
        Grain::Hour => "1h",
        Grain::Day | Grain::Unknown => "1d",
        Grain::Week => "1w",
        Grain::Month => "1mo",
        Grain::Quarter => "3mo",
        Grain::Year => "1y",
    }
}

/// The length that `every` says, in days.
fn days(every: &str) -> Option<f64> {
    let text = every.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = if number.is_empty() { 1.0 } else { number.parse().ok()? };
    let unit = match unit.trim() {
        "m" | "min" | "minute" | "minutes" => 1.0 / 1_440.0,
        "h" | "hour" | "hours" => 1.0 / 24.0,
        "d" | "day" | "days" => 1.0,
        "w" | "week" | "weeks" => 7.0,
        "mo" | "month" | "months" => 30.4,
        "y" | "year" | "years" => 365.0,
        _ => return None,
    };
    Some(number * unit).filter(|days| *days > 0.0 && days.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_the_server_reads_them() {
        for (text, expected) in
            [("1d", 1.0), ("month", 30.4), ("6h", 0.25), ("2w", 14.0), ("1y", 365.0), ("15m", 15.0 / 1440.0)]
        {
            assert!((days(text).unwrap_or(-1.0) - expected).abs() < 1e-9, "{text}");
        }
        assert_eq!((days("soon"), days("0d"), days("")), (None, None, None));
    }

    #[test]
    fn an_extension_says_the_same_as_the_clause() {
        let pairs = |text: &str| {
            let pairs = text.split("; ").filter_map(|p| p.split_once('='));
            Bucketing::of_pairs(pairs.map(|(k, v)| (k.to_string(), v.to_string())))
        };
        let plan = pairs("by=at; every=1d; hash=id; into=16").expect("a plan");
        assert_eq!(plan.text(), "{'by': 'at', 'every': '1d', 'hash': 'id', 'into': 16}");
        assert_eq!(plan.columns(), [("bucket".to_string(), true), ("bucket_hash".to_string(), false)]);
        assert_eq!((plan.grain(), plan.fan_out()), (Some(Grain::Day), 16.0));
        let plan = pairs("by=at; every=1mo; spill=1d; at=50000000").expect("a plan");
        assert_eq!(plan.text(), "{'by': 'at', 'every': '1mo', 'spill': '1d', 'at': '50000000'}");
        assert_eq!(plan.time.map(|time| time.finest_days()), Some(1.0));
        assert_eq!(
            pairs("by=id; into=8").map(|plan| plan.text()).as_deref(),
            Some("{'by': 'id', 'into': 8}")
        );
        assert_eq!(pairs("by=id"), None);
    }
}
