//! The numbers an access pattern declares: `WITH peak_rate = 2000 AND rows_per_partition = {'p99': 5000} AND ...`.
//!
//! Words that are not numbers are kept where a rule asks for them (owner, source of truth). Unknown properties are
//! nobody's error: teams may declare more than we read.

use cql_syntax::ast::{Literal, Property, PropertyValue};

/// Declared facts; absent where nothing was declared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Numbers {
    /// Operations per second over the whole table, at peak.
    pub peak_rate: Option<f64>,
    pub p99_ms: Option<f64>,
    /// Rows of one partition when it is full: the median, the 99th percentile, the largest.
    pub rows_p50: Option<f64>,
    pub rows_p99: Option<f64>,
    pub rows_max: Option<f64>,
    pub row_bytes: Option<f64>,
    /// Rows one partition key (without its buckets) gains per day.
    pub rows_per_day: Option<f64>,
    /// Operations per second on the busiest partition.
    pub partition_rate: Option<f64>,
    /// The share of the traffic that the busiest key takes, 0 to 1.
    pub hot_share: Option<f64>,
    /// How many distinct partition keys there are.
    pub partitions: Option<f64>,
    /// How many hash buckets a key is spread over.
    pub buckets: Option<f64>,
    /// Days that rows are kept; infinite for "forever".
    pub retention_days: Option<f64>,
    /// Days that one read looks back.
    pub lookback_days: Option<f64>,
    pub owner: Option<String>,
    pub freshness: Option<String>,
    /// Source of truth and rebuild path of a copy.
    pub source: Option<String>,
    /// `order = 'due_at ASC'`, for a pattern whose statement does not say it.
    pub order: Option<String>,
}

impl Numbers {
    pub fn read(properties: &[Property]) -> Numbers {
        let mut numbers = Numbers::default();
        numbers.change(properties);
        numbers
    }

    /// Takes over what is named; the rest stays.
    pub fn change(&mut self, properties: &[Property]) {
        for property in properties {
            self.take(&property.name.name, &property.value);
        }
    }

    fn take(&mut self, name: &str, value: &PropertyValue) {
        match name {
            "peak_rate" | "rate" | "frequency" | "qps" => self.peak_rate = quantity(value),
            "p99_ms" => self.p99_ms = quantity(value),
            "rows_per_partition" => self.take_rows(value),
            "rows_per_partition_p50" => self.rows_p50 = quantity(value),
            "rows_per_partition_p99" => self.rows_p99 = quantity(value),
            "rows_per_partition_max" => self.rows_max = quantity(value),
            "row_bytes" | "row_size" => self.row_bytes = quantity(value),
            "rows_per_day" | "rows_per_partition_per_day" | "rows_per_key_per_day" => {
                self.rows_per_day = quantity(value)
            }
            "partition_rate" | "rate_per_partition" | "peak_rate_per_partition" => {
                self.partition_rate = quantity(value)
            }
            "hot_share" | "skew" | "hottest_share" | "top_share" => {
                self.hot_share = quantity(value).map(share)
            }
            "partitions" | "keys" | "cardinality" => self.partitions = quantity(value),
            "buckets" | "hash_buckets" => self.buckets = quantity(value),
            "retention" => self.retention_days = length_days(value),
            "lookback" | "window" | "range" => self.lookback_days = length_days(value),
            "owner" => self.owner = value.text().map(str::to_string),
            "freshness" => self.freshness = value.text().map(str::to_string),
            "source" | "source_of_truth" | "rebuild" | "repair" => {
                self.source = value.text().map(str::to_string)
            }
            "order" | "result_order" => self.order = value.text().map(str::to_string),
            _ => {}
        }
    }

    fn take_rows(&mut self, value: &PropertyValue) {
        let Some(entries) = value.map() else {
            self.rows_max = quantity(value);
            return;
        };
        for (key, text) in entries {
            let number = parse_quantity(text);
            match key.to_ascii_lowercase().as_str() {
                "p50" | "median" | "avg" | "average" | "typical" => self.rows_p50 = number,
                "p99" | "p95" => self.rows_p99 = number,
                "max" | "worst" | "worst_case" => self.rows_max = number,
                _ => {}
            }
        }
    }

