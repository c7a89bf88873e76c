//! Buckets that spill, by hand: where rows are, and that no statement can tell.

use super::*;

const MONTH: i64 = 1_698_796_800_000; // 2023-11-01
const DAY: i64 = 24 * HOUR;

/// Rows of November, three of which make its bucket spill at the second day's end.
const TABLE: &str = "CREATE TABLE ks.t (k int, at timestamp, id int, v int, PRIMARY KEY (k, at, id)) \
     WITH bucketing = {'by': 'at', 'every': 'month', 'spill': '1d'} AND partition_limit = {'rows': 3, 'action': 'spill'}";

fn day(number: i64) -> i64 {
    MONTH + (number - 1) * DAY
}

/// Runs the body on a table whose November has spilled from the third day on.
fn with_spilled(shards: usize, table: &str, body: impl AsyncFnOnce(&mut Node, &SimDisk)) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let disk = SimDisk::new();
        let mut node = Node::start(&disk, Arc::new(ManualClock::at_micros(START_MICROS)), shards).await;
        node.run(
            "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        )
        .await;
        node.run(table).await;
        assert_eq!(node.dialect.store.spill().await, Ok(0));
        for (at, id) in [(day(1), 1), (day(1) + 5, 2), (day(2) + 7, 3)] {
            node.insert(1, at, id).await;
        }
        assert_eq!(node.dialect.store.spill().await, Ok(1));
        assert_eq!(node.dialect.store.spill().await, Ok(0));
        body(&mut node, &disk).await;
    });
}

impl Node {
    async fn insert(&self, k: i64, at: i64, id: i64) {
        self.run(&format!("INSERT INTO ks.t (k, at, id, v) VALUES ({k}, {at}, {id}, {id})")).await;
    }

    async fn rows(&self, text: &str) -> Vec<Vec<i64>> {
        // Conditions have timestamps of the store's clock: they come behind what was there.
        self.clock.advance_micros(TICK_MICROS);
        self.page(text, None, None).await.0
    }

    async fn error(&self, text: &str) -> String {
        self.try_page(text, None, None).await.unwrap_err().to_string()
    }

    /// All ids of the entity in the order of time, read as a client does.
    async fn ids(&self) -> Vec<i64> {
        self.rows("SELECT id FROM ks.t WHERE k = 1").await.concat()
    }
}

#[test]
fn rows_behind_the_point_are_in_finer_buckets_and_late_ones_are_not() {
    for shards in [1, 4] {
        with_spilled(shards, TABLE, async |node, disk| {
            // The second day was in use when the bucket spilled, so it stays whole where it is.
            for (at, id) in [(day(2) + 9, 4), (day(3), 5), (day(1) + 1, 6), (day(30), 7), (day(31), 8)] {
                node.insert(1, at, id).await;
            }
            let rows = "SELECT id, bucket FROM ks.t WHERE k = 1";
            let expected = [
                [1, MONTH],
                [6, MONTH],
                [2, MONTH],
                [3, MONTH],
                [4, MONTH],
                [5, day(3)],
                [7, day(30)],
                // December has a bucket of its own.
                [8, day(31)],
            ];
            assert_eq!(node.rows(rows).await, expected);
            *node = Node::start(
                &disk.image(CrashImage::DropUnsynced),
                Arc::new(ManualClock::at_micros(START_MICROS)),
                shards,
            )
            .await;
            assert_eq!(node.rows(rows).await, expected);
            node.insert(1, day(4), 9).await;
            node.run("TRUNCATE ks.t").await;
            assert_eq!(node.rows(rows).await, Vec::<Vec<i64>>::new());
            node.insert(1, day(3), 5).await;
            assert_eq!(node.rows(rows).await, [[5, day(3)]], "a truncated table keeps its points");
        });
    }
}

