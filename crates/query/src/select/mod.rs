//! Read plans and their execution.
//!
//! A plan names its inputs (columns and cell properties) by slot; executing it walks each row once,
//! notes where the wanted bytes lie, and copies them straight into the result body.

mod filter;
mod input;

pub use filter::{BoundFilter, Filter, FilterOp};
pub use input::{CellPart, CellPlace, Input, Source};
