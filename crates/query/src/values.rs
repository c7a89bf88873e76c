//! Values bound to a statement's markers: slices of the request frame, never copied here.

/// One bound value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<'a> {
    Null,
    /// Leave the column as it is (protocol v4 and later).
    Unset,
    Value(&'a [u8]),
}

impl<'a> Bound<'a> {
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Bound::Value(bytes) => Some(bytes),
            Bound::Null | Bound::Unset => None,
        }
    }
}

/// All values of one execution, in marker order.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a>(pub &'a [Bound<'a>]);

impl<'a> Values<'a> {
    pub const NONE: Values<'static> = Values(&[]);

    /// The value of marker `index`; the caller has checked the count.
    pub fn get(&self, index: usize) -> Bound<'a> {
        self.0.get(index).copied().unwrap_or(Bound::Null)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
