//! A rule as a lesson: what, why, a bad and a good example, where it was seen.

use crate::rules::{self, Rule};
use std::fmt::Write;

/// The lesson of one rule; none when there is no such rule.
pub fn rule(id: &str) -> Option<String> {
    rules::find(id).map(lesson)
}

fn lesson(rule: &Rule) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}\n", rule.id, rule.title);
    wrapped(&mut out, rule.why);
    let _ = write!(out, "\n\nBad:\n\n{}\n\nGood:\n\n{}\n", indented(rule.bad), indented(rule.good));
    out.push_str("\nSeen:\n\n");
    wrapped(&mut out, rule.seen);
    out.push('\n');
    let mark = if rules::is_dynamo(rule) { "#" } else { "--" };
    let _ = write!(
        out,
        "\nTo allow it in one place, put a comment with the reason before the statement:\n\n    {mark} partita:allow {}: reason\n",
        rule.id
    );
    out
}

/// The words in lines of about 90 letters.
fn wrapped(out: &mut String, text: &str) {
    let mut width = 0;
    for word in text.split_whitespace() {
        if width + word.len() > 90 {
            out.push('\n');
            width = 0;
        }
        let gap = if width == 0 { "" } else { " " };
        let _ = write!(out, "{gap}{word}");
        width += word.len() + gap.len();
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Every rule with its title, one per line.
pub fn list() -> String {
    let width = rules::all().map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules::all() {
        let _ = writeln!(out, "{:width$}  {}", rule.id, rule.title);
    }
    out
}
