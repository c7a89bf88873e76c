//! Bytes to items, for those that expressions compute with.

use super::view::{Cursor, Document, ValueView};
use super::{Damaged, tag};
use crate::number::Number;
use crate::value::{Item, NESTING_MAX, Value};

/// The item of a document.
pub fn decode(bytes: &[u8]) -> Result<Item, Damaged> {
    Document::new(bytes)?.decode()
}

impl Document<'_> {
    pub fn decode(&self) -> Result<Item, Damaged> {
        let mut cursor = self.cursor();
        let item = attributes(&mut cursor, 0)?;
        if cursor.rest.is_empty() { Ok(item) } else { Err(Damaged) }
    }
}

impl ValueView<'_> {
    pub fn decode(&self) -> Result<Value, Damaged> {
        value(*self, 0)
    }
}

fn text(bytes: &[u8]) -> Result<String, Damaged> {
    std::str::from_utf8(bytes).map(str::to_string).map_err(|_| Damaged)
}

fn attributes(cursor: &mut Cursor<'_>, depth: usize) -> Result<Item, Damaged> {
    let count = cursor.length()?;
    // An attribute has at least two bytes: a count beyond that is damage, not a reason to allocate.
    let mut list = Vec::with_capacity(count.min(cursor.rest.len() / 2));
    for _ in 0..count {
        let name = text(cursor.bytes()?)?;
        list.push((name, value(cursor.value()?, depth)?));
    }
    if !list.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(Damaged);
    }
    Ok(list.into_iter().collect())
}

fn value(view: ValueView<'_>, depth: usize) -> Result<Value, Damaged> {
    if depth > NESTING_MAX {
        return Err(Damaged);
    }
    let number = |bytes: &[u8]| Number::from_bytes(bytes).ok_or(Damaged);
    Ok(match view.tag {
        tag::S => Value::S(text(view.body)?),
        tag::N => Value::N(number(view.body)?),
        tag::B => Value::B(view.body.to_vec()),
        tag::FALSE => Value::Bool(false),
        tag::TRUE => Value::Bool(true),
        tag::NULL => Value::Null,
        tag::SS => Value::Ss(members(view.body, text)?),
        tag::NS => Value::Ns(members(view.body, number)?),
        tag::BS => Value::Bs(members(view.body, |bytes| Ok(bytes.to_vec()))?),
        tag::L => {
            let mut cursor = Cursor { rest: view.body };
            let count = cursor.length()?;
            let mut list = Vec::with_capacity(count.min(cursor.rest.len()));
            for _ in 0..count {
                list.push(value(cursor.value()?, depth + 1)?);
            }
            whole(&cursor)?;
            Value::L(list)
        }
        tag::M => {
            let mut cursor = Cursor { rest: view.body };
            let map = attributes(&mut cursor, depth + 1)?;
            whole(&cursor)?;
            Value::M(map)
        }
        _ => return Err(Damaged),
    })
}

fn whole(cursor: &Cursor<'_>) -> Result<(), Damaged> {
    if cursor.rest.is_empty() { Ok(()) } else { Err(Damaged) }
}

fn members<T: Ord>(body: &[u8], read: impl Fn(&[u8]) -> Result<T, Damaged>) -> Result<Vec<T>, Damaged> {
    let mut cursor = Cursor { rest: body };
    let count = cursor.length()?;
    let mut set = Vec::with_capacity(count.min(cursor.rest.len()));
    for _ in 0..count {
        set.push(read(cursor.bytes()?)?);
    }
    whole(&cursor)?;
    if set.is_empty() || !set.is_sorted_by(|a, b| a < b) { Err(Damaged) } else { Ok(set) }
}
