//! Against the independent codec of `cassandra-protocol`: what it reads from our bytes and writes again is the same.
//!
//! Where the two differ, the sample is listed with the reason; the list fails when an entry starts to agree.

use crate::connection::ready_server;
use crate::samples;
use cassandra_protocol::compression::Compression as PeerCompression;
use cassandra_protocol::frame::frame_decoder::{
    FrameDecoder, LegacyFrameDecoder, Lz4FrameDecoder, UncompressedFrameDecoder,
};
use cassandra_protocol::frame::frame_encoder::{FrameEncoder, Lz4FrameEncoder, UncompressedFrameEncoder};
use cassandra_protocol::frame::message_response::ResponseBody;
use cassandra_protocol::frame::{Envelope as PeerEnvelope, Serialize};
use cql_wire::{Compression, Consistency, Framing, HEADER_BYTES, QueryParams, Reply, Request, Version};
use std::collections::BTreeSet;

/// Reads `bytes` as one envelope of theirs and writes its body again; `None` if they cannot read it.
fn body_again(bytes: &[u8], is_request: bool) -> Option<Vec<u8>> {
    let envelope = PeerEnvelope::from_buffer(bytes, PeerCompression::None).ok()?.envelope;
    Some(if is_request {
        envelope.request_body().ok()?.serialize_to_vec(envelope.version)
    } else {
        let version = envelope.version;
        match envelope.response_body().ok()? {
            ResponseBody::Error(body) => body.serialize_to_vec(version),
            ResponseBody::Ready => Vec::new(),
            ResponseBody::Authenticate(body) => body.serialize_to_vec(version),
            ResponseBody::Supported(body) => body.serialize_to_vec(version),
            ResponseBody::Result(body) => body.serialize_to_vec(version),
            ResponseBody::Event(body) => body.serialize_to_vec(version),
            ResponseBody::AuthChallenge(body) => body.serialize_to_vec(version),
            ResponseBody::AuthSuccess(body) => body.serialize_to_vec(version),
            _ => return None,
        }
    })
}

fn check(name: &str, version: Version, bytes: &[u8], is_request: bool, differing: &mut BTreeSet<String>) {
    // Their decoder panics on some input; that counts as a difference.
    let again = std::panic::catch_unwind(|| body_again(bytes, is_request)).unwrap_or(None);
    let mut ours = bytes[HEADER_BYTES..].to_vec();
    let mut theirs = again.unwrap_or_default();
    if UNORDERED.contains(&name) {
        ours.sort_unstable();
        theirs.sort_unstable();
    }
    if ours != theirs {
        differing.insert(format!("{name} {}", version.number()));
    }
}

#[test]
fn requests_mean_the_same_to_cassandra_protocol() {
    let mut differing = BTreeSet::new();
    for version in samples::STABLE {
        for (name, flags, request) in samples::requests(version) {
            let mut bytes = Vec::new();
            request.encode(version.into(), 1, flags & 2, &mut bytes);
            check(name, version, &bytes, true, &mut differing);
        }
    }
    assert_eq!(differing.into_iter().collect::<Vec<_>>(), KNOWN_REQUESTS);
}

#[test]
fn responses_mean_the_same_to_cassandra_protocol() {
    let mut differing = BTreeSet::new();
    for version in samples::STABLE {
        for (name, response) in samples::responses() {
            let mut bytes = Vec::new();
            response.encode(&Reply::new(version, 1), &mut bytes);
            check(&name, version, &bytes, false, &mut differing);
        }
    }
    assert_eq!(differing.into_iter().collect::<Vec<_>>(), KNOWN_RESPONSES);
}

/// They keep these in hash maps, so only the bytes without their order can be compared.
const UNORDERED: &[&str] = &["startup", "supported"];

const KNOWN_REQUESTS: &[&str] = &[];

const KNOWN_RESPONSES: &[&str] = &[
    // Sent below v5 as a CAS write timeout, in which they expect v5's contentions; in v5 they do not know the code.
    "error_cas_write_unknown 3",
    "error_cas_write_unknown 4",
    "error_cas_write_unknown 5",
    // They do not know the code.
    "error_cdc_write_failure 4",
    "error_cdc_write_failure 5",
    "error_rate_limit 3",
    "error_rate_limit 4",
    "error_rate_limit 5",
    // They expect a port after each address of the failure map; Cassandra sends none.
    "error_read_failure 5",
    "error_write_failure 5",
    // They expect v5's contentions in every version.
    "error_write_timeout_cas 3",
    "error_write_timeout_cas 4",
    // They do not know the change.
    "event_moved_node 3",
    "event_moved_node 4",
    "event_moved_node 5",
    // They read v3 without partition key indexes, as it is sent, but write them.
    "prepared_insert 3",
    "prepared_select 3",
];

/// Queries of sizes around the limits of a segment.
fn queries() -> Vec<String> {
    let mut texts: Vec<String> = (0..40).map(|n| format!("SELECT {n} {}", "x".repeat(n * 40))).collect();
    texts.extend([131_000, 131_050, 131_071, 140_000, 400_000].map(|n: usize| "ab, ".repeat(n / 4)));
    texts
}

