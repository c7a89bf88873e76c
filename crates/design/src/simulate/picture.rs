//! A simulation as one SVG: what it means, partition sizes of every table, load of every node, hottest partitions.
//! No script, no outside resource; follows the reader's light or dark scheme.

use super::report::{RingReport, Simulation, TableReport};
use crate::growth::PARTITION_BYTES_MAX;
use crate::output::html::escape;
use crate::units;
use std::fmt::Write;

const WIDTH: f64 = 1_080.0;
const MARGIN: f64 = 28.0;
const COLUMNS: usize = 3;
const GAP: f64 = 20.0;
const PANEL: f64 = (WIDTH - 2.0 * MARGIN - GAP * (COLUMNS as f64 - 1.0)) / COLUMNS as f64;
const PANEL_HEIGHT: f64 = 210.0;
/// Characters of a line of 14 px text that surely fit the width.
const LINE: usize = 140;
const HOTTEST: usize = 8;
/// Colours of the scales, in order; more scales begin again.
const SCALE_CLASSES: [&str; 4] = ["s0", "s1", "s2", "s3"];

/// The picture.
pub fn write(simulation: &Simulation) -> String {
    let mut body = String::new();
    let mut y = MARGIN + 14.0;
    text(&mut body, MARGIN, y, "h1", "start", "What these keys will cost");
    y += 26.0;
    for line in wrapped(&subtitle(simulation)) {
        text(&mut body, MARGIN, y, "soft", "start", &line);
        y += 20.0;
    }
    y += 6.0;
    for verdict in &simulation.verdicts {
        let class = if verdict.is_bad { "bad" } else { "good" };
        let mark = if verdict.is_bad { "▲" } else { "✓" };
        for (number, line) in wrapped(&verdict.text).iter().enumerate() {
            if number == 0 {
                text(&mut body, MARGIN, y, class, "start", mark);
            }
            text(&mut body, MARGIN + 20.0, y, "body", "start", line);
            y += 20.0;
        }
    }
    y += 22.0;
    legend(&mut body, simulation, y);
    text(&mut body, MARGIN, y, "h2", "start", "Partition sizes");
    y += 12.0;
    y = panels(&mut body, y, simulation.tables.len(), PANEL_HEIGHT, |out, at, x, y| {
        if let Some(table) = simulation.tables.get(at) {
            sizes(out, table, x, y);
        }
    });
    if simulation.rings.iter().any(|ring| ring.nodes.iter().any(|n| n.operations() > 0.0)) {
        y += 30.0;
        text(&mut body, MARGIN, y, "h2", "start", "Operations per second on each node");
        y += 12.0;
        y = panels(&mut body, y, simulation.rings.len(), PANEL_HEIGHT, |out, at, x, y| {
            if let Some(ring) = simulation.rings.get(at) {
                nodes(out, ring, at, x, y);
            }
        });
    }
    if let Some(ring) = simulation.rings.last().filter(|ring| !ring.hottest.is_empty()) {
        y += 30.0;
        text(&mut body, MARGIN, y, "h2", "start", &format!("Hottest partitions at {}x", ring.scale));
        y = hottest(&mut body, ring, y + 12.0);
    }
    let height = y + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\" \
         aria-label=\"simulation of partition sizes and load\"><style>{STYLE}</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>{body}</svg>\n"
    )
}

fn subtitle(simulation: &Simulation) -> String {
    let s = &simulation.settings;
    let large: String = s.large.iter().map(|l| format!(", {} {:.0} %", l.name, l.share * 100.0)).collect();
    format!(
        "{} nodes x {} vnodes, replication {}, Zipf {}{large}, {} of writing, seed {}",
        s.nodes,
        s.vnodes,
        s.replication,
        s.zipf,
        units::days(s.days),
        s.seed
    )
}

fn text(out: &mut String, x: f64, y: f64, class: &str, anchor: &str, content: &str) {
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escape(content)
    );
}

