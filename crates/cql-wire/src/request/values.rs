//! Bound values of QUERY, EXECUTE and BATCH, kept as the bytes they arrived in.
//!
//! The whole list is checked once when the message is decoded; afterwards it is walked as often as needed without
//! failing, copying or allocating.

use crate::error::WireError;
use crate::reader::Reader;
use crate::version::Version;
use crate::writer::{put_bytes, put_i32, put_string, put_u16};

/// One bound value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    /// "Leave the column alone" (v4 and later; v3 clients cannot say it).
    Unset,
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn read(reader: &mut Reader<'a>, version: Version) -> Result<Value<'a>, WireError> {
        let length = reader.i32("bound value")?;
        match usize::try_from(length) {
            Ok(length) => reader.take(length, "bound value").map(Value::Bytes),
            Err(_) if length == -1 || version < Version::V4 => Ok(Value::Null),
            Err(_) if length == -2 => Ok(Value::Unset),
            Err(_) => Err(WireError::ValueLength { length }),
        }
    }

    /// Takes a value off the front, as [`Value::read`] does, but without saying what is wrong: with no errors to build
    /// and pass on, this is several times cheaper.
    #[inline]
    fn take(rest: &mut &'a [u8], version: Version) -> Option<Value<'a>> {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = i32::from_be_bytes(*length);
        let Ok(bytes) = usize::try_from(length) else {
            *rest = after;
            return match length {
                -1 => Some(Value::Null),
                _ if version < Version::V4 => Some(Value::Null),
                -2 => Some(Value::Unset),
                _ => None,
            };
        };
        let (value, after) = after.split_at_checked(bytes)?;
        *rest = after;
        Some(Value::Bytes(value))
    }
}

/// The bound values of one statement, in the order of the message.
///
/// ```
/// use cql_wire::{Value, ValueList};
///
/// let mut list = ValueList::new();
/// list.push(Value::Bytes(b"key"));
/// list.push(Value::Null);
/// let values = list.as_values();
/// assert_eq!(values.len(), 2);
/// assert!(values.iter().eq([Value::Bytes(b"key"), Value::Null]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// The items without the leading count; exactly `count` well-formed items.
    bytes: &'a [u8],
    count: u16,
    named: bool,
    version: Version,
}

impl<'a> Values<'a> {
    /// No values.
    pub const EMPTY: Values<'static> =
        Values { bytes: &[], count: 0, named: false, version: Version::NEWEST };

    /// Reads a count and that many values, checking each.
    pub(crate) fn read(
        reader: &mut Reader<'a>,
        version: Version,
        named: bool,
    ) -> Result<Values<'a>, WireError> {
        let count = reader.u16("number of bound values")?;
        let start = reader.rest();
        let mut rest = start;
        if named || !(0..count).all(|_| Value::take(&mut rest, version).is_some()) {
            rest = Values::check_each(start, count, version, named)?;
        }
        let bytes = reader.take(start.len() - rest.len(), "bound values")?;
        Ok(Values { bytes, count, named, version })
    }

    /// Checks names too, and says what is wrong; gives what follows the values.
    fn check_each(bytes: &'a [u8], count: u16, version: Version, named: bool) -> Result<&'a [u8], WireError> {
        let mut reader = Reader::new(bytes);
        for _ in 0..count {
            if named {
                reader.string("name of a bound value")?;
            }
            Value::read(&mut reader, version)?;
        }
        Ok(reader.rest())
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_u16(out, self.count);
        out.extend_from_slice(self.bytes);
    }

    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether each value has a name; then match with [`Values::iter_named`], not by position.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// The values in order, without their names.
    #[must_use]
    pub fn iter(&self) -> ValueIter<'a> {
        ValueIter { rest: self.bytes, left: self.count, named: self.named, version: self.version }
    }

    /// The values in order with their names (empty for values without names).
    #[must_use]
    pub fn iter_named(&self) -> NamedValueIter<'a> {
        NamedValueIter { items: self.iter() }
    }

    /// Copies the leading values (references, not bytes) into `slots`; returns how many there were room for.
    /// With an array on the stack this gives access by position without allocating.
    pub fn read_into(&self, slots: &mut [Value<'a>]) -> usize {
        let mut filled = 0;
        for (slot, value) in slots.iter_mut().zip(self.iter()) {
            *slot = value;
            filled += 1;
        }
        filled
    }

    /// The value with exactly this name. If the client sent it twice, the first one counts, as in Cassandra.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<Value<'a>> {
        if !self.named {
            return None;
        }
        self.iter_named().find(|(n, _)| *n == name).map(|(_, value)| value)
    }
}

