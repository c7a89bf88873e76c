//! Conditions of a conditional commit, as data, and their evaluation.
//!
//! Guarantees: every store evaluates conditions with this code, so a condition means the same
//! everywhere. A missing value equals null; an order comparison with null is refused (as Cassandra).

use crate::assemble::{self, assemble_column};
use crate::error::StoreError;
use model::row::{ColumnId, RowView};
use model::types::DataType;
use model::value::compare;
use std::cmp::Ordering;
use std::sync::Arc;

/// Which row of the partition a check or a deferred operation is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    pub conditions: Vec<CellCondition>,
    /// The columns whose cells keep a row alive; `None`: all, as long as none was dropped.
    pub columns: Option<Arc<[ColumnId]>>,
}

/// One condition on a column, or on an element or field of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellCondition {
    pub column: ColumnId,
    /// The column lives in the static row.
    pub is_static: bool,
    pub data_type: DataType,
    pub element: Option<Element>,
    pub comparison: Comparison,
    /// Wire bytes; one value, or the alternatives of IN. `None` is null.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Contains,
    ContainsKey,
}

impl Comparison {
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::In => "IN",
            Comparison::Contains => "CONTAINS",
            Comparison::ContainsKey => "CONTAINS KEY",
        }
    }
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
        // All of them, so that one that cannot be decided is told however the others turn out.
        let mut holds = true;
        for condition in &self.conditions {
            let source = if condition.is_static { static_row } else { row };
            holds &= condition.holds(source, now_seconds)?;
        }
        Ok(holds)
    }
}

impl CellCondition {
    fn holds(&self, row: Option<RowView<'_>>, now_seconds: u32) -> Result<bool, StoreError> {
        let whole = row.and_then(|r| assemble_column(r, self.column, &self.data_type, now_seconds));
        let (current, data_type) = match &self.element {
            None => (whole, self.data_type.clone()),
            Some(element) => assemble::element(&self.data_type, whole.as_deref(), element),
        };
        let current = current.as_deref();
        let wanted = self.values.first().and_then(|v| v.as_deref());
        Ok(match self.comparison {
            Comparison::Equal => equal(&data_type, current, wanted),
            Comparison::NotEqual => !equal(&data_type, current, wanted),
            Comparison::In => self.values.iter().any(|v| equal(&data_type, current, v.as_deref())),
            Comparison::Contains => assemble::contains(&data_type, current, wanted, false),
            Comparison::ContainsKey => assemble::contains(&data_type, current, wanted, true),
            Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
                self.refuse_empty()?;
                let wanted = wanted.ok_or_else(|| {
                    let symbol = self.comparison.symbol();
                    StoreError::Invalid(format!("Invalid comparison with null for operator \"{symbol}\""))
                })?;
                current.is_some_and(|value| self.ordered(compare(&data_type, value, wanted)))
            }
        })
    }

    /// A collection of cells cannot be empty, so nothing is less or greater than an empty one.
    fn refuse_empty(&self) -> Result<(), StoreError> {
        let kind = match &self.data_type {
            _ if self.element.is_some() || !self.data_type.is_multi_cell() => return Ok(()),
            DataType::List { .. } => "list",
            DataType::Set { .. } => "set",
            DataType::Map { .. } => "map",
            _ => return Ok(()),
        };
        let is_empty = |value: &Vec<u8>| value.get(..4).is_none_or(|count| count == [0; 4]);
        if self.values.iter().flatten().any(is_empty) {
            let symbol = self.comparison.symbol();
            return Err(StoreError::Invalid(format!(
                "Invalid comparison with an empty {kind} for operator \"{symbol}\""
            )));
        }
        Ok(())
    }

    fn ordered(&self, ordering: Ordering) -> bool {
        match self.comparison {
            Comparison::Less => ordering == Ordering::Less,
            Comparison::LessOrEqual => ordering != Ordering::Greater,
            Comparison::Greater => ordering == Ordering::Greater,
            Comparison::GreaterOrEqual => ordering != Ordering::Less,
            _ => false,
        }
    }
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
