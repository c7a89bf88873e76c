//! What a review says about a change of the schema, between computing the change and storing it.
//!
//! The review itself is behind [`Reviewer`]. Here is decided what is asked
//! (the table at hand, its access patterns, a few neighbours: never the whole catalogue), what of the answer is new,
//! and what it does: a warning in the answer, or with `review = 'enforce'` a refusal. A change that breaks an access
//! pattern is found by binding the pattern's statement again. Costs nothing on reads and writes: only schema statements
//! come here, and `review = 'off'` ends it at once.

use super::DdlPlan;
use crate::CqlError;
use crate::bind::Scope;
use crate::describe::{index_text, pattern_text, table_text, view_text};
use crate::prepared::Prepared;
use crate::shape::foreign_shape;
use cql_syntax::ast::Statement;
use cql_syntax::maybe_quote;
use database::review::{Objection, Reviewer};
use schema::fault::Warning;
use schema::{AccessPattern, Applied, Catalogue, Effect, EffectKind, Table, TargetKind};
use std::sync::Arc;

/// Warnings that one statement answers with at most, and characters of each: drivers log every one.
const WARNINGS_MAX: usize = 4;
const WARNING_CHARACTERS_MAX: usize = 400;

/// Other tables that a review may look at, to find copies.
const NEIGHBOURS_MAX: usize = 12;

/// A table is created before the patterns that will read it.
const TOO_EARLY: &str = "unused-table";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Enforce,
    Warn,
    Off,
}

/// The table's own word, else its keyspace's, else a warning.
fn mode(catalogue: &Catalogue, keyspace: &str, table: Option<&Table>) -> Mode {
    let of_table = table.map(|table| table.options.review.as_str()).filter(|word| !word.is_empty());
    let of_keyspace = || catalogue.keyspace(keyspace).map(|keyspace| keyspace.review.as_str());
    match of_table.or_else(of_keyspace) {
        Some("enforce") => Mode::Enforce,
        Some("off") => Mode::Off,
        _ => Mode::Warn,
    }
}

/// Adds warnings to what was applied, or refuses it.
pub(super) fn judge(
    plan: &DdlPlan,
    reviewer: Option<&dyn Reviewer>,
    before: &Catalogue,
    applied: &mut Applied,
) -> Result<(), CqlError> {
    let Some(effect) = applied.effect.clone() else { return Ok(()) };
    let after = &applied.catalogue;
    let subject = Subject::of(&effect, before, after);
    let table = subject.table.as_deref();
    let new = table.and_then(|name| after.table(&subject.keyspace, name));
    let old = table.and_then(|name| before.table(&subject.keyspace, name));
    let mode = mode(
        if after.keyspace(&subject.keyspace).is_some() { after } else { before },
        &subject.keyspace,
        new.or(old).map(|table| &**table),
    );
    if mode == Mode::Off {
        return Ok(());
    }
    let mut texts = Vec::new();
    for (pattern, fault) in broken(&effect, before, after) {
        if mode == Mode::Enforce {
            return Err(CqlError::Invalid(format!(
                "This would break access pattern {pattern} ({fault}), and the review is enforced. Drop or alter \
                 the pattern first (DROP ACCESS PATTERN {pattern}), or set review = 'warn'"
            )));
        }
        texts.push(shorten(format!("review error: this breaks access pattern {pattern}: {fault}")));
    }
    let objections = match reviewer {
        Some(reviewer) => subject.objections(plan, reviewer, before, after),
        None => Vec::new(),
    };
    if mode == Mode::Enforce
        && let Some(error) = objections.iter().find(|o| o.is_error)
    {
        return Err(refusal(error, &objections));
    }
    if effect.target == TargetKind::Pattern
        && effect.kind != EffectKind::Dropped
        && !objections.iter().any(|o| o.is_error && o.pattern.as_deref() == Some(&effect.name))
        && let Some(fault) = subject.fault(&effect, after)
    {
        let text = format!("access pattern {} cannot run as the schema stands: {fault}", effect.name);
        match mode {
            Mode::Enforce => return Err(CqlError::Invalid(format!("The review is enforced, and {text}"))),
            _ => texts.push(shorten(format!("review error: {text}"))),
        }
    }
    texts.extend(objections.iter().map(warning));
    let left_out = texts.len().saturating_sub(WARNINGS_MAX);
    if left_out > 0 {
        texts.truncate(WARNINGS_MAX);
        texts.push(format!("review: {left_out} more findings; `partita review` shows all"));
    }
    applied.warnings.extend(texts.into_iter().map(Warning::Written));
    Ok(())
}

fn warning(objection: &Objection) -> String {
    let severity = if objection.is_error { "error" } else { "warning" };
    let Objection { rule, message, .. } = objection;
    let text = shorten(format!("review {severity} ({rule}): {message}"));
    format!("{text} [partita review --explain {rule}]")
}

