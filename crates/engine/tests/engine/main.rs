//! The engine as a whole, on the simulated and on the real disk.

mod crash;
mod harness;
mod inline;
mod threads;
