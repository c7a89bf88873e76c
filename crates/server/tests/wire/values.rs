//! Values whose bytes a client chooses, and the protocol version that is still beta: what the drivers' own suites send.

use crate::bench::{Answer, Bench, Client};
use cql_wire::{Value, ValueList, Version};

const KEYSPACE: &str =
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

fn elements(numbers: &[i32]) -> Vec<u8> {
    let count = numbers.len() as i32;
    let parts = numbers.iter().flat_map(|n| [4i32.to_be_bytes(), n.to_be_bytes()]);
    [count.to_be_bytes()].into_iter().chain(parts).flatten().collect()
}

/// Writes bytes to a column of the type and reads them back.
fn kept(client: &mut Client, data_type: &str, bytes: &[u8]) -> Vec<u8> {
    client.run("DROP TABLE IF EXISTS k.t");
    client.run(&format!("CREATE TABLE k.t (k int PRIMARY KEY, v {data_type})"));
    let mut values = ValueList::new();
    values.push(Value::Bytes(bytes));
    let reply = client.execute("INSERT INTO k.t (k, v) VALUES (1, ?)", &values);
    assert!(!matches!(reply.answer, Answer::Error(..)), "{data_type}: {:?}", reply.answer);
    client.rows("SELECT v FROM k.t").cells.remove(0).unwrap()
}

/// The same as a Cassandra 5.0.6 was seen to do.
#[test]
fn sets_are_put_in_order_except_inside_vectors_and_tuples() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    let (sent, ordered) = (elements(&[2, 1, 2]), elements(&[1, 2]));
    assert_eq!(kept(&mut client, "set<int>", &sent), ordered);
    assert_eq!(kept(&mut client, "frozen<set<int>>", &sent), ordered);
    let in_vector = [&[sent.len() as u8][..], &sent].concat();
    assert_eq!(kept(&mut client, "vector<set<int>, 1>", &in_vector), in_vector);
    let in_tuple = [&(sent.len() as i32).to_be_bytes()[..], &sent].concat();
    assert_eq!(kept(&mut client, "tuple<set<int>>", &in_tuple), in_tuple);
    let counters = [&[8][..], &7i64.to_be_bytes(), &[8], &9i64.to_be_bytes()].concat();
    assert_eq!(kept(&mut client, "vector<counter, 2>", &counters), counters);
}

#[test]
fn composite_columns_take_texts() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (k int PRIMARY KEY, v 'CompositeType(AsciiType, Int32Type)')");
    client.run("INSERT INTO k.t (k, v) VALUES (1, 'abc:123')");
    let cells = client.rows("SELECT v FROM k.t").cells;
    assert_eq!(cells[0].as_deref(), Some(&b"\0\x03abc\0\0\x04\0\0\0\x7b\0"[..]));
    client.run("CREATE TYPE k.u (a int, b 'DynamicCompositeType(s => UTF8Type)')");
    let types = client.rows("SELECT field_types FROM system_schema.types WHERE keyspace_name = 'k'").cells;
    let text = String::from_utf8_lossy(types[0].as_deref().unwrap()).into_owned();
    assert!(text.contains("(s=>org.apache.cassandra.db.marshal.UTF8Type)"), "{text}");
}

#[test]
fn a_client_that_accepts_beta_versions_is_served_in_the_newest() {
    let bench = Bench::start(|_| {});
    let mut client = Client::with(&bench, Version::V6, &[]);
    client.run(KEYSPACE);
    assert_eq!(kept(&mut client, "int", &[0, 0, 0, 5]), [0, 0, 0, 5]);
}
