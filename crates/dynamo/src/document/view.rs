//! A document read where it lies.

use super::{Damaged, HEADER_BYTES, VERSION, tag};
use crate::json;
use crate::number::Number;
use crate::value::{NESTING_MAX, Type};
use std::cmp::Ordering;

/// Bytes that begin as a document does; everything behind the header is checked as it is walked.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    size: u32,
    attributes: &'a [u8],
}

/// One value within a document.
#[derive(Clone, Copy, Debug)]
pub struct ValueView<'a> {
    pub(super) tag: u8,
    pub(super) body: &'a [u8],
}

/// A place in a document's bytes.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn byte(&mut self) -> Result<u8, Damaged> {
        let (&byte, rest) = self.rest.split_first().ok_or(Damaged)?;
        self.rest = rest;
        Ok(byte)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn length(&mut self) -> Result<usize, Damaged> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(usize::from(first));
        }
        let mut value = usize::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let length = self.length()?;
        self.take(length)
    }

    pub(super) fn value(&mut self) -> Result<ValueView<'a>, Damaged> {
        let tag = self.byte()?;
        let body = match tag {
            tag::FALSE | tag::TRUE | tag::NULL => &[],
            tag::S | tag::N | tag::B => self.bytes()?,
            tag::SS | tag::NS | tag::BS | tag::L | tag::M => {
                let length = self.take(4)?.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
                self.take(length as usize)?
            }
            _ => return Err(Damaged),
        };
        Ok(ValueView { tag, body })
    }
}

impl<'a> Document<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Document<'a>, Damaged> {
        let (header, attributes) = bytes.split_at_checked(HEADER_BYTES).ok_or(Damaged)?;
        if header[0] != VERSION {
            return Err(Damaged);
        }
        let size = header.last_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        Ok(Document { size, attributes })
    }

    /// The accounted size of the item.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    pub(super) fn cursor(&self) -> Cursor<'a> {
        Cursor { rest: self.attributes }
    }

    /// One attribute, found without looking into the others.
    pub fn get(&self, name: &str) -> Result<Option<ValueView<'a>>, Damaged> {
        let mut cursor = self.cursor();
        for _ in 0..cursor.length()? {
            let found = cursor.bytes()?;
            let value = cursor.value()?;
            match found.cmp(name.as_bytes()) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(Some(value)),
                Ordering::Greater => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Appends the item as the API writes it: `{"name":{"S":"…"},…}`.
    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<(), Damaged> {
        out.reserve(self.size() + self.size() / 4);
        write_attributes(self.cursor(), out, 0)
    }

    /// Like `write_json`, with the attributes of these names only; `names` sorted.
    pub fn write_json_of(&self, names: &[&str], out: &mut Vec<u8>) -> Result<(), Damaged> {
        out.push(b'{');
        let mut first = true;
        let mut cursor = self.cursor();
        for _ in 0..cursor.length()? {
            let name = cursor.bytes()?;
            let value = cursor.value()?;
            if names.binary_search_by(|wanted| wanted.as_bytes().cmp(name)).is_ok() {
                if !first {
                    out.push(b',');
                }
                first = false;
                json::write_string_bytes(name, out);
                out.push(b':');
                value.write_json_at(out, 0)?;
            }
        }
        out.push(b'}');
        Ok(())
    }
}

impl<'a> ValueView<'a> {
    pub fn kind(&self) -> Type {
        match self.tag {
            tag::S => Type::S,
            tag::N => Type::N,
            tag::B => Type::B,
            tag::FALSE | tag::TRUE => Type::Bool,
            tag::SS => Type::Ss,
            tag::NS => Type::Ns,
            tag::BS => Type::Bs,
            tag::L => Type::L,
            tag::M => Type::M,
            _ => Type::Null,
        }
    }

