//! Listeners, connections, admission, authentication, metrics: CQL over the network.
//!
//! Layer 7: the only place besides the binary that knows sockets and configuration. Statements are
//! executed by the `cql` crate on each shard's own store; nothing here parses CQL.

mod accept;
mod answers;
mod auth;
mod clients;
pub mod config;
mod connection;
pub mod control;
mod errors;
mod http;
mod indexes;
mod metrics;
mod review;
mod shard;
mod start;
mod statements;
mod tls;
mod wire_type;

pub use indexes::keep_indexes_built;
pub use review::SchemaReview;
pub use start::{Server, StartError};
