//! Rows that expire as a whole. Facts without words.

use super::Kind;
use crate::column::ColumnKind;
use crate::name::FullName;
use model::types::DataType;

/// A column cannot say when the rows of its table expire, or the table cannot have what is asked for because one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowTtlFault {
    TwoColumns { first: String, second: String },
    NothingToTurnOff { table: FullName },
    SaidAlready { table: FullName, column: String },
    NoSuchColumn { column: String, table: FullName },
    OfKind { column: String, kind: ColumnKind },
    OfType { column: String, data_type: DataType },
    HasViews { table: FullName, view: String },
    HasBuckets { table: FullName },
    IsCompact { table: FullName },
    IsForeign { table: FullName },
    CopiesOutlive { table: FullName, column: String },
    Dropped { column: String, table: FullName },
}

impl RowTtlFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}
