//! Jobs, checks of copies, and schemas that could not be used again.

use super::Kind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobFault {
    Unknown {
        id: String,
    },
    /// `why` is what the job says of its state.
    Disobedient {
        id: String,
        why: String,
    },
    Cancelled {
        id: String,
    },
    /// The table of an index was not read to its end.
    Unfinished,
    /// A row is not the same in the new buckets.
    Differs {
        key: Vec<u8>,
    },
    Dropped {
        target: String,
    },
    NoCopy {
        keyspace: String,
        name: String,
    },
    NotBuilt {
        keyspace: String,
        name: String,
    },
    /// What was filled is not its definition.
    Drifted {
        missing: u64,
        extra: u64,
        stale: u64,
    },
    /// A view cannot be kept. `why` is what its definition lacks.
    Unkeepable {
        keyspace: String,
        name: String,
        why: String,
    },
    /// A change would make a schema that no start can open.
    Unopenable {
        what: String,
    },
}

impl JobFault {
    pub fn kind(&self) -> Kind {
        match self {
            JobFault::Unknown { .. } | JobFault::Dropped { .. } | JobFault::NoCopy { .. } => Kind::NotFound,
            JobFault::Disobedient { .. }
            | JobFault::Cancelled { .. }
            | JobFault::Unfinished
            | JobFault::Differs { .. }
            | JobFault::NotBuilt { .. }
            | JobFault::Drifted { .. }
            | JobFault::Unkeepable { .. }
            | JobFault::Unopenable { .. } => Kind::Invalid,
        }
    }
}
