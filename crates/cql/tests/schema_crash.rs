//! DDL and data together, cut at every I/O: after recovery the schema and the rows are those of the statements that were
//! acknowledged, with or without the one under way. The catalogue is never older or newer than the data it describes.

use cql::CqlError;
use cql::roles::NoPasswords;
use cql::session::{Dialect, Response, Session};
use cql::system::{NodeInfo, SystemTables};
use database::builds::resume_builds;
use database::ids::ShardIds;
use engine::{EmbeddedStore, Engine, EngineOptions};
use model::key::PartitionKey;
use model::literal::format_literal;
use model::row::RowView;
use query::{Request, Values};
use rt::{Clock, CrashImage, Fault, ManualClock, SimDisk};
use std::rc::Rc;
use std::sync::Arc;
use store::{Flow, Partitions, Read, Sink, Slice, Store, TableId};

const START_MICROS: i64 = 1_700_000_000_000_000;

/// `FLUSH` is ours; everything else is CQL.
const SCRIPT: &[&str] = &[
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TYPE ks.place (street text, zip int)",
    "CREATE TABLE ks.a (k int, c int, v text, PRIMARY KEY (k, c))",
    "INSERT INTO ks.a (k, c, v) VALUES (1, 1, 'one')",
    "ALTER TABLE ks.a ADD (home frozen<place>, tags set<text>)",
    "INSERT INTO ks.a (k, c, v, home, tags) VALUES (1, 2, 'two', {street: 's', zip: 7}, {'x', 'y'})",
    "CREATE TABLE ks.b (k int PRIMARY KEY, n counter)",
    "UPDATE ks.b SET n = n + 5 WHERE k = 1",
    "FLUSH",
    "ALTER TABLE ks.a DROP v",
    "ALTER TABLE ks.a WITH compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_size': '1', 'compaction_window_unit': 'DAYS'}",
    "BEGIN BATCH INSERT INTO ks.a (k, c, tags) VALUES (2, 1, {'z'}); DELETE FROM ks.a WHERE k = 1 AND c = 1; APPLY BATCH",
    "CREATE INDEX tagged ON ks.a (tags)",
    "INSERT INTO ks.a (k, c, tags) VALUES (2, 2, {'z'})",
    "CREATE TABLE ks.c (k int PRIMARY KEY, v int)",
    "INSERT INTO ks.c (k, v) VALUES (1, 1) IF NOT EXISTS",
    "TRUNCATE ks.c",
    "INSERT INTO ks.c (k, v) VALUES (2, 2)",
    "FLUSH",
    "DROP TABLE ks.c",
    "CREATE TABLE ks.c (k text PRIMARY KEY, w text)",
    "INSERT INTO ks.c (k, w) VALUES ('another', 'table')",
    "DROP INDEX ks.tagged",
    "CREATE MATERIALIZED VIEW ks.by_c AS SELECT * FROM a WHERE c IS NOT NULL AND k IS NOT NULL AND c > 0 PRIMARY KEY (c, k)",
    "INSERT INTO ks.a (k, c, tags) VALUES (3, 1, {'y'})",
    "CREATE MATERIALIZED VIEW ks.by_home AS SELECT * FROM a WHERE home IS NOT NULL AND c IS NOT NULL AND k IS NOT NULL PRIMARY KEY (home, c, k)",
    "UPDATE ks.a SET home = {street: 't', zip: 8} WHERE k = 2 AND c = 1",
    "DELETE FROM ks.a WHERE k = 2 AND c = 2",
    "ALTER TABLE ks.a ADD more int",
    "UPDATE ks.a SET home = {street: 'u', zip: 9}, more = 5 WHERE k = 1 AND c = 2",
    "ALTER TABLE ks.a RENAME c TO d",
    "CREATE INDEX ON ks.a (d)",
    "TRUNCATE ks.a",
    "INSERT INTO ks.a (k, d, more) VALUES (4, 4, 4)",
    "DROP MATERIALIZED VIEW ks.by_home",
    "ALTER KEYSPACE ks WITH durable_writes = false",
    "DROP TABLE ks.b",
    "CREATE TABLE ks.e (k int, at timestamp, v int, PRIMARY KEY (k, at)) WITH bucketing = {'by': 'at', 'every': '1d', 'hash': 'at', 'into': 2}",
    "INSERT INTO ks.e (k, at, v) VALUES (1, '2026-01-01 10:00:00+0000', 1)",
    "BEGIN BATCH INSERT INTO ks.e (k, at, v) VALUES (1, '2026-02-01 10:00:00+0000', 2); INSERT INTO ks.e (k, at, v) VALUES (1, '2026-03-01 10:00:00+0000', 3); APPLY BATCH",
    "INSERT INTO ks.e (k, at, v) VALUES (1, '2026-04-01 10:00:00+0000', 4) IF NOT EXISTS",
    "FLUSH",
    "INSERT INTO ks.e (k, at, v) VALUES (1, '2026-04-01 11:00:00+0000', 5)",
    "DELETE FROM ks.e WHERE k = 1 AND at < '2026-03-01 00:00:00+0000'",
    "DROP KEYSPACE ks",
];

