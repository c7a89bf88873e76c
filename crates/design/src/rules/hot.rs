//! `hot-key`: one legitimate value takes most of the traffic.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::{Access, Bucketing, Table};
use crate::facts::{Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::growth::PARTITION_WRITES_MAX;
use crate::units;
use crate::vocabulary::{Grain, any_word};

pub static RULE: Rule = Rule {
    id: "hot-key",
    title: "one legitimate value takes most of the traffic",
    why: "Many distinct keys do not help when one of them takes the traffic. The replicas of that one partition are the limit of the \
          whole table; only more partitions for the hot value (a bucket column) spread it.",
    bad: "CREATE TABLE posts (celebrity_id uuid, post_time timestamp, post_id uuid, body text,\n  PRIMARY KEY (celebrity_id, post_time, post_id));",
    good: "CREATE TABLE posts (celebrity_id uuid, bucket int, post_time timestamp, post_id uuid, body text,\n  PRIMARY KEY ((celebrity_id, bucket), post_time, post_id));",
    seen: "agarwal-nitesh/Jukebox counts what is trending under one key per media type: the popular type takes all \
           increments.",
    check,
};

/// Reads per second that one partition serves; reads are cheaper than writes and may be cached.
const PARTITION_READS_MAX: f64 = 5_000.0;
/// The number of buckets a hash bucket is assumed to have.
const BUCKETS_ASSUMED: f64 = 16.0;
/// A share of the traffic above which one key is a hotspot whatever the rate.
const SHARE_MAX: f64 = 0.2;
const FAMOUS: &[&str] =
    &["celebrity", "influencer", "hashtag", "trending", "viral", "livestream", "superstar"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        let found = context
            .catalogue
            .accesses_of(at)
            .filter_map(|access| declared(table, facts, access))
            .max_by_key(|(severity, _)| *severity)
            .or_else(|| named(table, facts));
        if let Some((severity, message)) = found {
            let span = partition_span(table);
            findings.push(on_table(&RULE, severity, table, span).say(message, String::new()));
        }
    }
}

fn declared(table: &Table, facts: &Facts, access: &Access) -> Option<(Severity, String)> {
    let numbers = &access.numbers;
    let limit = if access.is_read() { PARTITION_READS_MAX } else { PARTITION_WRITES_MAX };
    let by_server = table.bucketing.as_ref().filter(|plan| plan.hash.is_some()).map(Bucketing::fan_out);
    let spread = by_server.unwrap_or(if facts.hash_bucket { BUCKETS_ASSUMED } else { 1.0 });
    let kind = if access.is_read() { "reads" } else { "writes" };
    let even = numbers.partitions.filter(|n| *n >= 1.0).map(|n| 1.0 / n);
    let rate = match (numbers.partition_rate, numbers.peak_rate, numbers.hot_share.or(even)) {
        (Some(rate), _, _) => Some((
            rate,
            format!("its busiest {} takes {} {kind}/s", table.partition_text(), units::count(rate)),
        )),
        (None, Some(rate), Some(share)) => Some((
            rate * share,
            format!(
                "{:.0} % of {} {kind}/s are {} on one {}",
                share * 100.0,
                units::count(rate),
                units::count(rate * share),
                table.partition_text()
            ),
        )),
        _ => None,
    };
    if let Some((rate, text)) = rate {
        let hot = rate / spread > limit;
        return hot.then(|| {
            (
                Severity::Error,
                format!(
                    "{}: {text}, where one partition takes about {}/s",
                    access.title(),
                    units::count(limit)
                ),
            )
        });
    }
    let share = numbers.hot_share.filter(|share| *share >= SHARE_MAX && spread < 2.0)?;
    Some((
        Severity::Warning,
        format!(
            "one {} takes {:.0} % of the traffic of {}; declare peak_rate to settle whether that is more than {}/s",
            table.partition_text(),
            share * 100.0,
            access.title(),
            units::count(limit)
        ),
    ))
}

fn named(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let famous = table.partition_columns().find(|c| any_word(&c.words, FAMOUS));
    let by_table = any_word(&subject_words(table), FAMOUS) && !table.clustering.is_empty();
    let known = facts.numbers.hot_share.is_some()
        || facts.numbers.partition_rate.is_some()
        || facts.write_rate.is_some();
    if facts.hash_bucket || known || facts.is_reference || !(famous.is_some() || by_table) {
        return None;
    }
    // A bucket of time moves the traffic on, from day to day.
    let moves = facts.time_bucket.is_some_and(|grain| grain <= Grain::Day);
    Some((
        if moves { Severity::Advice } else { Severity::Warning },
        format!(
            "the traffic of {} is not even: the best known {} may take most of it on one partition; declare hot_share and peak_rate to settle it",
            table.name,
            table.partition_text()
        ),
    ))
}
