//! Secondary indexes as data: the values by which a row is found, and where the entries are.
//!
//! An index is a table of its own that no dialect shows: one partition per indexed value (per value and slice of the source where entries
//! are sorted), one row per place that has (or had) the value. Entries enter the log in the commit of their source, so no crash
//! separates them.
//!
//! Guarantees: the indexes lead to every row that the source table shows; none is ever missing. An index may lead to more:
//! an entry whose row has changed may stay, if the writer could not see that it is dead. So a read through an
//! index looks at the rows themselves and drops those that do not match; then its answer is that of reading everything.
//!
//! An entry has the timestamp and lifetime of the cell it was made from, so it expires with the cell. A deletion with the
//! timestamp of a replaced cell hides that cell's entry and no later one. Hence entries may arrive in any order,
//! twice, or after they were deleted, as happens when an index is built while its table is written to.

mod delta;
mod place;
mod sorted;
#[cfg(test)]
mod tests;

pub use delta::{Needs, additions, delta, needs};
pub use place::{Candidate, Place, candidate, candidate_of, partitions_slice, path_of, place_of};
pub use sorted::{ValueRange, slice_end};

use crate::TableId;
use model::comparable;
use model::key::PartitionKey;
use model::lists::Lists;
use model::row::ColumnId;
use model::text::TextChange;
use model::token::murmur3_h1;
use model::types::DataType;
use std::borrow::Cow;
use std::sync::Arc;

/// One index of a table, as its store must know it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexConfig {
    /// Holds the entries.
    pub table: TableId,
    /// Entries lie in the order of their values, so that ranges can be read.
    pub sorted: bool,
    /// What counts of its texts.
    pub change: TextChange,
    pub source: Source,
}

/// What of a row is indexed.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The value of a column that is one cell (regular or static).
    Cell { column: ColumnId, data_type: DataType },
    /// The elements of a set, or the keys of a map, of many cells.
    Path { column: ColumnId, data_type: DataType },
    /// The elements of a list, or the values of a map (then with the type of its keys), of many cells.
    Value { column: ColumnId, data_type: DataType, map_key: Option<DataType> },
    /// The entries of a map of many cells.
    Entry { column: ColumnId, key: DataType, value: DataType },
    /// A clustering column. `columns` are the types and directions up to and with it.
    Clustering { columns: Vec<(DataType, bool)> },
    /// A column of a partition key of several.
    Partition { position: usize, data_type: DataType },
    /// A vector, by the list that it is in. Its code is part of the entry.
    Near { column: ColumnId, lists: Arc<Lists> },
}

/// Longer forms of values are cut and followed by a hash of the whole. If two values still coincide, a look at the rows tells them
/// apart.
const VALUE_BYTES_MAX: usize = 1024;

impl Source {
    /// The column outside the key that the index is on.
    pub fn column(&self) -> Option<ColumnId> {
        match self {
            Source::Cell { column, .. }
            | Source::Path { column, .. }
            | Source::Value { column, .. }
            | Source::Entry { column, .. }
            | Source::Near { column, .. } => Some(*column),
            Source::Clustering { .. } | Source::Partition { .. } => None,
        }
    }
}

impl IndexConfig {
    /// The comparable form of a value in wire form. `None`: no row can have it.
    pub fn form(&self, value: &[u8]) -> Option<Vec<u8>> {
        let data_type = match &self.source {
            Source::Cell { data_type, .. }
            | Source::Path { data_type, .. }
            | Source::Value { data_type, .. }
            | Source::Partition { data_type, .. } => data_type,
            Source::Clustering { columns } => &columns.last()?.0,
            Source::Near { lists, .. } => return Some(form_of_list(lists.list_of(value))),
            Source::Entry { .. } => return None,
        };
        comparable_of(data_type, &self.change.apply(value))
    }

    /// The comparable form of an entry of a map.
    pub fn form_of_entry(&self, map_key: &[u8], map_value: &[u8]) -> Option<Vec<u8>> {
        let Source::Entry { key, value, .. } = &self.source else { return None };
        let mut bytes = comparable_of(key, map_key)?;
        bytes.extend(comparable_of(value, map_value)?);
        Some(bytes)
    }

    /// The partition that leads from a value in wire form to places beside `source`.
    pub fn partition_of(&self, value: &[u8], source: &PartitionKey) -> Option<PartitionKey> {
        self.partition(&self.form(value)?, source.prefix())
    }

    /// The partition that leads from a form to places in the slice of `source`, a storage key (of anything, if entries are not sorted).
    pub fn partition(&self, form: &[u8], source: &[u8]) -> Option<PartitionKey> {
        match self.sorted {
            true => sorted::partition(form, source),
            false => PartitionKey::of(&cut(form)),
        }
    }
}

/// The form that the vectors of a list are found by.
pub fn form_of_list(list: usize) -> Vec<u8> {
    let [.., high, low] = list.to_be_bytes();
    vec![sorted::VALUE, high, low]
}

fn comparable_of(data_type: &DataType, value: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(value.len() + 2);
    comparable::encode(data_type, false, value, &mut bytes).ok()?;
    Some(bytes)
}

/// What of a comparable form is kept: equal values have equal forms.
fn cut(form: &[u8]) -> Cow<'_, [u8]> {
    match form.get(..VALUE_BYTES_MAX) {
        Some(first) if form.len() > VALUE_BYTES_MAX => {
            Cow::Owned([first, &murmur3_h1(form).to_be_bytes()].concat())
        }
        _ => Cow::Borrowed(form),
    }
}
