//! Conditions of a conditional commit, as data, and their evaluation.
//!
//! Guarantees: every store evaluates conditions with this code, so a condition means the same
//! everywhere. A missing value equals null; an order comparison with null is refused (as Cassandra).

use crate::assemble::{self, assemble_column};
use crate::error::StoreError;
use crate::evaluate;
use crate::refused::Refused;
use model::comparison::Comparison;
use model::row::{ColumnId, RowView};
use model::types::DataType;
use model::value::compare;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// Which row of the partition a check or a deferred operation is about. In the order of the partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowPosition {
    Static,
    Row(Vec<u8>),
}

/// All that must hold of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowCheck {
    pub position: RowPosition,
    /// `Some(true)`: IF EXISTS; `Some(false)`: IF NOT EXISTS.
    pub exists: Option<bool>,
    /// All of them.
    pub conditions: Vec<Tree>,
    /// The columns whose cells keep a row alive; `None`: all, as long as none was dropped.
    pub columns: Option<Arc<[ColumnId]>>,
}

/// Conditions put together. What is not there is not equal, not less and not in anything; nothing is unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    All(Vec<Tree>),
    Any(Vec<Tree>),
    Not(Box<Tree>),
    Cell(CellCondition),
}

/// Trees that are deeper than this are refused. Evaluation recurses, and a shard's stack is small.
pub const TREE_DEPTH_MAX: usize = 64;

impl From<CellCondition> for Tree {
    fn from(condition: CellCondition) -> Tree {
        Tree::Cell(condition)
    }
}

impl Tree {
    /// Whether one of the conditions at the leaves is such.
    pub fn any(&self, is_such: &dyn Fn(&CellCondition) -> bool) -> bool {
        match self {
            Tree::All(parts) | Tree::Any(parts) => parts.iter().any(|part| part.any(is_such)),
            Tree::Not(part) => part.any(is_such),
            Tree::Cell(condition) => is_such(condition),
        }
    }

    /// All parts are evaluated, so that an undecidable one is reported whatever the others say.
    fn holds(&self, rows: Rows<'_>, now_seconds: u32, depth: usize) -> Result<bool, StoreError> {
        let deeper = depth.checked_sub(1).ok_or(Refused::ConditionTooDeep { most: TREE_DEPTH_MAX })?;
        match self {
            Tree::All(parts) => {
                let mut holds = true;
                for part in parts {
                    holds &= part.holds(rows, now_seconds, deeper)?;
                }
                Ok(holds)
            }
            Tree::Any(parts) => {
                let mut holds = false;
                for part in parts {
                    holds |= part.holds(rows, now_seconds, deeper)?;
                }
                Ok(holds)
            }
            Tree::Not(part) => Ok(!part.holds(rows, now_seconds, deeper)?),
            Tree::Cell(condition) => {
                let source = if condition.is_static { rows.static_row } else { rows.row };
                condition.holds(source, now_seconds)
            }
        }
    }
}

/// The live rows that conditions look at.
#[derive(Clone, Copy)]
struct Rows<'r> {
    row: Option<RowView<'r>>,
    static_row: Option<RowView<'r>>,
}

/// What of a value is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    #[default]
    Value,
    /// The number of elements of a collection, characters of a text, bytes of anything else, as a bigint.
    Size,
}

/// One condition on a column, or on an element or field of it, however deep.
#[derive(Clone, Debug, PartialEq)]
pub struct CellCondition {
    pub column: ColumnId,
    /// The column lives in the static row.
    pub is_static: bool,
    pub data_type: DataType,
    /// From the column's value inward; empty for the whole.
    pub path: Vec<Element>,
    pub subject: Subject,
    pub comparison: Comparison,
    /// Wire bytes; one value, the two of BETWEEN, or the alternatives of IN. `None` is null.
    pub values: Vec<Option<Vec<u8>>>,
}

/// A part of a collection or user-defined type.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// Map key in wire form.
    MapKey(Vec<u8>),
    ListIndex(i32),
    Field(u16),
}