impl PartialEq for Values<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.named == other.named && self.iter_named().eq(other.iter_named())
    }
}

impl Eq for Values<'_> {}

/// See [`Values::iter`].
#[derive(Debug, Clone)]
pub struct ValueIter<'a> {
    rest: &'a [u8],
    left: u16,
    named: bool,
    version: Version,
}

impl<'a> ValueIter<'a> {
    #[inline]
    fn take_name(&mut self) -> Option<&'a [u8]> {
        let (length, after) = self.rest.split_first_chunk::<2>()?;
        let (name, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        self.rest = after;
        Some(name)
    }
}

impl<'a> Iterator for ValueIter<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        if self.named {
            self.take_name()?;
        }
        Value::take(&mut self.rest, self.version)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for ValueIter<'_> {}

/// See [`Values::iter_named`].
#[derive(Debug, Clone)]
pub struct NamedValueIter<'a> {
    items: ValueIter<'a>,
}

impl<'a> Iterator for NamedValueIter<'a> {
    type Item = (&'a str, Value<'a>);

    fn next(&mut self) -> Option<(&'a str, Value<'a>)> {
        let items = &mut self.items;
        items.left = items.left.checked_sub(1)?;
        let name = if items.named { std::str::from_utf8(items.take_name()?).ok()? } else { "" };
        Some((name, Value::take(&mut items.rest, items.version)?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl ExactSizeIterator for NamedValueIter<'_> {}

/// Builds [`Values`] for a request that we send ourselves. Use either `push` or `push_named`, not both.
#[derive(Debug, Clone, Default)]
pub struct ValueList {
    bytes: Vec<u8>,
    count: u16,
    named: bool,
}

impl ValueList {
    #[must_use]
    pub fn new() -> ValueList {
        ValueList::default()
    }

    /// Appends a value. At most 65,535 fit in a message; more are refused with `false`.
    pub fn push(&mut self, value: Value<'_>) -> bool {
        debug_assert!(!self.named, "positional value after named ones");
        self.append(None, value)
    }

    /// Appends a value with a name.
    pub fn push_named(&mut self, name: &str, value: Value<'_>) -> bool {
        debug_assert!(self.named || self.count == 0, "named value after positional ones");
        self.named = true;
        self.append(Some(name), value)
    }

    fn append(&mut self, name: Option<&str>, value: Value<'_>) -> bool {
        let Some(count) = self.count.checked_add(1) else { return false };
        self.count = count;
        if let Some(name) = name {
            put_string(&mut self.bytes, name);
        }
        match value {
            Value::Null => put_bytes(&mut self.bytes, None),
            Value::Unset => put_i32(&mut self.bytes, -2),
            Value::Bytes(bytes) => put_bytes(&mut self.bytes, Some(bytes)),
        }
        true
    }

    #[must_use]
    pub fn as_values(&self) -> Values<'_> {
        Values { bytes: &self.bytes, count: self.count, named: self.named, version: Version::NEWEST }
    }
}

impl<'v> FromIterator<Value<'v>> for ValueList {
    fn from_iter<I: IntoIterator<Item = Value<'v>>>(values: I) -> ValueList {
        let mut list = ValueList::new();
        for value in values {
            list.push(value);
        }
        list
    }
}
