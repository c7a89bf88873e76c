//! Nodes that break, hang and come back.

use crate::bench::{Bench, until};
use crate::fake::{Asked, Fake};
use cql_wire::{
    Acknowledgements, Batch, BatchList, BatchQuery, BatchType, Consistency, ErrorKind, Opcode, QueryParams,
    Request, Values, WriteType,
};

fn query(query: &str) -> Request<'_> {
    Request::Query { query, params: QueryParams::new(Consistency::Quorum) }
}

#[test]
fn a_write_whose_answer_is_lost_is_a_write_timeout_and_is_never_sent_twice() {
    let (one, two) = (Fake::start(0), Fake::start(i64::MAX));
    let bench = Bench::before(&[&one, &two]);
    let mut client = bench.client();
    until("both are connected", || bench.metric("node_connections_total") >= 2);
    let acknowledgements = Acknowledgements { consistency: Consistency::Quorum, received: 0, required: 1 };
    let cases = [("INSERT hang", WriteType::Simple), ("UPDATE t SET hang = 1 IF v = 2", WriteType::Cas)];
    for (text, write_type) in cases {
        client.send(1, &query(text));
        let asked = Asked::Query(text.into());
        until("it has arrived", || one.asked().contains(&asked) || two.asked().contains(&asked));
        one.stumble();
        two.stumble();
        let error = client.next().unwrap().error();
        let expected = ErrorKind::WriteTimeout { acknowledgements, write_type, contentions: 0 };
        assert_eq!(error.kind, expected, "{text}");
        assert!(error.message.contains("not known"), "{}", error.message);
        let times = [&one, &two].map(|node| node.asked().iter().filter(|a| **a == asked).count());
        assert_eq!(times.iter().sum::<usize>(), 1, "{text} was sent once");
        until("they are back", || client.query("SELECT 1").opcode == Opcode::Result);
    }
    client.send(1, &query("CREATE hang"));
    let asked = Asked::Query("CREATE hang".into());
    until("it has arrived", || one.asked().contains(&asked) || two.asked().contains(&asked));
    one.stumble();
    two.stumble();
    assert_eq!(client.next().unwrap().error().kind, ErrorKind::Server);
}

#[test]
fn a_read_whose_answer_is_lost_is_asked_of_another_node() {
    let (one, two) = (Fake::start(0), Fake::start(i64::MAX));
    let bench = Bench::before(&[&one, &two]);
    let mut client = bench.client();
    until("both are connected", || bench.metric("node_connections_total") >= 2);
    client.send(1, &query("SELECT hang"));
    let asked = |node: &Fake| node.asked().contains(&Asked::Query("SELECT hang".into()));
    until("it has arrived", || asked(&one) || asked(&two));
    let (first, second) = if asked(&one) { (&one, &two) } else { (&two, &one) };
    first.go_down();
    until("the other is asked", || asked(second));
    second.go_down();
    let error = client.next().unwrap().error();
    assert!(matches!(error.kind, ErrorKind::ReadTimeout { .. }), "{error:?}");
    assert_eq!(bench.metric("sent_again_total"), 1);
}

#[test]
fn without_a_node_clients_are_told_at_once_and_served_again_when_one_is_back() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    assert_eq!(client.query("SELECT 1").opcode, Opcode::Result);
    node.go_down();
    until("it is noticed", || {
        let answer = client.query("INSERT one");
        answer.opcode == Opcode::Error
            && matches!(answer.error().kind, ErrorKind::Unavailable { alive: 0, .. })
    });
    node.come_up();
    until("it is back", || client.query("SELECT 2").opcode == Opcode::Result);
}

#[test]
fn a_node_has_so_many_requests_under_way_and_more_are_refused() {
    let node = Fake::start(0);
    // Two connections, since one may have no more under way than a node.
    let bench = Bench::before(&[&node]);
    let (mut one, mut two) = (bench.client(), bench.client());
    for stream in 0..1000 {
        one.send(stream, &query("INSERT hang"));
    }
    until("they have arrived", || node.asked().len() == 1000);
    for stream in 0..100 {
        two.send(stream, &query("INSERT hang"));
    }
    // 24 have found room.
    for _ in 24..100 {
        let error = two.next().unwrap().error();
        assert_eq!(error.kind, ErrorKind::Overloaded);
    }
    // A look whether the node is alive may have taken one of the places for a moment.
    assert!(bench.metric("overloaded_total") >= 76);
    until("the others have arrived", || node.asked().len() >= 1020);
    assert!(node.asked().len() <= 1024, "{}", node.asked().len());
}

#[test]
fn bytes_of_requests_under_way_are_bounded_and_given_back() {
    let node = Fake::start(0);
    let bench = Bench::start(&[&node], |config, cluster| {
        cluster.writes = true;
        config.limits.in_flight_bytes_max = 1 << 20;
    });
    let (mut one, mut two) = (bench.client(), bench.client());
    let long = format!("INSERT hang {}", "x".repeat(400 << 10));
    one.send(1, &query(&long));
    one.send(2, &query(&long));
    until("both have arrived", || node.asked().len() == 2);
    assert_eq!(two.query(&long).error().kind, ErrorKind::Overloaded);
    assert!(two.query("INSERT short").is_void());
    node.stumble();
    for _ in 0..2 {
        assert!(matches!(one.next().unwrap().error().kind, ErrorKind::WriteTimeout { .. }));
    }
    let long = long.replace("hang", "pass");
    until("there is room again", || two.query(&long).opcode == Opcode::Result);
}

#[test]
fn a_batch_whose_answer_is_lost_says_which_kind_it_was() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    let mut list = BatchList::new();
    list.push(BatchQuery::Text("INSERT 1"), Values::EMPTY);
    let batch = |batch_type| {
        Request::Batch(Batch {
            batch_type,
            statements: list.as_statements(),
            params: QueryParams::new(Consistency::Quorum),
        })
    };
    assert!(client.ask(&batch(BatchType::Unlogged)).is_void());
    // It is not there any more: not sent, so nothing can have happened.
    node.go_down();
    until("it is noticed", || {
        let answer = client.ask(&batch(BatchType::Unlogged));
        answer.opcode == Opcode::Error && matches!(answer.error().kind, ErrorKind::Unavailable { .. })
    });
}

/// A node that joins is used, one that leaves is not.
#[test]
fn the_front_end_follows_the_cluster() {
    let (one, two) = (Fake::start(0), Fake::start(i64::MAX));
    let bench = Bench::before(&[&one]);
    let mut client = bench.client();
    client.query("SELECT 1");
    Fake::join(&[&one, &two]);
    one.tell(&cql_wire::Event::Topology { change: cql_wire::TopologyChange::NewNode, address: two.address });
    until("the new node is asked", || {
        client.query("SELECT 2");
        !two.asked().is_empty()
    });
    assert_eq!(bench.metric("nodes"), 2);
}
