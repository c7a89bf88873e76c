//! What can be told about one table: who owns a partition, what its rows are, how fast it may grow, what was declared.
//!
//! Computed once per table and read by all rules, so that two rules never disagree about the same table.

use crate::catalogue::{Bucketing, Catalogue, Column, Table, TableKind};
use crate::growth::{self, Growth};
use crate::lexicon::{
    GROUP, HAPPENING, LONG_UNIT, MACHINE, PERSON, POPULATION, REFERENCE, REGISTRY, TELEMETRY, TENANT_LIKE,
    THINGS, UNIT,
};
use crate::numbers::Numbers;
use crate::people::CROWD;
use crate::usage::Usage;
use crate::vocabulary::{Grain, Meaning, any_word, native, words};

/// Whose rows a partition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Something that ends: an order, a trace, a session.
    Unit,
    /// A person: grows at the pace of a person.
    Person,
    /// Something long-lived: a case, a document.
    LongUnit,
    Unknown,
    /// Many people or things: a tenant, a conversation, a product.
    Group,
    /// A machine: grows at the pace of a machine.
    Machine,
}

/// What the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Made by people, or things that are few.
    Things,
    /// Something happened: events, messages, notifications.
    Happenings,
    /// Measured or counted by machines.
    Telemetry,
}

/// All that is known about one table.
#[derive(Debug, Clone)]
pub struct Facts {
    pub owner: Owner,
    pub content: Content,
    /// Rows are added as time goes by.
    pub is_history: bool,
    /// A small table of constants: countries, settings.
    pub is_reference: bool,
    pub time_bucket: Option<Grain>,
    pub hash_bucket: bool,
    /// Every part of the partition key has few values or is time.
    pub has_weak_key: bool,
    /// What all patterns on the table declare.
    pub numbers: Numbers,
    /// The largest declared rate of writes, per second over the whole table.
    pub write_rate: Option<f64>,
    pub growth: Growth,
    /// How the statements use the table.
    pub usage: Usage,
    /// Rows are what a tenant has many of: its users, its sessions.
    pub is_population: bool,
    /// A plain column here that keys another table of the same rows: `x_by_order` beside `x_by_sku`.
    pub twin_key: Option<String>,
}

impl Facts {
    pub fn of(catalogue: &Catalogue, at: usize, table: &Table) -> Facts {
        let mut numbers = Numbers::default();
        let mut write_rate: Option<f64> = None;
        for access in catalogue.accesses_of(at) {
            numbers.merge(&access.numbers);
            let rate = access.numbers.partition_rate;
            if !access.is_read() {
                write_rate = larger(write_rate, access.numbers.peak_rate);
                numbers.partition_rate = larger(numbers.partition_rate, rate);
            }
        }
        let usage = Usage::of(catalogue, at, table);
        let subject = subject_words(table);
        let has_time = table.clustering_columns().any(Column::is_chronological);
        let key = || table.partition_columns().filter(|c| !usage.is_constant(&c.name));
        let mut owner = owner(table, key());
        let mut content = content(&subject);
        // Rows that are renamed and removed by their key are things, whatever they are called.
        let is_kept = usage.edits_rows && usage.drops_rows && !has_time;
        // One row per person is who did it, not a log of it.
        let per_person = !has_time && table.clustering_columns().last().is_some_and(is_somebody);
        // What lies under a post is about it: a word that names the key does not say what the rows are.
        let is_post = |words: &[String]| any_word(words, &["post"]);
        let of_post = is_post(&subject) && key().any(|c| is_post(&c.words));
        if content == Content::Happenings && (is_kept || per_person || of_post) {
            content = Content::Things;
        }
        // Where something was, again and again, is measured; raw rows are what happens, before anybody looked at it.
        if content == Content::Things && has_time && !usage.edits_rows {
            if has_position(table) && owner != Owner::Unit {
                content = Content::Telemetry;
            } else if subject.iter().any(|word| word == "raw") || named_by_time(table) {
                content = Content::Happenings;
            }
        }
        // What people do under a key that they share, and what is counted there over all of them.
        let by_people = table.clustering_columns().chain(table.regular_columns()).any(is_somebody);
        if usage.sums_whole && by_people && !usage.edits_rows && !usage.drops_rows {
            if content == Content::Things && owner == Owner::Group && has_instant(table) {
                content = Content::Happenings;
            }
            if content == Content::Happenings && owner == Owner::Unit {
                owner = Owner::Group;
            }
        }
        // What a machine writes is measured, unless a person has a part in it.
        let raw = ["data", "value", "point", "series", "raw", "stream", "record"];
        let is_raw = any_word(subject.last().map(std::slice::from_ref).unwrap_or(&[]), &raw)
            && !table.columns.iter().any(|c| any_word(&c.words, PERSON));
        if content != Content::Telemetry
            && owner == Owner::Machine
            && has_time
            && (holds_numbers(table) || is_raw)
        {
            content = Content::Telemetry;
        }
        let has_ids = table.clustering_columns().any(|c| c.meaning == Meaning::Identity);
        let is_reference = any_word(&subject, REFERENCE) && !has_time && !is_about_people(table);
        let mut facts = Facts {
            owner,
            content,
            is_history: has_time
                || has_window(table)
                || has_sequence(table)
                || (has_ids && content != Content::Things),
            is_reference,
            time_bucket: time_bucket(key()).or_else(|| table.bucketing.as_ref().and_then(Bucketing::grain)),
            hash_bucket: key().any(|c| c.meaning == Meaning::HashBucket) || table.has_hash_buckets(),
            has_weak_key: key().all(|c| is_weak(c.meaning)) && !table.has_hash_buckets(),
            numbers,
            write_rate,
            growth: Growth::default(),
            is_population: is_population(table, key()),
            twin_key: twin_key(catalogue, at, table),
            usage,
        };
        facts.growth = growth::model(table, &facts);
        facts
    }