    /// The bytes of a value that can be a key (S, N, B).
    pub fn key_bytes(&self) -> Option<&'a [u8]> {
        matches!(self.tag, tag::S | tag::N | tag::B).then_some(self.body)
    }

    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<(), Damaged> {
        self.write_json_at(out, 0)
    }

    /// What follows the name of an attribute: its closing quote, a colon and the value. The pieces between the quotes of most values are one.
    #[inline]
    fn write_behind_name(&self, out: &mut Vec<u8>, depth: usize) -> Result<(), Damaged> {
        match self.tag {
            tag::S => {
                out.extend_from_slice(b"\":{\"S\":\"");
                json::write_escaped(self.body, out);
                out.extend_from_slice(b"\"}");
            }
            tag::N => {
                out.extend_from_slice(b"\":{\"N\":\"");
                Number::write_stored(self.body, out).ok_or(Damaged)?;
                out.extend_from_slice(b"\"}");
            }
            tag::FALSE => out.extend_from_slice(b"\":{\"BOOL\":false}"),
            tag::TRUE => out.extend_from_slice(b"\":{\"BOOL\":true}"),
            _ => {
                out.extend_from_slice(b"\":");
                self.write_json_at(out, depth)?;
            }
        }
        Ok(())
    }

    fn write_json_at(&self, out: &mut Vec<u8>, depth: usize) -> Result<(), Damaged> {
        match self.tag {
            tag::S => {
                out.extend_from_slice(b"{\"S\":");
                json::write_string_bytes(self.body, out);
            }
            tag::N => {
                out.extend_from_slice(b"{\"N\":");
                number(self.body, out)?;
            }
            tag::B => {
                out.extend_from_slice(b"{\"B\":");
                blob(self.body, out);
            }
            tag::FALSE => out.extend_from_slice(b"{\"BOOL\":false"),
            tag::TRUE => out.extend_from_slice(b"{\"BOOL\":true"),
            tag::NULL => out.extend_from_slice(b"{\"NULL\":true"),
            tag::SS | tag::NS | tag::BS => self.write_set(out)?,
            tag::L => self.write_list(out, depth)?,
            tag::M => {
                out.extend_from_slice(b"{\"M\":");
                write_attributes(Cursor { rest: self.body }, out, depth + 1)?;
            }
            _ => return Err(Damaged),
        }
        out.push(b'}');
        Ok(())
    }

    fn write_set(&self, out: &mut Vec<u8>) -> Result<(), Damaged> {
        let name: &[u8] = match self.tag {
            tag::SS => b"{\"SS\":[",
            tag::NS => b"{\"NS\":[",
            _ => b"{\"BS\":[",
        };
        out.extend_from_slice(name);
        let mut cursor = Cursor { rest: self.body };
        for at in 0..cursor.length()? {
            if at > 0 {
                out.push(b',');
            }
            let member = cursor.bytes()?;
            match self.tag {
                tag::SS => json::write_string_bytes(member, out),
                tag::NS => number(member, out)?,
                _ => blob(member, out),
            }
        }
        out.push(b']');
        Ok(())
    }

    fn write_list(&self, out: &mut Vec<u8>, depth: usize) -> Result<(), Damaged> {
        if depth > NESTING_MAX {
            return Err(Damaged);
        }
        out.extend_from_slice(b"{\"L\":[");
        let mut cursor = Cursor { rest: self.body };
        for at in 0..cursor.length()? {
            if at > 0 {
                out.push(b',');
            }
            cursor.value()?.write_json_at(out, depth + 1)?;
        }
        out.push(b']');
        Ok(())
    }
}

fn number(stored: &[u8], out: &mut Vec<u8>) -> Result<(), Damaged> {
    out.push(b'"');
    Number::write_stored(stored, out).ok_or(Damaged)?;
    out.push(b'"');
    Ok(())
}

fn blob(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    json::encode_base64(bytes, out);
    out.push(b'"');
}

fn write_attributes(mut cursor: Cursor<'_>, out: &mut Vec<u8>, depth: usize) -> Result<(), Damaged> {
    if depth > NESTING_MAX {
        return Err(Damaged);
    }
    out.push(b'{');
    for at in 0..cursor.length()? {
        match at {
            0 => out.push(b'"'),
            _ => out.extend_from_slice(b",\""),
        }
        json::write_escaped(cursor.bytes()?, out);
        cursor.value()?.write_behind_name(out, depth)?;
    }
    out.push(b'}');
    Ok(())
}
