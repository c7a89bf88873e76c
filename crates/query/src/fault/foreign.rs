//! Tables of one dialect, used in another.

use super::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFault {
    /// A stored item is not in the form that its dialect writes.
    Damaged,
    /// A number has more digits, or another size, than the dialect's numbers have.
    NumberOutOfRange,
    /// The table is one that only another dialect makes up.
    Unserved,
}

impl ForeignFault {
    pub fn kind(self) -> Kind {
        match self {
            ForeignFault::Damaged => Kind::Corrupt,
            ForeignFault::NumberOutOfRange => Kind::Invalid,
            ForeignFault::Unserved => Kind::NotFound,
        }
    }
}
