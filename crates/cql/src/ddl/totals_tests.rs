//! Projections with aggregates: what may be kept, what it is called, what is refused, and how damage is found.

use super::build_tests::World;
use crate::session::Response;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::RowWriter;
use store::{Mutation, TableId};

const TOTALS: &str = "CREATE PROJECTION by_day ON sales AS SELECT count(*) AS sold, count(note), sum(price), min(price), max(price), \
                      max(id) WHERE void = false PRIMARY KEY (shop, day) WITH wait = true AND owner = 'books'";

fn sales() -> World {
    let world = World::of(&[
        "CREATE TABLE sales (id int PRIMARY KEY, shop text, day int, price int, note text, void boolean, weight double)",
    ]);
    for id in 0..12 {
        let (shop, day, note) = (["a", "b"][id % 2], id % 3, if id % 4 == 0 { "'n'" } else { "null" });
        world.run(&format!(
            "INSERT INTO sales (id, shop, day, price, note, void) VALUES ({id}, '{shop}', {day}, {}, {note}, {}) USING TIMESTAMP 5",
            id * 10,
            id == 11
        ));
    }
    world.run(TOTALS);
    world
}

impl World {
    fn text(&self, text: &str) -> String {
        let Response::Rows(rows) = self.run(text).response else { panic!("{text}") };
        String::from_utf8_lossy(&rows.body).into_owned()
    }
}

#[test]
fn totals_follow_every_write_and_have_names_and_types() {
    let world = sales();
    let read = "SELECT sold, count_note, sum_price FROM by_day WHERE shop = 'a' AND day = 0";
    assert_eq!(world.numbers(read), [2, 1, 60], "rows 0 and 6");
    world.run("UPDATE sales SET day = 0, note = 'x' WHERE id = 2");
    assert_eq!(world.numbers(read), [3, 2, 80]);
    world.run("UPDATE sales SET void = true WHERE id = 6");
    assert_eq!(world.numbers(read), [2, 2, 20]);
    world.run("BEGIN BATCH DELETE FROM sales WHERE id = 0; DELETE FROM sales WHERE id = 2; APPLY BATCH");
    assert_eq!(
        world.rows("SELECT * FROM by_day WHERE shop = 'a' AND day = 0"),
        0,
        "an empty group is no row"
    );
    let ends = "SELECT min_price, max_price, max_id FROM by_day WHERE shop = 'b' AND day = 2";
    let Response::Rows(rows) = world.run(ends).response else { panic!() };
    let numbers: Vec<i32> = rows
        .values()
        .next()
        .unwrap()
        .iter()
        .map(|v| i32::from_be_bytes(v.unwrap().try_into().unwrap()))
        .collect();
    assert_eq!(numbers, [50, 50, 5], "row 11 is void");
    assert_eq!(world.check("CHECK PROJECTION by_day"), [0; 4]);
    assert!(world.refusal("INSERT INTO by_day (shop, day) VALUES ('a', 1)").contains("materialized view"));
    world.run("TRUNCATE sales");
    assert_eq!(world.rows("SELECT * FROM by_day"), 0);
    world.run("INSERT INTO sales (id, shop, day, price, void) VALUES (1, 'a', 0, 7, false)");
    assert_eq!(world.numbers(read), [1, 0, 7]);
}

#[test]
fn what_describes_totals_makes_them_again() {
    let world = sales();
    let described = world.text("DESCRIBE MATERIALIZED VIEW by_day");
    let statement = described.split("CREATE PROJECTION").nth(1).unwrap();
    let statement = format!("CREATE PROJECTION{}", statement.split(';').next().unwrap());
    for part in ["count(*) AS sold", "count(note) AS count_note", "max(id) AS max_id", "WHERE void = false"] {
        assert!(statement.contains(part), "{part}: {statement}");
    }
    assert!(!statement.contains("list of members"), "{statement}");
    world.run("DROP PROJECTION by_day");
    world.run(&statement);
    assert_eq!(world.text("DESCRIBE MATERIALIZED VIEW by_day"), described);
    let write = world.text("EXPLAIN UPDATE sales SET price = 1 WHERE id = 1");
    assert!(write.contains("totals by (shop)"), "{write}");
    assert!(!world.text("EXPLAIN UPDATE sales SET weight = 1 WHERE id = 1").contains("by_day"));
    // What is stored can be opened, and the totals go on.
    let again = World::open(world.store.clone());
    again.run("UPDATE sales SET price = 5 WHERE id = 0");
    assert_eq!(again.numbers("SELECT sum_price FROM by_day WHERE shop = 'a' AND day = 0"), [65]);
    world.run("ALTER TABLE sales RENAME id TO number");
    assert!(world.text("DESCRIBE MATERIALIZED VIEW by_day").contains("max(number) AS max_id"));
    world.run("ALTER TABLE sales ADD later int");
    assert_eq!(world.check("CHECK PROJECTION by_day"), [0; 4]);
}

