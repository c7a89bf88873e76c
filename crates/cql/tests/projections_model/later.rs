//! Projections that follow later: what readers see before they have caught up, changes of many rows, writers that are held back.

use super::Random;
use super::node::{Node, START_MICROS, execute, run};
use rt::{CrashImage, ManualClock, SimDisk};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Poll;

const KEYSPACE: &str =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
const TABLE: &str = "CREATE TABLE ks.t (k int, c int, n int, g int, PRIMARY KEY (k, c))";

async fn start(disk: &SimDisk, clock: &Arc<ManualClock>, shards: usize) -> Node {
    Node::start(disk, clock.clone(), shards, 100).await
}

async fn with_projection(disk: &SimDisk, clock: &Arc<ManualClock>, rule: &str) -> Node {
    let node = start(disk, clock, 2).await;
    for text in [KEYSPACE, TABLE] {
        node.run(0, text).await;
    }
    let create = "CREATE PROJECTION ks.p ON ks.t AS SELECT n PRIMARY KEY (g, k, c)";
    node.run(0, &format!("{create} WITH freshness = '5s' AND on_lag = '{rule}'")).await;
    node.work_ends().await.unwrap();
    node
}

/// Rows of one partition in batches; all of them are followed afterwards.
async fn fill(node: &Node, rows: i32) {
    for first in (0..rows).step_by(100) {
        let insert = |c: i32| format!("INSERT INTO ks.t (k, c, n, g) VALUES (1, {c}, {c}, {});", c % 7);
        let rows: String = (first..rows.min(first + 100)).map(insert).collect();
        node.run(0, &format!("BEGIN UNLOGGED BATCH {rows} APPLY BATCH")).await;
    }
    node.caught_up("p").await;
}

#[test]
fn a_projection_that_is_late_never_goes_back() {
    run(async {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let mut disk = SimDisk::new();
        let mut node = with_projection(&disk, &clock, "late").await;
        let mut random = Random(11);
        let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
        let mut behind = 0;
        for n in 1..4_000_i64 {
            clock.advance_micros(500);
            let (k, shard) = (random.below(6), random.below(3) as usize);
            let text = format!("INSERT INTO ks.t (k, c, n, g) VALUES ({k}, 0, {n}, {})", random.below(3));
            node.run(shard, &text).await;
            for _ in 0..random.below(4) {
                tokio::task::yield_now().await;
            }
            // A row is at one place, or on its way from one to another; what it shows is never older than what it has shown.
            for row in node.rows(shard, "SELECT k, n FROM ks.p").await {
                let (k, n) = (row[0].unwrap(), row[1].unwrap());
                let before = seen.insert(k, n).unwrap_or(0);
                assert!(n >= before, "row {k} shows {n} after {before}");
            }
            let base = node.rows(shard, "SELECT k, n FROM ks.t").await;
            behind += usize::from(base.iter().any(|row| seen.get(&row[0].unwrap()) != row[1].as_ref()));
            if random.below(200) == 0 {
                node.stop();
                disk = disk.image(CrashImage::DropUnsynced);
                node = start(&disk, &clock, 1 + random.below(3) as usize).await;
            }
        }
        assert!(behind > 100, "it was late {behind} times: too seldom to show anything");
        node.caught_up("p").await;
        assert_eq!(node.rows(0, "CHECK PROJECTION ks.p").await[0][..3], [Some(0); 3]);
    });
}

#[test]
fn a_change_of_many_rows_is_followed_in_several_commits_and_over_a_crash() {
    run(async {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let disk = SimDisk::new();
        let node = with_projection(&disk, &clock, "late").await;
        fill(&node, 1_500).await;
        assert_eq!(rows_of(&node).await, 1_500);
        node.run(0, "DELETE FROM ks.t WHERE k = 1 AND c < 1400").await;
        let left = until_it_has_begun(&node, 1_500).await;
        node.stop();
        let node = start(&disk.image(CrashImage::DropUnsynced), &clock, 3).await;
        let after = rows_of(&node).await;
        assert!(after <= left && after > 100, "it goes on where it was: {after} of {left}");
        node.caught_up("p").await;
        assert_eq!(rows_of(&node).await, 100);
        assert_eq!(node.rows(0, "CHECK PROJECTION ks.p").await[0][..5], [0, 0, 0, 0, 100].map(Some));
    });
}

async fn rows_of(node: &Node) -> i64 {
    node.rows(0, "SELECT count(*) FROM ks.p").await[0][0].unwrap()
}

/// Rows that are left when a deletion of all of them is under way.
async fn until_it_has_begun(node: &Node, before: i64) -> i64 {
    loop {
        tokio::task::yield_now().await;
        let rows = rows_of(node).await;
        assert!(rows > 200, "it ended before anybody saw it");
        if rows < before {
            return rows;
        }
    }
}

/// What happens to a write while a change of many rows keeps the projection behind for longer than it may be: was it done, and did it wait?
async fn write_when_late(rule: &str) -> (Result<(), String>, bool) {
    let clock = Arc::new(ManualClock::at_micros(START_MICROS));
    let node = with_projection(&SimDisk::new(), &clock, rule).await;
    fill(&node, 1_500).await;
    node.run(0, "DELETE FROM ks.t WHERE k = 1").await;
    clock.advance_micros(10_000_000);
    until_it_has_begun(&node, 1_500).await;
    let write = execute(&node.dialects[0], &node.ids, "INSERT INTO ks.t (k, c, n, g) VALUES (2, 2, 2, 2)");
    let mut write = std::pin::pin!(write);
    let first = std::future::poll_fn(|context| Poll::Ready(write.as_mut().poll(context))).await;
    let outcome = match first {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => write.await,
    };
    // A projection that has caught up lets writers go on.
    (outcome.map(|_| ()).map_err(|error| error.to_string()), rows_of(&node).await < 2)
}

#[test]
fn writers_wait_are_refused_or_go_on_when_a_projection_is_late() {
    run(async {
        assert_eq!(write_when_late("wait").await, (Ok(()), true));
        assert_eq!(write_when_late("late").await, (Ok(()), false));
        let (refused, _) = write_when_late("refuse").await;
        assert!(refused.clone().is_err_and(|error| error.contains("behind")), "{refused:?}");
    });
}

#[test]
fn check_finds_what_was_damaged_and_repair_mends_it() {
    run(async {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let node = with_projection(&SimDisk::new(), &clock, "wait").await;
        fill(&node, 20).await;
        clock.advance_micros(1_000_000);
        node.damage("p", 3, 7).await;
        clock.advance_micros(1_000_000);
        let found = node.rows(0, "CHECK PROJECTION ks.p").await;
        assert_eq!(found[0][..4], [1, 1, 0, 0].map(Some), "{found:?}");
        let found = node.rows(0, "REPAIR PROJECTION ks.p").await;
        assert_eq!(found[0][..4], [1, 1, 0, 2].map(Some), "{found:?}");
        assert_eq!(node.rows(0, "CHECK PROJECTION ks.p").await[0][..4], [Some(0); 4]);
        node.run(0, "UPDATE ks.t SET g = 9 WHERE k = 1 AND c = 3").await;
        assert_eq!(node.rows(0, "CHECK PROJECTION ks.p").await[0][..4], [Some(0); 4]);
    });
}
