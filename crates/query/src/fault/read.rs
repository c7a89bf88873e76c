//! Reads whose answer or work needs more room than there is.

use super::Kind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFault {
    ResultTooLarge {
        bytes_max: usize,
    },
    RowTooLarge {
        bytes_max: usize,
    },
    SortTooLarge {
        streams: usize,
        bytes_max: usize,
    },
    NearestTooLarge {
        bytes_max: usize,
    },
    /// The memory that all requests share for sorting and grouping is taken.
    MemoryTaken,
    PagingState,
}

impl ReadFault {
    pub fn kind(&self) -> Kind {
        match self {
            ReadFault::ResultTooLarge { .. }
            | ReadFault::RowTooLarge { .. }
            | ReadFault::SortTooLarge { .. }
            | ReadFault::NearestTooLarge { .. } => Kind::TooLarge,
            ReadFault::MemoryTaken => Kind::Overloaded,
            ReadFault::PagingState => Kind::Malformed,
        }
    }
}
