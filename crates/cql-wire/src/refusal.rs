//! What a codec answers when it will not hand out an envelope.

use crate::response::{ErrorMessage, Reply, Response};
use crate::version::Version;
use std::fmt;

/// An envelope or a stretch of bytes that a codec refused. The server sends the error; if `close` is set it then closes
/// the connection, otherwise it goes on with the next envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The version to answer in.
    pub version: Version,
    pub stream: i16,
    pub error: ErrorMessage,
    pub close: bool,
}

impl Refusal {
    /// Appends the ERROR as a plain envelope; frame it like any other answer.
    pub fn encode(&self, out: &mut Vec<u8>) {
        Response::Error(self.error.clone()).encode(&Reply::new(self.version, self.stream), out);
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)
    }
}

impl std::error::Error for Refusal {}
