//! A simulation as text tables for a terminal.

use super::report::{PatternReport, RingReport, Simulation, TableReport};
use crate::growth::PARTITION_BYTES_MAX;
use crate::output::text::Colour;
use crate::units;
use std::fmt::Write;

/// The whole report. Writing to a String cannot fail, so results of `write!` are dropped.
pub fn write(simulation: &Simulation, colour: Colour) -> String {
    let mut out = String::new();
    head(&mut out, simulation);
    for verdict in &simulation.verdicts {
        let (mark, code) = if verdict.is_bad { ("!", "31") } else { ("ok", "32") };
        let _ = writeln!(out, "{} {}", colour.paint(code, mark), verdict.text);
    }
    let _ = writeln!(out, "\n{}", colour.paint("1", "Partition sizes (one replica)"));
    let mut rows = vec![cells([
        "table",
        "scale",
        "partitions",
        "rows",
        "data",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "largest",
        "> 100 MB",
    ])];
    for table in &simulation.tables {
        table_rows(&mut rows, table);
    }
    grid(&mut out, &rows, 1, colour);
    if simulation.patterns.is_empty() {
        out.push_str("\nNo access pattern is declared, so nothing is known about load; CREATE ACCESS PATTERN … WITH peak_rate = … tells it.\n");
    } else {
        let _ = writeln!(out, "\n{}", colour.paint("1", "Fan-out of one operation"));
        let mut rows = vec![cells([
            "pattern",
            "path",
            "scale",
            "operations/s",
            "partitions",
            "nodes",
            "buckets to fill LIMIT",
            "busiest key/s",
        ])];
        for pattern in &simulation.patterns {
            pattern_rows(&mut rows, pattern);
        }
        grid(&mut out, &rows, 2, colour);
    }
    for ring in &simulation.rings {
        ring_tables(&mut out, ring, colour);
    }
    assumptions(&mut out, simulation, colour);
    out
}

fn head(out: &mut String, simulation: &Simulation) {
    let s = &simulation.settings;
    let _ = writeln!(
        out,
        "{} nodes x {} vnodes, replication {}, reads at {:?}; Zipf {}{}; {} of writing; seed {}\n",
        s.nodes,
        s.vnodes,
        s.replication,
        s.consistency,
        s.zipf,
        s.large.iter().map(|l| format!(", {} {:.0} %", l.name, l.share * 100.0)).collect::<String>(),
        units::days(s.days),
        s.seed
    );
}

fn cells<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_string).to_vec()
}

fn table_rows(rows: &mut Vec<Vec<String>>, table: &TableReport) {
    for (number, at) in table.scales.iter().enumerate() {
        let mut row =
            vec![if number == 0 { table.table.clone() } else { String::new() }, format!("{}x", at.scale)];
        row.extend([units::count(at.partitions), large(at.rows), units::bytes(at.bytes)]);
        for bytes in [
            at.partition_bytes_p50,
            at.partition_bytes_p90,
            at.partition_bytes_p99,
            at.partition_bytes_p999,
            at.partition_bytes_max,
        ] {
            let mark = if bytes > PARTITION_BYTES_MAX { "!" } else { "" };
            row.push(format!("{}{mark}", units::bytes(bytes)));
        }
        row.push(units::count(at.over_limit));
        rows.push(row);
    }
}

fn pattern_rows(rows: &mut Vec<Vec<String>>, pattern: &PatternReport) {
    for (number, at) in pattern.scales.iter().enumerate() {
        let first = |text: &str| if number == 0 { text.to_string() } else { String::new() };
        let fill = match (at.buckets_to_fill_p50, at.buckets_to_fill_p99) {
            (Some(p50), Some(p99)) => format!("{} (p99 {})", units::count(p50), units::count(p99)),
            _ => "-".into(),
        };
        rows.push(vec![
            first(&pattern.pattern),
            first(&pattern.path),
            format!("{}x", at.scale),
            at.rate.map_or("not declared".into(), units::count),
            large(at.partitions),
            format!("{:.1}", at.nodes),
            fill,
            at.busiest_key_rate.map_or("-".into(), units::count),
        ]);
    }
}

fn ring_tables(out: &mut String, ring: &RingReport, colour: Colour) {
    let uneven = |of: fn(&super::NodeLoad) -> f64| {
        ring.unevenness(of).map_or(String::new(), |u| format!("{u:.2} x the average"))
    };
    let _ = writeln!(out, "\n{}", colour.paint("1", &format!("Nodes at {}x", ring.scale)));
    let mut rows = vec![cells(["node", "owns", "data", "reads/s", "writes/s"])];
    const SHOWN: usize = 24;
    for node in ring.nodes.iter().take(SHOWN) {
        rows.push(vec![
            node.node.to_string(),
            format!("{:.1} %", node.ownership * 100.0),
            units::bytes(node.bytes),
            units::count(node.reads.round()),
            units::count(node.writes.round()),
        ]);
    }
    if ring.nodes.len() > SHOWN {
        rows.push(cells(["…", "", "", "", ""]));
    }
    let owns = uneven(|n| n.ownership);
    rows.push(vec!["busiest".into(), owns, uneven(|n| n.bytes), uneven(|n| n.reads), uneven(|n| n.writes)]);
    grid(out, &rows, 1, colour);
    if ring.hottest.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", colour.paint("1", &format!("Hottest partitions at {}x", ring.scale)));
    let mut rows = vec![cells(["table", "partition", "reads/s", "writes/s", "size", "node"])];
    for hot in ring.hottest.iter().take(5) {
        rows.push(vec![
            hot.table.clone(),
            hot.key.clone(),
            units::count(hot.reads),
            units::count(hot.writes),
            units::bytes(hot.bytes),
            hot.node.to_string(),
        ]);
    }
    grid(out, &rows, 2, colour);
}

fn assumptions(out: &mut String, simulation: &Simulation, colour: Colour) {
    let assumed: Vec<&TableReport> = simulation.tables.iter().filter(|t| !t.assumptions.is_empty()).collect();
    if assumed.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", colour.paint("1", "Assumed, because nothing is declared"));
    for table in assumed {
        let _ = writeln!(out, "{}: {}", table.table, table.assumptions.join("; "));
    }
}

/// Rows can be too many to count digit by digit.
fn large(value: f64) -> String {
    match value {
        v if v < 1e7 => units::count(v.round()),
        v if v < 1e9 => format!("{:.1} M", v / 1e6),
        v if v < 1e12 => format!("{:.1} G", v / 1e9),
        v => format!("{:.1} T", v / 1e12),
    }
}

/// Columns as wide as their widest cell; the first `left` are left-aligned.
fn grid(out: &mut String, rows: &[Vec<String>], left: usize, colour: Colour) {
    let columns = rows.first().map_or(0, Vec::len);
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            let painted = if cell.ends_with('!') { colour.paint("31", cell) } else { cell.to_string() };
            let gap = if at == 0 { "" } else { "  " };
            let _ = if at < left {
                write!(line, "{gap}{painted}{padding}")
            } else {
                write!(line, "{gap}{padding}{painted}")
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
