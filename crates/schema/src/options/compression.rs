//! The `compression` map: Cassandra's compressors are accepted; a store maps each to one it has.

use crate::error::SchemaError;
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

fn config(text: impl Into<String>) -> SchemaError {
    SchemaError::Config(text.into())
}

/// The map as it is stored: `{'enabled': 'false'}` or a full class name, a chunk length and the class's options.
pub(super) fn normalise(asked: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, SchemaError> {
    let disabled = BTreeMap::from([("enabled".to_string(), "false".to_string())]);
    let mut options = asked.clone();
    // As Java reads a boolean: anything but "true" is false.
    let enabled = options.remove("enabled").is_none_or(|text| text.eq_ignore_ascii_case("true"));
    if asked.is_empty() || (!enabled && options.is_empty()) {
        return Ok(disabled);
    }
    if !enabled {
        return Err(config("If the 'enabled' option is set to false no other options must be specified"));
    }
    let class = options
        .remove("class")
        .ok_or_else(|| config("Missing sub-option 'class' for the 'compression' option."))?;
    if class.is_empty() {
        return Err(config(
            "The 'class' option must not be empty. To disable compression use 'enabled' : false",
        ));
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

fn chunk_length(text: Option<String>) -> Result<String, SchemaError> {
    let Some(text) = text else { return Ok("16".into()) };
    let wrong = || config(format!("Invalid value for {CHUNK}"));
    let kilobytes: i32 = text.parse().map_err(|_| wrong())?;
    let bytes = kilobytes.checked_mul(1024).ok_or_else(wrong)?;
    if bytes <= 0 {
        return Err(config(format!("Invalid negative or null {CHUNK}")));
    }
    if bytes & (bytes - 1) != 0 {
        return Err(config(format!("{CHUNK} must be a power of 2")));
    }
    Ok(kilobytes.to_string())
}

fn ratio(text: Option<String>) -> Result<Option<String>, SchemaError> {
    let Some(text) = text else { return Ok(None) };
    let value: f64 = text.parse().map_err(|_| config(format!("Invalid value for {RATIO}: {text}")))?;
    if value != 0.0 && value.is_nan() | (value < 1.0) {
        return Err(config(format!("{RATIO} can either be 0 or greater than or equal to 1")));
    }
    // Zero is the default and is not stored.
    Ok((value != 0.0).then(|| super::java_double(value)))
}

fn check_class_options(class: &str, options: &BTreeMap<String, String>) -> Result<(), SchemaError> {
    let known: &[&str] = match class.strip_prefix(PACKAGE) {
        Some("LZ4Compressor") => &["lz4_compressor_type", "lz4_high_compressor_level"],
        Some("ZstdCompressor") => &["compression_level"],
        Some("SnappyCompressor" | "DeflateCompressor" | "NoopCompressor") => &[],
        _ => return Err(config(format!("Could not create Compression for type {class}"))),
    };
    if let Some(kind) = options.get("lz4_compressor_type").filter(|_| known.contains(&"lz4_compressor_type"))
        && !["high", "fast"].contains(&kind.as_str())
    {
        return Err(config(format!(
            "Invalid compressor type '{kind}' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are \
             [high, fast]."
        )));
    }
    level(options, known, "lz4_high_compressor_level", 1..=17, |text| {
        format!(
            "Invalid value [{text}] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17."
        )
    })?;
    level(options, known, "compression_level", -131_072..=22, |text| match text.parse::<i32>() {
        Ok(_) => format!(
            "ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException compression_level={text} is \
             invalid"
        ),
        Err(_) => format!(
            "ZstdCompressor.create() threw an error: java.lang.NumberFormatException For input string: \"{text}\""
        ),
    })?;
    let unknown: Vec<_> = options.keys().filter(|k| !known.contains(&k.as_str())).cloned().collect();
    if !unknown.is_empty() {
        return Err(config(format!("Unknown compression options {}", unknown.join(", "))));
    }
    Ok(())
}

fn level(
    options: &BTreeMap<String, String>,
    known: &[&str],
    name: &str,
    range: std::ops::RangeInclusive<i32>,
    message: impl Fn(&str) -> String,
) -> Result<(), SchemaError> {
    match options.get(name).filter(|_| known.contains(&name)) {
        Some(text) if !text.parse().is_ok_and(|level| range.contains(&level)) => Err(config(message(text))),
        _ => Ok(()),
    }
}
