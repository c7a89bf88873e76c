//! What the files say about DynamoDB: tables with their keys and indexes, and the operations of the application.

use super::expression::{Change, Term};
use super::template::Template;
use crate::source::Place;
use crate::vocabulary::{Meaning, meaning, words};
use cql_syntax::Span;
use cql_syntax::ast::{DataType, NativeType};

/// Everything of DynamoDB that the files declare.
#[derive(Debug, Default)]
pub struct Model {
    pub tables: Vec<Table>,
    /// Batches and transactions are there with their members behind them.
    pub operations: Vec<Operation>,
}

/// How a definition is written, so that a repair is written the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    CloudFormation,
    Terraform,
    Workbench,
    Short,
}

#[derive(Debug, Clone)]
pub struct Table {
    pub name: String,
    /// Other names that operations may use: logical ids, labels.
    pub aliases: Vec<String>,
    pub form: Form,
    pub place: Place,
    pub hash: Key,
    pub range: Option<Key>,
    pub indexes: Vec<Index>,
    pub ttl: Option<Ttl>,
    /// Items given as samples (NoSQL Workbench).
    pub samples: Vec<Vec<(String, Template)>>,
    pub words: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Key {
    pub name: String,
    /// `S`, `N`, `B`; none when nothing declares it.
    pub kind: Option<char>,
    pub span: Span,
    pub words: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Ttl {
    pub attribute: String,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projection {
    All,
    KeysOnly,
    Include(Vec<String>),
}

#[derive(Debug, Clone)]
pub struct Index {
    pub name: String,
    pub hash: Key,
    pub range: Option<Key>,
    pub is_local: bool,
    pub projection: Projection,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Get,
    Put,
    Update,
    Delete,
    Query,
    Scan,
    BatchGet,
    BatchWrite,
    TransactGet,
    TransactWrite,
}

impl Action {
    pub fn named(name: &str) -> Option<Action> {
        let name: String =
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        Some(match name.as_str() {
            "getitem" | "get" => Action::Get,
            "putitem" | "put" => Action::Put,
            "updateitem" | "update" => Action::Update,
            "deleteitem" | "delete" => Action::Delete,
            "query" => Action::Query,
            "scan" => Action::Scan,
            "batchgetitem" | "batchget" => Action::BatchGet,
            "batchwriteitem" | "batchwrite" => Action::BatchWrite,
            "transactgetitems" | "transactget" => Action::TransactGet,
            "transactwriteitems" | "transactwrite" => Action::TransactWrite,
            _ => return None,
        })
    }

    pub const fn name(self) -> &'static str {
        match self {
            Action::Get => "GetItem",
            Action::Put => "PutItem",
            Action::Update => "UpdateItem",
            Action::Delete => "DeleteItem",
            Action::Query => "Query",
            Action::Scan => "Scan",
            Action::BatchGet => "BatchGetItem",
            Action::BatchWrite => "BatchWriteItem",
            Action::TransactGet => "TransactGetItems",
            Action::TransactWrite => "TransactWriteItems",
        }
    }

    pub const fn is_read(self) -> bool {
        matches!(self, Action::Get | Action::Query | Action::Scan | Action::BatchGet | Action::TransactGet)
    }

    pub const fn is_group(self) -> bool {
        matches!(self, Action::BatchGet | Action::BatchWrite | Action::TransactGet | Action::TransactWrite)
    }
}

/// One operation of the application.
#[derive(Debug, Clone)]
pub struct Operation {
    pub action: Action,
    /// The name that the application gives it.
    pub name: Option<String>,
    pub place: Place,
    pub table_name: Option<String>,
    pub table: Option<usize>,
    pub index: Option<String>,
    /// The condition of a Query on its key.
    pub key: Option<Expression>,
    /// The key of a single item, and the attributes of a put item.
    pub item: Vec<(String, Template)>,
    pub filter: Option<Expression>,
    pub condition: Option<Expression>,
    pub update: Option<Update>,
    /// What is read; empty when everything is.
    pub projection: Vec<String>,
    pub is_consistent: bool,
    pub is_forward: Option<bool>,
    pub limit: Option<u64>,
    pub has_segments: bool,
    /// What is done with each result: a read of the item, for example.
    pub then: Option<String>,
    /// It writes back what it read just before.
    pub after_read: bool,
    /// Per second, where declared.
    pub rate: Option<f64>,
    pub has_ttl: bool,
    /// The batch or transaction that it is in.
    pub member_of: Option<Action>,
    pub member_count: usize,
}

#[derive(Debug, Clone)]
pub struct Expression {
    pub terms: Vec<Term>,
    pub has_or: bool,
    pub span: Span,
    pub text: String,
}

#[derive(Debug, Clone)]
pub struct Update {
    pub changes: Vec<Change>,
    pub span: Span,
    pub text: String,
}

impl Key {
    pub fn new(name: &str, kind: Option<char>, span: Span) -> Key {
        Key { name: name.to_string(), kind, span, words: words(name) }
    }

    /// A name that says nothing: `PK`, `GSI1SK`, `hash`. What such a key holds, only operations say.
    pub fn is_generic(&self) -> bool {
        is_generic(&self.name)
    }

    pub fn meaning(&self) -> Meaning {
        meaning_of(&self.words, self.kind)
    }
}

pub fn is_generic(name: &str) -> bool {
    let letters: String =
        name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    let stem = ["gsi", "lsi"]
        .iter()
        .fold(letters.as_str(), |rest, prefix| rest.strip_prefix(prefix).unwrap_or(rest));
    matches!(
        stem,
        "" | "pk"
            | "sk"
            | "hash"
            | "range"
            | "hashkey"
            | "rangekey"
            | "sortkey"
            | "partitionkey"
            | "partition"
            | "sort"
            | "key"
            | "hk"
            | "rk"
            | "data"
            | "primarykey"
    )
}

/// What an attribute holds, by its words and its type.
pub fn meaning_of(words: &[String], kind: Option<char>) -> Meaning {
    let native = match kind {
        Some('N') => NativeType::Bigint,
        Some('B') => NativeType::Blob,
        _ => NativeType::Text,
    };
    meaning(words, &DataType::native(native))
}

impl Table {
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| same_name(&index.name, name))
    }

