//! Golden bytes of every message in every version.
//!
//! `golden/requests.txt` and `golden/segments.txt` were made by the Python driver's encoders. `golden/responses.txt` was
//! written by this test (UPDATE_GOLDEN=1) and read back by the Python driver's decoders (`golden/check_responses.py`).

use crate::samples;
use cql_wire::{
    ClientCodec, ColumnSpec, Compression, Consistency, Direction, Envelope, Framing, HEADER_BYTES, Header,
    Opcode, Prepared, Protocol, QueryParams, Reply, Request, Response, RowsMetadata, RowsWriter, Version,
    WireType, flags, put_bytes,
};
use std::fmt::Write as _;

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string");
        text
    })
}

pub fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ascii"), 16).expect("hex"))
        .collect()
}

/// Splits one plain envelope, which must be whole and alone.
pub fn parse(bytes: &[u8], direction: Direction) -> Envelope<'_> {
    let header = Header::decode(bytes, direction).expect("valid header").expect("whole header");
    let body = &bytes[HEADER_BYTES..];
    assert_eq!(body.len(), header.length as usize);
    let opcode = Opcode::from_byte(header.opcode).expect("known opcode");
    Envelope { version: header.version, flags: header.flags, stream: header.stream, opcode, body }
}

fn golden_lines(text: &str) -> impl Iterator<Item = (&str, Version, Vec<u8>)> {
    text.lines().map(|line| {
        let mut words = line.split(' ');
        let mut word = || words.next().expect("three words");
        let (name, version, bytes) = (word(), word(), word());
        let version = Version::from_number(version.parse().expect("version")).expect("supported");
        (name, version, unhex(bytes))
    })
}

#[test]
fn requests_of_the_python_driver_decode_and_encode_to_the_same_bytes() {
    let mut golden = golden_lines(include_str!("golden/requests.txt"));
    for version in samples::STABLE {
        let protocol = Protocol::new(version);
        for (stream, (name, flags, request)) in samples::requests(version).into_iter().enumerate() {
            let (golden_name, golden_version, bytes) = golden.next().expect("a line per sample");
            assert_eq!((golden_name, golden_version), (name, version));
            let envelope = parse(&bytes, Direction::Request);
            assert_eq!((envelope.stream, envelope.flags), (stream as i16, flags), "{name}");
            assert_eq!(Request::decode(protocol, &envelope), Ok(request), "{name} {version}");
            assert_eq!(request.opcode(), envelope.opcode);
            if name != "query_payload_traced" {
                let mut encoded = Vec::new();
                request.encode(protocol, stream as i16, flags, &mut encoded);
                assert_eq!(hex(&encoded), hex(&bytes), "{name} {version}");
            }
        }
    }
    let rest: Vec<_> = golden.map(|(name, version, _)| (name, version)).collect();
    assert_eq!(rest, [("query_lz4", Version::V3), ("query_lz4", Version::V4)]);
}

/// Brings a connection to the point where `framing` holds, then feeds it `bytes` in pieces of `piece` bytes.
fn receive(version: Version, compression: Option<Compression>, bytes: &[u8], piece: usize) -> Vec<String> {
    let mut codec = crate::connection::ready_server(version, compression);
    let mut queries = Vec::new();
    for piece in bytes.chunks(piece) {
        codec.receive_buffer().extend_from_slice(piece);
        let protocol = codec.protocol();
        while let Some(envelope) = codec.next_envelope().expect("well-formed") {
            match Request::decode(protocol, &envelope).expect("well-formed") {
                Request::Query { query, .. } => queries.push(query.to_owned()),
                other => queries.push(format!("{}", other.opcode())),
            }
        }
    }
    assert!(!codec.is_partial());
    queries
}

#[test]
fn lz4_bodies_of_the_python_driver() {
    let expected = format!("SELECT {}b FROM t", "a, ".repeat(200));
    for (_, version, bytes) in
        golden_lines(include_str!("golden/requests.txt")).filter(|(name, ..)| *name == "query_lz4")
    {
        for piece in [1, 7, bytes.len()] {
            assert_eq!(receive(version, Some(Compression::Lz4), &bytes, piece), [expected.as_str()]);
        }
    }
}

