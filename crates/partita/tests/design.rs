//! Derived schemas and simulations against a real Partita: what is printed runs, what is predicted is what the engine counts.

use engine::table::Table;
use model::value::Value;
use partita::{Database, Durability, Options};
use std::path::Path;

const EXAMPLES: [(&str, &str); 6] = [
    ("chat", include_str!("../../../docs/examples/chat.toml")),
    ("sensors", include_str!("../../../docs/examples/sensors.toml")),
    ("orders", include_str!("../../../docs/examples/orders.toml")),
    ("tracing", include_str!("../../../docs/examples/tracing.toml")),
    ("leaderboard", include_str!("../../../docs/examples/leaderboard.toml")),
    ("audit", include_str!("../../../docs/examples/audit.toml")),
];

fn open(dir: &Path) -> Database {
    let options =
        Options { dir: dir.to_path_buf(), shards: 1, durability: Durability::Periodic, functions: false };
    Database::open_with(options).expect("a database")
}

/// A value of a column's type; columns that are not in a key may stay empty.
fn value(data_type: &str) -> Value {
    match data_type {
        "uuid" => Value::Uuid([7; 16]),
        "timeuuid" => Value::TimeUuid([0, 0, 0, 1, 0, 0, 0x10, 0, 0x80, 0, 0, 0, 0, 0, 0, 1]),
        "text" => Value::Text("some".into()),
        "int" => Value::Int(3),
        "bigint" => Value::BigInt(4),
        "timestamp" => Value::Timestamp(now_millis()),
        "date" => Value::Date(1 << 31),
        "double" => Value::Double(1.5),
        "boolean" => Value::Boolean(true),
        _ => Value::Null,
    }
}

/// Now, the same in every statement: what is older than a retention is refused.
fn now_millis() -> i64 {
    static NOW: std::sync::LazyLock<i64> = std::sync::LazyLock::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        i64::try_from(since.as_millis()).expect("before the end of time")
    });
    *NOW
}

/// The columns that the markers of a derived statement stand for, in order.
fn marked_columns(statement: &str) -> Vec<String> {
    if let Some((_, rest)) = statement.split_once("INSERT INTO") {
        let names =
            rest.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(names, _)| names);
        return names.split(',').map(|name| name.trim().to_string()).collect();
    }
    let words: Vec<&str> = statement.split_whitespace().collect();
    let marked =
        words.windows(3).filter(|w| w[2].trim_end_matches(';') == "?" && ["=", ">=", "<"].contains(&w[1]));
    marked.map(|w| w[0].to_string()).collect()
}

#[test]
fn every_statement_of_every_example_runs_and_no_pattern_filters() {
    let targets = [design::Target::Cassandra, design::Target::Partita];
    for ((name, text), target) in EXAMPLES.iter().flat_map(|example| targets.map(|target| (*example, target)))
    {
        let cql = design::derive::print(&design::derive::derive(text, target).expect("a plan"));
        let review = design::review([(name, cql.as_str())]);
        let dir = tempfile::tempdir().expect("a folder");
        let database = open(dir.path());
        let script = cql_statements(&cql);
        let keyspace = script.iter().find_map(|s| s.strip_prefix("USE ")).expect("a keyspace").to_string();
        let mut ran = 0;
        for statement in script.iter().filter(|s| !s.starts_with("USE")) {
            let qualified = qualified(statement, &keyspace);
            let answer =
                database.execute(&qualified, ()).unwrap_or_else(|e| panic!("{name}: {e}\n{qualified}"));
            assert!(answer.rows().is_empty());
            ran += 1;
        }
        let declared = review.catalogue.tables.len() + review.catalogue.accesses.len();
        assert_eq!(ran, declared + 1, "{name}: the keyspace, tables and patterns");
        // Writes first, so that the reads have something to find.
        let mut accesses: Vec<_> = review.catalogue.accesses.iter().collect();
        accesses.sort_by_key(|access| access.is_read());
        for access in accesses {
            let table = review.catalogue.table(access).expect("a table");
            let statement = access.statement.to_string();
            let qualified = qualified(&statement, &keyspace);
            let columns = marked_columns(&statement);
            let values =
                columns.iter().map(|c| value(&table.column(c).expect("a column").data_type.to_string()));
            let answer = database
                .execute(&qualified, values.collect::<Vec<Value>>())
                .unwrap_or_else(|e| panic!("{name}: {e}\n{qualified}"));
            assert!(!statement.contains("FILTERING"));
            let written = review.catalogue.accesses.iter().any(|a| !a.is_read() && a.table == access.table);
            let has_range = access.restrictions.iter().any(|r| r.op.is_slice());
            if access.is_read() && written && !has_range {
                assert_eq!(answer.rows().len(), 1, "{name}: {statement} finds what was written");
            }
        }
        database.close().expect("closed");
    }
}

