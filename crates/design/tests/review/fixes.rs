//! Repairs can be run, and repair: each parses, and a repaired key is not found by the same rule again.

use super::{FLAWED, SEEDS, cases};
use design::{Severity, review};

/// Rules whose repair is a table that must pass them.
const KEY_RULES: &[&str] = &[
    "constant-key",
    "low-cardinality-key",
    "time-only-key",
    "unbounded-partition",
    "shattered-key",
    "no-tie-breaker",
    "missing-tenant",
    "queue-like",
    "wide-ttl-reads",
    "unbounded-collection",
    "hot-condition",
    "needs-filtering",
];

#[test]
fn every_repair_parses_and_repairs() {
    let mut checked = 0;
    for case in cases(SEEDS).into_iter().chain(cases(FLAWED)) {
        for finding in review([("case.cql", case.text.as_str())]).findings {
            assert!(!finding.fix.is_empty(), "{}: {} has no repair", case.name, finding.rule);
            if finding.rule == "bare-suppression" {
                continue;
            }
            let script = cql_syntax::parse_script(&finding.fix);
            assert!(script.errors.is_empty(), "{}: {}\n{}", case.name, script.errors[0], finding.fix);
            assert!(!script.statements.is_empty(), "{}: {} repairs nothing", case.name, finding.rule);
            if KEY_RULES.contains(&finding.rule) {
                let again = review([("fix.cql", finding.fix.as_str())]);
                let same =
                    again.findings.iter().find(|f| f.rule == finding.rule && f.severity == Severity::Error);
                assert!(same.is_none(), "{}: {} again\n{}", case.name, finding.rule, finding.fix);
                checked += 1;
            }
        }
    }
    assert!(checked > 40, "only {checked} repairs were reviewed");
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
