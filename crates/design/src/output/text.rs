//! A review as text: the source line with the place underlined, the reason, the repair.

use crate::entry::Review;
use crate::finding::{Finding, ReadError, Severity};
use crate::growth::{Growth, HORIZONS, PARTITION_BYTES_MAX};
use crate::source::Place;
use crate::units;
use std::fmt::Write;

/// Whether to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Never,
    Always,
}

impl Colour {
    pub fn paint(self, code: &str, text: &str) -> String {
        match self {
            Colour::Never => text.to_string(),
            Colour::Always => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// The whole review. Writing to a String cannot fail, so results of `write!` are dropped.
pub fn write(review: &Review, colour: Colour) -> String {
    let mut out = String::new();
    for error in review.errors() {
        read_error(&mut out, review, error, colour);
    }
    for note in &review.catalogue.notes {
        let _ = writeln!(out, "{}: {}", colour.paint("1;36", "note"), note.message);
        source(&mut out, review, note.place, colour, "36");
        out.push('\n');
    }
    for finding in &review.findings {
        self::finding(&mut out, review, finding, colour);
    }
    growth(&mut out, review, colour);
    let count = |severity| review.count(severity);
    let _ = writeln!(
        out,
        "{} tables, {} access patterns: {} errors, {} warnings, {} advice{}",
        review.table_count(),
        review.pattern_count(),
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Advice),
        if review.errors().is_empty() {
            String::new()
        } else {
            format!(", {} statements not read", review.errors().len())
        }
    );
    out
}

fn read_error(out: &mut String, review: &Review, error: &ReadError, colour: Colour) {
    let _ = writeln!(out, "{}: {}", colour.paint("1;31", "not read"), error.message);
    source(out, review, error.place, colour, "31");
    out.push('\n');
}

fn finding(out: &mut String, review: &Review, finding: &Finding, colour: Colour) {
    let code = match finding.severity {
        Severity::Error => "31",
        Severity::Warning => "33",
        Severity::Advice => "36",
    };
    let head = format!("{}[{}]", finding.severity, finding.rule);
    let _ = writeln!(out, "{}: {}", colour.paint(&format!("1;{code}"), &head), finding.message);
    source(out, review, finding.place, colour, code);
    if !finding.fix.is_empty() {
        let _ = writeln!(out, "  {}", colour.paint("32", "fix:"));
        for line in finding.fix.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    out.push('\n');
}

/// The line of the place with a mark under it. A place over several lines is marked to the end of its first.
fn source(out: &mut String, review: &Review, place: Place, colour: Colour, code: &str) {
    let Some(file) = review.catalogue.files.get(place.file) else { return };
    let position = file.position(place.span.start);
    let line = file.line(position.line);
    let before = position.column.saturating_sub(1) as usize;
    let rest = line.chars().count().saturating_sub(before).max(1);
    let length =
        place.span.text(&file.text).lines().next().map_or(1, |first| first.chars().count()).clamp(1, rest);
    let number = position.line.to_string();
    let margin = " ".repeat(number.len());
    // Tabs stay tabs, so that the mark stands under its column in any terminal.
    let indent: String = line.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let mark = if length == 1 { "^".to_string() } else { format!("^{}", "~".repeat(length - 1)) };
    let _ = writeln!(out, "{margin}--> {}:{}:{}", file.name, position.line, position.column);
    let _ = writeln!(out, "{number} | {line}");
    let _ = writeln!(out, "{margin} | {indent}{}", colour.paint(code, &mark));
}

/// The growth model of every table whose patterns declare numbers.
fn growth(out: &mut String, review: &Review, colour: Colour) {
    let tables = review.catalogue.tables.iter().zip(&review.facts);
    let declared: Vec<(&str, &Growth)> = tables
        .filter(|(_, facts)| facts.growth.is_declared)
        .map(|(table, facts)| (table.name.as_str(), &facts.growth))
        .collect();
    if declared.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", colour.paint("1", "Largest partition, as declared"));
    let width = declared.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(5).max(5);
    let _ = write!(out, "{:width$}", "table");
    for (label, _) in HORIZONS {
        let _ = write!(out, " {label:>11}");
    }
    let _ = writeln!(out, "  passes 100 MB");
    for (name, growth) in declared {
        let _ = write!(out, "{name:width$}");
        for (_, days) in HORIZONS {
            let bytes = growth.bytes_at(2, days);
            let cell = format!("{:>11}", units::bytes(bytes));
            let cell = if bytes > PARTITION_BYTES_MAX { colour.paint("31", &cell) } else { cell };
            let _ = write!(out, " {cell}");
        }
        let breach = match growth.breach_day() {
            None => "never".to_string(),
            Some(day) if day <= 0.0 => "by the declared rows".to_string(),
            Some(day) => format!("after {}; bucket by {}", units::days(day), growth.bucket_advice().word()),
        };
        let _ = writeln!(out, "  {breach}");
    }
    out.push('\n');
}
