//! What IN relations multiply to. Every product is checked before it is built: a text of two kilobytes can name
//! billions of rows.

use crate::error::QueryError;

/// Most keys, or slices of rows, that the IN relations of one request may name: partitions times rows, and the sum
/// over the statements of a batch. Ten thousand keys take about ten milliseconds to make.
pub const COMBINATIONS_MAX: usize = 10_000;

/// Most bytes of the keys that are made by combining values: a short list of long values multiplies too.
const COMBINED_BYTES_MAX: usize = 16 << 20;

/// Refuses more than [`COMBINATIONS_MAX`], in the words of Cassandra's guardrail.
pub fn check_combinations<'n>(
    columns: impl Iterator<Item = &'n str>,
    combinations: usize,
) -> Result<(), QueryError> {
    if combinations <= COMBINATIONS_MAX {
        return Ok(());
    }
    Err(QueryError::invalid(format!(
        "Guardrail in_select_cartesian_product violated: Aborting query because the cartesian product of the IN \
         restrictions on {} produces {combinations} values, this exceeds fail threshold of {COMBINATIONS_MAX}. Name \
         fewer keys, or send several statements",
        columns.collect::<Vec<_>>().join(", ")
    )))
}

/// Refuses keys that would be too long together.
pub(super) fn check_bytes(bytes: usize) -> Result<(), QueryError> {
    if bytes <= COMBINED_BYTES_MAX {
        return Ok(());
    }
    Err(QueryError::invalid(format!(
        "The IN relations make keys of {bytes} bytes together, the limit is {COMBINED_BYTES_MAX}. Name fewer keys, or \
         send several statements"
    )))
}
