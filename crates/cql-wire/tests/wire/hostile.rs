//! Bytes from anyone: never a panic, never more memory than the limit allows.

use crate::golden::unhex;
use crate::roundtrip::version;
use crate::samples;
use cql_wire::{
    ClientCodec, Compression, Envelope, Framing, Header, Negotiated, Opcode, Protocol, Reply, Request,
    Response, ServerCodec, Version, WireError,
};
use proptest::collection::vec;
use proptest::prelude::*;

const BODY_MAX: usize = 64 * 1024;

/// What a codec may hold: three buffers, each doubled at most, of a body or a segment plus the room for a read.
const MEMORY_MAX: usize = 6 * (131_071 + 64 * 1024);

fn compression() -> impl Strategy<Value = Option<Compression>> {
    proptest::sample::select(vec![None, Some(Compression::Lz4), Some(Compression::Snappy)])
}

/// A server past STARTUP, whose client may send anything.
fn server(version: Version, compression: Option<Compression>) -> ServerCodec {
    let mut codec = ServerCodec::new(BODY_MAX);
    let options = cql_wire::StartupOptions::new();
    Request::Startup(options.as_startup()).encode(version.into(), 0, 0, codec.receive_buffer());
    assert!(codec.next_envelope().expect("valid").is_some());
    let compression = compression.filter(|c| version < Version::V5 || *c == Compression::Lz4);
    codec.accept_startup(0, Negotiated { compression, ..Negotiated::default() }, None, &mut Vec::new());
    codec
}

/// Feeds the bytes in pieces and decodes whatever comes out.
fn drive(codec: &mut ServerCodec, bytes: &[u8], piece: usize) {
    for piece in bytes.chunks(piece.max(1)) {
        codec.receive_buffer().extend_from_slice(piece);
        let protocol = codec.protocol();
        loop {
            match codec.next_envelope() {
                Ok(None) => break,
                Ok(Some(envelope)) => walk(protocol, &envelope),
                Err(refusal) => {
                    let mut out = Vec::new();
                    refusal.encode(&mut out);
                    assert!(!refusal.error.message.is_empty());
                }
            }
        }
        assert!(codec.memory_bytes() <= MEMORY_MAX, "{}", codec.memory_bytes());
    }
}

