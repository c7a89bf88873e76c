//! What a SELECT does, as data.

use super::aggregate::Aggregate;
use super::filter::Filter;
use super::index_path::IndexPath;
use super::input::Input;
use super::layout::Layout;
use super::nearest::Ann;
use super::output::Output;
use crate::expr::Expr;
use crate::function::Choice;
use crate::restrict::{PartitionRestriction, Restrictions};
use crate::spec::ColumnSpec;
use schema::Table;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct SelectPlan {
    pub table: Arc<Table>,
    /// Result columns as the client sees them.
    pub columns: Arc<[ColumnSpec]>,
    pub restrictions: Restrictions,
    pub filters: Vec<Filter>,
    /// Says where rows that may pass are. The filters hold as without it.
    pub index: Option<IndexPath>,
    pub inputs: Vec<Input>,
    pub output: Output,
    /// One row per partition: its key and static columns.
    pub distinct: bool,
    /// Rows inside each partition in descending storage order.
    pub reverse: bool,
    /// ORDER BY over several partitions: rows are merged by this many leading clustering columns.
    pub merge_columns: Option<usize>,
    /// Rows by similarity instead of key order; LIMIT says how many.
    pub ann: Option<Ann>,
    pub limit: Option<Expr>,
    pub per_partition_limit: Option<Expr>,
    pub grouping: Option<Grouping>,
    /// A partition with static data but no rows gives one row.
    pub static_rows: bool,
    /// Said to the client with every answer: what the statement costs and what would serve it.
    pub warnings: Vec<String>,
    /// The same statement for readers who may not see clear values; `None` when no column is masked.
    pub masked: Option<Box<SelectPlan>>,
    /// Masked columns that the statement asks about: knowing which rows match tells their values.
    pub queried_masked: Vec<Arc<str>>,
    /// Functions of users that it calls.
    pub calls: Vec<Choice>,
    pub(super) layout: Layout,
}

/// Aggregation: rows with equal keys become one.
#[derive(Clone, Debug, Default)]
pub struct Grouping {
    pub aggregates: Vec<Aggregate>,
    /// GROUP BY; a group never spans partitions when this is not empty. Empty: all rows are one group.
    pub keys: Vec<Expr>,
    /// GROUP BY over entities: their rows are merged by this plan, whose rows are the inputs of the groups.
    pub rows: Option<Box<SelectPlan>>,
}

/// The parts of a plan that a dialect decides; the rest is derived.
#[derive(Clone, Debug)]
pub struct SelectParts {
    pub columns: Vec<ColumnSpec>,
    pub restrictions: Restrictions,
    pub filters: Vec<Filter>,
    pub inputs: Vec<Input>,
    pub output: Output,
}

impl SelectPlan {
    /// A plan that reads everything its restrictions name, in storage order.
    pub fn new(parts: SelectParts) -> SelectPlan {
        let SelectParts { columns, restrictions, filters, inputs, output } = parts;
        let table = restrictions.table.clone();
        let layout = Layout::new(&table, &inputs);
        SelectPlan {
            table,
            columns: columns.into(),
            restrictions,
            filters,
            index: None,
            inputs,
            output: output.simplified(),
            distinct: false,
            reverse: false,
            merge_columns: None,
            ann: None,
            limit: None,
            per_partition_limit: None,
            grouping: None,
            static_rows: true,
            warnings: Vec::new(),
            masked: None,
            queried_masked: Vec::new(),
            calls: Vec::new(),
            layout,
        }
    }

    /// Groups the rows; those of entities are merged first.
    pub fn group_by(&mut self, aggregates: Vec<Aggregate>, keys: Vec<Expr>) {
        let of_entities = matches!(self.restrictions.partitions, PartitionRestriction::Entities { .. });
        let rows = (of_entities && !keys.is_empty()).then(|| Box::new(self.rows_of_groups()));
        self.grouping = Some(Grouping { aggregates, keys, rows });
    }

    fn rows_of_groups(&self) -> SelectPlan {
        let mut rows = SelectPlan::new(SelectParts {
            columns: Vec::new(),
            restrictions: self.restrictions.clone(),
            filters: self.filters.clone(),
            inputs: self.inputs.clone(),
            output: Output::Slots((0..self.inputs.len()).collect()),
        });
        rows.reverse = self.reverse;
        rows.static_rows = self.static_rows;
        rows
    }

    /// The plan for a reader: with or without the right to see clear values.
    pub fn for_reader(&self, unmasked: bool) -> &SelectPlan {
        match &self.masked {
            Some(masked) if !unmasked => masked,
            _ => self,
        }
    }

    /// Whether rows are read that are not returned.
    pub fn is_filtering(&self) -> bool {
        !self.filters.is_empty()
    }
}
