//! The phases of the work. Each is run in a process of its own, so that memory and caches start empty.

use crate::engines::{self, Engine, Safety, Wanted};
use crate::meter::{Meter, disk_bytes};
use crate::workload::{PARTITIONS, RAW_BYTES, ROWS, Row, mix};
use std::path::Path;
use std::time::Duration;

/// `name=number` arguments.
pub struct Settings(Vec<(String, u64)>);

impl Settings {
    pub fn parse(arguments: &[String]) -> Settings {
        let pair = |argument: &String| {
            let (name, value) = argument.split_once('=').expect("name=number");
            (name.to_owned(), value.parse().expect("a number"))
        };
        Settings(arguments.iter().map(pair).collect())
    }

    fn get(&self, name: &str, default: u64) -> u64 {
        self.0.iter().find(|(known, _)| known == name).map_or(default, |(_, value)| *value)
    }

    /// Rows of the whole data set: all partitions, this many steps each.
    fn steps(&self) -> u64 {
        self.get("steps", ROWS)
    }
}

pub fn load(engine: &str, dir: &str, settings: &Settings, safety: Safety) {
    let _ = std::fs::remove_dir_all(dir);
    let (rows, batch) = (settings.get("rows", PARTITIONS * settings.steps()), settings.get("batch", 1));
    let opened = engines::open(engine, dir, safety == Safety::Synced);
    let phase = match (safety, batch) {
        (Safety::Written, 1) => "load1",
        (Safety::Written, _) => "loadb",
        (Safety::Synced, _) => "syncb",
    };
    let meter = Meter::start();
    opened.load(0, rows, batch, safety);
    meter.report(engine, phase, rows, &format!(",\"batch\":{batch}"));
    let loaded = meter.seconds();
    opened.settle();
    let settled = meter.seconds();
    opened.close();
    let disk = disk_bytes(Path::new(dir));
    let extra = format!(
        ",\"batch\":{batch},\"settle_s\":{:.3},\"close_s\":{:.3},\"disk_bytes_per_row\":{:.1},\"write_amplification\":{:.2}",
        settled - loaded,
        meter.seconds() - settled,
        disk as f64 / rows as f64,
        meter.bytes_written() as f64 / (rows * RAW_BYTES) as f64
    );
    meter.report(engine, &format!("{phase}+settle+close"), rows, &extra);
}

