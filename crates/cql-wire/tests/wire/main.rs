//! Tests of the wire crate through its public interface; one binary.

mod allocations;
mod connection;
mod golden;
mod hostile;
mod peers;
mod roundtrip;
mod samples;
