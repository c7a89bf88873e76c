//! The neutral middle: what every dialect needs and none of them owns.
//!
//! The catalogue that all shards share and how it changes, builds of indexes and views, identifiers, grants, and the
//! runtime of one shard. A dialect (CQL, DynamoDB) binds its own language to `query` plans and runs them here. Nothing in
//! this crate parses a statement or knows a wire protocol.

pub mod builds;
pub mod catalogue;
pub mod check;
pub mod grants;
pub mod ids;
pub mod jobs;
pub mod retention;
pub mod review;
pub mod row_ttl;
mod runtime;
pub mod shape;
pub mod spilling;
pub mod tenants;
pub mod traffic;
pub mod usage;
mod view;

pub use runtime::Runtime;
