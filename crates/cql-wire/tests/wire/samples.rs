//! One example of every message, per version. The golden files hold their bytes.

use cql_wire::{
    Acknowledgements, Batch, BatchList, BatchQuery, BatchType, ChangeKind, ChangeTarget, ColumnSpec,
    Consistency, ErrorKind, ErrorMessage, Event, EventKind, Prepared, Protocol, QueryParams, Request,
    Response, Rows, SchemaChange, StartupOptions, StatusChange, TopologyChange, Value, ValueList, Version,
    WireType, WriteType, flags,
};
use std::net::{IpAddr, SocketAddr};

/// The versions that the peers in these tests know; the beta version is compared with v5.
pub const STABLE: [Version; 3] = [Version::V3, Version::V4, Version::V5];

/// Messages borrow; samples live as long as the test process.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Name, header flags, request; the same as `golden/make_requests.py` makes, in its order.
pub fn requests(version: Version) -> Vec<(&'static str, u8, Request<'static>)> {
    let mut options = StartupOptions::new();
    options.set("COMPRESSION", "lz4").set("CQL_VERSION", "3.4.7");
    let keyspace = |name: &'static str| Some(name).filter(|_| version >= Version::V5);
    let insert = "INSERT INTO t (k, v) VALUES (?, ?)";
    let mut samples = vec![
        ("startup", 0, Request::Startup(leak(options).as_startup())),
        ("auth_response", 0, Request::AuthResponse(Some(b"\0user\0password"))),
        ("options", 0, Request::Options),
        ("query_minimal", 0, query("SELECT * FROM ks.t", QueryParams::new(Consistency::One))),
        ("query_full", 0, query("SELECT v FROM t WHERE k = 'ä'", full_params(keyspace("ks")))),
        ("prepare", 0, Request::Prepare { query: insert, keyspace: None }),
    ];
    if version >= Version::V5 {
        samples.push(("prepare_keyspace", 0, Request::Prepare { query: insert, keyspace: Some("ks") }));
    }
    samples.push(("execute", 0, execute(version)));
    samples.push(("batch", 0, batch()));
    if version >= Version::V5 {
        let mut list = BatchList::new();
        list.push(BatchQuery::Prepared(&[1]), ValueList::new().as_values());
        let params = QueryParams { keyspace: Some("other"), ..QueryParams::new(Consistency::All) };
        let statements = leak(list).as_statements();
        let batch = Batch { batch_type: BatchType::Counter, statements, params };
        samples.push(("batch_keyspace", 0, Request::Batch(batch)));
    }
    samples.push(("register", 0, Request::Register(EventKind::ALL.into_iter().collect())));
    if version >= Version::V4 {
        let traced = query("SELECT now() FROM system.local", QueryParams::new(Consistency::Two));
        samples.push(("query_payload_traced", flags::TRACING | flags::CUSTOM_PAYLOAD, traced));
    }
    samples
}

fn query(query: &'static str, params: QueryParams<'static>) -> Request<'static> {
    Request::Query { query, params }
}

fn full_params(keyspace: Option<&'static str>) -> QueryParams<'static> {
    QueryParams {
        serial_consistency: Some(Consistency::LocalSerial),
        page_size: Some(5000),
        paging_state: Some(&[1, 2, 3]),
        timestamp: Some(1_700_000_000_000_000),
        keyspace,
        ..QueryParams::new(Consistency::LocalQuorum)
    }
}

fn execute(version: Version) -> Request<'static> {
    let mut values: ValueList =
        [Value::Bytes(&[0, 0, 0, 7]), Value::Null, Value::Bytes(b"")].into_iter().collect();
    if version >= Version::V4 {
        values.push(Value::Unset);
    }
    Request::Execute {
        id: b"0123456789abcdef",
        result_metadata_id: Protocol::new(version).has_metadata_id().then_some(&b"fedcba9876543210"[..]),
        params: QueryParams {
            values: leak(values).as_values(),
            page_size: Some(100),
            timestamp: Some(5),
            ..QueryParams::new(Consistency::Quorum)
        },
    }
}

fn batch() -> Request<'static> {
    let mut list = BatchList::new();
    list.push(BatchQuery::Text("INSERT INTO t (k) VALUES (1)"), ValueList::new().as_values());
    let values: ValueList = [Value::Bytes(b"x"), Value::Null].into_iter().collect();
    list.push(BatchQuery::Prepared(&[0xAA, 0xBB]), values.as_values());
    Request::Batch(Batch {
        batch_type: BatchType::Unlogged,
        statements: leak(list).as_statements(),
        params: QueryParams {
            serial_consistency: Some(Consistency::Serial),
            timestamp: Some(9),
            ..QueryParams::new(Consistency::EachQuorum)
        },
    })
}

