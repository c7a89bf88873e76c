//! The tables that show the running server: clients, prepared statements.

use crate::bench::{Answer, Bench, Client, PATIENCE};
use cql_wire::{Consistency, QueryParams, Request, ValueList, Version};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Instant;

#[test]
fn clients_are_listed_while_they_are_connected() {
    let bench = Bench::start(|_| {});
    let mut watcher = Client::connect(&bench);
    let mut other = Client::with(&bench, Version::V5, &[("DRIVER_NAME", "probe"), ("DRIVER_VERSION", "1.2")]);
    other.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    other.run("USE k");
    let port = other.stream.local_addr().unwrap().port();
    let text = "SELECT driver_name, driver_version, keyspace_name, username, connection_stage, protocol_version, \
                request_count, ssl_enabled FROM system_views.clients WHERE address = '127.0.0.1' AND port = ";
    let shown = watcher.rows(&format!("{text}{port}"));
    assert_eq!(&shown.texts()[..5], ["probe", "1.2", "k", "anonymous", "ready"]);
    assert_eq!(shown.cells[5].as_deref(), Some(&[0, 0, 0, 5][..]));
    assert_eq!(shown.cells[6].as_deref(), Some(&2i64.to_be_bytes()[..]));
    assert_eq!(shown.cells[7].as_deref(), Some(&[0][..]));
    assert_eq!(watcher.query("SELECT port FROM system_views.clients"), Answer::Rows(2));
    drop(other);
    let deadline = Instant::now() + PATIENCE;
    while watcher.query(&format!("{text}{port}")) != Answer::Rows(0) {
        assert!(Instant::now() < deadline, "a client that left is still listed");
    }
}

#[test]
fn long_options_are_shown_whole_and_endless_ones_cut() {
    let bench = Bench::start(|_| {});
    let (long, endless) = ("c".repeat(4000), "é".repeat(20_000));
    let options = [("DRIVER_CONFIG", long.as_str()), ("ZZ", endless.as_str())];
    let mut client = Client::with(&bench, Version::V4, &options);
    let shown =
        client.rows("SELECT client_options['DRIVER_CONFIG'], client_options['ZZ'] FROM system_views.clients");
    let texts = shown.texts();
    assert_eq!(texts[0], long);
    assert!(
        endless.starts_with(&texts[1]) && (8_000..17_000).contains(&texts[1].len()),
        "{}",
        texts[1].len()
    );
}

#[test]
fn roles_are_shown_once_they_have_logged_in() {
    let bench = Bench::start(|config| config.auth = server::config::Auth::Password);
    let mut client = Client::connect(&bench);
    let refused = client.ask(&Request::AuthResponse(Some(b"\0cassandra\0wrong")));
    assert!(matches!(refused.answer, Answer::Error(0x0100, _)), "{:?}", refused.answer);
    assert_eq!(client.ask(&Request::AuthResponse(Some(b"\0cassandra\0cassandra"))).answer, Answer::Other);
    let shown = client.rows("SELECT username, connection_stage FROM system_views.clients");
    assert_eq!(shown.texts(), ["cassandra", "ready"]);
}

#[test]
fn prepared_statements_are_listed() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    let query = "SELECT rack FROM system.local WHERE key = ?";
    let prepared = client.ask(&Request::Prepare { query, keyspace: None });
    let shown = client.rows("SELECT prepared_id, query_string FROM system.prepared_statements");
    let pairs: Vec<_> = shown.cells.chunks(2).collect();
    let found = pairs.iter().find(|pair| pair[0].as_ref() == Some(&prepared.prepared_id));
    assert_eq!(found.expect("the statement is listed")[1].as_deref(), Some(query.as_bytes()));
    let mut values = ValueList::new();
    values.push(cql_wire::Value::Bytes(b"local"));
    assert_eq!(client.execute(query, &values).answer, Answer::Rows(1));
}

#[test]
fn a_dropped_table_takes_its_prepared_statements_with_it() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    let create = "CREATE TABLE k.t (a int PRIMARY KEY)";
    client.run(create);
    let query = "SELECT a FROM k.t WHERE a = ?";
    let id = client.ask(&Request::Prepare { query, keyspace: None }).prepared_id;
    let listed = |client: &mut Client| {
        client.rows("SELECT prepared_id FROM system.prepared_statements").cells.contains(&Some(id.clone()))
    };
    assert!(listed(&mut client));
    client.run("DROP TABLE k.t");
    client.run(create);
    assert!(!listed(&mut client), "its table is gone; the new one only has its name");
    client.ask(&Request::Prepare { query, keyspace: None });
    assert!(listed(&mut client));
}

#[test]
fn a_trace_tells_what_the_client_chose() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    let mut params = QueryParams::new(Consistency::LocalOne);
    params.page_size = Some(77);
    params.serial_consistency = Some(Consistency::LocalSerial);
    client.traced(&Request::Query { query: "SELECT rack FROM system.local", params });
    let parameters = client.rows("SELECT parameters FROM system_traces.sessions").texts().concat();
    for told in ["LOCAL_ONE", "LOCAL_SERIAL", "page_size", "77", "SELECT rack FROM system.local"] {
        assert!(parameters.contains(told), "{told} in {parameters}");
    }
}

#[test]
fn clients_are_told_an_address_that_they_can_connect_to() {
    let told = |bench: &Bench| {
        let shown = Client::connect(bench).rows("SELECT rpc_address, rpc_port FROM system.local");
        let address: [u8; 4] = shown.cells[0].as_deref().unwrap().try_into().unwrap();
        let port: [u8; 4] = shown.cells[1].as_deref().unwrap().try_into().unwrap();
        SocketAddr::from((address, i32::from_be_bytes(port) as u16))
    };
    let loopback = Bench::start(|_| {});
    assert_eq!(told(&loopback).ip(), Ipv4Addr::LOCALHOST);
    let advertised = Bench::start(|config| config.advertise = Some(Ipv4Addr::new(192, 0, 2, 77).into()));
    assert_eq!(told(&advertised).ip(), Ipv4Addr::new(192, 0, 2, 77));
    // Whatever addresses this machine has, the one that is told leads to the server.
    let everywhere = Bench::start(|config| config.cql = (Ipv4Addr::UNSPECIFIED, 0).into());
    let address = told(&everywhere);
    assert!(!address.ip().is_unspecified());
    TcpStream::connect(address).unwrap();
    let route = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    if route.connect("198.51.100.1:9").is_ok() {
        assert!(!address.ip().is_loopback(), "{address} is of no use to clients elsewhere");
    }
}
