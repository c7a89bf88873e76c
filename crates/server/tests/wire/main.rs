//! The server over real sockets, spoken to with our own codec.

mod audit;
mod bench;
mod collector;
mod console;
mod crowd;
mod dialects;
mod errors;
mod hostile;
mod limits;
mod live_tables;
mod logins;
mod long;
mod partitions;
mod patterns;
mod prepared;
mod rebucketing;
mod tenants;
mod traces;
mod transactions;
mod values;
