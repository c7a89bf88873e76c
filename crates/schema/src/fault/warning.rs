//! What was accepted and does less than its words promise. Facts without words.

/// Something to tell about a change that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// An option that means something on other servers, or to other tables.
    NoEffect(NoEffect),
    /// More copies are asked for than there are nodes; `None`: wherever they are.
    FactorAboveNodes { factor: u32, keyspace: String, data_center: Option<String> },
    /// A security label names its provider, and there are none.
    ProviderNotLoaded { provider: String },
    /// An index on vectors is kept, and searches compare with every row.
    VectorsCompared { column: String },
    /// What the dialect has to say itself, in its words.
    Written(String),
}

/// Options that other servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEffect {
    InMemory,
    PaxosGrace,
    PartitionRate,
    StorageEngine,
    SynchronousUpdates,
    Tablets,
    TombstoneGc,
    Cdc,
}
