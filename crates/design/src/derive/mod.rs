//! Tables from access patterns: a catalogue of entities and patterns gives keys, order, buckets, copies and the reasons.
//!
//! [`derive`] is a pure function of the file. What it prints is reviewed by the same rules as any schema; findings on its
//! own output are for the caller to show, never hidden.

mod bucket;
mod input;
mod plan;
mod print;
mod problem;

pub use bucket::Bucket;
pub use input::{Entity, Pattern, Request};
pub use plan::{Plan, PlannedTable};
pub use problem::{InputError, Problem};

use crate::entry::Target;

/// Reads a catalogue and derives its tables; every problem when it cannot be used. For Cassandra buckets are columns, for
/// Partita they are a clause of the table.
pub fn derive(text: &str, target: Target) -> Result<Plan, Vec<InputError>> {
    Ok(plan::plan(input::read(text)?, target))
}

/// The tables, patterns and reasons as CQL with comments.
pub fn print(plan: &Plan) -> String {
    print::write(plan)
}
