//! The contract for reading and writing partitions, and the naive in-memory store.