impl RowCheck {
    /// Whether the check holds for the row and the static row as they are (`None`: not there).
    pub fn holds(
        &self,
        row: Option<RowView<'_>>,
        static_row: Option<RowView<'_>>,
        now_seconds: u32,
    ) -> Result<bool, StoreError> {
        let is_live = |r: &RowView<'_>| match &self.columns {
            None => r.is_live(now_seconds),
            Some(columns) => r.is_live_in(columns, now_seconds),
        };
        let row = row.filter(is_live);
        let static_row = static_row.filter(is_live);
        let subject = if self.position == RowPosition::Static { static_row } else { row };
        if self.exists.is_some_and(|wanted| wanted != subject.is_some()) {
            return Ok(false);
        }
        let mut holds = true;
        for condition in &self.conditions {
            holds &= condition.holds(Rows { row, static_row }, now_seconds, TREE_DEPTH_MAX)?;
        }
        Ok(holds)
    }
}

impl CellCondition {
    fn holds(&self, row: Option<RowView<'_>>, now_seconds: u32) -> Result<bool, StoreError> {
        let mut current = row.and_then(|r| assemble_column(r, self.column, &self.data_type, now_seconds));
        let mut data_type = Cow::Borrowed(&self.data_type);
        for step in &self.path {
            let (part, part_type) = assemble::element(&data_type, current.as_deref(), step);
            (current, data_type) = (part, Cow::Owned(part_type));
        }
        if self.subject == Subject::Size {
            current =
                current.and_then(|value| size(&data_type, &value)).map(|size| size.to_be_bytes().to_vec());
            data_type = Cow::Owned(DataType::BigInt);
        }
        let current = current.as_deref();
        let first = self.values.first().and_then(|v| v.as_deref());
        Ok(match self.comparison {
            Comparison::Equal => equal(&data_type, current, first),
            Comparison::NotEqual => !equal(&data_type, current, first),
            Comparison::In => self.values.iter().any(|v| equal(&data_type, current, v.as_deref())),
            Comparison::NotIn => !self.values.iter().any(|v| equal(&data_type, current, v.as_deref())),
            comparison => {
                if comparison.is_order() {
                    self.refuse_empty()?;
                    self.refuse_null()?;
                }
                let alternatives: Vec<Option<&[u8]>> = self.values.iter().map(Option::as_deref).collect();
                current.is_some_and(|value| evaluate::holds_of(comparison, &data_type, value, &alternatives))
            }
        })
    }

    fn refuse_null(&self) -> Result<(), StoreError> {
        if !self.values.is_empty() && self.values.iter().all(Option::is_some) {
            return Ok(());
        }
        Err(Refused::ComparedWithNull { symbol: self.comparison.symbol() }.into())
    }

    /// A collection of cells cannot be empty, so nothing is less or greater than an empty one.
    fn refuse_empty(&self) -> Result<(), StoreError> {
        let kind = match &self.data_type {
            _ if !self.path.is_empty()
                || self.subject == Subject::Size
                || !self.data_type.is_multi_cell() =>
            {
                return Ok(());
            }
            DataType::List { .. } => "list",
            DataType::Set { .. } => "set",
            DataType::Map { .. } => "map",
            _ => return Ok(()),
        };
        let is_empty = |value: &Vec<u8>| value.get(..4).is_none_or(|count| count == [0; 4]);
        if self.values.iter().flatten().any(is_empty) {
            return Err(Refused::ComparedWithEmpty { kind, symbol: self.comparison.symbol() }.into());
        }
        Ok(())
    }
}

/// See [`Subject::Size`].
fn size(data_type: &DataType, value: &[u8]) -> Option<i64> {
    let count = match data_type {
        DataType::Text | DataType::Ascii => std::str::from_utf8(value).ok()?.chars().count(),
        DataType::List { .. } | DataType::Set { .. } | DataType::Map { .. } => {
            return value.first_chunk::<4>().map(|count| i64::from(i32::from_be_bytes(*count)));
        }
        _ => value.len(),
    };
    i64::try_from(count).ok()
}

/// Equality of values; an empty multi-cell collection and null are the same thing.
fn equal(data_type: &DataType, a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
    let nothing = |value: Option<&[u8]>| match value {
        None => true,
        Some(bytes) => data_type.is_multi_cell() && assemble::is_empty_collection(data_type, bytes),
    };
    match (a, b) {
        _ if nothing(a) || nothing(b) => nothing(a) && nothing(b),
        (Some(a), Some(b)) => compare(data_type, a, b) == Ordering::Equal,
        _ => false,
    }
}
