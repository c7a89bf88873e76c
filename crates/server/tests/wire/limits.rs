//! Every limit of the server, exceeded: the right error, bounded memory, and the connection or its neighbours go on.

use crate::bench::{Answer, Bench, Client, PATIENCE, memory_kib};
use cql_wire::{Consistency, Opcode, QueryParams, Request, Value, ValueList, Version};
use std::io::{Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const KEYSPACE: &str =
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// What the process may grow by, whatever clients send: well below what they try to make it hold.
const GROWTH_KIB_MAX: u64 = 96 << 10;

/// Tests that look at the process's memory take turns.
fn alone() -> MutexGuard<'static, ()> {
    static MEMORY: Mutex<()> = Mutex::new(());
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_frame_over_the_limit_is_an_invalid_request_in_every_version() {
    let bench = Bench::start(|config| config.limits.frame_bytes_max = 1 << 20);
    for version in Version::ALL {
        let mut client = Client::with(&bench, version, &[]);
        let long = format!("SELECT key FROM system.local -- {}", "x".repeat(3 << 20));
        match client.query(&long) {
            Answer::Error(0x2200, text) => {
                let length = long.len() + 4 + 2 + if version >= Version::V5 { 4 } else { 1 };
                let expected = format!(
                    "Request is too big: length {length} exceeds maximum allowed length {}.",
                    1 << 20
                );
                assert_eq!(text, expected, "{version}");
            }
            other => panic!("{version}: {other:?}"),
        }
        assert_eq!(client.query("SELECT key FROM system.local"), Answer::Rows(1), "{version}");
    }
}

#[test]
fn bytes_in_flight_over_the_limit_are_overload_and_the_connection_goes_on() {
    let bench = Bench::start(|config| config.limits.in_flight_bytes_max = 100_000);
    let mut client = Client::connect(&bench);
    let long = format!("SELECT key FROM system.local -- {}", "x".repeat(200_000));
    match client.query(&long) {
        Answer::Error(0x1001, text) => assert!(text.starts_with("Too many requests"), "{text}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(client.query("SELECT key FROM system.local"), Answer::Rows(1));
    assert_eq!(bench.metric("partita_requests_overloaded_total"), 1.0);
    assert_eq!(bench.metric("partita_request_bytes_in_flight"), 0.0);
}

#[test]
fn more_requests_than_may_be_in_flight_wait_and_are_all_answered() {
    let _alone = alone();
    let bench = Bench::start(|config| config.limits.in_flight_per_connection_max = 4);
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (k int PRIMARY KEY, v blob)");
    let before = memory_kib();
    let blob = "00".repeat(50_000);
    let text = format!("INSERT INTO k.t (k, v) VALUES (1, 0x{blob})");
    // 40 MB of requests; the client does not read while it writes, so most of them wait in the socket.
    let mut writer = client.stream.try_clone().unwrap();
    let requests = 400;
    let feeding = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let params = QueryParams::new(Consistency::One);
        Request::Query { query: &text, params }.encode(Version::V4.into(), 1, 0, &mut bytes);
        for _ in 0..requests {
            writer.write_all(&bytes).unwrap();
        }
    });
    for _ in 0..requests {
        assert_eq!(client.receive().answer, Answer::Other);
    }
    feeding.join().unwrap();
    assert!(memory_kib() < before + GROWTH_KIB_MAX, "grew from {before} to {} KiB", memory_kib());
}

#[test]
fn a_client_that_takes_no_answers_is_not_read_further() {
    let _alone = alone();
    let bench = Bench::start(|config| config.limits.statement_text_bytes_max = 4 << 20);
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (k int PRIMARY KEY, v blob)");
    client.run(&format!("INSERT INTO k.t (k, v) VALUES (1, 0x{})", "ab".repeat(1 << 20)));
    let before = memory_kib();
    let mut bytes = Vec::new();
    let query = "SELECT v FROM k.t WHERE k = 1";
    Request::Query { query, params: QueryParams::new(Consistency::One) }.encode(
        Version::V4.into(),
        1,
        0,
        &mut bytes,
    );
    // Half a gigabyte of answers is asked for, and none is read until all was asked.
    let requests = 500;
    client.stream.write_all(&bytes.repeat(requests)).unwrap();
    bench.assert_alive();
    assert!(memory_kib() < before + GROWTH_KIB_MAX, "grew from {before} to {} KiB", memory_kib());
    for _ in 0..requests {
        assert_eq!(client.receive().answer, Answer::Rows(1));
    }
}

#[test]
fn clients_that_take_no_answers_from_other_shards_do_not_fill_the_memory() {
    let _alone = alone();
    let bench = Bench::start(|config| {
        config.limits.answer_bytes_max = 32 << 20;
        config.limits.statement_text_bytes_max = 4 << 20;
    });
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (k int, c int, v blob, PRIMARY KEY (k, c))");
    for c in 0..8 {
        let blob = "ab".repeat(1 << 20);
        client.run(&format!("INSERT INTO k.t (k, c, v) VALUES (1, {c}, 0x{blob})"));
    }
    let before = memory_kib();
    // Some of the connections are on the shard that does not own the partition; pages of 8 MiB, gigabytes in all.
    let mut params = QueryParams::new(Consistency::One);
    params.page_size = Some(5000);
    let mut bytes = Vec::new();
    let query = "SELECT v FROM k.t WHERE k = 1";
    Request::Query { query, params }.encode(Version::V4.into(), 1, 0, &mut bytes);
    let requests = 40;
    let mut greedy: Vec<Client> = (0..4).map(|_| Client::connect(&bench)).collect();
    for client in &mut greedy {
        client.stream.write_all(&bytes.repeat(requests)).unwrap();
    }
    bench.assert_alive();
    // Small answers are not held up.
    assert_eq!(client.query("SELECT c FROM k.t WHERE k = 1"), Answer::Rows(8));
    let grown = memory_kib().saturating_sub(before);
    // Two shards' budgets, and what the connections hold of pages that are being written.
    assert!(grown < 2 * GROWTH_KIB_MAX, "grew by {grown} KiB");
    // Who takes them gets them all; who waited too long for others was told so.
    for client in &mut greedy {
        for _ in 0..requests {
            let answer = client.receive().answer;
            assert!(matches!(answer, Answer::Rows(8) | Answer::Error(0x1001, _)), "{answer:?}");
        }
    }
    let metrics = bench.get("/metrics");
    assert!(metrics.contains("\npartita_memory_bytes{budget=\"answers\"} 0\n"), "{metrics}");
}

#[test]
fn forgotten_statements_are_unprepared_and_can_be_prepared_again() {
    let _alone = alone();
    let bench = Bench::start(|config| config.limits.statement_bytes_max = 64 << 10);
    let mut client = Client::connect(&bench);
    let text =
        |n: usize| format!("SELECT key FROM system.local WHERE key = ? /* {n:04} {} */", "x".repeat(2000));
    let first = client.ask(&Request::Prepare { query: &text(0), keyspace: None }).prepared_id;
    let before = memory_kib();
    for n in 1..2000 {
        client.ask(&Request::Prepare { query: &text(n), keyspace: None });
    }
    assert!(bench.metric("partita_prepared_statement_bytes") <= 64.0 * 1024.0);
    assert!(memory_kib() < before + (32 << 10), "grew from {before} to {} KiB", memory_kib());
    let mut values = ValueList::new();
    values.push(Value::Bytes(b"local"));
    let params = QueryParams { values: values.as_values(), ..QueryParams::new(Consistency::One) };
    let reply = client.ask(&Request::Execute { id: &first, result_metadata_id: None, params });
    assert!(matches!(reply.answer, Answer::Error(0x2500, _)), "{:?}", reply.answer);
    assert_eq!(reply.error, Some(cql_wire::ErrorKind::Unprepared { id: first }));
    assert_eq!(client.execute(&text(0), &values).answer, Answer::Rows(1));
}

#[test]
fn a_page_ends_by_bytes_and_the_next_goes_on_behind_it() {
    let bench = Bench::start(|config| config.limits.page_bytes_max = 256 << 10);
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (k int, c int, v blob, PRIMARY KEY (k, c))");
    let rows = 100;
    for c in 0..rows {
        client.run(&format!("INSERT INTO k.t (k, c, v) VALUES (1, {c}, 0x{})", "cd".repeat(20_000)));
    }
    let (mut seen, mut pages, mut state) = (0, 0, None::<Vec<u8>>);
    loop {
        let mut params = QueryParams::new(Consistency::One);
        params.page_size = Some(5000);
        params.paging_state = state.as_deref();
        let reply = client.ask(&Request::Query { query: "SELECT c, v FROM k.t WHERE k = 1", params });
        assert!(matches!(reply.answer, Answer::Rows(_)), "{:?}", reply.answer);
        // One row more than the limit at most.
        assert!(reply.bytes < (256 << 10) + 25_000, "a page of {} bytes", reply.bytes);
        seen += reply.cells.len() / 2;
        pages += 1;
        state = reply.paging_state;
        if state.is_none() {
            break;
        }
    }
    assert_eq!(seen, rows);
    assert!(pages >= 8, "{pages} pages");
}

#[test]
fn connections_over_the_limit_are_refused_and_others_served() {
    let bench = Bench::start(|config| config.limits.connections_max = 3);
    let mut kept: Vec<Client> = (0..3).map(|_| Client::connect(&bench)).collect();
    let mut refused = bench.connect();
    let mut answer = Vec::new();
    let _ = refused.read_to_end(&mut answer);
    assert!(answer.is_empty());
    assert_eq!(kept[0].query("SELECT key FROM system.local"), Answer::Rows(1));
    assert_eq!(bench.metric("partita_connections_refused_total"), 1.0);
    assert_eq!(bench.metric("partita_connections"), 3.0);
    drop(kept);
    // A place becomes free when the server notices that the client left.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut stream = bench.connect();
        stream.write_all(&[4, 0, 0, 1, Opcode::Options as u8, 0, 0, 0, 0]).unwrap();
        let mut byte = [0];
        if matches!(stream.read(&mut byte), Ok(1)) {
            break;
        }
        assert!(Instant::now() < deadline, "no place became free");
    }
}

