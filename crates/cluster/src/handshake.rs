//! A new connection to a node: dialled, started, logged in, its keyspace set.

use crate::contact::Contact;
use cql_wire::{
    ClientCodec, Consistency, ErrorMessage, Protocol, QueryParams, Request, Response, StartupOptions, Version,
};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Dialling, starting and logging in together take no longer.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest answer of a node: the protocol's own limit.
pub const BODY_BYTES_MAX: usize = 256 << 20;
const READ_BYTES: usize = 16 << 10;

/// The two directions of a byte stream.
pub struct Halves {
    pub reader: Box<dyn AsyncRead + Unpin>,
    pub writer: Box<dyn AsyncWrite + Unpin>,
}

pub type Dialed = Pin<Box<dyn Future<Output = std::io::Result<Halves>>>>;

/// Opens byte streams to nodes, with TLS or without; the server's business, not this crate's.
pub trait Dial {
    fn dial(&self, to: &Contact) -> Dialed;
}

/// A role of the cluster with its password. Never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Login {
    pub user: String,
    pub password: Vec<u8>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Why there is no connection.
#[derive(Clone, Debug)]
pub enum OpenError {
    Io(String),
    TimedOut,
    /// The node says no: to the version, the login, or the keyspace.
    Refused(ErrorMessage),
    /// The node asks for a login, and there is none.
    LoginNeeded,
    /// Something that the protocol does not allow here.
    Unexpected(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Io(text) => f.write_str(text),
            OpenError::TimedOut => f.write_str("no answer in time"),
            OpenError::Refused(error) => write!(f, "{}", error.message),
            OpenError::LoginNeeded => f.write_str(
                "the cluster asks for a login: give this front end an account with --cluster-user and --cluster-password-file",
            ),
            OpenError::Unexpected(what) => write!(f, "unexpected answer: {what}"),
        }
    }
}

impl std::error::Error for OpenError {}

/// A connection on which requests can be sent.
pub struct Opened {
    pub halves: Halves,
    pub codec: ClientCodec,
    /// What OPTIONS said, if it was asked.
    pub supported: Vec<(String, Vec<String>)>,
}

/// How a connection is to be opened.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub version: Version,
    pub login: Option<Arc<Login>>,
    pub keyspace: Option<Arc<str>>,
    pub ask_options: bool,
}

/// Opens a connection to a node.
pub async fn open(dial: &dyn Dial, to: &Contact, wanted: &Wanted) -> Result<Opened, OpenError> {
    let opening = async {
        let halves = dial.dial(to).await.map_err(|error| OpenError::Io(error.to_string()))?;
        let codec = ClientCodec::new(Protocol::new(wanted.version), None, BODY_BYTES_MAX);
        let mut opened = Opened { halves, codec, supported: Vec::new() };
        opened.begin(wanted).await?;
        Ok(opened)
    };
    tokio::time::timeout(OPEN_TIMEOUT, opening).await.map_err(|_| OpenError::TimedOut)?
}

impl Opened {
    async fn begin(&mut self, wanted: &Wanted) -> Result<(), OpenError> {
        if wanted.ask_options {
            self.supported = self
                .ask(&Request::Options, |response| match response {
                    Response::Supported(options) => Ok(options.to_vec()),
                    other => Err(unexpected(other)),
                })
                .await??;
        }
        let mut options = StartupOptions::new();
        options.set("CQL_VERSION", "3.0.0").set("DRIVER_NAME", "Partita front end");
        // A node that is overloaded must say so: if it only stopped reading, everybody on this connection would wait.
        options.set("DRIVER_VERSION", env!("CARGO_PKG_VERSION")).set("THROW_ON_OVERLOAD", "1");
        let ready = self
            .ask(&Request::Startup(options.as_startup()), |response| match response {
                Response::Ready => Ok(true),
                Response::Authenticate(_) => Ok(false),
                other => Err(unexpected(other)),
            })
            .await??;
        if !ready {
            let login = wanted.login.as_ref().ok_or(OpenError::LoginNeeded)?;
            let mut token = vec![0];
            token.extend_from_slice(login.user.as_bytes());
            token.push(0);
            token.extend_from_slice(&login.password);
            self.ask(&Request::AuthResponse(Some(&token)), |response| match response {
                Response::AuthSuccess(_) => Ok(()),
                other => Err(unexpected(other)),
            })
            .await??;
        }
        if let Some(keyspace) = &wanted.keyspace {
            let query = format!("USE \"{}\"", keyspace.replace('"', "\"\""));
            let request = Request::Query { query: &query, params: QueryParams::new(Consistency::One) };
            self.ask(&request, |response| match response {
                Response::SetKeyspace(_) => Ok(()),
                other => Err(unexpected(other)),
            })
            .await??;
        }
        Ok(())
    }

    /// One request and its answer, before anything else is on the connection.
    async fn ask<T>(
        &mut self,
        request: &Request<'_>,
        read: impl FnOnce(&Response<'_>) -> T,
    ) -> Result<T, OpenError> {
        let protocol = self.codec.protocol();
        let (mut plain, mut framed) = (Vec::new(), Vec::new());
        request.encode(protocol, 0, 0, &mut plain);
        self.codec.framing().frame(&plain, &mut framed);
        let io = |error: std::io::Error| OpenError::Io(error.to_string());
        self.halves.writer.write_all(&framed).await.map_err(io)?;
        self.halves.writer.flush().await.map_err(io)?;
        loop {
            match self.codec.next_envelope() {
                Ok(Some(envelope)) => {
                    let (_, response) = Response::decode(protocol, &envelope)
                        .map_err(|error| OpenError::Unexpected(error.to_string()))?;
                    return match &response {
                        Response::Error(error) => Err(OpenError::Refused(error.clone())),
                        response => Ok(read(response)),
                    };
                }
                Ok(None) => {}
                Err(refusal) => return Err(OpenError::Unexpected(refusal.to_string())),
            }
            let buffer = self.codec.receive_buffer();
            buffer.reserve(READ_BYTES);
            if self.halves.reader.read_buf(buffer).await.map_err(io)? == 0 {
                return Err(OpenError::Io("the node closed the connection".into()));
            }
        }
    }
}

fn unexpected(response: &Response<'_>) -> OpenError {
    OpenError::Unexpected(response.opcode().to_string())
}
