//! Any bytes through the server's frame codec and request decoder, and through the client's codec and response decoder.
//!
//! The first byte of an input chooses version, compression and how the bytes are dealt out: raw after STARTUP (so the
//! fuzzer meets checksums and lengths), as the very first bytes of a connection, or as plain envelopes that are framed
//! correctly before they are sent (so that it gets behind the checksums). Its highest bit says whether bodies are taken out of the
//! codec, as the server does with requests that wait. Checked besides panics: memory stays within the codec's limit, every refusal
//! has a text, a body that is taken is the one that was handed out, and a request that was understood is the same after encoding.

#![no_main]

use cql_wire::{
    ClientCodec, Compression, Envelope, Framing, Negotiated, Protocol, Request, Response, ServerCodec,
    StartupOptions, Version,
};
use libfuzzer_sys::fuzz_target;

const BODY_MAX: usize = 64 * 1024;
/// Three buffers, each doubled at most, of a body or a segment plus the room for a read.
const MEMORY_MAX: usize = 6 * (131_071 + 64 * 1024);

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let version = Version::ALL[usize::from(choice & 3) % Version::ALL.len()];
    let compression = match choice >> 2 & 3 {
        1 => Some(Compression::Lz4),
        2 if version < Version::V5 => Some(Compression::Snappy),
        _ => None,
    };
    let piece = if choice & 0x10 == 0 { bytes.len().max(1) } else { 7 };
    let takes = choice & 0x80 != 0;
    match choice >> 5 & 3 {
        0 => drive(&mut server(version, compression), bytes, piece, takes),
        1 => drive(&mut ServerCodec::new(BODY_MAX), bytes, piece, takes),
        2 => {
            let mut codec = server(version, compression);
            let mut framed = Vec::new();
            if whole_envelopes(bytes) {
                codec.framing().frame(bytes, &mut framed);
                drive(&mut codec, &framed, piece, takes);
            }
        }
        _ => answers(version, compression, bytes),
    }
});

/// A server past STARTUP.
fn server(version: Version, compression: Option<Compression>) -> ServerCodec {
    let mut codec = ServerCodec::new(BODY_MAX);
    let options = StartupOptions::new();
    Request::Startup(options.as_startup()).encode(version.into(), 0, 0, codec.receive_buffer());
    assert!(matches!(codec.next_envelope(), Ok(Some(_))));
    let negotiated = Negotiated { compression, ..Negotiated::default() };
    codec.accept_startup(0, negotiated, None, &mut Vec::new());
    codec
}

fn drive(codec: &mut ServerCodec, bytes: &[u8], piece: usize, takes: bool) {
    for piece in bytes.chunks(piece) {
        codec.receive_buffer().extend_from_slice(piece);
        let protocol = codec.protocol();
        loop {
            match codec.next_envelope() {
                Ok(None) => break,
                Ok(Some(envelope)) => {
                    request(protocol, &envelope);
                    if takes {
                        let body = envelope.body.to_vec();
                        assert!(*codec.take_body() == *body, "another body was taken");
                        assert!(codec.take_body().is_empty(), "a body was taken twice");
                    }
                }
                Err(refusal) => {
                    refusal.encode(&mut Vec::new());
                    assert!(!refusal.error.message.is_empty());
                    if refusal.close {
                        return;
                    }
                }
            }
        }
        assert!(codec.memory_bytes() <= MEMORY_MAX, "{} bytes held", codec.memory_bytes());
    }
}

/// Decodes a request, visits everything in it, and reads it again from its own encoding.
fn request(protocol: Protocol, envelope: &Envelope<'_>) {
    let request = match Request::decode(protocol, envelope) {
        Ok(request) => request,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    match &request {
        Request::Startup(startup) => {
            let _ = (startup.iter().count(), startup.cql_version(), startup.compression(protocol.version));
        }
        Request::Query { params, .. } | Request::Execute { params, .. } => {
            assert_eq!(params.values.iter_named().count(), params.values.len());
        }
        Request::Batch(batch) => {
            assert_eq!(batch.statements.iter().count(), batch.statements.len());
            for statement in batch.statements.iter() {
                assert_eq!(statement.values.iter().count(), statement.values.len());
            }
        }
        _ => {}
    }
    let mut encoded = Vec::new();
    request.encode(protocol, envelope.stream, 0, &mut encoded);
    let again = Envelope { flags: 0, body: &encoded[cql_wire::HEADER_BYTES..], ..*envelope };
    let again = Request::decode(protocol, &again).expect("our own encoding");
    let mut twice = Vec::new();
    again.encode(protocol, envelope.stream, 0, &mut twice);
    assert_eq!(encoded, twice);
}

/// What a client of ours would do with these answers.
fn answers(version: Version, compression: Option<Compression>, bytes: &[u8]) {
    let protocol = Protocol::new(version);
    let mut codec = ClientCodec::new(protocol, compression, BODY_MAX);
    codec.receive_buffer().extend_from_slice(bytes);
    while let Ok(Some(envelope)) = codec.next_envelope() {
        if let Err(error) = Response::decode(protocol, &envelope) {
            assert!(!error.to_string().is_empty());
        }
    }
}

/// The encoder takes whole envelopes only; anything else is its caller's mistake.
fn whole_envelopes(mut bytes: &[u8]) -> bool {
    while let Some(header) = bytes.get(..cql_wire::HEADER_BYTES) {
        let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
        match bytes.get(cql_wire::HEADER_BYTES + length..) {
            Some(rest) => bytes = rest,
            None => return false,
        }
    }
    bytes.is_empty()
}

/// `Framing` is named so that a change of its type is noticed here.
const _: fn(&ServerCodec) -> Framing = ServerCodec::framing;