/// Decodes a request and visits everything in it.
fn walk(protocol: Protocol, envelope: &Envelope<'_>) {
    match Request::decode(protocol, envelope) {
        Ok(Request::Startup(startup)) => {
            let _ = (startup.iter().count(), startup.cql_version(), startup.compression(protocol.version));
        }
        Ok(Request::Query { params, .. } | Request::Execute { params, .. }) => {
            assert_eq!(params.values.iter_named().count(), params.values.len());
        }
        Ok(Request::Batch(batch)) => {
            let statements: Vec<_> = batch.statements.iter().collect();
            assert_eq!(statements.len(), batch.statements.len());
            for statement in statements {
                assert_eq!(statement.values.iter().count(), statement.values.len());
            }
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Bytes that look like a conversation: every sample request, framed.
fn conversation(version: Version, framing: Framing) -> Vec<u8> {
    let mut plain = Vec::new();
    for (stream, (_, flags, request)) in samples::requests(version).into_iter().enumerate() {
        request.encode(version.into(), stream as i16, flags & 0x02, &mut plain);
    }
    let long = "long ".repeat(200);
    Request::Prepare { query: &long, keyspace: None }.encode(version.into(), 99, 0, &mut plain);
    let mut bytes = Vec::new();
    framing.frame(&plain, &mut bytes);
    bytes
}

/// `PROPTEST_CASES` makes a long run of it.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000)
}

fn opcode() -> impl Strategy<Value = Opcode> {
    proptest::sample::select(Opcode::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn random_bytes(version in version(), compression in compression(), bytes in vec(any::<u8>(), 0..400), piece in 1_usize..50) {
        drive(&mut ServerCodec::new(BODY_MAX), &bytes, piece);
        drive(&mut server(version, compression), &bytes, piece);
    }

    #[test]
    fn random_bodies(version in version(), extension: bool, opcode in opcode(), flags: u8, body in vec(any::<u8>(), 0..300)) {
        let protocol = Protocol { version, metadata_id_extension: extension };
        let envelope = Envelope { version, flags, stream: 1, opcode, body: &body };
        walk(protocol, &envelope);
        if let Err(error) = Response::decode(protocol, &envelope) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    /// Small numbers make plausible counts and lengths, which reach deeper than random bytes do.
    #[test]
    fn plausible_bodies(version in version(), opcode in opcode(), flags in 0_u8..16, body in vec(0_u8..4, 0..300)) {
        let envelope = Envelope { version, flags, stream: 1, opcode, body: &body };
        walk(version.into(), &envelope);
        let _ = Response::decode(version.into(), &envelope);
    }

    #[test]
    fn mutated_conversations(
        version in version(), compression in compression(),
        mutations in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(), piece in 1_usize..2000,
    ) {
        let mut codec = server(version, compression);
        let mut bytes = conversation(version, codec.framing());
        for (at, byte) in mutations {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        drive(&mut codec, &bytes, piece);
    }

    /// Mutations inside segments, whose checksums are then right again: what lies behind them must hold by itself.
    #[test]
    fn mutated_envelopes_in_valid_segments(
        lz4: bool, mutations in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), piece in 1_usize..2000,
    ) {
        let compression = lz4.then_some(Compression::Lz4);
        let mut plain = conversation(Version::V5, Framing::PLAIN);
        for (at, byte) in mutations {
            let at = at.index(plain.len());
            plain[at] = byte;
        }
        let mut codec = server(Version::V5, compression);
        let mut bytes = Vec::new();
        put_raw_segment(&plain, lz4, &mut bytes);
        drive(&mut codec, &bytes, piece);
    }

    #[test]
    fn mutated_responses(
        version in version(), which in any::<prop::sample::Index>(),
        mutations in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let samples = samples::responses();
        let (_, response) = which.get(&samples);
        let mut bytes = Vec::new();
        response.encode(&Reply::new(version, 1), &mut bytes);
        for (at, byte) in mutations {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut codec = ClientCodec::new(version.into(), None, BODY_MAX);
        codec.receive_buffer().extend_from_slice(&bytes);
        while let Ok(Some(envelope)) = codec.next_envelope() {
            let _ = Response::decode(version.into(), &envelope);
        }
    }
}

/// A self-contained segment around any bytes, stored without compression. Written apart from the crate's own encoder,
/// which takes whole envelopes only.
fn put_raw_segment(payload: &[u8], lz4: bool, out: &mut Vec<u8>) {
    let self_contained = 1_u64 << if lz4 { 34 } else { 17 };
    let fields = (payload.len() as u64 | self_contained).to_le_bytes();
    let fields = &fields[..if lz4 { 5 } else { 3 }];
    let crc24 = fields.iter().fold(0x87_5060_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte) << 16, |crc, _| {
            let crc = crc << 1;
            if crc & 0x100_0000 == 0 { crc } else { crc ^ 0x197_4F0B }
        })
    });
    let mut crc32 = crc32fast::Hasher::new();
    crc32.update(&[0xFA, 0x2D, 0x55, 0xCA]);
    crc32.update(payload);
    out.extend_from_slice(fields);
    out.extend_from_slice(&crc24.to_le_bytes()[..3]);
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32.finalize().to_le_bytes());
}

/// Decoding errors say what is wrong.
#[test]
fn errors_name_the_fault() {
    let check = |version: Version, opcode: Opcode, body: &str, expected: &str| {
        let body = unhex(body);
        let envelope = Envelope { version, flags: 0, stream: 1, opcode, body: &body };
        let error = Request::decode(version.into(), &envelope).expect_err("malformed");
        assert_eq!(error.to_string(), expected, "{version} {opcode} {body:?}");
    };
    use Opcode::{Batch, Execute, Prepare, Query, Ready, Register, Startup};
    let (v3, v4, v5) = (Version::V3, Version::V4, Version::V5);
    let truncated = |field: &str, needed: usize, left: usize| {
        format!("Malformed message: {field} needs {needed} bytes but only {left} are left in the body")
    };
    check(v4, Query, "", &truncated("query string", 4, 0));
    check(v4, Query, "7fffffff 41", &truncated("query string", 2_147_483_647, 1));
    check(v4, Query, "ffffffff", "Malformed message: query string has the invalid length -1");
    check(v4, Query, "00000001 ff", "Malformed message: query string is not valid UTF-8");
    check(v4, Query, "00000001 41 000b 00", "Unknown code 11 for a consistency level");
    check(v4, Query, "00000001 41 0001 04 00000000", "The page size cannot be 0");
    let text = "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807] (got -9223372036854775808)";
    check(v4, Query, "00000001 41 0001 20 8000000000000000", text);
    check(v5, Query, "00000001 41 0001 00", &truncated("query flags", 4, 1));
    check(v4, Execute, "0001 41 0001 01 0001 fffffffd", "Invalid ByteBuf length -3");
    check(v4, Execute, "0001 41 0001 01 ffff 00000000", &truncated("bound value", 4, 0));
    check(v5, Execute, "0001 41 00ff", &truncated("result metadata id", 255, 0));
    check(v5, Prepare, "00000001 41", &truncated("flags of PREPARE", 4, 0));
    check(v3, Batch, "03", "Unknown code 3 for a batch type");
    check(v3, Batch, "00 0001 02", "Unknown code 2 for a statement kind in BATCH");
    check(v4, Batch, "00 0000 0001 40", "Named values are not supported in BATCH messages");
    check(v4, Register, "0001 0003 414243", "Invalid value 'ABC' for Type");
    check(v4, Startup, "0001 0003 414243", &truncated("value of a STARTUP option", 2, 0));
    check(v4, Ready, "", "Wrong protocol direction: unexpected message READY");
}

#[test]
fn values_of_each_version() {
    use cql_wire::Value::{Null, Unset};
    // Execute "A" at ONE with two values: -1 and -2.
    for (version, body, expected) in [
        (Version::V3, "0001 41 0001 01 0002 ffffffff fffffffe", [Null, Null]),
        (Version::V4, "0001 41 0001 01 0002 ffffffff fffffffe", [Null, Unset]),
        (Version::V5, "0001 41 0001 42 0001 00000001 0002 ffffffff fffffffe", [Null, Unset]),
    ] {
        let body = unhex(body);
        let envelope = Envelope { version, flags: 0, stream: 1, opcode: Opcode::Execute, body: &body };
        let Ok(Request::Execute { params, .. }) = Request::decode(version.into(), &envelope) else {
            panic!("malformed")
        };
        assert!(params.values.iter().eq(expected), "{version}");
    }
}

#[test]
fn a_negative_page_size_is_unpaged() {
    let body = unhex("00000001 41 0001 04 ffffffff");
    let envelope = Envelope { version: Version::V4, flags: 0, stream: 1, opcode: Opcode::Query, body: &body };
    let Ok(Request::Query { params, .. }) = Request::decode(Version::V4.into(), &envelope) else {
        panic!("malformed")
    };
    assert_eq!(params.page_size, None);
}

#[test]
fn startup_options_are_checked() {
    let startup = |pairs: &[(&str, &str)], version: Version| {
        let mut options = cql_wire::StartupOptions::new();
        for (key, value) in pairs {
            options.set(key, value);
        }
        let startup = options.as_startup();
        (startup.cql_version().map(str::len), startup.compression(version))
    };
    assert_eq!(startup(&[], Version::V4).0, Err(WireError::MissingCqlVersion));
    for accepted in ["3.0.0", "3.4.7", "4.0.0", "3.0.0-beta1"] {
        assert_eq!(startup(&[("cql_version", accepted)], Version::V4).0, Ok(accepted.len()));
    }
    for refused in ["2.0.0", "", "x", "-3"] {
        let version = refused.to_owned();
        assert_eq!(
            startup(&[("CQL_VERSION", refused)], Version::V4).0,
            Err(WireError::CqlVersion { version })
        );
    }
    assert_eq!(startup(&[("COMPRESSION", "LZ4")], Version::V5).1, Ok(Some(Compression::Lz4)));
    assert_eq!(startup(&[("COMPRESSION", "snappy")], Version::V4).1, Ok(Some(Compression::Snappy)));
    assert_eq!(startup(&[("COMPRESSION", "snappy")], Version::V5).1, Err(WireError::SnappyInV5));
    let unknown = Err(WireError::UnknownCompression { name: "zip".into() });
    assert_eq!(startup(&[("COMPRESSION", "zip")], Version::V4).1, unknown);
    assert_eq!(startup(&[("COMPRESSION", "")], Version::V4).1, Ok(None));
}

/// Nested types end at a depth limit instead of the stack.
#[test]
fn deeply_nested_types_are_refused() {
    let mut body = unhex("00000002 00000001 00000001 0001 6b 0001 74 0001 63");
    for _ in 0..100_000 {
        body.extend_from_slice(&[0, 0x20]);
    }
    let envelope =
        Envelope { version: Version::V4, flags: 0, stream: 1, opcode: Opcode::Result, body: &body };
    let error = Response::decode(Version::V4.into(), &envelope).expect_err("too deep");
    assert_eq!(error, WireError::TypeTooDeep { depth_max: 32 });
}

/// Counts that no body could hold cost nothing.
#[test]
fn lying_counts_cost_no_memory() {
    for body in ["00000002 00000001 7fffffff 0001 6b 0001 74", "00000002 00000004 7fffffff 7fffffff"] {
        let body = unhex(body);
        let envelope =
            Envelope { version: Version::V4, flags: 0, stream: 1, opcode: Opcode::Result, body: &body };
        let info = allocation_counter::measure(|| {
            assert!(Response::decode(Version::V4.into(), &envelope).is_err());
        });
        assert!(info.bytes_max < 10_000, "{}", info.bytes_max);
    }
}

#[test]
fn headers_never_declare_more_than_31_bits() {
    for length in [0_u32, 1, i32::MAX as u32] {
        let header = Header { version: Version::V4, flags: 0, stream: -1, opcode: 7, length };
        let mut bytes = Vec::new();
        header.encode(cql_wire::Direction::Request, &mut bytes);
        assert_eq!(Header::decode(&bytes, cql_wire::Direction::Request), Ok(Some(header)));
        for cut in 0..bytes.len() {
            assert_eq!(Header::decode(&bytes[..cut], cql_wire::Direction::Request), Ok(None));
        }
    }
}