fn shorten(mut text: String) -> String {
    if let Some((cut, _)) = text.char_indices().nth(WARNING_CHARACTERS_MAX) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

fn refusal(error: &Objection, all: &[Objection]) -> CqlError {
    let Objection { rule, message, fix, .. } = error;
    let others: Vec<&str> =
        all.iter().filter(|o| o.is_error && *o != error).map(|o| o.rule.as_str()).collect();
    let more = if others.is_empty() { String::new() } else { format!(" Also: {}.", others.join(", ")) };
    CqlError::Invalid(format!(
        "Refused by the review ({rule}): {message}.{more} Fix:\n{fix}\n\
         `partita review --explain {rule}` teaches the rule; WITH review = 'warn' lets the statement pass with a warning"
    ))
}

/// What a change is about.
struct Subject {
    keyspace: String,
    /// The table that is created, altered or dropped, or that the pattern reads or writes.
    table: Option<String>,
    pattern: Option<String>,
    is_new_table: bool,
}

impl Subject {
    fn of(effect: &Effect, before: &Catalogue, after: &Catalogue) -> Subject {
        let mut subject = Subject {
            keyspace: effect.keyspace.clone(),
            table: None,
            pattern: None,
            is_new_table: effect.target == TargetKind::Table && effect.kind == EffectKind::Created,
        };
        match effect.target {
            TargetKind::Table => subject.table = Some(effect.name.clone()),
            TargetKind::Pattern => {
                subject.pattern = Some(effect.name.clone());
                let found = pattern(after, effect).or_else(|| pattern(before, effect));
                if let Some((keyspace, table)) = found.and_then(|p| table_of(&p.statement)) {
                    subject.keyspace = keyspace.unwrap_or_else(|| effect.keyspace.clone());
                    subject.table = Some(table);
                }
            }
            TargetKind::Keyspace | TargetKind::Type | TargetKind::Function | TargetKind::Aggregate => {}
        }
        subject
    }

    /// What the review says now and did not say before.
    fn objections(
        &self,
        plan: &DdlPlan,
        reviewer: &dyn Reviewer,
        before: &Catalogue,
        after: &Catalogue,
    ) -> Vec<Objection> {
        let Some(name) = &self.table else { return Vec::new() };
        if after.table(&self.keyspace, name).is_none() {
            return Vec::new();
        }
        let ours = |o: &Objection| {
            o.table.as_ref() == Some(name) || (o.pattern.is_some() && o.pattern == self.pattern)
        };
        let mut now = self.ask(reviewer, after, Some(plan));
        now.retain(|o| ours(o) && !(self.is_new_table && o.rule == TOO_EARLY));
        if !self.is_new_table && !now.is_empty() {
            let known = self.ask(reviewer, before, None);
            // What is said about an index names its column; the table may have another one with the same fault.
            let is_index = matches!(plan.statement, Statement::CreateIndex(_));
            let same = |a: &Objection, b: &Objection| {
                (&a.rule, a.is_error, &a.pattern) == (&b.rule, b.is_error, &b.pattern)
                    && (!is_index || a.message == b.message)
            };
            now.retain(|o| !known.iter().any(|k| ours(k) && same(k, o)));
        }
        // Errors first: the number of warnings is limited.
        now.sort_by_key(|o| !o.is_error);
        now
    }

    /// Reviews the table in one state of the catalogue. A statement that creates is given as it was written, because
    /// its comments may allow what the review would find.
    fn ask(&self, reviewer: &dyn Reviewer, catalogue: &Catalogue, plan: Option<&DdlPlan>) -> Vec<Objection> {
        let Some((keyspace, table)) = self.table.as_ref().and_then(|name| {
            Some((catalogue.keyspace(&self.keyspace)?, catalogue.table(&self.keyspace, name)?))
        }) else {
            return Vec::new();
        };
        let created = |of: fn(&Statement) -> bool| plan.filter(|plan| of(&plan.statement));
        let mut statements: Vec<String> =
            neighbours(keyspace, table).iter().map(|table| table_text(table, false)).collect();
        // A view means something only behind its base.
        let base = table.view.as_ref().and_then(|view| keyspace.table(&view.base));
        statements.extend(base.map(|base| table_text(base, false)));
        let makes_it = |s: &Statement| matches!(s, Statement::CreateTable(_) | Statement::CreateView(_));
        statements.push(match (created(makes_it), &table.view) {
            (Some(plan), _) => plan.source(),
            (None, Some(view)) => view_text(keyspace, table, view, false),
            (None, None) => table_text(table, false),
        });
        let index = created(|s| matches!(s, Statement::CreateIndex(_)));
        for known in &table.indexes {
            statements.push(match index {
                // The newest id is that of the index that the statement makes.
                Some(plan) if known.id + 1 == catalogue.next_table_id => plan.source(),
                _ => index_text(table, known),
            });
        }
        let written = created(|s| matches!(s, Statement::CreatePattern(_)));
        for (place, pattern) in all_patterns(catalogue) {
            match written {
                Some(plan)
                    if self.pattern.as_deref() == Some(&*pattern.name) && *plan.keyspace == **place =>
                {
                    statements.push(plan.source());
                }
                _ if concerns(pattern, place, table) => statements.push(pattern_text(place, pattern)),
                _ => {}
            }
        }
        reviewer.review(&self.keyspace, &statements)
    }

    /// Why the pattern's statement cannot be bound.
    fn fault(&self, effect: &Effect, after: &Catalogue) -> Option<CqlError> {
        bind_fault(after, &effect.keyspace, &pattern(after, effect)?.statement)
    }
}

fn pattern<'c>(catalogue: &'c Catalogue, effect: &Effect) -> Option<&'c Arc<AccessPattern>> {
    catalogue.keyspace(&effect.keyspace)?.patterns.get(effect.name.as_str())
}

