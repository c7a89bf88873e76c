//! Write plans and their execution: INSERT, UPDATE, DELETE, batches, conditional writes.
//!
//! A plan holds expressions and column ids only; executing it evaluates them into row images and
//! hands one commit to the store. Operations that need the current value travel to the store as
//! data. Does not know CQL text.

mod batch;
mod buckets;
mod build;
mod cells;
mod conditional;
mod constraints;
mod execute;
mod failed;
mod json;
mod lengths;
mod plan;
mod room;
mod transaction;

pub use batch::{BatchKind, BatchPlan};
pub use conditional::commit as conditional_commit;
pub use execute::{commit, execute};
pub use failed::{answer_now as conditional_answer, needs_first_row};
pub use plan::{
    Assignment, AssignmentKind, ConditionPlan, Conditions, ElementExpr, JsonSource, Keys, Masks, OperandExpr,
    WriteKind, WritePlan,
};
pub use transaction::{Found, Returned, TransactionPlan, TransactionTest, exclusive_mutations};
