//! Changing the plan of a table, and buckets that spill, cut at every I/O: after recovery every row is there once, as it was
//! acknowledged, whether the rows have moved or not; and the job then goes on to its end.

use super::*;
use rt::Fault;

/// What a client does. `*` lets the background copy a page or two, `END` waits for it; `FLUSH` writes files; `SPILL` lets buckets spill.
type Script = &'static [&'static str];

/// Buckets that spill, are written to on both sides of their points, and move to another plan.
const SPILLS: Script = &[
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE ks.t (k int, at timestamp, id int, v int, PRIMARY KEY (k, at, id)) WITH CLUSTERING ORDER BY (at DESC, id ASC) \
     AND bucketing = {'by': 'at', 'every': 'month', 'spill': '1d', 'at': '1'}",
    "CREATE INDEX ON ks.t (v)",
    "BEGIN BATCH INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700000000000, 1, 1) USING TIMESTAMP 11; \
     INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700000000000, 2, 2) USING TIMESTAMP 12; \
     INSERT INTO ks.t (k, at, id, v) VALUES (2, 1700000000000, 5, 5) USING TIMESTAMP 15; APPLY BATCH",
    "SPILL",
    // Behind the point, before it, and on both sides in one batch.
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700086400000, 3, 3) USING TIMESTAMP 13",
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700000001000, 4, 4) USING TIMESTAMP 14",
    "FLUSH",
    "BEGIN BATCH INSERT INTO ks.t (k, at, id, v) VALUES (2, 1700259200000, 6, 6) USING TIMESTAMP 16; \
     UPDATE ks.t USING TIMESTAMP 17 SET v = 50 WHERE k = 2 AND at = 1700000000000 AND id = 5; APPLY BATCH",
    "INSERT INTO ks.t (k, at, id, v) VALUES (2, 1700345600000, 7, 7) IF NOT EXISTS",
    "UPDATE ks.t SET v = 70 WHERE k = 2 AND at = 1700345600000 AND id = 7 IF v = 7",
    "DELETE FROM ks.t WHERE k = 1 AND at >= 1700000000000 AND at < 1700000001000",
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1702000000000, 9, 11) USING TIMESTAMP 18",
    "SPILL",
    "ALTER TABLE ks.t WITH bucketing = {'by': 'at', 'every': '1y', 'spill': 'week', 'at': '1', 'hash': 'id', 'into': 2}",
    "*",
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700172800000, 8, 8) USING TIMESTAMP 18",
    "*",
    "END",
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700173800000, 8, 9) USING TIMESTAMP 19",
    "SPILL",
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1701500000000, 8, 10) USING TIMESTAMP 20",
    "UPDATE ks.t SET v = 71 WHERE k = 2 AND at = 1700345600000 AND id = 7 IF v = 70",
];

/// Plans that change.
const SCRIPT: Script = &[
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE ks.t (k int, at timestamp, id int, v int, PRIMARY KEY (k, at, id)) WITH CLUSTERING ORDER BY (at DESC, id ASC)",
    "BEGIN BATCH INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700000000000, 1, 1) USING TIMESTAMP 11; \
     INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700000000000, 2, 2) USING TIMESTAMP 12; \
     INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700086400000, 3, 3) USING TIMESTAMP 13; \
     INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700172800000, 4, 4) USING TIMESTAMP 14; \
     INSERT INTO ks.t (k, at, id, v) VALUES (2, 1700000000000, 5, 5) USING TIMESTAMP 15; \
     INSERT INTO ks.t (k, at, id, v) VALUES (2, 1700259200000, 6, 6) USING TIMESTAMP 16; APPLY BATCH",
    "FLUSH",
    "ALTER TABLE ks.t WITH bucketing = {'by': 'at', 'every': '1d'}",
    "*",
    "UPDATE ks.t SET v = 30 WHERE k = 1 AND at = 1700086400000 AND id = 3",
    "*",
    "DELETE FROM ks.t WHERE k = 1 AND at >= 1700000000000 AND at < 1700000001000",
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700000000000, 1, 9) USING TIMESTAMP 17",
    "INSERT INTO ks.t (k, at, id, v) VALUES (2, 1700345600000, 7, 7) IF NOT EXISTS",
    "*",
    "END",
    "INSERT INTO ks.t (k, at, id, v) VALUES (1, 1700432000000, 8, 8)",
    "FLUSH",
    "ALTER TABLE ks.t WITH bucketing = {'by': 'id', 'into': 3}",
    "*",
    "DELETE FROM ks.t WHERE k = 2",
    "*",
    "END",
    "ALTER TABLE ks.t WITH bucketing = {}",
    "UPDATE ks.t SET v = 31 WHERE k = 1 AND at = 1700086400000 AND id = 3 IF v = 30",
    "*",
    "END",
    "INSERT INTO ks.t (k, at, id, v) VALUES (2, 1700000000000, 5, 50)",
];

