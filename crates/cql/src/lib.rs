//! The CQL dialect: binds syntax trees to query plans, keeps the catalogue, serves system tables,
//! answers DESCRIBE. Transport-free: the server and the embedding API both call it.

pub mod bind;
pub mod catalogue;
pub mod ddl;
pub mod describe;
pub mod explain;
pub mod ids;
pub mod immediate;
pub mod index_build;
pub mod prepared;
pub mod roles;
pub mod session;
pub mod system;
mod view;
