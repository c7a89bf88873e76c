//! A rule as a lesson: what, why, a bad and a good example.

use crate::rules::{self, Rule};
use std::fmt::Write;

/// The lesson of one rule; none when there is no such rule.
pub fn rule(id: &str) -> Option<String> {
    rules::find(id).map(lesson)
}

fn lesson(rule: &Rule) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}\n", rule.id, rule.title);
    let mut width = 0;
    for word in rule.why.split_whitespace() {
        if width + word.len() > 90 {
            out.push('\n');
            width = 0;
        }
        let gap = if width == 0 { "" } else { " " };
        let _ = write!(out, "{gap}{word}");
        width += word.len() + gap.len();
    }
    let _ = write!(out, "\n\nBad:\n\n{}\n\nGood:\n\n{}\n", indented(rule.bad), indented(rule.good));
    let _ = write!(
        out,
        "\nTo allow it in one place, put a comment with the reason before the statement:\n\n    -- partita:allow {}: reason\n",
        rule.id
    );
    out
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Every rule with its title, one per line.
pub fn list() -> String {
    let width = rules::ALL.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules::ALL {
        let _ = writeln!(out, "{:width$}  {}", rule.id, rule.title);
    }
    out
}
