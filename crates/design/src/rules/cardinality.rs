//! `low-cardinality-key`: a few values of the partition key carry the whole table.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::{Column, Table};
use crate::facts::{Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::growth::PARTITION_BYTES_MAX;
use crate::lexicon::{PERSON, POPULATION, REGISTRY};
use crate::units;
use crate::vocabulary::{Meaning, any_word, native};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "low-cardinality-key",
    title: "few values of the partition key carry the whole table",
    why: "A key with k values makes k partitions, on any number of nodes. Each holds 1/k of the table and of its traffic, \
          and cannot be split without a new key.",
    bad: "CREATE TABLE tickets_by_status (status text, created_at timestamp, ticket_id uuid, title text,\n  PRIMARY KEY (status, created_at, ticket_id));",
    good: "CREATE TABLE tickets_by_team_status (team_id uuid, status text, created_at timestamp, ticket_id uuid, title text,\n  PRIMARY KEY ((team_id, status), created_at, ticket_id));",
    seen: "An early schema of FS2017GeospatialDB/GeospatialDB keyed all points of a map by a boolean (movable). The project \
           replaced it by tables keyed by a cell of the map. CaliOpen/Caliopen keys identities by their type, of which \
           there are two, though every read knows the user.",
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        if facts.is_reference || table.clustering.is_empty() || table.has_hash_buckets() {
            continue;
        }
        if let Some(message) = by_tag(table, facts) {
            findings.push(
                on_table(&RULE, Severity::Warning, table, partition_span(table)).say(message, String::new()),
            );
            continue;
        }
        let mut values: u64 = 1;
        let mut all_few = facts.key(table).count() > 0;
        let mut is_country = false;
        for column in facts.key(table) {
            let chosen = facts.usage.choices.iter().find(|(name, _)| *name == column.name);
            match column.meaning {
                // Every statement gives one of these.
                _ if chosen.is_some() => {
                    values = values.saturating_mul(chosen.map_or(1, |(_, n)| *n as u64));
                }
                Meaning::Few(n) => values = values.saturating_mul(u64::from(n)),
                // A number of shards that does not grow with the rows.
                Meaning::HashBucket if is_shard_only(table, facts) => {
                    values = values.saturating_mul(SHARDS_ASSUMED)
                }
                // Its type has no more values than that.
                Meaning::Other
                    if native(&column.data_type) == Some(NativeType::Smallint) && holds_ids(table) =>
                {
                    values = values.saturating_mul(SMALLINTS)
                }
                _ => all_few = false,
            }
            is_country |= any_word(&column.words, &["country", "continent", "language", "lang"]);
        }
        // A table whose rows are few as well (status by country) is small whatever its key.
        let rows_are_few =
            table.clustering_columns().all(|c| matches!(c.meaning, Meaning::Few(_) | Meaning::TimeBucket(_)));
        if !all_few || rows_are_few {
            continue;
        }
        // Few things of a few kinds are a registry: roles by scope, channels by type.
        let is_registry =
            any_word(subject_words(table).last().map(std::slice::from_ref).unwrap_or(&[]), REGISTRY)
                && !facts.is_history
                && !table
                    .clustering_columns()
                    .any(|c| c.meaning == Meaning::Identity || any_word(&c.words, POPULATION));
        if is_registry && !facts.growth.is_declared {
            continue;
        }
        let key = table.partition_text();
        let growth = &facts.growth;
        let (severity, ending) = if growth.is_declared {
            let bytes = growth.full_bytes(2);
            if bytes <= PARTITION_BYTES_MAX {
                continue;
            }
            (
                Severity::Error,
                format!("the largest reaches {} of the 100 MB it may have", units::bytes(bytes)),
            )
        } else {
            // Dozens of values are doubtful for things, and certain for what is added as time goes by.
            let most = if facts.is_history { 50 } else { 20 };
            let certain = (values <= most || is_country) && !is_shard_only(table, facts);
            let per_value = 1e6 / values as f64 * growth.row_bytes;
            let text = format!(
                "a million rows of {} put {} on each; declare rows_per_partition to settle it",
                units::bytes(growth.row_bytes),
                units::bytes(per_value)
            );
            (if certain { Severity::Error } else { Severity::Warning }, text)
        };
        let message = format!(
            "{key} has few values (about {} is assumed), so all of {} lives in {} partitions on any number of nodes: {ending}",
            units::count(values as f64),
            table.name,
            units::count(values as f64),
        );
        findings.push(on_table(&RULE, severity, table, partition_span(table)).say(message, String::new()));
    }
}

/// What has a tag, listed under its name and value: many tags have two values, and each holds half of everything.
fn by_tag(table: &Table, facts: &Facts) -> Option<String> {
    const TAG: &[&str] = &["tag", "label", "attribute", "annotation", "property", "param"];
    let part = |ends: &[&str]| {
        facts
            .key(table)
            .any(|c| any_word(&c.words, TAG) && c.words.last().is_some_and(|w| ends.contains(&w.as_str())))
    };
    let is_tag = part(&["key", "name"]) && part(&["value", "val"]);
    let bounded = facts.key(table).any(|c| c.meaning.is_bucket())
        || facts.key(table).any(|c| any_word(&c.words, PERSON))
        || table.default_ttl_days.is_some_and(|days| days <= 1.0)
        || facts.growth.is_declared;
    // Ids of what comes as time goes by, not of the users who have the attribute.
    let listed = table
        .clustering_columns()
        .any(|c| c.is_chronological() || native(&c.data_type) == Some(NativeType::Bigint));
    (is_tag && !bounded && listed).then(|| {
        format!(
            "one {} holds everything that has this value: of a tag with two values (error = true) half of all rows lie in one partition, and more every \
             day; declare rows_per_partition of the most common value, or put a bucket of time into the key",
            table.partition_text()
        )
    })
}

/// Values of a smallint.
const SMALLINTS: u64 = 65_536;

/// Whether rows are found by an id of their own, or by bytes: as many as there are things.
fn holds_ids(table: &Table) -> bool {
    table
        .clustering_columns()
        .any(|c| c.meaning == Meaning::Identity || native(&c.data_type) == Some(NativeType::Blob))
}

/// Shards that a key made of nothing but a shard number is assumed to have.
const SHARDS_ASSUMED: u64 = 1_000;

/// Whether the key is nothing but the number of a shard, under which everything of that shard lies.
fn is_shard_only(table: &Table, facts: &Facts) -> bool {
    let holds_all =
        table.clustering_columns().any(|c| c.meaning == Meaning::Identity || c.is_chronological());
    let is_shard = |c: &Column| {
        c.meaning == Meaning::HashBucket
            && !table.is_run(c)
            && any_word(&c.words, &["shard", "partition", "segment"])
    };
    holds_all && facts.key(table).all(is_shard)
}
