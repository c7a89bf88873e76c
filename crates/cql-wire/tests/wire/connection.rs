//! The state machines: negotiation, limits, segments, and what ends a connection.

use crate::golden::hex;
use cql_wire::{
    ClientCodec, Compression, Consistency, ErrorKind, Framing, Negotiated, Protocol, QueryParams, Refusal,
    Reply, Request, Response, Rows, ServerCodec, Stage, StartupOptions, Version,
};

const BODY_MAX: usize = 1 << 20;

/// A server that has answered STARTUP with READY.
pub fn ready_server(version: Version, compression: Option<Compression>) -> ServerCodec {
    let mut codec = ServerCodec::new(BODY_MAX);
    start(&mut codec, version, compression, None);
    codec
}

/// Sends STARTUP and has it accepted; returns the bytes of the answer.
fn start(
    codec: &mut ServerCodec,
    version: Version,
    compression: Option<Compression>,
    authenticator: Option<&str>,
) -> Vec<u8> {
    let mut options = StartupOptions::new();
    options.set("CQL_VERSION", "3.0.0");
    if let Some(compression) = compression {
        options.set("COMPRESSION", compression.name());
    }
    Request::Startup(options.as_startup()).encode(version.into(), 0, 0, codec.receive_buffer());
    let envelope = codec.next_envelope().expect("valid").expect("whole");
    let Ok(Request::Startup(startup)) = Request::decode(version.into(), &envelope) else {
        panic!("not a STARTUP")
    };
    let compression = startup.compression(version).expect("known");
    let mut out = Vec::new();
    codec.accept_startup(0, Negotiated { compression, ..Negotiated::default() }, authenticator, &mut out);
    out
}

/// What comes out of a codec fed with `bytes` until it wants more.
fn outcome(codec: &mut ServerCodec, bytes: &[u8]) -> Result<usize, Refusal> {
    codec.receive_buffer().extend_from_slice(bytes);
    let mut count = 0;
    while codec.next_envelope()?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn refusal(codec: &mut ServerCodec, bytes: &[u8]) -> Refusal {
    outcome(codec, bytes).expect_err("refused")
}

fn encoded(request: Request<'_>, version: Version, stream: i16) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(Protocol::new(version), stream, 0, &mut out);
    out
}

fn query(text: &str) -> Request<'_> {
    Request::Query { query: text, params: QueryParams::new(Consistency::One) }
}

#[test]
fn unknown_versions_are_refused_at_their_first_byte() {
    for number in [0x00, 0x01, 0x02, 0x07, 0x41, 0x42, 0x7F] {
        let refusal = refusal(&mut ServerCodec::new(BODY_MAX), &[number]);
        let expected = format!(
            "Invalid or unsupported protocol version ({number}); supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)"
        );
        assert_eq!(refusal.error.message, expected);
        assert_eq!((refusal.error.kind.code(), refusal.close), (0x000A, true));
        let mut out = Vec::new();
        refusal.encode(&mut out);
        assert_eq!(hex(&out[..5]), "8500000000", "in v5, on stream 0, an ERROR");
    }
}

#[test]
fn after_a_closing_refusal_everything_is_discarded() {
    let mut codec = ServerCodec::new(BODY_MAX);
    refusal(&mut codec, &[0x42]);
    assert_eq!(outcome(&mut codec, &encoded(Request::Options, Version::V4, 1)), Ok(0));
    assert!(!codec.is_partial());
}

#[test]
fn beta_needs_its_flag() {
    let mut codec = ServerCodec::new(BODY_MAX);
    assert_eq!(outcome(&mut codec, &[6]), Ok(0), "the flags decide");
    let without = refusal(&mut codec, &[0]);
    let text = "Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset";
    assert_eq!(without.error.message, text);
    let mut out = Vec::new();
    without.encode(&mut out);
    assert_eq!(hex(&out[..5]), "8610000000", "in v6, on stream 0, an ERROR");
    let mut options = encoded(Request::Options, Version::V6, 1);
    assert_eq!(options[1], 0x10, "a client of ours says it too");
    assert_eq!(outcome(&mut ServerCodec::new(BODY_MAX), &options), Ok(1));
    options[1] = 0;
    assert_eq!(refusal(&mut ServerCodec::new(BODY_MAX), &options).error.message, text);
}

#[test]
fn a_response_sent_to_the_server_ends_the_connection() {
    let mut bytes = Vec::new();
    Response::Ready.encode(&Reply::new(Version::V4, 1), &mut bytes);
    let refusal = refusal(&mut ServerCodec::new(BODY_MAX), &bytes);
    assert_eq!((refusal.version, refusal.close), (Version::V4, true));
}

