//! Work of the background threads: flushing memtables, merging files, splitting files between shards.
//!
//! Each job does its reading and writing without the shard, publishes the result in the manifest, and then tells
//! the shard by mail. A crash between any two steps leaves either the old or the new files in force.

pub mod compact;
pub mod flush;
pub mod publish;
pub mod split;
