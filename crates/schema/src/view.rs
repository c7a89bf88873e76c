//! What makes a table a materialized view: the table it is made of, and which of its rows it has.

use crate::later::Later;
use crate::totals::Totals;
use model::comparison::Comparison;
use model::types::quote_identifier;
use std::sync::Arc;

/// The condition that every column of a view's key fulfils by being there.
pub const IS_NOT_NULL: &str = "IS NOT NULL";

#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// In the same keyspace.
    pub base: Arc<str>,
    /// The id of the base in log and files.
    pub base_id: u32,
    /// `SELECT *`: columns that the base gets later become the view's too.
    pub include_all_columns: bool,
    /// The WHERE clause, in its order.
    pub restrictions: Vec<ViewRestriction>,
    /// The rows that were there before the view are in it.
    pub built: bool,
    /// Why nobody keeps the view in step with its base. It cannot be read, and only DROP helps.
    pub disabled: Option<String>,
    /// Made by CREATE PROJECTION: who owns it, and rules of its own.
    pub projection: Option<Projection>,
}

/// What CREATE PROJECTION says beyond a view. Its key may have any columns of its table, and its WHERE clause may be about any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    pub owner: Option<String>,
    /// How fast rows that are there already are copied.
    pub backfill: Backfill,
    /// CREATE answers when it is built.
    pub wait: bool,
    /// It has totals of groups instead of rows.
    pub totals: Option<Totals>,
    /// It follows its table later; `None`: in the commits of its table.
    pub later: Option<Later>,
}

/// How fast a backfill may be; `None`: as fast as it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backfill {
    pub rows_per_second: Option<u32>,
    pub mb_per_second: Option<u32>,
    /// Slower while a hundredth of the requests takes longer than this.
    pub p99_millis: Option<u32>,
}

/// One relation of a view's WHERE clause. The columns stand apart from the rest, because they may be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewRestriction {
    pub columns: Vec<Arc<str>>,
    /// Written as `(a, b)`.
    pub is_tuple: bool,
    /// Operator and value as CQL: `IS NOT NULL`, `> 1`, `IN (1, 2)`. For people: what a row must fulfil is in `tests`.
    pub condition: String,
    /// What a row must fulfil beside having the columns. `None`: the catalogue was written before format 4 and has the text only.
    pub tests: Option<Vec<ViewTest>>,
}

/// `columns comparison values`, as values: any of the alternatives for IN, one for every other comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewTest {
    pub comparison: Comparison,
    /// Each with a wire value per column. Nothing passes without one.
    pub alternatives: Vec<Vec<Vec<u8>>>,
}

impl View {
    /// As `system_schema.views.where_clause` shows it.
    pub fn where_clause(&self) -> String {
        self.restrictions.iter().map(ViewRestriction::text).collect::<Vec<_>>().join(" AND ")
    }
}

impl ViewRestriction {
    pub fn is_not_null(&self) -> bool {
        self.condition == IS_NOT_NULL
    }

    /// The relation as CQL.
    pub fn text(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|name| quote_identifier(name)).collect();
        let columns = columns.join(", ");
        let condition = &self.condition;
        if self.is_tuple { format!("({columns}) {condition}") } else { format!("{columns} {condition}") }
    }
}
