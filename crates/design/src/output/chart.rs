//! Pictures as inline SVG: growth curves and the graph of access patterns.

use super::html::{anchor, escape};
use crate::catalogue::Access;
use crate::entry::Review;
use crate::finding::Severity;
use crate::growth::{Growth, PARTITION_BYTES_MAX};
use crate::units;
use std::fmt::Write;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = WIDTH - 14.0;
const BOTTOM: f64 = 28.0;
const TOP: f64 = 16.0;
/// The chart ends after three years.
const DAYS: f64 = 1095.0;

/// Bytes of one partition over three years, on a logarithmic scale, with the limit and the day it is passed.
pub fn growth(growth: &Growth) -> String {
    let (low, high) = range(growth);
    let x = |days: f64| LEFT + days / DAYS * (RIGHT - LEFT);
    let y = |bytes: f64| {
        let scaled = (bytes.max(1.0).log10().clamp(low, high) - low) / (high - low);
        HEIGHT - BOTTOM - scaled * (HEIGHT - BOTTOM - TOP)
    };
    let mut svg = format!(
        "<svg class=\"growth\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"size of one partition over three years\">"
    );
    let step = if high - low > 5.0 { 2 } else { 1 };
    for power in (low as i32..=high as i32).step_by(step) {
        let (bytes, at) = (10f64.powi(power), y(10f64.powi(power)));
        let _ =
            write!(svg, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
        text(&mut svg, LEFT - 6.0, at + 4.0, "", "end", &units::bytes(bytes));
    }
    for (label, days, anchor) in [
        ("now", 0.0, "start"),
        ("1 year", 365.0, "middle"),
        ("2 years", 730.0, "middle"),
        ("3 years", DAYS, "end"),
    ] {
        text(&mut svg, x(days), HEIGHT - 8.0, "", anchor, label);
    }
    let limit = y(PARTITION_BYTES_MAX);
    let _ = write!(
        svg,
        "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{limit:.1}\" y2=\"{limit:.1}\"/>"
    );
    text(&mut svg, RIGHT - 2.0, limit - 4.0, "limit", "end", "100 MB");
    let mut drawn: Vec<String> = Vec::new();
    for (which, class) in [(2, "worst"), (1, "p99"), (0, "typical")] {
        let points = curve(growth, which).map(|(days, bytes)| format!("{:.1},{:.1}", x(days), y(bytes)));
        let points = points.collect::<Vec<_>>().join(" ");
        // Equal curves are one line, drawn once.
        if !drawn.contains(&points) {
            let _ = write!(svg, "<polyline class=\"{class}\" points=\"{points}\"/>");
            drawn.push(points);
        }
    }
    if let Some(day) = growth.breach_day().filter(|day| *day <= DAYS) {
        let at = x(day);
        let _ = write!(svg, "<circle class=\"breach\" cx=\"{at:.1}\" cy=\"{limit:.1}\" r=\"4\"/>");
        let (anchor, shift) = if day > DAYS / 2.0 { ("end", -8.0) } else { ("start", 8.0) };
        let label =
            if day <= 0.0 { "from the start".to_string() } else { format!("after {}", units::days(day)) };
        text(&mut svg, at + shift, limit + 15.0, "limit", anchor, &label);
    }
    svg.push_str("</svg>");
    svg
}

/// Points of one curve: close together where growth begins.
fn curve(growth: &Growth, which: usize) -> impl Iterator<Item = (f64, f64)> {
    (0..=120).map(move |step| {
        let days = (f64::from(step) / 120.0).powi(2) * DAYS;
        (days, growth.bytes_at(which, days.max(1.0)))
    })
}

/// Powers of ten that hold the curves and the limit.
fn range(growth: &Growth) -> (f64, f64) {
    let least = growth.bytes_at(0, 1.0).max(100.0).log10().floor();
    let most = growth.bytes_at(2, DAYS).max(PARTITION_BYTES_MAX).log10();
    (least.clamp(2.0, 7.0), (most + 0.3).ceil().clamp(9.0, 16.0))
}

fn text(svg: &mut String, x: f64, y: f64, class: &str, anchor: &str, content: &str) {
    let _ = write!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escape(content)
    );
}

