//! What an index may be on.

use crate::change::NewIndex;
use crate::column::{Column, ColumnKind};
use crate::compact::Compact;
use crate::error::SchemaError;
use crate::index::{IndexKind, IndexPart};
use crate::table::Table;
use model::types::{DataType, quote_identifier};

pub(super) type Target<'t> = (IndexPart, &'t Column);

/// Longest name of a column with a custom index.
const NAME_CHARACTERS_MAX: usize = 48;

/// The targets of a statement, each found and allowed. For a collection the bare column means its values.
pub(super) fn read<'t>(
    table: &'t Table,
    new: &NewIndex,
    kind: IndexKind,
) -> Result<Vec<Target<'t>>, SchemaError> {
    let mut targets: Vec<Target<'t>> = Vec::with_capacity(new.targets.len());
    for (part, name) in &new.targets {
        let column = table.column(name).ok_or_else(|| {
            let (name, place) = (quote_identifier(name), quote_identifier(&table.keyspace));
            let table = quote_identifier(&table.name);
            SchemaError::Invalid(format!("Undefined column name {name} in table {place}.{table}"))
        })?;
        let bare = *part == IndexPart::Whole && column.data_type.is_collection();
        targets.push((if bare { IndexPart::Values } else { *part }, column));
    }
    if kind == IndexKind::Composites && targets.is_empty() {
        return Err(SchemaError::invalid(
            "Only CUSTOM indexes can be created without specifying a target column",
        ));
    }
    if kind == IndexKind::Composites && targets.len() > 1 {
        return Err(SchemaError::invalid("Only CUSTOM indexes support multiple columns"));
    }
    for (at, (_, column)) in targets.iter().enumerate() {
        if targets.iter().take(at).any(|(_, earlier)| earlier.name == column.name) {
            return Err(SchemaError::Invalid(format!(
                "Duplicate column '{}' in index target list",
                column.name
            )));
        }
    }
    targets.iter().try_for_each(|(part, column)| check(table, kind, *part, column))?;
    Ok(targets)
}

fn check(table: &Table, kind: IndexKind, part: IndexPart, column: &Column) -> Result<(), SchemaError> {
    let (name, data_type) = (&column.name, &column.data_type);
    let (collection, cells) = (data_type.is_collection(), data_type.is_multi_cell());
    let frozen_collection = collection && !cells;
    let word = part.word().unwrap_or_default();
    let only_key = column.kind == ColumnKind::PartitionKey && table.partition_key.len() == 1;
    let text = if kind == IndexKind::Custom && !is_short_word(name) {
        format!(
            "Column '{name}' is longer than the permissible name length of {NAME_CHARACTERS_MAX} characters or contains \
             non-alphanumeric-underscore characters"
        )
    } else if data_type.references_duration() {
        let holders = match data_type {
            _ if collection => "collections containing durations",
            DataType::Tuple(_) => "tuples containing durations",
            DataType::Udt(_) => "UDTs containing durations",
            _ => "duration columns",
        };
        format!("Secondary indexes are not supported on {holders}")
    } else if table.compact.is_some() && column.kind.is_primary_key() {
        "Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables".to_string()
    } else if table.compact == Some(Compact::Dense) {
        "Secondary indexes are not supported on compact value column of COMPACT STORAGE tables".to_string()
    } else if only_key {
        format!("Cannot create secondary index on the only partition key column {name}")
    } else if frozen_collection && part != IndexPart::Full {
        format!(
            "Cannot create {word}() index on frozen column {name}. Frozen collections are immutable and must be fully \
             indexed by using the 'full({})' modifier",
            quote_identifier(name)
        )
    } else if !frozen_collection && part == IndexPart::Full {
        "full() indexes can only be created on frozen collections".to_string()
    } else if !collection && part != IndexPart::Whole {
        format!("Cannot create {word}() index on {name}. Non-collection columns only support simple indexes")
    } else if matches!(part, IndexPart::Keys | IndexPart::Entries)
        && !matches!(data_type, DataType::Map { .. })
    {
        format!("Cannot create index on {word} of column {name} with non-map type")
    } else if matches!(data_type, DataType::Udt(_)) && cells {
        format!("Cannot create index on non-frozen UDT column {name}")
    } else {
        return Ok(());
    };
    Err(SchemaError::Invalid(text))
}

fn is_short_word(name: &str) -> bool {
    super::is_word(name) && name.len() <= NAME_CHARACTERS_MAX
}