/// Everything a client can see of keyspace `ks`.
const PROBES: &[&str] = &[
    "SELECT keyspace_name, durable_writes FROM system_schema.keyspaces",
    "SELECT table_name, column_name, kind, position, type FROM system_schema.columns WHERE keyspace_name = 'ks'",
    "SELECT table_name, compaction FROM system_schema.tables WHERE keyspace_name = 'ks'",
    "SELECT table_name, column_name FROM system_schema.dropped_columns WHERE keyspace_name = 'ks'",
    "SELECT type_name, field_names FROM system_schema.types WHERE keyspace_name = 'ks'",
    "SELECT table_name, index_name, options FROM system_schema.indexes",
    "SELECT table_name, index_name FROM system.\"IndexInfo\"",
    "SELECT view_name, base_table_name, include_all_columns, where_clause FROM system_schema.views",
    "SELECT * FROM system.built_views",
    "SELECT * FROM ks.by_c",
    "SELECT * FROM ks.by_home",
    "SELECT * FROM ks.a",
    "SELECT * FROM ks.b",
    "SELECT * FROM ks.c",
    "SELECT * FROM ks.e",
    "SELECT v FROM ks.e WHERE k = 1",
];

struct Node {
    engine: Engine,
    dialect: Dialect<EmbeddedStore>,
    ids: Rc<ShardIds>,
}

fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

impl Node {
    async fn start(disk: &SimDisk) -> Result<Node, String> {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let mut options = EngineOptions::new("/db");
        options.shards = 1;
        options.inline = true;
        options.log_segment_bytes = 8192;
        let (engine, opened) =
            Engine::open(Arc::new(disk.clone()), clock.clone(), options).map_err(|e| e.to_string())?;
        let shared = cql::open_catalogue(opened.catalogue.as_deref(), clock.micros());
        let shared = Arc::new(shared.map_err(|e| e.to_string())?);
        let system = Arc::new(SystemTables::new(NodeInfo::default(), shared.clone()));
        let ids = Rc::new(ShardIds::new(clock, 0, 7));
        let store = engine.store(0).unwrap();
        let limits = Default::default();
        let dialect =
            Dialect::new(store, shared, system, Box::new(ids.clone()), limits, Box::new(NoPasswords));
        dialect.shared.bootstrap(&dialect.store).await.map_err(|e| e.to_string())?;
        let resumed = resume_builds(&dialect.shared, &dialect.store, START_MICROS).await;
        resumed.map_err(|e| e.to_string())?;
        Ok(Node { engine, dialect, ids })
    }