#[test]
fn segments_of_the_python_driver() {
    let repetitive = format!("SELECT {}b FROM t", "a, ".repeat(100));
    for (name, version, bytes) in golden_lines(include_str!("golden/segments.txt")) {
        let (codec, content) = name.split_once('_').expect("two parts");
        let compression = (codec == "lz4").then_some(Compression::Lz4);
        let expected: &[&str] = match content {
            "one" => &["OPTIONS"],
            "two" => &["OPTIONS", "SELECT 1"],
            _ => &[&repetitive],
        };
        for piece in [1, 5, bytes.len()] {
            assert_eq!(receive(version, compression, &bytes, piece), expected, "{name}");
        }
        let framing = Framing::negotiated(version, compression);
        let mut plain = Vec::new();
        let protocol = Protocol::new(version);
        for (index, query) in expected.iter().enumerate() {
            let stream = index as i16 + if content == "repetitive" { 3 } else { 1 };
            let request = match *query {
                "OPTIONS" => Request::Options,
                query => Request::Query { query, params: QueryParams::new(Consistency::One) },
            };
            request.encode(protocol, stream, 0, &mut plain);
        }
        let mut framed = Vec::new();
        framing.frame(&plain, &mut framed);
        // Compressors may differ in their output, so compressed bytes are only compared by decoding them.
        if name == "lz4_repetitive" {
            assert_eq!(receive(version, compression, &framed, framed.len()), expected);
        } else {
            assert_eq!(hex(&framed), hex(&bytes), "{name}");
        }
    }
}

fn encoded(response: &Response<'_>, reply: &Reply<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    response.encode(reply, &mut out);
    out
}

/// All response samples, plus those that need a version, a prefix or a special writer.
fn response_bytes(version: Version) -> Vec<(String, Vec<u8>)> {
    let plain = Reply::new(version, 7);
    let mut lines: Vec<(String, Vec<u8>)> = samples::responses()
        .iter()
        .map(|(name, response)| (name.clone(), encoded(response, &plain)))
        .collect();
    let warnings = ["first".to_owned(), "second".to_owned()];
    let payload = [("tablets".to_owned(), vec![1, 2])];
    let prefixed =
        Reply { tracing_id: Some([9; 16]), warnings: &warnings, custom_payload: &payload, ..plain };
    lines.push(("void_prefixed".into(), encoded(&Response::SetKeyspace("ks"), &prefixed)));
    lines.push(("rows_skip_metadata".into(), rows(&plain, true, None, None)));
    lines.push(("rows_skip_metadata_more_pages".into(), rows(&plain, true, None, Some(b"next"))));
    if version == Version::V5 {
        lines.push(("rows_metadata_changed".into(), rows(&plain, true, Some(b"new-id"), None)));
        lines.push((
            "rows_metadata_changed_more_pages".into(),
            rows(&plain, false, Some(b"new-id"), Some(b"next")),
        ));
    }
    let vector = |element: WireType| WireType::Vector { element: Box::new(element), dimensions: 3 };
    let nested: Vec<(&str, WireType)> =
        samples::all_types().into_iter().map(|(name, element)| (name, vector(element))).collect();
    let columns: Vec<ColumnSpec> = nested
        .into_iter()
        .filter(|(name, _)| !["c_counter", "c_custom"].contains(name))
        .map(|(name, column_type)| samples::column("vectors", name, column_type))
        .collect();
    let mut out = Vec::new();
    RowsWriter::begin(&mut out, &plain, RowsMetadata::full(&columns)).finish(0, None);
    lines.push(("rows_vectors".into(), out));
    lines
}

fn rows(reply: &Reply<'_>, skip: bool, changed_id: Option<&[u8]>, paging_state: Option<&[u8]>) -> Vec<u8> {
    let columns: [ColumnSpec; 2] =
        [samples::column("t", "k", WireType::Int), samples::column("t", "v", WireType::Text)];
    let mut out = Vec::new();
    let mut writer = RowsWriter::begin(
        &mut out,
        reply,
        RowsMetadata { columns: &columns, skip, changed_id, written: None },
    );
    put_bytes(writer.buffer(), Some(&[0, 0, 0, 1]));
    put_bytes(writer.buffer(), None);
    assert_eq!(writer.row_bytes(), 12);
    writer.finish(1, paging_state);
    out
}