#[test]
fn statements_find_rows_on_both_sides_of_the_point() {
    for shards in [1, 3] {
        with_spilled(shards, TABLE, async |node, _| {
            node.run("CREATE INDEX ON ks.t (v)").await;
            node.finish_jobs().await;
            for (at, id) in [(day(3), 4), (day(5), 5), (day(5) + 1, 6)] {
                node.insert(1, at, id).await;
            }
            let (early, late) = (day(1), day(5));
            for (at, id) in [(early, 1), (late, 5)] {
                let row = format!("k = 1 AND at = {at} AND id = {id}");
                assert_eq!(node.rows(&format!("SELECT v FROM ks.t WHERE {row}")).await, [[id]]);
                assert_eq!(node.rows(&format!("SELECT id FROM ks.t WHERE v = {id}")).await, [[id]]);
                let update = |v: i64, was: i64| format!("UPDATE ks.t SET v = {v} WHERE {row} IF v = {was}");
                assert_eq!(node.rows(&update(10 * id, id)).await, [[1]]);
                assert_eq!(node.rows(&update(11 * id, id)).await, [[0, 10 * id]]);
                node.run(&format!("UPDATE ks.t SET v = {} WHERE {row}", 20 * id)).await;
                assert_eq!(node.rows(&format!("SELECT v FROM ks.t WHERE {row}")).await, [[20 * id]]);
                let again =
                    format!("INSERT INTO ks.t (k, at, id, v) VALUES (1, {at}, {id}, 0) IF NOT EXISTS");
                assert_eq!(node.rows(&again).await[0][0], 0);
            }
            // A conditional batch over both sides is decided as one.
            let batch = |first: i64, second: i64| {
                format!(
                    "BEGIN BATCH UPDATE ks.t SET v = 1 WHERE k = 1 AND at = {early} AND id = 1 IF v = {first}; \
                     UPDATE ks.t SET v = 5 WHERE k = 1 AND at = {late} AND id = 5 IF v = {second}; APPLY BATCH"
                )
            };
            assert_eq!(node.rows(&batch(20, 7)).await.len(), 2, "both rows are shown");
            assert_eq!(node.rows("SELECT v FROM ks.t WHERE k = 1 AND at = 1698796800000").await, [[20]]);
            assert_eq!(node.rows(&batch(20, 100)).await, [[1]]);
            assert_eq!(
                node.rows("SELECT id, v FROM ks.t WHERE k = 1").await.concat(),
                [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
            );
            let between = format!("at >= {} AND at < {}", day(2), day(5) + 1);
            assert_eq!(
                node.rows(&format!("SELECT id FROM ks.t WHERE k = 1 AND {between}")).await.concat(),
                [3, 4, 5]
            );
            node.run(&format!("DELETE FROM ks.t WHERE k = 1 AND {between}")).await;
            assert_eq!(node.ids().await, [1, 2, 6]);
            node.run(&format!("DELETE FROM ks.t WHERE k = 1 AND at = {} AND id = 6", day(5) + 1)).await;
            assert_eq!(node.ids().await, [1, 2]);
            node.insert(1, day(6), 7).await;
            node.run("DELETE FROM ks.t WHERE k = 1").await;
            assert_eq!(node.ids().await, Vec::<i64>::new());
        });
    }
}

#[test]
fn a_statement_may_name_the_finer_bucket() {
    with_spilled(1, TABLE, async |node, _| {
        node.insert(1, day(4), 4).await;
        let named = |bucket: i64| format!("k = 1 AND bucket = {bucket} AND at = {} AND id = 4", day(4));
        assert_eq!(node.rows(&format!("SELECT v FROM ks.t WHERE {}", named(day(4)))).await, [[4]]);
        for bucket in [day(4), MONTH] {
            node.run(&format!("UPDATE ks.t SET v = 40 WHERE {}", named(bucket))).await;
            let insert =
                format!("INSERT INTO ks.t (k, bucket, at, id, v) VALUES (1, {bucket}, {}, 4, 41)", day(4));
            node.run(&insert).await;
        }
        assert_eq!(
            node.rows("SELECT v, bucket FROM ks.t WHERE k = 1 AND at > 1699000000000").await,
            [[41, day(4)]]
        );
        // An export that is loaded names the finer bucket of rows that are not in one here.
        node.run(&format!(
            "INSERT INTO ks.t (k, bucket, at, id, v) VALUES (1, {}, {}, 9, 9)",
            day(1),
            day(1) + 9
        ))
        .await;
        assert_eq!(node.rows("SELECT bucket FROM ks.t WHERE k = 1 AND at = 1698796800009").await, [[MONTH]]);
        for wrong in [day(5), day(31)] {
            let insert =
                format!("INSERT INTO ks.t (k, bucket, at, id, v) VALUES (1, {wrong}, {}, 4, 41)", day(4));
            assert!(node.error(&insert).await.contains("but the row belongs to"), "{wrong}");
            let update = node.error(&format!("UPDATE ks.t SET v = 40 WHERE {}", named(wrong))).await;
            assert!(update.contains("but the row belongs to"), "{update}");
        }
    });
}

#[test]
fn counters_and_timeuuids_spill() {
    let table = "CREATE TABLE ks.t (k int, at timestamp, id int, n counter, PRIMARY KEY (k, at, id)) \
         WITH CLUSTERING ORDER BY (at DESC, id ASC) AND bucketing = {'by': 'at', 'every': '1y', 'spill': 'week', 'at': '1'}";
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let node = Node::start(&SimDisk::new(), Arc::new(ManualClock::at_micros(START_MICROS)), 2).await;
        node.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").await;
        node.run(table).await;
        let add = |at: i64| format!("UPDATE ks.t SET n = n + 1 WHERE k = 1 AND at = {at} AND id = 0");
        node.run(&add(day(1))).await;
        assert_eq!(node.dialect.store.spill().await, Ok(1));
        for at in [day(1), day(40), day(40), day(40)] {
            node.run(&add(at)).await;
        }
        let batch = format!("BEGIN COUNTER BATCH {}; {}; APPLY BATCH", add(day(1)), add(day(40)));
        node.run(&batch).await;
        assert_eq!(node.rows("SELECT n FROM ks.t WHERE k = 1").await, [[4], [3]]);
        node.run(
            "CREATE TABLE ks.u (k int, at timeuuid, v int, PRIMARY KEY (k, at)) \
             WITH bucketing = {'by': 'at', 'every': 'month', 'spill': '1h', 'at': '1', 'hash': 'at', 'into': 3}",
        )
        .await;
        let mut spilled = 0;
        for id in 0..20 {
            let at = format!("maxTimeuuid({})", day(3) + id * 8 * 60_000);
            node.run(&format!("INSERT INTO ks.u (k, at, v) VALUES (1, {at}, {id})")).await;
            spilled += node.dialect.store.spill().await.unwrap();
        }
        assert!((1..=3).contains(&spilled), "{spilled}: once for each hash bucket at most");
        assert_eq!(node.rows("SELECT v FROM ks.u WHERE k = 1").await.concat(), (0..20).collect::<Vec<i64>>());
    });
}

