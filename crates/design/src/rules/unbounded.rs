//! `unbounded-partition`: rows of one partition grow without end, or past the limit within the retention.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::{Column, Table};
use crate::facts::{Content, Facts, Owner};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::growth::PARTITION_BYTES_MAX;
use crate::units;
use crate::vocabulary::{Grain, Meaning};

pub static RULE: Rule = Rule {
    id: "unbounded-partition",
    title: "rows of one partition grow without end, or past 100 MB within the declared retention",
    why: "A partition lives whole on each of its replicas. Past about 100 MB reads, repairs and compactions of it slow down, and \
          nothing but a new key splits it. A time bucket in the partition key closes each partition after a while.",
    bad: "CREATE TABLE sensor_readings (sensor_id uuid, recorded_at timestamp, value double,\n  PRIMARY KEY (sensor_id, recorded_at));",
    good: "CREATE TABLE sensor_readings (sensor_id uuid, day date, recorded_at timestamp, value double,\n  PRIMARY KEY ((sensor_id, day), recorded_at)) WITH CLUSTERING ORDER BY (recorded_at DESC);",
    check,
};

/// A breach at an assumed rate that is so far away is no error, or not even a warning.
const NEAR_DAYS: f64 = 2.0 * 365.0;
const FAR_DAYS: f64 = 8.0 * 365.0;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        let skip = table.clustering.is_empty()
            || facts.time_bucket.is_some()
            || facts.has_weak_key
            || facts.is_reference
            || table.is_bucketed_by_server
            || findings.has("constant-key", &table.name, Severity::Warning);
        if skip {
            continue;
        }
        let found = if facts.growth.is_declared { declared(table, facts) } else { guessed(table, facts) };
        if let Some((severity, message)) = found {
            let draft = fix::with_time_bucket(table, bucket(facts));
            findings
                .push(on_table(&RULE, severity, table, partition_span(table)).say(message, draft.print()));
        }
    }
}

fn bucket(facts: &Facts) -> Grain {
    let growth = &facts.growth;
    // Declared rows without a rate say nothing about time; a month is the usual first try.
    if growth.rows_per_day[2] <= 0.0 { Grain::Month } else { growth.bucket_advice() }
}

fn declared(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let growth = &facts.growth;
    let day = growth.breach_day()?;
    let row = units::bytes(growth.row_bytes);
    let key = table.partition_text();
    let message = match growth.rows_bound {
        Some(rows) => format!(
            "one {key} reaches {} rows x {row} = {}, past the 100 MB of a healthy partition{}",
            units::count(rows[2]),
            units::bytes(rows[2] * growth.row_bytes),
            if day > 0.0 { format!(" after {}", units::days(day)) } else { String::new() },
        ),
        None => format!(
            "one {key} gains {} rows x {row} = {} a day and passes 100 MB after {}; {}",
            units::count(growth.rows_per_day[2]),
            units::bytes(growth.rows_per_day[2] * growth.row_bytes),
            units::days(day),
            ends(growth.closes_after_days),
        ),
    };
    Some((Severity::Error, message))
}

fn ends(days: f64) -> String {
    if days.is_finite() { format!("rows are kept {}", units::days(days)) } else { "nothing ends it".into() }
}

fn guessed(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    // An instant in the partition key makes partitions of one row: another flaw.
    if !facts.is_history || table.partition_columns().any(|c| c.meaning == Meaning::Time) {
        return None;
    }
    let mut weight = facts.growth_weight(table);
    let has_time = table.clustering_columns().any(Column::is_chronological);
    if !has_time && facts.content != Content::Things {
        // Without time in the key old rows cannot be cut off as one range either.
        weight += 2;
    }
    // An owner nobody knows is a doubt, whatever else is known.
    if facts.owner == Owner::Unknown {
        weight = weight.min(3);
    }
    let is_unit_log = facts.owner == Owner::Unit && facts.content != Content::Things && has_time;
    let severity = match weight {
        4.. => Severity::Error,
        3 => Severity::Warning,
        1..=2 => Severity::Advice,
        _ if is_unit_log && table.default_ttl_days.is_none() => Severity::Advice,
        _ => return None,
    };
    let growth = &facts.growth;
    let per_day = growth.rows_per_day[2] * growth.row_bytes;
    let days = PARTITION_BYTES_MAX / per_day.max(1e-9);
    let severity = severity.min(if days > FAR_DAYS {
        Severity::Advice
    } else if days > NEAR_DAYS {
        Severity::Warning
    } else {
        Severity::Error
    });
    let settle = match facts.numbers.retention_days {
        Some(_) => "declare rows_per_partition or rows_per_day to settle it",
        None => "declare rows_per_partition, or rows_per_day and retention, to settle it",
    };
    let message = format!(
        "nothing ends the partition of one {}: at an assumed {} rows a day x {} it grows {} a day and passes 100 MB after {}; {settle}",
        table.partition_text(),
        units::count(growth.rows_per_day[2]),
        units::bytes(growth.row_bytes),
        units::bytes(per_day),
        units::days(days),
    );
    Some((severity, message))
}
