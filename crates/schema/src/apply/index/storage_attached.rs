//! What Cassandra's storage-attached indexes demand of their column and options.
//!
//! Options that change what a query finds (folding case, normalising text) are checked as Cassandra checks them. Those that tune
//! Cassandra's files are kept and have no effect.

use super::target::Target;
use crate::error::SchemaError;
use crate::index::{ASCII, CASE_SENSITIVE, CLASS, IndexPart, NORMALIZE, SIMILARITY, TARGET};
use crate::table::Table;
use model::lists::VECTORS_MIN;
use model::types::{DataType, java_class_name};
use std::collections::BTreeMap;

const CONNECTIONS: &str = "maximum_node_connections";
const BEAM: &str = "construction_beam_width";
const OPTIMIZE: &str = "optimize_for";

/// The similarity that counts when none is named.
const COSINE: &str = "COSINE";

/// Each text option with its usual value.
const TEXT_OPTIONS: [(&str, bool); 3] = [(CASE_SENSITIVE, true), (NORMALIZE, false), (ASCII, false)];

pub(super) fn check(
    table: &Table,
    targets: &[Target<'_>],
    options: &BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) -> Result<(), SchemaError> {
    let known = [CASE_SENSITIVE, NORMALIZE, ASCII, SIMILARITY, CONNECTIONS, BEAM, OPTIMIZE, TARGET, CLASS];
    let unknown: Vec<&str> =
        options.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
    if !unknown.is_empty() {
        return Err(SchemaError::Config(format!(
            "Properties specified [{}] are not understood by StorageAttachedIndex",
            unknown.join(", ")
        )));
    }
    let &[(part, column)] = targets else {
        let target = options.get(TARGET).map_or("", String::as_str);
        return Err(SchemaError::Invalid(match targets {
            [] => "Failed to retrieve target column for:".to_string(),
            _ => format!("A storage-attached index cannot be created over multiple columns: {target}"),
        }));
    };
    if table.indexes_on(&column.name).any(|other| other.is_storage_attached() && other.part == part) {
        return Err(SchemaError::Invalid(format!(
            "Cannot create more than one storage-attached index on the same column: {}",
            column.name
        )));
    }
    let indexed = indexed_types(part, &column.data_type);
    let is_key = column.kind.is_primary_key();
    check_text_options(is_key, part == IndexPart::Entries, &indexed, options)?;
    check_vector_options(&column.data_type, options)?;
    if let DataType::Vector { element, dimensions } = &column.data_type {
        if **element != DataType::Float {
            return Err(SchemaError::invalid(
                "SAI ANN indexes are only allowed on vector columns with float elements",
            ));
        }
        if *dimensions == 1 && similarity(options) == COSINE {
            return Err(SchemaError::invalid(
                "Cosine similarity is not supported for single-dimension vectors",
            ));
        }
        warnings.push(format!(
            "The index on {} finds nearly all of the nearest rows once its table has {VECTORS_MIN} vectors, without looking at every \
             one. Until then, and where a statement names partitions, ANN OF compares with every row and is exact. EXPLAIN tells \
             which way a statement goes",
            column.name
        ));
        return Ok(());
    }
    match indexed.iter().find(|data_type| !is_supported(data_type)) {
        Some(data_type) => Err(SchemaError::Invalid(format!("Unsupported type: {data_type}"))),
        None => Ok(()),
    }
}

/// The types whose values are looked for.
fn indexed_types(part: IndexPart, data_type: &DataType) -> Vec<DataType> {
    match (part, data_type) {
        (IndexPart::Keys, DataType::Map { key, .. }) => vec![(**key).clone()],
        (IndexPart::Entries, DataType::Map { key, value, .. }) => vec![(**key).clone(), (**value).clone()],
        (IndexPart::Values, DataType::Map { value, .. }) => vec![(**value).clone()],
        (IndexPart::Values, DataType::List { element, .. } | DataType::Set { element, .. }) => {
            vec![(**element).clone()]
        }
        _ => vec![data_type.clone()],
    }
}

/// Values of one piece and a known order; anything that is frozen is such a piece.
fn is_supported(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Blob | DataType::Counter | DataType::Duration)
        && !data_type.is_multi_cell()
}

/// Only what differs from the usual value is looked at, as in Cassandra.
fn check_text_options(
    is_key: bool,
    is_entries: bool,
    indexed: &[DataType],
    options: &BTreeMap<String, String>,
) -> Result<(), SchemaError> {
    let given = || {
        TEXT_OPTIONS.iter().filter_map(|(name, usual)| Some((*name, options.get(*name)?.as_str(), *usual)))
    };
    if is_key && given().next().is_some() {
        let listed: Vec<String> = given().map(|(name, value, _)| format!("'{name}': '{value}'")).collect();
        return Err(SchemaError::Invalid(format!(
            "Analysis options are not supported on primary key columns, but found {{{}}}",
            listed.join(", ")
        )));
    }
    let changed = |(_, value, usual): &(&str, &str, bool)| !value.eq_ignore_ascii_case(&usual.to_string());
    if given().any(|option| changed(&option)) && is_entries {
        let classes: Vec<String> = indexed.iter().map(java_class_name).collect();
        return Err(SchemaError::Invalid(format!(
            "CQL type 'org.apache.cassandra.db.marshal.CompositeType({})' cannot be analyzed.",
            classes.join(",")
        )));
    }
    if given().any(|option| changed(&option))
        && let Some(data_type) = indexed.iter().find(|data_type| !data_type.is_text())
    {
        return Err(SchemaError::Invalid(format!("CQL type {data_type} cannot be analyzed.")));
    }
    let is_word = |value: &str| value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false");
    match given().find(|(_, value, _)| !is_word(value)) {
        None => Ok(()),
        Some((name, "", _)) => Err(SchemaError::Invalid(format!("Empty value for boolean option '{name}'"))),
        Some((name, value, _)) => {
            Err(SchemaError::Invalid(format!("Illegal value for boolean option '{name}': {value}")))
        }
    }
}

fn similarity(options: &BTreeMap<String, String>) -> String {
    options.get(SIMILARITY).map_or(COSINE.into(), |name| name.to_ascii_uppercase())
}

/// The name of the index is missing in two of these sentences: Cassandra has `null` there.
fn check_vector_options(data_type: &DataType, options: &BTreeMap<String, String>) -> Result<(), SchemaError> {
    let given = [SIMILARITY, CONNECTIONS, BEAM, OPTIMIZE].iter().any(|name| options.contains_key(*name));
    if given && !matches!(data_type, DataType::Vector { .. }) {
        return Err(SchemaError::Invalid(format!("CQL type {data_type} cannot have vector options")));
    }
    let fixed = [(CONNECTIONS, "Maximum node connections"), (BEAM, "Construction beam width")];
    if let Some((_, what)) = fixed.iter().find(|(name, _)| options.contains_key(*name)) {
        return Err(SchemaError::Invalid(format!(
            "{what} cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS"
        )));
    }
    let named = similarity(options);
    if !["EUCLIDEAN", "DOT_PRODUCT", COSINE].contains(&named.as_str()) {
        return Err(SchemaError::Invalid(format!(
            "Similarity function {named} was not recognized for index null. Valid values are: EUCLIDEAN, DOT_PRODUCT, COSINE"
        )));
    }
    match options.get(OPTIMIZE).map(|value| value.to_ascii_uppercase()) {
        Some(value) if value != "LATENCY" && value != "RECALL" => Err(SchemaError::Invalid(format!(
            "optimize_for '{value}' was not recognized for index null. Valid values are: LATENCY, RECALL"
        ))),
        _ => Ok(()),
    }
}
