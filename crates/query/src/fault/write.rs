//! Writes and batches that cannot be made, or are too large.

use super::Kind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteFault {
    CounterInLoggedBatch,
    NoCounterInCounterBatch,
    CountersAndOthers,
    /// Both the batch and a statement of it have a timestamp.
    TwoTimestamps,
    TimestampOfConditionalBatch,
    TimestampOfCounterBatch,
    BatchTooLarge {
        bytes: usize,
        partitions: usize,
        bytes_max: usize,
    },
    TimestampOutOfBounds,
    NegativeTtl {
        seconds: i32,
    },
    LongTtl {
        seconds: i32,
        seconds_max: i32,
    },
    CounterOverflow {
        delta: i64,
    },
    TooManyListOperations {
        count: usize,
        most: usize,
    },
    TooLarge {
        bytes_max: usize,
    },
}

impl WriteFault {
    pub fn kind(&self) -> Kind {
        match self {
            WriteFault::BatchTooLarge { .. }
            | WriteFault::TooManyListOperations { .. }
            | WriteFault::TooLarge { .. } => Kind::TooLarge,
            WriteFault::CounterInLoggedBatch
            | WriteFault::NoCounterInCounterBatch
            | WriteFault::CountersAndOthers
            | WriteFault::TwoTimestamps
            | WriteFault::TimestampOfConditionalBatch
            | WriteFault::TimestampOfCounterBatch
            | WriteFault::TimestampOutOfBounds
            | WriteFault::NegativeTtl { .. }
            | WriteFault::LongTtl { .. }
            | WriteFault::CounterOverflow { .. } => Kind::Invalid,
        }
    }
}
