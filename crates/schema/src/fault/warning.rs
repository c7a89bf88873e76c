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
    /// An index on vectors finds nearly all of the nearest rows once there are many.
    VectorsNearly { column: String },
    /// A compaction strategy of old dumps: the table has windows of time instead.
    DateTiered,
    /// What the dialect has to say itself, in its words.
    Written(String),
}

/// Options that other servers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEffect {
    CacheOnFlush,
    IndexInterval,
    InMemory,
    LocalReadRepair,
    PaxosGrace,
    PartitionRate,
    ReadRepair,
    ReplicateOnWrite,
    StorageEngine,
    SynchronousUpdates,
    Tablets,
    TombstoneGc,
    Cdc,
}