#[test]
fn the_version_may_not_change() {
    let mut codec = ServerCodec::new(BODY_MAX);
    assert_eq!(outcome(&mut codec, &encoded(Request::Options, Version::V4, 1)), Ok(1));
    let refusal = refusal(&mut codec, &encoded(Request::Options, Version::V5, 2));
    let text = "Invalid message version. Got 5/v5 but previous messages on this connection had version 4/v4";
    assert_eq!((refusal.error.message.as_str(), refusal.version, refusal.stream), (text, Version::V4, 2));
}

#[test]
fn stages_allow_what_the_protocol_allows() {
    let mut codec = ServerCodec::new(BODY_MAX);
    let too_early = refusal(&mut codec, &encoded(query("SELECT 1"), Version::V4, 9));
    assert_eq!(too_early.error.message, "Unexpected message QUERY, expecting STARTUP or OPTIONS");
    assert_eq!((too_early.stream, too_early.close), (9, false));
    assert_eq!(outcome(&mut codec, &encoded(Request::Options, Version::V4, 1)), Ok(1));

    start(&mut codec, Version::V4, None, Some("org.example.Authenticator"));
    assert_eq!(codec.stage(), Stage::Authenticating);
    let refused = refusal(&mut codec, &encoded(query("SELECT 1"), Version::V4, 9));
    assert_eq!(refused.error.message, "Unexpected message QUERY, expecting AUTH_RESPONSE");
    assert_eq!(outcome(&mut codec, &encoded(Request::AuthResponse(None), Version::V4, 1)), Ok(1));
    codec.authenticated();

    assert_eq!(outcome(&mut codec, &encoded(query("SELECT 1"), Version::V4, 1)), Ok(1));
    let again = encoded(Request::Startup(StartupOptions::new().as_startup()), Version::V4, 3);
    let refused = refusal(&mut codec, &again);
    assert_eq!(refused.error.message, "Unexpected message STARTUP, the connection is already initialized");
}

#[test]
fn nothing_is_read_past_startup_until_it_is_answered() {
    let mut codec = ServerCodec::new(BODY_MAX);
    let mut bytes = encoded(Request::Startup(StartupOptions::new().as_startup()), Version::V5, 0);
    // The client runs ahead: its first segment is in the same packet.
    Framing::negotiated(Version::V5, None).frame(&encoded(query("SELECT 1"), Version::V5, 1), &mut bytes);
    assert_eq!(outcome(&mut codec, &bytes), Ok(1));
    assert_eq!(codec.stage(), Stage::Starting);
    let mut out = Vec::new();
    codec.accept_startup(0, Negotiated::default(), None, &mut out);
    assert_eq!(hex(&out), "850000000200000000", "READY is not in a segment");
    assert!(codec.framing().has_segments());
    assert_eq!(outcome(&mut codec, &[]), Ok(1));
}

#[test]
fn a_refused_startup_may_be_repeated() {
    let mut codec = ServerCodec::new(BODY_MAX);
    let startup = encoded(Request::Startup(StartupOptions::new().as_startup()), Version::V4, 0);
    assert_eq!(outcome(&mut codec, &startup), Ok(1));
    codec.refuse_startup();
    assert_eq!(outcome(&mut codec, &startup), Ok(1));
}

#[test]
fn an_oversized_body_is_discarded_and_the_connection_goes_on() {
    let length = BODY_MAX + 1;
    let body = vec![0; length];
    let expected = format!("Request is too big: length {length} exceeds maximum allowed length {BODY_MAX}.");
    let mut large = vec![4, 0, 0, 5, 7];
    large.extend_from_slice(&(length as u32).to_be_bytes());
    let mut codec = ready_server(Version::V4, None);
    let refused = refusal(&mut codec, &large);
    assert_eq!(refused.error.message, expected);
    assert_eq!((refused.error.kind, refused.stream, refused.close), (ErrorKind::Invalid, 5, false));
    for piece in body.chunks(10_000) {
        assert_eq!(outcome(&mut codec, piece), Ok(0));
        assert!(codec.memory_bytes() < 100_000, "{}", codec.memory_bytes());
    }
    assert!(!codec.is_partial());
    assert_eq!(outcome(&mut codec, &encoded(query("SELECT 1"), Version::V4, 1)), Ok(1));
}

