//! `no-tie-breaker`: two rows can share the full key, and the later silently replaces the earlier.

use super::{Context, Rule, key_span, on_table};
use crate::catalogue::{Column, Table};
use crate::facts::{Content, Facts, Owner, holds_numbers, subject_words};
use crate::finding::{Findings, Severity};
use crate::lexicon::{GROUP, MACHINE, PERSON};
use crate::people::ABOUT;
use crate::vocabulary::{Meaning, any_word, native, singular};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "no-tie-breaker",
    title: "two rows can share the full key: a silent overwrite, and paging without a deterministic order",
    why: "A write with a key that exists is an update. Two events in the same millisecond are one row, and nobody is told. A unique \
          last clustering column costs a few bytes; it also makes a paging cursor exact.",
    bad: "CREATE TABLE user_timeline (user_id uuid, created_at timestamp, post_id uuid, summary text,\n  PRIMARY KEY (user_id, created_at));",
    good: "CREATE TABLE user_timeline (user_id uuid, created_at timestamp, post_id uuid, summary text,\n  PRIMARY KEY (user_id, created_at, post_id)) WITH CLUSTERING ORDER BY (created_at DESC, post_id ASC);",
    seen: "ByPrice/geoprice-consumer keys prices by product, day and time; two stores that report in the same millisecond \
           are one row, and the store is a plain column. eshen-impl/emart lists orders by user and time and leaves the \
           order id outside the key.",
    check,
};

/// Ids that name the row itself, whatever the table is called.
const ROW_IDS: &[&str] = &[
    "post",
    "event",
    "message",
    "notification",
    "comment",
    "tweet",
    "transaction",
    "payment",
    "task",
    "entry",
    "activity",
    "log",
    "alert",
    "photo",
    "trade",
    "bid",
    "click",
    "record",
    "note",
    "reading",
    "review",
    "msg",
];
/// Ids whose owner is listed when rows are sorted by a quantity or a label.
const LISTED_IDS: &[&str] =
    &["user", "player", "product", "item", "member", "customer", "team", "account", "employee", "id"];
/// Times that say since when a value holds: one per instant by nature.
const EFFECTIVE: &[&str] = &["valid", "effective", "from", "since", "start", "as", "slot", "due"];

/// Columns of what somebody wrote, as against what was measured.
const WRITTEN: &[&str] =
    &["data", "line", "payload", "message", "body", "text", "headline", "title", "content", "msg"];

/// Whether the column is the id of the row, not of something it refers to.
pub fn is_own_id(table: &Table, column: &Column) -> bool {
    if column.meaning != Meaning::Identity || column.is_collection() {
        return false;
    }
    let name = column.words.clone();
    let subject: Vec<String> = subject_words(table).iter().map(|word| singular(word)).collect();
    let Some((last, stem)) = name.split_last() else { return false };
    // They tell whether something changed.
    if matches!(last.as_str(), "hash" | "checksum" | "digest" | "etag" | "fingerprint") {
        return false;
    }
    if stem.is_empty() {
        return matches!(last.as_str(), "id" | "uuid" | "guid" | "uid");
    }
    let stem = singular(&stem[stem.len() - 1]);
    subject.contains(&stem) || ROW_IDS.contains(&stem.as_str())
}

/// Whether the id is called after what the table holds: execution_id of job_executions.
fn names_the_row(table: &Table, column: &Column) -> bool {
    let head = subject_words(table).last().map(|word| singular(word));
    column.words.len() > 1 && column.words.first().map(|word| singular(word)) == head
}

/// An amount that is lost when its row is replaced; other numbers at an instant are measured, and there is one.
fn is_money(column: &Column) -> bool {
    let money = ["amount", "price", "cent", "balance", "total", "fee", "cost", "payment"];
    any_word(&column.words, &money)
}

/// Whether the column is the id of somebody: a bidder, a sender.
fn is_someone(column: &Column) -> bool {
    let name = column.words.clone();
    let [.., stem, last] = name.as_slice() else { return false };
    column.meaning == Meaning::Identity
        && matches!(last.as_str(), "id" | "uuid" | "guid")
        && (any_word(std::slice::from_ref(stem), PERSON) || stem.ends_with("er") || stem.ends_with("or"))
}

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        let Some((severity, column, id)) = found(table, facts) else { continue };
        let outside = match id {
            Some(id) => format!("{} is not part of it", id.name),
            None => "nothing in it is unique".into(),
        };
        let message = format!(
            "two rows of one {} with the same {column} share the full primary key, since {outside}: the second write silently replaces the \
             first, and a page that ends there cannot be continued exactly",
            table.partition_text(),
        );
        let span = key_span(table, column);
        findings.push(on_table(&RULE, severity, table, span).say(message, String::new()));
    }
}

