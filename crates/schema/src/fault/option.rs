//! Options of tables and keyspaces. Facts without words.

use super::Kind;
use crate::name::FullName;
use model::types::DataType;

/// A property after WITH is unknown, twice there, or of another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyFault {
    Twice { name: String },
    Unknown { name: String },
    NotAString { name: String },
    NotAMap { name: String },
    NotAnInteger { text: String, name: String },
    NotADouble { text: String, name: String },
    NotABoolean { text: String, name: String },
}

impl PropertyFault {
    pub fn kind(&self) -> Kind {
        Kind::Syntax
    }
}

/// An option has a value that it cannot have.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionFault {
    Retry { text: String },
    RetryOfOneKind { text: String, kind: &'static str },
    RetryPercentile { text: String },
    ReadRepair { text: String },
    Memtable { text: String },
    TtlTooLong { seconds_max: i32, seconds: i32 },
    BloomChance { least: f64, chance: f64 },
    CrcChance { chance: f64 },
    IndexIntervals { least: i32, most: i32 },
    Below { option: &'static str, least: i32, value: i32 },
    Review { text: String },
    HoldTombstones { text: String },
    Patterns { text: String },
    CachingUnknown { names: Vec<String> },
    CachingKeys { value: String },
    CachingRows { value: String },
}

impl OptionFault {
    pub fn kind(&self) -> Kind {
        Kind::Misconfigured
    }
}

/// The option `partition_limit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitFault {
    UnknownSetting { name: String },
    NoLimit,
    Bytes { text: String },
    Rows { text: String },
    Warn { text: String },
    Action { text: String },
}

impl LimitFault {
    pub fn kind(&self) -> Kind {
        Kind::Misconfigured
    }
}

/// The options `tenant` and `tenant_limits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantFault {
    TooManyLimits { entries: usize, most: usize },
    UnknownLimit { name: String },
    Limit { value: String, name: String },
    OfKeyspace { keyspace: String, tenant: String, wanted: String },
    LimitsAlone { table: FullName },
    NotFirst { tenant: String, table: FullName, first: String },
    Type { tenant: String, table: FullName, data_type: DataType },
    OfView { option: &'static str },
}

impl TenantFault {
    pub fn kind(&self) -> Kind {
        Kind::Misconfigured
    }
}
