//! The two ends of a connection as state machines: bytes in, envelopes out, no I/O.
//!
//! They know the version, the compression and the moment v5 segments begin: with the first byte after STARTUP and its
//! READY or AUTHENTICATE, in both directions.

use crate::envelope::{Direction, Envelope};
use crate::framing::Framing;
use crate::inbound::{Body, Inbound, Located};
use crate::opcode::Opcode;
use crate::refusal::Refusal;
use crate::response::{ErrorKind, ErrorMessage, Reply, Response};
use crate::version::{Compression, Protocol, Version};

/// The longest body before a connection is ready. STARTUP and authentication tokens are small, and whoever sends them is
/// not trusted yet.
const UNTRUSTED_BODY_BYTES_MAX: usize = 256 * 1024;

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Only OPTIONS and STARTUP are allowed.
    Initial,
    /// A STARTUP was handed out and not answered yet; nothing more is read until it is.
    Starting,
    /// Only AUTH_RESPONSE is allowed.
    Authenticating,
    /// Everything but STARTUP is allowed.
    Ready,
}

/// What STARTUP settles besides the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Negotiated {
    pub compression: Option<Compression>,
    /// See [`Protocol::metadata_id_extension`].
    pub metadata_id_extension: bool,
}

/// A server's end of one connection.
///
/// ```
/// use cql_wire::{Protocol, Request, Response, Reply, ServerCodec, Version};
///
/// let mut codec = ServerCodec::new(16 << 20);
/// let mut options = Vec::new();
/// Request::Options.encode(Protocol::new(Version::V4), 3, 0, &mut options);
/// codec.receive_buffer().extend_from_slice(&options);
///
/// let protocol = codec.protocol(); // before the loop, because an envelope borrows the codec
/// while let Some(envelope) = codec.next_envelope().expect("well-formed") {
///     assert_eq!(Request::decode(protocol, &envelope), Ok(Request::Options));
/// }
/// ```
#[derive(Debug)]
pub struct ServerCodec {
    inbound: Inbound,
    stage: Stage,
    metadata_id_extension: bool,
    body_bytes_max: usize,
    /// The envelope that was handed out last, while its body may be taken.
    last: Option<Located>,
}

impl ServerCodec {
    /// A new connection that accepts bodies of up to `body_bytes_max` bytes once it is ready (256 KiB before).
    #[must_use]
    pub fn new(body_bytes_max: usize) -> ServerCodec {
        let inbound = Inbound::new(Direction::Request, body_bytes_max.min(UNTRUSTED_BODY_BYTES_MAX));
        ServerCodec {
            inbound,
            stage: Stage::Initial,
            metadata_id_extension: false,
            body_bytes_max,
            last: None,
        }
    }

    /// Where the next read from the socket goes: append to it, change nothing else. Take all envelopes with
    /// [`ServerCodec::next_envelope`] before reading again, or the buffer grows.
    pub fn receive_buffer(&mut self) -> &mut Vec<u8> {
        self.last = None;
        self.inbound.buffer()
    }

