//! Words: rows that expire as a whole.

use schema::ColumnKind;
use schema::fault::RowTtlFault;

pub fn row_ttl(fault: &RowTtlFault) -> String {
    match fault {
        RowTtlFault::TwoColumns { first, second } => format!(
            "Only one column of a table can say when its rows expire; {first} and {second} are declared TTL"
        ),
        RowTtlFault::NothingToTurnOff { table } => {
            format!("No column of {table} says when its rows expire, so there is nothing to turn off")
        }
        RowTtlFault::SaidAlready { table, column } => {
            format!(
                "Rows of {table} expire when {column} says already. Say ALTER TABLE {table} TTL NULL first"
            )
        }
        RowTtlFault::NoSuchColumn { column, table } => {
            format!("Column '{column}' doesn't exist in table {table}")
        }
        RowTtlFault::OfKind { column, kind } => {
            let kind = match kind {
                ColumnKind::PartitionKey | ColumnKind::Clustering => "part of the primary key",
                ColumnKind::Static => "static, so that it belongs to no row",
                ColumnKind::Regular => "regular",
            };
            format!("Column {column} cannot say when a row expires: it is {kind}. Use a regular column")
        }
        RowTtlFault::OfType { column, data_type } => format!(
            "Column {column} of type {data_type} cannot say when a row expires. It needs the type timestamp, or bigint or int for \
             seconds since 1970"
        ),
        RowTtlFault::HasViews { table, view } => format!(
            "Rows of {table} cannot expire as a whole while {view} is made of it: its rows would outlive them. Drop it first"
        ),
        RowTtlFault::HasBuckets { table } => {
            format!("Rows of {table} cannot expire as a whole: it has buckets: give it a retention instead")
        }
        RowTtlFault::IsCompact { table } => {
            format!("Rows of {table} cannot expire as a whole: it has COMPACT STORAGE")
        }
        RowTtlFault::IsForeign { table } => format!(
            "Rows of {table} cannot expire as a whole: it belongs to the DynamoDB API, which has UpdateTimeToLive"
        ),
        RowTtlFault::CopiesOutlive { table, column } => format!(
            "Nothing can be made of {table} whose rows expire when {column} says: copies would outlive them. An index can be"
        ),
        RowTtlFault::Dropped { column, table } => format!(
            "Cannot drop column {column}: it says when rows expire. Say ALTER TABLE {table} TTL NULL first"
        ),
    }
}
