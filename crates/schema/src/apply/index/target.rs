//! What an index may be on.

use crate::change::NewIndex;
use crate::column::{Column, ColumnKind};
use crate::compact::Compact;
use crate::fault::{IndexFault, SchemaError};
use crate::index::{IndexKind, IndexPart};
use crate::table::Table;
use model::types::DataType;

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
        let column = table.column(name).ok_or_else(|| IndexFault::UndefinedColumn {
            column: name.to_string(),
            table: table.full_name(),
        })?;
        let bare = *part == IndexPart::Whole && column.data_type.is_collection();
        targets.push((if bare { IndexPart::Values } else { *part }, column));
    }
    if kind == IndexKind::Composites && targets.is_empty() {
        return Err(IndexFault::NoTarget.into());
    }
    if kind == IndexKind::Composites && targets.len() > 1 {
        return Err(IndexFault::SeveralTargets.into());
    }
    for (at, (_, column)) in targets.iter().enumerate() {
        if targets.iter().take(at).any(|(_, earlier)| earlier.name == column.name) {
            return Err(IndexFault::DuplicateTarget { column: column.name.to_string() }.into());
        }
    }
    targets.iter().try_for_each(|(part, column)| check(table, kind, *part, column))?;
    Ok(targets)
}

fn check(table: &Table, kind: IndexKind, part: IndexPart, column: &Column) -> Result<(), SchemaError> {
    let (name, data_type) = (&column.name, &column.data_type);
    let (collection, cells) = (data_type.is_collection(), data_type.is_multi_cell());
    let frozen_collection = collection && !cells;
    let only_key = column.kind == ColumnKind::PartitionKey && table.partition_key.len() == 1;
    let column_name = name.to_string();
    let fault = if kind == IndexKind::Custom && !is_short_word(name) {
        IndexFault::ColumnName { column: column_name, characters_max: NAME_CHARACTERS_MAX }
    } else if data_type.references_duration() {
        IndexFault::Durations { data_type: data_type.clone() }
    } else if table.compact.is_some() && column.kind.is_primary_key() {
        IndexFault::CompactKey
    } else if table.compact == Some(Compact::Dense) {
        IndexFault::CompactValue
    } else if only_key {
        IndexFault::OnlyKey { column: column_name }
    } else if frozen_collection && part != IndexPart::Full {
        IndexFault::FrozenInParts { part, column: column_name }
    } else if !frozen_collection && part == IndexPart::Full {
        IndexFault::FullOfOthers
    } else if !collection && part != IndexPart::Whole {
        IndexFault::PartOfOthers { part, column: column_name }
    } else if matches!(part, IndexPart::Keys | IndexPart::Entries)
        && !matches!(data_type, DataType::Map { .. })
    {
        IndexFault::NotAMap { part, column: column_name }
    } else if matches!(data_type, DataType::Udt(_)) && cells {
        IndexFault::UdtColumn { column: column_name }
    } else {
        return Ok(());
    };
    Err(fault.into())
}

fn is_short_word(name: &str) -> bool {
    super::is_word(name) && name.len() <= NAME_CHARACTERS_MAX
}
