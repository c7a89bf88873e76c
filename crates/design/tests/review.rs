//! Golden tests of the review: schemas with the verdict they must get, and how exact the review is over all of them.
//!
//! A case begins with `-- case NAME`, then `-- expect RULE SEVERITY` lines or `-- expect clean` (no error and no warning),
//! then CQL. A flawed case may have further findings of other rules; it must have those it expects.

use design::{Review, Severity, review};

#[path = "review/act_as.rs"]
mod act_as;
#[path = "review/buckets.rs"]
mod buckets;
#[path = "review/derived.rs"]
mod derived;
#[path = "review/dynamo.rs"]
mod dynamo;
#[path = "review/evidence.rs"]
mod evidence;
#[path = "review/exactness.rs"]
mod exactness;
#[path = "review/fixes.rs"]
mod fixes;
#[path = "review/robust.rs"]
mod robust;
#[path = "review/shapes.rs"]
mod shapes;
#[path = "review/simulated.rs"]
mod simulated;

pub struct Case {
    pub name: String,
    pub expected: Vec<(String, String)>,
    pub text: String,
}

pub fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("-- case ") {
            cases.push(Case { name: name.to_string(), expected: Vec::new(), text: String::new() });
        } else if let Some(case) = cases.last_mut() {
            match line.strip_prefix("-- expect ") {
                Some("clean") => {}
                Some(expected) => {
                    let (rule, severity) = expected.split_once(' ').unwrap_or((expected, ""));
                    case.expected.push((rule.to_string(), severity.to_string()));
                }
                None => {
                    case.text.push_str(line);
                    case.text.push('\n');
                }
            }
        }
    }
    cases
}

pub const SEEDS: &str = include_str!("cases/seeds.cql");
pub const GOOD: &str = include_str!("cases/good.cql");
pub const FLAWED: &str = include_str!("cases/flawed.cql");
pub const POINTS: &str = include_str!("cases/points.cql");
pub const STRUCTURE: &str = include_str!("cases/structure.cql");

/// Written in the second session before their author had read the rules, and after the rules had been mended by them.
pub const HELD_OUT: [&str; 3] = [
    include_str!("cases/held_out_1.cql"),
    include_str!("cases/held_out_2.cql"),
    include_str!("cases/held_out_3.cql"),
];

pub fn describe(review: &Review) -> String {
    let lines = review.findings.iter().map(|f| format!("    {} {}: {}", f.severity, f.rule, f.message));
    lines.collect::<Vec<_>>().join("\n")
}

/// What is wrong with the verdict on a case; none when it is as expected.
pub fn mistake(case: &Case) -> Option<String> {
    let review = review([("case.cql", case.text.as_str())]);
    if let Some(error) = review.errors().first() {
        return Some(format!("{}: does not parse: {}", case.name, error.message));
    }
    let loud = review.findings.iter().any(|f| f.severity >= Severity::Warning);
    if case.expected.is_empty() {
        return loud.then(|| format!("{}: must be clean, but\n{}", case.name, describe(&review)));
    }
    for (rule, severity) in &case.expected {
        let as_expected = |f: &design::Finding| match severity.as_str() {
            "loud" => f.severity >= Severity::Warning,
            exact => f.severity.name() == exact,
        };
        let found = review.findings.iter().any(|f| f.rule == rule && as_expected(f));
        if !found {
            return Some(format!("{}: {rule} {severity} is missing\n{}", case.name, describe(&review)));
        }
    }
    None
}

fn check_all(text: &str) {
    let mistakes: Vec<String> = cases(text).iter().filter_map(mistake).collect();
    assert!(mistakes.is_empty(), "{} wrong verdicts:\n{}", mistakes.len(), mistakes.join("\n"));
}

#[test]
fn the_seeds_get_the_verdict_they_argue_for() {
    check_all(SEEDS);
}

#[test]
fn good_schemas_are_clean() {
    check_all(GOOD);
}

#[test]
fn schemas_that_were_held_out_get_their_verdict() {
    check_all(&HELD_OUT.concat());
}

#[test]
fn the_shapes_that_were_missed_are_told() {
    check_all(POINTS);
}

#[test]
fn shapes_are_told_whatever_the_words() {
    check_all(STRUCTURE);
}

#[test]
fn every_planted_flaw_is_found_by_its_rule() {
    check_all(FLAWED);
}
