//! Walks the parts of a collection, tuple, user-defined type or vector value without copying.
//!
//! Works on any bytes: a walk over malformed bytes ends with an error and never panics. A part that is null
//! (negative length) is `None`. Nothing here looks into the parts.

use super::wire_vint;
use crate::types::DataType;

/// The bytes ended before the structure did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated;

/// One part: a value or null.
pub type Part<'a> = Option<&'a [u8]>;

fn take_i32(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((i32::from_be_bytes(*head), rest))
}

/// Takes one length-prefixed part off the front.
pub fn take_part(bytes: &[u8]) -> Result<(Part<'_>, &[u8]), Truncated> {
    let (len, rest) = take_i32(bytes).ok_or(Truncated)?;
    match usize::try_from(len) {
        Err(_) => Ok((None, rest)),
        Ok(len) => rest.split_at_checked(len).map(|(part, rest)| (Some(part), rest)).ok_or(Truncated),
    }
}

/// Parts of a list, set or map (a map gives key, value, key, value, ...).
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
    left: usize,
}

/// Elements of a list or set value. A negative count is an error; a huge one ends as `Truncated` when reached.
pub fn elements(bytes: &[u8]) -> Result<Elements<'_>, Truncated> {
    let (count, rest) = take_i32(bytes).ok_or(Truncated)?;
    Ok(Elements { rest, left: usize::try_from(count).map_err(|_| Truncated)? })
}

/// Keys and values of a map value, alternating.
pub fn map_parts(bytes: &[u8]) -> Result<Elements<'_>, Truncated> {
    let mut parts = elements(bytes)?;
    parts.left = parts.left.saturating_mul(2);
    Ok(parts)
}

/// Entries of a map value.
pub fn map_entries(bytes: &[u8]) -> Result<MapEntries<'_>, Truncated> {
    Ok(MapEntries { parts: map_parts(bytes)? })
}

impl<'a> Elements<'a> {
    /// Parts not yet taken, as the count says; malformed bytes may hold fewer.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Bytes after the last part taken; not empty at the end means extraneous bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Part<'a>, Truncated>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        match take_part(self.rest) {
            Ok((part, rest)) => {
                self.left -= 1;
                self.rest = rest;
                Some(Ok(part))
            }
            Err(truncated) => {
                self.left = 0;
                Some(Err(truncated))
            }
        }
    }
}

/// Entries of a map value.
#[derive(Clone, Debug)]
pub struct MapEntries<'a> {
    parts: Elements<'a>,
}

impl<'a> MapEntries<'a> {
    pub fn rest(&self) -> &'a [u8] {
        self.parts.rest
    }
}

impl<'a> Iterator for MapEntries<'a> {
    type Item = Result<(Part<'a>, Part<'a>), Truncated>;

    fn next(&mut self) -> Option<Self::Item> {
        let key = match self.parts.next()? {
            Ok(key) => key,
            Err(truncated) => return Some(Err(truncated)),
        };
        match self.parts.next() {
            Some(Ok(value)) => Some(Ok((key, value))),
            Some(Err(truncated)) => Some(Err(truncated)),
            None => Some(Err(Truncated)),
        }
    }
}

/// Components of a tuple or fields of a user-defined type. May be fewer than declared (the rest are null); the
/// walk does not know the arity, so the caller stops or complains when there are more.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

pub fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes }
}

impl<'a> Fields<'a> {
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next component, with missing ones as null.
    pub fn next_or_null(&mut self) -> Result<Part<'a>, Truncated> {
        self.next().unwrap_or(Ok(None))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Part<'a>, Truncated>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        match take_part(self.rest) {
            Ok((part, rest)) => {
                self.rest = rest;
                Some(Ok(part))
            }
            Err(truncated) => {
                self.rest = &[];
                Some(Err(truncated))
            }
        }
    }
}

/// Elements of a vector value: concatenated when they have a fixed length, else each after its unsigned vint length.
#[derive(Clone, Debug)]
pub struct VectorElements<'a> {
    rest: &'a [u8],
    left: usize,
    fixed_len: Option<usize>,
}

pub fn vector_elements<'a>(element: &DataType, dimensions: u32, bytes: &'a [u8]) -> VectorElements<'a> {
    VectorElements { rest: bytes, left: dimensions as usize, fixed_len: element.fixed_len() }
}

impl<'a> VectorElements<'a> {
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn split_next(&self) -> Option<(&'a [u8], &'a [u8])> {
        match self.fixed_len {
            Some(len) => self.rest.split_at_checked(len),
            None => {
                let (len, rest) = wire_vint::take_unsigned(self.rest)?;
                rest.split_at_checked(usize::try_from(len).ok()?)
            }
        }
    }
}

impl<'a> Iterator for VectorElements<'a> {
    type Item = Result<&'a [u8], Truncated>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        match self.split_next() {
            Some((part, rest)) => {
                self.left -= 1;
                self.rest = rest;
                Some(Ok(part))
            }
            None => {
                self.left = 0;
                Some(Err(Truncated))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_and_ends_with_an_error_on_truncation() {
        let list = [0, 0, 0, 2, 0, 0, 0, 1, 7, 0xff, 0xff, 0xff, 0xff];
        let parts: Vec<_> = elements(&list).unwrap().collect();
        assert_eq!(parts, [Ok(Some(&[7u8][..])), Ok(None)]);
        let parts: Vec<_> = elements(&list[..12]).unwrap().collect();
        assert_eq!(parts, [Ok(Some(&[7u8][..])), Err(Truncated)]);
        assert!(elements(&list[..3]).is_err());
        assert!(elements(&[0xff; 4]).is_err());
        let odd = [0, 0, 0, 1, 0, 0, 0, 1, 7];
        assert_eq!(map_entries(&odd).unwrap().collect::<Vec<_>>(), [Err(Truncated)]);
    }

    #[test]
    fn short_tuples_give_nulls() {
        let mut walk = fields(&[0, 0, 0, 1, 9]);
        assert_eq!(walk.next_or_null(), Ok(Some(&[9u8][..])));
        assert_eq!(walk.next_or_null(), Ok(None));
    }

    #[test]
    fn vectors_of_both_layouts() {
        let fixed: Vec<_> = vector_elements(&DataType::Int, 2, &[0, 0, 0, 1, 0, 0, 0, 2]).collect();
        assert_eq!(fixed, [Ok(&[0u8, 0, 0, 1][..]), Ok(&[0, 0, 0, 2][..])]);
        let variable: Vec<_> = vector_elements(&DataType::Text, 2, &[1, b'a', 0]).collect();
        assert_eq!(variable, [Ok(&b"a"[..]), Ok(&b""[..])]);
        let short: Vec<_> = vector_elements(&DataType::Text, 2, &[1, b'a']).collect();
        assert_eq!(short, [Ok(&b"a"[..]), Err(Truncated)]);
    }
}
