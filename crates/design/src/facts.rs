//! What can be told about one table: who owns a partition, what its rows are, how fast it may grow, what was declared.
//!
//! Computed once per table and read by all rules, so that two rules never disagree about the same table.

use crate::catalogue::{Catalogue, Column, Table, TableKind};
use crate::growth::{self, Growth};
use crate::numbers::Numbers;
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
#[derive(Debug)]
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
}

const MACHINE: &[&str] = &[
    "sensor",
    "device",
    "meter",
    "host",
    "server",
    "vehicle",
    "car",
    "truck",
    "drone",
    "machine",
    "probe",
    "node",
    "instance",
    "pod",
    "container",
    "gateway",
    "station",
    "symbol",
    "ticker",
    "instrument",
    "camera",
    "robot",
    "turbine",
    "tracker",
    "metric",
    "series",
    "router",
    "thermostat",
    "beacon",
    "plc",
    "hostname",
    "service",
    "exchange",
    "engine",
];
/// Words for people.
pub const PERSON: &[&str] = &[
    "user",
    "customer",
    "member",
    "author",
    "player",
    "patient",
    "owner",
    "employee",
    "student",
    "guest",
    "driver",
    "rider",
    "assignee",
    "follower",
    "subscriber",
    "person",
    "profile",
    "viewer",
    "reader",
    "buyer",
    "sender",
    "recipient",
    "passenger",
    "doctor",
    "username",
    "contact",
    "actor",
    "followee",
    "learner",
    "teacher",
    "candidate",
    "shopper",
    "traveler",
    "courier",
    "reviewer",
    "visitor",
    "email",
];
const GROUP: &[&str] = &[
    "tenant",
    "agency",
    "org",
    "organization",
    "organisation",
    "company",
    "team",
    "group",
    "conversation",
    "channel",
    "chat",
    "room",
    "thread",
    "topic",
    "product",
    "store",
    "shop",
    "merchant",
    "region",
    "city",
    "country",
    "campaign",
    "page",
    "site",
    "app",
    "application",
    "workspace",
    "game",
    "category",
    "hashtag",
    "tag",
    "feed",
    "stream",
    "warehouse",
    "branch",
    "department",
    "video",
    "article",
    "market",
    "guild",
    "forum",
    "board",
    "subreddit",
    "community",
    "route",
    "zone",
    "celebrity",
    "influencer",
    "queue",
    "url",
    "endpoint",
    "restaurant",
    "hotel",
    "airport",
    "repo",
    "repository",
    "seller",
    "stop",
    "domain",
    "brand",
    "school",
    "club",
    "hospital",
    "fleet",
    "plant",
    "factory",
];
const LONG_UNIT: &[&str] = &[
    "case",
    "ticket",
    "issue",
    "project",
    "document",
    "doc",
    "contract",
    "loan",
    "policy",
    "claim",
    "subscription",
    "asset",
    "wallet",
    "account",
    "investigation",
    "property",
    "post",
    "task",
    "entity",
    "aggregate",
    "incident",
    "object",
    "item",
    "listing",
];
const UNIT: &[&str] = &[
    "order",
    "trace",
    "session",
    "request",
    "cart",
    "basket",
    "invoice",
    "payment",
    "transaction",
    "trip",
    "ride",
    "job",
    "run",
    "build",
    "deployment",
    "shipment",
    "booking",
    "reservation",
    "quiz",
    "exam",
    "form",
    "recipe",
    "match",
    "message",
    "event",
    "transfer",
    "checkout",
    "workflow",
    "execution",
    "saga",
    "batch",
    "upload",
    "flight",
    "poll",
    "visit",
    "appointment",
    "import",
    "export",
    "release",
    "span",
    "receipt",
    "parcel",
    "package",
    "playlist",
    "album",
    "survey",
    "lesson",
    "auction",
    "meeting",
    "election",
    "tournament",
    "file",
    "photo",
    "image",
    "migration",
    "report",
    "token",
];
const TELEMETRY: &[&str] = &[
    "reading",
    "metric",
    "measurement",
    "telemetry",
    "sample",
    "tick",
    "location",
    "position",
    "ping",
    "heartbeat",
    "datapoint",
    "click",
    "impression",
    "pageview",
    "view",
    "hit",
    "trade",
    "quote",
    "signal",
    "gps",
    "temperature",
    "timeseries",
    "clickstream",
    "data",
    "track",
    "packet",
    "observation",
    "counter",
    "stat",
    "usage",
];
const HAPPENING: &[&str] = &[
    "event",
    "log",
    "audit",
    "activity",
    "history",
    "message",
    "notification",
    "feed",
    "timeline",
    "alert",
    "login",
    "change",
    "access",
    "transaction",
    "movement",
    "chat",
    "journal",
    "ledger",
    "operation",
    "entry",
    "visit",
    "search",
    "play",
    "listen",
    "watch",
    "error",
    "command",
    "update",
    "delivery",
    "call",
    "alarm",
    "mail",
    "email",
    "request",
    "record",
    "bid",
    "transition",
    "attempt",
    "incident",
    "trail",
];
const REFERENCE: &[&str] = &[
    "country",
    "currency",
    "language",
    "timezone",
    "config",
    "configuration",
    "setting",
    "flag",
    "permission",
    "role",
    "plan",
    "holiday",
    "unit",
    "lookup",
    "reference",
    "ref",
    "dim",
    "enum",
    "status",
    "template",
    "locale",
    "preference",
    "feature",
    "parameter",
    "option",
    "migration",
    "rate",
    "tariff",
    "translation",
    "dictionary",
    "catalog",
    "limit",
    "quota",
];

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
        let subject = subject_words(table);
        let has_time = table.clustering_columns().any(Column::is_chronological);
        let owner = owner(table);
        let mut content = content(&subject);
        if content == Content::Things && owner == Owner::Machine && has_time && holds_numbers(table) {
            content = Content::Telemetry;
        }
        let has_ids = table.clustering_columns().any(|c| c.meaning == Meaning::Identity);
        let time_bucket = time_bucket(table.partition_columns());
        let is_reference = any_word(&subject, REFERENCE) && !has_time;
        let mut facts = Facts {
            owner,
            content,
            is_history: has_time || (has_ids && content != Content::Things),
            is_reference,
            time_bucket,
            hash_bucket: table.partition_columns().any(|c| c.meaning == Meaning::HashBucket),
            has_weak_key: has_weak_key(table),
            numbers,
            write_rate,
            growth: Growth::default(),
        };
        facts.growth = growth::model(table, &facts);
        facts
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
        let rented = if self.owner == Owner::Machine && self.content == Content::Things { 2 } else { 0 };
        let sum = owner + content - ends - spread - rented;
        // An owner nobody knows is a doubt, however fast the rows come.
        if self.owner == Owner::Unknown { sum.min(3) } else { sum }
    }
}

