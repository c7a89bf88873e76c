//! When an answer of Partita counts as Cassandra's.
//!
//! Rows, order, types, names, pages: exactly. An error: its class exactly, and Cassandra's sentence first (ours may go
//! on; the text of syntax errors is not compared, clients look at the class only). Warnings: Cassandra's must be there;
//! ours may say what filtering costs. Where Cassandra fails with an internal exception, any answer but such a failure.

use crate::scenario::Options;

/// How an exception inside Cassandra reaches the client: on the coordinator, and while reading.
const ESCAPED: [&str; 2] = ["Server", "ReadFailure"];

/// What follows is not compared: Cassandra lists signatures and masked columns in the order of a hash table, and quotes its JSON library.
const OPEN_ENDS: [&str; 5] = [
    "com.fasterxml.jackson",
    "(known type signatures",
    "(can be matched by following signatures",
    "Error decoding JSON string:",
    "cannot query masked columns [",
];

/// The line between two pages.
pub const NEXT_PAGE: &str = "-- next page";

/// Our own warnings that Cassandra does not give (COMPAT.md, "Different on purpose").
const OWN_WARNINGS: [&str; 5] = [
    "warning: ALLOW FILTERING:",
    "warning: review",
    "warning: SAI:",
    "warning: ANN OF compares",
    "warning: The index on ",
];

/// Warnings of Cassandra that are not true here (COMPAT.md, "Different on purpose"): they must not be there.
const FOREIGN_WARNINGS: [&str; 1] =
    ["warning: Materialized views are experimental and are not recommended for production use."];

pub fn agrees(options: &Options, expected: &[String], actual: &[String]) -> bool {
    let warnings = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|l| l.starts_with("warning: ")).cloned().collect()
    };
    let rest = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|l| !l.starts_with("warning: ")).cloned().collect()
    };
    let fails = |l: &String| error(l).is_some_and(|(class, _)| ESCAPED.contains(&class));
    (expected.iter().any(fails) || warnings_agree(&warnings(expected), &warnings(actual)))
        && if options.shape {
            shape(&rest(expected)) == shape(&rest(actual))
        } else {
            let (expected, actual) = (rest(expected), rest(actual));
            let escaped =
                expected.iter().any(|l| error(l).is_some_and(|(class, _)| ESCAPED.contains(&class)));
            (escaped || expected.len() == actual.len())
                && expected.iter().zip(&actual).all(|(e, a)| line_agrees(options, e, a))
        }
}

/// Whether Cassandra failed inside in the same way; such errors name ports and threads.
pub fn fails_alike(before: &[String], now: &[String]) -> bool {
    let class = |lines: &[String]| match lines {
        [only] => error(only).map(|(class, _)| class.to_string()).filter(|c| ESCAPED.contains(&c.as_str())),
        _ => None,
    };
    class(before).is_some() && class(before) == class(now)
}

/// Whether two answers of Cassandra differ in nothing but what is another one in every run: the spelling of `to_json`, which is the
/// one that was used first since the node's start; the id of a table; the address in the message of a failed write.
pub fn same_but_for_the_run(before: &[String], now: &[String]) -> bool {
    before.len() == now.len() && before.iter().zip(now).all(|(a, b)| of_any_run(a) == of_any_run(b))
}

fn of_any_run(line: &str) -> String {
    let line = line.replace("tojson(", "to_json(");
    let line = blanked(&line, "ID = ", |c| c.is_ascii_hexdigit() || c == '-');
    blanked(&line, "UNKNOWN from /", |c| c.is_ascii_hexdigit() || matches!(c, '.' | ':'))
}

/// The line without what follows `mark`, as far as it is made of such characters.
fn blanked(line: &str, mark: &str, made_of: fn(char) -> bool) -> String {
    let mut parts = line.split(mark);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out += mark;
        out += part.trim_start_matches(made_of);
    }
    out
}

fn warnings_agree(expected: &[String], actual: &[String]) -> bool {
    let mut left: Vec<&String> = actual.iter().collect();
    for warning in expected.iter().filter(|warning| !FOREIGN_WARNINGS.contains(&warning.as_str())) {
        match left.iter().position(|a| a.starts_with(warning.as_str())) {
            Some(found) => drop(left.remove(found)),
            None => return false,
        }
    }
    left.iter().all(|a| OWN_WARNINGS.iter().any(|own| a.starts_with(own)))
}

