//! `index-misuse`: an index on a core pattern, on few values, on nearly unique values, or on a column that changes a lot.

use super::{Context, Rule, on_table};
use crate::catalogue::{Access, Column, Index, IndexKind, Table, Verb};
use crate::facts::Facts;
use crate::finding::{Findings, Severity};
use crate::fix::{self, Draft};
use crate::source::Place;
use crate::units;
use crate::vocabulary::Meaning;
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "index-misuse",
    title: "an index on a core pattern, on few values, on nearly unique values, or on a column that changes a lot",
    why: "On a Cassandra cluster an index is local to each node, so a read by it alone asks every node (one Partita looks it up in one place, and then \
          reads row by row). For few values each answers with a large part of the table; \
          for unique values all but one answer in vain; each change of the column leaves a tombstone in the index.",
    bad: "CREATE TABLE users (user_id uuid PRIMARY KEY, email text, status text);\nCREATE INDEX ON users (status);",
    good: "CREATE TABLE users_by_email (email text PRIMARY KEY, user_id uuid);",
    seen: "scylladb/argus read the versions of a release through an index; in April 2026 it added tables keyed by the release, which its \
           comment says replace the expensive scan of the index. Its test results had three indexes on one map: the fields \
           moved to a table of their own. otaviano/braza-sso has users_by_email instead of an index: one partition, one read.",
    check,
};

/// Reads per second from which a pattern is a core pattern.
const CORE_RATE: f64 = 10.0;
/// Reads per second below which asking all nodes is nobody's problem.
const RARE_RATE: f64 = 1.0;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        several_on_one(context, at, table, findings);
        for index in context.catalogue.indexes_of(at) {
            let Some(column) = table.column(&index.column) else { continue };
            if facts.is_reference {
                continue;
            }
            let asks = |a: &&Access| a.restrictions.iter().any(|r| r.columns.contains(&index.column));
            let users: Vec<&Access> =
                context.catalogue.accesses_of(at).filter(|a| a.is_read()).filter(asks).collect();
            let changes = context.catalogue.accesses_of(at).any(|a| {
                (a.verb == Verb::Update && a.assigned.iter().any(|(c, _)| *c == index.column))
                    || a.verb == Verb::Delete && a.deletes_rows
            });
            if let Some((mut severity, message)) = judge(table, facts, index, column, &users, changes) {
                if severity == Severity::Warning && ways_in(context, at, table) >= 3 {
                    severity = Severity::Error;
                }
                let mut finding = on_table(&RULE, severity, table, index.place.span)
                    .say(message, fix(table, column, index));
                finding.place = Place { ..index.place };
                finding.pattern = users.iter().find_map(|a| a.pattern.clone());
                findings.push(finding);
            }
        }
    }
}

/// Legacy indexes on ids: from three on they are how the table is read, and each such read asks every node.
fn ways_in(context: &Context<'_>, at: usize, table: &Table) -> usize {
    let is_id = |index: &&Index| {
        index.kind == IndexKind::Legacy
            && table
                .column(&index.column)
                .is_some_and(|c| c.meaning == Meaning::Identity && !c.is_collection())
    };
    context.catalogue.indexes_of(at).filter(is_id).count()
}

/// Keys, values and entries of one map, each with an index of its own.
fn several_on_one(context: &Context<'_>, at: usize, table: &Table, findings: &mut Findings) {
    let indexes: Vec<&Index> = context.catalogue.indexes_of(at).collect();
    for (n, index) in indexes.iter().enumerate() {
        let same = indexes.iter().filter(|other| other.column == index.column).count();
        let first = indexes.iter().position(|other| other.column == index.column) == Some(n);
        if same < 2 || !first || !table.column(&index.column).is_some_and(Column::is_collection) {
            continue;
        }
        let message = format!(
            "{} has {same} indexes, and each element that is written is written into all of them; which of them does a query use?",
            index.column
        );
        let mut finding = on_table(&RULE, Severity::Warning, table, index.place.span)
            .say(message, fix(table, &table.columns[column_at(table, index)], index));
        finding.place = index.place;
        findings.push(finding);
    }
}

fn column_at(table: &Table, index: &Index) -> usize {
    table.columns.iter().position(|c| c.name == index.column).unwrap_or(0)
}

/// What speaks against the column, and whether that is certain.
fn weakness(index: &Index, column: &Column, users: &[&Access], changes: bool) -> Option<String> {
    // Equal values are what it finds; without a statement in sight ranges are what a time or a quantity is asked for.
    let equal_only = !users.is_empty() && users.iter().all(|a| a.slice(&index.column).is_none());
    let name = &column.name;
    match column.meaning {
        Meaning::Few(values) => Some(format!(
            "{name} has few values (about {values} is assumed), so each node answers with up to 1/{values} of its rows"
        )),
        Meaning::Identity => {
            Some(format!("{name} is nearly unique, so all nodes are asked for 1 row that one of them has"))
        }
        Meaning::Time | Meaning::TimeBucket(_) | Meaning::Measure
            if index.kind == IndexKind::Legacy && !equal_only =>
        {
            Some(format!(
                "the index finds one value of {name} and no range, and it is ranges that are asked for"
            ))
        }
        _ if index.kind == IndexKind::Sasi => Some(format!(
            "a SASI index on {name} is experimental, and a search inside of texts looks at the terms of every node"
        )),
        _ if changes => Some(format!(
            "{name} changes, and each change leaves a dead entry that later reads of the index wade through"
        )),
        _ => None,
    }
}

