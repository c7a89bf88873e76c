//! DESCRIBE forms that the recorded cases in `ddl/cases` do not hold: lists, the cluster, paging, our own objects.

use crate::CqlError;
use crate::bind::Scope;
use crate::ddl::tests::World;
use cql_syntax::Statement;
use query::{Request, Rows, Values};

fn world() -> World {
    let mut world = World::new();
    for statement in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE KEYSPACE \"MixedCase\" WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1} \
         AND review = 'enforce'",
        "CREATE TYPE k.zip (code int)",
        "CREATE TYPE k.address (street text, zip frozen<zip>)",
        "CREATE TABLE k.t (k int PRIMARY KEY, home address)",
        "CREATE TABLE k.\"Upper\" (k int PRIMARY KEY, m map<int, text>, v text)",
        "CREATE INDEX \"B\" ON k.\"Upper\" (keys(m))",
        "CREATE INDEX a ON k.\"Upper\" (v) USING 'sai' WITH OPTIONS = {'case_sensitive': 'true'}",
        "CREATE INDEX c ON k.\"Upper\" (v)",
        "CREATE ACCESS PATTERN k.by_id AS SELECT * FROM k.t WHERE k = ? WITH peak_rate = 500 AND owner = 'team'",
    ] {
        world.ddl(statement).unwrap();
    }
    world
}

fn names(rows: &[Vec<String>]) -> Vec<String> {
    rows.iter().map(|row| format!("{} {} {}", row[0], row[1], row[2])).collect()
}

fn raw(world: &World, text: &str, page: Option<u32>, state: Option<&[u8]>) -> Result<Rows, CqlError> {
    let parsed = cql_syntax::parse_statement(text).unwrap();
    let Statement::Describe(statement) = &parsed.statement else { panic!("{text} is no DESCRIBE") };
    let (_, catalogue) = world.shared.load();
    let scope = Scope { catalogue: &catalogue, keyspace: world.keyspace.as_deref() };
    let request = Request { page_size: page, paging_state: state, ..Request::new(Values::NONE, 1) };
    super::execute(&scope, &world.system, statement, &request)
}

#[test]
fn lists_follow_the_current_keyspace() {
    let mut world = world();
    let all = names(&world.describe("DESCRIBE KEYSPACES").unwrap());
    assert_eq!(all[0], "k keyspace k");
    assert_eq!(all[1], "\"MixedCase\" keyspace \"MixedCase\"");
    assert_eq!(all.len(), 9);
    assert!(world.describe("DESCRIBE TABLES").unwrap().len() > 50);
    world.keyspace = Some("k".into());
    assert_eq!(names(&world.describe("DESC TABLES").unwrap()), ["k table t", "k table \"Upper\""]);
    assert_eq!(names(&world.describe("DESC TYPES").unwrap()), ["k type address", "k type zip"]);
    assert_eq!(names(&world.describe("DESC ACCESS PATTERNS").unwrap()), ["k access_pattern by_id"]);
    assert!(world.describe("DESC FUNCTIONS").unwrap().is_empty());
    assert!(world.describe("DESC AGGREGATES").unwrap().is_empty());
}

#[test]
fn a_keyspace_comes_in_an_order_that_can_be_created() {
    let mut world = world();
    let expected = [
        "k keyspace k",
        "k type zip",
        "k type address",
        "k table t",
        "k table \"Upper\"",
        "k index a",
        "k index \"B\"",
        "k index c",
        "k access_pattern by_id",
    ];
    for text in ["DESCRIBE KEYSPACE k", "DESCRIBE k"] {
        assert_eq!(names(&world.describe(text).unwrap()), expected);
    }
    let schema = world.describe("DESCRIBE SCHEMA").unwrap();
    assert_eq!(schema.len(), expected.len() + 1);
    assert!(world.describe("DESCRIBE FULL SCHEMA").unwrap().len() > 60);
    // What is described creates the same again.
    world.ddl("DROP KEYSPACE k").unwrap();
    world.ddl("DROP KEYSPACE \"MixedCase\"").unwrap();
    for row in &schema {
        world.ddl(&row[3]).unwrap_or_else(|e| panic!("{}: {e}", row[3]));
    }
    assert_eq!(world.describe("DESCRIBE SCHEMA").unwrap(), schema);
}

#[test]
fn indexes_follow_their_table_and_are_found_by_name() {
    let mut world = world();
    let table = world.describe("DESCRIBE TABLE k.\"Upper\"").unwrap();
    assert_eq!(names(&table), ["k table \"Upper\"", "k index a", "k index \"B\"", "k index c"]);
    for (at, name, text) in [
        (
            1,
            "k.a",
            "CREATE CUSTOM INDEX a ON k.\"Upper\" (v) USING 'sai' WITH OPTIONS = {'case_sensitive': 'true'};",
        ),
        (2, "k.\"B\"", "CREATE INDEX \"B\" ON k.\"Upper\" (keys(m));"),
        (3, "k.c", "CREATE INDEX c ON k.\"Upper\" (v);"),
    ] {
        assert_eq!(table[at][3], text);
        for describe in ["DESCRIBE INDEX", "DESCRIBE"] {
            assert_eq!(world.describe(&format!("{describe} {name}")).unwrap(), [table[at].clone()]);
        }
    }
    assert_eq!(
        world.describe("DESCRIBE INDEX k.b").unwrap_err().to_string(),
        "Table for existing index 'b' not found in 'k'"
    );
    world.ddl("DROP TABLE k.\"Upper\"").unwrap();
    assert_eq!(world.describe("DESCRIBE k.c").unwrap_err().to_string(), "'c' not found in keyspace 'k'");
}