#[test]
fn a_paging_state_goes_on_when_the_bucket_has_spilled() {
    for (order, expected) in [("ASC", vec![3, 5]), ("DESC", vec![1])] {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let node = Node::start(&SimDisk::new(), Arc::new(ManualClock::at_micros(START_MICROS)), 1).await;
            node.run(
                "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            )
            .await;
            node.run(TABLE).await;
            for (at, id) in [(day(1), 1), (day(1) + 5, 2), (day(2) + 7, 3)] {
                node.insert(1, at, id).await;
            }
            let text = format!("SELECT id FROM ks.t WHERE k = 1 ORDER BY at {order}");
            let (_, state) = node.page(&text, Some(2), None).await;
            assert_eq!(node.dialect.store.spill().await, Ok(1));
            node.insert(1, day(4), 5).await;
            let (rows, _) = node.page(&text, Some(9), state.as_deref()).await;
            assert_eq!(rows.concat(), expected, "{order}: what lies ahead, and nothing twice");
        });
    }
}

#[test]
fn spilling_begins_without_a_job_and_other_finer_buckets_need_one() {
    with_spilled(1, TABLE, async |node, _| {
        let is_moving = |node: &Node| {
            let (_, catalogue) = node.dialect.shared.load();
            catalogue.table("ks", "t").unwrap().rebucketing().is_some()
        };
        node.run(
            "ALTER TABLE ks.t WITH bucketing = {'by': 'at', 'every': 'month', 'spill': '1d', 'at': '9MB'}",
        )
        .await;
        assert!(!is_moving(node), "another threshold");
        node.insert(1, day(9), 9).await;
        node.run("ALTER TABLE ks.t WITH partition_limit = {} AND bucketing = {'by': 'at', 'every': 'month'}")
            .await;
        assert!(is_moving(node), "rows have to move back");
        node.finish_jobs().await;
        let rows = node.rows("SELECT id, bucket FROM ks.t WHERE k = 1").await;
        assert!(rows.len() == 4 && rows.iter().all(|row| row[1] == MONTH), "{rows:?}");
        node.run(
            "ALTER TABLE ks.t WITH bucketing = {'by': 'at', 'every': 'month', 'spill': '6h', 'at': '1'}",
        )
        .await;
        assert!(!is_moving(node), "spilling begins");
        node.insert(1, day(9), 10).await;
        assert_eq!(node.dialect.store.spill().await, Ok(1));
        node.insert(1, day(9) + 6 * HOUR, 11).await;
        let newest = node.rows("SELECT bucket FROM ks.t WHERE k = 1 ORDER BY at DESC LIMIT 1").await;
        assert_eq!(newest, [[day(9) + 6 * HOUR]]);
    });
}

#[test]
fn a_bucket_whose_last_finer_one_is_in_use_does_not_spill() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let node = Node::start(&SimDisk::new(), Arc::new(ManualClock::at_micros(START_MICROS)), 1).await;
        node.run(
            "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        )
        .await;
        node.run(TABLE).await;
        for id in 0..5 {
            node.insert(1, day(30) + id, id).await;
            assert_eq!(node.dialect.store.spill().await, Ok(0));
        }
        assert_eq!(node.ids().await, [0, 1, 2, 3, 4]);
    });
}
