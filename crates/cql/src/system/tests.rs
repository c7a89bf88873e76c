//! System tables read by the ordinary SELECT path.

use crate::CqlError;
use crate::ddl::tests::block_on;
use crate::roles::Passwords;
use crate::session::{Dialect, Response, Session};
use crate::system::{ClientInfo, Live, NodeInfo, PreparedInfo, SystemTables};
use query::context::Limits;
use query::{Ids, Request, Rows, Values};
use serde_json::Value;
use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use store::naive::NaiveStore;

struct Counter(Cell<u8>);

impl Ids for Counter {
    fn timeuuid(&self) -> [u8; 16] {
        self.uuid()
    }

    fn uuid(&self) -> [u8; 16] {
        self.0.set(self.0.get().wrapping_add(1));
        [self.0.get(); 16]
    }
}

struct NoPasswords;

impl Passwords for NoPasswords {
    fn hash(&self, password: String) -> Pin<Box<dyn Future<Output = Result<String, CqlError>>>> {
        Box::pin(async { Ok(password) })
    }

    fn random(&self) -> Result<[u8; crate::roles::GENERATED_LETTERS], CqlError> {
        Ok(std::array::from_fn(|at| at as u8))
    }
}

struct OneClient;

impl Live for OneClient {
    fn clients(&self) -> Vec<ClientInfo> {
        vec![ClientInfo {
            address: [127, 0, 0, 1].into(),
            port: 5000,
            options: [("DRIVER_NAME".to_string(), "test".to_string())].into(),
            stage: "ready".into(),
            keyspace: None,
            protocol_version: 5,
            requests: 7,
            username: "anonymous".into(),
            tls: None,
        }]
    }

    fn prepared(&self) -> Vec<PreparedInfo> {
        vec![PreparedInfo { id: [9; 16], keyspace: Some("k".into()), query: "SELECT * FROM t".into() }]
    }
}

struct World {
    dialect: Dialect<NaiveStore>,
    now: Cell<i64>,
}

impl World {
    fn new() -> World {
        let shared = Arc::new(crate::open_catalogue(None, 1).unwrap());
        let node = NodeInfo { host_id: shared.host_id(), ..NodeInfo::default() };
        let system = Arc::new(SystemTables::new(node, shared.clone()));
        system.set_live(Arc::new(OneClient));
        let store = NaiveStore::new();
        block_on(shared.bootstrap(&store)).unwrap();
        let ids = Box::new(Counter(Cell::new(0)));
        let dialect = Dialect::new(store, shared, system, ids, Limits::default(), Box::new(NoPasswords));
        World { dialect, now: Cell::new(1_700_000_000_000_000) }
    }