/// The statement with its keyspace said: an embedded database has no USE.
fn qualified(statement: &str, keyspace: &str) -> String {
    let mut out = statement.to_string();
    for before in ["CREATE TABLE ", "CREATE ACCESS PATTERN ", " FROM ", "INSERT INTO "] {
        out = out.replacen(before, &format!("{before}{keyspace}."), 1);
    }
    out
}

/// Statements of a script without comments.
fn cql_statements(cql: &str) -> Vec<String> {
    let without: Vec<&str> = cql.lines().filter(|line| !line.starts_with("--")).collect();
    without.join("\n").split(";\n").map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect()
}

const LOADED: &str = "
CREATE TABLE app.events (sensor text, at timestamp, reading text, PRIMARY KEY (sensor, at));
CREATE ACCESS PATTERN events AS SELECT * FROM app.events WHERE sensor = ? LIMIT 10
    WITH rows_per_day = 20 AND partitions = 300";

#[test]
fn predicted_partition_sizes_are_what_the_engine_counts() {
    const KEYS: usize = 300;
    const ROWS: usize = 6_000;
    // The data: row by row, each on a key by Zipf's law, from a generator of its own.
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for rank in 1..=KEYS {
        sum += 1.0 / rank as f64;
        sums.push(sum);
    }
    let dir = tempfile::tempdir().expect("a folder");
    let database = open(dir.path());
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    database
        .execute(&format!("CREATE KEYSPACE app WITH replication = {replication}"), ())
        .expect("a keyspace");
    let create = LOADED.split(';').next().expect("a table").trim();
    database.execute(create, ()).expect("a table");
    let mut state = 42u64;
    for row in 0..ROWS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wanted = (state >> 11) as f64 / (1u64 << 53) as f64 * sum;
        let key = sums.partition_point(|s| *s < wanted).min(KEYS - 1);
        let values = vec![
            Value::Text(format!("sensor-{key:04}")),
            Value::Timestamp(1_700_000_000_000 + row as i64),
            Value::Text("x".repeat(32)),
        ];
        database
            .execute("INSERT INTO app.events (sensor, at, reading) VALUES (?, ?, ?)", values)
            .expect("a row");
    }
    database.close().expect("closed");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir.path().join("tables")).expect("the tables") {
        let path = entry.expect("a file").path();
        let table = Table::open(&rt::RealDisk, &path, 1).expect("a table file");
        if table.statistics().rows == ROWS as u64 {
            files.push(table);
        }
    }
    let [file] = files.as_slice() else { panic!("all rows are in one file: {}", files.len()) };
    let counted = file.statistics();
    let row_bytes = counted.data_bytes as f64 / counted.rows as f64;

    // The prediction: the same skew, nothing of the data.
    let review = design::review([("loaded.cql", format!("{LOADED} AND row_bytes = {row_bytes}"))]);
    let settings = design::simulate::Settings { days: 1.0, scales: vec![1.0], ..Default::default() };
    let simulation = design::simulate::simulate(&review, &settings, &mut |_| {}).expect("a simulation");
    let at = &simulation.tables[0].scales[0];
    println!("counted {counted:?}\npredicted {at:?}");
    let near = |predicted: f64, seen: f64, within: f64, what: &str| {
        assert!((predicted / seen - 1.0).abs() < within, "{what}: predicted {predicted}, counted {seen}");
    };
    near(at.rows, ROWS as f64, 0.03, "rows");
    near(at.bytes, counted.data_bytes as f64, 0.03, "bytes");
    near(at.partitions, counted.partitions as f64, 0.02, "partitions");
    near(at.partition_bytes_max, counted.largest.sizes()[0].bytes as f64, 0.10, "largest partition");
    // The engine's histogram bounds a quantile within a factor of two.
    for (predicted, fraction) in [(at.partition_bytes_p50, 0.5), (at.partition_bytes_p99, 0.99)] {
        let bound = counted.partition_bytes.quantile(fraction) as f64;
        assert!(predicted <= bound * 1.1 && predicted >= bound / 2.2, "{fraction}: {predicted} of {bound}");
    }
    // What types alone predict for a row is within a factor of two of what the engine stores.
    let guessed = design::review([("loaded.cql", LOADED)]).facts[0].growth.row_bytes;
    assert!((0.5..2.0).contains(&(guessed / row_bytes)), "a row: guessed {guessed}, stored {row_bytes}");
}
