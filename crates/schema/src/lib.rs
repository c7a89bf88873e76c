//! The catalogue: keyspaces, tables, types, access patterns; immutable snapshots and versioned changes.
//!
//! A [`Catalogue`] is a value: statements are planned against one snapshot, a [`Change`] makes the next.
//! Guarantees: a snapshot is internally consistent (every type and table it names exists, see
//! [`Catalogue::check`]); ids of tables and columns are never reused; a snapshot survives JSON unchanged.
//! Does not parse CQL and does not store data.

mod apply;
pub mod bucketing;
mod catalogue;
mod change;
mod check;
mod column;
mod compact;
pub mod fault;
mod foreign;
mod function;
mod index;
mod json;
mod keyspace;
mod later;
mod name;
mod note;
mod options;
mod pattern;
mod properties;
mod replication;
mod table;
mod tenant;
mod totals;
mod version;
mod view;

pub use bucketing::{Bucketing, Every, Former, HashBuckets, Rebucketing, Spill, TimeBuckets};
pub use catalogue::{Catalogue, FIRST_USER_TABLE_ID};
pub use change::{
    Applied, Change, DropFunction, Effect, EffectKind, NewAggregate, NewColumn, NewFunction, NewIndex,
    NewNote, NewPattern, NewTable, NewTotal, NewView, Setting, TableAlteration, TableLike, TargetKind,
    TypeAlteration,
};
pub use column::{Column, ColumnKind, DroppedColumn};
pub use compact::Compact;
pub use fault::SchemaError;
pub use foreign::{Foreign, ForeignStore, NewForeign, NewStore};
pub use function::{UserAggregate, UserFunction};
pub use index::{Index, IndexKind, IndexPart};
pub use json::Damage;
pub use keyspace::{
    Keyspace, is_local_system_name, is_replicated_system_name, is_system_name, is_virtual_system_name,
};
pub use later::{LagRule, Later, millis_text};
pub use name::{FullName, Signature};
pub use note::{Note, NoteKind, NoteTarget};
pub use options::size_in_bytes;
pub use options::{
    CompactionPlan, CompressionPlan, LimitPlan, OPTIONS, OptionValue, Owner, TableOption, TableOptions,
    TenantLimit, TenantLimits, java_double,
};
pub use pattern::AccessPattern;
pub use properties::{Properties, PropertyValue};
pub use table::{Table, TableKind};
pub use totals::{LIST_COLUMN, TotalFunction, TotalKind, Totals};
pub use version::name_uuid;
pub use view::{Backfill, IS_NOT_NULL, Projection, View, ViewRestriction, ViewTest};
