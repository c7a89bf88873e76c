//! Statements that name too many rows, or none that can be found.

use super::Kind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestrictionFault {
    TooManyCombinations {
        columns: Vec<String>,
        combinations: usize,
        most: usize,
    },
    KeysTooLarge {
        bytes: usize,
        bytes_max: usize,
    },
    PartitionKeyMissing {
        columns: Vec<String>,
    },
    EmptyToken,
    LimitNotPositive,
    LimitMalformed,
    /// A search for the nearest needs a limit; `limit` is the one it has.
    NearestWithoutLimit {
        limit: Option<u64>,
        most: u64,
    },
}

impl RestrictionFault {
    pub fn kind(&self) -> Kind {
        match self {
            RestrictionFault::TooManyCombinations { .. } | RestrictionFault::KeysTooLarge { .. } => {
                Kind::TooLarge
            }
            RestrictionFault::PartitionKeyMissing { .. }
            | RestrictionFault::EmptyToken
            | RestrictionFault::LimitNotPositive
            | RestrictionFault::LimitMalformed
            | RestrictionFault::NearestWithoutLimit { .. } => Kind::Invalid,
        }
    }
}
