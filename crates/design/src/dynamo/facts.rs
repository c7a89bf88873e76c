//! What can be told about one DynamoDB table: what its operations do, what its keys hold, and how well they spread.

use super::expression::{ChangeKind, Comparison};
use super::model::{Action, Index, Key, Model, Operation, Table, is_generic, meaning_of};
use super::template::Template;
use crate::facts::{Content, Owner};
use crate::lexicon::{GROUP, HAPPENING, LONG_UNIT, MACHINE, PERSON, REFERENCE, TELEMETRY, UNIT};
use crate::vocabulary::{Meaning, any_word, words};
use cql_syntax::Span;

/// What a shared attribute with several constants is called.
pub const CONSTANTS: &str = "constants";

/// How well the values of a hash key part the items.
#[derive(Debug, Clone, PartialEq)]
pub enum Spread {
    /// Many values, or nothing speaks against it.
    Good,
    /// A suffix spreads it on purpose.
    Sharded,
    Constant(String),
    /// About so many values, and the word that says so.
    Few(u32, String),
    /// A day, a month: all that is written now has the same value.
    Period(String),
    /// An instant: nobody can ask for it again.
    Instant(String),
    /// A generic name, and no operation says what it holds.
    Unknown,
}

/// One kind of item: the keys that writes or samples give.
#[derive(Debug, Clone)]
pub struct Entity<'m> {
    pub hash: Option<&'m Template>,
    pub range: Option<&'m Template>,
    pub operation: Option<&'m Operation>,
    pub attributes: Vec<(&'m str, &'m Template)>,
}

/// A table with all that uses it.
pub struct View<'m> {
    pub table: &'m Table,
    pub operations: Vec<&'m Operation>,
}

/// The words of things that are few by nature, beyond those of CQL's registry tables.
const SMALL: &[&str] = &[
    "config",
    "configuration",
    "setting",
    "feature",
    "toggle",
    "parameter",
    "option",
    "category",
    "plan",
    "template",
    "role",
    "permission",
    "version",
    "metadata",
    "meta",
    "registry",
    "definition",
    "schema",
    "schedule",
    "rule",
    "policy",
    "environment",
    "region",
    "market",
    "tenant",
    "organization",
    "organisation",
    "counter",
    "sequence",
    "checkpoint",
    "migration",
    "secret",
    "key",
    "lookup",
    "mapping",
    "catalog",
    "menu",
    "franchise",
    "agent",
    "workflow",
    "pipeline",
    "repository",
    "repo",
    "project",
    "cluster",
    "department",
    "team",
    "model",
    "provider",
    "service",
    "channel",
    "webhook",
    "source",
    "connector",
    "integration",
];
const SHARD: &[&str] =
    &["shard", "bucket", "suffix", "random", "rand", "salt", "slot", "mod", "hash", "stripe"];

impl<'m> View<'m> {
    pub fn of(model: &'m Model, at: usize) -> Option<View<'m>> {
        let table = model.tables.get(at)?;
        let operations =
            model.operations.iter().filter(|o| o.table == Some(at) && !o.action.is_group()).collect();
        Some(View { table, operations })
    }

    /// Every table of the model with its operations, each operation looked at once.
    pub fn all(model: &'m Model) -> Vec<View<'m>> {
        let mut views: Vec<View<'m>> =
            model.tables.iter().map(|table| View { table, operations: Vec::new() }).collect();
        for operation in model.operations.iter().filter(|o| !o.action.is_group()) {
            if let Some(view) = operation.table.and_then(|at| views.get_mut(at)) {
                view.operations.push(operation);
            }
        }
        views
    }

    pub fn writes(&self) -> impl Iterator<Item = &'m Operation> {
        self.operations.iter().copied().filter(|o| o.is_write())
    }

    pub fn reads(&self) -> impl Iterator<Item = &'m Operation> {
        self.operations.iter().copied().filter(|o| o.action.is_read())
    }

