//! The metrics page as OTLP: one source for both, so that a metric cannot be on one and not on the other.

use super::encode::{Message, envelope};
use std::collections::BTreeMap;

const CUMULATIVE: u64 = 2;

type Labels = Vec<(String, String)>;

/// One line of the page.
struct Sample<'t> {
    name: &'t str,
    labels: Labels,
    value: f64,
}

/// A request to `/v1/metrics`, from the text of the page.
pub fn encode(text: &str, start_nanos: u64, now_nanos: u64) -> Vec<u8> {
    let times = (start_nanos, now_nanos);
    envelope(|scope| {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' '))
            else {
                continue;
            };
            let kind = lines.next().and_then(|line| line.rsplit(' ').next()).unwrap_or_default();
            let mut samples = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
                samples.extend(sample(line));
            }
            if !samples.is_empty() {
                scope.message(2, |metric| one(metric, (name, help, kind), &samples, times));
            }
        }
    })
}

fn one(
    metric: &mut Message,
    (name, help, kind): (&str, &str, &str),
    samples: &[Sample<'_>],
    times: (u64, u64),
) {
    metric.bytes(1, name.as_bytes());
    metric.bytes(2, help.as_bytes());
    match kind {
        "histogram" => metric.message(9, |histogram| {
            points(name, samples)
                .into_values()
                .for_each(|point| histogram.message(1, |out| bars(out, &point, times)));
            histogram.number(2, CUMULATIVE);
        }),
        "counter" => metric.message(7, |sum| {
            samples.iter().for_each(|sample| sum.message(1, |point| number(point, sample, times)));
            sum.number(2, CUMULATIVE);
            sum.number(3, 1);
        }),
        _ => metric.message(5, |gauge| {
            samples.iter().for_each(|sample| gauge.message(1, |point| number(point, sample, times)));
        }),
    }
}

fn number(point: &mut Message, sample: &Sample<'_>, (start, now): (u64, u64)) {
    point.fixed(2, start);
    point.fixed(3, now);
    point.double(4, sample.value);
    sample.labels.iter().for_each(|(name, value)| point.attribute(7, name, value));
}

/// What the lines of one histogram say together.
#[derive(Default)]
struct Bars {
    labels: Labels,
    /// Upper bounds, and how many values are not above.
    buckets: Vec<(f64, u64)>,
    count: u64,
    sum: f64,
}

fn points(name: &str, samples: &[Sample<'_>]) -> BTreeMap<String, Bars> {
    let mut all: BTreeMap<String, Bars> = BTreeMap::new();
    for sample in samples {
        let labels: Labels = sample.labels.iter().filter(|(name, _)| name != "le").cloned().collect();
        let bars = all.entry(format!("{labels:?}")).or_default();
        match sample.name.strip_prefix(name) {
            Some("_bucket") => {
                let bound = sample.labels.iter().find(|(name, _)| name == "le").map(|(_, le)| le.as_str());
                if let Some(bound) = bound.and_then(|le| le.parse().ok()).filter(|le: &f64| le.is_finite()) {
                    bars.buckets.push((bound, sample.value as u64));
                }
            }
            Some("_sum") => bars.sum = sample.value,
            Some("_count") => bars.count = sample.value as u64,
            _ => {}
        }
        bars.labels = labels;
    }
    all
}

fn bars(out: &mut Message, bars: &Bars, (start, now): (u64, u64)) {
    out.fixed(2, start);
    out.fixed(3, now);
    out.fixed(4, bars.count);
    out.double(5, bars.sum);
    let mut below = 0;
    let mut counts: Vec<u64> = Vec::with_capacity(bars.buckets.len() + 1);
    for (_, so_far) in &bars.buckets {
        counts.push(so_far.saturating_sub(below));
        below = *so_far;
    }
    counts.push(bars.count.saturating_sub(below));
    out.packed(6, counts.into_iter());
    out.packed(7, bars.buckets.iter().map(|(bound, _)| bound.to_bits()));
    bars.labels.iter().for_each(|(name, value)| out.attribute(9, name, value));
}

fn sample(line: &str) -> Option<Sample<'_>> {
    let (series, value) = line.rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let Some((name, rest)) = series.split_once('{') else {
        return Some(Sample { name: series, labels: Vec::new(), value });
    };
    Some(Sample { name, labels: labels(rest.strip_suffix('}')?), value })
}

/// `a="x",b="y"`, with `\"`, `\\` and `\n` inside.
fn labels(text: &str) -> Labels {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((name, tail)) = rest.split_once("=\"") {
        let mut value = String::new();
        let mut characters = tail.char_indices();
        let mut end = tail.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, other)) => value.push(other),
                    None => {}
                },
                other => value.push(other),
            }
        }
        all.push((name.trim_start_matches(',').to_string(), value));
        rest = tail.get(end..).unwrap_or_default();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_page_are_read_back() {
        let read = sample(r#"a_total{x="1",y="say \"so\", \\ or\nnot"} 7"#).unwrap();
        assert_eq!((read.name, read.value), ("a_total", 7.0));
        let expected =
            [("x", "1"), ("y", "say \"so\", \\ or\nnot")].map(|(n, v)| (n.to_string(), v.to_string()));
        assert_eq!(read.labels, expected);
        assert_eq!(sample("plain 1.5").unwrap().value, 1.5);
        assert!(sample("nothing").is_none());
    }

    #[test]
    fn buckets_are_counted_apart() {
        let text = [
            "h_bucket{le=\"1\"} 2",
            "h_bucket{le=\"5\"} 3",
            "h_bucket{le=\"+Inf\"} 7",
            "h_sum 40",
            "h_count 7",
        ];
        let samples: Vec<Sample<'_>> = text.iter().filter_map(|line| sample(line)).collect();
        let all = points("h", &samples);
        let bars = all.values().next().unwrap();
        assert_eq!(
            (bars.buckets.as_slice(), bars.count, bars.sum),
            ([(1.0, 2), (5.0, 3)].as_slice(), 7, 40.0)
        );
    }
}