pub fn writers(engine: &str, dir: &str, settings: &Settings) {
    let _ = std::fs::remove_dir_all(dir);
    let writers = settings.get("writers", 1);
    let opened = engines::open(engine, dir, true);
    let meter = Meter::start();
    let mut latencies = opened.write_durably(writers, Duration::from_secs(settings.get("seconds", 4)));
    latencies.sort();
    let at = |part: f64| latencies[((latencies.len() - 1) as f64 * part) as usize];
    let extra = format!(
        ",\"writers\":{writers},\"p50_us\":{},\"p99_us\":{},\"max_us\":{}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    meter.report(engine, "sync1", latencies.len() as u64, &extra);
    opened.close();
}

pub fn open(engine: &str, dir: &str) {
    let meter = Meter::start();
    let opened = engines::open(engine, dir, false);
    meter.report(engine, "open", 1, "");
    let meter = Meter::start();
    let found = opened.get(Row { partition: 17, step: 17 }, true);
    meter.report(engine, "first_get", 1, &format!(",\"hit\":{found}"));
    opened.close();
}

/// More rows behind those that were loaded, not synced; then this process kills itself.
pub fn kill(engine: &str, dir: &str, settings: &Settings) {
    let (rows, base) = (settings.get("rows", 1_000_000), PARTITIONS * settings.steps());
    let opened = engines::open(engine, dir, false);
    let meter = Meter::start();
    // redb: a commit per row would take minutes; half of the rows are in a durable commit.
    let batch = if engine == "redb" { 1000 } else { 1 };
    let half = if engine == "redb" { rows / 2 } else { 0 };
    opened.load(base, base + half, batch, Safety::Synced);
    opened.load(base + half, base + rows, batch, Safety::Written);
    meter.report(engine, "kill", rows, "");
    let own = std::process::id().to_string();
    std::process::Command::new("kill").args(["-9", &own]).status().expect("kill");
    std::thread::sleep(Duration::from_secs(10));
}

pub fn recover(engine: &str, dir: &str, settings: &Settings) {
    let (rows, base) = (settings.get("rows", 1_000_000), PARTITIONS * settings.steps());
    let meter = Meter::start();
    let opened = engines::open(engine, dir, false);
    meter.report(engine, "open_after_kill9", 1, "");
    let found = (base..base + rows).filter(|i| opened.get(Row::arriving(*i), i % 64 == 0)).count();
    println!("{{\"engine\":\"{engine}\",\"phase\":\"recovered\",\"ops\":{rows},\"rows_found\":{found}}}");
    opened.settle();
    opened.close();
}

pub fn reads(engine: &str, dir: &str, settings: &Settings) {
    let meter = Meter::start();
    let opened = engines::open(engine, dir, false);
    meter.report(engine, "open", 1, "");
    let rows = PARTITIONS * settings.steps();
    for i in 0..settings.get("checks", 10_000) {
        assert!(opened.get(Row::arriving(mix(i ^ 0xC0_FFEE) % rows), true), "row {i} of the sample is lost");
    }
    for repeat in 0..settings.get("scans", 3) {
        let meter = Meter::start();
        let found = opened.scan();
        assert!(found >= rows, "{found} rows");
        let rate = (found * RAW_BYTES) as f64 / meter.seconds() / 1e6;
        let phase = if repeat == 0 { "scan_first" } else { "scan_warm" };
        meter.report(engine, phase, found, &format!(",\"raw_mb_per_s\":{rate:.0}"));
    }
    for repeat in 0..settings.get("repeat", 2) {
        points(&*opened, engine, settings, repeat);
        slices(&*opened, engine, settings, repeat);
    }
    opened.close();
}

/// A row by a number without pattern: of the first `within` partitions, not among the last `keep_free` steps.
fn random_row(settings: &Settings, x: u64, keep_free: u64) -> Row {
    let partition = x % settings.get("within", PARTITIONS);
    Row { partition, step: (x >> 32) % (settings.steps() - keep_free) }
}

fn points(opened: &dyn Engine, engine: &str, settings: &Settings, repeat: u64) {
    let count = settings.get("points", 1_000_000);
    let meter = Meter::start();
    for i in 0..count {
        let row = random_row(settings, mix(i.wrapping_add(repeat * 77_777_777)), 0);
        assert!(opened.get(row, false), "{row:?} is lost");
    }
    meter.report(engine, "point_hit", count, "");
    let count = settings.get("misses", 500_000);
    let meter = Meter::start();
    for i in 0..count {
        let row = random_row(settings, mix(i.wrapping_add(repeat * 99_999)), 0);
        assert!(!opened.get_missing(row), "{row:?} has a neighbour");
    }
    meter.report(engine, "point_miss", count, "");
}

fn slices(opened: &dyn Engine, engine: &str, settings: &Settings, repeat: u64) {
    const ROWS_WANTED: usize = 100;
    let count = settings.get("slices", 50_000);
    for newest in [false, true] {
        let meter = Meter::start();
        let mut found = 0;
        for i in 0..count {
            let row = random_row(settings, mix(i.wrapping_add(repeat * 1_234_567)), ROWS_WANTED as u64);
            let wanted = if newest { Wanted::Newest(row) } else { Wanted::From(row) };
            found += opened.slice(wanted, ROWS_WANTED) as u64;
        }
        assert_eq!(found, count * ROWS_WANTED as u64);
        meter.report(engine, if newest { "slice100_newest" } else { "slice100_forward" }, count, "");
    }
}
