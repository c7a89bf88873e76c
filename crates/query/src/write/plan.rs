//! What a write statement does, as data.

use crate::expr::Expr;
use crate::function::Choice;
use crate::restrict::Restrictions;
use model::row::ColumnId;
use model::types::DataType;
use schema::Table;
use std::sync::Arc;
use store::Comparison;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    Insert,
    Update,
    Delete,
}

impl WriteKind {
    pub fn name(self) -> &'static str {
        match self {
            WriteKind::Insert => "INSERT",
            WriteKind::Update => "UPDATE",
            WriteKind::Delete => "DELETE",
        }
    }
}

/// One INSERT, UPDATE or DELETE.
#[derive(Clone, Debug)]
pub struct WritePlan {
    pub table: Arc<Table>,
    pub kind: WriteKind,
    pub keys: Keys,
    /// Sorted by column id. Empty in a DELETE of whole rows.
    pub assignments: Vec<Assignment>,
    /// Every assignment is to a static column: rows are not touched.
    pub statics_only: bool,
    pub timestamp: Option<Expr>,
    pub ttl: Option<Expr>,
    pub condition: Option<ConditionPlan>,
    /// What a reader who may not see clear values gets for masked columns, and which of them the statement asks about.
    pub masks: Masks,
    /// Some column of the table has constraints, or its rows expire as a whole.
    pub checked: bool,
    /// INSERT JSON: the expressions above are markers for the columns of the document.
    pub json: Option<JsonSource>,
    /// Functions of users that it calls.
    pub calls: Vec<Choice>,
}

/// Of a conditional statement on a table with masked columns; empty for all others.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    /// For each masked column what is shown for it; input 0 is its value.
    pub shown: Vec<(ColumnName, Expr)>,
    /// Masked columns that conditions or key relations are on: whether they hold tells the values.
    pub queried: Vec<ColumnName>,
}

type ColumnName = Arc<str>;

impl Masks {
    /// What is shown of a column, if it is masked.
    pub fn of(&self, column: &str) -> Option<&Expr> {
        self.shown.iter().find(|(name, _)| **name == *column).map(|(_, expr)| expr)
    }
}

/// Where INSERT JSON has its values from: marker `i` of the plan is `columns[i]` of the document.
#[derive(Clone, Debug)]
pub struct JsonSource {
    pub document: Expr,
    /// `DEFAULT UNSET`: columns that the document leaves out stay as they are.
    pub default_unset: bool,
    pub columns: Vec<(Arc<str>, DataType)>,
}

/// Which rows are written.
#[derive(Clone, Debug)]
pub enum Keys {
    /// INSERT: one value per key column, in key order. `clustering` is empty when only statics are set.
    Values { partition: Vec<Expr>, clustering: Vec<Expr> },
    /// UPDATE and DELETE: the WHERE clause.
    Where(Box<Restrictions>),
}

/// One change to one column.
#[derive(Clone, Debug)]
pub struct Assignment {
    pub column: ColumnId,
    pub name: Arc<str>,
    pub is_static: bool,
    pub data_type: DataType,
    pub kind: AssignmentKind,
}

#[derive(Clone, Debug)]
pub enum AssignmentKind {
    /// `c = x`, whole value; replaces a multi-cell collection.
    Set(Expr),
    /// `c = c + x` on a set, map or list (append).
    Append(Expr),
    /// `l = x + l`.
    Prepend(Expr),
    /// `c = c - x`: set elements, map keys (x is a set) or list values.
    Remove(Expr),
    /// `m[k] = x`.
    SetKey { key: Expr, value: Expr },
    /// `l[i] = x`.
    SetIndex { index: Expr, value: Expr },
    /// `u.f = x`.
    SetField { field: u16, value: Expr },
    /// `c = c + x` (or minus) on a counter.
    Count { delta: Expr, subtract: bool },
    /// `n = n + x` (or minus) on an ordinary number; needs a condition.
    Compute { operand: Expr, subtract: bool },
    /// `DELETE c`.
    Delete,
    /// `DELETE m[k]` or a set element.
    DeleteKey(Expr),
    /// `DELETE l[i]`.
    DeleteIndex(Expr),
    /// `DELETE u.f`.
    DeleteField(u16),
}

/// The IF clause.
#[derive(Clone, Debug)]
pub enum ConditionPlan {
    NotExists,
    Exists,
    Columns(Vec<Conditions>),
}

impl ConditionPlan {
    /// Whether a regular column is named: then the statement must name a row.
    pub fn is_on_rows(&self) -> bool {
        matches!(self, ConditionPlan::Columns(list) if list.iter().any(|c| !c.is_static))
    }
}

/// One condition on a column, element or field.
#[derive(Clone, Debug)]
pub struct Conditions {
    pub column: ColumnId,
    pub name: Arc<str>,
    pub is_static: bool,
    pub data_type: DataType,
    pub element: Option<ElementExpr>,
    pub comparison: Comparison,
    pub operand: OperandExpr,
}

#[derive(Clone, Debug)]
pub enum ElementExpr {
    MapKey(Expr),
    ListIndex(Expr),
    Field(u16),
}

#[derive(Clone, Debug)]
pub enum OperandExpr {
    One(Expr),
    /// `IN (a, b)`.
    List(Vec<Expr>),
    /// `IN ?`: a list value.
    ListValue(Expr),
}

impl WritePlan {
    pub fn is_conditional(&self) -> bool {
        self.condition.is_some()
    }

    pub fn is_counter(&self) -> bool {
        self.table.is_counter()
    }
}