#[test]
fn our_own_objects_are_described() {
    let world = world();
    let keyspace = world.describe("DESCRIBE ONLY KEYSPACE \"MixedCase\"").unwrap();
    assert_eq!(
        keyspace[0][3],
        "CREATE KEYSPACE \"MixedCase\" WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': '1'}  \
         AND durable_writes = true AND review = 'enforce';"
    );
    let pattern = world.describe("DESCRIBE ACCESS PATTERN k.by_id").unwrap();
    assert_eq!(
        pattern[0][3],
        "CREATE ACCESS PATTERN k.by_id AS SELECT * FROM k.t WHERE k = ?\n    WITH owner = 'team'\n    AND peak_rate = 500;"
    );
    let missing = world.describe("DESCRIBE ACCESS PATTERN k.nope").unwrap_err();
    assert_eq!(missing.to_string(), "Access pattern 'nope' not found in 'k'");
}

#[test]
fn virtual_tables_are_wrapped_in_a_comment() {
    let world = world();
    let rows = world.describe("DESCRIBE TABLE system_virtual_schema.tables").unwrap();
    assert_eq!(
        rows[0][3],
        "/*\nWarning: Table system_virtual_schema.tables is a virtual table and cannot be recreated with CQL.\n\
         Structure, for reference:\nVIRTUAL TABLE system_virtual_schema.tables (\n    keyspace_name text,\n    \
         table_name text,\n    comment text,\n    PRIMARY KEY (keyspace_name, table_name)\n) WITH CLUSTERING ORDER BY \
         (table_name ASC)\n    AND comment = '';\n*/"
    );
    let rows = world.describe("DESCRIBE ONLY KEYSPACE system_views").unwrap();
    assert!(rows[0][3].ends_with("VIRTUAL KEYSPACE system_views;\n*/"));
}

#[test]
fn dropped_columns_are_shown_with_internals() {
    let mut world = world();
    for statement in [
        "CREATE TABLE k.h (k int, c int, s text static, v int, w int, PRIMARY KEY (k, c))",
        "ALTER TABLE k.h DROP v USING TIMESTAMP 5",
        "ALTER TABLE k.h DROP s USING TIMESTAMP 6",
        "ALTER TABLE k.h ADD s text static",
    ] {
        world.ddl(statement).unwrap();
    }
    let plain = &world.describe("DESCRIBE TABLE k.h").unwrap()[0][3];
    assert!(plain.starts_with(
        "CREATE TABLE k.h (\n    k int,\n    c int,\n    s text static,\n    w int,\n    PRIMARY"
    ));
    assert!(plain.ends_with("speculative_retry = '99p';"));
    let whole = &world.describe("DESCRIBE TABLE k.h WITH INTERNALS").unwrap()[0][3];
    assert!(
        whole.contains("    w int,\n    s text static,\n    v int,\n    PRIMARY KEY (k, c)\n) WITH ID = "),
        "{whole}"
    );
    assert!(whole.ends_with(
        "\nALTER TABLE k.h DROP s USING TIMESTAMP 6;\nALTER TABLE k.h ADD s text static;\nALTER TABLE k.h DROP v USING \
         TIMESTAMP 5;"
    ));
}

#[test]
fn the_cluster_tells_who_owns_ranges() {
    let mut world = world();
    let rows = raw(&world, "DESCRIBE CLUSTER", None, None).unwrap();
    let columns: Vec<_> = rows.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(columns, ["cluster", "partitioner", "snitch"]);
    let values = rows.values().next().unwrap();
    assert_eq!(values[1], Some(&b"Murmur3Partitioner"[..]));
    world.keyspace = Some("system".into());
    assert_eq!(raw(&world, "DESCRIBE CLUSTER", None, None).unwrap().columns.len(), 3);
    world.keyspace = Some("k".into());
    let rows = raw(&world, "DESCRIBE CLUSTER", None, None).unwrap();
    assert_eq!(rows.columns[3].data_type.to_string(), "map<text, frozen<list<text>>>");
    let owners = rows.values().next().unwrap()[3].unwrap();
    assert_eq!(owners[..4], 16u32.to_be_bytes());
}

#[test]
fn results_come_in_pages() {
    let mut world = world();
    let whole = raw(&world, "DESCRIBE TABLES", None, None).unwrap();
    assert_eq!(whole.paging_state, None);
    let (mut state, mut body, mut count) = (None, Vec::new(), 0);
    loop {
        let page = raw(&world, "DESCRIBE TABLES", Some(7), state.as_deref()).unwrap();
        body.extend(page.body);
        count += page.count;
        state = page.paging_state;
        if state.is_none() {
            break;
        }
    }
    assert_eq!((count, body), (whole.count, whole.body));
    let first = raw(&world, "DESCRIBE TABLES", Some(7), None).unwrap().paging_state.unwrap();
    for wrong in [&b""[..], b"\x02", &first[..10], &[&first[..], b"x"].concat()] {
        let error = raw(&world, "DESCRIBE TABLES", Some(7), Some(wrong)).unwrap_err();
        assert_eq!(error, CqlError::Protocol("Invalid value for the paging state".into()));
    }
    world.ddl("DROP TABLE k.t").unwrap();
    let error = raw(&world, "DESCRIBE TABLES", Some(7), Some(&first)).unwrap_err();
    assert!(error.to_string().starts_with("The schema has changed since the previous page"));
}
