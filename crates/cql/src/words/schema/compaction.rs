//! Words: the options `compaction` and `compression`.

use schema::fault::{CompactionFault, CompressionFault};
use schema::java_double;

const MEBIBYTE: f64 = 1_048_576.0;

pub fn compaction(fault: &CompactionFault) -> String {
    match fault {
        CompactionFault::ClassMissing => "Missing sub-option 'class' for the 'compaction' option".into(),
        CompactionFault::ClassUnknown { class } => format!("Unable to find compaction strategy class '{class}'"),
        CompactionFault::OverlappingTombstones { value } => format!("Invalid value {value} for 'provide_overlapping_tombstones' compaction sub-option - must be one of the following [NONE, ROW, CELL]."),
        CompactionFault::Threshold { value, name } => format!("Invalid value {value} for '{name}' compaction sub-option - must be an integer"),
        CompactionFault::ThresholdZero => "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction option 'enabled' to false instead.".into(),
        CompactionFault::ThresholdTooLow { low } => format!("Min compaction threshold cannot be less than 2 (got {low})"),
        CompactionFault::ThresholdsCross { low, high } => format!("Min compaction threshold (got {low}) cannot be greater than max compaction threshold (got {high})"),
        CompactionFault::UnknownOptions { options, strategy } => format!("Properties specified [{options}] are not understood by {strategy}", options = options.join(", ")),
        CompactionFault::NotParsable { text, kind, name } => format!("{text} is not a parsable {kind} for {name}"),
        CompactionFault::TombstoneThreshold { threshold } => format!("tombstone_threshold must be greater than 0, but was {threshold:.6}"),
        CompactionFault::TombstoneInterval { interval } => format!("tombstone_compaction_interval must be greater than 0, but was {interval}"),
        CompactionFault::Unchecked { text } => format!("'unchecked_tombstone_compaction' should be either 'true' or 'false', not '{text}'"),
        CompactionFault::LogAll { text } => format!("'log_all' should either be 'true' or 'false', not {text}"),
        CompactionFault::Enabled { text } => format!("enabled should either be 'true' or 'false', not {text}"),
        CompactionFault::LeastSizeNegative { size } => format!("min_sstable_size must be non negative: {size}"),
        CompactionFault::BucketsCross { high, low } => format!("bucket_high value ({high}) is less than or equal to the bucket_low value ({low})", high = java_double(*high), low = java_double(*low)),
        CompactionFault::NotPositive { name, value } => format!("{name} must be larger than 0, but was {value}"),
        CompactionFault::NotValid { text, name } => format!("{text} is not valid for {name}"),
        CompactionFault::WindowSize { size } => format!("{size} must be greater than 1 for compaction_window_size"),
        CompactionFault::Negative { name, value } => format!("{name} must not be negative, but was {value}"),
        CompactionFault::AggressiveExpiration { name } => format!("{name} is requested but not allowed, restart cassandra with -Dcassandra.allow_{name}=true to allow it. Partita drops files whose data has all expired without it."),
        CompactionFault::NotBoolean { name, text } => format!("{name} is not 'true' or 'false' ({text})"),
        CompactionFault::Scaling { text } => format!("Scaling parameter {text} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+"),
        CompactionFault::FanFactor { text } => format!("Fan factor cannot be lower than 2 in {text}"),
        CompactionFault::ShardCount { shards } => format!("Invalid configuration, base_shard_count should be positive: {shards}"),
        CompactionFault::GrowthMalformed { text } => format!("sstable_growth is not a valid number between 0 and 1: For input string: \"{text}\""),
        CompactionFault::GrowthOutOfBounds { text } => format!("sstable_growth {text} must be between 0 and 1"),
        CompactionFault::LeastSizeMalformed { text } => format!("{text} is not a valid size in bytes for min_sstable_size"),
        CompactionFault::LeastSizeAboveTarget { least, target } => format!("Invalid configuration, min_sstable_size ({least}) should be less than 70% of the targetSSTableSize ({target})", least = gibibytes(*least), target = gibibytes(*target)),
        CompactionFault::OverlapMethod { text, methods } => format!("Invalid overlap inclusion method {text}. The valid options are [{methods}].", methods = methods.join(", ")),
        CompactionFault::TargetMalformed { text } => format!("target_sstable_size {text} is not a valid size in bytes: {text} does not end in unit B"),
        CompactionFault::TargetTooSmall { text } => format!("target_sstable_size {text} is not acceptable, size must be at least 1.000MiB"),
    }
}

pub fn compression(fault: &CompressionFault) -> String {
    match fault {
        CompressionFault::OffWithOptions => {
            "If the 'enabled' option is set to false no other options must be specified".into()
        }
        CompressionFault::ClassMissing => "Missing sub-option 'class' for the 'compression' option.".into(),
        CompressionFault::ClassEmpty => {
            "The 'class' option must not be empty. To disable compression use 'enabled' : false".into()
        }
        CompressionFault::ChunkMalformed => "Invalid value for chunk_length_in_kb".into(),
        CompressionFault::ChunkNotPositive => "Invalid negative or null chunk_length_in_kb".into(),
        CompressionFault::ChunkNotAPower => "chunk_length_in_kb must be a power of 2".into(),
        CompressionFault::RatioMalformed { text } => format!("Invalid value for min_compress_ratio: {text}"),
        CompressionFault::RatioBelowOne => {
            "min_compress_ratio can either be 0 or greater than or equal to 1".into()
        }
        CompressionFault::ClassUnknown { class } => format!("Could not create Compression for type {class}"),
        CompressionFault::Lz4Type { kind } => format!(
            "Invalid compressor type '{kind}' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are [high, fast]."
        ),
        CompressionFault::UnknownOptions { options } => {
            format!("Unknown compression options {options}", options = options.join(", "))
        }
        CompressionFault::Lz4Level { level } => format!(
            "Invalid value [{level}] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17."
        ),
        CompressionFault::ZstdLevel { level } => format!(
            "ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException compression_level={level} is invalid"
        ),
        CompressionFault::ZstdLevelMalformed { level } => format!(
            "ZstdCompressor.create() threw an error: java.lang.NumberFormatException For input string: \"{level}\""
        ),
    }
}

fn gibibytes(value: f64) -> String {
    let gibibyte = 1024.0 * MEBIBYTE;
    if value >= gibibyte {
        format!("{:.3}GiB", value / gibibyte)
    } else {
        format!("{:.3}MiB", value / MEBIBYTE)
    }
}
