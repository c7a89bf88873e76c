//! The server over real sockets, spoken to with our own codec.

mod bench;
mod errors;
mod hostile;
mod limits;
mod live_tables;
mod prepared;
mod values;