    /// The columns of the partition key that have more than one value.
    pub fn key<'t>(&'t self, table: &'t Table) -> impl Iterator<Item = &'t Column> {
        table.partition_columns().filter(|c| !self.usage.is_constant(&c.name))
    }

    /// How likely a partition is to outgrow its limit, from names alone: from 4 on certain, 3 doubtful, 1 worth a word.
    pub fn growth_weight(&self, table: &Table) -> i32 {
        let owner = match self.owner {
            Owner::Unit => -3,
            Owner::Person => -1,
            Owner::LongUnit | Owner::Unknown => 1,
            Owner::Group => 2,
            Owner::Machine => 4,
        };
        let content = match self.content {
            Content::Things => 0,
            Content::Happenings => 2,
            Content::Telemetry => 4,
        };
        let kept = table.default_ttl_days.or(self.numbers.retention_days).unwrap_or(f64::INFINITY);
        let ends = if kept <= 31.0 {
            4
        } else if kept <= 366.0 {
            2
        } else {
            0
        };
        let spread = if self.hash_bucket { 2 } else { 0 };
        // What people do with a machine (rent a car, book a station) comes at the pace of people.
        let rented = if self.owner == Owner::Machine && self.content == Content::Things { 3 } else { 0 };
        let sum = owner + content - ends - spread - rented;
        // An owner nobody knows is a doubt, however fast the rows come.
        if self.owner == Owner::Unknown { sum.min(3) } else { sum }
    }
}

fn is_weak(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Few(_) | Meaning::TimeBucket(_) | Meaning::Time)
}

/// Whether the row is nothing but measured values.
pub fn holds_numbers(table: &Table) -> bool {
    use cql_syntax::ast::NativeType::*;
    let mut values = table.regular_columns().filter(|c| !c.is_static).peekable();
    let is_number = |c: &Column| {
        matches!(
            native(&c.data_type),
            Some(Float | Double | Decimal | Int | Bigint | Smallint | Tinyint | Boolean | Counter)
        )
    };
    values.peek().is_some() && values.all(is_number)
}

pub fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// Whether the column says who did it.
fn is_somebody(column: &Column) -> bool {
    let is_id =
        matches!(column.words.last().map(String::as_str), Some("id" | "uid" | "username" | "uuid" | "did"));
    is_id
        && !column.is_static
        && (any_word(&column.words, PERSON) || matches!(column.words.as_slice(), [one] if one == "uid"))
}

