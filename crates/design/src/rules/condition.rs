//! `hot-condition`: LWT or counter on a key everyone writes; a counter used for money.

use super::{Context, Rule, on_access, on_table};
use crate::catalogue::{Access, Table, Verb};
use crate::facts::{Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix::{self, Draft};
use crate::lexicon::TELEMETRY;
use crate::units;
use crate::vocabulary::{Meaning, any_word, native};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "hot-condition",
    title: "LWT or counter on a key everyone writes; a counter used for money",
    why: "A condition reads before it writes and takes the partition one request at a time: right for a username or a reservation, a queue at the door \
          when everyone passes the same key. A counter cannot be retried safely, set or reconciled, so it must not hold money.",
    bad: "CREATE TABLE wallets (user_id uuid PRIMARY KEY, balance counter);",
    good: "CREATE TABLE wallet_entries (user_id uuid, month text, entry_id timeuuid, amount_cents bigint,\n  PRIMARY KEY ((user_id, month), entry_id));",
    seen: "paradoxical-io/cassieq takes message numbers of a queue by compare-and-set on one row: strict numbering, at the \
           pace that one partition takes conditions.",
    check,
};

/// Conditional writes per second that one partition takes.
const CONDITIONS_MAX: f64 = 100.0;
const MONEY: &[&str] = &[
    "balance",
    "amount",
    "cents",
    "price",
    "revenue",
    "credit",
    "credits",
    "debit",
    "money",
    "wallet",
    "payment",
    "cost",
    "usd",
    "eur",
    "funds",
    "spend",
    "spent",
    "budget",
    "income",
    "invoice",
    "refund",
    "salary",
    "stock",
    "inventory",
];
const SHARED: &[&str] = &[
    "sequence",
    "seq",
    "global",
    "generator",
    "singleton",
    "autoincrement",
    "ticket_counter",
    "site",
    "totals",
    "total",
];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        counters(table, facts, findings);
        for access in context.catalogue.accesses_of(at).filter(|a| a.verb != Verb::Select) {
            let is_counter = table.is_counter();
            if access.is_conditional || is_counter {
                conditions(table, facts, access, is_counter, findings);
            }
        }
    }
}

/// Whether a number of a key that many share is taken by compare-and-set: a sequence, an id generator.
fn takes_numbers(table: &Table, access: &Access) -> bool {
    let is_number = |name: &String| {
        let column = table.column(name);
        column.is_some_and(|c| matches!(native(&c.data_type), Some(NativeType::Bigint | NativeType::Int)))
    };
    let counts = ["next", "counter", "seq", "sequence", "monoton", "generator", "autoincrement", "ids"];
    let named = |name: &String| {
        any_word(&table.words, &counts) || table.column(name).is_some_and(|c| any_word(&c.words, &counts))
    };
    let compared = |name: &String| access.conditions.contains(name);
    table.clustering.is_empty()
        && access.verb == Verb::Update
        && table.regular_columns().count() <= 2
        && access.assigned.iter().any(|(name, _)| is_number(name) && named(name) && compared(name))
}

fn counters(table: &Table, facts: &Facts, findings: &mut Findings) {
    if table.is_view() {
        return;
    }
    let counters = table.columns.iter().filter(|c| native(&c.data_type) == Some(NativeType::Counter));
    for column in counters {
        // The sum of what was measured or counted elsewhere can be counted again; what is owed cannot.
        let measured =
            any_word(&column.words, TELEMETRY) || any_word(&column.words, &["temperature", "humidity"]);
        let is_sum = any_word(&column.words, &["total", "sum", "avg", "average"])
            && any_word(&table.words, &["by", "stat", "analytics", "avg", "hourly", "daily", "monthly"]);
        let owed =
            any_word(&column.words, &["balance", "credit", "wallet", "fund", "stock", "inventory", "debit"]);
        if any_word(&column.words, MONEY) && !measured && (owed || !is_sum) {
            let message = format!(
                "{} is a counter and looks like money: after a timeout nobody knows whether 1 increment was applied 0, 1 or 2 times, and it cannot be corrected",
                column.name
            );
            let draft = Draft::of(table)
                .named(&format!("{}_entries", table.name))
                .without_counters()
                .clustering_with("entry_id", NativeType::Timeuuid)
                .with_column(&format!("{}_cents", column.name), NativeType::Bigint);
            findings.push(on_table(&RULE, Severity::Error, table, column.span).say(message, draft.print()));
            continue;
        }
        // A few dozen genres of a month take their increments on a few dozen partitions.
        let spread = table.partition_columns().any(|c| matches!(c.meaning, Meaning::Few(n) if n >= 20));
        let weak = !spread
            && table
                .partition_columns()
                .all(|c| matches!(c.meaning, Meaning::Few(_) | Meaning::TimeBucket(_)));
        let named = !facts.hash_bucket
            && any_word(&subject_words(table), &["global", "site"])
            && table.partition_columns().all(|c| c.meaning != Meaning::Identity || c.name.ends_with("name"));
        if (weak || named) && facts.write_rate.is_none_or(|rate| rate > CONDITIONS_MAX) {
            let message = format!(
                "everyone increments {} under one of few keys {}: a counter reads before it writes, so one partition takes about {}/s; declare peak_rate if it is below",
                column.name,
                table.partition_text(),
                units::count(CONDITIONS_MAX)
            );
            let fix = fix::with_hash_bucket(table).print();
            findings.push(on_table(&RULE, Severity::Warning, table, column.span).say(message, fix));
        }
    }
}

fn conditions(table: &Table, facts: &Facts, access: &Access, is_counter: bool, findings: &mut Findings) {
    let what = if is_counter { "counter updates" } else { "conditional writes" };
    let constant = table.partition_columns().all(|c| access.constant_of(&c.name).is_some());
    let weak = facts.has_weak_key || table.partition_columns().all(|c| c.meaning == Meaning::HashBucket);
    let numbers = &access.numbers;
    let share = numbers
        .hot_share
        .or(numbers.partitions.filter(|n| *n >= 1.0).map(|n| 1.0 / n))
        .unwrap_or(if constant { 1.0 } else { 0.0 });
    let rate = numbers.partition_rate.or(numbers.peak_rate.filter(|_| share > 0.0).map(|rate| rate * share));
    let shared = any_word(&subject_words(table), SHARED);
    let (severity, message) = match rate {
        Some(rate) if rate > CONDITIONS_MAX => (
            Severity::Error,
            format!(
                "{}: {} {what}/s meet on one {}, where one partition takes about {}/s",
                access.title(),
                units::count(rate),
                table.partition_text(),
                units::count(CONDITIONS_MAX)
            ),
        ),
        Some(_) => return,
        None if is_counter => return,
        None if constant || weak || shared || takes_numbers(table, access) => (
            if access.verb != Verb::Insert && (constant || (weak && !table.clustering.is_empty())) {
                Severity::Error
            } else if weak && !shared && table.clustering.is_empty() {
                // A row or two that say where something stands: written now and then.
                Severity::Advice
            } else {
                Severity::Warning
            },
            format!(
                "{} is conditional on a key that everyone shares ({}): writers queue, about {}/s pass; declare peak_rate to settle it",
                access.title(),
                table.partition_text(),
                units::count(CONDITIONS_MAX)
            ),
        ),
        None => return,
    };
    let fix = "-- Fewer writers per row: a row of its own for each owner, or numbers taken in blocks of 1,000 by one \
               conditional write each."
        .to_string();
    findings.push(on_access(&RULE, severity, access, table, access.place.span).say(message, fix));
}
