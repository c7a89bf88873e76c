//! Tests of the whole crate through its public interface.

mod cases;
mod errors;
mod scripts;
