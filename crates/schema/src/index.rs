//! A secondary index of a table.

use std::collections::BTreeMap;
use std::sync::Arc;

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

impl Index {
    /// Whether it is Cassandra's storage-attached kind, which answers ranges and several conditions too.
    pub fn is_storage_attached(&self) -> bool {
        self.options.get("class_name").is_some_and(|class| {
            let simple = class.rsplit('.').next().unwrap_or(class);
            simple.eq_ignore_ascii_case("sai") || simple.eq_ignore_ascii_case("StorageAttachedIndex")
        })
    }
}
