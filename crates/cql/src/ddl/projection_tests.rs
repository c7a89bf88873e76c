//! Projections and jobs: made, watched, paused, resumed, cancelled, checked and repaired.

use super::build_tests::{Event, World, with_rows};
use crate::session::Response;
use database::check::Schedule;
use database::jobs::{State, checkpoint::Checkpoints};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::RowWriter;
use store::{Commit, Mutation, Store, TableId};

impl World {
    /// The only row of an answer, as numbers.
    pub(super) fn numbers(&self, text: &str) -> Vec<i64> {
        let Response::Rows(rows) = self.run(text).response else { panic!("{text}") };
        assert_eq!(rows.count, 1, "{text}");
        let mut body = &rows.body[..];
        let mut found = Vec::new();
        while let Some((length, rest)) = body.split_first_chunk::<4>() {
            let length = i32::from_be_bytes(*length).max(0) as usize;
            if let Ok(number) = rest[..length].try_into() {
                found.push(i64::from_be_bytes(number));
            }
            body = &rest[length..];
        }
        found
    }

    /// Missing, extra, stale and repaired.
    pub(super) fn check(&self, text: &str) -> [i64; 4] {
        self.numbers(text)[..4].try_into().unwrap()
    }

    pub(super) fn refusal(&self, text: &str) -> String {
        super::tests::block_on(self.execute(text)).unwrap_err().to_string()
    }

    pub(super) fn id(&self, name: &str) -> u32 {
        let (_, catalogue) = self.dialect.shared.load();
        let place = catalogue.keyspace("k").unwrap();
        place.index(name).map_or_else(|| place.table(name).unwrap().id, |(_, index)| index.id)
    }

    /// Writes behind the back of whoever keeps copies in step.
    pub(super) fn damage(&self, mutation: Mutation) {
        let commit = Commit { mutations: vec![mutation], now_seconds: 1 };
        super::tests::block_on(self.store.inner.commit(commit)).unwrap();
    }
}

#[test]
fn a_paused_build_stays_paused_over_a_restart_and_goes_on_where_it_was() {
    let world = with_rows();
    // Two pages are copied, then the store fails, and somebody pauses what is left.
    world.store.arm(6, Event::Fail);
    world.run("CREATE INDEX i ON t (v)");
    let id = u64::from(world.id("i"));
    assert_eq!(world.dialect.shared.jobs().find(id).unwrap().state(), State::Failed);
    world.run(&format!("ALTER JOB {id} WITH rows_per_second = 5"));
    world.run(&format!("PAUSE JOB {id}"));
    world.resume().unwrap();
    assert_eq!((world.left(), world.is_built("i")), (1, false));

    let again = World::open(world.store.clone());
    again.resume().unwrap();
    assert_eq!((again.left(), again.is_built("i")), (1, false), "a pause is stored");
    let (_, catalogue) = again.dialect.shared.load();
    let checkpoints = Checkpoints::find(&catalogue).unwrap();
    let load = || super::tests::block_on(checkpoints.load(&again.store, id)).unwrap();
    let (saved, _) = load().unwrap();
    assert!(saved.after.is_some() && saved.is_paused && saved.rows > 0, "{saved:?}");
    assert_eq!(saved.limits.rows_per_second, Some(5));
    again.run(&format!("ALTER JOB {id} WITH rows_per_second = 0"));
    again.run(&format!("RESUME JOB {id}"));
    again.resume().unwrap();
    assert!(again.is_built("i"));
    assert_eq!(again.candidates("i", None).len(), 8);
    let report = again.dialect.shared.jobs().list().remove(0);
    assert_eq!((report.rows, report.state), (8, State::Done), "nothing was read twice");
    assert!(load().is_none(), "a finished build stores nothing");
    assert!(again.refusal(&format!("PAUSE JOB {id}")).contains("done already"));
    assert!(again.refusal("PAUSE JOB 999").contains("system_views.jobs"));
}

