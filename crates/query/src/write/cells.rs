//! From assignments and values to cells: how each kind of change looks in a row image.
//!
//! Cells are drafted in any order and sorted once per row; a row of simple columns is drafted in
//! column order already, so sorting costs nothing there.

use super::plan::{Assignment, AssignmentKind};
use super::room::{Room, operation_bytes};
use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{NullIn, UnsetIn, ValueFault, WriteFault};
use model::comparable;
use model::deletion::{Deletion, Marker, Timestamp};
use model::row::{Cell, CellState, ColumnId, RowWriter};
use model::timeuuid;
use model::types::DataType;
use model::value::elements::{elements, fields, map_entries};
use std::borrow::Cow;
use store::assemble::{field_path, list_path, map_cell_value, set_cell_value};
use store::{Deferred, DeferredOp, RowPosition};

/// 2010-01-01 in 100 ns units since 1970: prepended list elements get times mirrored at it, so that
/// later prepends sort earlier.
const PREPEND_MIRROR_TICKS: i64 = 1_262_304_000 * 10_000_000;

/// When and for how long the cells of one statement are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub timestamp: Timestamp,
    /// Of a conditional write: the store replaces the timestamp with its ballot.
    pub conditional: bool,
    /// Zero: for ever.
    pub ttl: u32,
    pub now_seconds: u32,
    /// The place of the statement in its batch.
    pub statement: u32,
}

impl Stamp {
    pub fn deletion(&self) -> Deletion {
        Deletion { timestamp: self.timestamp, local_seconds: self.now_seconds }
    }

    /// A cell with this value: for ever, or for the statement's TTL.
    pub fn live<'v>(&self, value: &'v [u8]) -> CellState<'v> {
        match self.ttl {
            0 => CellState::Live(value),
            ttl => CellState::Expiring { value, ttl, expiry: self.now_seconds.saturating_add(ttl) },
        }
    }

    /// Of a partition or a range. In a conditional batch these leave what the batch itself writes, while the deletion
    /// of a row takes it along, as in Cassandra.
    pub fn wide_deletion(&self) -> Deletion {
        Deletion { timestamp: self.timestamp - i64::from(self.conditional), local_seconds: self.now_seconds }
    }

    pub fn marker(&self) -> Marker {
        let expiry = if self.ttl > 0 { self.now_seconds.saturating_add(self.ttl) } else { 0 };
        Marker { timestamp: self.timestamp, ttl: self.ttl, expiry }
    }
}

/// One cell to be written.
pub(super) struct Draft<'a> {
    column: ColumnId,
    path: Option<Cow<'a, [u8]>>,
    what: What<'a>,
}

enum What<'a> {
    Value(Cow<'a, [u8]>),
    Tombstone,
    /// Deletes a whole collection; `replaced` when new elements of the same statement follow.
    ComplexDeletion {
        replaced: bool,
    },
}

/// The cells and operations of one row.
#[derive(Default)]
pub(super) struct Drafts<'a> {
    pub cells: Vec<Draft<'a>>,
    pub deferred: Vec<(ColumnId, String, DeferredOp)>,
    /// Of the values so far.
    pub bytes: usize,
}

/// Evaluates assignments; holds what evaluation needs.
pub(super) struct Drafter<'a, 'r> {
    pub request: &'r Request<'a>,
    pub ids: &'r dyn Ids,
    pub room: &'r Room,
}

