//! What a simulation means, in sentences: what breaks first, at which scale, and on whose account.

use super::report::{RingReport, Simulation, Verdict};
use crate::growth::PARTITION_WRITES_MAX;
use crate::units;

/// A node with this many times the average load decides how large the cluster must be.
const UNEVEN: f64 = 1.5;
/// Reads that go back further than this to fill a page are felt.
const BUCKETS_TO_FILL: f64 = 12.0;

/// The verdicts, bad ones first.
pub fn of(simulation: &Simulation) -> Vec<Verdict> {
    let mut out = Vec::new();
    let mut bad = |text: String| out.push(Verdict { is_bad: true, text });
    for table in &simulation.tables {
        let Some(at) = table.scales.iter().find(|at| at.over_limit >= 1.0) else { continue };
        let (count, passes) = if at.over_limit < 1.5 {
            ("1 partition".to_string(), "passes")
        } else {
            (format!("{} partitions", units::count(at.over_limit)), "pass")
        };
        bad(format!(
            "{}: {count} {passes} 100 MB at {}x; the largest ({}) has {}",
            table.table,
            at.scale,
            at.largest,
            units::bytes(at.partition_bytes_max)
        ));
    }
    hot_partitions(simulation, &mut bad);
    uneven_nodes(simulation, &mut bad);
    fan_out(simulation, &mut bad);
    if out.is_empty() {
        let scale = simulation.settings.scales.iter().copied().fold(0.0, f64::max);
        let text = format!(
            "up to {scale}x no partition passes 100 MB, none takes over {} writes/s, and no node carries {UNEVEN} times the average",
            units::count(PARTITION_WRITES_MAX)
        );
        out.push(Verdict { is_bad: false, text });
    }
    out
}

fn hot_partitions(simulation: &Simulation, bad: &mut dyn FnMut(String)) {
    let mut told: Vec<&str> = Vec::new();
    for ring in &simulation.rings {
        for hot in ring.hottest.iter().filter(|hot| hot.writes > PARTITION_WRITES_MAX) {
            if told.contains(&hot.table.as_str()) {
                continue;
            }
            told.push(&hot.table);
            bad(format!(
                "{}: one partition ({}) takes {} writes/s at {}x; one partition carries about {}",
                hot.table,
                hot.key,
                units::count(hot.writes.round()),
                ring.scale,
                units::count(PARTITION_WRITES_MAX)
            ));
        }
    }
}

fn uneven_nodes(simulation: &Simulation, bad: &mut dyn FnMut(String)) {
    let uneven = |ring: &&RingReport| ring.unevenness(|n| n.operations()).is_some_and(|u| u > UNEVEN);
    let Some(ring) = simulation.rings.iter().find(uneven) else { return };
    let times = ring.unevenness(|n| n.operations()).unwrap_or(1.0);
    let busiest = ring.nodes.iter().max_by(|a, b| a.operations().total_cmp(&b.operations()));
    let (Some(busiest), Some(hot)) = (busiest, ring.hottest.first()) else { return };
    bad(format!(
        "node {} carries {times:.1} times the average at {}x: the hottest partition ({} {}) is {} operations/s, and more nodes would not split it",
        busiest.node,
        ring.scale,
        hot.table,
        hot.key,
        units::count((hot.reads + hot.writes).round())
    ));
}

fn fan_out(simulation: &Simulation, bad: &mut dyn FnMut(String)) {
    for pattern in &simulation.patterns {
        let (Some(first), Some(last)) = (pattern.scales.first(), pattern.scales.last()) else { continue };
        if pattern.path == "every partition" && last.partitions > 1_000.0 {
            bad(format!(
                "{}: one operation touches every partition, {} of them at {}x and {} at {}x",
                pattern.pattern,
                units::count(first.partitions),
                first.scale,
                units::count(last.partitions),
                last.scale
            ));
        }
        if let Some(buckets) = first.buckets_to_fill_p99.filter(|n| *n > BUCKETS_TO_FILL) {
            bad(format!(
                "{}: at {}x one read in a hundred goes back {} time buckets to fill its limit; the bucket is fine for large keys and too fine for small ones",
                pattern.pattern,
                first.scale,
                units::count(buckets)
            ));
        }
    }
}
