//! The engine as a whole, on the simulated and on the real disk.

mod copy;
mod crash;
mod damage;
mod damage_forms;
mod decisions;
mod faults;
mod harness;
mod hostile;
mod inline;
mod limits;
mod linear;
mod mirror;
mod model;
mod purge;
mod snapshot;
mod stress;
mod threads;
mod transactions;
