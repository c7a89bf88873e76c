//! A small blocking CQL client: one connection, one request at a time, v5 unless told otherwise.
//!
//! For commands that ask a server and for the conformance harness; no part of the embedding library.

pub mod column_type;
mod pipeline;

pub use pipeline::{Page, REQUESTS_MAX, Refusal};

use cql_wire::{
    ClientCodec, ColumnSpec, Consistency, Prefix, Protocol, QueryParams, Request, Response, Rows,
    StartupOptions, Version,
};
use model::literal::{format_literal, format_text};
use model::types::DataType;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};
use std::net::ToSocketAddrs;
use std::time::Duration;

const BODY_BYTES_MAX: usize = 256 << 20;
/// A server that says nothing for so long is gone.
pub const READ_TIMEOUT: Duration = Duration::from_secs(60);

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

/// What a conversation goes over: a socket, or TLS on one.
pub trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

pub struct Client {
    /// The id of the last traced statement.
    pub traced: Option<[u8; 16]>,
    /// Of pages that are read, and of whoever looks here.
    pub consistency: Consistency,
    /// The time that TTLs count from, instead of the server's clock: read and written with the same, they end at the same second.
    pub now_in_seconds: Option<u32>,
    socket: Box<dyn Stream>,
    codec: ClientCodec,
}

/// Who logs in where nobody is named: the first superuser of a new server.
pub const FIRST_LOGIN: (&str, &str) = ("cassandra", "cassandra");

fn told(_: &Prefix, response: &Response<'_>) -> String {
    match response {
        Response::Error(error) => error.message.clone(),
        other => format!("unexpected answer: {other:?}"),
    }
}

impl Client {
    /// Connects with v5, as the first superuser if the server asks.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Client, ClientError> {
        Client::connect_as(address, FIRST_LOGIN)
    }

    /// Connects with v5 as a role, if the server asks.
    pub fn connect_as(address: impl ToSocketAddrs, login: (&str, &str)) -> Result<Client, ClientError> {
        Client::login(address, Version::V5, login, told)?.map_err(ClientError)
    }

    /// The same over a stream that is connected.
    pub fn over(socket: Box<dyn Stream>, login: (&str, &str)) -> Result<Client, ClientError> {
        Client::login_over(socket, Version::V5, login, told)?.map_err(ClientError)
    }

    /// Connects as a role; a refused login is an answer, made of it by `refused`.
    pub fn login<R>(
        address: impl ToSocketAddrs,
        version: Version,
        (role, password): (&str, &str),
        refused: impl Fn(&Prefix, &Response<'_>) -> R,
    ) -> Result<Result<Client, R>, ClientError> {
        let socket = rt::net::connect(address).map_err(failed)?;
        socket.set_read_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
        Client::login_over(Box::new(socket), version, (role, password), refused)
    }

    /// The same over a stream that is connected; reading it should end by itself after [`READ_TIMEOUT`].
    pub fn login_over<R>(
        socket: Box<dyn Stream>,
        version: Version,
        (role, password): (&str, &str),
        refused: impl Fn(&Prefix, &Response<'_>) -> R,
    ) -> Result<Result<Client, R>, ClientError> {
        let protocol = Protocol::new(version);
        let mut client = Client {
            traced: None,
            consistency: Consistency::One,
            now_in_seconds: None,
            socket,
            codec: ClientCodec::new(protocol, None, BODY_BYTES_MAX),
        };
        let mut options = StartupOptions::new();
        options.set("CQL_VERSION", "3.0.0");
        let ready =
            client.call(&Request::Startup(options.as_startup()), |prefix, response| match response {
                Response::Ready => Ok(true),
                Response::Authenticate(_) => Ok(false),
                other => Err(refused(prefix, other)),
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
                .ok_or_else(|| refused(prefix, response))
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

    /// The answer to a statement as a table of texts; of one without rows, an empty one.
    pub fn table(&mut self, query: &str) -> Result<Table, ClientError> {
        let params = QueryParams { page_size: Some(PAGE_ROWS), ..QueryParams::default() };
        let request = Request::Query { query, params };
        self.call(&request, |prefix, response| {
            let warnings = prefix.warnings.iter().map(|warning| warning.to_string()).collect();
            match response {
                Response::Rows(rows) => Ok(Table { warnings, ..table_of(rows) }),
                Response::Error(error) => Err(ClientError(error.message.clone())),
                _ => Ok(Table { warnings, ..Table::default() }),
            }
        })?
    }

    /// The rows of a query as texts by column; nulls are left out.
    pub fn texts(&mut self, query: &str) -> Result<Vec<BTreeMap<String, String>>, ClientError> {
        let request = Request::Query { query, params: QueryParams::default() };
        self.call(&request, |_, response| match response {
            Response::Rows(rows) => Ok(table_of(rows).by_column()),
            Response::Error(error) => Err(ClientError(format!("{query}: {}", error.message))),
            other => Err(ClientError(format!("{query}: unexpected answer: {other:?}"))),
        })?
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

/// Rows that [`Client::table`] asks for.
const PAGE_ROWS: u32 = 5001;

/// Rows as texts.
#[derive(Debug, Default)]
pub struct Table {
    /// Names and types.
    pub columns: Vec<(String, String)>,
    pub rows: Vec<Vec<Option<String>>>,
    /// There are more than one page.
    pub more: bool,
    pub warnings: Vec<String>,
}

impl Table {
    fn by_column(self) -> Vec<BTreeMap<String, String>> {
        let row = |row: Vec<Option<String>>| {
            let named = self.columns.iter().zip(row);
            named.filter_map(|((name, _), value)| Some((name.clone(), value?))).collect()
        };
        self.rows.into_iter().map(row).collect()
    }
}

fn table_of(rows: &Rows<'_>) -> Table {
    let types: Vec<_> =
        rows.columns.iter().map(|column| column_type::data_type(&column.column_type)).collect();
    let columns =
        rows.columns.iter().zip(&types).map(|(column, kind)| (column.name.to_string(), kind.to_string()));
    let shown = |(kind, cell): (&DataType, &Option<&[u8]>)| {
        let bytes = (*cell)?;
        Some(format_text(kind, bytes).unwrap_or_else(|| format_literal(kind, Some(bytes))))
    };
    let cells: Vec<_> = rows.iter_cells().collect();
    let row = |cells: &[Option<&[u8]>]| types.iter().zip(cells).map(shown).collect();
    Table {
        columns: columns.collect(),
        rows: cells.chunks(rows.column_count.max(1)).map(row).collect(),
        more: rows.paging_state.is_some(),
        warnings: Vec::new(),
    }
}