#[test]
fn a_cancelled_build_takes_its_index_with_it() {
    let world = with_rows();
    world.store.arm(6, Event::Fail);
    world.run("CREATE INDEX i ON t (v)");
    let id = u64::from(world.id("i"));
    world.run(&format!("CANCEL JOB {id}"));
    world.resume().unwrap();
    let (_, catalogue) = world.dialect.shared.load();
    assert!(catalogue.keyspace("k").unwrap().index("i").is_none());
    assert_eq!(world.left(), 0);
}

const PROJECTION: &str = "CREATE PROJECTION open_by_owner ON tasks AS SELECT * WHERE done = false \
                          PRIMARY KEY ((owner, urgency), id) WITH owner = 'sales'";

fn tasks() -> World {
    let world = World::of(&[
        "CREATE TABLE tasks (id int PRIMARY KEY, owner text, urgency int, done boolean, title text)",
    ]);
    for id in 0..20 {
        let (owner, done) = (["ann", "bob"][id % 2], id % 5 == 0);
        world.run(&format!(
            "INSERT INTO tasks (id, owner, urgency, done, title) VALUES ({id}, '{owner}', {}, {done}, 't{id}')",
            id % 3
        ));
    }
    world.run("INSERT INTO tasks (id, owner) VALUES (100, 'ann')");
    world
}

#[test]
fn a_write_is_told_which_copies_it_changes() {
    let world = tasks();
    world.run("CREATE INDEX by_title ON tasks (title)");
    world.run(PROJECTION);
    let copies = |text: &str| {
        let Response::Rows(rows) = world.run(&format!("EXPLAIN {text}")).response else { panic!("{text}") };
        let body = String::from_utf8_lossy(&rows.body).into_owned();
        (body.contains("index by_title on title"), body.contains("projection open_by_owner: reads"))
    };
    assert_eq!(copies("INSERT INTO tasks (id, title, done) VALUES (1, 'a', true)"), (true, true));
    assert_eq!(copies("UPDATE tasks SET urgency = 3 WHERE id = 1"), (false, true));
    assert_eq!(copies("DELETE FROM tasks WHERE id = 1"), (true, true));
    world.run("DROP PROJECTION open_by_owner");
    assert_eq!(copies("UPDATE tasks SET urgency = 3 WHERE id = 1"), (false, false));
}

#[test]
fn a_table_has_so_many_copies_and_no_more() {
    let columns: Vec<String> = (0..21).map(|n| format!("c{n} int")).collect();
    let world = World::of(&[&format!("CREATE TABLE wide (id int PRIMARY KEY, {})", columns.join(", "))]);
    for n in 0..20 {
        world.run(&format!("CREATE INDEX i{n} ON wide (c{n})"));
    }
    assert!(
        world.refusal("CREATE INDEX i20 ON wide (c20)").contains("has 20 indexes, views and projections")
    );
    world.run("DROP INDEX i3");
    world.run("CREATE INDEX i20 ON wide (c20)");
}

#[test]
fn a_projection_has_several_columns_in_its_key_and_some_rows() {
    let world = tasks();
    let answer = world.run(PROJECTION);
    assert!(
        answer.warnings.iter().any(|warning| warning.contains("system_views.jobs")),
        "{:?}",
        answer.warnings
    );
    assert!(world.refusal("SELECT * FROM open_by_owner").contains("is being built"));
    world.resume().unwrap();
    assert_eq!(world.rows("SELECT * FROM open_by_owner"), 16);
    let of_ann = "SELECT id FROM open_by_owner WHERE owner = 'ann' AND urgency = 1";
    let before = world.rows(of_ann);
    world.run("UPDATE tasks SET done = true WHERE id = 4");
    assert_eq!(world.rows(of_ann), before - 1, "a row that the WHERE clause does not want any more has left");
    world.run("UPDATE tasks SET urgency = 1, done = false WHERE id = 100");
    assert_eq!(world.rows(of_ann), before, "and one that it wants now has come");
    world.run("DELETE owner FROM tasks WHERE id = 100");
    assert_eq!(world.rows(of_ann), before - 1);
    assert_eq!(world.check("CHECK PROJECTION open_by_owner"), [0; 4]);
    assert_eq!(world.rows("SELECT * FROM system_views.projections WHERE keyspace_name = 'k'"), 1);
    for refused in [
        "CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner)",
        "CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner, id) WITH freshness = '5 parsecs'",
        "CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner, id) WITH freshness = '1ms'",
        "CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner, id) WITH freshness = '5s' AND on_lag = 'panic'",
        "CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner, id) WITH on_lag = 'late'",
        "CREATE PROJECTION p ON tasks AS SELECT count(*) PRIMARY KEY (owner) WITH freshness = '5s'",
        "CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner, id) WITH freshness = '5s' AND partition_limit = {'rows': '10', 'action': \
         'refuse'}",
        "CREATE PROJECTION p ON tasks AS SELECT * PRIMARY KEY (owner, id) WITH backfill = {'rows': '1'}",
    ] {
        assert!(!world.refusal(refused).is_empty());
    }
    world.run("CREATE PROJECTION p ON tasks AS SELECT title PRIMARY KEY (owner, id) WITH wait = true");
    assert_eq!(world.rows("SELECT * FROM p"), 20);
    world.run("DROP PROJECTION p");
    assert!(world.refusal("CHECK PROJECTION p").contains("There is no index"));
}