fn all_patterns(catalogue: &Catalogue) -> impl Iterator<Item = (&Arc<str>, &Arc<AccessPattern>)> {
    catalogue.keyspaces.values().flat_map(|k| k.patterns.values().map(move |p| (&k.name, p)))
}

/// Whether a pattern of `keyspace` reads or writes the table. The name is looked for first: it is cheaper than parsing.
fn concerns(pattern: &AccessPattern, keyspace: &str, table: &Table) -> bool {
    pattern.statement.contains(&*table.name)
        && table_of(&pattern.statement).is_some_and(|(place, name)| {
            *name == *table.name && *place.as_deref().unwrap_or(keyspace) == *table.keyspace
        })
}

/// The keyspace, if written, and the table of a statement.
fn table_of(statement: &str) -> Option<(Option<String>, String)> {
    let parsed = cql_syntax::parse_statement(statement).ok()?;
    let name = match &parsed.statement {
        Statement::Select(select) => &select.table,
        Statement::Insert(insert) => &insert.table,
        Statement::Update(update) => &update.table,
        Statement::Delete(delete) => &delete.table,
        _ => return None,
    };
    Some((name.keyspace_str().map(str::to_string), name.as_str().to_string()))
}

/// Tables of the keyspace whose names share a word with this one: a copy is named after what it copies.
fn neighbours<'c>(keyspace: &'c schema::Keyspace, table: &Table) -> Vec<&'c Arc<Table>> {
    let words: Vec<&str> = table.name.split('_').filter(|word| word.len() > 2).collect();
    let base = table.view.as_ref().map(|view| &view.base);
    let related = |other: &&Arc<Table>| {
        other.name != table.name
            && Some(&other.name) != base
            && other.view.is_none()
            && other.name.split('_').any(|word| words.contains(&word))
    };
    keyspace.tables.values().filter(related).take(NEIGHBOURS_MAX).collect()
}

/// Patterns whose statements could be bound before and cannot be after, with why.
fn broken(effect: &Effect, before: &Catalogue, after: &Catalogue) -> Vec<(String, CqlError)> {
    let touched = match effect.target {
        TargetKind::Table if effect.kind != EffectKind::Created => effect.name.as_str(),
        TargetKind::Keyspace if effect.kind == EffectKind::Dropped => effect.keyspace.as_str(),
        _ => return Vec::new(),
    };
    let still =
        |place: &str, name: &str| after.keyspace(place).is_some_and(|k| k.patterns.contains_key(name));
    let candidates = all_patterns(before)
        .filter(|(place, pattern)| pattern.statement.contains(touched) && still(place, &pattern.name));
    let fault = |(place, pattern): (&Arc<str>, &Arc<AccessPattern>)| {
        let fault = bind_fault(after, place, &pattern.statement)?;
        if bind_fault(before, place, &pattern.statement).is_some() {
            return None;
        }
        Some((format!("{}.{}", maybe_quote(place), maybe_quote(&pattern.name)), fault))
    };
    candidates.filter_map(fault).collect()
}

/// Why the statement cannot be bound; `None` when the schema serves it.
pub(crate) fn bind_fault(catalogue: &Catalogue, keyspace: &str, statement: &str) -> Option<CqlError> {
    // What the DynamoDB API does to its tables is declared in CQL, and more of it than CQL itself does.
    if let Ok(parsed) = cql_syntax::parse_statement(statement) {
        let scope = Scope { catalogue, keyspace: Some(keyspace) };
        if let Some(shape) = foreign_shape(scope, &parsed.statement) {
            return shape.err();
        }
    }
    Prepared::new(Scope { catalogue, keyspace: Some(keyspace) }, statement, 0).err()
}
