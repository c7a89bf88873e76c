//! `time-only-key`: all of today's writes go to one partition.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::Table;
use crate::facts::{Content, Facts, holds_numbers, subject_words};
use crate::finding::{Findings, Severity};
use crate::growth::{PARTITION_BYTES_MAX, PARTITION_WRITES_MAX};
use crate::lexicon::{MACHINE, PERSON};
use crate::people::{ABOUT, RARE};
use crate::units;
use crate::vocabulary::{Grain, Meaning, any_word};

pub static RULE: Rule = Rule {
    id: "time-only-key",
    title: "the partition key is only time: all of today's writes on one partition",
    why: "Time moves in one direction, so at any moment one value of the key takes every write. The cluster works one \
          replica set at a time. A raw instant as key is worse for reads: no range of it can be asked for.",
    bad: "CREATE TABLE events_by_day (day date, event_time timestamp, event_id uuid, payload text,\n  PRIMARY KEY (day, event_time, event_id));",
    good: "CREATE TABLE events_by_day (day date, bucket int, event_time timestamp, event_id uuid, payload text,\n  PRIMARY KEY ((day, bucket), event_time, event_id));",
    seen: "BranislavLazic/akka-cqrs-activator keys issues by the day of their last change; Andevc/log-simulator keeps all \
           log lines of an hour in one partition. CineTrack puts the genre beside the month, which spreads the writes over \
           some dozens of partitions.",
    check,
};

/// Writes per second below which one partition for everything is no problem.
const QUIET_RATE: f64 = 100.0;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        let is_time = |m: Meaning| matches!(m, Meaning::Time | Meaning::TimeBucket(_));
        let has_time = facts.key(table).any(|c| is_time(c.meaning));
        if !has_time || !facts.has_weak_key || facts.is_reference {
            continue;
        }
        // A day that is always the same is no day.
        if findings.has("constant-key", &table.name, Severity::Error) {
            continue;
        }
        // From when to when is a stretch of time, not an instant.
        let named = |name: &str| facts.key(table).any(|c| c.words.iter().any(|word| word == name));
        if named("start") && named("end") {
            continue;
        }
        let instant = facts.key(table).find(|c| c.meaning == Meaning::Time);
        if instant.is_none() && (table.clustering.is_empty() || is_rollup(table)) {
            continue;
        }
        let Some(severity) = severity(table, facts, instant.is_some()) else { continue };
        let what = match (instant, facts.write_rate) {
            (Some(column), _) => format!(
                "{} is an instant: each is a partition of its own, rows of now hash anywhere, and no range of time can be read",
                column.name
            ),
            (None, Some(rate)) => format!(
                "all {} writes/s of {} go to the partition of the current {}, where one partition takes about {}/s",
                units::count(rate),
                table.name,
                facts.time_bucket.unwrap_or(Grain::Unknown).word(),
                units::count(PARTITION_WRITES_MAX)
            ),
            (None, None) => format!(
                "every write of {} goes to the one partition of the current {}, on one replica set at a time; declare peak_rate \
                 on the writing pattern to settle whether it is below {}/s",
                table.name,
                facts.time_bucket.unwrap_or(Grain::Unknown).word(),
                units::count(QUIET_RATE)
            ),
        };
        findings.push(on_table(&RULE, severity, table, partition_span(table)).say(what, String::new()));
    }
}

fn severity(table: &Table, facts: &Facts, is_instant: bool) -> Option<Severity> {
    let happens = facts.content != Content::Things;
    if is_instant {
        return Some(if happens || !table.clustering.is_empty() {
            Severity::Error
        } else {
            Severity::Warning
        });
    }
    if let Some(rate) = facts.write_rate {
        let days = facts.time_bucket.and_then(Grain::days).unwrap_or(1.0);
        let bytes = facts.numbers.rows_worst().unwrap_or(rate * 86_400.0 * days) * facts.growth.row_bytes;
        if rate > PARTITION_WRITES_MAX || bytes > PARTITION_BYTES_MAX {
            return Some(Severity::Error);
        }
        return (rate > QUIET_RATE).then_some(Severity::Warning);
    }
    if facts.growth.is_declared && facts.growth.full_bytes(2) <= PARTITION_BYTES_MAX {
        return None;
    }
    let rows_come = happens || table.clustering_columns().any(crate::catalogue::Column::is_chronological);
    if !rows_come && facts.time_bucket == Some(Grain::Year) {
        // A year that things are listed under is not the year in which they are written.
        return Some(Severity::Advice);
    }
    // Some dozens of tags or countries beside the time spread its writes.
    let known = facts.time_bucket.filter(|grain| *grain != Grain::Unknown);
    let coarse = known.is_some_and(|grain| grain >= Grain::Day);
    let spread = facts.key(table).any(|c| matches!(c.meaning, Meaning::Few(n) if n >= 20));
    if spread {
        // They do not spread the events of a year, and those of a day only just.
        let years = known.is_some_and(|grain| grain >= Grain::Quarter);
        let dated = table.clustering_columns().any(crate::catalogue::Column::is_chronological);
        return Some(match (years && dated, happens && dated && coarse) {
            (true, true) => Severity::Error,
            (true, false) => Severity::Warning,
            _ => Severity::Advice,
        });
    }
    let head = subject_words(table).last().cloned();
    if any_word(&subject_words(table), RARE) || any_word(head.as_slice(), ABOUT) {
        return Some(Severity::Advice);
    }
    let summed = table.is_counter() && table.clustering_columns().any(|c| c.meaning.is_bucket());
    // All hosts of an hour, each with what it measures.
    let machines = facts.content == Content::Telemetry
        && table.clustering_columns().any(|c| any_word(&c.words, MACHINE));
    let hourly = known == Some(Grain::Hour) && machines;
    Some(if (coarse && (rows_come || summed)) || hourly { Severity::Error } else { Severity::Warning })
}

/// One row per day and thing, written by a job: not where everybody writes.
fn is_rollup(table: &Table) -> bool {
    let words = [
        "daily",
        "weekly",
        "monthly",
        "rollup",
        "summary",
        "aggregate",
        "stat",
        "total",
        "report",
        "top",
        "kpi",
        "hourly",
        "popularity",
        "ranking",
        "trend",
        "count",
    ];
    let has_time = table.clustering_columns().any(crate::catalogue::Column::is_chronological);
    let named = any_word(&subject_words(table), &words);
    // Nothing but numbers of a thing and a day is a sum, too.
    let lists_people =
        table.clustering_columns().any(|c| c.meaning == Meaning::Identity && any_word(&c.words, PERSON));
    !has_time && ((named && !table.is_counter()) || (holds_numbers(table) && !lists_people))
}