#[test]
fn an_oversized_split_envelope_is_discarded_and_the_connection_goes_on() {
    for compression in [None, Some(Compression::Lz4)] {
        let mut codec = ready_server(Version::V5, compression);
        let text = "x".repeat(BODY_MAX + 50_000);
        let mut bytes = Vec::new();
        codec.framing().frame(&encoded(query(&text), Version::V5, 5), &mut bytes);
        let mut refusals = Vec::new();
        for piece in bytes.chunks(1000) {
            if let Err(refusal) = outcome(&mut codec, piece) {
                refusals.push(refusal);
            }
            assert!(codec.memory_bytes() < 1_000_000, "{}", codec.memory_bytes());
        }
        assert_eq!(refusals.len(), 1);
        assert!(refusals[0].error.message.starts_with("Request is too big: length"));
        assert!(!refusals[0].close && !codec.is_partial());
        let mut bytes = Vec::new();
        codec.framing().frame(&encoded(query("SELECT 1"), Version::V5, 1), &mut bytes);
        assert_eq!(outcome(&mut codec, &bytes), Ok(1));
    }
}

#[test]
fn a_declared_length_alone_costs_no_memory() {
    for version in [3_u8, 4] {
        let mut codec = ServerCodec::new(256 << 20);
        start(&mut codec, Version::from_number(version).expect("supported"), None, None);
        // 256 MiB declared, within the limit, and never sent.
        let header = [version, 0, 0, 1, 7, 0x10, 0, 0, 0];
        assert_eq!(outcome(&mut codec, &header), Ok(0));
        assert!(codec.is_partial());
        assert!(codec.memory_bytes() < 64 * 1024, "{}", codec.memory_bytes());
    }
}

#[test]
fn untrusted_connections_may_not_send_long_bodies() {
    let mut codec = ServerCodec::new(16 << 20);
    let refused = refusal(&mut codec, &[4, 0, 0, 1, 1, 0, 0x10, 0, 0]);
    assert!(refused.error.message.ends_with("length 1048576 exceeds maximum allowed length 262144."));
}

#[test]
fn negative_lengths_end_the_connection() {
    let refused = refusal(&mut ready_server(Version::V4, None), &[4, 0, 0, 1, 7, 0xFF, 0xFF, 0xFF, 0xFF]);
    assert_eq!((refused.error.message.as_str(), refused.close), ("Invalid frame body length: -1", true));
}

#[test]
fn unknown_opcodes_are_refused_and_skipped() {
    let mut codec = ready_server(Version::V4, None);
    let refused = refusal(&mut codec, &[4, 0, 0, 8, 0x77, 0, 0, 0, 2, 1, 2]);
    assert_eq!(
        (refused.error.message.as_str(), refused.stream, refused.close),
        ("Unknown opcode 119", 8, false)
    );
    assert_eq!(outcome(&mut codec, &encoded(query("SELECT 1"), Version::V4, 1)), Ok(1));
}

#[test]
fn compressed_bodies_need_negotiation_and_honest_lengths() {
    let lies: [(Option<Compression>, &[u8], &str); 5] = [
        (None, b"abcd", "The envelope is marked as compressed but STARTUP did not negotiate compression"),
        (Some(Compression::Lz4), b"abc", "The lz4 body does not decompress to its declared length"),
        (
            Some(Compression::Lz4),
            &[0x0F, 0, 0, 0, 1],
            "The lz4 body does not decompress to its declared length",
        ),
        (
            Some(Compression::Lz4),
            &[0, 0, 0, 9, 0x10, b'a'],
            "The lz4 body does not decompress to its declared length",
        ),
        (Some(Compression::Snappy), &[0xFF; 5], "The snappy body does not decompress to its declared length"),
    ];
    for (compression, body, message) in lies {
        let mut codec = ready_server(Version::V4, compression);
        let mut bytes = vec![4, 1, 0, 1, 7, 0, 0, 0, body.len() as u8];
        bytes.extend_from_slice(body);
        let refused = refusal(&mut codec, &bytes);
        assert_eq!((refused.error.message.as_str(), refused.close), (message, false));
        assert!(codec.memory_bytes() < 64 * 1024);
        assert_eq!(outcome(&mut codec, &encoded(query("SELECT 1"), Version::V4, 1)), Ok(1));
    }
}

/// The ways in which clients compress the empty body of OPTIONS.
#[test]
fn empty_compressed_bodies_are_empty() {
    let bodies: [(Compression, &[u8]); 5] = [
        (Compression::Lz4, &[]),
        (Compression::Lz4, &[0, 0, 0, 0]),
        (Compression::Lz4, &[0, 0, 0, 0, 0]),
        (Compression::Snappy, &[]),
        (Compression::Snappy, &[0]),
    ];
    for (compression, body) in bodies {
        let mut codec = ready_server(Version::V4, Some(compression));
        let mut bytes = vec![4, 1, 0, 1, 5, 0, 0, 0, body.len() as u8];
        bytes.extend_from_slice(body);
        codec.receive_buffer().extend_from_slice(&bytes);
        let envelope = codec.next_envelope().expect("valid").expect("whole");
        assert_eq!(envelope.body, b"", "{compression:?} {body:?}");
    }
}

