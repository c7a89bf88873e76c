//! A secondary index of a table.

use model::types::DataType;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Options that the server sets itself.
pub(crate) const TARGET: &str = "target";
pub(crate) const CLASS: &str = "class_name";

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

    /// Whether it is Cassandra's storage-attached kind, which answers ranges and several conditions too.
    pub fn is_storage_attached(&self) -> bool {
        self.class().is_some_and(is_storage_attached)
    }
}

/// Whether this class is the storage-attached index: by its full name, or by an alias in any case.
pub(crate) fn is_storage_attached(class: &str) -> bool {
    class == "org.apache.cassandra.index.sai.StorageAttachedIndex"
        || class.eq_ignore_ascii_case("sai")
        || class.eq_ignore_ascii_case("StorageAttachedIndex")
}
