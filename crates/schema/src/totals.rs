//! Totals: what a projection with aggregates keeps of its table, one row per group.
//!
//! Beside the projection's own table, which has the totals, stands a hidden one with the members of the groups (`store::groups`).
//! [`Table::member_lists`] says what it looks like.

use crate::column::{Column, ColumnKind};
use crate::table::Table;
use model::row::ColumnId;
use model::types::DataType;
use std::sync::Arc;

/// The clustering column of members that says which list they are in. Members are read by nobody but the store and its checks.
pub const LIST_COLUMN: ColumnId = ColumnId::MAX - 2;

/// What is kept of each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The id of the members' table.
    pub members: u32,
    pub functions: Vec<TotalFunction>,
}

/// One column of a projection with totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TotalFunction {
    /// Its id among the projection's own columns; the base may have another column with this number.
    pub column: ColumnId,
    pub kind: TotalKind,
    /// The column of the base; `None` for `count(*)`.
    pub source: Option<ColumnId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalKind {
    Count,
    Sum,
    Min,
    Max,
}

impl TotalKind {
    pub fn of_name(name: &str) -> Option<TotalKind> {
        [TotalKind::Count, TotalKind::Sum, TotalKind::Min, TotalKind::Max]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            TotalKind::Count => "count",
            TotalKind::Sum => "sum",
            TotalKind::Min => "min",
            TotalKind::Max => "max",
        }
    }

    /// The type of the total of a column. Sums get room, so that they never wrap. `None`: there is no such total.
    pub fn returns(self, of: Option<&DataType>) -> Option<DataType> {
        Some(match (self, of) {
            (TotalKind::Count, Some(of)) if of.is_multi_cell() => return None,
            (TotalKind::Count, _) => DataType::BigInt,
            (TotalKind::Sum, Some(DataType::TinyInt | DataType::SmallInt | DataType::Int)) => {
                DataType::BigInt
            }
            (TotalKind::Sum, Some(DataType::BigInt | DataType::VarInt)) => DataType::VarInt,
            (TotalKind::Sum, Some(DataType::Decimal)) => DataType::Decimal,
            (TotalKind::Min | TotalKind::Max, Some(of))
                if !of.is_multi_cell() && !of.references_duration() =>
            {
                of.clone()
            }
            _ => return None,
        })
    }
}

impl Totals {
    /// The columns by which members are sorted in lists of their own, from list 1 on.
    pub fn sorted(&self) -> Vec<ColumnId> {
        let mut sorted = Vec::new();
        for function in &self.functions {
            if let (TotalKind::Min | TotalKind::Max, Some(source)) = (function.kind, function.source)
                && !sorted.contains(&source)
            {
                sorted.push(source);
            }
        }
        sorted
    }

    /// Whether a total is made of the column.
    pub fn needs(&self, column: ColumnId) -> bool {
        self.functions.iter().any(|function| function.source == Some(column))
    }
}

impl Table {
    /// What it keeps of groups of its base, if it is a projection with aggregates.
    pub fn totals(&self) -> Option<&Totals> {
        self.view.as_ref()?.projection.as_ref()?.totals.as_ref()
    }

    /// The lists of members of a projection with totals, as tables that share an id: list 0 with every member, then those that are
    /// sorted by one column. Their clustering keys are the group, the list, the column that sorts, and what of the base's key the
    /// group does not have.
    pub fn member_lists(&self, base: &Table) -> Vec<Table> {
        let Some(totals) = self.totals() else { return Vec::new() };
        let find = |id: ColumnId| base.columns().find(|column| column.id == id);
        let sorted = totals.sorted();
        let lists = std::iter::once(None).chain(sorted.into_iter().filter_map(find).map(Some));
        lists.map(|by| self.member_list(base, totals, by)).collect()
    }

    fn member_list(&self, base: &Table, totals: &Totals, by: Option<&Column>) -> Table {
        let in_group = |column: &&Column| !self.primary_key().any(|key| key.id == column.id);
        let list = Column {
            id: LIST_COLUMN,
            name: Arc::from("list of members"),
            data_type: DataType::TinyInt,
            kind: ColumnKind::Clustering,
            position: 0,
            descending: false,
            mask: None,
            checks: Vec::new(),
        };
        let rest = base.primary_key().filter(in_group);
        let clustering = self.clustering.iter().chain([&list]).chain(by).chain(rest);
        let clustering = clustering.enumerate().map(|(position, column)| {
            // Only the group's columns have a direction that shows.
            let descending = column.descending && position < self.clustering.len();
            Column { kind: ColumnKind::Clustering, position, descending, ..column.clone() }
        });
        let values = base.regulars.iter().filter(|column| by.is_none() && totals.needs(column.id));
        Table {
            id: totals.members,
            clustering: clustering.collect(),
            regulars: values.filter(in_group).cloned().collect(),
            ..self.clone()
        }
    }
}
