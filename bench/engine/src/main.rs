//! One fixed wide-column work on our engine, RocksDB, fjall and redb. A phase per process, one JSON line per result.
//!
//! `engine-bench ENGINE PHASE DIR [name=number ...]`; `run` runs everything, `summary` makes a table of it.
//! Phases: `load` (batch, rows), `sync` (batch, rows), `writers` (writers, seconds), `reads` (repeat, points, slices),
//! `open`, `kill` (rows: writes them and kills itself), `recover` (rows: opens after that and counts them).

// What only the other engines use is dead without them.
#![cfg_attr(not(feature = "rocks"), allow(dead_code))]

mod engines;
mod meter;
mod phases;
mod workload;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, phase, dir, settings @ ..] = arguments.as_slice() else {
        panic!("usage: engine-bench ENGINE PHASE DIR [name=number ...]")
    };
    let settings = phases::Settings::parse(settings);
    match phase.as_str() {
        "load" => phases::load(engine, dir, &settings, engines::Safety::Written),
        "sync" => phases::load(engine, dir, &settings, engines::Safety::Synced),
        "writers" => phases::writers(engine, dir, &settings),
        "reads" => phases::reads(engine, dir, &settings),
        "open" => phases::open(engine, dir),
        "kill" => phases::kill(engine, dir, &settings),
        "recover" => phases::recover(engine, dir, &settings),
        other => panic!("no phase {other}"),
    }
}
