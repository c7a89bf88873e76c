//! The catalogue: keyspaces, tables, types, access patterns; immutable snapshots and versioned changes.
//!
//! A [`Catalogue`] is a value: statements are planned against one snapshot, a change makes the next.
//! Guarantees: a snapshot is internally consistent (every type and table it names exists); ids of
//! tables and columns are never reused. Does not parse CQL and does not store data.

mod catalogue;
mod column;
mod error;
mod keyspace;
mod options;
mod pattern;
mod table;

pub use catalogue::Catalogue;
pub use column::{Column, ColumnKind, DroppedColumn};
pub use error::SchemaError;
pub use keyspace::Keyspace;
pub use options::TableOptions;
pub use pattern::AccessPattern;
pub use table::{Table, TableKind};
