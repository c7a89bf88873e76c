//! Writes the seeds: `seeds DIR` fills DIR/frames with real requests in every version and framing, and DIR/statements
//! with every statement of the parser's tables.

// Brings the symbols that the coverage instrumentation calls.
use libfuzzer_sys as _;

use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Compression, Consistency, QueryParams, Request, StartupOptions, Value,
    ValueList, Version,
};
use std::fs;
use std::path::Path;

fn main() {
    let dir = std::env::args().nth(1).expect("usage: seeds DIR");
    let frames = frames();
    let statements = statements();
    write(&Path::new(&dir).join("frames"), &frames);
    write(&Path::new(&dir).join("statements"), &statements);
    println!("{} frames, {} statements", frames.len(), statements.len());
}

fn write(dir: &Path, seeds: &[Vec<u8>]) {
    fs::create_dir_all(dir).expect("a folder for seeds");
    for (index, seed) in seeds.iter().enumerate() {
        fs::write(dir.join(format!("seed-{index:04}")), seed).expect("a seed");
    }
}

fn statements() -> Vec<Vec<u8>> {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cql-syntax/tests/it/cases");
    let mut seeds = Vec::new();
    for table in ["select", "write", "schema", "role", "ours"] {
        let text = fs::read_to_string(format!("{tables}/{table}.cql")).expect("a table of statements");
        let mut statement = String::new();
        for line in text.lines().filter(|line| !line.starts_with("=> ")) {
            if !line.starts_with(' ') && !statement.is_empty() {
                seeds.push(std::mem::take(&mut statement).into_bytes());
            }
            statement.push_str(line);
            statement.push('\n');
        }
        seeds.push(statement.into_bytes());
    }
    seeds
}

/// Each request alone, by way of every mode of the target.
fn frames() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (index, version) in Version::ALL.into_iter().enumerate() {
        for plain in requests(version) {
            for (bits, compression) in
                [(0, None), (1, Some(Compression::Lz4)), (2, Some(Compression::Snappy))]
            {
                if version == Version::V5 && compression == Some(Compression::Snappy) {
                    continue;
                }
                for mode in 0..4u8 {
                    let mut seed = vec![index as u8 | bits << 2 | mode << 5];
                    seed.extend_from_slice(&plain);
                    seeds.push(seed);
                }
            }
        }
    }
    seeds
}

fn requests(version: Version) -> Vec<Vec<u8>> {
    let mut startup = StartupOptions::new();
    startup.set("CQL_VERSION", "3.0.0").set("COMPRESSION", "lz4").set("DRIVER_NAME", "seed");
    let mut values = ValueList::new();
    for value in [Value::Bytes(&[0, 0, 0, 1]), Value::Null, Value::Bytes(b"text")] {
        assert!(values.push(value));
    }
    let mut named = ValueList::new();
    assert!(named.push_named("k", Value::Bytes(&[1])) && named.push_named("v", Value::Null));
    let mut params = QueryParams::new(Consistency::Quorum);
    params.values = values.as_values();
    params.page_size = Some(5000);
    params.timestamp = Some(1);
    params.serial_consistency = Some(Consistency::Serial);
    params.skip_metadata = true;
    let mut with_names = QueryParams::new(Consistency::One);
    with_names.values = named.as_values();
    with_names.paging_state = Some(b"state");
    let mut list = BatchList::new();
    let insert = BatchQuery::Text("INSERT INTO t (k, v, w) VALUES (?, ?, ?)");
    assert!(list.push(insert, values.as_values()));
    assert!(list.push(BatchQuery::Prepared(&[7; 16]), values.as_values()));
    let batch = Batch {
        batch_type: BatchType::Logged,
        statements: list.as_statements(),
        params: QueryParams::new(Consistency::One),
    };
    let requests = [
        Request::Options,
        Request::Startup(startup.as_startup()),
        Request::AuthResponse(Some(b"\0cassandra\0cassandra")),
        Request::Query { query: "SELECT * FROM system.local", params },
        Request::Query { query: "SELECT * FROM t WHERE k = :k AND v = :v", params: with_names },
        Request::Prepare { query: "SELECT v FROM t WHERE k = ?", keyspace: None },
        Request::Execute { id: &[7; 16], result_metadata_id: Some(&[8; 16]), params },
        Request::Batch(batch),
    ];
    let encode = |request: &Request<'_>| {
        let mut bytes = Vec::new();
        request.encode(version.into(), 1, 0, &mut bytes);
        bytes
    };
    let mut all: Vec<Vec<u8>> = requests.iter().map(encode).collect();
    all.push(all.concat());
    all
}
