//! How much one request may write: rows that IN relations name, and bytes.

use super::build::{RowTargets, Targets};
use super::plan::WritePlan;
use crate::context::Limits;
use crate::error::QueryError;
use crate::fault::WriteFault;
use crate::restrict::{COMBINATIONS_MAX, check_combinations};
use std::cell::Cell;
use store::{DeferredOp, Mutation};

/// Most bytes that one request may write: what one record of the log holds, so more would be refused in any case.
/// Values are written once per row, and one named value may stand in many places: a small request can be a large write.
const WRITTEN_BYTES_MAX: usize = 32 << 20;

/// What one request, with all statements of its batch, may still make.
pub(super) struct Room {
    /// Of a clustering key, and of a value that is indexed.
    pub key_bytes_max: usize,
    combinations: Cell<usize>,
    bytes: Cell<usize>,
    list_operations: Cell<usize>,
}

/// Most operations on lists by index or value in one request: each reads its list and writes the row again.
const LIST_OPERATIONS_MAX: usize = 16;

impl Room {
    pub fn new(limits: &Limits) -> Room {
        Room {
            key_bytes_max: limits.key_bytes_max,
            combinations: Cell::new(COMBINATIONS_MAX),
            bytes: Cell::new(WRITTEN_BYTES_MAX),
            list_operations: Cell::new(0),
        }
    }
}

impl Room {
    /// Takes the rows that the IN relations of a statement name. Statements that name one take nothing: a batch may
    /// have as many of them as its text.
    pub fn take_rows(&self, plan: &WritePlan, targets: &Targets) -> Result<(), QueryError> {
        let rows = match &targets.rows {
            RowTargets::None => 1,
            RowTargets::Rows(rows) => rows.len(),
            RowTargets::Ranges(ranges) => ranges.len(),
        };
        let combinations = targets.partitions.len().saturating_mul(rows);
        if combinations <= 1 {
            return Ok(());
        }
        match self.combinations.get().checked_sub(combinations) {
            Some(left) => self.combinations.set(left),
            None => {
                let taken = COMBINATIONS_MAX - self.combinations.get();
                let columns = plan.table.primary_key().map(|column| &*column.name);
                check_combinations(columns, combinations.saturating_add(taken))?;
            }
        }
        Ok(())
    }

    /// Takes the bytes of a mutation.
    pub fn take_mutation(&self, mutation: &Mutation) -> Result<(), QueryError> {
        let deferred: usize = mutation.deferred.iter().map(|deferred| operation_bytes(&deferred.op)).sum();
        self.take_list_operations(mutation)?;
        let bytes = mutation.encoded().len() + deferred;
        match self.bytes.get().checked_sub(bytes) {
            Some(left) => self.bytes.set(left),
            None => return Err(too_many_bytes()),
        }
        Ok(())
    }

    fn take_list_operations(&self, mutation: &Mutation) -> Result<(), QueryError> {
        if mutation.deferred.is_empty() {
            return Ok(());
        }
        let on_list =
            |op: &DeferredOp| matches!(op, DeferredOp::ListSet { .. } | DeferredOp::ListRemove { .. });
        let count = mutation.deferred.iter().filter(|deferred| on_list(&deferred.op)).count();
        let count = self.list_operations.get() + count;
        if count > LIST_OPERATIONS_MAX {
            return Err(WriteFault::TooManyListOperations { count, most: LIST_OPERATIONS_MAX }.into());
        }
        self.list_operations.set(count);
        Ok(())
    }

    /// Refuses a row that outgrows what is left while it is being written.
    pub fn check_row(&self, bytes: usize) -> Result<(), QueryError> {
        if bytes <= self.bytes.get() { Ok(()) } else { Err(too_many_bytes()) }
    }
}

fn too_many_bytes() -> QueryError {
    WriteFault::TooLarge { bytes_max: WRITTEN_BYTES_MAX }.into()
}

/// The bytes of values that wait for the current ones.
pub(super) fn operation_bytes(op: &DeferredOp) -> usize {
    let values = match op {
        DeferredOp::CounterAdd(_) => 0,
        DeferredOp::ListSet { value, .. } => value.as_ref().map_or(0, Vec::len),
        DeferredOp::ListRemove { values, .. } => {
            values.iter().map(|value| value.len() + size_of::<Vec<u8>>()).sum()
        }
        DeferredOp::Arithmetic { operand, .. } => operand.len(),
        DeferredOp::Check { .. } => 0,
    };
    size_of::<DeferredOp>() + values
}
