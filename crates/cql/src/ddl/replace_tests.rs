//! One projection takes another's place, and what dropping one tells.

use super::build_tests::World;
use model::deletion::Deletion;
use model::key::PartitionKey;
use store::{Mutation, TableId};

fn tasks() -> World {
    let world = World::of(&["CREATE TABLE tasks (id int PRIMARY KEY, owner text, urgency int, title text)"]);
    for id in 0..10 {
        world.run(&format!(
            "INSERT INTO tasks (id, owner, urgency, title) VALUES ({id}, 'o{}', {}, 't')",
            id % 2,
            id % 3
        ));
    }
    world.run("CREATE PROJECTION by_owner ON tasks AS SELECT title PRIMARY KEY (owner, id) WITH wait = true");
    world
}

const NEXT: &str = "CREATE PROJECTION next ON tasks AS SELECT title, urgency PRIMARY KEY (owner, urgency, id) WITH wait = true";
const SWAP: &str = "ALTER TABLE tasks REPLACE PROJECTION by_owner WITH next";

#[test]
fn readers_of_the_old_one_get_the_new_one_once_it_is_proved() {
    let world = tasks();
    assert!(world.refusal(SWAP).contains("no projection next"));
    world.run(&NEXT.replace(" WITH wait = true", ""));
    assert!(world.refusal(SWAP).contains("is not ready"));
    world.resume().unwrap();
    let (old, new) = (world.id("by_owner"), world.id("next"));
    assert_eq!(world.rows("SELECT * FROM by_owner WHERE owner = 'o1'"), 5);
    world.run(SWAP);
    assert_eq!(world.id("by_owner"), new);
    assert_eq!(world.rows("SELECT title, urgency FROM by_owner WHERE owner = 'o1' AND urgency = 1"), 2);
    assert!(
        world.refusal("SELECT * FROM next WHERE owner = 'o1'").contains("next"),
        "the name is free again"
    );
    world.run("UPDATE tasks SET urgency = 9 WHERE id = 1");
    assert_eq!(world.rows("SELECT id FROM by_owner WHERE owner = 'o1' AND urgency = 9"), 1);
    assert_eq!(world.check("CHECK PROJECTION by_owner"), [0; 4]);
    let (_, catalogue) = world.dialect.shared.load();
    assert!(catalogue.table_by_id(old).is_none(), "the old one is gone");
    // And so it is after a restart.
    let again = World::open(world.store.clone());
    assert_eq!((again.id("by_owner"), again.rows("SELECT * FROM by_owner")), (new, 10));
}

#[test]
fn what_would_hurt_readers_is_refused() {
    let world = tasks();
    world.run("CREATE PROJECTION bare ON tasks AS SELECT urgency PRIMARY KEY (owner, id) WITH wait = true");
    let swap = |old: &str, new: &str| {
        world.refusal(&format!("ALTER TABLE tasks REPLACE PROJECTION {old} WITH {new}"))
    };
    assert!(swap("by_owner", "bare").contains("its column title"));
    assert!(swap("by_owner", "by_owner").contains("itself"));
    world.run(NEXT);
    // Somebody has written behind the store's back: the next check finds it.
    let mut lost = Mutation::new(TableId(world.id("next")), PartitionKey::of(b"o1").unwrap());
    lost.delete_partition(Deletion { timestamp: 1 << 30, local_seconds: 1 });
    world.damage(lost);
    world.run("CHECK PROJECTION next");
    assert!(world.refusal(SWAP).contains("found drift"));
    world.run("CREATE INDEX i ON tasks (urgency)");
    assert!(swap("i", "bare").contains("no projection i"));
    world.run("DROP PROJECTION bare");
    world.run("CREATE TABLE other (id int PRIMARY KEY, owner text)");
    world.run("CREATE PROJECTION bare ON other AS SELECT * PRIMARY KEY (owner, id) WITH wait = true");
    assert!(
        world
            .refusal("ALTER TABLE tasks REPLACE PROJECTION by_owner WITH bare")
            .contains("no projection bare")
    );
}

#[test]
fn dropping_tells_which_patterns_lose_their_server() {
    let world = tasks();
    world.run("CREATE ACCESS PATTERN open_tasks AS SELECT title FROM by_owner WHERE owner = ?");
    let warnings = world.run("DROP PROJECTION by_owner").warnings;
    assert!(warnings.iter().any(|warning| warning.contains("open_tasks")), "{warnings:?}");
}
