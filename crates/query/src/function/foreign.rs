//! Tables of another dialect, read in this language: how stored values are shown, and how written ones are stored.
//!
//! `query` does not know those dialects. A dialect registers itself once, with pure functions; a process without it shows stored
//! bytes as they are.

use super::Function;
use schema::{Column, Table};
use std::sync::OnceLock;

/// What a dialect knows of the columns of its tables.
pub trait ForeignTables: Sync {
    /// Turns the stored value of a column into what readers see; `None`: they see the stored value.
    fn shown(&self, table: &Table, column: &Column) -> Option<Function>;

    /// Turns a value in the readers' form into the stored form, for conditions on keys.
    fn stored(&self, table: &Table, column: &Column) -> Option<Function>;

    /// The attributes of the key, then those of each index's key.
    fn keys(&self, table: &Table) -> Vec<Vec<String>>;

    /// For names that are no columns: the column that holds them, and a function of it and the name.
    fn attribute(&self, table: &Table) -> Option<(Column, Function)>;
}

static REGISTERED: OnceLock<&'static dyn ForeignTables> = OnceLock::new();

/// Makes a dialect known. The first one stays.
pub fn register(dialect: &'static dyn ForeignTables) {
    REGISTERED.get_or_init(|| dialect);
}

/// The dialect that knows more of this table than its columns say.
pub fn dialect_of(table: &Table) -> Option<&'static dyn ForeignTables> {
    table.foreign.as_ref().and(REGISTERED.get().copied())
}