    /// The next whole envelope, or `None` until more bytes are read (or the STARTUP handed out last is answered).
    pub fn next_envelope(&mut self) -> Result<Option<Envelope<'_>>, Refusal> {
        self.last = None;
        if self.stage == Stage::Starting {
            return Ok(None);
        }
        let Some(located) = self.inbound.locate()? else { return Ok(None) };
        self.admit(&located)?;
        self.last = Some(located.clone());
        Ok(Some(self.inbound.envelope(located)))
    }

    /// The body of the envelope that was handed out last, to be kept. A long one is not copied: it takes along the buffer that
    /// it arrived in. Empty if it was taken before.
    pub fn take_body(&mut self) -> Body {
        self.last.take().map_or_else(Body::default, |located| self.inbound.take_body(located))
    }

    /// Refuses messages that the stage does not allow; the connection goes on.
    fn admit(&mut self, located: &Located) -> Result<(), Refusal> {
        let opcode = located.opcode;
        let complaint = match self.stage {
            Stage::Initial if opcode == Opcode::Startup => {
                self.stage = Stage::Starting;
                return Ok(());
            }
            Stage::Initial if opcode == Opcode::Options => return Ok(()),
            Stage::Initial | Stage::Starting => "expecting STARTUP or OPTIONS",
            Stage::Authenticating if opcode == Opcode::AuthResponse => return Ok(()),
            Stage::Authenticating => "expecting AUTH_RESPONSE",
            Stage::Ready if opcode != Opcode::Startup => return Ok(()),
            Stage::Ready => "the connection is already initialized",
        };
        let message = format!("Unexpected message {opcode}, {complaint}");
        Err(Refusal {
            version: located.header.version,
            stream: located.header.stream,
            error: ErrorMessage::new(ErrorKind::Protocol, message),
            close: false,
        })
    }

    /// Answers STARTUP with READY or AUTHENTICATE: appends the answer to `out` in its final form, then switches the
    /// connection to what was negotiated. Answers written before must already be in `out`.
    pub fn accept_startup(
        &mut self,
        stream: i16,
        negotiated: Negotiated,
        authenticator: Option<&str>,
        out: &mut Vec<u8>,
    ) {
        let version = self.protocol().version;
        let response = authenticator.map_or(Response::Ready, Response::Authenticate);
        response.encode(&Reply::new(version, stream), out);
        self.stage = Stage::Authenticating;
        if authenticator.is_none() {
            self.authenticated();
        }
        self.metadata_id_extension = negotiated.metadata_id_extension;
        self.inbound.establish(version, Framing::negotiated(version, negotiated.compression));
    }

    /// The STARTUP handed out last was answered with an error; the client may try again.
    pub fn refuse_startup(&mut self) {
        if self.stage == Stage::Starting {
            self.stage = Stage::Initial;
        }
    }

    /// Authentication succeeded.
    pub fn authenticated(&mut self) {
        if self.stage == Stage::Authenticating {
            self.stage = Stage::Ready;
            self.inbound.set_body_bytes_max(self.body_bytes_max);
        }
    }

    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// How messages are laid out. Before the first request the version is a guess: the newest.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        let version = self.inbound.version().unwrap_or(Version::NEWEST);
        Protocol { version, metadata_id_extension: self.metadata_id_extension }
    }

    /// How answers are wrapped now. It changes only in [`ServerCodec::accept_startup`].
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.inbound.framing()
    }

    /// Whether a message has begun to arrive and is not complete: the time to watch for slow senders.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.inbound.is_partial()
    }

    /// Bytes of memory that the codec's buffers hold.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.inbound.memory_bytes()
    }
}

/// A client's end of one connection, for tests and tools.
///
/// Before STARTUP is answered, answers in any supported version are accepted, because a server that refuses our version
/// answers in one of its own.
#[derive(Debug)]
pub struct ClientCodec {
    inbound: Inbound,
    protocol: Protocol,
    compression: Option<Compression>,
    established: bool,
}

impl ClientCodec {
    /// A new connection that will ask for this protocol and compression in its STARTUP.
    #[must_use]
    pub fn new(protocol: Protocol, compression: Option<Compression>, body_bytes_max: usize) -> ClientCodec {
        let inbound = Inbound::new(Direction::Response, body_bytes_max);
        ClientCodec { inbound, protocol, compression, established: false }
    }

    /// Where the next read from the socket goes: append to it, change nothing else.
    pub fn receive_buffer(&mut self) -> &mut Vec<u8> {
        self.inbound.buffer()
    }

    /// The next whole envelope. The READY or AUTHENTICATE that answers STARTUP switches both directions.
    pub fn next_envelope(&mut self) -> Result<Option<Envelope<'_>>, Refusal> {
        let Some(located) = self.inbound.locate()? else { return Ok(None) };
        if !self.established && matches!(located.opcode, Opcode::Ready | Opcode::Authenticate) {
            self.established = true;
            let version = self.protocol.version;
            self.inbound.establish(version, Framing::negotiated(version, self.compression));
        }
        Ok(Some(self.inbound.envelope(located)))
    }

    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// How requests are wrapped now.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.inbound.framing()
    }

    /// Whether an answer has begun to arrive and is not complete.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.inbound.is_partial()
    }
}