/// What is shared, and the id that would part it when the table has one.
fn found<'t>(table: &'t Table, facts: &Facts) -> Found<'t> {
    if table.is_view() || table.is_counter() || facts.is_reference {
        return None;
    }
    let own = table.regular_columns().find(|c| !c.is_static && is_own_id(table, c));
    let found = if table.clustering.is_empty() {
        without_clustering(table).or_else(|| listed_by(table)).or_else(|| listed_of(table))
    } else {
        with_clustering(table, facts, own)
    };
    found.map(|(severity, column, id)| (severity, column, id.or(own)))
}

/// Whether the column is the id of another thing or person that rows of this key come from.
fn is_other_source(table: &Table, column: &Column) -> bool {
    let [.., stem, last] = column.words.as_slice() else { return false };
    let stem = std::slice::from_ref(stem);
    column.meaning == Meaning::Identity
        && !column.is_static
        && matches!(last.as_str(), "id" | "uuid" | "guid")
        && (any_word(stem, PERSON) || any_word(stem, GROUP) || any_word(stem, MACHINE))
        && !table.partition_columns().any(|c| any_word(&c.words, &[stem[0].as_str()]))
}

/// Whether everybody writes under the same few keys: a constant, a day.
fn is_everybodys(table: &Table, facts: &Facts) -> bool {
    let about = subject_words(table).last().is_some_and(|word| any_word(std::slice::from_ref(word), ABOUT));
    !about && facts.key(table).all(|c| c.meaning.is_bucket() || matches!(c.meaning, Meaning::Few(_)))
}

/// The column that the key of this table lacks, and its type.
pub fn missing(table: &Table, facts: &Facts) -> Option<(String, NativeType)> {
    let (_, _, id) = found(table, facts)?;
    Some(match id {
        Some(id) => (id.name.clone(), native(&id.data_type).unwrap_or(NativeType::Text)),
        None => (fresh_name(table), NativeType::Timeuuid),
    })
}

fn fresh_name(table: &Table) -> String {
    let name = "event_id";
    if table.column(name).is_some() { "tie_breaker".into() } else { name.into() }
}

type Found<'t> = Option<(Severity, &'t str, Option<&'t Column>)>;

/// `users_by_city (city PRIMARY KEY, user_id)`: one row per city.
fn without_clustering(table: &Table) -> Found<'_> {
    let shared = table.partition_columns().all(|c| c.meaning.is_shared());
    let listed = |c: &&Column| {
        let name = c.words.clone();
        c.meaning == Meaning::Identity && (is_own_id(table, c) || any_word(&name, LISTED_IDS))
    };
    let id = table.regular_columns().find(listed).filter(|_| shared)?;
    let last = table.partition_columns().last()?;
    // One row per label that points at its owner is a lookup table: names may be unique.
    if last.meaning == Meaning::Label && is_naming(last) {
        return None;
    }
    let is_lookup = any_word(&table.words, &["index", "idx", "lookup", "mapping"]);
    if is_lookup && table.partition.len() > 1 {
        return None;
    }
    let severity = if last.meaning == Meaning::Label && last.name.ends_with("name") {
        Severity::Warning
    } else {
        Severity::Error
    };
    Some((severity, &last.name, Some(id)))
}

/// A name that something is known by, not one that people share.
fn is_naming(column: &Column) -> bool {
    let shared = [
        "last",
        "first",
        "full",
        "sur",
        "family",
        "given",
        "lastname",
        "firstname",
        "surname",
        "city",
        "guest",
    ];
    column.words.last().is_some_and(|w| w == "name") && !any_word(&column.words, &shared)
}

/// A text that says which of several values was measured, beside the value: `metric_type`, `value`.
fn discriminator(table: &Table) -> Option<&Column> {
    let which =
        ["metric", "parameter", "measure", "measurement", "sensor", "channel", "signal", "field", "tag"];
    let mut values =
        table.regular_columns().filter(|c| !c.is_static && any_word(&c.words, &["value", "reading"]));
    let one = values.next().is_some() && values.next().is_none();
    let is_text = |c: &&Column| matches!(native(&c.data_type), Some(NativeType::Text | NativeType::Ascii));
    let mut texts = table.regular_columns().filter(is_text);
    texts.find(|c| any_word(&c.words, &which) && !c.is_static).filter(|_| one)
}

