//! Backfills, writes, checks, repairs (of a copy that is right, and of one that is damaged) and a swap, cut at every I/O: after recovery every
//! projection that is built is its definition, and one that is not is built to the end. One that was damaged is so after a repair.

use super::node::{Node, START_MICROS, run};
use super::{DEFINITIONS, TABLE};
use rt::{CrashImage, Fault, ManualClock, SimDisk};
use std::sync::Arc;
use std::task::Poll;

/// `*` lets the background go on a little, `END` waits for it; `FLUSH` writes files. `@n` creates projection n.
const SCRIPT: &[&str] = &[
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    TABLE,
    "BEGIN BATCH INSERT INTO ks.t (k, c, g, h, v, d) VALUES (1, 1, 1, 1, 4, 1); INSERT INTO ks.t (k, c, g, h, v) VALUES (1, 2, 1, 1, 5); \
     INSERT INTO ks.t (k, c, g, h, v) VALUES (2, 1, 1, 0, 9); INSERT INTO ks.t (k, c, g) VALUES (3, 1, 2); APPLY BATCH",
    "FLUSH",
    "@0",
    "*",
    "INSERT INTO ks.t (k, c, g, v) VALUES (1, 3, 1, 1)",
    "*",
    "DELETE FROM ks.t WHERE k = 2",
    "*",
    "UPDATE ks.t SET g = 2 WHERE k = 1 AND c = 1",
    "END",
    "@1",
    "@3",
    "*",
    "BEGIN BATCH UPDATE ks.t SET v = 7 WHERE k = 3 AND c = 1; UPDATE ks.t SET v = 8, h = 1 WHERE k = 1 AND c = 2; APPLY BATCH",
    "END",
    "CHECK PROJECTION ks.by_g",
    "DELETE FROM ks.t WHERE k = 1 AND c >= 2",
    "REPAIR PROJECTION ks.by_h_and_g",
    "FLUSH",
    "DROP PROJECTION ks.by_g",
    "@0",
    "END",
    "@4",
    "*",
    "BEGIN BATCH INSERT INTO ks.t (k, c, g, h, v) VALUES (1, 3, 1, 1, 6); UPDATE ks.t SET g = 4 WHERE k = 1 AND c = 1; APPLY BATCH",
    "*",
    "@5",
    "UPDATE ks.t SET v = 5 WHERE k = 3 AND c = 1",
    "*",
    "DELETE FROM ks.t WHERE k = 1",
    "END",
    "INSERT INTO ks.t (k, c, g, h, v) VALUES (1, 4, 0, 0, 0)",
    "FLUSH",
    "DAMAGE",
    "CHECK PROJECTION ks.rows_by_g",
    MEND,
    "CHECK PROJECTION ks.later_by_v",
    "UPDATE ks.t SET h = 0, v = 3 WHERE k = 1 AND c = 4",
    "REPAIR PROJECTION ks.later_by_g",
    "CREATE PROJECTION ks.next ON ks.t AS SELECT v WHERE h < 2 PRIMARY KEY ((g, h), k, c) WITH freshness = '2s'",
    "END",
    "CHECK PROJECTION ks.next",
    "ALTER TABLE ks.t REPLACE PROJECTION later_by_g WITH next",
    "UPDATE ks.t SET h = 1 WHERE k = 1 AND c = 4",
];

/// The projection that `DAMAGE` damages, and what mends it.
const DAMAGED: &str = "rows_by_g";
const MEND: &str = "REPAIR PROJECTION ks.rows_by_g";

/// Whether the projection may be damaged after so many steps.
fn may_be_damaged(name: &str, done: usize) -> bool {
    let at = |step: &str| SCRIPT.iter().position(|known| *known == step).unwrap();
    name == DAMAGED && (at("DAMAGE")..=at(MEND)).contains(&done)
}

