//! Front-end-neutral plans and their execution.
//!
//! A dialect binds its statements to plans once; executing a plan touches neither text nor syntax
//! trees. Plans reach the store as data (`store::Read`, `store::Commit`). Values in and out are wire
//! bytes. Does not know CQL syntax, sockets or shards.

pub mod buckets;
pub mod context;
pub mod error;
pub mod expr;
pub mod fault;
pub mod full;
pub mod function;
mod held;
pub mod index;
pub mod key;
pub mod restrict;
pub mod select;
pub mod spec;
pub mod tenant;
pub mod values;
pub mod view;
pub mod write;

pub use context::{Context, Ids, Request, VirtualTables};
pub use error::QueryError;
pub use spec::{ColumnSpec, Rows};
pub use values::{Bound, Values};
