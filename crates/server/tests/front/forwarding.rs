//! What passes, and that it passes as it is.

use crate::bench::{Bench, Talk, until};
use crate::fake::{Asked, Fake, a_change, raw_answer};
use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Consistency, ErrorKind, EventKind, Opcode, QueryParams, Request,
    Response, Values, Version, flags,
};

#[test]
fn drivers_see_the_front_end_as_the_only_node() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    let cell = |client: &mut Talk, query: &str| client.query(query).cell();
    assert_eq!(
        cell(&mut client, "SELECT rpc_port FROM system.local"),
        i32::from(bench.address.port()).to_be_bytes()
    );
    assert_eq!(cell(&mut client, "SELECT cluster_name FROM system.local WHERE key = 'local'"), b"Fake");
    assert_eq!(cell(&mut client, "SELECT release_version FROM system.local"), b"5.0.6");
    assert_eq!(cell(&mut client, "SELECT data_center FROM system.local"), b"dc1");
    for peers in ["system.peers", "system.peers_v2"] {
        assert_eq!(cell(&mut client, &format!("SELECT count(*) FROM {peers}")), 0i64.to_be_bytes());
    }
    // Prepared too, as some drivers do.
    let id = client.prepare("SELECT cluster_name FROM system.local WHERE key = 'local'");
    assert_eq!(client.execute(&id).cell(), b"Fake");
    assert_eq!(node.asked(), [], "the node was asked nothing");
}

#[test]
fn what_a_node_says_reaches_the_client_byte_for_byte() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    for version in [Version::V3, Version::V4, Version::V5] {
        let mut client = Talk::connect(bench.address, version);
        let answer = client.query("SELECT raw");
        let expected = raw_answer(version);
        assert_eq!((answer.flags, answer.opcode), (expected[1], Opcode::Error), "{version}");
        assert_eq!(answer.body, expected[9..], "{version}");
    }
    assert_eq!(flags::TRACING | flags::WARNINGS | flags::CUSTOM_PAYLOAD, raw_answer(Version::V5)[1]);
}

#[test]
fn a_node_that_forgot_a_statement_is_told_again_and_the_client_never_hears_of_it() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    let (first, second) = (client.prepare("INSERT one"), client.prepare("INSERT two"));
    assert!(client.execute(&first).is_void());
    node.forget();
    assert!(client.execute(&first).is_void());
    node.forget();
    let mut list = BatchList::new();
    list.push(BatchQuery::Prepared(&first), Values::EMPTY);
    list.push(BatchQuery::Prepared(&second), Values::EMPTY);
    let batch = Batch {
        batch_type: BatchType::Logged,
        statements: list.as_statements(),
        params: QueryParams::new(Consistency::Quorum),
    };
    assert!(client.ask(&Request::Batch(batch)).is_void());
    assert_eq!(node.asked().iter().filter(|asked| **asked == Asked::Batch(2)).count(), 1);
    assert_eq!(bench.metric("prepared_again_total"), 3);
}

#[test]
fn a_front_end_that_does_not_know_a_statement_says_so() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    let error = client.execute(b"/INSERT by another front end").error();
    assert_eq!(error.kind, ErrorKind::Unprepared { id: b"/INSERT by another front end".to_vec() });
    assert_eq!(node.asked(), []);
}

#[test]
fn keyspaces_of_clients_do_not_mix_although_they_share_connections() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let (mut one, mut two) = (bench.client(), bench.client());
    one.query("USE Shop").read(|response| assert_eq!(*response, Response::SetKeyspace("shop")));
    one.query("SELECT 1");
    assert_eq!(node.last_keyspace().as_deref(), Some("shop"));
    two.query("SELECT 2");
    assert_eq!(node.last_keyspace(), None);
    let id = two.prepare("USE \"Other\"");
    two.execute(&id).read(|response| assert_eq!(*response, Response::SetKeyspace("Other")));
    two.query("SELECT 3");
    assert_eq!(node.last_keyspace().as_deref(), Some("Other"));
    one.query("SELECT 4");
    assert_eq!(node.last_keyspace().as_deref(), Some("shop"));
    let error = one.query("USE nowhere").error();
    assert_eq!((error.kind, &*error.message), (ErrorKind::Invalid, "Keyspace 'nowhere' does not exist"));
    one.query("SELECT 5");
    assert_eq!(node.last_keyspace().as_deref(), Some("shop"), "a keyspace that is none changes nothing");
}

#[test]
fn a_statement_is_prepared_again_in_the_keyspace_that_it_was_prepared_in() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    client.query("USE shop");
    let id = client.prepare("INSERT here");
    client.query("USE other");
    node.forget();
    assert!(client.execute(&id).is_void());
    assert_eq!(bench.metric("prepared_again_total"), 1);
}

#[test]
fn a_key_goes_to_the_node_that_owns_it() {
    // Halves of the ring.
    let (low, high) = (Fake::start(0), Fake::start(i64::MAX));
    let bench = Bench::before(&[&low, &high]);
    let mut client = bench.client();
    let id = client.prepare("INSERT of ?");
    // One connection to each node, before it is looked who gets what.
    until("both are connected", || bench.metric("node_connections_total") >= 2);
    for key in 0..20i32 {
        assert!(client.execute_with(&id, key).is_void());
        let owner = if model::token::murmur3(&key.to_be_bytes()).0 <= 0 { &low } else { &high };
        assert!(matches!(owner.asked().last(), Some(Asked::Execute(_))), "key {key}");
        let count =
            |node: &Fake| node.asked().iter().filter(|asked| matches!(asked, Asked::Execute(_))).count();
        assert_eq!(count(&low) + count(&high), key as usize + 1);
    }
    let count = |node: &Fake| node.asked().iter().filter(|asked| matches!(asked, Asked::Execute(_))).count();
    assert!(count(&low) > 3 && count(&high) > 3, "{} and {}", count(&low), count(&high));
}

#[test]
fn schema_changes_are_told_to_who_registered() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    let ready = client.ask(&Request::Register([EventKind::SchemaChange].into_iter().collect()));
    assert_eq!(ready.opcode, Opcode::Ready);
    assert!(node.has_listeners());
    // The connection subscribes right after it has answered.
    client.query("SELECT 1");
    node.tell(&a_change());
    let event = client.next().unwrap();
    assert_eq!((event.opcode, event.stream), (Opcode::Event, -1));
    event.read(|response| assert_eq!(*response, Response::Event(a_change())));
}

#[test]
fn missed_schema_changes_end_the_connections_that_wanted_to_hear_of_them() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let (mut registered, mut other) = (bench.client(), bench.client());
    registered.ask(&Request::Register([EventKind::SchemaChange].into_iter().collect()));
    registered.query("SELECT 1");
    node.schema_is(2);
    node.stumble();
    assert!(registered.next().is_none(), "it must look at the schema again");
    until("the node is back", || other.query("SELECT 2").opcode == Opcode::Result);
}