    /// Reads through an index, or through the table itself.
    pub fn reads_of(&self, index: Option<&'m Index>) -> impl Iterator<Item = &'m Operation> {
        let table = self.table;
        self.reads().filter(move |o| match (&o.index, index) {
            (None, None) => true,
            (Some(name), Some(index)) => table.index(name).is_some_and(|found| std::ptr::eq(found, index)),
            _ => false,
        })
    }

    /// What writes and samples give an attribute; what reads give it when no write says.
    pub fn values(&self, attribute: &str) -> Vec<(&'m Template, Option<&'m Operation>)> {
        let mut out: Vec<(&'m Template, Option<&'m Operation>)> = Vec::new();
        for operation in self.writes() {
            out.extend(operation.given(attribute).map(|value| (value, Some(operation))));
        }
        let table = self.table;
        let samples = table.samples.iter().flat_map(|item| item.iter());
        let samples: Vec<&'m Template> =
            samples.filter(|(name, _)| name == attribute).map(|(_, value)| value).collect();
        // Samples are examples of values: only where they all agree do they say more than that the attribute exists.
        if out.is_empty() && samples.len() > 2 && samples.iter().all(|s| s.text == samples[0].text) {
            out.push((samples[0], None));
        }
        if out.is_empty() && samples.is_empty() {
            for operation in self.reads() {
                out.extend(operation.given(attribute).map(|value| (value, Some(operation))));
            }
        }
        out
    }

    /// The kinds of items, by the keys that writes give; samples count by their prefix.
    pub fn entities(&self) -> Vec<Entity<'m>> {
        let table = self.table;
        let find = |item: &'m [(String, Template)], key: &str| {
            item.iter().find(|(name, _)| name == key).map(|(_, value)| value)
        };
        let range_name = table.range.as_ref().map_or("", |key| key.name.as_str());
        let mut out: Vec<Entity<'m>> = Vec::new();
        for operation in
            self.operations.iter().copied().filter(|o| !matches!(o.action, Action::Query | Action::Scan))
        {
            let hash = operation.given(&table.hash.name);
            let range = operation.given(range_name);
            if hash.is_none() && range.is_none() {
                continue;
            }
            let known = out.iter_mut().find(|e| {
                e.hash.map(|t| &t.text) == hash.map(|t| &t.text)
                    && e.range.map(|t| &t.text) == range.map(|t| &t.text)
            });
            let attributes = operation.item.iter().map(|(name, value)| (name.as_str(), value));
            match known {
                Some(entity) => entity.attributes.extend(attributes),
                None => out.push(Entity {
                    hash,
                    range,
                    operation: Some(operation),
                    attributes: attributes.collect(),
                }),
            }
        }
        for item in &table.samples {
            out.push(Entity {
                hash: find(item, &table.hash.name),
                range: find(item, range_name),
                operation: None,
                attributes: item.iter().map(|(name, value)| (name.as_str(), value)).collect(),
            });
        }
        out
    }

    /// How a hash key spreads, by what operations give it, else by its name.
    pub fn spread(&self, hash: &Key) -> Spread {
        let values = self.values(&hash.name);
        if values.is_empty() {
            return if hash.is_generic() { Spread::Unknown } else { by_meaning(hash.meaning(), &hash.name) };
        }
        let spreads: Vec<Spread> = values.iter().map(|(value, _)| of_template(value, hash)).collect();
        // Several kinds of items under one attribute: it is as good as its constants differ.
        let constants: std::collections::HashSet<&str> =
            values.iter().filter(|(v, _)| v.is_constant()).map(|(v, _)| v.text.as_str()).collect();
        if spreads.iter().all(|s| matches!(s, Spread::Constant(_))) && constants.len() > 1 {
            let what = if hash.is_generic() { CONSTANTS.to_string() } else { hash.name.clone() };
            return Spread::Few(constants.len() as u32, what);
        }
        // The name speaks when operations only bind it.
        let rank = |s: &Spread| match s {
            Spread::Good | Spread::Sharded => 0,
            Spread::Unknown => 1,
            Spread::Instant(_) => 2,
            Spread::Period(_) => 3,
            Spread::Few(..) => 4,
            Spread::Constant(_) => 5,
        };
        spreads.into_iter().min_by_key(rank).unwrap_or(Spread::Unknown)
    }

    /// Items may be without the attribute: an index on it holds only some.
    pub fn is_sparse(&self, attribute: &str) -> bool {
        let removed = self
            .operations
            .iter()
            .any(|o| o.changes().iter().any(|c| c.attribute == attribute && c.kind == ChangeKind::Remove));
        let puts: Vec<&Operation> =
            self.writes().filter(|o| o.action == Action::Put && !o.item.is_empty()).collect();
        let with = puts.iter().filter(|o| o.given(attribute).is_some()).count();
        removed || (with > 0 && with < puts.len())
    }

    /// A small table of settings or kinds.
    pub fn is_small(&self) -> bool {
        let words = &self.table.words;
        // The last words are what an item is: `config`, but not `account_events`.
        let last = words.iter().rev().find(|w| {
            !matches!(
                w.as_str(),
                "table" | "dynamo" | "db" | "ddb" | "dynamodb" | "store" | "prod" | "dev" | "data"
            )
        });
        let last = last.map(std::slice::from_ref).unwrap_or(&[]);
        any_word(words, REFERENCE) || any_word(last, SMALL)
    }

    /// Writes per second over the table, where declared.
    pub fn write_rate(&self) -> Option<f64> {
        let rates: Vec<f64> =
            self.operations.iter().filter(|o| !o.action.is_read()).filter_map(|o| o.rate).collect();
        (!rates.is_empty()).then(|| rates.iter().sum())
    }

    pub fn has_deletes(&self) -> bool {
        self.operations.iter().any(|o| o.action == Action::Delete)
    }

    /// Where an attribute's key stands, or the table.
    pub fn key_span(&self, key: &Key) -> Span {
        if key.span.end > key.span.start { key.span } else { self.table.place.span }
    }

    /// What the items are, by the words of the table.
    pub fn content(&self) -> Content {
        if any_word(&self.table.words, TELEMETRY) {
            Content::Telemetry
        } else if any_word(&self.table.words, HAPPENING) {
            Content::Happenings
        } else {
            Content::Things
        }
    }

    /// Whose items one hash value holds, by the words of the key.
    pub fn owner(&self, hash: &Key) -> Owner {
        let mut all = hash.words.clone();
        for (value, _) in self.values(&hash.name) {
            all.extend(value.holes().flat_map(words));
        }
        [
            (UNIT, Owner::Unit),
            (MACHINE, Owner::Machine),
            (PERSON, Owner::Person),
            (LONG_UNIT, Owner::LongUnit),
            (GROUP, Owner::Group),
        ]
        .iter()
        .find(|(list, _)| any_word(&all, list))
        .map_or(Owner::Unknown, |(_, owner)| *owner)
    }

    /// Whether items are added under one hash value as time goes by.
    pub fn is_appended(&self) -> bool {
        let Some(range) = &self.table.range else { return false };
        let ordered = |meaning| matches!(meaning, Meaning::Time | Meaning::Sequence);
        let unique = ["ulid", "ksuid", "timeuuid", "uuidv7", "timestamp", "ts", "epoch"];
        let by_name = ordered(range.meaning()) || any_word(&range.words, &unique);
        let holes = |t: &Template| {
            t.holes().any(|hole| ordered(meaning_of(&words(hole), None)) || any_word(&words(hole), &unique))
        };
        by_name || self.values(&range.name).iter().any(|(value, _)| holes(value))
    }
}