fn wrapped(content: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in content.split_whitespace() {
        let last = lines
            .last_mut()
            .filter(|line| line.is_empty() || line.chars().count() + word.chars().count() < LINE);
        match last {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    lines
}

fn cut(content: &str, characters: usize) -> String {
    if content.chars().count() <= characters {
        return content.to_string();
    }
    content.chars().take(characters.saturating_sub(1)).chain(['…']).collect()
}

fn class(scale: usize) -> &'static str {
    SCALE_CLASSES[scale % SCALE_CLASSES.len()]
}

fn legend(out: &mut String, simulation: &Simulation, y: f64) {
    let mut x = WIDTH - MARGIN;
    for (at, scale) in simulation.settings.scales.iter().enumerate().rev() {
        let label = format!("{scale}x");
        text(out, x, y, "soft", "end", &label);
        x -= 8.0 * label.len() as f64 + 22.0;
        let _ = write!(
            out,
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"14\" height=\"10\" rx=\"2\"/>",
            class(at),
            y - 10.0
        );
        x -= 18.0;
    }
}

/// Places so many panels in rows; returns where the next section begins.
fn panels(
    out: &mut String,
    top: f64,
    count: usize,
    height: f64,
    draw: impl Fn(&mut String, usize, f64, f64),
) -> f64 {
    for at in 0..count {
        let x = MARGIN + (at % COLUMNS) as f64 * (PANEL + GAP);
        let y = top + (at / COLUMNS) as f64 * (height + GAP);
        let _ = write!(
            out,
            "<rect class=\"card\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{PANEL:.1}\" height=\"{height}\" rx=\"8\"/>"
        );
        draw(out, at, x, y);
    }
    top + count.div_ceil(COLUMNS) as f64 * (height + GAP) - GAP
}

/// Partitions by size, both axes logarithmic, a step line per scale, the limit as a red line.
fn sizes(out: &mut String, table: &TableReport, left: f64, top: f64) {
    text(out, left + 14.0, top + 24.0, "h3", "start", &cut(&table.table, 33));
    let (low, high) = (1.0, 12.0);
    let (x0, x1, y0, y1) = (left + 44.0, left + PANEL - 16.0, top + PANEL_HEIGHT - 34.0, top + 40.0);
    let x = |bytes: f64| x0 + (bytes.max(1.0).log10().clamp(low, high) - low) / (high - low) * (x1 - x0);
    let most = table.scales.iter().flat_map(|at| &at.histogram).map(|(_, n)| *n).fold(10.0, f64::max).log10();
    let y = |count: f64| y0 - (count.max(1.0).log10() / most).clamp(0.0, 1.0) * (y0 - y1);
    for power in [3, 5, 7, 9, 11] {
        let at = x(10f64.powi(power));
        let _ =
            write!(out, "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{y0:.1}\" y2=\"{y1:.1}\"/>");
        text(out, at, y0 + 16.0, "axis", "middle", &units::bytes(10f64.powi(power)));
    }
    for power in (0..=most as i32).step_by(2) {
        let count = 10f64.powi(power);
        text(out, x0 - 6.0, y(count) + 4.0, "axis", "end", &power_label(power));
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{x0:.1}\" x2=\"{x1:.1}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>",
            y(count)
        );
    }
    let limit = x(PARTITION_BYTES_MAX);
    let _ = write!(
        out,
        "<rect class=\"danger\" x=\"{limit:.1}\" y=\"{y1:.1}\" width=\"{:.1}\" height=\"{:.1}\"/><line class=\"limit\" x1=\"{limit:.1}\" x2=\"{limit:.1}\" y1=\"{y0:.1}\" y2=\"{y1:.1}\"/>",
        x1 - limit,
        y0 - y1
    );
    text(out, limit + 4.0, y1 + 11.0, "axis bad", "start", "100 MB");
    for (number, at) in table.scales.iter().enumerate().rev() {
        let mut path = String::new();
        for (upper, count) in &at.histogram {
            let (from, to, height) = (x(upper / 2.0), x(*upper), y(*count));
            let _ = if path.is_empty() {
                write!(path, "M{from:.1} {y0:.1} V{height:.1} H{to:.1}")
            } else {
                write!(path, " V{height:.1} H{to:.1}")
            };
        }
        if !path.is_empty() {
            let _ = write!(out, "<path class=\"sizes {}\" d=\"{path} V{y0:.1} Z\"/>", class(number));
        }
    }
    text(out, x1, top + PANEL_HEIGHT - 6.0, "axis", "end", "size of a partition; height: how many");
}

