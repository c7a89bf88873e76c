//! Tests of the whole crate through its public interface.

mod cases;
mod errors;
mod hostile;
mod round_trip;
mod scripts;
mod spans;
mod trees;
