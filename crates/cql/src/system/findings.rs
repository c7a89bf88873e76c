//! Findings at run time: the review's questions, asked about observed traffic instead of declared numbers.
//!
//! Each rule looks at numbers that are counted anyway and says one sentence, what to do, and how sure it is. The caller remembers
//! since when a finding holds; nothing is remembered here.

use super::cells::*;
use super::heat::{Place, key_share, load_of, per_second, place};
use super::judge::{Evidence, Status, judge};
use super::node::Live;
use super::patterns::strangers;
use super::rows::Filler;
use crate::ddl::bind_fault;
use design::Severity;
use model::temporal::{millis_to_date_days, parse_date};
use observe::{HotKey, Slot};
use std::sync::Arc;

/// A table with fewer operations per second is not busy enough to judge.
const BUSY_PER_SECOND: f64 = 100.0;
/// A partition with this share of a busy table is hot.
const SHARE_MAX: f64 = 0.25;
/// Reads that meet more dead entries than this share of what they look at.
const TOMBSTONE_SHARE_MAX: f64 = 0.5;
const TOMBSTONES_PER_SECOND_MIN: f64 = 100.0;
/// Conditions that fail more often than this share of writes.
const REFUSED_SHARE_MAX: f64 = 0.2;
const REFUSED_PER_SECOND_MIN: f64 = 10.0;
/// An index with so many writes and no read in a day is not used.
const UNREAD_WRITES_MIN: u64 = 1000;
/// A view or projection that nobody has read for so long is not needed.
const UNREAD_DAYS_MIN: i64 = 30;
const DAY_MICROS: i64 = 24 * 3_600 * 1_000_000;
/// Tombstones that are held for so many days want to be looked at.
const HELD_DAYS_MAX: u32 = 3;
/// Calls of an unbounded statement before it is worth telling.
const UNBOUNDED_CALLS_MIN: u64 = 20;

/// Something that is wrong now.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    pub keyspace: String,
    pub table: String,
    /// What it is about: a key, a pattern, a statement.
    pub subject: String,
    pub message: String,
    pub fix: String,
    /// How sure it is: what it was seen of.
    pub confidence: String,
}

/// A finding and since when it holds.
#[derive(Clone, Debug)]
pub struct Standing {
    pub finding: Finding,
    pub since_millis: i64,
}

/// What findings are made from.
pub struct Seen<'e> {
    pub evidence: Evidence<'e>,
    pub minute: &'e Slot,
    pub day: &'e Slot,
}

/// All that is wrong now, the worst first.
pub fn findings(seen: &Seen<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    hot_partitions(seen, &mut found);
    patterns(seen, &mut found);
    tombstones(seen, &mut found);
    large_partitions(seen, &mut found);
    contention(seen, &mut found);
    unread_indexes(seen, &mut found);
    unread_projections(seen, &mut found);
    unbounded(seen, &mut found);
    held_tombstones(seen, &mut found);
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

fn about(place: &Place<'_>, rule: &'static str, severity: Severity) -> Finding {
    Finding {
        rule,
        severity,
        keyspace: place.keyspace.to_string(),
        table: place.name.to_string(),
        subject: String::new(),
        message: String::new(),
        fix: String::new(),
        confidence: String::new(),
    }
}

fn percent(share: f64) -> f64 {
    (share * 100.0).round()
}

/// Advice about a partition that takes too much of a busy table; the key and its share with it.
pub(super) fn hot_partition<'k>(
    place: &Place<'_>,
    hottest: Option<&'k HotKey>,
    slot: &Slot,
) -> Option<(&'k HotKey, f64, &'static str)> {
    let hottest = hottest?;
    let load = load_of(slot, hottest.table);
    let share = key_share(hottest.load.operations(), &load);
    if share < SHARE_MAX || per_second(load.operations(), slot) < BUSY_PER_SECOND || place.types.is_empty() {
        return None;
    }
    let advice = if hottest.load.writes > hottest.load.reads {
        "spread its rows over a bucket column in the partition key"
    } else {
        "keep a copy of what is read so often in the application, or spread it over several keys"
    };
    Some((hottest, share, advice))
}

fn hot_partitions(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for (id, load) in &seen.minute.tables {
        let Some(place) = place(seen.evidence.catalogue, *id) else { continue };
        let of_table = seen.minute.keys.iter().filter(|key| key.table == *id);
        let hottest = of_table.max_by_key(|key| key.load.operations());
        let Some((key, share, advice)) = hot_partition(&place, hottest, seen.minute) else { continue };
        let (name, percent) = (place.key_text(&key.key), percent(share));
        let rate = per_second(key.load.operations(), seen.minute).round();
        found.push(Finding {
            message: format!(
                "no number of machines will help: partition {name} takes {percent} % of the operations on {}.{} ({rate} per second)",
                place.keyspace, place.name
            ),
            subject: name,
            fix: advice.into(),
            confidence: format!(
                "counted: {} of {} operations in the last {} s, at most {} more",
                key.load.operations(),
                load.operations(),
                seen.minute.millis / 1000,
                key.missed
            ),
            ..about(&place, "hot-partition", Severity::Error)
        });
    }
}

