//! The products of IN relations. Every product is checked before it is built: a text of two kilobytes can name
//! billions of rows.

use crate::error::QueryError;
use crate::fault::RestrictionFault;

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
    Err(RestrictionFault::TooManyCombinations {
        columns: columns.map(str::to_string).collect(),
        combinations,
        most: COMBINATIONS_MAX,
    }
    .into())
}

/// Refuses keys that would be too long together.
pub(super) fn check_bytes(bytes: usize) -> Result<(), QueryError> {
    if bytes <= COMBINED_BYTES_MAX {
        return Ok(());
    }
    Err(RestrictionFault::KeysTooLarge { bytes, bytes_max: COMBINED_BYTES_MAX }.into())
}