#[test]
fn a_thousand_idle_connections_cost_little() {
    let _alone = alone();
    let bench = Bench::start(|_| {});
    let before = memory_kib();
    let kept: Vec<_> = (0..1000).map(|_| bench.connect()).collect();
    bench.assert_alive();
    assert!(memory_kib() < before + GROWTH_KIB_MAX, "grew from {before} to {} KiB", memory_kib());
    drop(kept);
}

#[test]
fn a_message_that_trickles_in_is_cut_off_however_often_a_byte_comes() {
    let bench = Bench::start(|config| {
        config.limits.handshake_timeout = Duration::from_millis(500);
        config.limits.message_timeout = Duration::from_millis(500);
    });
    let trickle = |mut stream: std::net::TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let started = Instant::now();
        let mut buffer = [0; 256];
        // A byte every 50 ms, each long before a timeout between bytes would strike.
        while started.elapsed() < PATIENCE {
            if stream.write_all(&[0]).is_err() || matches!(stream.read(&mut buffer), Ok(0)) {
                return started.elapsed();
            }
        }
        panic!("the connection was not closed");
    };
    let mut handshake = bench.connect();
    handshake.write_all(&[4, 0, 0, 1, Opcode::Startup as u8, 0, 0, 10, 0]).unwrap();
    assert!(trickle(handshake) < Duration::from_secs(20));
    let mut client = Client::connect(&bench);
    client.stream.write_all(&[4, 0, 0, 1, Opcode::Query as u8, 0, 1, 0, 0]).unwrap();
    assert!(trickle(client.stream) < Duration::from_secs(20));
    bench.assert_alive();
}

