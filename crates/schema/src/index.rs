//! A secondary index of a table.

use model::lists::{DIMENSIONS_MAX, Lists};
use model::text::TextChange;
use model::types::DataType;
use model::vector::Similarity;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Options that the server sets itself.
pub(crate) const TARGET: &str = "target";
pub(crate) const CLASS: &str = "class_name";

/// What an index on a vector compares by.
pub(crate) const SIMILARITY: &str = "similarity_function";

/// Options of indexes on texts.
pub(crate) const CASE_SENSITIVE: &str = "case_sensitive";
pub(crate) const NORMALIZE: &str = "normalize";
pub(crate) const ASCII: &str = "ascii";

/// Which part of its column an index is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPart {
    /// The value of a column that is no collection.
    Whole,
    Keys,
    Values,
    Entries,
    /// A frozen collection as one value.
    Full,
}

impl IndexPart {
    /// The word before the parentheses; `None` when there is just the column.
    pub fn word(self) -> Option<&'static str> {
        match self {
            IndexPart::Whole => None,
            IndexPart::Keys => Some("keys"),
            IndexPart::Values => Some("values"),
            IndexPart::Entries => Some("entries"),
            IndexPart::Full => Some("full"),
        }
    }

    /// Whether a column of this type has such a part.
    pub fn suits(self, data_type: &DataType) -> bool {
        let cells = data_type.is_multi_cell();
        match self {
            IndexPart::Whole => !data_type.is_collection() && !cells,
            IndexPart::Full => data_type.is_collection() && !cells,
            IndexPart::Values => data_type.is_collection() && cells,
            IndexPart::Keys | IndexPart::Entries => matches!(data_type, DataType::Map { .. }) && cells,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// `CREATE INDEX`: Cassandra's own kind.
    Composites,
    /// `CREATE CUSTOM INDEX … USING 'class'`, or `CREATE INDEX … USING 'sai'`.
    Custom,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Unique in its keyspace.
    pub name: Arc<str>,
    /// Names its table of entries in the log and in files for ever; from the same numbers as tables.
    pub id: u32,
    pub column: Arc<str>,
    pub part: IndexPart,
    pub kind: IndexKind,
    /// As `system_schema.indexes` shows them: `target`, for custom ones `class_name`, and what the user gave.
    pub options: BTreeMap<String, String>,
    /// Its entries lie in the order of their values: ranges can be read from it. Those that were made before this was known are not.
    pub sorted: bool,
    /// Its entries are of texts as its options change them.
    pub changed: bool,
    /// Of an index on a vector: the lists that its entries are in. `None`: it has no entries, and searches look at every vector.
    pub lists: Option<Arc<Lists>>,
    /// Every row is in it: reads may use it. Until then it is only written to.
    pub built: bool,
}

impl IndexKind {
    /// As `system_schema.indexes.kind` says it.
    pub fn name(self) -> &'static str {
        match self {
            IndexKind::Composites => "COMPOSITES",
            IndexKind::Custom => "CUSTOM",
        }
    }
}

impl Index {
    /// What it is on, as CQL: `v`, `"Mixed"`, `keys(m)`.
    pub fn target(&self) -> &str {
        self.options.get(TARGET).map_or("", String::as_str)
    }

    /// The class of a custom index, as the user wrote it.
    pub fn class(&self) -> Option<&str> {
        self.options.get(CLASS).map(String::as_str)
    }

    /// The options that the user gave.
    pub fn given_options(&self) -> BTreeMap<String, String> {
        let given = self.options.iter().filter(|(name, _)| ![TARGET, CLASS].contains(&name.as_str()));
        given.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Whether it answers ranges of a column of this type, by Cassandra's rules; whether it can read them is another matter (`sorted`).
    pub fn answers_ranges(&self, data_type: &DataType) -> bool {
        self.part == IndexPart::Whole && self.is_storage_attached() && has_ranges(data_type)
    }

    /// What the vectors of this column are compared by and how many numbers they have, if the index may put them into lists.
    pub fn compares(&self, data_type: &DataType) -> Option<(Similarity, usize)> {
        let DataType::Vector { element, dimensions } = data_type else { return None };
        let dimensions = usize::try_from(*dimensions).ok()?;
        let fits = **element == DataType::Float && dimensions <= DIMENSIONS_MAX;
        let named = self.options.get(SIMILARITY).and_then(|name| Similarity::named(name));
        fits.then(|| (named.unwrap_or_default(), dimensions))
    }

    /// What counts of the texts in its entries.
    pub fn in_force(&self) -> TextChange {
        if self.changed { self.text_change() } else { TextChange::default() }
    }

    /// What counts of texts by its options.
    pub fn text_change(&self) -> TextChange {
        let is = |option: &str, value: &str| {
            self.options.get(option).is_some_and(|given| given.eq_ignore_ascii_case(value))
        };
        TextChange {
            lower: is(CASE_SENSITIVE, "false"),
            normal: is(NORMALIZE, "true"),
            ascii: is(ASCII, "true"),
        }
    }

    /// Whether it is Cassandra's storage-attached kind, which answers ranges and several conditions too.
    pub fn is_storage_attached(&self) -> bool {
        self.class().is_some_and(is_storage_attached)
    }
}

/// Types of which a storage-attached index answers ranges.
fn has_ranges(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Ascii
            | DataType::Text
            | DataType::Boolean
            | DataType::Uuid
            | DataType::Vector { .. }
            | DataType::Tuple(_)
            | DataType::Udt(_)
    ) && !data_type.is_collection()
}

/// Whether this class is the storage-attached index: by its full name, or by an alias in any case.
pub(crate) fn is_storage_attached(class: &str) -> bool {
    class == "org.apache.cassandra.index.sai.StorageAttachedIndex"
        || class.eq_ignore_ascii_case("sai")
        || class.eq_ignore_ascii_case("StorageAttachedIndex")
}
