//! Suppression by comment: `-- partita:allow RULE[, RULE]: reason`.
//!
//! A comment before a statement or inside it speaks for the findings in that statement; behind a statement on its last
//! line too; with `allow-file` for the whole file. Without a reason it has no effect, and the review says so.
//! The same words in a table's `comment` option speak for the table wherever its definition travels: servers keep options,
//! not comments.

use crate::catalogue::Catalogue;
use crate::finding::{Finding, Severity};
use crate::source::Place;

/// The rule under which a suppression without reason is reported.
pub const BARE: &str = "bare-suppression";

struct Permit {
    rules: Vec<String>,
    place: Place,
    whole_file: bool,
}

/// Drops the findings that a comment allows; adds one for each comment that gives no reason.
pub fn apply(catalogue: &Catalogue, findings: Vec<Finding>) -> Vec<Finding> {
    let mut bare = Vec::new();
    let mut permits = Vec::new();
    for place in &catalogue.comments {
        let Some(file) = catalogue.files.get(place.file) else { continue };
        let raw = place.span.text(&file.text);
        let Some((rules, reason, whole_file)) = read(raw) else { continue };
        if reason.is_empty() {
            bare.push(Finding {
                rule: BARE,
                severity: Severity::Warning,
                keyspace: None,
                table: None,
                pattern: None,
                place: *place,
                message: format!(
                    "the suppression of {} gives no reason, so it has no effect",
                    rules.join(", ")
                ),
                fix: format!("-- partita:allow {}: why this is right here", rules.join(", ")),
            });
        } else {
            permits.push(Permit { rules, place: *place, whole_file });
        }
    }
    let allowed = |f: &Finding| {
        permits.iter().any(|permit| covers(catalogue, permit, f)) || allowed_by_option(catalogue, f)
    };
    let mut kept: Vec<Finding> = findings.into_iter().filter(|f| !allowed(f)).collect();
    kept.extend(bare);
    kept
}

/// Whether the table that the finding is about allows the rule in its `comment` option, with a reason.
fn allowed_by_option(catalogue: &Catalogue, finding: &Finding) -> bool {
    let Some(name) = finding.table.as_deref() else { return false };
    let table = catalogue.find(finding.keyspace.as_deref(), name).and_then(|at| catalogue.tables.get(at));
    let comment = table.and_then(|table| table.comment.as_deref()).unwrap_or_default();
    comment.match_indices("partita:allow").any(|(at, _)| {
        read(&comment[at..])
            .is_some_and(|(rules, reason, _)| !reason.is_empty() && rules.iter().any(|r| r == finding.rule))
    })
}

/// Rules, reason and reach of a comment that is a suppression.
fn read(raw: &str) -> Option<(Vec<String>, String, bool)> {
    let content =
        raw.trim_start_matches(['-', '/', '*', '#', '"', ' ']).trim_end_matches(['*', '/', '"']).trim();
    let rest = ["partita", "review"].iter().find_map(|word| content.strip_prefix(word))?;
    let rest = rest.trim_start_matches([':', ' ']);
    let (rest, whole_file) = match rest.strip_prefix("allow-file") {
        Some(rest) => (rest, true),
        None => (["allow", "ignore", "suppress"].iter().find_map(|word| rest.strip_prefix(word))?, false),
    };
    let rest = rest.trim_start_matches([' ', '(', ':']);
    let is_rule = |c: char| c.is_ascii_lowercase() || c == '-';
    let mut rules = Vec::new();
    let mut rest = rest;
    loop {
        let end = rest.find(|c: char| !is_rule(c)).unwrap_or(rest.len());
        let (rule, behind) = rest.split_at(end);
        if rule.is_empty() {
            break;
        }
        rules.push(rule.trim_end_matches('-').to_string());
        rest = behind;
        match behind.trim_start().strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None => break,
        }
    }
    let reason = rest.trim_start_matches([')', ':', ' ', '-', ',', '\t', '\n', '\r']).trim().to_string();
    (!rules.is_empty()).then_some((rules, reason, whole_file))
}

fn covers(catalogue: &Catalogue, permit: &Permit, finding: &Finding) -> bool {
    if permit.place.file != finding.place.file || !permit.rules.iter().any(|rule| rule == finding.rule) {
        return false;
    }
    permit.whole_file
        || target(catalogue, permit.place).is_some_and(|statement| {
            let at = finding.place.span.start;
            statement.span.start <= at && at <= statement.span.end
        })
}

/// The statement a comment belongs to: the one around it, the one that ends on its line, else the next one.
fn target(catalogue: &Catalogue, comment: Place) -> Option<Place> {
    let file = catalogue.files.get(comment.file)?;
    let statements = || catalogue.statements.iter().filter(|s| s.file == comment.file);
    let line = file.position(comment.span.start).line;
    statements()
        .find(|s| s.span.start <= comment.span.start && comment.span.start < s.span.end)
        .or_else(|| {
            statements().find(|s| s.span.end <= comment.span.start && file.position(s.span.end).line == line)
        })
        .or_else(|| statements().find(|s| s.span.start >= comment.span.end))
        .copied()
}