#[test]
fn metrics_name_everything_an_operator_asks_for() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (k int PRIMARY KEY, v int)");
    client.run("INSERT INTO k.t (k, v) VALUES (1, 1)");
    client.run("INSERT INTO k.t (k, v) VALUES (2, 1) IF NOT EXISTS");
    client.run("BEGIN BATCH INSERT INTO k.t (k, v) VALUES (3, 1); APPLY BATCH");
    client.rows("SELECT * FROM k.t WHERE k = 1");
    client.ask(&Request::Prepare { query: "SELECT * FROM k.t", keyspace: None });
    client.query("SELECT nothing");
    client.query("SELECT * FROM k.absent");
    let text = bench.get("/metrics");
    for operation in ["read", "write", "conditional", "batch", "prepare", "schema", "other"] {
        let line = format!("partita_request_seconds_count{{operation=\"{operation}\"}} ");
        let count = text.lines().find_map(|l| l.strip_prefix(&line)).unwrap_or_else(|| panic!("no {line}"));
        assert_ne!(count, "0", "{operation}");
        assert!(
            text.contains(&format!(
                "partita_request_seconds_bucket{{operation=\"{operation}\",le=\"+Inf\"}}"
            ))
        );
    }
    for (class, count) in [("syntax", 1), ("invalid", 1), ("overloaded", 0), ("server", 0)] {
        let line = format!("partita_errors_total{{class=\"{class}\"}} {count}");
        assert!(text.lines().any(|l| l == line), "{line}");
    }
    for name in [
        "partita_connections{shard=\"0\"}",
        "partita_connections_opened_total{shard=\"1\"}",
        "partita_requests_in_flight{shard=\"0\"}",
        "partita_shard_queue_depth{shard=\"0\"}",
        "partita_shard_queue_depth{shard=\"1\"}",
        "partita_memory_bytes{budget=\"memtables\"}",
        "partita_memory_bytes{budget=\"statements\"}",
        "partita_memory_bytes{budget=\"requests\"}",
        "partita_memory_bytes_max{budget=\"memtables\"}",
        "partita_memory_bytes_max{budget=\"cache\"}",
        "partita_memory_bytes_max{budget=\"statements\"}",
        "partita_memory_bytes_max{budget=\"requests\"}",
        "partita_memory_bytes{budget=\"answers\"}",
        "partita_memory_bytes_max{budget=\"answers\"}",
        "partita_log_syncs_total",
        "partita_flushes_total",
        "partita_compactions_total",
        "partita_commits_total",
        "partita_reads_total",
        "process_resident_memory_bytes",
    ] {
        assert!(
            text.lines().any(|l| l.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '))),
            "{name}"
        );
    }
    assert!(bench.get("/health").contains("200 OK"));
    assert!(bench.get("/absent").contains("404"));
}

