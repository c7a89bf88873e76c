//! The CQL dialect: binds syntax trees to query plans, serves system tables, answers DESCRIBE.
//! What other dialects need as well is in `database`. Transport-free: the server and the embedding API both call it.

pub mod analyze;
pub mod bind;
pub mod ddl;
pub mod declared;
pub mod describe;
pub mod explain;
mod functions;
pub mod immediate;
pub mod jobs;
pub mod learn;
mod open;
pub mod prepared;
mod review;
pub mod roles;
mod service_level;
pub mod session;
pub mod shape;
pub mod system;
mod tenants;
pub mod words;

pub use open::open_catalogue;
pub use review::SchemaReview;
pub use words::CqlError;