    async fn execute(&self, text: &str) -> Result<Vec<String>, CqlError> {
        if text == "FLUSH" {
            self.engine.flush().await;
            self.engine.run_jobs();
            return Ok(Vec::new());
        }
        let session = Session::default();
        let prepared = self.dialect.prepare(&session, None, text)?;
        let request = Request::new(Values::NONE, self.ids.now_micros());
        let Response::Rows(rows) = self.dialect.execute(&session, &prepared, request).await?.response else {
            return Ok(Vec::new());
        };
        let line = |values: Vec<Option<&[u8]>>| {
            let cells = rows.columns.iter().zip(values);
            cells.map(|(spec, value)| format_literal(&spec.data_type, value)).collect::<Vec<_>>().join(" | ")
        };
        Ok(rows.values().map(line).collect())
    }

    /// How many statements of the script were acknowledged.
    async fn run_script(&self) -> usize {
        for (done, statement) in SCRIPT.iter().enumerate() {
            if self.execute(statement).await.is_err() {
                return done;
            }
        }
        SCRIPT.len()
    }

    async fn probe(&self) -> Vec<String> {
        let mut seen = Vec::new();
        for probe in PROBES {
            seen.push((*probe).to_owned());
            match self.execute(probe).await {
                Ok(mut rows) => {
                    rows.sort();
                    seen.extend(rows);
                }
                Err(error) => seen.push(format!("refused: {error}")),
            }
        }
        seen.push(format!("{} entries", self.index_entries().await));
        seen
    }

    /// How many entries the indexes have: no statement shows them all.
    async fn index_entries(&self) -> usize {
        let (_, catalogue) = self.dialect.catalogue();
        let mut entries = Counted(0);
        for index in catalogue.tables().flat_map(|table| &table.indexes) {
            let read = Read::of(
                TableId(index.id),
                Partitions::all(),
                vec![Slice::all()],
                (START_MICROS / 1_000_000) as u32,
            );
            self.dialect.store.read(&read, &mut entries).await.unwrap();
        }
        entries.0
    }
}

struct Counted(usize);

impl Sink for Counted {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], _: RowView<'_>) -> Flow {
        self.0 += 1;
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// What a client sees after each number of statements, without crashes.
fn expected() -> Vec<Vec<String>> {
    run(async {
        let node = Node::start(&SimDisk::new()).await.unwrap();
        let mut states = vec![node.probe().await];
        for statement in SCRIPT {
            node.execute(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
            states.push(node.probe().await);
        }
        states
    })
}

#[test]
fn a_crash_at_every_io_leaves_the_schema_and_the_rows_of_what_was_acknowledged() {
    let expected = expected();
    assert!(
        expected.windows(2).filter(|pair| pair[0] != pair[1]).count() > 15,
        "the probes see what statements do"
    );
    let mut recovered = 0;
    for k in 1.. {
        let disk = SimDisk::new();
        disk.fault_at(k, Fault::Crash);
        let done = run(async {
            match Node::start(&disk).await {
                Ok(node) => node.run_script().await,
                Err(_) => 0,
            }
        });
        let torn = disk.last_write_len() / 2;
        let images = [
            CrashImage::DropUnsynced,
            CrashImage::KeepAll,
            CrashImage::TornLast { bytes: torn },
            CrashImage::Random { seed: k },
        ];
        for image in images {
            recovered += 1;
            let found = run(async {
                let node =
                    Node::start(&disk.image(image)).await.unwrap_or_else(|e| panic!("k {k} {image:?}: {e}"));
                node.probe().await
            });
            let after = expected.get(done + 1);
            assert!(
                found == expected[done] || Some(&found) == after,
                "k {k} {image:?}, next {:?}:\nfound {found:#?}\nbefore {:#?}\nafter {after:#?}",
                SCRIPT.get(done),
                expected[done]
            );
        }
        if !disk.is_crashed() {
            println!("{} cuts, {recovered} images recovered", k - 1);
            assert!(done == SCRIPT.len() && k > 100, "k {k}");
            return;
        }
    }
}