const ROW: f64 = 36.0;
const BOX: f64 = 26.0;
const BOX_WIDTH: f64 = 350.0;
const GRAPH_WIDTH: f64 = 1_000.0;
/// Characters of a box that surely fit.
const LABEL: usize = 36;

/// Patterns on the left, tables on the right, a line for each read and write; red where the review found an error.
pub fn patterns(review: &Review) -> Option<String> {
    let catalogue = &review.catalogue;
    let accesses: Vec<&Access> = catalogue.accesses.iter().filter(|a| a.table.is_some()).collect();
    if accesses.is_empty() {
        return None;
    }
    let rows = accesses.len().max(catalogue.tables.len());
    let height = ROW * rows as f64 + 8.0;
    let middle = |count: usize, at: usize| (at as f64 + 0.5) * (height / count.max(1) as f64);
    let mut svg = format!(
        "<svg class=\"graph\" viewBox=\"0 0 {GRAPH_WIDTH} {height}\" role=\"img\" aria-label=\"access patterns and tables\">"
    );
    let right = GRAPH_WIDTH - BOX_WIDTH - 1.0;
    for (at, access) in accesses.iter().enumerate() {
        let (from, to) =
            (middle(accesses.len(), at), middle(catalogue.tables.len(), access.table.unwrap_or(0)));
        let class = if access.is_read() { "read" } else { "write" };
        let (start, end) = (BOX_WIDTH + 1.0, right);
        let (near, far) = (start + 110.0, end - 110.0);
        let _ = write!(
            svg,
            "<path class=\"{class}\" d=\"M{start} {from:.1} C {near} {from:.1}, {far} {to:.1}, {end} {to:.1}\"/>"
        );
    }
    for (at, access) in accesses.iter().enumerate() {
        let name = access.pattern.clone().unwrap_or_else(|| access.statement.to_string());
        let rate = access.numbers.peak_rate.map_or(String::new(), |rate| format!("{}/s", units::count(rate)));
        let class = format!(
            "{} {}",
            if access.is_read() { "read" } else { "write" },
            worst_of_access(review, access)
        );
        boxed(&mut svg, 1.0, middle(accesses.len(), at), &class, &name, &rate);
    }
    for (at, table) in catalogue.tables.iter().enumerate() {
        let worst = worst(review, |f| f.table.as_deref() == Some(table.name.as_str()));
        let _ = write!(svg, "<a href=\"#{}\">", anchor(&table.name));
        boxed(
            &mut svg,
            right,
            middle(catalogue.tables.len(), at),
            &format!("table {worst}"),
            &table.name,
            "",
        );
        svg.push_str("</a>");
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn boxed(svg: &mut String, x: f64, middle: f64, class: &str, label: &str, note: &str) {
    let _ = write!(
        svg,
        "<g class=\"box {class}\"><title>{}</title><rect x=\"{x}\" y=\"{:.1}\" width=\"{BOX_WIDTH}\" height=\"{BOX}\" rx=\"5\"/>",
        escape(label),
        middle - BOX / 2.0
    );
    let room = if note.is_empty() { LABEL } else { LABEL.saturating_sub(note.len()) };
    text(svg, x + 10.0, middle + 4.5, "label", "start", &short(label, room));
    if !note.is_empty() {
        text(svg, x + BOX_WIDTH - 10.0, middle + 4.5, "note", "end", note);
    }
    svg.push_str("</g>");
}

fn worst_of_access(review: &Review, access: &Access) -> &'static str {
    worst(review, |f| match (&f.pattern, &access.pattern) {
        (Some(finding), Some(own)) => finding == own,
        _ => {
            f.place.file == access.place.file
                && f.place.span.start >= access.place.span.start
                && f.place.span.end <= access.place.span.end
        }
    })
}

fn worst(review: &Review, is_about: impl Fn(&crate::finding::Finding) -> bool) -> &'static str {
    let worst = review.findings.iter().filter(|f| is_about(f)).map(|f| f.severity).max();
    worst.filter(|severity| *severity >= Severity::Warning).map_or("clean", Severity::name)
}

fn short(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_string();
    }
    text.chars().take(characters.saturating_sub(1)).chain(['…']).collect()
}
