//! Impossible keys: empty, too long, or not made by this server.

use super::Kind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFault {
    Empty,
    TooLong {
        bytes: usize,
        bytes_max: usize,
    },
    MalformedPartition,
    MalformedClustering,
    /// A value that an index is asked for is longer than any indexed value can be.
    SoughtTooLong,
    /// A value that is written is too long for an index of its column.
    NotIndexable {
        bytes: usize,
        bytes_max: usize,
        index: String,
        keyspace: String,
        table: String,
        column: String,
    },
}

impl KeyFault {
    pub fn kind(&self) -> Kind {
        match self {
            KeyFault::TooLong { .. } | KeyFault::SoughtTooLong | KeyFault::NotIndexable { .. } => {
                Kind::TooLarge
            }
            KeyFault::Empty | KeyFault::MalformedPartition | KeyFault::MalformedClustering => Kind::Invalid,
        }
    }
}
