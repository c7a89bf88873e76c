//! `unbounded-partition`: rows of one partition grow without end, or past the limit within the retention.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::{Column, Table};
use crate::facts::{Content, Facts, Owner};
use crate::finding::{Findings, Severity};
use crate::growth::PARTITION_BYTES_MAX;
use crate::people::USERS;
use crate::units;
use crate::vocabulary::{Meaning, any_word, native};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "unbounded-partition",
    title: "rows of one partition grow without end, or past 100 MB within the declared retention",
    why: "A partition lives whole on each of its replicas. Past about 100 MB reads, repairs and compactions of it slow down, and \
          nothing but a new key splits it. A time bucket in the partition key closes each partition after a while.",
    bad: "CREATE TABLE sensor_readings (sensor_id uuid, recorded_at timestamp, value double,\n  PRIMARY KEY (sensor_id, recorded_at));",
    good: "CREATE TABLE sensor_readings (sensor_id uuid, day date, recorded_at timestamp, value double,\n  PRIMARY KEY ((sensor_id, day), recorded_at)) WITH CLUSTERING ORDER BY (recorded_at DESC);",
    seen: "XRPLF/clio keeps every transaction of an account in one partition of account_tx; its issue 29 names partitions \
           that became very large, and proposes a part of the ledger number in the key. BrooksNguyen/intern-vnpt-ai \
           repaired its chat table by a month in the key.",
    check,
};

/// A breach at an assumed rate that is so far away is no error, or not even a warning.
const NEAR_DAYS: f64 = 2.0 * 365.0;
const FAR_DAYS: f64 = 8.0 * 365.0;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        let skip = table.clustering.is_empty()
            || facts.time_bucket.is_some()
            || facts.is_reference
            || table.partition_columns().any(|c| table.is_run(c))
            || table.has_time_buckets();
        if skip {
            continue;
        }
        let found = if facts.growth.is_declared {
            declared(table, facts)
        } else if (facts.is_population || counted_whole(facts)) && !table.has_hash_buckets() {
            let by_words = if facts.has_weak_key { None } else { guessed(table, facts) };
            // What comes as time goes by may be worse than what is there.
            by_words
                .filter(|(severity, _)| *severity >= Severity::Warning)
                .or_else(|| population(table, facts))
        } else if facts.has_weak_key {
            None
        } else {
            let by_use = appended(table, facts).or_else(|| looked_up(table, facts));
            let by_words = guessed(table, facts);
            // The words may know more: a rate, or that it is certain.
            match (by_words, by_use) {
                (Some(words), Some(used)) if words.0 < used.0 => Some(used),
                (words, used) => words.or(used),
            }
        };
        if let Some((severity, message)) = found {
            let span = partition_span(table);
            findings.push(on_table(&RULE, severity, table, span).say(message, String::new()));
        }
    }
}