/// How many of the script's steps were acknowledged.
async fn run_script(node: &Node, disk: &SimDisk) -> usize {
    for (done, step) in SCRIPT.iter().enumerate() {
        let outcome = match *step {
            "FLUSH" => {
                node.engine.flush().await;
                node.engine.run_jobs();
                true
            }
            "*" => {
                node.work();
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
                true
            }
            "END" => ends(disk, node.work_ends()).await.is_ok(),
            // What the row (1, 4) makes is somewhere else.
            "DAMAGE" => ends(disk, node.damage_pair(DAMAGED, 4, [0, 0], [3, 1])).await.is_ok(),
            text => {
                let number = text.strip_prefix('@').map(|number| number.parse::<usize>().unwrap());
                let text = number.map_or(text, |number| DEFINITIONS[number].statement);
                ends(disk, node.try_rows(done, text)).await.is_ok()
            }
        };
        if !outcome {
            return done;
        }
    }
    SCRIPT.len()
}

/// Turns after which whoever waits for a disk that is gone waits for ever. Some of a change of the schema is done on another
/// thread, which takes many turns of this one.
const TURNS_MAX: u64 = 50_000_000;

/// What a future gives. It must end although the disk is gone.
async fn ends<T>(disk: &SimDisk, future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut turns = 0;
    loop {
        let outcome = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context)));
        if let Poll::Ready(outcome) = outcome.await {
            return outcome;
        }
        turns += u64::from(disk.is_crashed());
        assert!(turns < TURNS_MAX, "the disk is gone, and somebody waits for ever");
        tokio::task::yield_now().await;
    }
}

async fn start(disk: &SimDisk) -> Node {
    Node::start(disk, Arc::new(ManualClock::at_micros(START_MICROS)), 2, 1).await
}

#[test]
fn a_crash_at_every_io_leaves_projections_that_are_their_definition() {
    let (mut recovered, mut compared, mut mended) = (0, 0, 0);
    for k in 1.. {
        let disk = SimDisk::new();
        let done = run(async {
            let node = start(&disk).await;
            disk.fault_at(disk.io_count() + k, Fault::Crash);
            let done = run_script(&node, &disk).await;
            node.stop();
            done
        });
        let torn = disk.last_write_len() / 2;
        // Opening takes most of the time, so each cut has two of the four images.
        let images = match k % 2 {
            0 => [CrashImage::DropUnsynced, CrashImage::Random { seed: k }],
            _ => [CrashImage::KeepAll, CrashImage::TornLast { bytes: torn }],
        };
        for image in images {
            recovered += 1;
            let more = run(async {
                let node = start(&disk.image(image)).await;
                let (mut compared, mut mended) = (0, 0);
                for definition in DEFINITIONS.iter().filter(|definition| node.is_built(definition.name)) {
                    let (mut found, expected) = definition.both(&node).await;
                    if found != expected && may_be_damaged(definition.name, done) {
                        mended += 1;
                        node.run(0, MEND).await;
                        found = definition.both(&node).await.0;
                    }
                    assert_eq!(found, expected, "k {k} {image:?} after {done}: {}", definition.name);
                }
                node.work_ends().await.unwrap();
                for definition in DEFINITIONS.iter().filter(|definition| node.has(definition.name)) {
                    assert!(node.is_built(definition.name));
                    let (found, expected) = definition.both(&node).await;
                    assert_eq!(
                        found, expected,
                        "k {k} {image:?} after {done}, built to the end: {}",
                        definition.name
                    );
                    compared += 1;
                }
                node.check_all().await;
                (compared, mended)
            });
            compared += more.0;
            mended += more.1;
        }
        if !disk.is_crashed() {
            println!(
                "{k} cuts, {recovered} images recovered, {compared} projections compared, {mended} of them mended"
            );
            assert!(done == SCRIPT.len() && k > 60 && mended > 0, "k {k}, done {done}, mended {mended}");
            return;
        }
    }
}