    fn run(&self, text: &str) -> Response {
        self.now.set(self.now.get() + 1);
        let session = Session::default();
        let prepared = self.dialect.prepare(&session, None, text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let request = Request::new(Values::NONE, self.now.get());
        let answer = block_on(self.dialect.execute(&session, &prepared, request));
        answer.unwrap_or_else(|e| panic!("{text}: {e}")).response
    }

    /// Runs a schema statement that may be refused.
    fn try_run(&self, text: &str) {
        self.now.set(self.now.get() + 1);
        let session = Session { keyspace: Some("k".into()), role: None };
        if let Ok(prepared) = self.dialect.prepare(&session, None, text) {
            let request = Request::new(Values::NONE, self.now.get());
            let _refused = block_on(self.dialect.execute(&session, &prepared, request)).is_err();
        }
    }

    fn rows(&self, text: &str) -> Rows {
        match self.run(text) {
            Response::Rows(rows) => rows,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// The rows of `SELECT JSON`, as they come.
    fn json(&self, text: &str) -> Vec<String> {
        let rows = self.rows(text);
        let value = |row: Vec<Option<&[u8]>>| String::from_utf8(row[0].unwrap().to_vec()).unwrap();
        rows.values().map(value).collect()
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn local_tells_drivers_what_they_need() {
    let world = World::new();
    let rows = world.json("SELECT JSON * FROM system.local WHERE key = 'local'");
    let local = parsed(&rows[0]);
    assert_eq!(rows.len(), 1);
    for (column, value) in [
        ("bootstrapped", "COMPLETED"),
        ("cql_version", "3.4.7"),
        ("data_center", "datacenter1"),
        ("native_protocol_version", "5"),
        ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
        ("rack", "rack1"),
        ("release_version", "5.0.0"),
        ("rpc_address", "127.0.0.1"),
    ] {
        assert_eq!(local[column], value, "{column}");
    }
    assert_eq!(local["rpc_port"], 9042);
    let tokens = local["tokens"].as_array().unwrap();
    assert_eq!(tokens.len(), 16);
    assert!(tokens.iter().all(|token| token.as_str().unwrap().parse::<i64>().is_ok()));
    let (_, catalogue) = world.dialect.catalogue();
    assert_eq!(local["schema_version"], model::timeuuid::format(&catalogue.version));
    assert_eq!(local["host_id"], model::timeuuid::format(&world.dialect.shared.host_id()));
    assert_eq!(world.rows("SELECT * FROM system.peers_v2").count, 0);
    assert_eq!(world.rows("SELECT * FROM system.peers").count, 0);
}

#[test]
fn the_unspecified_address_is_never_published() {
    let shared = Arc::new(crate::open_catalogue(None, 1).unwrap());
    for unspecified in ["0.0.0.0", "::"] {
        let node = NodeInfo { address: unspecified.parse().unwrap(), ..NodeInfo::default() };
        assert!(SystemTables::new(node, shared.clone()).node.address.is_loopback());
    }
}

#[test]
fn the_schema_version_moves_with_the_schema() {
    let world = World::new();
    let version = || world.json("SELECT JSON schema_version FROM system.local");
    let before = version();
    world.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    let after = version();
    assert_ne!(before, after);
    world.run("CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'SimpleStrategy'}");
    assert_eq!(after, version(), "a no-op changes nothing");
}

#[test]
fn every_system_table_can_be_read_and_is_described() {
    let world = World::new();
    let (_, catalogue) = world.dialect.catalogue();
    assert_eq!(catalogue.keyspaces.len(), 7);
    let mut described = 0;
    for table in catalogue.tables() {
        let name = format!("{}.\"{}\"", table.keyspace, table.name);
        world.rows(&format!("SELECT * FROM {name}"));
        let schema = if schema::is_virtual_system_name(&table.keyspace) {
            "system_virtual_schema"
        } else {
            "system_schema"
        };
        let wanted = format!(
            "SELECT * FROM {schema}.columns WHERE keyspace_name = '{}' AND table_name = '{}'",
            table.keyspace, table.name
        );
        assert_eq!(world.rows(&wanted).count as usize, table.columns().count(), "{name}");
        described += 1;
    }
    assert!(described >= 50, "{described}");
    let users: Vec<_> = catalogue.tables().filter(|table| table.id >= schema::FIRST_USER_TABLE_ID).collect();
    assert!(users.is_empty());
}

/// Drivers and tools know system tables by these ids.
#[test]
fn system_tables_have_cassandras_ids() {
    let (_, catalogue) = World::new().dialect.catalogue();
    for (keyspace, table, id) in [
        ("system", "local", "7ad54392-bcdd-35a6-8417-4e047860b377"),
        ("system_auth", "roles", "5bc52802-de25-35ed-aeab-188eecebb090"),
        ("system_traces", "events", "8826e8e9-e16a-3728-8753-3bc1fc713c25"),
    ] {
        assert_eq!(model::timeuuid::format(&catalogue.table(keyspace, table).unwrap().uuid), id);
    }
}

#[test]
fn indexes_are_listed_with_their_options() {
    let world = World::new();
    for statement in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (k int PRIMARY KEY, \"V\" int, m map<text, int>)",
        "CREATE INDEX ON k.t (\"V\")",
        "CREATE INDEX i ON k.t (m) USING 'SAI'",
    ] {
        world.run(statement);
    }
    let indexes = || -> Vec<Value> {
        let rows = world.json("SELECT JSON index_name, kind, options FROM system_schema.indexes");
        rows.iter().map(|row| parsed(row)).collect()
    };
    let built = || world.json("SELECT JSON * FROM system.\"IndexInfo\" WHERE table_name = 'k'");
    let class = serde_json::json!({"class_name": "SAI", "target": "values(m)"});
    assert_eq!(
        indexes(),
        [
            serde_json::json!({"index_name": "i", "kind": "CUSTOM", "options": class}),
            serde_json::json!({"index_name": "t_V_idx", "kind": "COMPOSITES", "options": {"target": "\"V\""}}),
        ]
    );
    assert_eq!(
        built(),
        [
            r#"{"table_name": "k", "index_name": "i", "value": null}"#,
            r#"{"table_name": "k", "index_name": "t_V_idx", "value": null}"#,
        ]
    );
    world.run("DROP INDEX k.i");
    assert_eq!((indexes().len(), built().len()), (1, 1));
    world.run("DROP KEYSPACE k");
    assert_eq!((indexes().len(), built().len()), (0, 0));
}

#[test]
fn stored_system_tables_take_rows() {
    let world = World::new();
    world.run("INSERT INTO system_auth.roles (role, can_login, member_of) VALUES ('r', true, {'a', 'b'})");
    let rows = world.json("SELECT JSON role, member_of FROM system_auth.roles");
    assert_eq!(parsed(&rows[0])["member_of"], serde_json::json!(["a", "b"]));
}

#[test]
fn clients_statements_and_settings_come_from_the_server() {
    let world = World::new();
    let client = parsed(&world.json("SELECT JSON * FROM system_views.clients")[0]);
    assert_eq!((&client["driver_name"], &client["request_count"]), (&"test".into(), &7.into()));
    assert_eq!(client["ssl_enabled"], false);
    let statement = parsed(&world.json("SELECT JSON * FROM system.prepared_statements")[0]);
    assert_eq!(statement["query_string"], "SELECT * FROM t");
    let setting = world.json("SELECT JSON value FROM system_views.settings WHERE name = 'num_tokens'");
    assert_eq!(parsed(&setting[0])["value"], "16");
}

#[test]
fn estimates_cover_the_ring() {
    let world = World::new();
    world.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    world.run("CREATE TABLE k.t (k int PRIMARY KEY)");
    let rows =
        world.json("SELECT JSON range_start, range_end FROM system.size_estimates WHERE keyspace_name = 'k'");
    let token = |row: &Value, column: &str| row[column].as_str().unwrap().parse::<i64>().unwrap();
    let mut ranges: Vec<_> = rows.iter().map(|row| parsed(row)).collect();
    ranges.sort_by_key(|row| token(row, "range_end"));
    assert_eq!(ranges.len(), 16);
    for (row, next) in ranges.iter().zip(ranges.iter().cycle().skip(1)) {
        assert_eq!(token(row, "range_end"), token(next, "range_start"));
    }
}

/// The rows that a real Cassandra 5.0.6 showed after the same statements.
#[test]
fn the_catalogue_as_rows_is_cassandras() {
    check_rows(include_str!("../ddl/cases/more_rules.txt"), include_str!("cases/schema.txt"));
    check_rows(include_str!("../ddl/cases/rules.txt"), include_str!("cases/tables.txt"));
}

fn check_rows(statements: &str, expected_rows: &str) {
    let world = World::new();
    for case in statements.split("--- ") {
        let (statement, answer) = case.split_once('\n').unwrap_or_default();
        let changes = !statement.starts_with("DESC") && !statement.starts_with("USE");
        // The refused ones have their own test.
        if changes && answer.starts_with("ok") {
            world.try_run(statement);
        }
    }
    let mut found = std::collections::BTreeMap::new();
    for (number, line) in expected_rows.lines().enumerate() {
        let (table, expected) = line.split_once(' ').unwrap();
        let rows = found.entry(table).or_insert_with(|| {
            let rows = world.json(&format!("SELECT JSON * FROM system_schema.{table}"));
            rows.iter().map(|row| parsed(row)).collect::<Vec<_>>()
        });
        let expected = parsed(expected);
        let same = |row: &&Value| {
            let keys = ["keyspace_name", "table_name", "column_name", "type_name"];
            keys.iter().all(|key| row.get(key) == expected.get(key))
        };
        let mut row = rows.iter().find(same).unwrap_or_else(|| panic!("line {number}: {line}")).clone();
        // These differ from run to run.
        for varying in ["id", "dropped_time"] {
            row.as_object_mut().unwrap().remove(varying);
        }
        assert_eq!(row, expected, "line {}", number + 1);
    }
}