impl<'a> Drafter<'a, '_> {
    /// Writes the cell of an assignment that makes one.
    pub fn write_simple(
        &self,
        assignment: &'a Assignment,
        stamp: &Stamp,
        out: &mut RowWriter,
    ) -> Result<(), QueryError> {
        let AssignmentKind::Set(expr) = &assignment.kind else { return Ok(()) };
        let value = self.evaluate(expr)?;
        let state = match &value {
            Evaluated::Unset => return Ok(()),
            Evaluated::Null => CellState::Tombstone { local_seconds: stamp.now_seconds },
            Evaluated::Value(value) => stamp.live(value),
        };
        out.cell(&Cell { column: assignment.column, path: None, timestamp: stamp.timestamp, state });
        Ok(())
    }

    /// Adds the cells of one assignment.
    pub fn assign(&self, assignment: &'a Assignment, out: &mut Drafts<'a>) -> Result<(), QueryError> {
        use AssignmentKind::*;
        match &assignment.kind {
            Set(expr) if !assignment.data_type.is_multi_cell() => {
                let what = match self.evaluate(expr)? {
                    Evaluated::Unset => return Ok(()),
                    Evaluated::Null => What::Tombstone,
                    Evaluated::Value(bytes) => What::Value(bytes),
                };
                out.push(Draft { column: assignment.column, path: None, what });
                Ok(())
            }
            Set(expr) => self.replace(assignment, expr, out),
            Append(expr) => match self.evaluate(expr)? {
                Evaluated::Value(bytes) => self.elements(assignment, bytes, false, out),
                Evaluated::Null | Evaluated::Unset => Ok(()),
            },
            Prepend(expr) => match self.evaluate(expr)? {
                Evaluated::Value(bytes) => self.elements(assignment, bytes, true, out),
                Evaluated::Null | Evaluated::Unset => Ok(()),
            },
            Remove(expr) => match self.evaluate(expr)? {
                Evaluated::Value(bytes) => self.remove(assignment, &bytes, out),
                Evaluated::Null | Evaluated::Unset => Ok(()),
            },
            SetKey { key, value } => self.set_key(assignment, key, value, out),
            SetIndex { index, value } => self.set_index(assignment, index, Some(value), out),
            SetField { field, value } => self.set_field(assignment, *field, value, out),
            Count { delta, subtract } => self.count(assignment, delta, *subtract, out),
            Compute { operand, subtract } => self.compute(assignment, operand, *subtract, out),
            Delete if assignment.data_type.is_multi_cell() => {
                let what = What::ComplexDeletion { replaced: false };
                out.push(Draft { column: assignment.column, path: None, what });
                Ok(())
            }
            Delete => {
                out.push(Draft { column: assignment.column, path: None, what: What::Tombstone });
                Ok(())
            }
            DeleteKey(key) => self.delete_key(assignment, key, out),
            DeleteIndex(index) => self.set_index(assignment, index, None, out),
            DeleteField(field) => {
                let path = Some(Cow::Owned(field_path(*field).to_vec()));
                out.push(Draft { column: assignment.column, path, what: What::Tombstone });
                Ok(())
            }
        }
    }

    fn evaluate(&self, expr: &'a Expr) -> Result<Evaluated<'a>, QueryError> {
        expr.evaluate(self.request, self.ids)
    }

    fn replace(
        &self,
        assignment: &'a Assignment,
        expr: &'a Expr,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let value = self.evaluate(expr)?;
        if matches!(value, Evaluated::Unset) {
            return Ok(());
        }
        // Also for null: elements added at the same timestamp survive `c = null`, and not `DELETE c`.
        let what = What::ComplexDeletion { replaced: true };
        out.push(Draft { column: assignment.column, path: None, what });
        match value {
            Evaluated::Value(bytes) => self.elements(assignment, bytes, false, out),
            _ => Ok(()),
        }
    }

    /// Cells for every element of a collection or user-defined type value.
    fn elements(
        &self,
        assignment: &Assignment,
        bytes: Cow<'a, [u8]>,
        prepend: bool,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        match bytes {
            Cow::Borrowed(bytes) => self.parts(assignment, bytes, prepend, Cow::Borrowed, out),
            Cow::Owned(bytes) => {
                self.parts(assignment, &bytes, prepend, |part| Cow::Owned(part.to_vec()), out)
            }
        }
    }

    /// The same; `keep` makes a part of the bytes last as long as the drafts.
    fn parts<'b>(
        &self,
        assignment: &Assignment,
        bytes: &'b [u8],
        prepend: bool,
        keep: impl Fn(&'b [u8]) -> Cow<'a, [u8]>,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let column = assignment.column;
        // The first thing in a collection is how many elements it has; each takes four bytes at least.
        let count = bytes.first_chunk().map_or(0, |count| i32::from_be_bytes(*count).max(0) as usize);
        out.cells.reserve(count.min(bytes.len() / 4));
        let mut put = |path: Vec<u8>, value: Cow<'a, [u8]>| {
            out.push(Draft { column, path: Some(Cow::Owned(path)), what: What::Value(value) });
        };
        match &assignment.data_type {
            DataType::List { .. } => {
                let mut parts: Vec<&[u8]> = Vec::new();
                for part in elements(bytes).map_err(malformed)? {
                    parts.push(part.map_err(malformed)?.ok_or_else(null_inside)?);
                }
                if prepend {
                    for part in parts.into_iter().rev() {
                        put(mirrored(&self.ids.timeuuid()).to_vec(), keep(part));
                    }
                } else {
                    for part in parts {
                        put(list_path(&self.ids.timeuuid()).to_vec(), keep(part));
                    }
                }
            }
            DataType::Set { element, .. } => {
                for part in elements(bytes).map_err(malformed)? {
                    let part = part.map_err(malformed)?.ok_or_else(null_inside)?;
                    let path = path_of(element, part)?;
                    let value = set_cell_value(element, &path, part);
                    put(path, Cow::Owned(value));
                }
            }
            DataType::Map { key, .. } => {
                for entry in map_entries(bytes).map_err(malformed)? {
                    let (k, v) = entry.map_err(malformed)?;
                    let (k, v) = (k.ok_or_else(null_inside)?, v.ok_or_else(null_inside)?);
                    let value = match key.has_decimal() {
                        true => Cow::Owned(map_cell_value(key, k, v)),
                        false => keep(v),
                    };
                    put(path_of(key, k)?, value);
                }
            }
            DataType::Udt(udt) => {
                for (index, part) in fields(bytes).take(udt.fields.len()).enumerate() {
                    // A replaced value has no older fields left, so a null field needs no tombstone.
                    if let Some(value) = part.map_err(malformed)? {
                        put(field_path(index as u16).to_vec(), keep(value));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn remove(&self, assignment: &Assignment, bytes: &[u8], out: &mut Drafts<'a>) -> Result<(), QueryError> {
        let mut parts = Vec::new();
        for part in elements(bytes).map_err(malformed)? {
            parts.push(part.map_err(malformed)?.ok_or_else(null_inside)?.to_vec());
        }
        match &assignment.data_type {
            DataType::List { element, .. } => {
                let op = DeferredOp::ListRemove { element: (**element).clone(), values: parts };
                out.defer(assignment, op);
            }
            DataType::Set { element: key, .. } | DataType::Map { key, .. } => {
                for part in parts {
                    let path = Some(Cow::Owned(path_of(key, &part)?));
                    out.push(Draft { column: assignment.column, path, what: What::Tombstone });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn set_key(
        &self,
        assignment: &Assignment,
        key: &'a Expr,
        value: &'a Expr,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let DataType::Map { key: key_type, .. } = &assignment.data_type else { return Ok(()) };
        let key = match self.evaluate(key)? {
            Evaluated::Value(bytes) => bytes,
            Evaluated::Null => return Err(NullIn::MapKey.into()),
            Evaluated::Unset => return Err(UnsetIn::MapKey.into()),
        };
        let what = match self.evaluate(value)? {
            Evaluated::Unset => return Ok(()),
            Evaluated::Null => What::Tombstone,
            Evaluated::Value(bytes) if key_type.has_decimal() => {
                What::Value(Cow::Owned(map_cell_value(key_type, &key, &bytes)))
            }
            Evaluated::Value(bytes) => What::Value(bytes),
        };
        let path = Some(Cow::Owned(path_of(key_type, &key)?));
        out.push(Draft { column: assignment.column, path, what });
        Ok(())
    }

    fn set_index(
        &self,
        assignment: &Assignment,
        index: &'a Expr,
        value: Option<&'a Expr>,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let index = match self.evaluate(index)? {
            Evaluated::Value(bytes) => as_i32(&bytes)?,
            Evaluated::Null => return Err(NullIn::ListIndex.into()),
            // Nothing is deleted at an index that is unset.
            Evaluated::Unset if value.is_none() => return Ok(()),
            Evaluated::Unset => return Err(UnsetIn::ListIndex.into()),
        };
        let value = match value.map(|v| self.evaluate(v)).transpose()? {
            Some(Evaluated::Unset) => return Ok(()),
            Some(Evaluated::Value(bytes)) => Some(bytes.into_owned()),
            Some(Evaluated::Null) | None => None,
        };
        let op = DeferredOp::ListSet { index, value };
        out.defer(assignment, op);
        Ok(())
    }

    fn set_field(
        &self,
        assignment: &Assignment,
        field: u16,
        value: &'a Expr,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let what = match self.evaluate(value)? {
            Evaluated::Unset => return Ok(()),
            Evaluated::Null => What::Tombstone,
            Evaluated::Value(bytes) => What::Value(bytes),
        };
        let path = Some(Cow::Owned(field_path(field).to_vec()));
        out.push(Draft { column: assignment.column, path, what });
        Ok(())
    }

    fn count(
        &self,
        assignment: &Assignment,
        delta: &'a Expr,
        subtract: bool,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let delta = match self.evaluate(delta)? {
            Evaluated::Value(bytes) => as_i64(&bytes)?,
            Evaluated::Null => {
                return Err(NullIn::CounterDelta.into());
            }
            Evaluated::Unset => return Ok(()),
        };
        if subtract && delta == i64::MIN {
            return Err(WriteFault::CounterOverflow { delta }.into());
        }
        let op = DeferredOp::CounterAdd(if subtract { -delta } else { delta });
        out.defer(assignment, op);
        Ok(())
    }

    fn compute(
        &self,
        assignment: &Assignment,
        operand: &'a Expr,
        subtract: bool,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let operand = match self.evaluate(operand)? {
            Evaluated::Value(bytes) => bytes.into_owned(),
            Evaluated::Null => {
                return Err(NullIn::Operand { column: assignment.name.to_string() }.into());
            }
            Evaluated::Unset => return Ok(()),
        };
        let data_type = assignment.data_type.clone();
        let op = DeferredOp::Arithmetic { data_type, subtract, operand, steady: true };
        out.defer(assignment, op);
        Ok(())
    }

    fn delete_key(
        &self,
        assignment: &Assignment,
        key: &'a Expr,
        out: &mut Drafts<'a>,
    ) -> Result<(), QueryError> {
        let (DataType::Map { key: key_type, .. } | DataType::Set { element: key_type, .. }) =
            &assignment.data_type
        else {
            return Ok(());
        };
        match self.evaluate(key)? {
            Evaluated::Value(bytes) => {
                let path = Some(Cow::Owned(path_of(key_type, &bytes)?));
                out.push(Draft { column: assignment.column, path, what: What::Tombstone });
                Ok(())
            }
            Evaluated::Null => Err(NullIn::MapKey.into()),
            Evaluated::Unset if matches!(assignment.data_type, DataType::Set { .. }) => Ok(()),
            Evaluated::Unset => Err(UnsetIn::MapKey.into()),
        }
    }
}

impl<'a> Drafts<'a> {
    fn push(&mut self, draft: Draft<'a>) {
        let value = match &draft.what {
            What::Value(value) => value.len(),
            What::Tombstone | What::ComplexDeletion { .. } => 0,
        };
        self.bytes += value + draft.path.as_ref().map_or(0, |path| path.len());
        self.cells.push(draft);
    }

    fn defer(&mut self, assignment: &Assignment, op: DeferredOp) {
        self.bytes += operation_bytes(&op);
        self.deferred.push((assignment.column, assignment.name.to_string(), op));
    }

    /// Writes the cells, in order, behind what `out` already holds. Of two drafts of one cell the
    /// merge rules decide, as if they had come in two statements of one timestamp.
    pub fn write(&mut self, stamp: &Stamp, out: &mut RowWriter) {
        let position = |d: &Draft<'a>| (d.column, d.path.is_some());
        if !self.cells.is_sorted_by(|a, b| (position(a), &a.path) < (position(b), &b.path)) {
            self.cells.sort_by(|a, b| (position(a), &a.path).cmp(&(position(b), &b.path)));
        }
        let mut pending: Option<Cell<'_>> = None;
        for draft in &self.cells {
            let cell = draft.cell(stamp);
            match pending {
                Some(last) if (last.column, last.path) == (cell.column, cell.path) => {
                    if model::merge::reconcile(&cell, &last).is_gt() {
                        pending = Some(cell);
                    }
                }
                _ => {
                    if let Some(last) = pending.replace(cell) {
                        out.cell(&last);
                    }
                }
            }
        }
        if let Some(last) = pending {
            out.cell(&last);
        }
    }

    /// The operations that need the current value, addressed to `position`.
    pub fn deferred(&mut self, position: &RowPosition, stamp: &Stamp) -> impl Iterator<Item = Deferred> {
        let (position, stamp) = (position.clone(), *stamp);
        std::mem::take(&mut self.deferred).into_iter().map(move |(column, column_name, op)| Deferred {
            position: position.clone(),
            column,
            column_name,
            timestamp: stamp.timestamp,
            ttl: stamp.ttl,
            statement: stamp.statement,
            op: with_certainty(op, stamp.conditional),
        })
    }
}

/// A condition decides about the row as it was, and its outcome has the ballot for a timestamp.
fn with_certainty(op: DeferredOp, conditional: bool) -> DeferredOp {
    match op {
        DeferredOp::Arithmetic { data_type, subtract, operand, .. } => {
            DeferredOp::Arithmetic { data_type, subtract, operand, steady: !conditional }
        }
        other => other,
    }
}

impl Draft<'_> {
    fn cell(&self, stamp: &Stamp) -> Cell<'_> {
        let now = stamp.now_seconds;
        let (timestamp, state) = match &self.what {
            What::Value(value) => (stamp.timestamp, stamp.live(value)),
            What::Tombstone => (stamp.timestamp, CellState::Tombstone { local_seconds: now }),
            // One less than the data, or the new elements would be deleted with the old ones.
            What::ComplexDeletion { replaced: true } => {
                (stamp.timestamp - 1, CellState::ComplexDeletion { local_seconds: now })
            }
            What::ComplexDeletion { replaced: false } => {
                (stamp.timestamp, CellState::ComplexDeletion { local_seconds: now })
            }
        };
        Cell { column: self.column, path: self.path.as_deref(), timestamp, state }
    }
}

fn path_of(data_type: &DataType, value: &[u8]) -> Result<Vec<u8>, QueryError> {
    let mut path = Vec::with_capacity(value.len() + 4);
    comparable::encode(data_type, false, value, &mut path)?;
    Ok(path)
}

fn mirrored(id: &[u8; 16]) -> [u8; 16] {
    let low: [u8; 8] = std::array::from_fn(|i| id[8 + i]);
    let ticks = 2 * PREPEND_MIRROR_TICKS - timeuuid::unix_ticks(id);
    list_path(&timeuuid::from_unix_ticks(ticks, u64::from_be_bytes(low)))
}

fn null_inside() -> QueryError {
    NullIn::Collection.into()
}

fn malformed<E>(_: E) -> QueryError {
    ValueFault::ShortCollection.into()
}

pub(super) fn as_i32(bytes: &[u8]) -> Result<i32, QueryError> {
    let wrong = || ValueFault::IntWidth { bytes: bytes.len() };
    Ok(i32::from_be_bytes(bytes.try_into().map_err(|_| wrong())?))
}

pub(super) fn as_i64(bytes: &[u8]) -> Result<i64, QueryError> {
    let wrong = || ValueFault::LongWidth { bytes: bytes.len() };
    Ok(i64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?))
}