/// `favorites_by_tweet (tweet_id PRIMARY KEY, handle)`: many by its name, one per tweet by its key.
fn listed_by(table: &Table) -> Found<'_> {
    let at = table.words.iter().position(|word| word == "by")?;
    let (many, by) = (table.words.get(at.checked_sub(1)?)?, table.words.get(at + 1)?);
    let [only] = table.partition_columns().collect::<Vec<_>>()[..] else { return None };
    // Keyed by the id of what they are about; a lookup (`users_by_email`) has one row per key by nature.
    let named = matches!(only.words.as_slice(), [of, id] if singular(of) == singular(by) && id == "id");
    let several = singular(many) != *many
        && !any_word(std::slice::from_ref(many), PERSON)
        && singular(many) != singular(by)
        && !any_word(
            std::slice::from_ref(many),
            &["stat", "status", "address", "news", "metric", "setting", "count", "total", "detail"],
        );
    let someone = table.regular_columns().find(|c| {
        is_someone(c)
            || matches!(c.words.last().map(String::as_str), Some("handle" | "username"))
            || (c.meaning == Meaning::Identity && any_word(&c.words, LISTED_IDS))
    });
    (named && several && table.regular_columns().count() <= 4).then_some(())?;
    someone.map(|column| (Severity::Error, only.name.as_str(), Some(column)))
}

/// `user_photos (username PRIMARY KEY, id)`: things of a user by its name, one per user by its key.
fn listed_of(table: &Table) -> Found<'_> {
    let [only] = table.partition_columns().collect::<Vec<_>>()[..] else { return None };
    let head = table.words.last()?;
    let many = singular(head) != *head
        && !any_word(&table.words, &["stat", "setting", "preference", "detail", "info"]);
    let of_user =
        any_word(&only.words, PERSON) && table.words.len() > 1 && any_word(&table.words[..1], PERSON);
    let own = table
        .regular_columns()
        .find(|c| matches!(c.words.as_slice(), [one] if one == "id" || one == "uuid"))?;
    (many && of_user && !any_word(std::slice::from_ref(head), PERSON)).then_some((
        Severity::Warning,
        only.name.as_str(),
        Some(own),
    ))
}

/// Lines of a log by instant and address: one client asks for several things at once.
fn by_address<'t>(table: &'t Table, facts: &Facts) -> Found<'t> {
    let address =
        |c: &Column| matches!(c.words.last().map(String::as_str), Some("ip" | "host" | "hostname" | "addr"));
    let keyed = table.clustering_columns().all(|c| c.meaning == Meaning::Time || address(c));
    let instant = table.clustering_columns().find(|c| c.meaning == Meaning::Time)?;
    let logged = any_word(&table.words, &["log", "request", "access", "click", "hit"])
        && facts.content != Content::Things;
    let severity = if is_everybodys(table, facts) { Severity::Error } else { Severity::Warning };
    (keyed && logged).then_some((severity, instant.name.as_str(), None))
}

/// Only a calendar in the key, and an instant outside of it: one row per hour of what happens many times an hour.
fn calendar_only(table: &Table) -> Found<'_> {
    let calendar = table.clustering_columns().all(|c| matches!(c.meaning, Meaning::TimeBucket(_)));
    let summaries = [
        "avg",
        "average",
        "total",
        "count",
        "sum",
        "max",
        "min",
        "hourly",
        "daily",
        "rollup",
        "stat",
        "summary",
        "metric",
        "aggregate",
    ];
    let summed =
        any_word(&table.words, &summaries) || table.columns.iter().any(|c| any_word(&c.words, &summaries));
    let about = [
        "updated",
        "created",
        "modified",
        "last",
        "first",
        "start",
        "end",
        "computed",
        "calculated",
        "inserted",
        "generated",
        "ingested",
        "processed",
        "loaded",
        "fetched",
        "synced",
        "imported",
        "refreshed",
        "scored",
    ];
    let instant = table
        .regular_columns()
        .find(|c| native(&c.data_type) == Some(NativeType::Timestamp) && !any_word(&c.words, &about))?;
    let last = table.clustering_columns().last()?;
    (calendar && !summed).then_some((Severity::Error, last.name.as_str(), Some(instant)))
}

/// Rows are what was measured at an instant: one value, whatever it is of.
fn is_raw_value(table: &Table) -> bool {
    let is_value = |c: &Column| matches!(c.words.as_slice(), [one] if one == "value" || one == "val");
    let written = |c: &Column| any_word(&c.words, WRITTEN) || c.meaning == Meaning::Identity;
    table.regular_columns().any(is_value) && !table.regular_columns().any(written)
}

/// Each row says what something was before and what it is since: changes of one thing follow one after another.
fn says_before_and_after(table: &Table) -> bool {
    let has = |names: &[&str]| {
        table
            .regular_columns()
            .any(|c| c.words.len() > 1 && c.words.iter().any(|w| names.contains(&w.as_str())))
    };
    has(&["old", "previous", "prev", "before", "anterior", "alt", "ancien"])
        && has(&["new", "next", "after", "nuevo", "nueva", "neu", "nouveau"])
}

