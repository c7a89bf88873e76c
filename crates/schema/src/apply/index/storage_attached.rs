//! What Cassandra's storage-attached indexes demand of their column and options.
//!
//! Options that change what a query finds (folding case, normalising text) are checked as Cassandra checks them. Those that tune
//! Cassandra's files are kept and have no effect.

use super::target::Target;
use crate::fault::{AttachedFault, SchemaError, Warning};
use crate::index::{ASCII, CASE_SENSITIVE, CLASS, IndexPart, NORMALIZE, SIMILARITY, TARGET};
use crate::table::Table;
use model::types::DataType;
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
    warnings: &mut Vec<Warning>,
) -> Result<(), SchemaError> {
    let known = [CASE_SENSITIVE, NORMALIZE, ASCII, SIMILARITY, CONNECTIONS, BEAM, OPTIMIZE, TARGET, CLASS];
    let unknown: Vec<String> =
        options.keys().filter(|name| !known.contains(&name.as_str())).cloned().collect();
    if !unknown.is_empty() {
        return Err(AttachedFault::UnknownOptions { options: unknown }.into());
    }
    let &[(part, column)] = targets else {
        let target = options.get(TARGET).cloned().unwrap_or_default();
        return Err(match targets {
            [] => AttachedFault::NoTarget,
            _ => AttachedFault::SeveralTargets { target },
        }
        .into());
    };
    if table.indexes_on(&column.name).any(|other| other.is_storage_attached() && other.part == part) {
        return Err(AttachedFault::Several { column: column.name.to_string() }.into());
    }
    let indexed = indexed_types(part, &column.data_type);
    let is_key = column.kind.is_primary_key();
    check_text_options(is_key, part == IndexPart::Entries, &indexed, options)?;
    check_vector_options(&column.data_type, options)?;
    if let DataType::Vector { element, dimensions } = &column.data_type {
        if **element != DataType::Float {
            return Err(AttachedFault::VectorElement.into());
        }
        if *dimensions == 1 && similarity(options) == COSINE {
            return Err(AttachedFault::CosineOfOne.into());
        }
        warnings.push(Warning::VectorsNearly { column: column.name.to_string() });
        return Ok(());
    }
    match indexed.iter().find(|data_type| !is_supported(data_type)) {
        Some(data_type) => Err(AttachedFault::Type { data_type: data_type.clone() }.into()),
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
        return Err(AttachedFault::AnalysisOfKey { options: listed }.into());
    }
    let changed = |(_, value, usual): &(&str, &str, bool)| !value.eq_ignore_ascii_case(&usual.to_string());
    if given().any(|option| changed(&option)) && is_entries {
        return Err(AttachedFault::AnalysisOfEntries { types: indexed.to_vec() }.into());
    }
    if given().any(|option| changed(&option))
        && let Some(data_type) = indexed.iter().find(|data_type| !data_type.is_text())
    {
        return Err(AttachedFault::AnalysisOf { data_type: data_type.clone() }.into());
    }
    let is_word = |value: &str| value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false");
    match given().find(|(_, value, _)| !is_word(value)) {
        None => Ok(()),
        Some((name, "", _)) => Err(AttachedFault::EmptyBoolean { option: name.to_string() }.into()),
        Some((name, value, _)) => {
            Err(AttachedFault::Boolean { option: name.to_string(), value: value.to_string() }.into())
        }
    }
}

fn similarity(options: &BTreeMap<String, String>) -> String {
    options.get(SIMILARITY).map_or(COSINE.into(), |name| name.to_ascii_uppercase())
}

fn check_vector_options(data_type: &DataType, options: &BTreeMap<String, String>) -> Result<(), SchemaError> {
    let given = [SIMILARITY, CONNECTIONS, BEAM, OPTIMIZE].iter().any(|name| options.contains_key(*name));
    if given && !matches!(data_type, DataType::Vector { .. }) {
        return Err(AttachedFault::VectorOptionsOf { data_type: data_type.clone() }.into());
    }
    if options.contains_key(CONNECTIONS) {
        return Err(AttachedFault::NodeConnections.into());
    }
    if options.contains_key(BEAM) {
        return Err(AttachedFault::BeamWidth.into());
    }
    let named = similarity(options);
    if !["EUCLIDEAN", "DOT_PRODUCT", COSINE].contains(&named.as_str()) {
        return Err(AttachedFault::Similarity { name: named.to_string() }.into());
    }
    match options.get(OPTIMIZE).map(|value| value.to_ascii_uppercase()) {
        Some(value) if value != "LATENCY" && value != "RECALL" => {
            Err(AttachedFault::OptimizeFor { value: value.to_string() }.into())
        }
        _ => Ok(()),
    }
}
