//! `bucket-size`: buckets too coarse or too fine for the growth.

use super::{Context, Rule, key_span, on_table};
use crate::catalogue::{Bucketing, HashBuckets, Table, TimeBuckets, every};
use crate::facts::{Content, Facts, Owner};
use crate::finding::{Findings, Severity};
use crate::fix::Draft;
use crate::growth::{PARTITION_BYTES_MAX, PARTITION_WRITES_MAX};
use crate::units;
use crate::vocabulary::{Grain, Meaning, native};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "bucket-size",
    title: "buckets too fine or too coarse for the declared growth",
    why: "A bucket must hold less than 100 MB on its worst day, and enough rows that a usual read touches only a few buckets.",
    bad: "CREATE TABLE readings (sensor_id uuid, year int, ts timestamp, value double, PRIMARY KEY ((sensor_id, year), ts));\nCREATE ACCESS PATTERN write_reading AS INSERT INTO readings (sensor_id, year, ts, value) VALUES (?, ?, ?, ?)\n  WITH rows_per_day = 86400 AND row_bytes = 50;",
    good: "CREATE TABLE readings (sensor_id uuid, day date, ts timestamp, value double, PRIMARY KEY ((sensor_id, day), ts));",
    seen: "killrweather/killrweather keeps all hours of a station in one partition, and a station makes 24 rows a day: no \
           bucket is needed. andreneves7/ForestRisk cuts the readings of a map cell by the hour and lets them expire after \
           three days. The size decides, not the habit.",
    check,
};

/// Buckets smaller than this, many of which make one read, are too fine.
const SMALL_BUCKET_BYTES: f64 = 100e3;
const BUCKETS_PER_READ_MAX: f64 = 100.0;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        if let Some(plan) = &table.bucketing {
            served(table, facts, plan, findings);
            continue;
        }
        let Some(grain) = facts.time_bucket.filter(|_| !table.clustering.is_empty() && !facts.is_reference)
        else {
            continue;
        };
        let Some(column) = table.partition_columns().find(|c| c.meaning == Meaning::TimeBucket(grain)) else {
            continue;
        };
        if let Some(message) = comes_round(table) {
            let fix = yearly(table);
            findings.push(
                on_table(&RULE, Severity::Warning, table, key_span(table, &column.name)).say(message, fix),
            );
            continue;
        }
        if facts.has_weak_key && !facts.growth.is_declared {
            continue;
        }
        let found = coarse(table, facts, grain).or_else(|| fine(facts, grain));
        let Some((severity, message)) = found else { continue };
        let fix = rebucketed(table, &column.name, facts.growth.bucket_advice());
        findings.push(on_table(&RULE, severity, table, key_span(table, &column.name)).say(message, fix));
    }
}

/// Buckets that the server makes: too long for what a key gains, too short for what a read looks at, or too many.
fn served(table: &Table, facts: &Facts, plan: &Bucketing, findings: &mut Findings) {
    if table.clustering.is_empty() || facts.is_reference {
        return;
    }
    let advice = facts.growth.bucket_advice();
    let grain = plan.grain().unwrap_or(Grain::Unknown);
    let by_time = plan.time.as_ref();
    let found = by_time
        .and_then(|_| coarse(table, facts, grain))
        .or_else(|| by_time.and_then(|_| fine(facts, grain)));
    let (found, better) = match (found, too_many(facts, plan)) {
        (Some(found), _) => {
            let time =
                by_time.map(|time| TimeBuckets { every: every(advice).into(), spill: None, ..time.clone() });
            (found, Bucketing { time, ..plan.clone() })
        }
        (None, Some((into, found))) => {
            let hash = plan.hash.as_ref().map(|hash| HashBuckets { into, ..hash.clone() });
            (found, Bucketing { hash: hash.filter(|_| into >= 2), ..plan.clone() })
        }
        (None, None) => return,
    };
    let (severity, message) = found;
    let fix = if better.time.is_none() && better.hash.is_none() {
        Draft::of(table).without_bucketing()
    } else {
        Draft::of(table).with_bucketing(&better)
    };
    let fix = fix.named(&format!("{}_rebucketed", table.name)).print();
    findings.push(on_table(&RULE, severity, table, table.key_span).say(message, fix));
}

/// Hash buckets that hold next to nothing each, and are all read by every read.
fn too_many(facts: &Facts, plan: &Bucketing) -> Option<(u32, (Severity, String))> {
    let into = plan.hash.as_ref()?.into;
    let growth = &facts.growth;
    let bytes = growth.full_bytes(2);
    let rate = facts.write_rate.or(facts.numbers.partition_rate).unwrap_or(0.0);
    // Buckets are also there for writes: so many a second need them.
    let needed = (bytes * f64::from(into) / SMALL_BUCKET_BYTES).max(rate / PARTITION_WRITES_MAX).ceil();
    if !growth.is_declared || into < 8 || bytes >= SMALL_BUCKET_BYTES || needed * 2.0 > f64::from(into) {
        return None;
    }
    let better = (needed.max(1.0) as u32).next_power_of_two();
    let message = format!(
        "each of the {into} hash buckets holds at most {} ({} rows), and every read merges them all; {} would do",
        units::bytes(bytes),
        units::count(bytes / growth.row_bytes.max(1.0)),
        if better < 2 { "one partition".to_string() } else { format!("{better} buckets") },
    );
    Some((better, (Severity::Warning, message)))
}