impl Node {
    /// How many of the script's steps were acknowledged.
    async fn run_script(&self, script: Script) -> usize {
        let mut job: Option<Job> = None;
        for (done, step) in script.iter().enumerate() {
            match *step {
                "SPILL" => match self.dialect.store.spill().await {
                    Ok(spilled) => assert!(spilled > 0, "step {done}"),
                    Err(_) => return done,
                },
                "FLUSH" => {
                    self.engine.flush().await;
                    self.engine.run_jobs();
                }
                "*" | "END" => {
                    let (shared, store) = (self.dialect.shared.clone(), self.dialect.store.clone());
                    let now = self.ids.now_micros();
                    let work = async move { database::builds::resume_builds(&shared, &store, now).await };
                    let job = job.get_or_insert_with(|| tokio::task::spawn_local(work));
                    for _ in 0..3 {
                        tokio::task::yield_now().await;
                    }
                    if (job.is_finished() || *step == "END") && !matches!(job.await, Ok(Ok(()))) {
                        return done;
                    }
                }
                text => {
                    job = job.filter(|job| !job.is_finished());
                    if self.try_page(text, None, None).await.is_err() {
                        return done;
                    }
                }
            }
        }
        script.len()
    }

    /// Every row by entity with its timestamp, and how many a scan finds.
    async fn probe(&self) -> Vec<Vec<i64>> {
        let mut seen = Vec::new();
        for text in [
            "SELECT k, at, id, v, writetime(v) FROM ks.t WHERE v = 70",
            "SELECT k, at, id, v, writetime(v) FROM ks.t WHERE k = 1",
            "SELECT k, at, id, v, writetime(v) FROM ks.t WHERE k IN (1, 2) ORDER BY at ASC, id DESC",
            "SELECT count(*) FROM ks.t",
        ] {
            let page = self.try_page(text, None, None).await;
            // Nothing is read through an index that is not there, or not built yet.
            let nothing = if text.contains("v = 70") { Vec::new() } else { vec![vec![-1]] };
            seen.extend(page.map_or(nothing, |(rows, _)| rows));
        }
        seen
    }

    pub async fn finish_jobs(&self) {
        let now = self.ids.now_micros();
        database::builds::resume_builds(&self.dialect.shared, &self.dialect.store, now).await.unwrap();
        let (_, catalogue) = self.dialect.shared.load();
        assert!(catalogue.table("ks", "t").is_none_or(|table| table.rebucketing().is_none()));
    }
}

fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

async fn start(disk: &SimDisk) -> Node {
    let node = Node::start(disk, Arc::new(ManualClock::at_micros(START_MICROS)), 1).await;
    node.dialect.shared.jobs().work_in_pages_of(1);
    node
}

/// What is seen after each number of steps without crashes; timestamps of the store's own are not comparable.
fn expected(script: Script) -> Vec<Vec<Vec<i64>>> {
    run(async {
        let node = start(&SimDisk::new()).await;
        let mut states = vec![node.probe().await];
        for step in script {
            match *step {
                "SPILL" => assert!(node.dialect.store.spill().await.unwrap() > 0),
                "FLUSH" => drop(node.engine.flush().await),
                "*" | "END" => node.finish_jobs().await,
                text => drop(node.page(text, None, None).await),
            }
            states.push(node.probe().await);
        }
        states
    })
}

#[test]
fn a_crash_at_every_io_of_a_change_of_plan_loses_and_doubles_nothing() {
    crash_at_every_io(SCRIPT);
}

#[test]
fn a_crash_at_every_io_of_buckets_that_spill_loses_and_doubles_nothing() {
    crash_at_every_io(SPILLS);
}

fn crash_at_every_io(script: Script) {
    let expected = expected(script);
    let mut recovered = 0;
    for k in 1.. {
        let disk = SimDisk::new();
        let done = run(async {
            let node = start(&disk).await;
            disk.fault_at(disk.io_count() + k, Fault::Crash);
            node.run_script(script).await
        });
        let torn = disk.last_write_len() / 2;
        for image in [
            CrashImage::DropUnsynced,
            CrashImage::KeepAll,
            CrashImage::TornLast { bytes: torn },
            CrashImage::Random { seed: k },
        ] {
            recovered += 1;
            run(async {
                let node = start(&disk.image(image)).await;
                let found = node.probe().await;
                let alike = |state: Option<&Vec<Vec<i64>>>| state.is_some_and(|state| same(state, &found));
                assert!(
                    alike(expected.get(done)) || alike(expected.get(done + 1)),
                    "k {k} {image:?}, next {:?}: found {found:?}, expected {:?} or {:?}",
                    script.get(done),
                    expected.get(done),
                    expected.get(done + 1)
                );
                node.finish_jobs().await;
                assert_eq!(node.probe().await, found, "k {k} {image:?}: the job ends");
            });
        }
        if !disk.is_crashed() {
            println!("{k} cuts, {recovered} images recovered");
            assert!(done == script.len() && k > 60, "k {k}");
            return;
        }
    }
}

/// The same rows; timestamps that clients gave must be the same, those of the clock need not be.
fn same(a: &[Vec<i64>], b: &[Vec<i64>]) -> bool {
    let given = |stamp: i64| stamp < 1000;
    let alike = |(a, b): (&Vec<i64>, &Vec<i64>)| match (a.split_last(), b.split_last()) {
        (Some((last_a, a)), Some((last_b, b))) if a.len() == 4 && b.len() == 4 => {
            a == b && given(*last_a) == given(*last_b) && (!given(*last_a) || last_a == last_b)
        }
        _ => a == b,
    };
    a.len() == b.len() && a.iter().zip(b).all(alike)
}