fn power_label(power: i32) -> String {
    match power {
        0 => "1".into(),
        2 => "100".into(),
        4 => "10 k".into(),
        6 => "1 M".into(),
        8 => "100 M".into(),
        _ => format!("1e{power}"),
    }
}

/// A bar per node, writes on top of reads, with the average as a line.
fn nodes(out: &mut String, ring: &RingReport, number: usize, left: f64, top: f64) {
    let uneven = ring.unevenness(super::NodeLoad::operations).unwrap_or(1.0);
    text(out, left + 14.0, top + 24.0, "h3", "start", &format!("{}x", ring.scale));
    text(out, left + PANEL - 14.0, top + 24.0, "soft", "end", &format!("busiest {uneven:.2} x the average"));
    let (x0, x1, y0, y1) = (left + 54.0, left + PANEL - 16.0, top + PANEL_HEIGHT - 34.0, top + 40.0);
    let most = ring.nodes.iter().map(super::NodeLoad::operations).fold(0.0, f64::max).max(1e-9);
    let average = ring.nodes.iter().map(super::NodeLoad::operations).sum::<f64>() / ring.nodes.len() as f64;
    let y = |value: f64| y0 - value / most * (y0 - y1);
    let step = (x1 - x0) / ring.nodes.len() as f64;
    for node in &ring.nodes {
        let at = x0 + (node.node - 1) as f64 * step + step * 0.12;
        for (class, from, value) in [(class(number), 0.0, node.reads), ("writes", node.reads, node.writes)] {
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{at:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                y(from + value),
                step * 0.76,
                (y(from) - y(from + value)).max(0.0)
            );
        }
        // Every label when there is room, else a few.
        let every = ring.nodes.len().div_ceil(16);
        if (node.node - 1) % every == 0 {
            text(out, at + step * 0.38, y0 + 16.0, "axis", "middle", &node.node.to_string());
        }
    }
    let _ = write!(
        out,
        "<line class=\"average\" x1=\"{x0:.1}\" x2=\"{x1:.1}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>",
        y(average)
    );
    text(out, x0 - 6.0, y(average) + 4.0, "axis", "end", &short_count(average));
    if (y(average) - y1).abs() > 14.0 {
        text(out, x0 - 6.0, y1 + 4.0, "axis", "end", &short_count(most));
    }
    text(out, x1, top + PANEL_HEIGHT - 6.0, "axis", "end", "node; grey on top: writes; line: average");
}

/// Bars of the busiest partitions; returns where they end.
fn hottest(out: &mut String, ring: &RingReport, top: f64) -> f64 {
    let shown = ring.hottest.len().min(HOTTEST);
    let height = 22.0 * shown as f64 + 20.0;
    let _ = write!(
        out,
        "<rect class=\"card\" x=\"{MARGIN}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"8\"/>",
        WIDTH - 2.0 * MARGIN
    );
    let most = ring.hottest.first().map_or(1.0, |hot| hot.reads + hot.writes);
    let (label_end, bar, bar_width) = (MARGIN + 520.0, MARGIN + 532.0, 270.0);
    for (at, hot) in ring.hottest.iter().take(shown).enumerate() {
        let y = top + 10.0 + 22.0 * at as f64;
        text(out, label_end, y + 15.0, "body", "end", &cut(&format!("{}: {}", hot.table, hot.key), 64));
        let width = |value: f64| (value / most * bar_width).max(0.0);
        let _ = write!(
            out,
            "<rect class=\"s1\" x=\"{bar:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\"/><rect class=\"writes\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\"/>",
            y + 4.0,
            width(hot.reads),
            bar + width(hot.reads),
            y + 4.0,
            width(hot.writes)
        );
        let label = format!("{} reads/s, {} writes/s", short_count(hot.reads), short_count(hot.writes));
        text(out, bar + width(hot.reads + hot.writes) + 8.0, y + 15.0, "soft", "start", &label);
    }
    top + height
}

fn short_count(value: f64) -> String {
    match value {
        v if v < 1e4 => units::count(if v < 10.0 { v } else { v.round() }),
        v if v < 1e6 => format!("{:.0} k", v / 1e3),
        v if v < 1e9 => format!("{:.1} M", v / 1e6),
        v => format!("{:.1} G", v / 1e9),
    }
}

const STYLE: &str = include_str!("picture.css");