fn by_meaning(meaning: Meaning, what: &str) -> Spread {
    match meaning {
        Meaning::Few(values) if values <= 60 => Spread::Few(values, what.to_string()),
        Meaning::TimeBucket(_) => Spread::Period(what.to_string()),
        Meaning::Time => Spread::Instant(what.to_string()),
        Meaning::HashBucket => Spread::Sharded,
        _ => Spread::Good,
    }
}

fn of_template(value: &Template, hash: &Key) -> Spread {
    if value.is_constant() {
        return Spread::Constant(value.text.clone());
    }
    if value.holes().any(|hole| any_word(&words(hole), SHARD)) {
        return Spread::Sharded;
    }
    let mut worst: Option<Spread> = None;
    for hole in value.holes() {
        // `:p` for `pk` says nothing; the attribute's own name may.
        let silent = hole.len() <= 2 || is_generic(hole) || hole.eq_ignore_ascii_case("value");
        let spread = if !silent {
            by_meaning(meaning_of(&words(hole), None), hole)
        } else if value.is_bare() && !hash.is_generic() {
            by_meaning(hash.meaning(), &hash.name)
        } else if value.is_bare() {
            Spread::Unknown
        } else {
            Spread::Good
        };
        worst = match (worst, spread) {
            (None, spread) => Some(spread),
            (Some(Spread::Good | Spread::Sharded), _) | (_, Spread::Good | Spread::Sharded) => {
                Some(Spread::Good)
            }
            (Some(Spread::Few(a, x)), Spread::Few(b, y)) => {
                let both = a.saturating_mul(b);
                Some(if both > 1_000 { Spread::Good } else { Spread::Few(both, format!("{x} and {y}")) })
            }
            (Some(known @ (Spread::Period(_) | Spread::Instant(_))), _) => Some(known),
            (_, spread) => Some(spread),
        };
    }
    worst.unwrap_or(Spread::Good)
}

/// Whether a term fixes its attribute to one value.
pub fn is_equal(comparison: Comparison) -> bool {
    comparison == Comparison::Equal
}