    /// What both say; where both speak, the larger number (the review is about the worst case).
    pub fn merge(&mut self, other: &Numbers) {
        let larger = |a: &mut Option<f64>, b: Option<f64>| {
            if let Some(b) = b {
                *a = Some(a.map_or(b, |a| a.max(b)));
            }
        };
        larger(&mut self.rows_p50, other.rows_p50);
        larger(&mut self.rows_p99, other.rows_p99);
        larger(&mut self.rows_max, other.rows_max);
        larger(&mut self.row_bytes, other.row_bytes);
        larger(&mut self.rows_per_day, other.rows_per_day);
        larger(&mut self.hot_share, other.hot_share);
        larger(&mut self.partitions, other.partitions);
        larger(&mut self.buckets, other.buckets);
        larger(&mut self.retention_days, other.retention_days);
        larger(&mut self.lookback_days, other.lookback_days);
        for (mine, theirs) in [
            (&mut self.owner, &other.owner),
            (&mut self.freshness, &other.freshness),
            (&mut self.source, &other.source),
        ] {
            if mine.is_none() {
                mine.clone_from(theirs);
            }
        }
    }

    /// The largest partition that was declared.
    pub fn rows_worst(&self) -> Option<f64> {
        self.rows_max.or(self.rows_p99).or(self.rows_p50)
    }
}

/// `40` (per cent) and `0.4` mean the same share.
fn share(value: f64) -> f64 {
    if value > 1.0 { (value / 100.0).min(1.0) } else { value.max(0.0) }
}

fn quantity(value: &PropertyValue) -> Option<f64> {
    match value {
        PropertyValue::Map(..) => value
            .map()?
            .filter_map(|(_, text)| parse_quantity(text))
            .fold(None, |a, b| Some(a.map_or(b, |a: f64| a.max(b)))),
        _ => parse_quantity(value.text()?),
    }
}

/// `2000`, `'2,000/s'`, `'50k'`, `'1.2 KB'`.
fn parse_quantity(text: &str) -> Option<f64> {
    let cleaned: String = text.trim().chars().filter(|c| *c != ',' && *c != '_').collect();
    let end = cleaned.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(cleaned.len());
    let number: f64 = cleaned.get(..end)?.parse().ok()?;
    let rest = cleaned.get(end..)?.trim_start().to_ascii_lowercase();
    let factor = match rest.as_bytes() {
        [b'k', ..] => 1e3,
        [b'm', b's', ..] | [b'm', b'i', b'n', ..] => 1.0,
        [b'm', ..] => 1e6,
        [b'g', ..] => 1e9,
        _ => 1.0,
    };
    let per = if rest.contains("/min") {
        1.0 / 60.0
    } else if rest.contains("/h") {
        1.0 / 3600.0
    } else {
        1.0
    };
    Some(number * factor * per).filter(|v| v.is_finite())
}

/// A length of time in days: a duration literal, `'7 years'`, `'90d'`, `'forever'`, a number of seconds.
fn length_days(value: &PropertyValue) -> Option<f64> {
    if let PropertyValue::Literal(Literal::Integer(seconds), _) = value {
        return seconds.parse::<f64>().ok().map(|s| s / 86_400.0);
    }
    parse_days(value.text()?)
}

pub fn parse_days(text: &str) -> Option<f64> {
    let text = text.trim();
    if matches!(
        text.to_ascii_lowercase().as_str(),
        "forever" | "unlimited" | "permanent" | "none" | "infinite"
    ) {
        return Some(f64::INFINITY);
    }
    if let Ok(parts) = cql_syntax::duration::parse(text) {
        let days =
            f64::from(parts.months) * 30.4375 + f64::from(parts.days) + parts.nanoseconds as f64 / 8.64e13;
        return Some(days).filter(|d| *d >= 0.0);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text.get(..end)?.parse().ok()?;
    let unit = text.get(end..)?.trim().to_ascii_lowercase();
    let days = match unit.trim_end_matches('s') {
        "y" | "year" | "yr" => 365.0,
        "mo" | "month" => 30.4375,
        "w" | "week" => 7.0,
        "d" | "day" => 1.0,
        "h" | "hour" | "hr" => 1.0 / 24.0,
        "m" | "min" | "minute" => 1.0 / 1440.0,
        "" | "second" | "sec" => 1.0 / 86_400.0,
        _ => return None,
    };
    Some(number * days).filter(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_and_lengths_read_as_people_write_them() {
        for (text, expected) in
            [("2000", 2000.0), ("2,000/s", 2000.0), ("50k", 50_000.0), ("1.2 KB", 1200.0), ("120/min", 2.0)]
        {
            let got = parse_quantity(text).unwrap_or(-1.0);
            assert!((got - expected).abs() < 1e-6, "{text}: {got}");
        }
        for (text, expected) in
            [("7 years", 2555.0), ("90d", 90.0), ("24h", 1.0), ("1w", 7.0), ("2 weeks", 14.0)]
        {
            let got = parse_days(text).unwrap_or(-1.0);
            assert!((got - expected).abs() < 1e-6, "{text}: {got}");
        }
        assert_eq!(parse_days("forever"), Some(f64::INFINITY));
        assert_eq!(parse_days("soon"), None);
    }
}
