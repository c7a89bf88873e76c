//! What a change guarantees: stored before visible, one at a time, told in order, back after a restart.

use crate::ddl::tests::{World, block_on};
use crate::open_catalogue;
use database::catalogue::table_configs;
use schema::TargetKind;
use std::sync::{Arc, Mutex};
use store::naive::NaiveStore;
use store::{
    CasOutcome, Commit, Compaction, Compression, ConditionalCommit, Read, ReadOutcome, Sink, Store,
    StoreError, TableConfig, TableId,
};

const CREATE: &str =
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// A store whose disk is full.
struct Full;

impl Store for Full {
    type Prompt = store::NoPrompt;

    async fn read(&self, _: &Read, _: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        Err(StoreError::Overloaded("read"))
    }

    async fn commit(&self, _: Commit) -> Result<(), StoreError> {
        Err(StoreError::Overloaded("commit"))
    }

    async fn commit_if(&self, _: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        Err(StoreError::Overloaded("commit_if"))
    }

    async fn alter(&self, _: Vec<u8>, _: Vec<TableConfig>) -> Result<(), StoreError> {
        Err(StoreError::Overloaded("the disk is full"))
    }
}

#[test]
fn a_change_that_cannot_be_stored_is_not_seen() {
    let world = World::new();
    let (version, before) = world.shared.load();
    let parsed = cql_syntax::parse_statement(CREATE).unwrap();
    let scope = crate::bind::Scope { catalogue: &before, keyspace: None };
    let plan = Arc::new(crate::ddl::bind(scope, &parsed.statement).unwrap());
    let error = block_on(crate::ddl::execute(&plan, &world.shared, &Full, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
    assert_eq!(world.shared.load(), (version, before));
}

#[test]
fn a_restart_brings_everything_back() {
    let mut world = World::new();
    for statement in [
        CREATE,
        "CREATE TABLE k.t (k int PRIMARY KEY, v text) WITH compaction = {'class': 'LeveledCompactionStrategy'}",
        "ALTER KEYSPACE system_auth WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}",
        "TRUNCATE k.t",
        "TRUNCATE system_auth.roles",
    ] {
        world.ddl(statement).unwrap();
    }
    let stored = world.store.catalogue().unwrap();
    let again = open_catalogue(Some(&stored), 99).unwrap();
    assert_eq!(*again.load().1, *world.shared.load().1);
    assert_eq!(again.host_id(), world.shared.host_id());
    let (_, catalogue) = again.load();
    assert_eq!(catalogue.table("system_auth", "roles").unwrap().incarnation, 1);
    assert!(catalogue.keyspace("system_auth").unwrap().replication.contains_key("datacenter1"));
    // Nothing new to store: a store that refuses everything is not asked.
    block_on(again.bootstrap(&Full)).unwrap();
}

#[test]
fn a_new_store_is_given_the_system_tables() {
    let shared = open_catalogue(None, 1).unwrap();
    let store = NaiveStore::new();
    block_on(shared.bootstrap(&store)).unwrap();
    assert!(store.catalogue().is_some());
    let configs = table_configs(&shared.load().1).unwrap();
    assert!(configs.iter().any(|config| config.id == TableId(101)));
    assert!(configs.iter().all(|config| config.id.0 < 500), "virtual tables are not stored");
    let other = open_catalogue(None, 1).unwrap();
    assert_ne!(shared.host_id(), other.host_id());
}

#[test]
fn listeners_hear_of_each_change_once_and_in_order() {
    let mut world = World::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink = heard.clone();
    world.shared.listen(move |change| {
        let target = change.effect.as_ref().map(|effect| (effect.target, effect.name.clone()));
        let changed = change.before.version != change.after.version;
        sink.lock().unwrap().push((target, changed));
    });
    let start = world.shared.version();
    for statement in [
        CREATE,
        "CREATE TABLE k.t (k int PRIMARY KEY)",
        "CREATE TABLE IF NOT EXISTS k.t (k int PRIMARY KEY)",
        "TRUNCATE k.t",
        "DROP TABLE IF EXISTS k.nope",
    ] {
        world.ddl(statement).unwrap();
    }
    world.ddl("CREATE TABLE k.t (k int PRIMARY KEY)").unwrap_err();
    let heard = heard.lock().unwrap();
    assert_eq!(
        *heard,
        [
            (Some((TargetKind::Keyspace, String::new())), true),
            (Some((TargetKind::Table, "t".to_string())), true),
            (None, false),
        ]
    );
    assert_eq!(world.shared.version(), start + 3);
}

#[test]
fn table_options_reach_the_store() {
    let mut world = World::new();
    world.ddl(CREATE).unwrap();
    world
        .ddl(
            "CREATE TABLE k.t (k int PRIMARY KEY) WITH gc_grace_seconds = 5 AND compression = {'enabled': false} AND \
             compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'HOURS'}",
        )
        .unwrap();
    world.ddl("TRUNCATE k.t").unwrap();
    let (_, catalogue) = world.shared.load();
    let id = TableId(catalogue.table("k", "t").unwrap().id);
    let config = table_configs(&catalogue).unwrap().into_iter().find(|config| config.id == id).unwrap();
    let expected = TableConfig {
        id,
        incarnation: 1,
        compression: Compression::None,
        compaction: Compaction::TimeWindow { window_seconds: 3600 },
        gc_grace_seconds: 5,
        indexes: Vec::new(),
        views: Vec::new(),
        limit: None,
        buckets: None,
        spill: None,
        mirror: None,
        groups: None,
        later: Vec::new(),
        pending: None,
        row_ttl: None,
    };
    assert_eq!(config, expected);
}

/// A backfill brings cells that are older than deletions that have arrived already; see `engine/tests/engine/purge.rs`.
#[test]
fn held_tombstones_reach_the_store_and_survive_a_restart() {
    let mut world = World::new();
    world.ddl(CREATE).unwrap();
    world.ddl("CREATE TABLE k.t (k int PRIMARY KEY, v int) WITH gc_grace_seconds = 5").unwrap();
    world.ddl("CREATE INDEX by_v ON k.t (v)").unwrap();
    let grace = |catalogue: &schema::Catalogue| -> Vec<u32> {
        let table = catalogue.table("k", "t").unwrap();
        let ids = [table.id, table.indexes[0].id].map(TableId);
        let configs = table_configs(catalogue).unwrap();
        let of = |id| configs.iter().find(|config| config.id == id).unwrap().gc_grace_seconds;
        ids.into_iter().map(of).collect()
    };
    assert_eq!(grace(&world.shared.load().1), [5, 5]);
    world.ddl("ALTER TABLE k.t WITH hold_tombstones = '2026-11-19'").unwrap();
    let (_, catalogue) = world.shared.load();
    assert_eq!(grace(&catalogue), [u32::MAX; 2]);
    let again = schema::Catalogue::from_json(&catalogue.to_json()).unwrap();
    assert_eq!(grace(&again), [u32::MAX; 2]);
    assert_eq!(again.table("k", "t").unwrap().options.gc_grace_seconds, 5, "what clients see stays");
    world.ddl("CREATE TABLE k.u LIKE k.t").unwrap();
    assert_eq!(world.shared.load().1.table("k", "u").unwrap().options.hold_tombstones, "");
    world.ddl("ALTER TABLE k.t WITH hold_tombstones = 'soon'").unwrap_err();
    world.ddl("ALTER TABLE k.t WITH hold_tombstones = ''").unwrap();
    assert_eq!(grace(&world.shared.load().1), [5, 5]);
}

#[test]
fn changes_from_many_threads_all_arrive() {
    const THREADS: usize = 4;
    const TABLES: usize = 10;
    let mut world = World::new();
    world.ddl(CREATE).unwrap();
    let shared = world.shared.clone();
    let work = |thread: usize| {
        let shared = shared.clone();
        move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            // Every shard has a handle of its own; these forget what they are told, which is enough here.
            let store = NaiveStore::new();
            for number in 0..TABLES {
                let text = format!("CREATE TABLE k.t_{thread}_{number} (k int PRIMARY KEY)");
                let parsed = cql_syntax::parse_statement(&text).unwrap();
                let (_, catalogue) = shared.load();
                let scope = crate::bind::Scope { catalogue: &catalogue, keyspace: None };
                let plan = Arc::new(crate::ddl::bind(scope, &parsed.statement).unwrap());
                runtime.block_on(crate::ddl::execute(&plan, &shared, &store, 1)).unwrap();
            }
        }
    };
    let threads: Vec<_> = (0..THREADS).map(|thread| std::thread::spawn(work(thread))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let (_, catalogue) = shared.load();
    assert_eq!(catalogue.keyspace("k").unwrap().tables.len(), THREADS * TABLES);
    catalogue.check().unwrap();
}

const VIEW: &str = "CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE a > 1 AND b IN (2, 3) AND k IS NOT NULL \
                    PRIMARY KEY (a, b, k)";

/// A catalogue with a view, as a server before format 4 wrote it: conditions as text only.
fn older_catalogue(world: &World) -> serde_json::Value {
    let mut stored: serde_json::Value = serde_json::from_slice(&world.store.catalogue().unwrap()).unwrap();
    assert_eq!(stored["format"], 4);
    stored["format"] = 3.into();
    for restriction in where_clause(&mut stored) {
        restriction.as_object_mut().unwrap().remove("tests").unwrap();
    }
    stored
}

fn where_clause(stored: &mut serde_json::Value) -> &mut Vec<serde_json::Value> {
    let keyspaces = stored["keyspaces"].as_array_mut().unwrap();
    let keyspace = keyspaces.iter_mut().find(|keyspace| keyspace["name"] == "k").unwrap();
    let tables = keyspace["tables"].as_array_mut().unwrap();
    let view = tables.iter_mut().find(|table| table["name"] == "v").unwrap();
    view["view"]["where"].as_array_mut().unwrap()
}

fn world_with_a_view() -> World {
    let mut world = World::new();
    for statement in [CREATE, "CREATE TABLE k.t (k int, a int, b int, PRIMARY KEY (k, a, b))", VIEW] {
        world.ddl(statement).unwrap();
    }
    world
}

#[test]
fn a_view_from_before_its_conditions_were_values_is_read_from_its_text() {
    let world = world_with_a_view();
    let older = serde_json::to_vec(&older_catalogue(&world)).unwrap();
    let again = open_catalogue(Some(&older), 99).unwrap();
    assert_eq!(*again.load().1, *world.shared.load().1);
    assert_eq!(table_configs(&again.load().1).unwrap(), table_configs(&world.shared.load().1).unwrap());
}

#[test]
fn a_view_that_cannot_be_read_is_disabled_and_keeps_nobody_from_starting() {
    let world = world_with_a_view();
    let damage: [fn(&mut serde_json::Value); 4] = [
        |stored| where_clause(stored)[0]["condition"] = "> no number".into(),
        |stored| where_clause(stored)[0]["condition"] = "> ((((".into(),
        |stored| {
            stored["format"] = 4.into();
            where_clause(stored)[0]["tests"] =
                serde_json::json!([{"comparison": "=", "alternatives": [["0x"]]}]);
        },
        |stored| {
            stored["format"] = 4.into();
            where_clause(stored)[0]["tests"] =
                serde_json::json!([{"comparison": ">", "alternatives": [["00", "01"]]}]);
        },
    ];
    for damage in damage {
        let mut stored = older_catalogue(&world);
        damage(&mut stored);
        let opened = open_catalogue(Some(&serde_json::to_vec(&stored).unwrap()), 99).unwrap();
        let (_, catalogue) = opened.load();
        let view = catalogue.table("k", "v").unwrap().view.as_ref().unwrap();
        assert!(view.disabled.is_some(), "{stored}");
        assert!(table_configs(&catalogue).unwrap().iter().all(|config| config.views.is_empty()));
        let scope = crate::bind::Scope { catalogue: &catalogue, keyspace: None };
        let read = crate::prepared::Prepared::new(scope, "SELECT * FROM k.v WHERE a = 1", 1).err().unwrap();
        assert!(read.to_string().starts_with("The materialized view k.v is disabled"), "{read}");
        // What is disabled stays so: it has missed writes.
        let store = NaiveStore::new();
        block_on(opened.bootstrap(&store)).unwrap();
        let again = Arc::new(open_catalogue(Some(&store.catalogue().unwrap()), 100).unwrap());
        assert!(again.load().1.table("k", "v").unwrap().view.as_ref().unwrap().disabled.is_some());
        let parsed = cql_syntax::parse_statement("DROP MATERIALIZED VIEW k.v").unwrap();
        let plan = Arc::new(crate::ddl::bind(scope, &parsed.statement).unwrap());
        block_on(crate::ddl::execute(&plan, &again, &store, 1)).unwrap();
        assert!(again.load().1.table("k", "v").is_none());
    }
}