fn judge(
    table: &Table,
    facts: &Facts,
    index: &Index,
    column: &Column,
    users: &[&Access],
    changes: bool,
) -> Option<(Severity, String)> {
    // With the partition key given the index is read on one node only.
    let whole_key = |a: &&Access| table.partition_columns().all(|c| a.point(&c.name).is_some());
    let scattered: Vec<&&Access> = users.iter().filter(|a| !whole_key(a)).collect();
    if !users.is_empty() && scattered.is_empty() {
        return inside_only(table, index, column);
    }
    let rate = scattered
        .iter()
        .filter_map(|a| a.numbers.peak_rate)
        .fold(None, |a: Option<f64>, b| Some(a.map_or(b, |a| a.max(b))));
    if rate.is_some_and(|rate| rate < RARE_RATE) {
        return None;
    }
    let small = facts.numbers.partitions.is_some_and(|n| n <= 10_000.0);
    let name = &column.name;
    let why = weakness(index, column, users, changes);
    let core = rate.filter(|rate| *rate >= CORE_RATE);
    let (severity, message) = match (why, core) {
        (why, Some(rate)) => {
            let why = why.map(|w| format!("; {w}")).unwrap_or_default();
            (
                Severity::Error,
                format!(
                    "{} reads/s go through the index on {name}, and on a cluster each asks every node{why}",
                    units::count(rate)
                ),
            )
        }
        (Some(why), None) => (
            how_sure(index, column, &scattered, changes),
            format!(
                "on a cluster an index on {name} of {} asks every node: {why}; declare peak_rate if such reads are rare",
                table.name
            ),
        ),
        (None, None) if scattered.iter().any(|a| a.pattern.is_some()) => (
            Severity::Warning,
            format!(
                "a declared pattern depends on the index on {name}, which asks every node of a cluster; declare peak_rate to settle whether it is a core pattern"
            ),
        ),
        (None, None) => return None,
    };
    Some((if small { Severity::Advice } else { severity }, message))
}

/// Half of the table behind one value that changes all the time is certain; an attached index that no statement uses is a doubt.
fn how_sure(index: &Index, column: &Column, scattered: &[&&Access], changes: bool) -> Severity {
    let halves = matches!(column.meaning, Meaning::Few(values) if values <= 3);
    match scattered {
        [] if index.kind == IndexKind::Attached => Severity::Advice,
        [_, ..] if halves && changes => Severity::Error,
        _ => Severity::Warning,
    }
}

/// Every read gives the partition key. What the index finds there a look at the rows finds as well when the values are few, and
/// what the clustering key sorts by needs no index.
fn inside_only(table: &Table, index: &Index, column: &Column) -> Option<(Severity, String)> {
    let name = &column.name;
    let first = table.clustering_columns().next().is_some_and(|c| c.name == *name);
    let halves = matches!(column.meaning, Meaning::Few(values) if values <= 3);
    let reason = match column.meaning {
        _ if first => format!("rows lie sorted by {name} there, so the key finds them by itself"),
        Meaning::Few(values) if values <= 20 && index.kind == IndexKind::Legacy => format!(
            "{name} has few values (about {values} is assumed), so a good part of the partition matches anyway"
        ),
        _ => return None,
    };
    let message = format!(
        "every read through the index on {name} also gives {}: {reason}; the index only makes writes dearer",
        table.partition_text()
    );
    Some((if first || halves { Severity::Warning } else { Severity::Advice }, message))
}

fn fix(table: &Table, column: &Column, index: &Index) -> String {
    let mut clustering: Vec<(String, bool)> = Vec::new();
    for item in &table.clustering {
        clustering.extend(table.columns.get(item.column).map(|c| (c.name.clone(), item.descending)));
    }
    clustering.extend(table.partition_columns().map(|c| (c.name.clone(), false)));
    let base = table.name.split("_by_").next().unwrap_or(&table.name);
    let mut draft = Draft::of(table).named(&format!("{base}_by_{}", column.name));
    if column.is_collection() {
        // A table per element: the element takes the place of the collection.
        let element = format!("{}_element", column.name);
        draft = draft
            .without_column(&column.name)
            .keyed(Vec::new(), clustering)
            .partition_with(&element, NativeType::Text);
    } else {
        draft = draft.keyed(vec![column.name.clone()], clustering);
        if matches!(column.meaning, Meaning::Few(_)) {
            if fix::has_arrival(table) {
                draft = draft.partition_with("day", NativeType::Date);
            }
            draft = draft.partition_with("bucket", NativeType::Int);
        }
    }
    let drop = index.name.as_ref().map(|name| {
        let keyspace =
            table.keyspace.as_ref().map(|k| format!("{}.", cql_syntax::maybe_quote(k))).unwrap_or_default();
        format!("\nDROP INDEX {keyspace}{};", cql_syntax::maybe_quote(name))
    });
    format!("{}{}", draft.print(), drop.unwrap_or_default())
}
