//! The `compression` map: Cassandra's compressors are accepted; a store maps each to one it has.

use crate::fault::CompressionFault;
use std::collections::BTreeMap;

const PACKAGE: &str = "org.apache.cassandra.io.compress.";
const CHUNK: &str = "chunk_length_in_kb";
const RATIO: &str = "min_compress_ratio";

/// What a store should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionPlan {
    None,
    /// Fast: also stands for Snappy.
    Lz4,
    /// Dense: also stands for Deflate.
    Zstd,
}

pub(super) fn plan(stored: &BTreeMap<String, String>) -> CompressionPlan {
    match stored.get("class").and_then(|class| class.strip_prefix(PACKAGE)) {
        Some("ZstdCompressor" | "DeflateCompressor") => CompressionPlan::Zstd,
        Some("LZ4Compressor" | "SnappyCompressor") => CompressionPlan::Lz4,
        _ => CompressionPlan::None,
    }
}

/// The map as it is stored: `{'enabled': 'false'}` or a full class name, a chunk length and the class's options.
pub(super) fn normalise(
    asked: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, CompressionFault> {
    let disabled = BTreeMap::from([("enabled".to_string(), "false".to_string())]);
    let mut options = asked.clone();
    // As Java reads a boolean: anything but "true" is false.
    let enabled = options.remove("enabled").is_none_or(|text| text.eq_ignore_ascii_case("true"));
    if asked.is_empty() || (!enabled && options.is_empty()) {
        return Ok(disabled);
    }
    if !enabled {
        return Err(CompressionFault::OffWithOptions);
    }
    let class = options.remove("class").ok_or(CompressionFault::ClassMissing)?;
    if class.is_empty() {
        return Err(CompressionFault::ClassEmpty);
    }
    let class = if class.contains('.') { class } else { format!("{PACKAGE}{class}") };
    let chunk = chunk_length(options.remove(CHUNK))?;
    let ratio = ratio(options.remove(RATIO))?;
    check_class_options(&class, &options)?;
    let mut stored = options;
    stored.insert("class".into(), class);
    stored.insert(CHUNK.into(), chunk);
    if let Some(ratio) = ratio {
        stored.insert(RATIO.into(), ratio);
    }
    Ok(stored)
}

fn chunk_length(text: Option<String>) -> Result<String, CompressionFault> {
    let Some(text) = text else { return Ok("16".into()) };
    let wrong = || CompressionFault::ChunkMalformed;
    let kilobytes: i32 = text.parse().map_err(|_| wrong())?;
    let bytes = kilobytes.checked_mul(1024).ok_or_else(wrong)?;
    if bytes <= 0 {
        return Err(CompressionFault::ChunkNotPositive);
    }
    if bytes & (bytes - 1) != 0 {
        return Err(CompressionFault::ChunkNotAPower);
    }
    Ok(kilobytes.to_string())
}

fn ratio(text: Option<String>) -> Result<Option<String>, CompressionFault> {
    let Some(text) = text else { return Ok(None) };
    let value: f64 = text.parse().map_err(|_| CompressionFault::RatioMalformed { text: text.to_string() })?;
    if value != 0.0 && value.is_nan() | (value < 1.0) {
        return Err(CompressionFault::RatioBelowOne);
    }
    // Zero is the default and is not stored.
    Ok((value != 0.0).then(|| super::java_double(value)))
}

fn check_class_options(class: &str, options: &BTreeMap<String, String>) -> Result<(), CompressionFault> {
    let known: &[&str] = match class.strip_prefix(PACKAGE) {
        Some("LZ4Compressor") => &["lz4_compressor_type", "lz4_high_compressor_level"],
        Some("ZstdCompressor") => &["compression_level"],
        Some("SnappyCompressor" | "DeflateCompressor" | "NoopCompressor") => &[],
        _ => return Err(CompressionFault::ClassUnknown { class: class.to_string() }),
    };
    if let Some(kind) = options.get("lz4_compressor_type").filter(|_| known.contains(&"lz4_compressor_type"))
        && !["high", "fast"].contains(&kind.as_str())
    {
        return Err(CompressionFault::Lz4Type { kind: kind.to_string() });
    }
    level(options, known, "lz4_high_compressor_level", 1..=17, |level| CompressionFault::Lz4Level { level })?;
    level(options, known, "compression_level", -131_072..=22, |level| match level.parse::<i32>() {
        Ok(_) => CompressionFault::ZstdLevel { level },
        Err(_) => CompressionFault::ZstdLevelMalformed { level },
    })?;
    let unknown: Vec<_> = options.keys().filter(|k| !known.contains(&k.as_str())).cloned().collect();
    if !unknown.is_empty() {
        return Err(CompressionFault::UnknownOptions { options: unknown });
    }
    Ok(())
}

fn level(
    options: &BTreeMap<String, String>,
    known: &[&str],
    name: &str,
    range: std::ops::RangeInclusive<i32>,
    fault: impl Fn(String) -> CompressionFault,
) -> Result<(), CompressionFault> {
    match options.get(name).filter(|_| known.contains(&name)) {
        Some(text) if !text.parse().is_ok_and(|level| range.contains(&level)) => Err(fault(text.clone())),
        _ => Ok(()),
    }
}