fn line_agrees(options: &Options, expected: &str, actual: &str) -> bool {
    let Some(expected_error) = error(expected) else { return expected == actual };
    let actual_error = error(actual);
    if ESCAPED.contains(&expected_error.0) {
        // An exception that escaped inside Cassandra: anything but a server error of our own will do.
        return actual_error.is_none_or(|(class, _)| !ESCAPED.contains(&class));
    }
    let Some(actual_error) = actual_error else { return false };
    let ends = OPEN_ENDS.iter().filter_map(|end| expected_error.1.find(end)).min();
    let sentence = ends.and_then(|end| expected_error.1.get(..end)).unwrap_or(expected_error.1);
    expected_error.0 == actual_error.0
        && (options.class || expected_error.0 == "Syntax" || actual_error.1.starts_with(sentence))
}

fn error(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("error ")?.split_once(": ").or(Some((line, "")))
}

/// The columns and how many rows, without values.
fn shape(lines: &[String]) -> Vec<String> {
    let kept = |line: &&String| line.starts_with("columns:") || line.starts_with("error ");
    let mut shape: Vec<String> = lines.iter().filter(kept).cloned().collect();
    shape.push(format!("{} lines", lines.len()));
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_no_difference() {
        let same = |a: &str, b: &str| same_but_for_the_run(&[a.into()], &[b.into()]);
        assert!(same("result: system.tojson(w) text", "result: system.to_json(w) text"));
        let failed = |from: &str| format!("error WriteFailure: 1 failures: UNKNOWN from {from}");
        assert!(same(&failed("/127.0.0.11:41275"), &failed("/127.0.0.1:40875")));
        let table = |id: &str, end: &str| format!("'CREATE TABLE a.b (...) WITH ID = {id}\\n AND {end}'");
        let (one, other) = ("5b9a0b30-c4f6-11f0-8a4e-9b1f5a9b7d55", "77777777-c4f6-11f0-8a4e-9b1f5a9b7d55");
        assert!(same(&table(one, "x"), &table(other, "x")));
        assert!(!same(&table(one, "x"), &table(other, "y")));
        assert!(!same("1 | 2", "1 | 3"));
        assert!(!same_but_for_the_run(&["a".into()], &[]));
    }

    fn agree(expected: &[&str], actual: &[&str]) -> bool {
        let own = |lines: &[&str]| lines.iter().map(|l| (*l).to_string()).collect::<Vec<_>>();
        agrees(&Options::default(), &own(expected), &own(actual))
    }

    #[test]
    fn failures_inside_are_alike_when_their_class_is() {
        let one = |text: &str| vec![text.to_string()];
        let failure = one("error ReadFailure: UNKNOWN from /127.0.0.1:51145");
        assert!(fails_alike(&failure, &one("error ReadFailure: UNKNOWN from /127.0.0.1:38971")));
        assert!(!fails_alike(&failure, &one("error Server: x")));
        assert!(!fails_alike(&one("error Invalid: a"), &one("error Invalid: b")));
    }

    #[test]
    fn rows_are_compared_exactly_and_errors_by_class_and_first_sentence() {
        assert!(agree(&["columns: k int", "1"], &["columns: k int", "1"]));
        assert!(!agree(&["columns: k int", "1"], &["columns: k int", "2"]));
        assert!(!agree(&["columns: k int"], &["columns: k int", "2"]));
        assert!(agree(&["error Invalid: No."], &["error Invalid: No. Do this instead."]));
        assert!(!agree(&["error Invalid: No."], &["error Invalid: Not at all."]));
        assert!(!agree(&["error Invalid: No."], &["error Syntax: No."]));
        assert!(agree(&["error Syntax: line 1:2 x"], &["error Syntax: y"]));
        assert!(!agree(&["error Invalid: No."], &["void"]));
        assert!(agree(&["error Server: java.lang.X"], &["error Invalid: No."]));
        assert!(agree(&["error Server: java.lang.X"], &["columns: k int", "1"]));
        assert!(!agree(&["error Server: java.lang.X"], &["error Server: oops"]));
        assert!(agree(
            &["error Invalid: f (known type signatures: b, a)"],
            &["error Invalid: f (known: a, b)"]
        ));
    }

    #[test]
    fn warnings_of_cassandra_are_needed_and_ours_are_few() {
        assert!(agree(&["warning: a", "void"], &["warning: a, and more", "void"]));
        assert!(!agree(&["warning: a", "void"], &["void"]));
        assert!(!agree(&["void"], &["warning: a", "void"]));
        assert!(agree(&["void"], &["warning: ALLOW FILTERING: costs", "void"]));
        assert!(agree(&[FOREIGN_WARNINGS[0], "void"], &["void"]));
        assert!(!agree(&[FOREIGN_WARNINGS[0], "void"], &[FOREIGN_WARNINGS[0], "void"]));
    }
}