/// Month and day as numbers, and no year: the bucket of today is that of this day last year.
fn comes_round(table: &Table) -> Option<String> {
    let number = |name: &str| {
        table.partition_columns().any(|c| {
            matches!(c.words.as_slice(), [one] if one == name)
                && matches!(
                    native(&c.data_type),
                    Some(NativeType::Int | NativeType::Smallint | NativeType::Tinyint)
                )
        })
    };
    let others = table.partition_columns().filter(|c| {
        matches!(c.meaning, Meaning::TimeBucket(_))
            && !matches!(c.words.as_slice(), [one] if one == "month" || one == "day" || one == "hour")
    });
    (number("month") && number("day") && others.count() == 0).then(|| {
        format!(
            "{} names a day without its year: rows of every year gather in the same partition, so nothing ends it; put the year or a date into the key",
            table.partition_text()
        )
    })
}

fn yearly(table: &Table) -> String {
    let mut partition: Vec<String> = table.partition_columns().map(|c| c.name.clone()).collect();
    let clustering = table
        .clustering
        .iter()
        .filter_map(|item| table.columns.get(item.column).map(|c| (c.name.clone(), item.descending)));
    partition.retain(|name| name != "year");
    Draft::of(table)
        .keyed(partition, clustering.collect())
        .named(&format!("{}_by_year", table.name))
        .partition_with("year", NativeType::Int)
        .print()
}

/// The table with another bucket in the place of this one.
fn rebucketed(table: &Table, column: &str, grain: Grain) -> String {
    let (name, native) = match grain {
        Grain::Hour | Grain::Minute => (grain.word(), NativeType::Timestamp),
        Grain::Day => ("day", NativeType::Date),
        _ => (grain.word(), NativeType::Text),
    };
    let others = table.partition_columns().map(|c| c.name.clone()).filter(|c| c != column).collect();
    let clustering = table
        .clustering
        .iter()
        .filter_map(|item| table.columns.get(item.column).map(|c| (c.name.clone(), item.descending)));
    let mut draft = Draft::of(table).keyed(others, clustering.collect());
    if column != name {
        draft = draft.without_column(column);
    }
    draft.named(&format!("{}_by_{}", table.name, grain.word())).partition_with(name, native).print()
}

fn coarse(table: &Table, facts: &Facts, grain: Grain) -> Option<(Severity, String)> {
    let growth = &facts.growth;
    let worst = growth.full_bytes(2);
    if worst <= PARTITION_BYTES_MAX {
        return None;
    }
    let rows = worst / growth.row_bytes.max(1.0);
    let arithmetic = format!(
        "one {} of one {} holds {} rows x {} = {}, past 100 MB after {}; a {} would hold it",
        grain.word(),
        table.partition_text(),
        units::count(rows),
        units::bytes(growth.row_bytes),
        units::bytes(worst),
        units::days(growth.breach_day().unwrap_or(0.0)),
        growth.bucket_advice().word(),
    );
    if growth.is_declared {
        let severe = worst > 1.5 * PARTITION_BYTES_MAX || growth.full_bytes(1) > PARTITION_BYTES_MAX;
        return Some((
            if severe { Severity::Error } else { Severity::Warning },
            format!("worst case: {arithmetic}"),
        ));
    }
    let is_long = grain == Grain::Year || grain == Grain::Quarter;
    let fast = facts.content == Content::Telemetry
        || facts.owner == Owner::Machine
        || (facts.owner == Owner::Group && is_long);
    // Twice the limit at a rate that is only assumed says nothing.
    let far = worst > 5.0 * PARTITION_BYTES_MAX;
    let guess = far
        && fast
        && !facts.hash_bucket
        && facts.is_history
        && grain >= Grain::Week
        && grain != Grain::Unknown;
    guess.then(|| {
        (
            Severity::Warning,
            format!(
                "at an assumed {} rows a day, {arithmetic}; declare rows_per_day to settle it",
                units::count(growth.rows_per_day[2])
            ),
        )
    })
}

fn fine(facts: &Facts, grain: Grain) -> Option<(Severity, String)> {
    let growth = &facts.growth;
    let days = grain.days()?;
    if growth.is_declared {
        let bytes = growth.full_bytes(2);
        let buckets = facts.numbers.lookback_days.filter(|d| d.is_finite()).map(|lookback| lookback / days);
        let many =
            buckets.is_some_and(|n| n > BUCKETS_PER_READ_MAX) || (buckets.is_none() && grain <= Grain::Hour);
        if bytes >= SMALL_BUCKET_BYTES || !many || growth.bucket_advice() <= grain {
            return None;
        }
        let read = buckets.map_or_else(
            || format!("a day of rows is {} partitions", units::count(1.0 / days)),
            |n| format!("one read of {} touches {} partitions", units::days(n * days), units::count(n)),
        );
        return Some((
            Severity::Warning,
            format!(
                "one {} holds at most {} ({} rows), so {read}; a {} would stay below 100 MB",
                grain.word(),
                units::bytes(bytes),
                units::count(bytes / growth.row_bytes.max(1.0)),
                growth.bucket_advice().word()
            ),
        ));
    }
    let slow = matches!(facts.owner, Owner::Person | Owner::LongUnit | Owner::Unit)
        && facts.content != Content::Telemetry;
    let severity = match grain {
        Grain::Minute if slow => Severity::Warning,
        Grain::Hour if slow => Severity::Advice,
        _ => return None,
    };
    Some((
        severity,
        format!(
            "a {} of one owner holds few rows: at an assumed {} rows a day that is {} per bucket, and a day is {} partitions; \
             declare rows_per_day to settle it",
            grain.word(),
            units::count(growth.rows_per_day[2]),
            units::count(growth.rows_per_day[2] * days),
            units::count(1.0 / days),
        ),
    ))
}
