//! Random messages come back as they were.

use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Consistency, Direction, ErrorMessage, EventKind, Protocol,
    QueryParams, Reply, Request, Response, Rows, StartupOptions, Value, ValueList, Version, WireType,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::golden::parse;
use crate::samples;

pub fn version() -> impl Strategy<Value = Version> {
    proptest::sample::select(Version::ALL.to_vec())
}

fn protocol() -> impl Strategy<Value = Protocol> {
    (version(), any::<bool>())
        .prop_map(|(version, metadata_id_extension)| Protocol { version, metadata_id_extension })
}

fn consistency() -> impl Strategy<Value = Consistency> {
    proptest::sample::select(Consistency::ALL.to_vec())
}

/// A value that every version can express, or UNSET.
#[derive(Debug, Clone)]
enum OwnedValue {
    Null,
    Unset,
    Bytes(Vec<u8>),
}

fn values(named: bool) -> impl Strategy<Value = Vec<(String, OwnedValue)>> {
    let value = prop_oneof![
        Just(OwnedValue::Null),
        Just(OwnedValue::Unset),
        vec(any::<u8>(), 0..40).prop_map(OwnedValue::Bytes),
    ];
    let name = if named { ".{0,10}" } else { "" };
    vec((name, value), 0..8)
}

fn value_list(values: &[(String, OwnedValue)], named: bool, version: Version) -> ValueList {
    let mut list = ValueList::new();
    for (name, value) in values {
        let value = match value {
            OwnedValue::Bytes(bytes) => Value::Bytes(bytes),
            OwnedValue::Unset if version >= Version::V4 => Value::Unset,
            OwnedValue::Null | OwnedValue::Unset => Value::Null,
        };
        if named {
            list.push_named(name, value)
        } else {
            list.push(value)
        };
    }
    list
}

#[derive(Debug, Clone)]
struct OwnedParams {
    consistency: Consistency,
    named: bool,
    values: Vec<(String, OwnedValue)>,
    skip_metadata: bool,
    page_size: Option<u32>,
    paging_state: Option<Vec<u8>>,
    serial_consistency: Option<Consistency>,
    timestamp: Option<i64>,
    keyspace: Option<String>,
    now_in_seconds: Option<u32>,
}

fn params() -> impl Strategy<Value = OwnedParams> {
    let values = any::<bool>().prop_flat_map(|named| (Just(named), values(named)));
    let paging = (proptest::option::of(1..=i32::MAX as u32), proptest::option::of(vec(any::<u8>(), 0..20)));
    let rest = (
        proptest::option::of(consistency()),
        proptest::option::of(i64::MIN + 1..=i64::MAX),
        proptest::option::of(".{0,10}"),
        proptest::option::of(any::<u32>()),
    );
    (consistency(), values, any::<bool>(), paging, rest).prop_map(
        |(consistency, values, skip, paging, rest)| OwnedParams {
            consistency,
            named: values.0 && !values.1.is_empty(),
            values: values.1,
            skip_metadata: skip,
            page_size: paging.0,
            paging_state: paging.1,
            serial_consistency: rest.0,
            timestamp: rest.1,
            keyspace: rest.2,
            now_in_seconds: rest.3,
        },
    )
}

impl OwnedParams {
    fn borrow<'a>(&'a self, list: &'a ValueList, version: Version) -> QueryParams<'a> {
        let v5 = version >= Version::V5;
        QueryParams {
            consistency: self.consistency,
            values: list.as_values(),
            skip_metadata: self.skip_metadata,
            page_size: self.page_size,
            paging_state: self.paging_state.as_deref(),
            serial_consistency: self.serial_consistency,
            timestamp: self.timestamp,
            keyspace: self.keyspace.as_deref().filter(|_| v5),
            now_in_seconds: self.now_in_seconds.filter(|_| v5),
        }
    }
}

fn check(protocol: Protocol, stream: i16, request: Request<'_>) {
    let mut bytes = Vec::new();
    request.encode(protocol, stream, 0, &mut bytes);
    let envelope = parse(&bytes, Direction::Request);
    assert_eq!(envelope.stream, stream);
    assert_eq!(Request::decode(protocol, &envelope), Ok(request));
}

