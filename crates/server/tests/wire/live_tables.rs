//! The tables that show the running server: clients, prepared statements.

use crate::bench::{Answer, Bench, Client, PATIENCE};
use cql_wire::{Consistency, QueryParams, Request, ValueList, Version};
use std::io::{Read, Write};
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

#[test]
fn the_hottest_partition_is_named_first_with_its_share() {
    let bench = Bench::start(|config| config.shards = 2);
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client
        .run("CREATE TABLE k.orders (tenant text, day int, id int, v text, PRIMARY KEY ((tenant, day), id))");
    for n in 0..400 {
        let (tenant, day) = if n % 4 == 0 { ("small", n) } else { ("acme", 7) };
        client
            .run(&format!("INSERT INTO k.orders (tenant, day, id, v) VALUES ('{tenant}', {day}, {n}, 'x')"));
    }
    for _ in 0..50 {
        client.run("SELECT v FROM k.orders WHERE tenant = 'acme' AND day = 7 LIMIT 3");
        client.run("UPDATE k.orders SET v = 'y' WHERE tenant = 'acme' AND day = 7 AND id = 1 IF v = 'z'");
    }
    let double = |cell: &Option<Vec<u8>>| f64::from_be_bytes(cell.as_deref().unwrap().try_into().unwrap());
    let shown = "SELECT keyspace_name, table_name, partition_key, writes_per_s, reads_per_s, refused_per_s, share, error \
                 FROM system_views.hot_partitions WHERE window = 'minute' LIMIT 1";
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "not everything was shown");
        let reply = client.rows(shown);
        // Each shard is shown once a second; the last operation on the key is a refused condition.
        let Some(refused) = reply.cells.get(5).map(&double) else { continue };
        let (writes, reads) = (double(&reply.cells[3]), double(&reply.cells[4]));
        if refused == 0.0 || (writes / refused - 6.0).abs() > 0.01 {
            continue;
        }
        assert_eq!(&reply.texts()[..3], ["k", "orders", "acme:7"]);
        // A condition reads as well.
        assert!((reads / refused - 2.0).abs() < 0.01, "{reads} {refused}");
        let share = double(&reply.cells[6]);
        assert!((share - 400.0 / 500.0).abs() < 0.001, "{share}");
        assert_eq!(double(&reply.cells[7]), 0.0);
        break;
    }
    let load = client.rows("SELECT top_1, top_10 FROM system_views.table_load WHERE keyspace_name = 'k' AND table_name = 'orders' AND window = 'minute'");
    assert!((double(&load.cells[0]) - 0.8).abs() < 0.001, "{load:?}");
    assert!(double(&load.cells[1]) > 0.8);
}

#[test]
fn patterns_are_bound_to_statements_by_shape_and_others_are_listed() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE k.events (id int, at int, v text, PRIMARY KEY (id, at))");
    client.run(
        "CREATE ACCESS PATTERN k.newest AS SELECT v FROM k.events WHERE id = ? ORDER BY at DESC LIMIT 10 WITH row_bytes = 1",
    );
    client.run("CREATE ACCESS PATTERN k.record AS INSERT INTO k.events (id, at, v) VALUES (?, ?, ?) WITH peak_rate = 100000");
    let int = |n: i32| n.to_be_bytes();
    for n in 0..20 {
        client.run(&format!("INSERT INTO k.events (id, at, v) VALUES (1, {n}, 'text')"));
        let mut values = ValueList::new();
        values.push(cql_wire::Value::Bytes(&int(1)));
        assert_eq!(
            client.execute("SELECT * FROM k.events WHERE id = ? ORDER BY at DESC LIMIT 5", &values).answer,
            Answer::Rows((n as usize + 1).min(5))
        );
    }
    // The other order, no limit, other columns: other shapes.
    client.run("SELECT v FROM k.events WHERE id = 1 LIMIT 5");
    client.run("SELECT v FROM k.events WHERE id = 1 AND at > 3 ORDER BY at DESC LIMIT 5");
    assert!(matches!(
        client.query("SELECT v FROM k.events WHERE id = 1 AND at > 3 LIMIT 0"),
        Answer::Error(..)
    ));
    let shown = client.rows("SELECT pattern_name, status, calls, rows_per_call, detail FROM system_views.access_patterns WHERE keyspace_name = 'k'");
    let number = |cell: &Option<Vec<u8>>| i64::from_be_bytes(cell.as_deref().unwrap().try_into().unwrap());
    let texts = shown.texts();
    assert_eq!([&texts[0], &texts[1], &texts[5], &texts[6]], ["newest", "breached", "record", "within"]);
    assert_eq!((number(&shown.cells[2]), number(&shown.cells[7])), (20, 20));
    let rows = f64::from_be_bytes(shown.cells[3].as_deref().unwrap().try_into().unwrap());
    assert!((rows - 4.5).abs() < 0.01, "{rows}");
    assert!(texts[4].starts_with("row_bytes ") && texts[4].ends_with("of 1: breached"), "{}", texts[4]);
    let others = client.rows(
        "SELECT statement, class, declare FROM system_views.unmatched_statements WHERE keyspace_name = 'k'",
    );
    let texts = others.texts();
    assert_eq!(texts.len(), 9, "{texts:?}");
    assert_eq!(texts[0], "SELECT * FROM k.events WHERE id = ? AND at > ? LIMIT 0");
    assert_eq!(texts[1], "single");
    // What is proposed can be declared, and then it is matched.
    for declare in texts.iter().skip(2).step_by(3) {
        client.run(declare);
    }
    assert_eq!(
        client.query("SELECT * FROM system_views.unmatched_statements WHERE keyspace_name = 'k'"),
        Answer::Rows(0)
    );
}

/// One request of the DynamoDB API, as an SDK sends it.
fn dynamo(bench: &Bench, operation: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(bench.listener("dynamo")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=any/20261118/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\n\
         X-Amz-Date: 20261118T000000Z\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{operation}: {answer}");
    answer
}

#[test]
fn operations_of_the_dynamodb_api_are_counted_by_key_too() {
    let bench = Bench::start(|_| {});
    dynamo(
        &bench,
        "CreateTable",
        r#"{"TableName": "orders", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]}"#,
    );
    for n in 0..30 {
        let key = if n % 3 == 0 { format!("other-{n}") } else { "acme".into() };
        dynamo(
            &bench,
            "PutItem",
            &format!(r#"{{"TableName": "orders", "Item": {{"pk": {{"S": "{key}"}}, "v": {{"S": "x"}}}}}}"#),
        );
        dynamo(
            &bench,
            "GetItem",
            &format!(r#"{{"TableName": "orders", "Key": {{"pk": {{"S": "{key}"}}}}}}"#),
        );
    }
    let mut client = Client::connect(&bench);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let shown = client.rows(
            "SELECT keyspace_name, table_name, partition_key, share FROM system_views.hot_partitions WHERE window = 'minute' LIMIT 1",
        );
        let share = shown
            .cells
            .get(3)
            .and_then(|cell| cell.as_deref()?.try_into().ok())
            .map_or(0.0, f64::from_be_bytes);
        if shown.texts().get(..3) == Some(&["dynamo".to_string(), "orders".into(), "acme".into()][..])
            && share > 0.6
        {
            break;
        }
        assert!(Instant::now() < deadline, "{:?} {share}", shown.texts());
    }
}