/// What no Cassandra could take is refused, unless whoever runs the server says otherwise.
#[test]
fn long_keys_and_indexed_values_need_an_option() {
    let long = "x".repeat(70_000);
    let key = format!("INSERT INTO k.t (p, c) VALUES (1, '{long}')");
    let indexed = format!("INSERT INTO k.t (p, c, v) VALUES (1, 'a', '{long}')");
    let found = format!("SELECT p FROM k.t WHERE v = '{long}'");
    for large_keys in [false, true] {
        let bench = Bench::start(|config| config.limits.large_keys = large_keys);
        let mut client = Client::connect(&bench);
        client
            .run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        client.run("CREATE TABLE k.t (p int, c text, v text, PRIMARY KEY (p, c))");
        client.run("CREATE INDEX ON k.t (v)");
        let answers = [client.query(&key), client.query(&indexed), client.query(&found)];
        match large_keys {
            true => assert_eq!(answers[2], Answer::Rows(1)),
            false => {
                let texts = answers.map(|answer| match answer {
                    Answer::Error(0x2200, text) => text,
                    other => panic!("{other:?}"),
                });
                assert_eq!(texts[0], "Key length of 70000 is longer than maximum of 65535");
                assert!(
                    texts[1].starts_with("Cannot index value of size 70000 for index t_v_idx on k.t(v)"),
                    "{}",
                    texts[1]
                );
                assert_eq!(texts[2], "Index expression values may not be larger than 64K");
            }
        }
    }
}