fn request(query: &str) -> Request<'_> {
    Request::Query { query, params: QueryParams::new(Consistency::One) }
}

#[test]
fn cassandra_protocol_reads_our_framing() {
    let texts = queries();
    for version in samples::STABLE {
        for compression in [None, Some(Compression::Lz4), Some(Compression::Snappy)] {
            let mut plain = Vec::new();
            for (stream, text) in texts.iter().enumerate() {
                request(text).encode(version.into(), stream as i16, 0, &mut plain);
            }
            let mut framed = Vec::new();
            Framing::negotiated(version, compression).frame(&plain, &mut framed);
            let peer_compression = match compression {
                None => PeerCompression::None,
                Some(Compression::Lz4) => PeerCompression::Lz4,
                Some(Compression::Snappy) => PeerCompression::Snappy,
            };
            let mut decoder: Box<dyn FrameDecoder> = match (version, compression) {
                (Version::V5, Some(Compression::Lz4)) => Box::new(Lz4FrameDecoder::default()),
                (Version::V5, _) => Box::new(UncompressedFrameDecoder::default()),
                _ => Box::new(LegacyFrameDecoder::default()),
            };
            let envelopes = decoder.consume(&mut framed, peer_compression).expect("readable");
            assert_eq!(envelopes.len(), texts.len(), "{version} {compression:?}");
            for ((stream, text), envelope) in texts.iter().enumerate().zip(envelopes) {
                assert_eq!(usize::from(envelope.stream_id as u16), stream);
                let mut expected = Vec::new();
                request(text).encode(version.into(), 0, 0, &mut expected);
                assert!(envelope.body == expected[HEADER_BYTES..], "{version} {compression:?} {stream}");
            }
        }
    }
}

/// Frames with their encoder, the way their transport uses it.
fn peer_segments(encoder: &mut dyn FrameEncoder, envelopes: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for envelope in envelopes {
        if !encoder.can_fit(envelope.len()) && encoder.has_envelopes() {
            out.extend_from_slice(encoder.finalize_self_contained());
            encoder.reset();
        }
        if encoder.can_fit(envelope.len()) {
            encoder.add_envelope(envelope.clone());
            continue;
        }
        let mut rest = envelope.as_slice();
        while !rest.is_empty() {
            let (taken, segment) = encoder.finalize_non_self_contained(rest);
            out.extend_from_slice(segment);
            rest = &rest[taken..];
            encoder.reset();
        }
    }
    if encoder.has_envelopes() {
        out.extend_from_slice(encoder.finalize_self_contained());
    }
    out
}

#[test]
fn we_read_the_framing_of_cassandra_protocol() {
    let texts = queries();
    let envelopes: Vec<Vec<u8>> = texts
        .iter()
        .enumerate()
        .map(|(stream, text)| {
            let mut envelope = Vec::new();
            request(text).encode(Version::V5.into(), stream as i16, 0, &mut envelope);
            envelope
        })
        .collect();
    let mut plain = UncompressedFrameEncoder::default();
    let mut lz4 = Lz4FrameEncoder::default();
    let encoders: [(Option<Compression>, &mut dyn FrameEncoder); 2] =
        [(None, &mut plain), (Some(Compression::Lz4), &mut lz4)];
    for (compression, encoder) in encoders {
        let bytes = peer_segments(encoder, &envelopes);
        for piece in [1000, bytes.len()] {
            let mut codec = ready_server(Version::V5, compression);
            let mut got = 0;
            for piece in bytes.chunks(piece) {
                codec.receive_buffer().extend_from_slice(piece);
                while let Some(envelope) = codec.next_envelope().expect("readable") {
                    assert_eq!(Request::decode(Version::V5.into(), &envelope), Ok(request(&texts[got])));
                    got += 1;
                }
            }
            assert_eq!(got, texts.len());
        }
    }
}

#[test]
fn we_read_the_compressed_bodies_of_cassandra_protocol() {
    let text = "SELECT * FROM a_table_with_a_name ".repeat(30);
    for version in [Version::V3, Version::V4] {
        let mut plain = Vec::new();
        request(&text).encode(version.into(), 1, 0, &mut plain);
        let envelope = PeerEnvelope::from_buffer(&plain, PeerCompression::None).expect("readable").envelope;
        for (ours, theirs) in
            [(Compression::Lz4, PeerCompression::Lz4), (Compression::Snappy, PeerCompression::Snappy)]
        {
            let bytes = envelope.encode_with(theirs).expect("compressible");
            assert!(bytes.len() < plain.len() / 2);
            let mut codec = ready_server(version, Some(ours));
            codec.receive_buffer().extend_from_slice(&bytes);
            let envelope = codec.next_envelope().expect("readable").expect("whole");
            assert_eq!(Request::decode(version.into(), &envelope), Ok(request(&text)));
        }
    }
}
