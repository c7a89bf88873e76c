//! Memory that a plan holds beside its answer counts against the server's memory for work: rows that wait to be sorted, groups, keys
//! from IN relations.
//!
//! A small amount is free, so that ordinary requests count nothing.

use crate::error::QueryError;
use crate::fault::ReadFault;
use rt::{Budget, Share};

/// What every request may hold.
const FREE_BYTES: usize = 256 << 10;
/// More is taken in steps of this.
const STEP_BYTES: usize = 256 << 10;

/// The memory that one execution has taken; comes back when it is dropped.
#[derive(Debug, Default)]
pub struct Held {
    /// `None`: it is not counted.
    share: Option<Share>,
}

impl Held {
    pub fn of(budget: Option<&Budget>) -> Held {
        Held { share: budget.map(Budget::nothing) }
    }

    /// So many bytes are held now. Refused when the server has no more of them.
    pub fn hold(&mut self, bytes: usize) -> Result<(), QueryError> {
        let Some(share) = &mut self.share else { return Ok(()) };
        let Some(more) = bytes.checked_sub(FREE_BYTES + share.bytes()).filter(|more| *more > 0) else {
            return Ok(());
        };
        if share.grow(more.next_multiple_of(STEP_BYTES)) {
            return Ok(());
        }
        Err(ReadFault::MemoryTaken.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_free_and_the_rest_is_counted() {
        let budget = Budget::new(3 * STEP_BYTES);
        let mut held = Held::of(Some(&budget));
        held.hold(FREE_BYTES).unwrap();
        assert_eq!(budget.bytes_taken(), 0);
        held.hold(FREE_BYTES + 1).unwrap();
        held.hold(1).unwrap();
        assert_eq!(budget.bytes_taken(), STEP_BYTES);
        held.hold(FREE_BYTES + 3 * STEP_BYTES).unwrap();
        let mut other = Held::of(Some(&budget));
        assert!(other.hold(FREE_BYTES + 1).is_err_and(|error| error.is_overload()));
        drop(held);
        other.hold(FREE_BYTES + 1).unwrap();
        drop(other);
        assert_eq!(budget.bytes_taken(), 0);
        Held::default().hold(usize::MAX).unwrap();
    }
}
