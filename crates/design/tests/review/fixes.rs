//! Repairs can be run, and repair: each parses, makes only new names, and the review has nothing against what it makes.

use super::evidence;
use super::{FLAWED, HELD_OUT, SEEDS, cases};
use cql_syntax::ast::Statement;
use design::{Finding, Review, Severity, Target, review, review_for};

/// Rules whose repair is a table; the others say in comments what to do, or alter a comment.
const MAKES_TABLES: &[&str] = &[
    "constant-key",
    "low-cardinality-key",
    "time-only-key",
    "shattered-key",
    "unbounded-partition",
    "bucket-size",
    "no-tie-breaker",
    "queue-like",
    "needs-filtering",
    "order-mismatch",
    "unbounded-collection",
];

/// What is wrong with the repair of a loud finding.
fn complaint(review: &Review, finding: &Finding) -> Option<String> {
    let script = cql_syntax::parse_script(&finding.fix);
    if let Some(error) = script.errors.first() {
        return Some(format!("does not parse: {error}"));
    }
    for parsed in &script.statements {
        match &parsed.statement {
            Statement::CreateTable(create) => {
                let name = create.name.as_str();
                if review.catalogue.tables.iter().any(|table| table.name == name) {
                    return Some(format!("makes {name}, which exists"));
                }
                if create.options.iter().any(|o| format!("{o:?}").contains("default_time_to_live"))
                    && !review.catalogue.tables.iter().any(|t| t.default_ttl_days.is_some())
                {
                    return Some("lets rows expire that did not".into());
                }
            }
            Statement::AlterTable(_) => {}
            other => return Some(format!("is no table: {other}")),
        }
    }
    let again = design::review([("fixed.cql", finding.fix.as_str())]);
    let loud = again.findings.iter().find(|f| f.severity >= Severity::Warning);
    if let Some(loud) = loud.filter(|_| finding.fix.contains("CREATE TABLE")) {
        return Some(format!("is criticised itself: {} {}", loud.rule, loud.message));
    }
    let empty = script.statements.is_empty() && MAKES_TABLES.contains(&finding.rule);
    empty.then(|| "repairs nothing".into())
}

fn texts() -> Vec<(String, String)> {
    let held_out = HELD_OUT.concat();
    let mut texts: Vec<(String, String)> = [SEEDS, FLAWED, &held_out]
        .iter()
        .flat_map(|text| cases(text))
        .map(|case| (case.name, case.text))
        .collect();
    for set in ["learning", "locked", "second", "third", "fourth"] {
        texts.extend(evidence::projects(set).into_iter().map(|p| (p.name, p.text)));
    }
    texts
}

#[test]
fn every_repair_parses_and_passes_the_review() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    let targets = [Target::Cassandra, Target::Partita];
    let all = texts();
    for ((name, text), target) in all.iter().flat_map(|text| targets.map(|target| (text, target))) {
        let review = review_for(target, [("case.cql", text.as_str())]);
        for finding in &review.findings {
            assert!(!finding.fix.is_empty(), "{name}: {} has no repair", finding.rule);
            if finding.severity < Severity::Warning {
                let lines =
                    finding.fix.lines().all(|line| line.trim_start().starts_with("--") || line.is_empty());
                assert!(lines, "{name}: advice of {} is no comment:\n{}", finding.rule, finding.fix);
                continue;
            }
            checked += 1;
            let complaint = complaint(&review, finding);
            wrong
                .extend(complaint.map(|c| {
                    format!("{name}: {} of {:?} {c}\n{}", finding.rule, finding.table, finding.fix)
                }));
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} repairs are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 1_200, "only {checked} repairs were reviewed");
}

#[test]
fn all_findings_of_a_table_have_one_repair() {
    for (name, text) in texts() {
        let review = review([("case.cql", text.as_str())]);
        let loud = || review.findings.iter().filter(|f| f.severity >= Severity::Warning && f.table.is_some());
        for finding in loud() {
            let others = loud().filter(|f| f.table == finding.table && f.keyspace == finding.keyspace);
            others.for_each(|f| assert_eq!(f.fix, finding.fix, "{name}: {} and {}", f.rule, finding.rule));
        }
    }
}

#[test]
fn the_lessons_are_true() {
    for rule in design::rules::all().filter(|rule| !design::rules::is_dynamo(rule)) {
        for (kind, text) in [("bad", rule.bad), ("good", rule.good)] {
            let script = cql_syntax::parse_script(text);
            assert!(script.errors.is_empty(), "{} {kind}: {}", rule.id, script.errors[0]);
        }
        let good = review([("good.cql", rule.good)]);
        assert!(!good.findings.iter().any(|f| f.rule == rule.id), "the good example of {} is found", rule.id);
        // Some examples show only a statement on a table that the reader knows.
        if rule.bad.contains("CREATE TABLE") {
            let bad = review([("bad.cql", rule.bad)]);
            assert!(
                bad.findings.iter().any(|f| f.rule == rule.id),
                "the bad example of {} is not found",
                rule.id
            );
        }
    }
}