#[test]
fn a_decompressed_body_obeys_the_limit() {
    let mut codec = ready_server(Version::V4, Some(Compression::Lz4));
    let text = "x".repeat(BODY_MAX);
    let mut bytes = Vec::new();
    codec.framing().frame(&encoded(query(&text), Version::V4, 5), &mut bytes);
    assert!(bytes.len() < 10_000, "it compresses well");
    let refused = refusal(&mut codec, &bytes);
    assert!(refused.error.message.starts_with("Request is too big: length 1048583"), "{refused}");
    assert!(!refused.close && codec.memory_bytes() < 100_000);
}

#[test]
fn v5_ignores_the_compression_flag_of_envelopes() {
    let mut codec = ready_server(Version::V5, None);
    let mut plain = encoded(query("SELECT 1"), Version::V5, 1);
    plain[1] = 1;
    let mut bytes = Vec::new();
    codec.framing().frame(&plain, &mut bytes);
    assert_eq!(outcome(&mut codec, &bytes), Ok(1));
}

#[test]
fn any_flipped_bit_of_a_segment_is_noticed() {
    for compression in [None, Some(Compression::Lz4)] {
        let text = "SELECT something FROM somewhere ".repeat(8);
        let mut bytes = Vec::new();
        let framing = Framing::negotiated(Version::V5, compression);
        framing.frame(&encoded(query(&text), Version::V5, 1), &mut bytes);
        for bit in 0..bytes.len() * 8 {
            let mut corrupt = bytes.clone();
            corrupt[bit / 8] ^= 1 << (bit % 8);
            let refused = refusal(&mut ready_server(Version::V5, compression), &corrupt);
            assert_eq!((refused.error.kind, refused.stream, refused.close), (ErrorKind::Protocol, 0, true));
            assert!(refused.error.message.starts_with("Corrupt segment: the CRC"), "bit {bit}");
        }
    }
}

#[test]
fn self_contained_segments_hold_whole_envelopes() {
    let framing = Framing::negotiated(Version::V5, None);
    // A split envelope is cut off by a self-contained segment.
    let mut bytes = Vec::new();
    framing.frame(&encoded(query(&"x".repeat(200_000)), Version::V5, 1), &mut bytes);
    bytes.truncate(6 + 131_071 + 4);
    framing.frame(&encoded(query("SELECT 1"), Version::V5, 1), &mut bytes);
    let refused = refusal(&mut ready_server(Version::V5, None), &bytes);
    assert_eq!(refused.error.message, "A self-contained segment arrived inside a split envelope");
    assert!(refused.close);
}

/// Splits and joins: whatever the sizes and the reads, the same envelopes come out.
#[test]
fn envelopes_survive_framing_in_any_pieces() {
    let lengths =
        [0, 1, 100, 511, 512, 5000, 131_040, 131_053, 131_054, 131_055, 131_071, 300_000, 3, 900_000];
    let texts: Vec<String> =
        lengths.iter().enumerate().map(|(i, n)| format!("{i}{}", "ab".repeat(n / 2))).collect();
    for version in Version::ALL {
        for compression in [None, Some(Compression::Lz4), Some(Compression::Snappy)] {
            if version >= Version::V5 && compression == Some(Compression::Snappy) {
                continue;
            }
            let mut plain = Vec::new();
            for (stream, text) in texts.iter().enumerate() {
                query(text).encode(version.into(), stream as i16, 0, &mut plain);
            }
            let mut bytes = Vec::new();
            Framing::negotiated(version, compression).frame(&plain, &mut bytes);
            for piece in [997, 65_536, bytes.len()] {
                let mut codec = ready_server(version, compression);
                let mut got = 0;
                for piece in bytes.chunks(piece) {
                    codec.receive_buffer().extend_from_slice(piece);
                    while let Some(envelope) = codec.next_envelope().expect("well-formed") {
                        assert_eq!(usize::from(envelope.stream as u16), got);
                        let expected = query(&texts[got]);
                        assert_eq!(Request::decode(version.into(), &envelope), Ok(expected));
                        got += 1;
                    }
                }
                assert_eq!(got, texts.len());
                assert!(!codec.is_partial());
            }
        }
    }
}

