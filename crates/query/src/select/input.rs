//! What a read plan takes from each row.

use crate::expr::Expr;
use model::row::ColumnId;
use model::types::DataType;

/// One value taken from a row, by slot: expressions refer to it by its place in the plan's inputs.
#[derive(Clone, Debug)]
pub struct Input {
    pub source: Source,
    pub data_type: DataType,
}

#[derive(Clone, Debug)]
pub enum Source {
    /// By position in the key.
    PartitionKey(usize),
    Clustering(usize),
    /// The value of a stored column, assembled when it has many cells.
    Cell(CellPlace),
    WriteTime(CellPlace, CellPart),
    MaxWriteTime(CellPlace, CellPart),
    Ttl(CellPlace, CellPart),
    /// The result of an aggregate, by number; filled when a group is complete.
    Aggregate(usize),
}

/// A stored column.
#[derive(Clone, Debug)]
pub struct CellPlace {
    pub column: ColumnId,
    pub is_static: bool,
    /// The column's own type.
    pub data_type: DataType,
}

/// The part of a column whose cells are looked at.
#[derive(Clone, Debug)]
pub enum CellPart {
    Whole,
    /// The map entry or set element with this key.
    Element(Expr),
    /// The entries with keys between two bounds, both included.
    Slice(Option<Expr>, Option<Expr>),
    Field(usize),
}
