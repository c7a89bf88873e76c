//! The options `compaction` and `compression`. Facts without words.

use super::Kind;

/// The option `compaction`.
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionFault {
    ClassMissing,
    ClassUnknown { class: String },
    OverlappingTombstones { value: String },
    Threshold { value: String, name: String },
    ThresholdZero,
    ThresholdTooLow { low: i32 },
    ThresholdsCross { low: i32, high: i32 },
    UnknownOptions { options: Vec<String>, strategy: String },
    NotParsable { text: String, kind: &'static str, name: &'static str },
    TombstoneThreshold { threshold: f64 },
    TombstoneInterval { interval: i64 },
    Unchecked { text: String },
    LogAll { text: String },
    Enabled { text: String },
    LeastSizeNegative { size: i64 },
    BucketsCross { high: f64, low: f64 },
    NotPositive { name: &'static str, value: i32 },
    NotValid { text: String, name: &'static str },
    WindowSize { size: i32 },
    Negative { name: &'static str, value: i64 },
    AggressiveExpiration { name: &'static str },
    NotBoolean { name: &'static str, text: String },
    Scaling { text: String },
    FanFactor { text: String },
    ShardCount { shards: i32 },
    GrowthMalformed { text: String },
    GrowthOutOfBounds { text: String },
    LeastSizeMalformed { text: String },
    LeastSizeAboveTarget { least: f64, target: f64 },
    OverlapMethod { text: String, methods: Vec<String> },
    TargetMalformed { text: String },
    TargetTooSmall { text: String },
}

impl CompactionFault {
    pub fn kind(&self) -> Kind {
        Kind::Misconfigured
    }
}

/// The option `compression`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompressionFault {
    OffWithOptions,
    ClassMissing,
    ClassEmpty,
    ChunkMalformed,
    ChunkNotPositive,
    ChunkNotAPower,
    RatioMalformed { text: String },
    RatioBelowOne,
    ClassUnknown { class: String },
    Lz4Type { kind: String },
    UnknownOptions { options: Vec<String> },
    Lz4Level { level: String },
    ZstdLevel { level: String },
    ZstdLevelMalformed { level: String },
}

impl CompressionFault {
    pub fn kind(&self) -> Kind {
        Kind::Misconfigured
    }
}
