//! Words for reads that are more than there is room for.

use query::fault::ReadFault;

pub fn words(fault: &ReadFault) -> String {
    match fault {
        ReadFault::ResultTooLarge { bytes_max } => format!(
            "The result is larger than {bytes_max} bytes; set a page size to read it in pages, or a LIMIT"
        ),
        ReadFault::RowTooLarge { bytes_max } => format!(
            "A row of the result is larger than {bytes_max} bytes, which is the limit. Select fewer columns at a time"
        ),
        ReadFault::SortTooLarge { streams, bytes_max } => format!(
            "ORDER BY over {streams} partitions has to hold more than {bytes_max} bytes of rows. Name fewer partitions in the IN \
             relation"
        ),
        ReadFault::NearestTooLarge { bytes_max } => format!(
            "The rows that are nearest have more than {bytes_max} bytes together. Ask for fewer with LIMIT, or select fewer columns"
        ),
        ReadFault::MemoryTaken => {
            "The memory for sorting and grouping is taken; name fewer keys, select fewer columns, or try again later".into()
        }
        ReadFault::PagingState => "Invalid value for the paging state".into(),
    }
}
