//! What copies cost and who reads them, over restarts; and projections that follow later, as statements show them.

use super::build_tests::World;
use super::tests::block_on;
use crate::session::Response;
use crate::system::{Evidence, SeenForFindings, findings};
use database::usage::{Usage, Usages};
use observe::{Load, Slot};
use std::collections::BTreeMap;

const DAY_MICROS: i64 = 24 * 3_600 * 1_000_000;

fn world() -> World {
    World::of(&["CREATE TABLE tasks (id int PRIMARY KEY, owner text, title text)"])
}

fn text_of(world: &World, statement: &str) -> String {
    let Response::Rows(rows) = world.run(statement).response else { panic!("{statement}") };
    String::from_utf8_lossy(&rows.body).into_owned()
}

#[test]
fn what_a_copy_costs_is_counted_over_restarts_and_one_that_nobody_reads_is_found() {
    let world = world();
    world.run("CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner, id) WITH wait = true");
    world.run("CREATE INDEX i ON tasks (title)");
    let shared = &world.dialect.shared;
    let (_, catalogue) = shared.load();
    let (projection, index) = (world.id("p"), world.id("i"));
    let loads = |reads, writes| {
        let load = Load { reads, writes, bytes: 100 * writes, ..Load::default() };
        BTreeMap::from([(projection, load), (index, load)])
    };
    shared.usages.note(&catalogue, &[], &loads(0, 5), 10);
    shared.usages.note(&catalogue, &[], &loads(2, 7), 20);
    let counted =
        Usage { reads: 2, last_read_micros: Some(20), writes: 7, written_bytes: 700, since_micros: 10 };
    assert_eq!(shared.usages.of(index), Some(counted));
    // What a check or a build has read of a projection is no statement that names it.
    let unread = Usage { reads: 0, last_read_micros: None, ..counted };
    assert_eq!(shared.usages.of(projection), Some(unread));
    block_on(shared.usages.save(shared, &world.store, 30)).unwrap();
    let again = Usages::default();
    block_on(again.load(shared, &world.store)).unwrap();
    assert_eq!((again.of(index), again.of(projection)), (Some(counted), Some(unread)));
    again.note(&catalogue, &[], &loads(0, 1), 40);
    assert_eq!(
        again.of(projection).unwrap().writes,
        8,
        "counters begin anew with the server, and what was counted stays"
    );
    let (sizes, slot) = (BTreeMap::new(), Slot::default());
    let unread = |now_micros| {
        let evidence = Evidence {
            catalogue: &catalogue,
            traffic: &[],
            sizes: &sizes,
            partition_bytes: u64::MAX,
            usages: Some(&again),
            now_micros,
        };
        let found = findings(&SeenForFindings { evidence, minute: &slot, day: &slot });
        found.iter().filter(|finding| finding.rule == "unread-projection" && finding.table == "p").count()
    };
    assert_eq!((unread(29 * DAY_MICROS), unread(31 * DAY_MICROS)), (0, 1));
}

#[test]
fn a_projection_that_follows_later_is_described_and_explained() {
    let world = world();
    world.run(
        "CREATE PROJECTION p ON tasks AS SELECT title PRIMARY KEY (owner, id) WITH freshness = '90 seconds' AND on_lag = 'refuse' AND wait = true \
         AND backfill = {'p99_ms': '20', 'mb_per_second': '5'}",
    );
    let described = text_of(&world, "DESCRIBE MATERIALIZED VIEW p");
    for part in
        ["freshness = '90s'", "on_lag = 'refuse'", "backfill = {'mb_per_second': '5', 'p99_ms': '20'}"]
    {
        assert!(described.contains(part), "{part} in {described}");
    }
    let explained = text_of(&world, "EXPLAIN INSERT INTO tasks (id, owner) VALUES (1, 'a')");
    assert!(explained.contains("later, within 90s") && explained.contains("is refused while"), "{explained}");
    assert!(
        text_of(&world, "SELECT freshness, on_lag FROM system_views.projections WHERE keyspace_name = 'k'")
            .contains("90s")
    );
    world.run("INSERT INTO tasks (id, owner) VALUES (1, 'ann')");
    // A store that never follows later keeps it in the commit of its table.
    assert_eq!(world.rows("SELECT * FROM p WHERE owner = 'ann'"), 1);
    let again = World::open(world.store.clone());
    assert_eq!(text_of(&again, "DESCRIBE MATERIALIZED VIEW p"), described);
}
