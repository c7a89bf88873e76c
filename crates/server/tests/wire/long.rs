//! Messages of megabytes, in every form that a connection can have: what arrives is what was sent.

use crate::bench::{Answer, Bench, Client};
use cql_wire::{Consistency, QueryParams, Request, Value, ValueList, Version};

/// The forms of a connection.
const FORMS: [(Version, &[(&str, &str)]); 6] = [
    (Version::V3, &[]),
    (Version::V4, &[]),
    (Version::V4, &[("COMPRESSION", "lz4")]),
    (Version::V4, &[("COMPRESSION", "snappy")]),
    (Version::V5, &[]),
    (Version::V5, &[("COMPRESSION", "lz4")]),
];

const ROWS: i32 = 25;

/// Bytes that compress a little and differ everywhere.
fn value(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|at| if at % 3 == 0 { b'.' } else { next() as u8 }).collect()
}

fn values(of: &[&[u8]]) -> ValueList {
    let mut list = ValueList::new();
    of.iter().for_each(|bytes| assert!(list.push(Value::Bytes(bytes))));
    list
}

#[test]
fn long_answers_arrive_whole_in_every_form() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client
        .run("CREATE KEYSPACE long WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE long.t (k int, c int, v blob, PRIMARY KEY (k, c))");
    let expected: Vec<Vec<u8>> = (0..ROWS).map(|c| value(c as u64, 200_000 + 1_000 * c as usize)).collect();
    for (c, bytes) in expected.iter().enumerate() {
        let list = values(&[&1i32.to_be_bytes(), &(c as i32).to_be_bytes(), bytes]);
        let reply = client.query_with("INSERT INTO long.t (k, c, v) VALUES (?, ?, ?)", &list);
        assert_eq!(reply.answer, Answer::Other);
    }
    let check = |cells: &[Option<Vec<u8>>], form: &dyn std::fmt::Debug| {
        assert_eq!(cells.len(), expected.len(), "{form:?}");
        let same = cells.iter().zip(&expected).all(|(cell, value)| cell.as_ref() == Some(value));
        assert!(same, "the values of {form:?} differ");
    };
    for form in FORMS {
        let mut client = Client::with(&bench, form.0, form.1);
        for _ in 0..2 {
            check(&client.rows("SELECT v FROM long.t WHERE k = 1").cells, &form);
        }
        // Its trace is written before the answer leaves.
        let query = "SELECT v FROM long.t WHERE k = 1";
        let traced = client.traced(&Request::Query { query, params: QueryParams::new(Consistency::One) });
        check(&traced.cells, &form);
        // In pages, the place of the next one is inserted before the rows.
        let mut cells = Vec::new();
        let mut state: Option<Vec<u8>> = None;
        loop {
            let params = QueryParams {
                page_size: Some(9),
                paging_state: state.as_deref(),
                ..QueryParams::new(Consistency::One)
            };
            let page = client.ask(&Request::Query { query, params });
            cells.extend(page.cells);
            state = page.paging_state;
            if state.is_none() {
                break;
            }
        }
        check(&cells, &form);
        assert_eq!(client.query("SELECT key FROM system.local"), Answer::Rows(1));
    }
    bench.assert_alive();
}

#[test]
fn long_requests_arrive_whole_in_every_form() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client
        .run("CREATE KEYSPACE long WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE long.t (k int PRIMARY KEY, v blob)");
    for (number, form) in FORMS.into_iter().enumerate() {
        let mut writer = Client::with(&bench, form.0, form.1);
        // Around the length from which a message keeps its buffer, and far above.
        for (at, length) in [65_000, 65_536, 300_000, 1 << 20, 9_000_000].into_iter().enumerate() {
            let (key, bytes) = ((10 * number + at) as i32, value(at as u64 + 7, length));
            let list = values(&[&key.to_be_bytes(), &bytes]);
            let reply = writer.query_with("INSERT INTO long.t (k, v) VALUES (?, ?)", &list);
            assert_eq!(reply.answer, Answer::Other, "{form:?} {length}");
            let read = client.query_with("SELECT v FROM long.t WHERE k = ?", &values(&[&key.to_be_bytes()]));
            assert!(read.cells == [Some(bytes)], "{form:?} {length}: another value came back");
        }
    }
}