    /// The attributes of the table's own key.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.hash).chain(&self.range)
    }

    pub fn has_local_index(&self) -> bool {
        self.indexes.iter().any(|index| index.is_local)
    }
}

impl Index {
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.hash).chain(&self.range)
    }
}

/// Names as definitions and code write them: `by_status`, `ByStatus`, `${env}-by-status` are one.
pub fn same_name(a: &str, b: &str) -> bool {
    a == b || (!plain_name(a).is_empty() && plain_name(a) == plain_name(b))
}

/// Letters and digits without interpolations, in lower case.
pub fn plain_name(name: &str) -> String {
    let mut out = String::new();
    let mut nested = 0_usize;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '$' if chars.peek() == Some(&'{') => {
                chars.next();
                nested += 1;
            }
            '{' if nested > 0 => nested += 1,
            '}' if nested > 0 => nested -= 1,
            c if nested == 0 && c.is_alphanumeric() => out.extend(c.to_lowercase()),
            _ => {}
        }
    }
    out
}

impl Operation {
    /// How a message calls it.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} {name}", self.action.name()),
            None => self.action.name().to_string(),
        }
    }

    pub fn filters(&self) -> &[Term] {
        self.filter.as_ref().map_or(&[], |filter| &filter.terms)
    }

    pub fn key_terms(&self) -> &[Term] {
        self.key.as_ref().map_or(&[], |key| &key.terms)
    }

    pub fn changes(&self) -> &[Change] {
        self.update.as_ref().map_or(&[], |update| &update.changes)
    }

    /// What the operation gives this attribute: in a key, an item, or a condition on the key.
    pub fn given<'o>(&'o self, attribute: &str) -> Option<&'o Template> {
        let item = self.item.iter().find(|(name, _)| name == attribute).map(|(_, value)| value);
        let changed =
            || self.changes().iter().find(|c| c.attribute == attribute).and_then(|c| c.value.as_ref());
        let term =
            || self.key_terms().iter().find(|t| t.attribute == attribute).and_then(|t| t.value.as_ref());
        item.or_else(term).or_else(changed)
    }

    pub fn is_write(&self) -> bool {
        matches!(self.action, Action::Put | Action::Update)
    }
}

/// A name without its interpolations.
pub fn plain_text(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        out.push('_');
        let inside = &rest[at + 2..];
        rest = inside.find('}').map_or("", |end| &inside[end + 1..]);
    }
    out.push_str(rest);
    out
}
