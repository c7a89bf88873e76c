//! `low-cardinality-key`: a few values of the partition key carry the whole table.

use super::{Context, Rule, on_table, partition_span};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::growth::PARTITION_BYTES_MAX;
use crate::units;
use crate::vocabulary::{Grain, Meaning, any_word, words};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "low-cardinality-key",
    title: "few values of the partition key carry the whole table",
    why: "A key with k values makes k partitions, on any number of nodes. Each holds 1/k of the table and of its traffic, \
          and cannot be split without a new key.",
    bad: "CREATE TABLE tickets_by_status (status text, created_at timestamp, ticket_id uuid, title text,\n  PRIMARY KEY (status, created_at, ticket_id));",
    good: "CREATE TABLE tickets_by_team_status (team_id uuid, status text, created_at timestamp, ticket_id uuid, title text,\n  PRIMARY KEY ((team_id, status), created_at, ticket_id));",
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        if facts.is_reference || table.clustering.is_empty() {
            continue;
        }
        let mut values: u64 = 1;
        let mut all_few = true;
        let mut is_country = false;
        for column in table.partition_columns() {
            match column.meaning {
                Meaning::Few(n) => values = values.saturating_mul(u64::from(n)),
                _ => all_few = false,
            }
            is_country |= any_word(&words(&column.name), &["country", "continent"]);
        }
        // A table whose rows are few as well (status by country) is small whatever its key.
        let rows_are_few =
            table.clustering_columns().all(|c| matches!(c.meaning, Meaning::Few(_) | Meaning::TimeBucket(_)));
        if !all_few || rows_are_few {
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
            let certain = values <= 10 || is_country;
            let per_value = 1e6 / values as f64 * growth.row_bytes;
            let text = format!(
                "a million rows of {} put {} on each; declare rows_per_partition to settle it",
                units::bytes(growth.row_bytes),
                units::bytes(per_value)
            );
            (if certain { Severity::Error } else { Severity::Warning }, text)
        };
        let message = format!(
            "{key} has at most about {} values, so all of {} lives in {} partitions on any number of nodes: {ending}",
            units::count(values as f64),
            table.name,
            units::count(values as f64),
        );
        let draft = fix::with_time_bucket(table, Grain::Day).partition_with("bucket", NativeType::Int);
        findings.push(on_table(&RULE, severity, table, partition_span(table)).say(message, draft.print()));
    }
}
