//! Does an application see the same on Partita as on Cassandra? Scenarios are text files of statements with Cassandra's
//! own answers below each; they are recorded on a real Cassandra and replayed on Partita.
//!
//! Uses nothing of Partita but the protocol codec and the text forms of values, so that what it compares is what a
//! client sees. Does not start servers.

pub mod answer;
pub mod compare;
pub mod connections;
pub mod known;
pub mod random;
pub mod run;
pub mod scenario;
pub mod step;
