//! What-if: partition sizes, hot partitions, fan-out and the load of every node, before any hardware is bought.
//!
//! [`simulate`] is a pure function of a review and [`Settings`]: the same seed gives the same report on every machine.
//! Keys are weighed by Zipf's law with named large ones on top, rows fall on them by chance, partitions are placed by
//! their real Murmur3 tokens. It does not model racks, caches, compaction or latency, and every number that the files
//! do not declare is assumed in the open.

mod picture;
mod placement;
mod population;
mod random;
mod report;
mod ring;
mod run;
mod settings;
mod sizes;
mod skew;
mod text;
mod verdict;
mod workload;

pub use picture::write as write_svg;
pub use report::{
    HotPartition, NodeLoad, PatternAt, PatternReport, RingReport, Simulation, TableAt, TableReport, Verdict,
};
pub use settings::{Consistency, Grows, Large, SettingError, Settings};
pub use text::write as write_text;

use crate::entry::Review;
use report::TableReport as Report;
use ring::Ring;
use run::{Load, Run};
use workload::{Operation, Reach};

/// Steps done and steps in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    pub done: usize,
    pub total: usize,
    pub table: &'a str,
}

/// Runs the simulation. `progress` is told before every table at every scale.
pub fn simulate(
    review: &Review,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Simulation, SettingError> {
    settings.check()?;
    check_names(review, settings)?;
    let models = workload::tables(review, settings);
    let ring = Ring::new(settings.nodes, settings.vnodes, settings.replication, settings.seed);
    let mut tables: Vec<Report> = Vec::new();
    let mut patterns: Vec<PatternReport> = Vec::new();
    for model in &models {
        let Some(table) = review.catalogue.tables.get(model.table) else { continue };
        tables.push(Report {
            table: model.name.clone(),
            partition_key: table.partition_text(),
            row_bytes: model.row_bytes,
            time_buckets: model.time_buckets,
            hash_buckets: model.hash_buckets,
            assumptions: model.assumptions.clone(),
            scales: Vec::new(),
        });
        patterns.extend(model.operations.iter().map(|operation| PatternReport {
            pattern: operation.name.clone(),
            table: model.name.clone(),
            is_read: operation.is_read,
            path: path(operation, model.hash_buckets),
            scales: Vec::new(),
        }));
    }
    let total = models.len() * settings.scales.len();
    let mut rings = Vec::new();
    for (number, scale) in settings.scales.iter().enumerate() {
        let mut load = Load::new(&ring, settings);
        let mut at_pattern = patterns.iter_mut();
        for (at, model) in models.iter().enumerate() {
            progress(Progress { done: number * models.len() + at, total, table: &model.name });
            let Some(table) = review.catalogue.tables.get(model.table) else { continue };
            let run = Run::new(model, table, settings, *scale);
            if let Some(report) = tables.get_mut(at) {
                report.scales.push(run.measure(&mut load));
            }
            for (operation, report) in model.operations.iter().zip(at_pattern.by_ref()) {
                report.scales.push(run.pattern(operation));
            }
        }
        rings.push(load.finish(*scale));
    }
    let mut simulation =
        Simulation { settings: settings.clone(), verdicts: Vec::new(), tables, patterns, rings };
    simulation.verdicts = verdict::of(&simulation);
    Ok(simulation)
}

/// The report as JSON, indented.
pub fn write_json(simulation: &Simulation) -> String {
    // Numbers and strings only: serialisation cannot fail.
    serde_json::to_string_pretty(simulation).unwrap_or_default()
}

/// A named key must be able to occur; a misspelt column would silently change nothing.
fn check_names(review: &Review, settings: &Settings) -> Result<(), SettingError> {
    let tables = &review.catalogue.tables;
    if tables.is_empty() {
        return Err(SettingError(
            "the files declare no table; simulate needs CREATE TABLE statements".into(),
        ));
    }
    let keys: Vec<&str> =
        tables.iter().flat_map(|t| t.partition_columns()).map(|c| c.name.as_str()).collect();
    for large in &settings.large {
        let found = match &large.column {
            Some(column) => keys.contains(&column.as_str()),
            None => keys.iter().any(|name| workload::is_tenant(name)),
        };
        if !found {
            let mut known: Vec<&str> = keys.clone();
            known.sort_unstable();
            known.dedup();
            let what = match &large.column {
                Some(column) => format!("no partition key has a column {column}"),
                None => format!(
                    "no partition key has a tenant column, so say which column {} is a value of: COLUMN:{}=…",
                    large.name, large.name
                ),
            };
            return Err(SettingError(format!("{what}; key columns are {}", known.join(", "))));
        }
    }
    Ok(())
}

fn path(operation: &Operation, hash_buckets: u64) -> String {
    match operation.reach {
        Reach::Everything => "every partition".into(),
        Reach::Key { keys, time_buckets, all_hash_buckets } => {
            let hash = if all_hash_buckets { hash_buckets as f64 } else { 1.0 };
            let partitions = keys * time_buckets * hash + operation.copies as f64;
            if partitions <= 1.0 { "one partition".into() } else { format!("{partitions:.0} partitions") }
        }
    }
}
