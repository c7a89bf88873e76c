//! Precision and recall over all cases, and the proof that docs/review.md states them truly.

use super::{Case, FLAWED, GOOD, HELD_OUT, SEEDS, cases};
use design::{Severity, review};

#[derive(Default, Debug)]
struct Score {
    flaws: usize,
    found: usize,
    good: usize,
    false_errors: usize,
    false_warnings: usize,
    loud: usize,
    loud_right: usize,
}

fn score(list: &[Case]) -> Score {
    let mut score = Score::default();
    for case in list {
        let review = review([("case.cql", case.text.as_str())]);
        let loud = review.findings.iter().filter(|f| f.severity >= Severity::Warning);
        score.flaws += case.expected.len();
        score.found +=
            case.expected.iter().filter(|(rule, _)| review.findings.iter().any(|f| f.rule == rule)).count();
        for finding in loud {
            score.loud += 1;
            score.loud_right += usize::from(case.expected.iter().any(|(rule, _)| rule == finding.rule));
        }
        if case.expected.is_empty() {
            score.good += 1;
            score.false_errors += usize::from(review.has_errors());
            score.false_warnings += usize::from(review.count(Severity::Warning) > 0);
        }
    }
    score
}

fn row(name: &str, list: &[Case]) -> String {
    let s = score(list);
    let percent = |a: usize, b: usize| {
        if b == 0 { "-".to_string() } else { format!("{:.1} %", 100.0 * a as f64 / b as f64) }
    };
    format!(
        "| {name} | {} | {} | {} of {} ({}) | {} of {} | {} of {} ({}) |",
        list.len(),
        s.good,
        s.found,
        s.flaws,
        percent(s.found, s.flaws),
        s.false_errors,
        s.good,
        s.loud_right,
        s.loud,
        percent(s.loud_right, s.loud),
    )
}

#[test]
fn enough_cases_exist() {
    assert!(cases(SEEDS).len() >= 50, "{}", cases(SEEDS).len());
    assert!(cases(GOOD).len() >= 30, "{}", cases(GOOD).len());
    assert!(cases(FLAWED).len() >= 30, "{}", cases(FLAWED).len());
}

#[test]
fn every_rule_has_a_case() {
    let all: Vec<Case> = cases(SEEDS).into_iter().chain(cases(FLAWED)).collect();
    // The rules for DynamoDB have theirs in dynamo.rs.
    for rule in design::rules::all().filter(|rule| !design::rules::is_dynamo(rule)) {
        let covered = all.iter().any(|case| case.expected.iter().any(|(id, _)| id == rule.id));
        assert!(covered, "no case expects {}", rule.id);
    }
}

#[test]
fn the_document_states_precision_and_recall_truly() {
    let seeds = cases(SEEDS);
    let further: Vec<Case> = cases(GOOD).into_iter().chain(cases(FLAWED)).collect();
    let document = include_str!("../../../../docs/review.md");
    let held_out: Vec<Case> = HELD_OUT.iter().flat_map(|text| cases(text)).collect();
    let rows =
        [row("seeds", &seeds), row("further schemas", &further), row("held out, as they are now", &held_out)];
    assert!(
        rows.iter().all(|row| document.contains(row)),
        "docs/review.md must hold these lines:\n{}",
        rows.join("\n")
    );
}
