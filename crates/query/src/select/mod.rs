//! Read plans and their execution.
//!
//! A plan names its inputs (columns and cell properties) by slot; executing it walks each row once,
//! notes where the wanted bytes lie, and copies them straight into the result body. Pages end at row
//! boundaries and resume from bytes that any connection may bring back.

mod aggregate;
mod buckets;
mod cell_info;
mod collector;
mod earlier;
mod execute;
mod filter;
mod index_path;
mod input;
mod layout;
mod limits;
mod merge;
mod nearest;
mod output;
mod paging;
mod plan;
mod scratch;
mod through;
mod turn;

pub use aggregate::{Aggregate, AggregateKind, UserCall};
pub use execute::execute;
pub use filter::{BoundFilter, Filter};
pub use index_path::{IndexPath, Lookup, Sought};
pub use input::{CellPart, CellPlace, Input, Source};
pub use model::vector::Similarity;
pub use nearest::{Ann, NearPath};
pub use output::Output;
pub use paging::{PagingState, SequenceState};
pub use plan::{Grouping, SelectParts, SelectPlan};