/// Every response kind, error code, event and type.
pub fn responses() -> Vec<(String, Response<'static>)> {
    let mut samples: Vec<(String, Response<'static>)> = vec![
        ("ready".into(), Response::Ready),
        ("authenticate".into(), Response::Authenticate("org.apache.cassandra.auth.PasswordAuthenticator")),
        ("auth_challenge".into(), Response::AuthChallenge(Some(b"more"))),
        ("auth_success".into(), Response::AuthSuccess(None)),
        ("supported".into(), supported()),
        ("void".into(), Response::Void),
        ("set_keyspace".into(), Response::SetKeyspace("ks")),
        ("rows_all_types".into(), rows_all_types()),
        ("rows_two_tables_more_pages".into(), rows_two_tables()),
        ("prepared_select".into(), prepared_select()),
        ("prepared_insert".into(), prepared_insert()),
    ];
    for (name, kind) in errors() {
        let message = format!("about {name}");
        samples.push((format!("error_{name}"), Response::Error(ErrorMessage::new(kind, message))));
    }
    for (name, change) in schema_changes() {
        samples.push((format!("schema_change_{name}"), Response::SchemaChange(change.clone())));
        samples.push((format!("event_schema_{name}"), Response::Event(Event::Schema(change))));
    }
    let v4: SocketAddr = "127.0.0.1:9042".parse().expect("address");
    let v6: SocketAddr = "[::1]:19042".parse().expect("address");
    for (name, event) in [
        ("new_node", Event::Topology { change: TopologyChange::NewNode, address: v4 }),
        ("removed_node", Event::Topology { change: TopologyChange::RemovedNode, address: v6 }),
        ("moved_node", Event::Topology { change: TopologyChange::MovedNode, address: v4 }),
        ("up", Event::Status { change: StatusChange::Up, address: v4 }),
        ("down", Event::Status { change: StatusChange::Down, address: v6 }),
    ] {
        samples.push((format!("event_{name}"), Response::Event(event)));
    }
    samples
}

fn supported() -> Response<'static> {
    let option =
        |key: &str, values: &[&str]| (key.to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
    let options = vec![
        option("CQL_VERSION", &["3.4.7"]),
        option("COMPRESSION", &["lz4", "snappy"]),
        option("PROTOCOL_VERSIONS", &["3/v3", "4/v4", "5/v5", "6/v6-beta"]),
    ];
    Response::Supported(options.into())
}

pub fn column(table: &str, name: &str, column_type: WireType) -> ColumnSpec {
    ColumnSpec { keyspace: "ks".into(), table: table.into(), name: name.into(), column_type }
}

fn boxed(element: WireType) -> Box<WireType> {
    Box::new(element)
}

/// Every type, some nested. Vectors are added by the tests that need them: decoding gives back a class name.
pub fn all_types() -> Vec<(&'static str, WireType)> {
    // The Python driver takes hex names without letters (61646472657373 = "address") in class names for numbers.
    let address = WireType::Udt {
        keyspace: "ks".into(),
        name: "place".into(),
        fields: vec![("town".into(), WireType::Text), ("zips".into(), WireType::List(boxed(WireType::Int)))],
    };
    vec![
        ("c_ascii", WireType::Ascii),
        ("c_bigint", WireType::Bigint),
        ("c_blob", WireType::Blob),
        ("c_boolean", WireType::Boolean),
        ("c_counter", WireType::Counter),
        ("c_decimal", WireType::Decimal),
        ("c_double", WireType::Double),
        ("c_float", WireType::Float),
        ("c_int", WireType::Int),
        ("c_timestamp", WireType::Timestamp),
        ("c_uuid", WireType::Uuid),
        ("c_text", WireType::Text),
        ("c_varint", WireType::Varint),
        ("c_timeuuid", WireType::Timeuuid),
        ("c_inet", WireType::Inet),
        ("c_date", WireType::Date),
        ("c_time", WireType::Time),
        ("c_smallint", WireType::Smallint),
        ("c_tinyint", WireType::Tinyint),
        ("c_duration", WireType::Duration),
        ("c_list", WireType::List(boxed(WireType::Date))),
        ("c_set", WireType::Set(boxed(WireType::Tuple(vec![WireType::Smallint, WireType::Text])))),
        ("c_map", WireType::Map(boxed(WireType::Text), boxed(WireType::Duration))),
        ("c_tuple", WireType::Tuple(vec![WireType::Int, address.clone()])),
        ("c_udt", address),
        ("c_custom", WireType::Custom("org.example.Geometry".into())),
    ]
}

fn rows_all_types() -> Response<'static> {
    let columns: Vec<ColumnSpec> =
        all_types().into_iter().map(|(name, column_type)| column("types", name, column_type)).collect();
    let mut cells = Vec::new();
    for _ in 0..columns.len() {
        cql_wire::put_bytes(&mut cells, None);
    }
    let column_count = columns.len();
    Response::Rows(Rows {
        columns: columns.into(),
        column_count,
        paging_state: None,
        changed_id: None,
        row_count: 1,
        cells: leak(cells),
    })
}