#[test]
fn responses_have_the_bytes_that_the_python_driver_understood() {
    let mut text = String::new();
    for version in samples::STABLE {
        for (name, bytes) in response_bytes(version) {
            writeln!(text, "{name} {} {}", version.number(), hex(&bytes)).expect("writing to a string");
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/golden/responses.txt");
        std::fs::write(path, &text).expect("golden file written");
        panic!("the golden file is new; judge it with check_responses.py and run without UPDATE_GOLDEN");
    }
    for (got, golden) in text.lines().zip(include_str!("golden/responses.txt").lines()) {
        assert_eq!(got, golden);
    }
    assert_eq!(text.lines().count(), include_str!("golden/responses.txt").lines().count());
}

/// As a Cassandra 5.0.6 answers: the layouts of v5, with the flag of a beta version.
#[test]
fn the_beta_version_differs_by_its_number_and_flag() {
    let newer = response_bytes(Version::V6);
    for (name, mut bytes) in response_bytes(Version::V5) {
        if name == "rows_metadata_changed" || name == "rows_metadata_changed_more_pages" {
            continue;
        }
        bytes[0] = 0x86;
        bytes[1] |= flags::USE_BETA;
        let (_, beta) = newer.iter().find(|(other, _)| *other == name).expect("the same samples");
        assert_eq!(hex(beta), hex(&bytes), "{name}");
    }
}

/// Layouts written by hand from the requirements, so that the golden file is not its own only witness.
#[test]
fn response_layouts_by_hand() {
    let check = |version: Version, response: &Response<'_>, expected: &str| {
        let bytes = encoded(response, &Reply::new(version, 7));
        assert_eq!(hex(&bytes), hex(&unhex(expected)), "{version} {response:?}");
    };
    for (version, byte) in [(Version::V3, "83"), (Version::V4, "84"), (Version::V5, "85")] {
        check(version, &Response::Ready, &format!("{byte} 00 0007 02 00000000"));
        check(version, &Response::AuthSuccess(None), &format!("{byte} 00 0007 10 00000004 ffffffff"));
        check(version, &Response::Void, &format!("{byte} 00 0007 08 00000004 00000001"));
        check(
            version,
            &Response::SetKeyspace("ks"),
            &format!("{byte} 00 0007 08 00000008 00000003 0002 6b73"),
        );
    }
    let cas = samples::errors().into_iter().find(|(name, _)| *name == "cas_write_unknown").expect("sample").1;
    let error = Response::Error(cql_wire::ErrorMessage::new(cas, "m"));
    // v5 knows the code; v4 is told of a CAS write timeout.
    check(Version::V5, &error, "85 00 0007 00 00000011 00001700 0001 6d 0004 00000001 00000002");
    check(Version::V4, &error, "84 00 0007 00 00000016 00001100 0001 6d 0004 00000001 00000002 0003 434153");
}

#[test]
fn prepared_layouts_by_hand() {
    let prepared = Prepared {
        id: b"ID"[..].into(),
        result_metadata_id: b"M"[..].into(),
        bind: vec![samples::column("t", "k", WireType::Int)].into(),
        partition_key: vec![0].into(),
        lwt_mark: false,
        result: Vec::new().into(),
    };
    let body = |protocol: Protocol, prepared: &Prepared<'static>| {
        let bytes = encoded(&Response::Prepared(prepared.clone()), &Reply::new(protocol, 0));
        hex(&bytes[HEADER_BYTES..])
    };
    let spec = "0002 6b73 0001 74 0001 6b 0009";
    let nothing = "00000004 00000000";
    let v3 = format!("00000004 0002 4944 00000001 00000001 {spec} {nothing}");
    let v4 = format!("00000004 0002 4944 00000001 00000001 00000001 0000 {spec} {nothing}");
    let v5 = format!("00000004 0002 4944 0001 4d 00000001 00000001 00000001 0000 {spec} {nothing}");
    let lwt = format!("00000004 0002 4944 80000001 00000001 00000001 0000 {spec} {nothing}");
    let strip = |text: String| text.replace(' ', "");
    assert_eq!(body(Version::V3.into(), &prepared), strip(v3));
    assert_eq!(body(Version::V4.into(), &prepared), strip(v4));
    assert_eq!(body(Version::V5.into(), &prepared), strip(v5.clone()));
    let extended = Protocol { version: Version::V4, metadata_id_extension: true };
    assert_eq!(body(extended, &prepared), strip(v5));
    assert_eq!(body(Version::V4.into(), &Prepared { lwt_mark: true, ..prepared }), strip(lwt));
}

