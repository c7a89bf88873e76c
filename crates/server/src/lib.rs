//! Listeners, connections, admission, authentication, metrics: CQL over the network.
//!
//! Layer 8: the only place besides the binary that knows sockets and configuration. Statements are
//! executed by the `cql` crate on each shard's own store; nothing here parses CQL. The folder `cql` is the CQL
//! listener; what is outside it serves every listener.

mod accept;
pub mod alerts;
pub mod audit;
mod auth;
pub mod config;
pub mod control;
mod cql;
mod descriptors;
#[doc(hidden)]
pub mod drive;
mod dynamo;
mod findings;
mod front;
mod http;
mod memory;
mod metrics;
pub mod otlp;
pub mod post;
mod pressure;
mod pulse;
mod seldom;
mod shard;
mod start;
mod stream;
mod tenants;
mod tls;
mod usage;

pub use dynamo::sign_request as sign_dynamo_request;
pub use front::FrontEnd;
pub use start::{Server, StartError};
pub use tls::dial as dial_tls;
