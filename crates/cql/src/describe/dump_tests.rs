//! Schemas as old applications left them load, and what DESCRIBE says of them makes the same schema again.
//!
//! The scripts are our own; their shapes are those of a time-series store, a graph store and a demo of 2013: compact tables
//! that are static, dense and without values, counters, functions with overloads, aggregates, options that are gone.

use crate::ddl::tests::World;

const TIME_SERIES: &str = "
    CREATE KEYSPACE metrics WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '1'} AND durable_writes = true;
    CREATE TABLE metrics.points (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE
        AND CLUSTERING ORDER BY (column1 ASC) AND gc_grace_seconds = 0 AND speculative_retry = 'NONE';
    CREATE TABLE metrics.series_index (key blob, column1 text, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;
    CREATE TABLE metrics.names (key blob, column1 text, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;
    CREATE TABLE metrics.hosts (key text PRIMARY KEY, address text, seen bigint) WITH COMPACT STORAGE AND comment = 'old';
    CREATE INDEX hosts_address ON metrics.hosts (address);
    CREATE TABLE metrics.service_index (service text, service_key text, key text, mtime timeuuid,
        PRIMARY KEY ((service, service_key), key));";

const GRAPH: &str = "
    CREATE KEYSPACE graph WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '1'};
    CREATE TABLE graph.edgestore (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE
        AND compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '160'}
        AND compression = {'class': 'org.apache.cassandra.io.compress.SnappyCompressor', 'chunk_length_in_kb': '64'};
    CREATE TABLE graph.graphindex (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;
    CREATE TABLE graph.locks (key blob, column1 blob, column2 blob, value blob, PRIMARY KEY (key, column1, column2))
        WITH COMPACT STORAGE AND CLUSTERING ORDER BY (column1 DESC, column2 ASC);
    CREATE TABLE graph.seen (key blob, column1 timeuuid, column2 text, PRIMARY KEY (key, column1, column2)) WITH COMPACT STORAGE;
    CREATE TABLE graph.counts (key text PRIMARY KEY, reads counter, writes counter) WITH COMPACT STORAGE;
    CREATE TABLE graph.counts_by_day (key text, column1 text, value counter, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;";

const DEMO: &str = "
    CREATE KEYSPACE demo WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': '1'};
    CREATE TYPE demo.address (street text, zip frozen<tuple<int, text>>);
    CREATE TABLE demo.stocks (ticker text PRIMARY KEY, value double, home frozen<address>);
    CREATE FUNCTION demo.average_state (state tuple<int, bigint>, value int) CALLED ON NULL INPUT RETURNS tuple<int, bigint>
        LANGUAGE java AS $$ if (value != null) { state.setInt(0, state.getInt(0) + 1); } return state; $$;
    CREATE FUNCTION demo.average_final (state tuple<int, bigint>) CALLED ON NULL INPUT RETURNS double
        LANGUAGE java AS 'return Double.valueOf(''0'');';
    CREATE AGGREGATE demo.average (int) SFUNC average_state STYPE tuple<int, bigint> FINALFUNC average_final INITCOND (0, 0);
    CREATE FUNCTION demo.\"Zip\" (\"Home\" address) RETURNS NULL ON NULL INPUT RETURNS text LANGUAGE java AS 'return \"$$\";';
    CREATE FUNCTION demo.zip (home text) RETURNS NULL ON NULL INPUT RETURNS text LANGUAGE javascript AS 'home';
    CREATE FUNCTION demo.zip (home map<text, frozen<set<int>>>, n int) RETURNS NULL ON NULL INPUT RETURNS int
        LANGUAGE javascript AS 'n';
    CREATE FUNCTION demo.words (all map<text, int>, word text) CALLED ON NULL INPUT RETURNS map<text, int> LANGUAGE java
        AS 'return all;';
    CREATE AGGREGATE demo.histogram (text) SFUNC words STYPE map<text, int> INITCOND {'it''s': 1};";

fn load(world: &mut World, script: &str) {
    for statement in cql_syntax::parse_script(script).statements {
        let text = statement.statement.to_string();
        world.ddl(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn old_schemas_load_and_round_trip() {
    for (script, keyspace, objects) in [(TIME_SERIES, "metrics", 7), (GRAPH, "graph", 7), (DEMO, "demo", 11)]
    {
        let mut world = World::new();
        load(&mut world, script);
        let described = world.describe(&format!("DESCRIBE KEYSPACE {keyspace}")).unwrap();
        assert_eq!(described.len(), objects, "{keyspace}");
        let statements: Vec<String> = described.iter().map(|row| row[3].clone()).collect();
        world.ddl(&format!("DROP KEYSPACE {keyspace}")).unwrap();
        load(&mut world, &statements.join("\n"));
        let again = world.describe(&format!("DESCRIBE KEYSPACE {keyspace}")).unwrap();
        assert_eq!(described, again);
    }
}

#[test]
fn what_is_hidden_is_seen_when_compact_storage_is_dropped() {
    let mut world = World::new();
    load(&mut world, TIME_SERIES);
    let text = |world: &World, table: &str| {
        world.describe(&format!("DESCRIBE TABLE metrics.{table}")).unwrap()[0][3].clone()
    };
    let hosts = text(&world, "hosts");
    assert!(hosts.contains("(\n    key text,\n    address text,\n    seen bigint,\n    PRIMARY KEY (key)\n) WITH COMPACT STORAGE"), "{hosts}");
    world.ddl("ALTER TABLE metrics.hosts DROP COMPACT STORAGE").unwrap();
    let hosts = text(&world, "hosts");
    assert!(!hosts.contains("COMPACT STORAGE"), "{hosts}");
    assert!(hosts.contains("column1 text,\n    address text static,\n    seen bigint static,\n    value blob,\n    PRIMARY KEY (key, column1)"), "{hosts}");
    let error = world.ddl("ALTER TABLE metrics.hosts DROP COMPACT STORAGE").unwrap_err();
    assert_eq!(error.to_string(), "Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE");
}