fn declared(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let growth = &facts.growth;
    if facts.has_weak_key {
        return None;
    }
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

/// What is only added under the key of a group, and counted by reading all of it.
fn counted_whole(facts: &Facts) -> bool {
    let usage = &facts.usage;
    !facts.is_history
        && facts.owner == Owner::Group
        && usage.sums_whole
        && usage.inserts > 0
        && !(usage.edits_rows || usage.drops_rows || usage.drops_partitions)
}

/// The users of a realm, the objects of a container: not more with time, but as many as the tenant has.
fn population(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let growth = &facts.growth;
    let rows = PARTITION_BYTES_MAX / growth.row_bytes.max(1.0);
    let finer = match facts.usage.known_by_reads.as_slice() {
        [] => String::new(),
        known => format!("; every read here also knows {}, which could be in the key", known.join(", ")),
    };
    let message = format!(
        "everything that one {} has lies in one partition, on one set of replicas: at {} per row {} rows fill its 100 MB{finer}; \
         declare rows_per_partition of the largest to settle it",
        table.partition_text(),
        units::bytes(growth.row_bytes),
        units::count(rows),
    );
    // Read page by page it may well be a list; read whole, or always for one of them, the key is too coarse.
    // Nothing says how it is read, but people are many.
    let crowd = facts.usage.reads == 0
        && table.clustering_columns().chain(table.regular_columns()).any(|c| any_word(&c.words, USERS));
    let coarse = facts.usage.reads_whole || crowd || !facts.usage.known_by_reads.is_empty();
    Some((if coarse { Severity::Warning } else { Severity::Advice }, message))
}

/// A log by what statements do, under an owner that no word explains: doubtful, and a number settles it.
fn appended(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let known_to_be_slow = match facts.owner {
        Owner::Unit | Owner::Person => true,
        Owner::LongUnit | Owner::Unknown | Owner::Group | Owner::Machine => false,
    };
    let ends = facts.growth.closes_after_days.is_finite() || facts.hash_bucket;
    let has_instant_key = facts.key(table).any(|c| c.meaning == Meaning::Time);
    // The events of one entity are read whole to know its state: somebody keeps them few.
    let of_entity = facts.key(table).any(|c| any_word(&c.words, ENTITY));
    if !facts.usage.appends || of_entity || known_to_be_slow || ends || has_instant_key {
        return None;
    }
    let row_bytes = facts.growth.row_bytes;
    let finer = match facts.usage.known_by_reads.as_slice() {
        [] => String::new(),
        known => format!("; every read here also knows {}, which could be in the key", known.join(", ")),
    };
    let message = format!(
        "rows of one {} are only ever added, and nothing here ends them: {} of them, at {} each, are 100 MB{finer}; declare rows_per_day and \
         retention, or rows_per_partition, to settle it",
        table.partition_text(),
        units::count(PARTITION_BYTES_MAX / row_bytes.max(1.0)),
        units::bytes(row_bytes),
    );
    Some((Severity::Warning, message))
}

/// Rows that are only added, and that every read asks for by their whole key: what comes before it parts nothing that anybody
/// reads together, and keeps it all in one place.
fn looked_up(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let usage = &facts.usage;
    let removed = usage.drops_partitions
        || usage.drops_rows
        || usage.drops_ranges
        || usage.edits_rows
        || usage.updates > 0;
    let all_known = table.clustering_columns().all(|c| usage.known_by_reads.contains(&c.name));
    let by_id = table.clustering_columns().any(|c| {
        matches!(c.meaning, Meaning::Identity | Meaning::Other)
            && !matches!(native(&c.data_type), Some(NativeType::Int | NativeType::Smallint))
    });
    let unknown = facts.owner == Owner::Unknown && !facts.growth.closes_after_days.is_finite();
    if !unknown || removed || usage.inserts == 0 || !all_known || !by_id || facts.hash_bucket {
        return None;
    }
    population(table, facts)
}

fn guessed(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    // An instant in the partition key makes partitions of one row: another flaw.
    if !facts.is_history || table.partition_columns().any(|c| c.meaning == Meaning::Time) {
        return None;
    }
    let severity = severity(table, facts)?;
    let growth = &facts.growth;
    let per_day = growth.rows_per_day[2] * growth.row_bytes;
    let days = PARTITION_BYTES_MAX / per_day.max(1e-9);
    let kept = growth.closes_after_days;
    let severity = severity.min(if days > FAR_DAYS {
        Severity::Advice
    } else if days > NEAR_DAYS {
        Severity::Warning
    } else {
        Severity::Error
    });
    let rate = format!(
        "at an assumed {} rows a day x {} it grows {} a day",
        units::count(growth.rows_per_day[2]),
        units::bytes(growth.row_bytes),
        units::bytes(per_day),
    );
    let key = table.partition_text();
    if kept.is_finite() {
        let held = per_day * kept;
        let message = format!(
            "one {key} holds the rows of {} (their TTL): {rate}, {} at any time, past 100 MB; declare rows_per_day to settle it",
            units::days(kept),
            units::bytes(held),
        );
        return (held > PARTITION_BYTES_MAX).then_some((severity.min(Severity::Warning), message));
    }
    if facts.usage.always_expires {
        let message = format!(
            "rows of one {key} expire by a TTL that the statements bind: {rate}, so a TTL above {} passes 100 MB",
            units::days(days)
        );
        return Some((Severity::Advice, message));
    }
    let settle = match facts.numbers.retention_days {
        Some(_) => "declare rows_per_partition or rows_per_day to settle it",
        None => "declare rows_per_partition, or rows_per_day and retention, to settle it",
    };
    // Years away at a rate that is only assumed, the day says nothing.
    let passes = if days > FAR_DAYS {
        String::new()
    } else {
        format!(" and passes 100 MB after {}", units::days(days))
    };
    let message = format!("nothing ends the partition of one {key}: {rate}{passes}; {settle}");
    Some((severity, message))
}

/// What event sourcing calls the thing whose events it keeps.
const ENTITY: &[&str] = &["aggregate", "entity", "actor", "originator", "persistence", "stream", "sequence"];

/// Names that say nothing of what they hold.
const OPAQUE: &[&str] = &["key", "row", "rowkey", "pk", "k", "hash", "blob", "partition", "id", "rowid"];

/// How sure names and statements make it.
fn severity(table: &Table, facts: &Facts) -> Option<Severity> {
    let mut weight = facts.growth_weight(table);
    let has_time = table.clustering_columns().any(Column::is_chronological);
    if !has_time && facts.content != Content::Things {
        // Without time in the key old rows cannot be cut off as one range either.
        weight += 2;
    }
    let numbered = !has_time && table.clustering_columns().any(|c| c.meaning == Meaning::Sequence);
    if numbered && facts.content == Content::Things {
        // Versions or a log of something: doubtful unless what owns them is a thing that ends.
        let appended = facts.usage.inserts > 0 && !facts.usage.drops_rows && !facts.usage.drops_ranges;
        weight = if appended && facts.owner != Owner::Unit { 3 } else { 1 };
    }
    // An owner nobody knows is a doubt, whatever else is known.
    if facts.owner == Owner::Unknown {
        weight = weight.min(3);
    }
    // Lists whose things are removed again hold what is there now.
    let usage = &facts.usage;
    if facts.content != Content::Telemetry
        && (usage.drops_rows || usage.drops_ranges || usage.drops_partitions)
    {
        weight -= if facts.content == Content::Things { 3 } else { 0 };
    }
    // The events of one entity, and what a bucket already cuts: worth a word.
    let product = numbered && table.clustering_columns().any(|c| c.meaning == Meaning::Identity);
    let of_entity = !has_time
        && facts.content != Content::Telemetry
        && !product
        && facts.key(table).any(|c| any_word(&c.words, ENTITY));
    // A key called `key` may hold anything, a bucket too.
    let is_opaque = facts.key(table).all(|c| c.words.iter().all(|word| OPAQUE.contains(&word.as_str())));
    if facts.hash_bucket || of_entity || is_opaque {
        weight = weight.min(2);
    }
    let is_unit_log = facts.owner == Owner::Unit && facts.content != Content::Things && has_time;
    match weight {
        4.. => Some(Severity::Error),
        3 => Some(Severity::Warning),
        1..=2 => Some(Severity::Advice),
        _ if is_unit_log && table.default_ttl_days.is_none() => Some(Severity::Advice),
        _ => None,
    }
}