/// No global table; more pages. Empty and null cells.
fn rows_two_tables() -> Response<'static> {
    let columns = vec![column("a", "k", WireType::Int), column("b", "v", WireType::Text)];
    let mut cells = Vec::new();
    for cell in [Some(&[0, 0, 0, 1][..]), Some(b"x"), Some(&[0, 0, 0, 2]), None, None, Some(b"")] {
        cql_wire::put_bytes(&mut cells, cell);
    }
    Response::Rows(Rows {
        columns: columns.into(),
        column_count: 2,
        paging_state: Some(b"state"),
        changed_id: None,
        row_count: 3,
        cells: leak(cells),
    })
}

fn prepared_select() -> Response<'static> {
    Response::Prepared(Prepared {
        id: b"id-of-the-select"[..].into(),
        result_metadata_id: b"metadata-id"[..].into(),
        bind: vec![column("t", "k2", WireType::Int), column("t", "k1", WireType::Text)].into(),
        partition_key: vec![1, 0].into(),
        lwt_mark: false,
        result: vec![column("t", "v", WireType::Set(boxed(WireType::Uuid)))].into(),
    })
}

fn prepared_insert() -> Response<'static> {
    Response::Prepared(Prepared {
        id: b"id"[..].into(),
        result_metadata_id: b""[..].into(),
        bind: Vec::new().into(),
        partition_key: Vec::new().into(),
        lwt_mark: false,
        result: Vec::new().into(),
    })
}

pub fn errors() -> Vec<(&'static str, ErrorKind)> {
    let acknowledgements = Acknowledgements { consistency: Consistency::Quorum, received: 1, required: 2 };
    let failures = vec![(IpAddr::from([10, 0, 0, 1]), 1), (IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]), 0)];
    let (keyspace, function, table) = ("ks".to_owned(), "fn".to_owned(), "t".to_owned());
    vec![
        ("server", ErrorKind::Server),
        ("protocol", ErrorKind::Protocol),
        ("bad_credentials", ErrorKind::BadCredentials),
        ("unavailable", ErrorKind::Unavailable { consistency: Consistency::All, required: 3, alive: 1 }),
        ("overloaded", ErrorKind::Overloaded),
        ("bootstrapping", ErrorKind::Bootstrapping),
        ("truncate", ErrorKind::Truncate),
        (
            "write_timeout",
            ErrorKind::WriteTimeout { acknowledgements, write_type: WriteType::BatchLog, contentions: 0 },
        ),
        (
            "write_timeout_cas",
            ErrorKind::WriteTimeout { acknowledgements, write_type: WriteType::Cas, contentions: 7 },
        ),
        ("read_timeout", ErrorKind::ReadTimeout { acknowledgements, data_present: true }),
        (
            "read_failure",
            ErrorKind::ReadFailure { acknowledgements, failures: failures.clone(), data_present: false },
        ),
        (
            "function_failure",
            ErrorKind::FunctionFailure {
                keyspace: keyspace.clone(),
                function,
                argument_types: vec!["int".into(), "text".into()],
            },
        ),
        (
            "write_failure",
            ErrorKind::WriteFailure { acknowledgements, failures, write_type: WriteType::Simple },
        ),
        ("cdc_write_failure", ErrorKind::CdcWriteFailure),
        ("cas_write_unknown", ErrorKind::CasWriteUnknown { acknowledgements }),
        ("syntax", ErrorKind::Syntax),
        ("unauthorized", ErrorKind::Unauthorized),
        ("invalid", ErrorKind::Invalid),
        ("config", ErrorKind::Config),
        ("already_exists_table", ErrorKind::AlreadyExists { keyspace: keyspace.clone(), table }),
        ("already_exists_keyspace", ErrorKind::AlreadyExists { keyspace, table: String::new() }),
        ("unprepared", ErrorKind::Unprepared { id: vec![1, 2, 3] }),
        ("rate_limit", ErrorKind::RateLimit { operation: 1, rejected_by_coordinator: true }),
    ]
}

fn schema_changes() -> Vec<(&'static str, SchemaChange)> {
    let change =
        |kind: ChangeKind, target: ChangeTarget| SchemaChange { kind, keyspace: "ks".into(), target };
    let name = || "thing".to_owned();
    let argument_types = || vec!["int".to_owned(), "frozen<list<text>>".to_owned()];
    vec![
        ("keyspace", change(ChangeKind::Created, ChangeTarget::Keyspace)),
        ("table", change(ChangeKind::Updated, ChangeTarget::Table { name: name() })),
        ("type", change(ChangeKind::Dropped, ChangeTarget::Type { name: name() })),
        (
            "function",
            change(
                ChangeKind::Created,
                ChangeTarget::Function { name: name(), argument_types: argument_types() },
            ),
        ),
        (
            "aggregate",
            change(
                ChangeKind::Dropped,
                ChangeTarget::Aggregate { name: name(), argument_types: argument_types() },
            ),
        ),
    ]
}