#[test]
fn what_could_not_be_exact_is_refused_in_words() {
    let world = sales();
    world.run("CREATE TABLE brief (id int PRIMARY KEY, day int) WITH default_time_to_live = 60");
    for (refused, why) in [
        ("CREATE PROJECTION p ON sales AS SELECT sum(weight) PRIMARY KEY (shop)", "use decimal"),
        ("CREATE PROJECTION p ON sales AS SELECT avg(price) PRIMARY KEY (shop)", "count, sum, min and max"),
        (
            "CREATE PROJECTION p ON sales AS SELECT sum(note) PRIMARY KEY (shop)",
            "no sum of values of the type text",
        ),
        ("CREATE PROJECTION p ON sales AS SELECT sum(*) PRIMARY KEY (shop)", ""),
        ("CREATE PROJECTION p ON sales AS SELECT sum(nothing) PRIMARY KEY (shop)", "no column nothing"),
        (
            "CREATE PROJECTION p ON sales AS SELECT count(*), price PRIMARY KEY (shop)",
            "Column price is neither",
        ),
        (
            "CREATE PROJECTION p ON sales AS SELECT max(day) PRIMARY KEY (shop, day)",
            "part of the projection's key",
        ),
        (
            "CREATE PROJECTION p ON sales AS SELECT count(*), count(*) PRIMARY KEY (shop)",
            "two columns called count",
        ),
        ("CREATE PROJECTION p ON brief AS SELECT count(*) PRIMARY KEY (day)", "default_time_to_live"),
        ("ALTER TABLE sales WITH default_time_to_live = 60", "default_time_to_live"),
        ("ALTER TABLE sales DROP price", "Cannot drop column price"),
        (
            "INSERT INTO sales (id, shop, day, void) VALUES (9, 'a', 1, false) USING TTL 10",
            "Write without TTL",
        ),
        ("UPDATE sales USING TTL 10 SET price = 3 WHERE id = 0", "Write without TTL"),
    ] {
        let told = world.refusal(refused);
        assert!(told.contains(why), "{refused}: {told}");
    }
    // A value that no total is made of may expire.
    world.run("UPDATE sales USING TTL 10 SET weight = 3 WHERE id = 0");
    assert_eq!(world.check("CHECK PROJECTION by_day"), [0; 4], "a refused write has changed nothing");
}

#[test]
fn damage_to_totals_and_members_is_found_and_mended() {
    let world = sales();
    let (_, catalogue) = world.dialect.shared.load();
    let table = catalogue.table("k", "by_day").unwrap();
    let members = table.totals().unwrap().members;
    let key = PartitionKey::of(b"a").unwrap();
    let day = |day: i32| {
        let mut bytes = Vec::new();
        model::comparable::encode(&model::types::DataType::Int, false, &day.to_be_bytes(), &mut bytes)
            .unwrap();
        bytes
    };
    let deletion = Deletion { timestamp: 1 << 30, local_seconds: 1 };
    let before = world.text("SELECT * FROM by_day");
    // A group's row is gone, another is there that no member makes.
    let mut damaged = Mutation::new(TableId(world.id("by_day")), key.clone());
    let mut row = RowWriter::new();
    row.begin(deletion.timestamp, None, deletion);
    damaged.row(&day(1), row.view());
    row.begin(5, Some(Marker::new(5)), Deletion::NONE);
    damaged.row(&day(77), row.view());
    world.damage(damaged);
    assert_eq!(world.check("CHECK PROJECTION by_day"), [1, 1, 0, 0]);
    assert_eq!(world.check("REPAIR PROJECTION by_day"), [1, 1, 0, 2]);
    assert_eq!(world.check("CHECK PROJECTION by_day"), [0; 4]);
    assert_eq!(world.text("SELECT * FROM by_day"), before);
    // Members are lost: the totals follow them, and come back with them.
    let mut lost = Mutation::new(TableId(members), key);
    lost.delete_partition(Deletion { timestamp: 1 << 30, local_seconds: 1 });
    world.damage(lost);
    let found = world.check("CHECK PROJECTION by_day");
    assert!(found[0] > 0, "{found:?}");
    world.run("REPAIR PROJECTION by_day");
    assert_eq!(world.check("CHECK PROJECTION by_day"), [0; 4]);
    assert_eq!(world.text("SELECT * FROM by_day"), before);
}
