//! How large a type may be when every user-defined type in it is written out.
//!
//! A type is as deep and as large as its definition says, not its text: 22 types, each of two predecessors, are four million
//! parts, and 320 nested ones are deeper than a thread's stack. What holds a type within these limits holds for every
//! walk over it: values, metadata, JSON, comparison and printing recurse as deep as the type.

use super::{DataType, UdtType};
use std::fmt;

/// Levels of a type with user-defined types written out. A text alone may have as many.
pub const TYPE_DEPTH_MAX: usize = 64;

/// Parts of a type with user-defined types written out.
pub const TYPE_NODES_MAX: usize = 10_000;

/// Maps inside keys of maps inside keys of maps: JSON has strings for keys, so each level doubles the escapes of those in it.
pub const MAP_KEY_DEPTH_MAX: usize = 4;

/// Why a type is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSizeError {
    TooDeep,
    TooLarge,
    KeysTooDeep,
    /// It holds a user-defined type that is itself too deep or too large (from an older server's catalogue).
    Unusable,
}

impl fmt::Display for TypeSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeSizeError::TooDeep => {
                write!(
                    f,
                    "is nested more than {TYPE_DEPTH_MAX} levels deep with user-defined types written out"
                )
            }
            TypeSizeError::TooLarge => {
                write!(f, "has more than {TYPE_NODES_MAX} parts with user-defined types written out")
            }
            TypeSizeError::KeysTooDeep => {
                write!(f, "has maps inside the keys of maps, more than {MAP_KEY_DEPTH_MAX} levels of them")
            }
            TypeSizeError::Unusable => f.write_str("holds a user-defined type that is too deep or too large"),
        }
    }
}

impl std::error::Error for TypeSizeError {}

impl UdtType {
    /// Whether this is the name of a type whose fields are not known here because they are too deep or too large. The
    /// catalogue keeps such types of older servers by name; nothing can be read or written with them.
    pub fn is_unusable(&self) -> bool {
        self.fields.is_empty()
    }
}

impl DataType {
    /// Checks the limits. Takes no stack, and no more steps than the limits allow.
    pub fn check_size(&self) -> Result<(), TypeSizeError> {
        // Nearly all types are this.
        if self.native_name().is_some() {
            return Ok(());
        }
        check_parts([self], 1)
    }
}

/// A part that is still to be looked at, and what is around it.
#[derive(Clone, Copy)]
struct Part<'t> {
    data_type: &'t DataType,
    depth: usize,
    /// Maps whose keys it is in.
    keys: usize,
}

/// Checks these parts, which are at this depth.
fn check_parts<'t>(parts: impl IntoIterator<Item = &'t DataType>, depth: usize) -> Result<(), TypeSizeError> {
    let mut left: Vec<Part<'t>> = Vec::new();
    let mut nodes = depth - 1;
    let mut push = |left: &mut Vec<Part<'t>>, data_type: &'t DataType, depth: usize, keys: usize| {
        nodes += 1;
        if nodes > TYPE_NODES_MAX {
            return Err(TypeSizeError::TooLarge);
        }
        left.push(Part { data_type, depth, keys });
        Ok(())
    };
    for part in parts {
        push(&mut left, part, depth, 0)?;
    }
    while let Some(Part { data_type, depth, keys }) = left.pop() {
        if depth > TYPE_DEPTH_MAX {
            return Err(TypeSizeError::TooDeep);
        }
        if keys > MAP_KEY_DEPTH_MAX {
            return Err(TypeSizeError::KeysTooDeep);
        }
        let depth = depth + 1;
        match data_type {
            DataType::List { element, .. }
            | DataType::Set { element, .. }
            | DataType::Vector { element, .. } => push(&mut left, element, depth, keys)?,
            DataType::Map { key, value, .. } => {
                push(&mut left, key, depth, keys + 1)?;
                push(&mut left, value, depth, keys)?;
            }
            DataType::Tuple(components) => {
                components.iter().try_for_each(|inner| push(&mut left, inner, depth, keys))?;
            }
            DataType::Udt(udt) if udt.is_unusable() => return Err(TypeSizeError::Unusable),
            DataType::Udt(udt) => {
                udt.fields.iter().try_for_each(|field| push(&mut left, &field.data_type, depth, keys))?;
            }
            _ => {}
        }
    }
    Ok(())
}

impl UdtType {
    /// Checks the limits of the type itself, which is a level above its fields.
    pub fn check_size(&self) -> Result<(), TypeSizeError> {
        check_parts(self.fields.iter().map(|field| &field.data_type), 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> DataType {
        (1..levels).fold(DataType::Int, |inner, _| DataType::list(inner))
    }

    #[test]
    fn depth_and_parts_are_counted_with_types_written_out() {
        assert_eq!(nested(TYPE_DEPTH_MAX).check_size(), Ok(()));
        assert_eq!(nested(TYPE_DEPTH_MAX + 1).check_size(), Err(TypeSizeError::TooDeep));
        let wide = |parts: usize| DataType::tuple((0..parts).map(|_| DataType::Int));
        assert_eq!(wide(TYPE_NODES_MAX - 1).check_size(), Ok(()));
        assert_eq!(wide(TYPE_NODES_MAX).check_size(), Err(TypeSizeError::TooLarge));
        let keys =
            |levels: usize| (0..levels).fold(DataType::Int, |key, _| DataType::map(key, DataType::Int));
        assert_eq!(keys(MAP_KEY_DEPTH_MAX).check_size(), Ok(()));
        assert_eq!(keys(MAP_KEY_DEPTH_MAX + 1).check_size(), Err(TypeSizeError::KeysTooDeep));
        // Each of two predecessors: shared in memory, 2^40 parts written out.
        let doubled = (0..40).fold(DataType::Int, |inner, n| {
            DataType::udt("ks", format!("t{n}"), [("a", inner.clone()), ("b", inner)])
        });
        assert_eq!(doubled.check_size(), Err(TypeSizeError::TooLarge));
        let empty = DataType::udt("ks", "old", Vec::<(&str, DataType)>::new());
        assert_eq!(DataType::list(empty).check_size(), Err(TypeSizeError::Unusable));
    }
}