/// Whether the row is nothing but measured values.
pub fn holds_numbers(table: &Table) -> bool {
    use cql_syntax::ast::NativeType::*;
    let mut values = table.regular_columns().filter(|c| !c.is_static).peekable();
    let is_number = |c: &Column| {
        matches!(
            native(&c.data_type),
            Some(Float | Double | Decimal | Int | Bigint | Smallint | Tinyint | Boolean)
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

/// The words of the table's name that say what its rows are: those before `by`.
pub fn subject_words(table: &Table) -> Vec<String> {
    let all = words(&table.name);
    let end =
        all.iter().position(|word| word == "by" || word == "per").filter(|at| *at > 0).unwrap_or(all.len());
    let mut subject = all.get(..end).unwrap_or(&[]).to_vec();
    if let TableKind::View { base } = &table.kind {
        subject.extend(words(base).into_iter().take_while(|word| word != "by"));
    }
    subject
}

fn content(subject: &[String]) -> Content {
    if any_word(subject, TELEMETRY) {
        Content::Telemetry
    } else if any_word(subject, HAPPENING) {
        Content::Happenings
    } else {
        Content::Things
    }
}

/// The smallest thing the partition key names decides: (tenant, case) is a case.
fn owner(table: &Table) -> Owner {
    let order = [
        (Owner::Unit, UNIT),
        (Owner::Person, PERSON),
        (Owner::LongUnit, LONG_UNIT),
        (Owner::Group, GROUP),
        (Owner::Machine, MACHINE),
    ];
    let mut best: Option<usize> = None;
    for column in table.partition_columns() {
        if column.meaning.is_bucket() || matches!(column.meaning, Meaning::Few(_) | Meaning::Time) {
            continue;
        }
        let words = words(&column.name);
        // A bare `id` is an id of what the table is about.
        let words = if words.len() == 1 && words[0] == "id" { subject_words(table) } else { words };
        let found = order.iter().position(|(_, list)| any_word(&words, list));
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

fn has_weak_key(table: &Table) -> bool {
    table
        .partition_columns()
        .all(|c| matches!(c.meaning, Meaning::Few(_) | Meaning::TimeBucket(_) | Meaning::Time))
}
