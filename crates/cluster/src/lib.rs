//! A Cassandra (or ScyllaDB) cluster behind a front end: what goes there, over which connection, and what comes back.
//!
//! A front end keeps no data. It decides a statement's [`Route`] once, from its words, and hands the client's message to a
//! [`Link`] as it is: the body is not decoded on its way there, nor is the answer on its way back, so errors with their
//! numbers, warnings, paging states, tracing ids and payloads reach the client as the node wrote them.
//!
//! Guarantees: every request handed to a link is answered exactly once, by the node or with what became of it ([`Lost`]).
//! A request that may have changed something is never sent twice. Requests per node, statements kept and bytes of answers
//! are bounded.
//!
//! Layer 4, beside `engine`: it knows no dialect above it, opens no socket itself ([`Dial`]) and reads no clock but tokio's.

mod contact;
mod control;
mod exchange;
mod handshake;
mod job;
pub mod key;
mod lane;
mod link;
mod lost;
mod node;
mod pending;
mod route;
mod rows;
mod statements;
mod upstream;
pub mod written;

pub use contact::{Contact, ContactError, DEFAULT_PORT, parse_contacts};
pub use control::{Control, Heard, Listening};
pub use exchange::{Asked, Exchanged, exchange, prepare_there};
pub use handshake::{Dial, Dialed, Halves, Login, OpenError};
pub use job::{Answer, Asker, Job, Preparing, Reply, Task};
pub use lane::{Counters, Door, Lane, LaneKey};
pub use link::Link;
pub use lost::{Lost, lost_error};
pub use node::{Node, Topology};
pub use route::{Class, Own, Route, route};
pub use rows::{AskError, Owned};
pub use statements::{Statement, Statements};
