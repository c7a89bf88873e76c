//! Operations that need the current value: counters, lists by index or value, arithmetic updates.
//!
//! They travel as data to the shard that owns the partition and are turned into plain row images
//! there, under the partition's serialisation; logs and files never hold an operation, so replay is
//! idempotent.

use crate::assemble::{ListCell, live_list};
use crate::condition::RowPosition;
use crate::error::StoreError;
use crate::refused::Refused;
use model::arithmetic::{self, Operator};
use model::constraint::Constraint;
use model::deletion::{Deletion, Timestamp};
use model::row::{Cell, CellState, ColumnId, RowView, RowWriter};
use model::types::DataType;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct Deferred {
    pub position: RowPosition,
    pub column: ColumnId,
    /// For messages.
    pub column_name: String,
    pub timestamp: Timestamp,
    /// Zero: what is written does not expire.
    pub ttl: u32,
    /// Which statement of its batch the operation belongs to: errors are reported in this order, and only counters see what
    /// the other statements of their batch make of a row.
    pub statement: u32,
    pub op: DeferredOp,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DeferredOp {
    /// `c = c + delta` on a counter.
    CounterAdd(i64),
    /// `l[index] = value`; `None` deletes the element.
    ListSet { index: i32, value: Option<Vec<u8>> },
    /// `l = l - [values]`.
    ListRemove { element: DataType, values: Vec<Vec<u8>> },
    /// `n = n + operand` (or minus) on an ordinary numeric column, or a text that is appended to. `steady`: the outcome wins
    /// over the value it was made of, whatever the clocks of clients say, so that no increment is lost; otherwise it has the
    /// timestamp of its statement.
    Arithmetic { data_type: DataType, subtract: bool, operand: Vec<u8>, steady: bool },
    /// Writes nothing: what must hold of the column once everything is applied. Without constraints the partition is only
    /// kept from others meanwhile.
    Check { data_type: DataType, constraints: Arc<[Constraint]> },
}

impl Deferred {
    /// Turns the operation into a row image that holds the cells to write.
    /// `current` is the merged row as it is now, if there is one.
    pub fn resolve(
        &self,
        current: Option<RowView<'_>>,
        now_seconds: u32,
        out: &mut RowWriter,
    ) -> Result<(), StoreError> {
        match &self.op {
            DeferredOp::CounterAdd(delta) => self.counter(*delta, current, out),
            DeferredOp::ListSet { index, value } => {
                self.list_set(*index, value.as_deref(), current, now_seconds, out)
            }
            DeferredOp::ListRemove { element, values } => {
                self.begin(out, self.timestamp);
                // Sorted once: a long list minus a long list takes no square of them.
                let mut values: Vec<&Vec<u8>> = values.iter().collect();
                values.sort_by(|a, b| model::value::compare(element, a, b));
                for cell in live_list(current, self.column, now_seconds) {
                    let order = |v: &&Vec<u8>| model::value::compare(element, v, cell.value);
                    if values.binary_search_by(order).is_ok() {
                        self.put(out, Some(cell.path), None, now_seconds);
                    }
                }
                Ok(())
            }
            // Looked at last, with the whole mutation: see `check_rows`.
            DeferredOp::Check { .. } => {
                self.begin(out, self.timestamp);
                Ok(())
            }
            DeferredOp::Arithmetic { data_type, subtract, operand, steady } => {
                let operator = if *subtract { Operator::Subtract } else { Operator::Add };
                let floor = steady.then(|| self.version(current)).flatten();
                let timestamp =
                    floor.map_or(self.timestamp, |seen| self.timestamp.max(seen.saturating_add(1)));
                let stamped = Deferred { timestamp, ..self.clone() };
                stamped.arithmetic(data_type, operator, operand, current, now_seconds, out)
            }
        }
    }

    /// The outcome of arithmetic wins over what it was made of, whatever timestamp that has.
    pub fn make_steady(&mut self) {
        if let DeferredOp::Arithmetic { steady, .. } = &mut self.op {
            *steady = true;
        }
    }

    /// Whether it counts on what the other statements of its batch make of the row.
    pub fn sees_its_batch(&self) -> bool {
        matches!(self.op, DeferredOp::CounterAdd(_) | DeferredOp::Arithmetic { steady: true, .. })
    }

    fn begin(&self, out: &mut RowWriter, timestamp: Timestamp) {
        out.begin(timestamp, None, Deletion::NONE);
    }

    fn put(&self, out: &mut RowWriter, path: Option<&[u8]>, value: Option<&[u8]>, now_seconds: u32) {
        let state = match value {
            None => CellState::Tombstone { local_seconds: now_seconds },
            Some(value) if self.ttl > 0 => {
                CellState::Expiring { value, ttl: self.ttl, expiry: now_seconds.saturating_add(self.ttl) }
            }
            Some(value) => CellState::Live(value),
        };
        out.cell(&Cell { column: self.column, path, timestamp: self.timestamp, state });
    }

    /// The new total, stamped above the version it replaces so that the larger total always wins.
    fn counter(
        &self,
        delta: i64,
        current: Option<RowView<'_>>,
        out: &mut RowWriter,
    ) -> Result<(), StoreError> {
        let cell = current.and_then(|row| row.cells().find(|c| c.column == self.column));
        let (total, floor) = match cell {
            Some(Cell { state: CellState::Live(value), timestamp, .. }) => {
                let bytes = value.try_into().map_err(|_| StoreError::Corrupt {
                    file: String::new(),
                    offset: 0,
                    what: format!("counter {} is not eight bytes", self.column_name),
                })?;
                (i64::from_be_bytes(bytes), timestamp.saturating_add(1))
            }
            Some(dead) => (0, dead.timestamp.saturating_add(1)),
            None => (0, i64::MIN),
        };
        let timestamp = self.timestamp.max(floor);
        self.begin(out, timestamp);
        out.live(self.column, &total.wrapping_add(delta).to_be_bytes());
        Ok(())
    }

    fn list_set(
        &self,
        index: i32,
        value: Option<&[u8]>,
        current: Option<RowView<'_>>,
        now_seconds: u32,
        out: &mut RowWriter,
    ) -> Result<(), StoreError> {
        let list: Vec<ListCell<'_>> = live_list(current, self.column, now_seconds).collect();
        if list.is_empty() {
            return Err(Refused::ListIsNull { sets: value.is_some() }.into());
        }
        let cell = usize::try_from(index)
            .ok()
            .and_then(|i| list.get(i))
            .ok_or(Refused::ListIndex { index, elements: list.len() })?;
        self.begin(out, self.timestamp);
        self.put(out, Some(cell.path), value, now_seconds);
        Ok(())
    }

    /// The timestamp of the column's cell.
    fn version(&self, current: Option<RowView<'_>>) -> Option<Timestamp> {
        current.and_then(|row| row.cells().find(|c| c.column == self.column)).map(|cell| cell.timestamp)
    }

    fn arithmetic(
        &self,
        data_type: &DataType,
        operator: Operator,
        operand: &[u8],
        current: Option<RowView<'_>>,
        now_seconds: u32,
        out: &mut RowWriter,
    ) -> Result<(), StoreError> {
        let cell = current.and_then(|row| row.cells().find(|c| c.column == self.column));
        self.begin(out, self.timestamp);
        // Null plus anything is null: nothing is written, as Cassandra does.
        let Some(value) = cell.and_then(|c| c.live_value(now_seconds)) else { return Ok(()) };
        let result = arithmetic::apply(operator, data_type, Some(value), data_type, Some(operand))
            .map_err(Refused::Arithmetic)?;
        if let Some(result) = result {
            self.put(out, None, Some(&result), now_seconds);
        }
        Ok(())
    }
}