fn patterns(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    let catalogue = seen.evidence.catalogue;
    for judged in judge(&seen.evidence) {
        let finding = |rule, severity| Finding {
            rule,
            severity,
            keyspace: judged.keyspace.to_string(),
            table: judged.table.as_deref().unwrap_or_default().to_string(),
            subject: judged.name.to_string(),
            message: String::new(),
            fix: String::new(),
            confidence: format!("counted over {} calls", judged.calls),
        };
        let breached = judged.numbers.iter().filter(|number| number.status == Status::Breached);
        let breached: Vec<String> = breached.map(|number| number.text()).collect();
        if !breached.is_empty() {
            found.push(Finding {
                message: format!(
                    "access pattern {}.{} exceeds what it declares: {}",
                    judged.keyspace,
                    judged.name,
                    breached.join("; ")
                ),
                fix: "find out what has changed, or declare the new number with ALTER ACCESS PATTERN and let `partita review` judge it"
                    .into(),
                ..finding("pattern-breached", Severity::Error)
            });
        }
        let pattern = catalogue.keyspace(&judged.keyspace).and_then(|k| k.patterns.get(&*judged.name));
        let fault = pattern.and_then(|pattern| bind_fault(catalogue, &judged.keyspace, &pattern.statement));
        if let Some(fault) = fault {
            found.push(Finding {
                message: format!(
                    "access pattern {}.{} is not served by the schema: {fault}",
                    judged.keyspace, judged.name
                ),
                fix: "change the table, or drop the pattern".into(),
                confidence: "certain".into(),
                ..finding("pattern-not-served", Severity::Error)
            });
        }
    }
}

fn tombstones(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for (id, load) in &seen.minute.tables {
        let share = load.tombstones as f64 / (load.tombstones + load.rows).max(1) as f64;
        let rate = per_second(load.tombstones, seen.minute);
        if share < TOMBSTONE_SHARE_MAX || rate < TOMBSTONES_PER_SECOND_MIN {
            continue;
        }
        let Some(place) = place(seen.evidence.catalogue, *id) else { continue };
        found.push(Finding {
            message: format!(
                "reads of {}.{} meet {} dead entries per second, {} % of what they look at",
                place.keyspace,
                place.name,
                rate.round(),
                percent(share)
            ),
            fix: "read from the newest row with a LIMIT, delete whole partitions instead of rows, or put a time bucket into the \
                  partition key"
                .into(),
            confidence: format!("counted in the last {} s", seen.minute.millis / 1000),
            ..about(&place, "tombstone-pressure", Severity::Warning)
        });
    }
}

fn large_partitions(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for (id, size) in seen.evidence.sizes {
        let limit =
            seen.evidence.catalogue.table_by_id(*id).and_then(|table| table.options.partition_limit());
        // Compaction and reads of it hold up others.
        let bytes_max = limit.map_or(seen.evidence.partition_bytes, |limit| limit.bytes);
        let Some(large) = size.largest.first().filter(|large| large.bytes_min > bytes_max) else { continue };
        let Some(place) = place(seen.evidence.catalogue, *id) else { continue };
        let name = place.key_text(&large.key);
        found.push(Finding {
            message: format!(
                "partition {name} of {}.{} holds {} MB in {} rows; its limit is {} MB",
                place.keyspace,
                place.name,
                large.bytes_min / 1_000_000,
                large.rows,
                bytes_max as f64 / 1e6
            ),
            subject: name,
            fix: "put a time or hash bucket into the partition key and copy the rows over".into(),
            confidence: format!(
                "between {} and {} bytes by the files' statistics",
                large.bytes_min, large.bytes_max
            ),
            ..about(&place, "large-partition", Severity::Error)
        });
    }
}

fn contention(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for (id, load) in &seen.minute.tables {
        let share = load.refused as f64 / (load.refused + load.writes).max(1) as f64;
        let rate = per_second(load.refused, seen.minute);
        if share < REFUSED_SHARE_MAX || rate < REFUSED_PER_SECOND_MIN {
            continue;
        }
        let Some(place) = place(seen.evidence.catalogue, *id) else { continue };
        found.push(Finding {
            message: format!(
                "{} % of the conditional writes to {}.{} fail, {} per second",
                percent(share),
                place.keyspace,
                place.name,
                rate.round()
            ),
            fix: "several writers want the same rows: give each its own, queue them, or look for a command that is sent twice"
                .into(),
            confidence: format!("counted in the last {} s", seen.minute.millis / 1000),
            ..about(&place, "condition-failures", Severity::Warning)
        });
    }
}

