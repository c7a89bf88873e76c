//! Repairs can be run, and repair: each parses, and a repaired key is not found by the same rule again.

use super::{Case, FLAWED, HELD_OUT, SEEDS, cases};
use design::{Finding, Severity, review};

/// What the repair of a finding leaves of it: the rule at the same table again, or in the repair itself.
fn left_over(case: &Case, finding: &Finding) -> Option<String> {
    let makes_table = finding.fix.contains("CREATE TABLE");
    let text = if makes_table {
        // A table to be used instead is judged by itself: the statements of the case are written for the old one.
        finding.fix.clone()
    } else {
        format!("{}\n{}", case.text, finding.fix)
    };
    let start = if makes_table { 0 } else { case.text.len() as u32 };
    let again = review([("fixed.cql", text.as_str())]);
    let altered = finding.fix.starts_with("ALTER TABLE");
    let same = |f: &&Finding| {
        let here = f.place.span.start > start || makes_table || (altered && f.table == finding.table);
        // A doubt about an assumed rate is settled by the numbers that the case declares.
        let settled = makes_table && f.message.contains("assumed");
        f.rule == finding.rule && f.severity >= Severity::Warning && here && !settled
    };
    again.findings.iter().find(same).map(|f| format!("{}: {} again: {}", case.name, f.rule, f.message))
}

#[test]
fn every_repair_parses_and_repairs() {
    let mut checked = 0;
    let mut left = Vec::new();
    let held_out = HELD_OUT.concat();
    for case in [SEEDS, FLAWED, &held_out].iter().flat_map(|text| cases(text)) {
        for finding in review([("case.cql", case.text.as_str())]).findings {
            assert!(!finding.fix.is_empty(), "{}: {} has no repair", case.name, finding.rule);
            if finding.rule == "bare-suppression" {
                continue;
            }
            let script = cql_syntax::parse_script(&finding.fix);
            assert!(script.errors.is_empty(), "{}: {}\n{}", case.name, script.errors[0], finding.fix);
            assert!(!script.statements.is_empty(), "{}: {} repairs nothing", case.name, finding.rule);
            left.extend(left_over(&case, &finding).map(|text| format!("{text}\n{}", finding.fix)));
            checked += 1;
        }
    }
    assert!(left.is_empty(), "{} of {checked} repairs do not repair:\n{}", left.len(), left.join("\n"));
    assert!(checked > 150, "only {checked} repairs were reviewed");
}

#[test]
fn the_lessons_are_true() {
    for rule in design::rules::ALL {
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