/// The row of the view under this key.
fn view_row(
    world: &World,
    view: &str,
    key: &[&[u8]],
    clustering: i32,
    build: impl FnOnce(&mut RowWriter),
) -> Mutation {
    let key = match key {
        [one] => PartitionKey::of(one),
        several => PartitionKey::composite(several),
    };
    let mut bytes = Vec::new();
    model::comparable::encode(&model::types::DataType::Int, false, &clustering.to_be_bytes(), &mut bytes)
        .unwrap();
    let mut row = RowWriter::new();
    build(&mut row);
    let mut mutation = Mutation::new(TableId(world.id(view)), key.unwrap());
    mutation.row(&bytes, row.view());
    mutation
}

const LATER: i64 = 1 << 60;

#[test]
fn drift_of_a_view_is_found_and_mended() {
    let world = tasks();
    world.run(PROJECTION);
    world.resume().unwrap();
    let urgency = |n: i32| n.to_be_bytes();
    // Younger than what the build has written.
    let stamp = 2;
    // Task 1 (bob, 1) is gone, task 2 (ann, 2) has another title, and a task 77 that nobody has made is there.
    world.damage(view_row(&world, "open_by_owner", &[b"bob", &urgency(1)], 1, |row| {
        row.begin(stamp, None, Deletion { timestamp: stamp, local_seconds: 1 });
    }));
    let title = world.dialect.shared.load().1.table("k", "tasks").unwrap().column("title").unwrap().id;
    world.damage(view_row(&world, "open_by_owner", &[b"ann", &urgency(2)], 2, |row| {
        row.begin(stamp, Some(Marker::new(stamp)), Deletion::NONE);
        row.live(title, b"wrong");
    }));
    world.damage(view_row(&world, "open_by_owner", &[b"eve", &urgency(0)], 77, |row| {
        row.begin(stamp, Some(Marker::new(stamp)), Deletion::NONE);
    }));
    assert_eq!(world.check("CHECK PROJECTION open_by_owner"), [1, 1, 1, 0]);
    assert_eq!(world.check("CHECK PROJECTION k.open_by_owner"), [1, 1, 1, 0], "a check changes nothing");
    assert_eq!(world.check("REPAIR PROJECTION open_by_owner"), [1, 1, 1, 3]);
    assert_eq!(world.check("CHECK PROJECTION open_by_owner"), [0; 4]);
    assert_eq!(world.rows("SELECT * FROM open_by_owner WHERE owner = 'eve' AND urgency = 0"), 0);
    // What is mended follows its table like everything else.
    world.run("UPDATE tasks SET urgency = 9 WHERE id = 1");
    assert_eq!(world.rows("SELECT * FROM open_by_owner WHERE owner = 'bob' AND urgency = 9"), 1);
    assert_eq!(world.check("CHECK PROJECTION open_by_owner"), [0; 4]);
}

