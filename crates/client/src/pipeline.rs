//! Many requests under way at once on one connection, and reads page by page: for commands that move data.

use super::{Client, ClientError, Statement, failed};
use cql_wire::{QueryParams, Request, Response, Rows, Value, ValueList};
use std::io::{Read, Write};

/// Requests of one connection that wait for their answers: more would not be quicker, and the server holds them all.
pub const REQUESTS_MAX: usize = 512;

/// An error that the server answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: i32,
    pub message: String,
}

impl Refusal {
    /// Whether the same request may succeed later: the server, or a replica of it, has too much to do.
    pub fn is_passing(&self) -> bool {
        const WRITE_TIMEOUT: i32 = 0x1100;
        const READ_TIMEOUT: i32 = 0x1200;
        self.was_not_tried() || self.code == WRITE_TIMEOUT || self.code == READ_TIMEOUT
    }

    /// Whether nothing of the request was done.
    pub fn was_not_tried(&self) -> bool {
        const UNAVAILABLE: i32 = 0x1000;
        const OVERLOADED: i32 = 0x1001;
        const BOOTSTRAPPING: i32 = 0x1002;
        [UNAVAILABLE, OVERLOADED, BOOTSTRAPPING].contains(&self.code)
    }
}

/// What was read of a page, and where the next one begins, if there is one; or why there is none.
pub type Page<T> = Result<(T, Option<Vec<u8>>), Refusal>;

impl Client {
    pub fn prepare(&mut self, query: &str) -> Result<Statement, ClientError> {
        self.call(&Request::Prepare { query, keyspace: None }, |_, response| match response {
            Response::Prepared(prepared) => Ok(Statement {
                id: prepared.id.to_vec(),
                result_metadata_id: prepared.result_metadata_id.to_vec(),
                bind: prepared.bind.to_vec(),
                partition_key: prepared.partition_key.to_vec(),
                result: prepared.result.to_vec(),
            }),
            Response::Error(error) => Err(ClientError(format!("{query}: {}", error.message))),
            other => Err(ClientError(format!("{query}: unexpected answer: {other:?}"))),
        })?
    }

    /// One page of a read.
    pub fn page<T>(
        &mut self,
        statement: &Statement,
        values: &[Option<&[u8]>],
        (page_size, state): (u32, Option<&[u8]>),
        read: impl FnOnce(&Rows<'_>) -> T,
    ) -> Result<Page<T>, ClientError> {
        let mut list = ValueList::new();
        for value in values {
            list.push(value.map_or(Value::Null, Value::Bytes));
        }
        let params = QueryParams {
            values: list.as_values(),
            page_size: Some(page_size),
            paging_state: state,
            skip_metadata: true,
            now_in_seconds: self.now_in_seconds,
            ..QueryParams::new(self.consistency)
        };
        let request = Request::Execute {
            id: &statement.id,
            result_metadata_id: Some(&statement.result_metadata_id),
            params,
        };
        self.call(&request, |_, response| match response {
            Response::Rows(rows) => Ok(Ok((read(rows), rows.paging_state.map(<[u8]>::to_vec)))),
            Response::Error(error) => {
                Ok(Err(Refusal { code: error.kind.code(), message: error.message.clone() }))
            }
            other => Err(ClientError(format!("unexpected answer: {other:?}"))),
        })?
    }

    /// Sends all requests (at most [`REQUESTS_MAX`]) before it waits for an answer; which of them were refused.
    pub fn send_all(&mut self, requests: &[Request<'_>]) -> Result<Vec<(usize, Refusal)>, ClientError> {
        assert!(requests.len() <= REQUESTS_MAX, "the caller sends them in parts");
        let protocol = self.codec.protocol();
        let (mut plain, mut framed) = (Vec::new(), Vec::new());
        for (stream, request) in requests.iter().enumerate() {
            request.encode(protocol, stream as i16, 0, &mut plain);
        }
        self.codec.framing().frame(&plain, &mut framed);
        self.socket.write_all(&framed).map_err(failed)?;
        let mut refused = Vec::new();
        let mut chunk = vec![0; 64 << 10];
        let mut left = requests.len();
        while left > 0 {
            if let Some(envelope) = self.codec.next_envelope().map_err(|r| failed(format!("{r:?}")))? {
                let (_, response) = Response::decode(protocol, &envelope).map_err(failed)?;
                if let Response::Error(error) = response {
                    let refusal = Refusal { code: error.kind.code(), message: error.message };
                    refused.push((usize::from(envelope.stream.unsigned_abs()), refusal));
                }
                left -= 1;
                continue;
            }
            let count = self.socket.read(&mut chunk).map_err(failed)?;
            if count == 0 {
                return Err(ClientError("the server closed the connection".into()));
            }
            self.codec.receive_buffer().extend_from_slice(chunk.get(..count).unwrap_or_default());
        }
        Ok(refused)
    }
}