/// Parsing takes many times the memory of the text, so texts have a limit of their own.
#[test]
fn a_statement_text_over_the_limit_is_refused_before_it_is_parsed() {
    let bench = Bench::start(|config| config.limits.statement_text_bytes_max = 100_000);
    let mut client = Client::connect(&bench);
    let text = |bytes: usize| format!("SELECT key FROM system.local -- {}", "x".repeat(bytes - 32));
    assert_eq!(client.query(&text(100_000)), Answer::Rows(1));
    // Not even CQL: it is not looked at.
    for long in [text(100_001), "x".repeat(2_000_000)] {
        let Answer::Error(code, message) = client.query(&long) else { panic!("an answer") };
        assert_eq!(code, 0x2200);
        assert!(message.contains("the limit is 100000 (--statement-text-kib-max)"), "{message}");
    }
    assert_eq!(client.query("SELECT key FROM system.local"), Answer::Rows(1));
}

#[test]
fn long_messages_that_arrive_in_parts_share_one_budget() {
    let _alone = alone();
    let bench = Bench::start(|config| {
        config.limits.memory_bytes_max = Some(624 << 20);
        config.limits.message_timeout = Duration::from_secs(3);
    });
    let before = memory_kib();
    // 60 connections send all but the end of a message of 12 MiB: 720 MiB, if the server took them.
    let mut message = vec![4, 0, 0, 1, Opcode::Query as u8];
    message.extend_from_slice(&(12u32 << 20).to_be_bytes());
    message.resize(12 << 20, b' ');
    let message = &message;
    let mut most = 0;
    std::thread::scope(|scope| {
        for _ in 0..60 {
            let mut client = Client::connect(&bench);
            scope.spawn(move || {
                // The server stops reading, and cuts off who keeps it waiting.
                let _ = client.stream.write_all(message);
                let mut byte = [0];
                let _ = client.stream.read(&mut byte);
            });
        }
        // Meanwhile others are served.
        for _ in 0..50 {
            bench.assert_alive();
            most = most.max(memory_kib());
            std::thread::yield_now();
        }
        assert!(bench.metric("partita_memory_bytes_max") <= (624 << 20) as f64);
    });
    let grown = most.max(memory_kib()).saturating_sub(before) >> 10;
    assert!(grown < 256, "grew by {grown} MiB");
    assert!(bench.metric("partita_memory_refused_total") > 0.0);
    // A connection gives its share back when it ends, which is a moment after the client hears of it.
    let nothing = |line: &str| line == "partita_memory_bytes{budget=\"work\"} 0";
    let deadline = Instant::now() + PATIENCE;
    while !bench.get("/metrics").lines().any(nothing) {
        assert!(Instant::now() < deadline, "something is still held");
    }
}

#[test]
fn long_lists_in_a_text_are_counted_before_they_are_parsed() {
    let _alone = alone();
    // 624 MiB in all leave some 48 MiB for work.
    let bench = Bench::start(|config| {
        config.limits.memory_bytes_max = Some(624 << 20);
        config.limits.statement_text_bytes_max = 4 << 20;
    });
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (k int PRIMARY KEY, v blob)");
    let list = vec!["1"; 1_000_000].join(",");
    match client.query(&format!("SELECT * FROM k.t WHERE k IN ({list})")) {
        Answer::Error(0x1001, text) => assert!(text.contains("bind values"), "{text}"),
        other => panic!("{other:?}"),
    }
    // As long, and harmless.
    client.run(&format!("INSERT INTO k.t (k, v) VALUES (1, 0x{})", "00".repeat(1_000_000)));
    let work = bench.get("/metrics");
    assert!(work.lines().any(|line| line == "partita_memory_bytes{budget=\"work\"} 0"), "{work}");
}