#[test]
fn drift_of_an_index_is_found_and_mended() {
    let world = tasks();
    world.run("CREATE INDEX by_owner ON tasks (owner)");
    assert_eq!(world.check("CHECK PROJECTION by_owner"), [0; 4]);
    // The entries of bob are gone; a leftover leads to ann's first task.
    let (_, catalogue) = world.dialect.shared.load();
    let (table, index) = catalogue.keyspace("k").unwrap().index("by_owner").unwrap();
    let config = query::index::config(table, index).unwrap();
    let mut gone = Mutation::new(config.table, config.partition(&config.form(b"bob").unwrap(), b"").unwrap());
    gone.delete_partition(Deletion { timestamp: super::build_tests::NOW, local_seconds: 1 });
    world.damage(gone);
    let leftover = world.candidates("by_owner", Some(b"ann"));
    assert!(!leftover.is_empty());
    let mut extra = Mutation::new(TableId(table.id), PartitionKey::of(&1i32.to_be_bytes()).unwrap());
    let mut row = RowWriter::new();
    row.begin(LATER, Some(Marker::new(LATER)), Deletion::NONE);
    row.live(table.column("owner").unwrap().id, b"zoe");
    extra.row(&[], row.view());
    // An entry without its row: what an index of task 1 with the owner zoe would have.
    for mutation in store::index::additions(std::slice::from_ref(&config), &extra) {
        world.damage(mutation);
    }
    let [missing, extra, stale, _] = world.check("CHECK PROJECTION by_owner");
    assert_eq!((missing, extra, stale), (10, 1, 0));
    let [.., repaired] = world.check("REPAIR PROJECTION by_owner");
    assert_eq!(repaired, 11);
    assert_eq!(world.check("CHECK PROJECTION by_owner"), [0, 0, 0, 0]);
}

/// Sums first: a check of a copy that is right reads pages, and one of a copy with a wrong row looks at a few rows beside that.
#[test]
fn a_check_looks_at_single_rows_only_where_sums_differ() {
    const ROWS: usize = 3_000;
    let world = tasks();
    (100..100 + ROWS).for_each(|id| {
        let (owner, urgency) = (["ann", "bob", "cid"][id % 3], id % 7);
        let text = format!("INSERT INTO tasks (id, owner, urgency, done, title) VALUES ({id}, '{owner}', {urgency}, false, 't')");
        world.run(&text);
    });
    world.run(PROJECTION);
    world.run("CREATE PROJECTION totals ON tasks AS SELECT count(*), max(urgency) PRIMARY KEY (owner)");
    world.resume().unwrap();
    world.run("CREATE INDEX by_owner ON tasks (owner)");
    world.run("CREATE INDEX by_urgency ON tasks (urgency) USING 'sai'");
    let reads = |text: &str| {
        let before = world.store.reads.get();
        let found = world.check(text);
        (found, world.store.reads.get() - before)
    };
    for copy in ["open_by_owner", "by_owner", "by_urgency", "totals"] {
        let (found, reads) = reads(&format!("CHECK PROJECTION {copy}"));
        println!("{copy}: {reads} reads for {ROWS} rows");
        assert_eq!(found, [0; 4], "{copy}");
        assert!(reads < ROWS / 20, "{copy}: {reads} reads; row by row it would be more than {}", 2 * ROWS);
    }
    let stamp = 2;
    world.damage(view_row(&world, "open_by_owner", &[b"eve", &0i32.to_be_bytes()], 77, |row| {
        row.begin(stamp, Some(Marker::new(stamp)), Deletion::NONE);
    }));
    world.damage(view_row(&world, "open_by_owner", &[b"bob", &1i32.to_be_bytes()], 1, |row| {
        row.begin(stamp, None, Deletion { timestamp: stamp, local_seconds: 1 });
    }));
    let (found, reads) = reads("CHECK PROJECTION open_by_owner");
    assert_eq!(found, [1, 1, 0, 0]);
    assert!(reads < ROWS / 20, "{reads} reads");
}

