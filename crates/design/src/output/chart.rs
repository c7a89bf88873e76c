//! Pictures as inline SVG: growth curves and the graph of access patterns.

use super::html::escape;
use crate::entry::Review;
use crate::growth::{Growth, PARTITION_BYTES_MAX};
use crate::units;
use std::fmt::Write;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 28.0;
const TOP: f64 = 12.0;
/// The chart ends after three years.
const DAYS: f64 = 1095.0;

/// Bytes of one partition over three years, on a logarithmic scale, with the limit as a line.
pub fn growth(growth: &Growth) -> String {
    let (low, high) = (3.0, 11.0);
    let x = |days: f64| LEFT + days / DAYS * (WIDTH - LEFT - 12.0);
    let y = |bytes: f64| {
        let scaled = (bytes.max(1.0).log10().clamp(low, high) - low) / (high - low);
        HEIGHT - BOTTOM - scaled * (HEIGHT - BOTTOM - TOP)
    };
    let mut svg = format!(
        "<svg class=\"growth\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"partition size over time\">"
    );
    for power in [3, 5, 7, 9, 11] {
        let bytes = 10f64.powi(power);
        let at = y(bytes);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>",
            WIDTH - 12.0
        );
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            units::bytes(bytes)
        );
    }
    for (label, days) in
        [("1 month", 30.4), ("12 months", 365.0), ("24 months", 730.0), ("36 months", 1095.0)]
    {
        let anchor = if days > 1000.0 { "end" } else { "middle" };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{label}</text>",
            x(days),
            HEIGHT - 8.0
        );
    }
    let limit = y(PARTITION_BYTES_MAX);
    let _ = write!(
        svg,
        "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{limit:.1}\" y2=\"{limit:.1}\"/>",
        WIDTH - 12.0
    );
    let _ = write!(
        svg,
        "<text class=\"limit\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">100 MB</text>",
        WIDTH - 14.0,
        limit - 4.0
    );
    for (which, class) in [(0, "typical"), (1, "p99"), (2, "worst")] {
        let points: Vec<String> = (0..=120)
            .map(|step| f64::from(step) / 120.0 * DAYS)
            .map(|days| format!("{:.1},{:.1}", x(days), y(growth.bytes_at(which, days.max(1.0)))))
            .collect();
        let _ = write!(svg, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }
    svg.push_str("</svg>");
    svg
}

/// Patterns on the left, tables on the right, a line for each read and write.
pub fn patterns(review: &Review) -> Option<String> {
    let catalogue = &review.catalogue;
    let accesses: Vec<_> = catalogue.accesses.iter().filter(|a| a.table.is_some()).collect();
    if accesses.is_empty() {
        return None;
    }
    let rows = accesses.len().max(catalogue.tables.len());
    let height = 30.0 * rows as f64 + 20.0;
    let spacing = |count: usize, at: usize| (at as f64 + 0.5) * (height / count.max(1) as f64);
    let mut svg = format!(
        "<svg class=\"graph\" viewBox=\"0 0 760 {height}\" role=\"img\" aria-label=\"access patterns and tables\">"
    );
    for (at, access) in accesses.iter().enumerate() {
        let from = spacing(accesses.len(), at);
        let to = spacing(catalogue.tables.len(), access.table.unwrap_or(0));
        let class = if access.is_read() { "read" } else { "write" };
        let _ = write!(
            svg,
            "<path class=\"{class}\" d=\"M300 {from:.1} C 390 {from:.1}, 370 {to:.1}, 460 {to:.1}\"/>"
        );
        let name = access.pattern.clone().unwrap_or_else(|| short(&access.statement.to_string()));
        let _ = write!(
            svg,
            "<text x=\"294\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            from + 4.0,
            escape(&name)
        );
    }
    for (at, table) in catalogue.tables.iter().enumerate() {
        let y = spacing(catalogue.tables.len(), at);
        let _ = write!(
            svg,
            "<text x=\"466\" y=\"{:.1}\" class=\"table\">{}</text>",
            y + 4.0,
            escape(&table.name)
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(44).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
