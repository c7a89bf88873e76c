//! Option values as Cassandra 5.0.6 answered them (recorded from a real node).

use crate::CqlError;
use design::act_as::{Profile, refused};
use schema::{
    CompactionPlan, CompressionPlan, OPTIONS, Owner, Properties, PropertyValue, SchemaError, TableOptions,
};
use std::collections::BTreeMap;

fn text(name: &'static str, value: &str) -> Result<TableOptions, SchemaError> {
    let properties = Properties::from_iter([(name, PropertyValue::Text(value.into()))]);
    TableOptions::default().with(&properties)
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

fn map(name: &'static str, value: &[(&str, &str)]) -> Result<TableOptions, SchemaError> {
    let properties = Properties::from_iter([(name, PropertyValue::Map(pairs(value)))]);
    TableOptions::default().with(&properties)
}

fn config(got: Result<TableOptions, SchemaError>, message: &str) {
    assert_eq!(got.map_err(CqlError::from), Err(CqlError::Config(message.into())));
}

fn syntax(got: Result<TableOptions, SchemaError>, message: &str) {
    assert_eq!(got.map_err(CqlError::from), Err(CqlError::Syntax(message.into())));
}

#[test]
fn plain_values_are_checked() {
    syntax(text("foo", "1"), "Unknown property 'foo'");
    syntax(map("comment", &[("a", "b")]), "Invalid value for property 'comment'. It should be a string");
    syntax(text("compaction", "x"), "Invalid value for property 'compaction'. It should be a map.");
    syntax(text("gc_grace_seconds", "x"), "Invalid integer value x for 'gc_grace_seconds'");
    syntax(text("default_time_to_live", "1.5"), "Invalid integer value 1.5 for 'default_time_to_live'");
    syntax(text("bloom_filter_fp_chance", "x"), "Invalid double value x for 'bloom_filter_fp_chance'");
    syntax(
        text("cdc", "x"),
        "Invalid boolean value x for 'cdc'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', \
         'false' or 'no'.",
    );
    config(text("gc_grace_seconds", "-1"), "gc_grace_seconds must be greater than or equal to 0 (got -1)");
    config(
        text("default_time_to_live", "630720001"),
        "default_time_to_live must be less than or equal to 630720000 (got 630720001)",
    );
    config(
        text("bloom_filter_fp_chance", "0.00001"),
        "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got 1.0E-5)",
    );
    config(
        text("crc_check_chance", "-0.5"),
        "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got -0.5)",
    );
    config(text("min_index_interval", "0"), "min_index_interval must be greater than or equal to 1 (got 0)");
    config(
        text("max_index_interval", "1"),
        "max_index_interval must be greater than or equal to min_index_interval (128) (got 1)",
    );
    config(text("memtable", "x"), "Memtable configuration \"x\" not found.");
    assert_eq!(text("memtable", "default").unwrap(), TableOptions::default());
    assert_eq!(text("review", "ENFORCE").unwrap().review, "enforce");
}

#[test]
fn retry_policies_have_one_spelling() {
    for (written, kept) in [
        ("99PERCENTILE", "99p"),
        ("99.0PERCENTILE", "99p"),
        ("always", "ALWAYS"),
        ("none", "NEVER"),
        ("50ms", "50ms"),
        ("50.5ms", "50ms"),
        ("MIN(99p,50ms)", "MIN(99p,50ms)"),
        ("max(99.9P, 10ms)", "MAX(99.9p,10ms)"),
    ] {
        assert_eq!(text("speculative_retry", written).unwrap().speculative_retry, kept, "{written}");
    }
    config(text("additional_write_policy", "x"), "Invalid value x for option 'speculative_retry'");
    config(text("speculative_retry", "-1ms"), "Invalid value -1ms for option 'speculative_retry'");
    config(
        text("speculative_retry", "101p"),
        "Invalid value 101p for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)",
    );
}

#[test]
fn compression_is_normalised() {
    let stored = |asked: &[(&str, &str)]| map("compression", asked).unwrap();
    let off = pairs(&[("enabled", "false")]);
    for asked in [&[][..], &[("enabled", "false")], &[("enabled", "x")]] {
        assert_eq!(stored(asked).compression, off);
        assert_eq!(stored(asked).compression_plan(), CompressionPlan::None);
    }
    let zstd =
        stored(&[("class", "ZstdCompressor"), ("compression_level", "5"), ("chunk_length_in_kb", "64")]);
    assert_eq!(zstd.compression_plan(), CompressionPlan::Zstd);
    assert_eq!(zstd.compression["class"], "org.apache.cassandra.io.compress.ZstdCompressor");
    assert_eq!(stored(&[("class", "SnappyCompressor")]).compression["chunk_length_in_kb"], "16");
    let lz4 = |name: &str, value: &str| map("compression", &[("class", "LZ4Compressor"), (name, value)]);
    config(lz4("foo", "x"), "Unknown compression options foo");
    config(lz4("chunk_length_in_kb", "x"), "Invalid value for chunk_length_in_kb");
    config(lz4("chunk_length_in_kb", "4294967296"), "Invalid value for chunk_length_in_kb");
    config(lz4("chunk_length_in_kb", "3"), "chunk_length_in_kb must be a power of 2");
    config(lz4("chunk_length_in_kb", "0"), "Invalid negative or null chunk_length_in_kb");
    config(
        lz4("min_compress_ratio", "0.5"),
        "min_compress_ratio can either be 0 or greater than or equal to 1",
    );
    config(
        lz4("lz4_high_compressor_level", "99"),
        "Invalid value [99] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17.",
    );
    config(
        map("compression", &[("class", "Nope")]),
        "Could not create Compression for type org.apache.cassandra.io.compress.Nope",
    );
    config(
        map("compression", &[("enabled", "false"), ("class", "LZ4Compressor")]),
        "If the 'enabled' option is set to false no other options must be specified",
    );
    config(
        map("compression", &[("chunk_length_in_kb", "64")]),
        "Missing sub-option 'class' for the 'compression' option.",
    );
}

#[test]
fn caching_is_normalised() {
    assert_eq!(
        map("caching", &[]).unwrap().caching,
        pairs(&[("keys", "NONE"), ("rows_per_partition", "NONE")])
    );
    let all = map("caching", &[("keys", "none"), ("rows_per_partition", "all")]).unwrap().caching;
    assert_eq!(all, pairs(&[("keys", "NONE"), ("rows_per_partition", "ALL")]));
    config(
        map("caching", &[("foo", "x")]),
        "Invalid caching sub-options [foo]: only 'keys' and 'rows_per_partition' are allowed",
    );
    config(
        map("caching", &[("rows_per_partition", "-1")]),
        "Invalid value '-1' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are \
         allowed",
    );
}

fn strategy(class: &str, more: &[(&str, &str)]) -> Result<TableOptions, SchemaError> {
    let all: Vec<_> = [("class", class)].into_iter().chain(more.iter().copied()).collect();
    map("compaction", &all)
}

#[test]
fn compaction_means_something_to_a_store() {
    let plan = |class: &str, more: &[(&str, &str)]| strategy(class, more).unwrap().compaction_plan();
    let unified = |scaling: i32| CompactionPlan::Unified { scaling };
    assert_eq!(plan("SizeTieredCompactionStrategy", &[]), unified(2));
    assert_eq!(plan("SizeTieredCompactionStrategy", &[("min_threshold", "8")]), unified(6));
    assert_eq!(plan("LeveledCompactionStrategy", &[]), unified(-8));
    assert_eq!(plan("UnifiedCompactionStrategy", &[]), unified(2));
    assert_eq!(plan("UnifiedCompactionStrategy", &[("scaling_parameters", "L10, T4")]), unified(-8));
    assert_eq!(plan("UnifiedCompactionStrategy", &[("scaling_parameters", "N")]), unified(0));
    assert_eq!(plan("SizeTieredCompactionStrategy", &[("enabled", "false")]), CompactionPlan::Off);
    let window = [("compaction_window_unit", "HOURS"), ("compaction_window_size", "6")];
    let expect = CompactionPlan::TimeWindow { window_seconds: 21_600 };
    assert_eq!(plan("TimeWindowCompactionStrategy", &window), expect);
    let full = strategy("LeveledCompactionStrategy", &[("sstable_size_in_mb", "100")]).unwrap().compaction;
    assert_eq!(full["class"], "org.apache.cassandra.db.compaction.LeveledCompactionStrategy");
    assert_eq!((full["min_threshold"].as_str(), full["max_threshold"].as_str()), ("4", "32"));
}

#[test]
fn compaction_options_are_checked() {
    let sized = |name: &str, value: &str| strategy("SizeTieredCompactionStrategy", &[(name, value)]);
    config(
        sized("foo", "bar"),
        "Properties specified [foo] are not understood by SizeTieredCompactionStrategy",
    );
    config(sized("min_threshold", "1"), "Min compaction threshold cannot be less than 2 (got 1)");
    config(sized("bucket_low", "x"), "x is not a parsable float for bucket_low");
    config(
        sized("bucket_low", "2"),
        "bucket_high value (1.5) is less than or equal to the bucket_low value (2.0)",
    );
    config(
        sized("tombstone_threshold", "-1"),
        "tombstone_threshold must be greater than 0, but was -1.000000",
    );
    config(sized("enabled", "x"), "enabled should either be 'true' or 'false', not x");
    config(sized("log_all", "x"), "'log_all' should either be 'true' or 'false', not x");
    config(
        sized("max_threshold", "1"),
        "Min compaction threshold (got 4) cannot be greater than max compaction threshold (got 1)",
    );
    let unified = |name: &str, value: &str| strategy("UnifiedCompactionStrategy", &[(name, value)]);
    config(unified("scaling_parameters", "T1"), "Fan factor cannot be lower than 2 in T1");
    config(
        unified("scaling_parameters", "X4"),
        "Scaling parameter X4 must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+",
    );
    config(
        unified("min_threshold", "1"),
        "Properties specified [min_threshold] are not understood by UnifiedCompactionStrategy",
    );
    config(
        unified("min_sstable_size", "10GiB"),
        "Invalid configuration, min_sstable_size (10.000GiB) should be less than 70% of the targetSSTableSize \
         (1.000GiB)",
    );
    config(
        strategy("TimeWindowCompactionStrategy", &[("compaction_window_unit", "WEEKS")]),
        "WEEKS is not valid for compaction_window_unit",
    );
    config(map("compaction", &[]), "Missing sub-option 'class' for the 'compaction' option");
    config(
        strategy("Nope", &[]),
        "Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.Nope'",
    );
}

/// Who acts as another server must refuse what that one has not.
#[test]
fn our_own_options_are_refused_in_the_name_of_others() {
    let text = |name: &str| format!("ALTER TABLE k.t WITH {name} = 'x'");
    for option in &OPTIONS {
        let statement = cql_syntax::parse_statement(&text(option.name)).unwrap().statement;
        let refused = refused(Profile::Cassandra5, &statement, &text(option.name)).is_some();
        let is_ours = option.owner == Owner::Partita || ["bucketing", "retention"].contains(&option.name);
        assert_eq!(refused, is_ours, "{}", option.name);
    }
}