fn with_clustering<'t>(table: &'t Table, facts: &Facts, own: Option<&'t Column>) -> Found<'t> {
    if let Some(found) = calendar_only(table) {
        return Some(found);
    }
    if !table.clustering_columns().all(|c| c.meaning.is_shared()) {
        // One row per worker and status of what has an id of its own.
        let last = table.clustering_columns().last()?;
        let by_status =
            matches!(last.meaning, Meaning::Few(_)) && last.words.last().is_some_and(|w| w != "type");
        if let Some(id) = own.filter(|id| by_status && names_the_row(table, id)) {
            return Some((Severity::Error, &last.name, Some(id)));
        }
        return by_address(table, facts);
    }
    let last = table.clustering_columns().last()?;
    let instant = table.clustering_columns().find(|c| c.meaning == Meaning::Time);
    let quantity = table.clustering_columns().find(|c| c.meaning == Meaning::Measure);
    if let Some(quantity) = quantity {
        let listed = table.regular_columns().find(|c| {
            c.meaning == Meaning::Identity && (is_own_id(table, c) || any_word(&c.words, LISTED_IDS))
        });
        // Rows that come at times and are kept by their count: equal counts are one row.
        let timed = table.regular_columns().any(|c| c.words.len() == 1 && c.meaning == Meaning::Time);
        return Some((
            if listed.is_some() || timed { Severity::Error } else { Severity::Warning },
            &quantity.name,
            listed,
        ));
    }
    let Some(instant) = instant else {
        // One row per day, per country: the key may be the thing itself. With an id outside it is not, unless it is known
        // by a name; a label that many share is certain.
        let named = last.meaning == Meaning::Label && is_naming(last);
        let is_named = own.is_some_and(|id| names_the_row(table, id));
        let certain = last.meaning == Meaning::Label || is_named;
        let severity = if certain { Severity::Error } else { Severity::Warning };
        return own.filter(|_| !named).map(|id| (severity, last.name.as_str(), Some(id)));
    };
    if let Some(which) = discriminator(table) {
        return Some((Severity::Error, &instant.name, Some(which)));
    }
    // The states of one thing follow one after another.
    let is_itself = |c: &Column| {
        let head = subject_words(table).last().map(|word| singular(word));
        is_own_id(table, c) && (c.words.len() == 1 || c.words.first().map(|word| singular(word)) == head)
    };
    let of_itself = table.partition_columns().all(is_itself) || says_before_and_after(table);
    if table.partition.len() == 1 && of_itself && own.is_none() {
        return Some((Severity::Advice, &instant.name, None));
    }
    let twin = facts.twin_key.as_deref().and_then(|name| table.column(name));
    if own.is_some() || twin.is_some() {
        return Some((Severity::Error, &instant.name, own.or(twin)));
    }
    // Several report to one key, and which of them is no part of it.
    let other = table.regular_columns().find(|c| is_other_source(table, c));
    let says_what =
        |c: &Column| matches!(c.meaning, Meaning::Few(_)) && native(&c.data_type) == Some(NativeType::Text);
    let several = facts.owner == Owner::Group
        || (facts.owner == Owner::Machine
            && other.is_some_and(|c| any_word(&c.words, PERSON))
            && table.regular_columns().any(says_what));
    if other.is_some() && several && !any_word(&instant.words, EFFECTIVE) {
        return Some((Severity::Error, &instant.name, other));
    }
    // Lines of text are written, not measured: two may come in the same millisecond.
    let is_text = table.regular_columns().any(|c| any_word(&c.words, WRITTEN));
    let measured =
        (facts.content == Content::Telemetry || facts.owner == Owner::Machine || is_raw_value(table))
            && !is_text;
    if measured || any_word(&instant.words, EFFECTIVE) {
        return None;
    }
    // What one unit does follows one after another, unless several take part: then two of them may be as quick.
    let several = table.regular_columns().any(|c| !c.is_static && is_someone(c));
    let measured = holds_numbers(table) && !table.regular_columns().any(is_money);
    // One person does one thing at a time, and a kind beside the instant parts most of the rest.
    let alone = facts.owner == Owner::Person
        && facts.content == Content::Things
        && !table.regular_columns().any(is_money);
    let parted =
        table.clustering.len() > 1 && last.name != instant.name && !matches!(last.meaning, Meaning::Time);
    let apart = (facts.owner == Owner::Unit || measured || alone) && !several;
    let severity = if apart || (parted && !is_everybodys(table, facts)) {
        Severity::Advice
    } else if is_everybodys(table, facts) && !measured {
        // Where the key parts nobody from anybody, two at once are only a matter of time.
        Severity::Error
    } else {
        Severity::Warning
    };
    Some((severity, &instant.name, None))
}
