//! The rules. One file per rule or small family; a new rule is a new file and one line in the list of its dialect.

mod batch;
mod bucket;
mod cardinality;
mod collection;
mod condition;
mod constant;
mod copy;
mod dynamo;
mod fanout;
mod filtering;
mod hot;
mod index;
mod order;
mod queue;
mod refused;
mod retention;
mod serve;
mod shattered;
pub(crate) mod tenant;
pub(crate) mod tie_breaker;
mod time_only;
mod ttl_reads;
mod unbounded;
mod unused;
mod view;

use crate::catalogue::{Access, Catalogue, Table};
use crate::facts::Facts;
use crate::finding::{Finding, Findings, Severity};
use crate::source::Place;
use cql_syntax::Span;

/// One rule: its id, what it teaches, and its check.
pub struct Rule {
    pub id: &'static str,
    /// What it finds, in one line.
    pub title: &'static str,
    /// Why it matters.
    pub why: &'static str,
    pub bad: &'static str,
    pub good: &'static str,
    /// Where it was seen in public projects, and what came of it.
    pub seen: &'static str,
    pub check: fn(&Context<'_>, &mut Findings),
}

/// Every rule: those for CQL, then those for DynamoDB.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    CQL.iter().chain(dynamo::ALL).copied()
}

/// A rule may ask what earlier ones found, so those about the key itself come first.
static CQL: &[&Rule] = &[
    &constant::RULE,
    &cardinality::RULE,
    &time_only::RULE,
    &shattered::RULE,
    &unbounded::RULE,
    &bucket::RULE,
    &retention::RULE,
    &hot::RULE,
    &tie_breaker::RULE,
    &tenant::RULE,
    &order::RULE,
    &filtering::RULE,
    &fanout::RULE,
    &index::RULE,
    &view::RULE,
    &queue::RULE,
    &ttl_reads::RULE,
    &collection::RULE,
    &condition::RULE,
    &batch::RULE,
    &unused::RULE,
    &copy::RULE,
    &refused::RULE,
];

/// Whether the rule judges DynamoDB.
pub fn is_dynamo(rule: &Rule) -> bool {
    dynamo::ALL.iter().any(|known| known.id == rule.id)
}

/// What all rules find, in no order.
pub fn findings(catalogue: &Catalogue, facts: &[Facts]) -> Vec<Finding> {
    let mut findings = Findings::default();
    let context = Context { catalogue, facts };
    for rule in all() {
        (rule.check)(&context, &mut findings);
    }
    findings.into_list()
}

/// The rule of this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// What a rule looks at.
pub struct Context<'c> {
    pub catalogue: &'c Catalogue,
    /// One per table.
    pub facts: &'c [Facts],
}

impl<'c> Context<'c> {
    /// Tables and views with their number and facts.
    pub fn tables(&self) -> impl Iterator<Item = (usize, &'c Table, &'c Facts)> {
        let (tables, facts) = (&self.catalogue.tables, self.facts);
        tables.iter().zip(facts).enumerate().map(|(at, (table, facts))| (at, table, facts))
    }

    /// Reads and writes whose table is known.
    pub fn accesses(&self) -> impl Iterator<Item = (&'c Access, usize, &'c Table, &'c Facts)> {
        let (catalogue, facts) = (self.catalogue, self.facts);
        catalogue.accesses.iter().filter_map(move |access| {
            let at = access.table?;
            Some((access, at, catalogue.tables.get(at)?, facts.get(at)?))
        })
    }
}

/// A finding about a table, drawn at `span` of its file.
fn on_table(rule: &Rule, severity: Severity, table: &Table, span: Span) -> Finding {
    Finding {
        rule: rule.id,
        severity,
        keyspace: table.keyspace.clone(),
        table: Some(table.name.clone()),
        pattern: None,
        place: Place { file: table.place.file, span },
        message: String::new(),
        fix: String::new(),
    }
}

/// A finding about a read or write, drawn at `span` of its file.
fn on_access(rule: &Rule, severity: Severity, access: &Access, table: &Table, span: Span) -> Finding {
    Finding {
        pattern: access.pattern.clone(),
        place: Place { file: access.place.file, span },
        ..on_table(rule, severity, table, span)
    }
}

impl Finding {
    fn say(mut self, message: String, fix: String) -> Finding {
        self.message = message;
        self.fix = fix;
        self
    }
}

/// Where a column stands in the PRIMARY KEY clause; its declaration when it is not in the key.
fn key_span(table: &Table, column: &str) -> Span {
    let key = table.statement.primary_keys.first();
    let parts = key.into_iter().flat_map(|key| key.partition.iter().chain(&key.clustering));
    let found = parts.clone().find(|part| part.name == column).map(|part| part.span);
    found
        .filter(|span| span.end > span.start)
        .unwrap_or_else(|| table.column(column).map_or(table.place.span, |c| c.span))
}

/// From the first to the last column of the partition key.
fn partition_span(table: &Table) -> Span {
    let mut spans = table.partition_columns().map(|column| key_span(table, &column.name));
    let first = spans.next().unwrap_or(table.key_span);
    spans.fold(first, Span::to)
}