#[test]
fn metadata_changed_has_the_order_of_cassandra() {
    let bytes = rows(&Reply::new(Version::V5, 1), false, Some(b"ID"), Some(b"P"));
    let expected = "00000002 0000000b 00000002 00000001 50 0002 4944 0002 6b73 0001 74 \
                    0001 6b 0009 0001 76 000d 00000001 00000004 00000001 ffffffff";
    assert_eq!(hex(&bytes[HEADER_BYTES..]), hex(&unhex(expected)));
    // Versions without metadata ids never see the notice.
    let v4 = rows(&Reply::new(Version::V4, 1), false, Some(b"ID"), None);
    let expected = "00000002 00000001 00000002 0002 6b73 0001 74 \
                    0001 6b 0009 0001 76 000d 00000001 00000004 00000001 ffffffff";
    assert_eq!(hex(&v4[HEADER_BYTES..]), hex(&unhex(expected)));
}

#[test]
fn vectors_are_sent_by_class_name() {
    let name =
        |element: WireType| WireType::Vector { element: Box::new(element), dimensions: 3 }.class_name();
    let package = "org.apache.cassandra.db.marshal.";
    assert_eq!(name(WireType::Float), format!("{package}VectorType({package}FloatType , 3)"));
    let list = WireType::List(Box::new(WireType::Set(Box::new(WireType::Text))));
    let expected = format!("{package}VectorType({package}ListType({package}SetType({package}UTF8Type)) , 3)");
    assert_eq!(name(list), expected);
    let udt =
        WireType::Udt { keyspace: "ks".into(), name: "u".into(), fields: vec![("f".into(), WireType::Int)] };
    let expected = format!("{package}VectorType({package}UserType(ks,75,66:{package}Int32Type) , 3)");
    assert_eq!(name(udt), expected);
}

#[test]
fn an_aborted_rows_answer_leaves_nothing() {
    let mut out = b"before".to_vec();
    let mut writer = RowsWriter::begin(&mut out, &Reply::new(Version::V4, 1), RowsMetadata::full(&[]));
    put_bytes(writer.buffer(), Some(b"x"));
    writer.abort();
    assert_eq!(out, b"before");
}

#[test]
fn decoded_responses_equal_what_was_encoded() {
    for version in Version::ALL {
        for (name, response) in samples::responses() {
            let stands_in = version < Version::V5 && name.starts_with("error_") || version < Version::V4;
            let bytes = encoded(&response, &Reply::new(version, 7));
            let mut codec = ClientCodec::new(version.into(), None, 1 << 20);
            codec.receive_buffer().extend_from_slice(&bytes);
            let envelope = codec.next_envelope().expect("valid").expect("whole");
            let stream = if name.starts_with("event_") { -1 } else { 7 };
            assert_eq!(envelope.stream, stream, "{name}");
            let (_, decoded) = Response::decode(version.into(), &envelope).expect("well-formed");
            match (&decoded, &response) {
                // Fields that this version does not have cannot come back.
                (Response::Prepared(decoded), Response::Prepared(sent)) => {
                    assert_eq!(decoded.bind, sent.bind);
                    assert_eq!(decoded.result, sent.result);
                }
                _ if stands_in => {
                    let again = encoded(&decoded, &Reply::new(version, 7));
                    assert_eq!(hex(&again), hex(&bytes), "{name} {version}");
                }
                _ => assert_eq!(decoded, response, "{name} {version}"),
            }
        }
    }
}