/// The same rows lie in another table under another key, so that key tells them apart here, too.
fn twin_key(catalogue: &Catalogue, at: usize, table: &Table) -> Option<String> {
    fn stem(table: &Table) -> Option<&[String]> {
        let by = table.words.iter().position(|word| word == "by")?;
        table.words.get(..by).filter(|words| !words.is_empty())
    }
    // Most tables have no id outside their key, and need not be compared with all others.
    let ids: Vec<&str> =
        table.regular_columns().filter(|c| c.meaning == Meaning::Identity).map(|c| c.name.as_str()).collect();
    if ids.is_empty() || table.clustering.is_empty() {
        return None;
    }
    let has_all = |of: &Table, within: &Table| of.columns.iter().all(|c| within.column(&c.name).is_some());
    let is_twin = |(_, other): &(usize, &Table)| {
        let named = stem(table).is_some() && stem(table) == stem(other);
        let same = other.columns.len() == table.columns.len() && has_all(other, table);
        // The whole thing under its own id, here the same columns or fewer: at least one beside both keys.
        let whole = other.clustering.is_empty()
            && table.columns.len() >= 4
            && table.keyspace == other.keyspace
            && has_all(table, other);
        (named && same) || whole
    };
    let keyed_by_id = |(n, other): &(usize, &Table)| {
        *n != at
            && !other.is_view()
            && other.partition.len() == 1
            && other.partition_columns().any(|c| ids.contains(&c.name.as_str()))
    };
    let twin = catalogue.tables.iter().enumerate().filter(keyed_by_id).find(is_twin)?.1;
    twin.partition_columns().next().map(|key| key.name.clone())
}

/// Whether each row says where something was.
fn has_position(table: &Table) -> bool {
    let has = |names: &[&str]| {
        table.regular_columns().any(|c| c.words.last().is_some_and(|w| names.contains(&w.as_str())))
    };
    has(&["latitude", "lat"]) && has(&["longitude", "lon", "lng", "long"])
}

/// Whether the time that rows are sorted by is that of something that happens: tweet_date, trade_timestamp.
fn named_by_time(table: &Table) -> bool {
    let plain =
        ["event", "change", "update", "record", "entry", "request", "delivery", "operation", "transaction"];
    let first = table.clustering_columns().next().filter(|c| c.meaning == Meaning::Time);
    first.is_some_and(|c| {
        c.words.len() > 1
            && c.words
                .iter()
                .any(|w| any_word(std::slice::from_ref(w), HAPPENING) && !plain.contains(&w.as_str()))
    })
}

/// Whether there is a row for every window of time, however long that is.
pub fn has_window(table: &Table) -> bool {
    let is_window = |c: &Column| {
        c.meaning == Meaning::TimeBucket(Grain::Unknown)
            && native(&c.data_type) == Some(cql_syntax::ast::NativeType::Timestamp)
    };
    table.clustering_columns().any(is_window)
}

/// Whether rows are sorted by when they came.
fn has_instant(table: &Table) -> bool {
    table.clustering_columns().next().is_some_and(Column::is_chronological)
}

/// The words of the table's name that say what its rows are: those before `by`.
pub fn subject_words(table: &Table) -> Vec<String> {
    let all = &table.words;
    let is_by = |word: &String| matches!(word.as_str(), "by" | "per" | "por" | "par");
    let end = all.iter().position(is_by).filter(|at| *at > 0).unwrap_or(all.len());
    let mut subject = all.get(..end).unwrap_or(&[]).to_vec();
    if let TableKind::View { base } = &table.kind {
        subject.extend(words(base).into_iter().take_while(|word| word != "by"));
    }
    subject
}

/// What the rows are: the last word decides when it is known, `message_files` are files.
fn content(subject: &[String]) -> Content {
    // The lines of a log are made by machines, unlike an audit log or a login.
    let is_log = subject.last().is_some_and(|word| word == "log" || word == "logs");
    let by_people =
        any_word(subject, &["audit", "login", "activity", "change", "chat", "call", "user", "admin"]);
    if is_log && !by_people {
        return Content::Telemetry;
    }
    let head = subject.last().map(std::slice::from_ref).unwrap_or(&[]);
    let before = subject.len().checked_sub(2).and_then(|at| subject.get(at..=at)).unwrap_or(&[]);
    // How something was owned, assigned, named: it changes now and then.
    let attribute = [
        "ownership",
        "owner",
        "custody",
        "status",
        "state",
        "address",
        "role",
        "assignment",
        "name",
        "stage",
        "salary",
    ];
    if any_word(head, &["history", "change"]) && any_word(before, &attribute) {
        return Content::Things;
    }
    // Page view events and click logs are what they are of.
    if any_word(head, &["event", "log", "record", "entry", "data"]) && any_word(before, TELEMETRY) {
        return Content::Telemetry;
    }
    if any_word(head, THINGS) {
        Content::Things
    } else if any_word(head, TELEMETRY) {
        Content::Telemetry
    } else if any_word(head, HAPPENING) {
        Content::Happenings
    } else if any_word(subject, TELEMETRY) {
        Content::Telemetry
    } else if any_word(subject, HAPPENING) {
        Content::Happenings
    } else {
        Content::Things
    }
}