#[test]
fn copies_are_checked_by_themselves_and_a_restart_remembers_it() {
    const DAY: i64 = 86_400_000_000;
    let week = std::time::Duration::from_secs(7 * 86_400);
    let world = tasks();
    world.run("CREATE INDEX by_owner ON tasks (owner)");
    world.run(PROJECTION);
    world.resume().unwrap();
    let due = |world: &World, schedule: &mut Schedule, now: i64| {
        let due = schedule.check_due(&world.dialect.shared, &world.store, now, week);
        super::tests::block_on(due).unwrap()
    };
    let mut schedule = Schedule::default();
    // The projection was compared when it was filled.
    let start = super::build_tests::NOW;
    assert_eq!(due(&world, &mut schedule, start), 0, "new copies are left alone for a week");
    assert_eq!(due(&world, &mut schedule, start + 6 * DAY), 0);
    assert_eq!(due(&world, &mut schedule, start + 7 * DAY), 2);
    assert_eq!(due(&world, &mut schedule, start + 8 * DAY), 0);
    // Drift is found by itself.
    world.damage(view_row(&world, "open_by_owner", &[b"eve", &0i32.to_be_bytes()], 77, |row| {
        row.begin(2, Some(Marker::new(2)), Deletion::NONE);
    }));
    assert_eq!(due(&world, &mut schedule, start + 14 * DAY), 2);
    let id = world.id("open_by_owner");
    let check = world.dialect.shared.jobs().last_check(id).unwrap();
    assert_eq!((check.at_micros, check.missing, check.extra, check.stale), (start + 14 * DAY, 0, 1, 0));

    let again = World::open(world.store.clone());
    let mut schedule = Schedule::default();
    assert_eq!(due(&again, &mut schedule, start + 20 * DAY), 0, "the last check is stored");
    assert_eq!(again.dialect.shared.jobs().last_check(id), Some(check));
    again.run("DROP PROJECTION open_by_owner");
    assert_eq!(due(&again, &mut schedule, start + 21 * DAY), 1);
}

/// Every shape of a projection survives a restart: what CREATE allows, opening must allow.
#[test]
fn projections_of_every_shape_open_again() {
    let world = tasks();
    for (at, select) in [
        "SELECT * PRIMARY KEY ((owner, urgency), id)",
        "SELECT title WHERE done = false AND urgency > 1 PRIMARY KEY ((owner, urgency, title), id)",
        "SELECT * PRIMARY KEY (owner, urgency, title, id)",
        "SELECT owner PRIMARY KEY (id)",
    ]
    .iter()
    .enumerate()
    {
        world.run(&format!("CREATE PROJECTION p{at} ON tasks AS {select}"));
    }
    world.run("CREATE MATERIALIZED VIEW v AS SELECT * FROM tasks WHERE owner IS NOT NULL AND id IS NOT NULL PRIMARY KEY (owner, id)");
    world.resume().unwrap();
    let again = World::open(world.store.clone());
    again.run("INSERT INTO tasks (id, owner, urgency, done, title) VALUES (500, 'zoe', 2, false, 'x')");
    for name in ["p0", "p1", "p2", "p3", "v"] {
        assert_eq!(again.check(&format!("CHECK PROJECTION {name}")), [0; 4], "{name}");
    }
    assert_eq!(again.rows("SELECT * FROM p1 WHERE owner = 'zoe' AND urgency = 2 AND title = 'x'"), 1);
}

/// A backfill that has left rows out, or made too many, is found before anybody reads the projection, and begun anew.
#[test]
fn a_projection_is_read_only_after_it_was_compared_with_its_table() {
    let world = tasks();
    world.run(PROJECTION);
    let view = world.id("open_by_owner");
    // A row that no row of the table makes, there when the backfill ends.
    world.damage(view_row(&world, "open_by_owner", &[b"eve", &0i32.to_be_bytes()], 77, |row| {
        row.begin(2, Some(Marker::new(2)), Deletion::NONE);
    }));
    let told = world.resume().unwrap_err().to_string();
    assert!(told.contains("1 extra"), "{told}");
    assert!(world.refusal("SELECT * FROM open_by_owner").contains("is being built"));
    let removal = view_row(&world, "open_by_owner", &[b"eve", &0i32.to_be_bytes()], 77, |row| {
        row.begin(3, None, Deletion { timestamp: 3, local_seconds: 1 });
    });
    world.damage(removal);
    world.resume().unwrap();
    assert_eq!(world.rows("SELECT * FROM open_by_owner"), 16);
    assert!(world.dialect.shared.jobs().last_check(view).is_some());
}
