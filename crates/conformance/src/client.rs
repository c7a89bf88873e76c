//! A small blocking client: one connection, one request at a time, v5 unless told otherwise.

use crate::answer;
use cql_wire::{
    ClientCodec, ColumnSpec, Prefix, Protocol, QueryParams, Request, Response, StartupOptions, Version,
};
use std::fmt;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const BODY_BYTES_MAX: usize = 256 << 20;
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The conversation itself failed; an error *answer* is not one of these.
#[derive(Debug)]
pub struct ClientError(pub String);

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ClientError {}

fn failed(error: impl fmt::Display) -> ClientError {
    ClientError(error.to_string())
}

/// What PREPARE answered, owned.
#[derive(Debug, Clone)]
pub struct Statement {
    pub id: Vec<u8>,
    pub result_metadata_id: Vec<u8>,
    pub bind: Vec<ColumnSpec>,
    pub partition_key: Vec<u16>,
    pub result: Vec<ColumnSpec>,
}

pub struct Client {
    /// The id of the last traced statement.
    pub traced: Option<[u8; 16]>,
    socket: TcpStream,
    codec: ClientCodec,
}

/// Who logs in where nobody is named: the first superuser of a new server.
pub(crate) const FIRST_LOGIN: (&str, &str) = ("cassandra", "cassandra");

impl Client {
    /// Connects with v5, as the first superuser if the server asks.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Client, ClientError> {
        let client = Client::login(address, Version::V5, FIRST_LOGIN)?;
        client.map_err(|refusal| ClientError(refusal.join(", ")))
    }

    /// Connects as a role; a refused login is an answer.
    pub fn login(
        address: impl ToSocketAddrs,
        version: Version,
        (role, password): (&str, &str),
    ) -> Result<Result<Client, Vec<String>>, ClientError> {
        let socket = TcpStream::connect(address).map_err(failed)?;
        socket.set_read_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
        socket.set_nodelay(true).map_err(failed)?;
        let protocol = Protocol::new(version);
        let mut client =
            Client { traced: None, socket, codec: ClientCodec::new(protocol, None, BODY_BYTES_MAX) };
        let mut options = StartupOptions::new();
        options.set("CQL_VERSION", "3.0.0");
        let ready =
            client.call(&Request::Startup(options.as_startup()), |prefix, response| match response {
                Response::Ready => Ok(true),
                Response::Authenticate(_) => Ok(false),
                other => Err(answer::lines(prefix, other)),
            })?;
        match ready {
            Ok(true) => return Ok(Ok(client)),
            Ok(false) => {}
            Err(refusal) => return Ok(Err(refusal)),
        }
        let token = format!("\0{role}\0{password}");
        let welcome = client.call(&Request::AuthResponse(Some(token.as_bytes())), |prefix, response| {
            matches!(response, Response::AuthSuccess(_))
                .then_some(())
                .ok_or_else(|| answer::lines(prefix, response))
        })?;
        Ok(welcome.map(|()| client))
    }

    /// Sends one request and gives its answer to `read`.
    pub fn call<T>(
        &mut self,
        request: &Request<'_>,
        read: impl FnOnce(&Prefix, &Response<'_>) -> T,
    ) -> Result<T, ClientError> {
        self.call_with(request, 0, read)
    }

    /// The same with header flags.
    pub fn call_with<T>(
        &mut self,
        request: &Request<'_>,
        flags: u8,
        read: impl FnOnce(&Prefix, &Response<'_>) -> T,
    ) -> Result<T, ClientError> {
        let protocol = self.codec.protocol();
        let (mut plain, mut framed) = (Vec::new(), Vec::new());
        request.encode(protocol, 1, flags, &mut plain);
        self.codec.framing().frame(&plain, &mut framed);
        self.socket.write_all(&framed).map_err(failed)?;
        let mut chunk = vec![0; 64 << 10];
        loop {
            if let Some(envelope) = self.codec.next_envelope().map_err(|r| failed(format!("{r:?}")))? {
                let (prefix, response) = Response::decode(protocol, &envelope).map_err(failed)?;
                return Ok(read(&prefix, &response));
            }
            let count = self.socket.read(&mut chunk).map_err(failed)?;
            if count == 0 {
                return Err(ClientError("the server closed the connection".into()));
            }
            self.codec.receive_buffer().extend_from_slice(chunk.get(..count).unwrap_or_default());
        }
    }

    /// Runs a statement whose answer does not matter unless it is an error.
    pub fn must(&mut self, query: &str) -> Result<(), ClientError> {
        let request = Request::Query { query, params: QueryParams::default() };
        let error = self.call(&request, |_, response| match response {
            Response::Error(error) => Some(error.message.clone()),
            _ => None,
        })?;
        error.map_or(Ok(()), |message| Err(ClientError(format!("{query}: {message}"))))
    }
}