/// The smallest thing the partition key names decides: (tenant, case) is a case.
fn owner<'c>(table: &Table, key: impl Iterator<Item = &'c Column>) -> Owner {
    let order = [
        (Owner::Unit, UNIT),
        (Owner::Person, PERSON),
        (Owner::LongUnit, LONG_UNIT),
        (Owner::Group, GROUP),
        (Owner::Machine, MACHINE),
    ];
    let mut best: Option<usize> = None;
    for column in key {
        if column.meaning.is_bucket() || matches!(column.meaning, Meaning::Few(_) | Meaning::Time) {
            continue;
        }
        let found = |words: &[String]| order.iter().position(|(_, list)| any_word(words, list));
        // A bare `id` is an id of what the table is about; the last word that is no `id` says whose id it is.
        let is_ending =
            |w: &&String| matches!(w.as_str(), "id" | "uuid" | "guid" | "key" | "name" | "code" | "hash");
        let head = column.words.iter().rev().find(|w| !is_ending(w)).cloned();
        let found = match head {
            Some(head) => found(std::slice::from_ref(&head)).or_else(|| found(&column.words)),
            None if column.words.iter().any(|w| w == "id" || w == "uuid") => found(&subject_words(table)),
            None => found(&column.words),
        };
        best = match (best, found) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    best.and_then(|at| order.get(at)).map_or(Owner::Unknown, |(owner, _)| *owner)
}

pub fn time_bucket<'c>(columns: impl Iterator<Item = &'c Column>) -> Option<Grain> {
    columns
        .filter_map(|column| match column.meaning {
            Meaning::TimeBucket(grain) => Some(grain),
            _ => None,
        })
        .min()
}

/// Whether rows are numbered as they come, without end: a sequence, a version, an offset.
fn has_sequence(table: &Table) -> bool {
    const GROWING: &[&str] = &[
        "seq",
        "sequence",
        "offset",
        "height",
        "monoton",
        "milestone",
        "scn",
        "lsn",
        "nr",
        "version",
        "revision",
    ];
    table.clustering_columns().any(|c| c.meaning == Meaning::Sequence && any_word(&c.words, GROWING))
}

/// Whether the key of the rows names people or what they do.
fn is_about_people(table: &Table) -> bool {
    let mut keys = table.partition_columns().chain(table.clustering_columns());
    keys.any(|c| c.meaning == Meaning::Identity && any_word(&c.words, PERSON)) && !table.clustering.is_empty()
}

/// Whether a partition holds what a whole tenant has many of.
fn is_population<'c>(table: &Table, key: impl Iterator<Item = &'c Column>) -> bool {
    let mut wide = false;
    let mut crowded = false;
    for column in key {
        // Whoever takes part, and nothing about it but when.
        let is_roll = has_instant(table)
            && table.regular_columns().any(is_somebody)
            && table.regular_columns().all(|c| matches!(c.meaning, Meaning::Identity | Meaning::Time));
        let is_listed = is_roll || table.clustering_columns().any(is_somebody);
        let is_crowded = any_word(&column.words, CROWD) && is_listed;
        crowded |= is_crowded;
        let is_wide = any_word(&column.words, TENANT_LIKE) || column.is_container(table) || is_crowded;
        if !is_wide && !matches!(column.meaning, Meaning::Few(_)) {
            return false;
        }
        wide |= is_wide;
    }
    let subject = subject_words(table);
    // Who may do what in an application: as many as it has staff.
    if any_word(
        subject.last().map(std::slice::from_ref).unwrap_or(&[]),
        &["role", "permission", "grant", "setting"],
    ) {
        return false;
    }
    let is_many = |c: &Column| {
        let is_id = matches!(c.meaning, Meaning::Identity | Meaning::Other | Meaning::Label);
        let own = c.words.len() == 1 && matches!(c.words[0].as_str(), "id" | "uuid");
        let words = if own { &subject } else { &c.words };
        let many = any_word(words, POPULATION)
            || (c.meaning == Meaning::Identity
                && c.words.len() > 1
                && !any_word(words, REGISTRY)
                && !any_word(words, REFERENCE));
        is_id && many
    };
    wide && (crowded || table.clustering_columns().any(is_many))
}