fn unread_indexes(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for (id, load) in &seen.day.tables {
        if load.reads > 0 || load.writes < UNREAD_WRITES_MIN {
            continue;
        }
        let Some(place) = place(seen.evidence.catalogue, *id) else { continue };
        // Indexes have no partition key of their own; those of the DynamoDB API are named by what they are.
        if !place.types.is_empty() || place.name.contains("stream/") {
            continue;
        }
        found.push(Finding {
            subject: place.name.to_string(),
            message: format!(
                "index {}.{} was written {} times and never read",
                place.keyspace, place.name, load.writes
            ),
            fix: "drop it, if nobody needs it: every write pays for it".into(),
            confidence: format!("counted over {} minutes", seen.day.millis / 60_000),
            ..about(&place, "unread-index", Severity::Advice)
        });
    }
}

fn unread_projections(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    let Some(usages) = seen.evidence.usages else { return };
    for table in seen.evidence.catalogue.tables().filter(|table| table.view.is_some()) {
        let Some(usage) = usages.of(table.id) else { continue };
        let since = usage.last_read_micros.unwrap_or(usage.since_micros);
        let days = seen.evidence.now_micros.saturating_sub(since) / DAY_MICROS;
        if days < UNREAD_DAYS_MIN {
            continue;
        }
        let name = format!("{}.{}", table.keyspace, table.name);
        found.push(Finding {
            rule: "unread-projection",
            severity: Severity::Advice,
            keyspace: table.keyspace.to_string(),
            table: table.name.to_string(),
            subject: table.name.to_string(),
            message: format!(
                "nobody has read {name} for {days} days; {} writes of {} bytes were made to it since it is counted",
                usage.writes, usage.written_bytes
            ),
            fix: "drop it, if nobody needs it: every write to its table pays for it".into(),
            confidence: "counted, also over restarts; checks do not count as reads".into(),
        });
    }
}

fn unbounded(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    for stranger in strangers(seen.evidence.catalogue, seen.evidence.traffic.to_vec()) {
        let Some(shape) = &stranger.shape else { continue };
        if stranger.class.bound() != "unbounded"
            || stranger.calls < UNBOUNDED_CALLS_MIN
            || stranger.rate <= 0.0
        {
            continue;
        }
        found.push(Finding {
            rule: "unbounded-statement",
            severity: Severity::Warning,
            keyspace: shape.keyspace.to_string(),
            table: shape.table.to_string(),
            subject: stranger.statement.clone(),
            message: format!(
                "{} reads {} partitions per call, {} times so far: it grows with the table",
                stranger.statement,
                stranger.work.partitions / stranger.calls.max(1),
                stranger.calls
            ),
            fix: "name the partition key, or make a table or view that has what is asked for in its partition key".into(),
            confidence: format!("counted over {} calls", stranger.calls),
        });
    }
}

/// A migration takes hours or days. One that was forgotten lets tables grow for ever.
fn held_tombstones(seen: &Seen<'_>, found: &mut Vec<Finding>) {
    let today = millis_to_date_days(seen.evidence.now_micros / 1000);
    for table in seen.evidence.catalogue.tables() {
        let since = parse_date(&table.options.hold_tombstones).unwrap_or(today);
        let days = today.saturating_sub(since);
        if days < HELD_DAYS_MAX {
            continue;
        }
        found.push(Finding {
            rule: "tombstones-held",
            severity: Severity::Warning,
            keyspace: table.keyspace.to_string(),
            table: table.name.to_string(),
            subject: String::new(),
            message: format!(
                "{}.{} keeps every tombstone since {}, {days} days ago, for a migration: reads and files of it grow",
                table.keyspace, table.name, table.options.hold_tombstones
            ),
            fix: format!(
                "finish the migration (partita migrate finish); if there is none any more: ALTER TABLE {}.{} WITH hold_tombstones = ''",
                table.keyspace, table.name
            ),
            confidence: "certain".into(),
        });
    }
}

/// What is wrong now, since when, and what to do.
pub(super) fn rows(filler: &mut Filler<'_>, live: Option<Arc<dyn Live>>) {
    for Standing { finding, since_millis } in live.map(|live| live.findings()).unwrap_or_default() {
        filler.row(&[
            ("keyspace_name", text(&finding.keyspace)),
            ("table_name", text(&finding.table)),
            ("rule", text(finding.rule)),
            ("subject", text(&finding.subject)),
            ("confidence", text(&finding.confidence)),
            ("finding", text(&finding.message)),
            ("fix", text(&finding.fix)),
            ("severity", text(finding.severity.name())),
            ("since", timestamp(since_millis)),
        ]);
    }
}
