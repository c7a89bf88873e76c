//! What a table has that another dialect than CQL defines: its definition in that dialect's words, and the stores beside it.

use serde_json::Value;

/// Kept with the table. The catalogue does not look into the definition; the dialect does.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    pub definition: Value,
    /// What the dialect keeps in step with the table: indexes, streams. Sorted by name.
    pub stores: Vec<ForeignStore>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignStore {
    pub name: String,
    /// Names the rows in the log and in files for ever; never reused.
    pub id: u32,
    /// All rows expire; files of one window of so many seconds are dropped together.
    pub window_seconds: Option<u64>,
}

/// A store that a table is to have; its id is given when it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewStore {
    pub name: String,
    pub window_seconds: Option<u64>,
}

/// What a dialect says of its table.
#[derive(Clone, Debug, PartialEq)]
pub struct NewForeign {
    pub definition: Value,
    pub stores: Vec<NewStore>,
}

impl Foreign {
    pub fn store(&self, name: &str) -> Option<&ForeignStore> {
        self.stores.iter().find(|store| store.name == name)
    }
}