#[test]
fn reading_more_before_taking_everything_loses_nothing() {
    let mut codec = ready_server(Version::V5, None);
    let mut plain = Vec::new();
    for stream in 0..100 {
        query(&format!("SELECT {stream}")).encode(Version::V5.into(), stream, 0, &mut plain);
    }
    let mut bytes = Vec::new();
    codec.framing().frame(&plain, &mut bytes);
    codec.receive_buffer().extend_from_slice(&bytes);
    let mut expected = 0;
    for _ in 0..3 {
        for _ in 0..37 {
            let Some(envelope) = codec.next_envelope().expect("valid") else { break };
            let text = format!("SELECT {expected}");
            assert_eq!(Request::decode(Version::V5.into(), &envelope), Ok(query(&text)));
            expected = (expected + 1) % 100;
        }
        // Each read moves the buffer while a self-contained segment is half taken.
        codec.receive_buffer().extend_from_slice(&bytes);
    }
    assert_eq!(outcome(&mut codec, &[]), Ok(400 - 111));
    assert!(!codec.is_partial());
}

#[test]
fn memory_of_a_long_message_is_given_back() {
    let mut codec = ready_server(Version::V5, None);
    let mut bytes = Vec::new();
    codec.framing().frame(&encoded(query(&"x".repeat(BODY_MAX - 100)), Version::V5, 1), &mut bytes);
    assert_eq!(outcome(&mut codec, &bytes), Ok(1));
    codec.receive_buffer();
    assert!(codec.memory_bytes() < 600_000, "{}", codec.memory_bytes());
}

/// Client and server codec together, through authentication, for every version and compression.
#[test]
fn client_and_server_agree_when_framing_begins() {
    for version in Version::ALL {
        for compression in [None, Some(Compression::Lz4), Some(Compression::Snappy)] {
            if version >= Version::V5 && compression == Some(Compression::Snappy) {
                continue;
            }
            let mut server = ServerCodec::new(BODY_MAX);
            let mut client = ClientCodec::new(version.into(), compression, BODY_MAX);
            assert!(client.framing().is_plain());
            let answer = start(&mut server, version, compression, Some("Auth"));
            client.receive_buffer().extend_from_slice(&answer);
            let envelope = client.next_envelope().expect("valid").expect("whole");
            let (_, response) = Response::decode(version.into(), &envelope).expect("well-formed");
            assert_eq!(response, Response::Authenticate("Auth"));
            assert_eq!(client.framing(), server.framing());

            let token = vec![7; 2000];
            let request = encoded(Request::AuthResponse(Some(&token)), version, 1);
            client.framing().frame(&request, server.receive_buffer());
            let envelope = server.next_envelope().expect("valid").expect("whole");
            let request = Request::decode(version.into(), &envelope);
            assert_eq!(request, Ok(Request::AuthResponse(Some(&token))));
            server.authenticated();

            let mut cells = Vec::new();
            (0..60_000_u32).for_each(|n| cql_wire::put_bytes(&mut cells, Some(&n.to_be_bytes())));
            let rows = Rows {
                columns: Vec::new().into(),
                column_count: 3,
                paging_state: None,
                changed_id: None,
                row_count: 20_000,
                cells: &cells,
            };
            let mut answers = Vec::new();
            Response::AuthSuccess(None).encode(&Reply::new(version, 1), &mut answers);
            Response::Rows(rows.clone()).encode(&Reply::new(version, 2), &mut answers);
            server.framing().frame(&answers, client.receive_buffer());
            let envelope = client.next_envelope().expect("valid").expect("whole");
            let (_, response) = Response::decode(version.into(), &envelope).expect("well-formed");
            assert_eq!(response, Response::AuthSuccess(None));
            let envelope = client.next_envelope().expect("valid").expect("whole");
            let (_, response) = Response::decode(version.into(), &envelope).expect("well-formed");
            assert_eq!(response, Response::Rows(rows));
            assert!(client.next_envelope().expect("valid").is_none() && !client.is_partial());
        }
    }
}

#[test]
fn a_client_reads_the_refusal_of_its_version() {
    let mut client = ClientCodec::new(Version::V3.into(), None, BODY_MAX);
    refusal(&mut ServerCodec::new(BODY_MAX), &[0x42]).encode(client.receive_buffer());
    let envelope = client.next_envelope().expect("valid").expect("whole");
    let (_, response) = Response::decode(Version::V3.into(), &envelope).expect("well-formed");
    let Response::Error(error) = response else { panic!("not an error: {response:?}") };
    assert_eq!(error.kind, ErrorKind::Protocol);
}