proptest! {
    #[test]
    fn query_and_execute(
        protocol in protocol(), stream: i16, query in ".{0,60}", id in vec(any::<u8>(), 0..20), params in params()
    ) {
        let list = value_list(&params.values, params.named, protocol.version);
        let params = params.borrow(&list, protocol.version);
        check(protocol, stream, Request::Query { query: &query, params });
        let result_metadata_id = protocol.has_metadata_id().then_some(&id[..]);
        check(protocol, stream, Request::Execute { id: &id, result_metadata_id, params });
        let mut slots = [Value::Null; 8];
        let count = params.values.read_into(&mut slots);
        prop_assert_eq!(count, params.values.len());
        prop_assert!(params.values.iter().eq(slots.into_iter().take(count)));
        for (name, _) in params.values.iter_named().filter(|_| params.values.is_named()) {
            let first = params.values.iter_named().find(|(n, _)| *n == name).map(|(_, value)| value);
            prop_assert_eq!(params.values.by_name(name), first);
        }
    }

    #[test]
    fn batches(
        protocol in protocol(),
        statements in vec((any::<bool>(), ".{0,20}", values(false)), 0..5),
        params in params(),
        kind in proptest::sample::select(vec![BatchType::Logged, BatchType::Unlogged, BatchType::Counter]),
    ) {
        let mut list = BatchList::new();
        for (prepared, text, values) in &statements {
            let query =
                if *prepared { BatchQuery::Prepared(text.as_bytes()) } else { BatchQuery::Text(text) };
            list.push(query, value_list(values, false, protocol.version).as_values());
        }
        let none = ValueList::new();
        let params = QueryParams {
            skip_metadata: false, page_size: None, paging_state: None, ..params.borrow(&none, protocol.version)
        };
        let batch = Batch { batch_type: kind, statements: list.as_statements(), params };
        prop_assert_eq!(batch.statements.iter().len(), statements.len());
        check(protocol, 1, Request::Batch(batch));
    }

    #[test]
    fn other_requests(
        protocol in protocol(),
        options in vec(("[A-Z_]{1,12}", ".{0,12}"), 0..6),
        token in proptest::option::of(vec(any::<u8>(), 0..64)),
        query in ".{0,60}",
        keyspace in proptest::option::of("[a-z]{1,8}"),
        kinds in vec(proptest::sample::select(EventKind::ALL.to_vec()), 0..4),
    ) {
        let mut startup = StartupOptions::new();
        for (key, value) in &options {
            startup.set(key, value);
        }
        check(protocol, 1, Request::Startup(startup.as_startup()));
        check(protocol, 2, Request::AuthResponse(token.as_deref()));
        let keyspace = keyspace.as_deref().filter(|_| protocol.version >= Version::V5);
        check(protocol, 3, Request::Prepare { query: &query, keyspace });
        check(protocol, 4, Request::Register(kinds.into_iter().collect()));
    }

    #[test]
    fn rows(
        protocol in protocol(),
        types in vec(wire_type(), 0..6),
        row_count in 0_usize..20,
        paging_state in proptest::option::of(vec(any::<u8>(), 0..40)),
        changed_id in proptest::option::of(vec(any::<u8>(), 1..16)),
        warnings in vec(".{0,20}", 0..3),
    ) {
        let columns: Vec<_> =
            types.into_iter().enumerate().map(|(i, t)| samples::column("t", &format!("c{i}"), t)).collect();
        let mut cells = Vec::new();
        for index in 0..row_count * columns.len() {
            let cell = vec![index as u8; index % 5];
            cql_wire::put_bytes(&mut cells, (index % 7 != 0).then_some(&cell[..]));
        }
        let rows = Rows {
            column_count: columns.len(),
            columns: columns.into(),
            paging_state: paging_state.as_deref(),
            changed_id: changed_id.as_deref().filter(|_| protocol.has_metadata_id()),
            row_count,
            cells: &cells,
        };
        let reply = Reply { warnings: &warnings, ..Reply::new(protocol, 3) };
        let mut bytes = Vec::new();
        Response::Rows(rows.clone()).encode(&reply, &mut bytes);
        let envelope = parse(&bytes, Direction::Response);
        let (prefix, decoded) = Response::decode(protocol, &envelope).expect("well-formed");
        let warned = protocol.version >= Version::V4;
        prop_assert_eq!(prefix.warnings, if warned { warnings } else { Vec::new() });
        let Response::Rows(decoded) = decoded else { panic!("not rows") };
        prop_assert_eq!(decoded.iter_cells().count(), row_count * rows.column_count);
        prop_assert_eq!(decoded, rows);
    }

    #[test]
    fn long_error_texts_are_cut_at_a_character(repeats in 0_usize..40_000) {
        let kind = cql_wire::ErrorKind::Invalid;
        let error = ErrorMessage::new(kind, "ä".repeat(repeats));
        let mut bytes = Vec::new();
        Response::Error(error.clone()).encode(&Reply::new(Version::V4, 3), &mut bytes);
        let envelope = parse(&bytes, Direction::Response);
        let (_, decoded) = Response::decode(Version::V4.into(), &envelope).expect("well-formed");
        let Response::Error(decoded) = decoded else { panic!("not an error") };
        prop_assert_eq!(decoded.message, "ä".repeat(repeats.min(32_767)));
    }
}

/// Types whose decoded form equals the original: all but vectors.
pub fn wire_type() -> impl Strategy<Value = WireType> {
    let leaf = proptest::sample::select(samples::all_types()).prop_map(|(_, column_type)| column_type);
    leaf.prop_recursive(4, 16, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed.clone().prop_map(WireType::List),
            boxed.clone().prop_map(WireType::Set),
            (boxed.clone(), boxed).prop_map(|(key, value)| WireType::Map(key, value)),
            vec(inner.clone(), 0..4).prop_map(WireType::Tuple),
            vec(("[a-z]{1,6}", inner), 0..4).prop_map(|fields| WireType::Udt {
                keyspace: "ks".into(),
                name: "u".into(),
                fields
            }),
        ]
    })
}
