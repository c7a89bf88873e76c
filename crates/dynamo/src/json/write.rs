//! Writing JSON into a byte buffer: strings with escapes, attribute values, objects member by member.

use super::base64;
use crate::value::{Item, Value};

/// Appends `text` in quotes.
pub fn string(text: &str, out: &mut Vec<u8>) {
    string_bytes(text.as_bytes(), out);
}

/// Appends UTF-8 `bytes` in quotes: stored text was checked when it came in and need not be looked at again.
pub fn string_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    escaped(bytes, out);
    out.push(b'"');
}

/// Appends UTF-8 `bytes` as they stand between quotes.
#[inline]
pub fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    // One copy, and nothing more, for nearly every text.
    match super::scan::is_plain(bytes) {
        true => out.extend_from_slice(bytes),
        false => escape(bytes, out),
    }
}

#[cold]
fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut rest = bytes;
    loop {
        let (plain, behind) = rest.split_at(super::scan::plain(rest));
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = behind.split_first() else { break };
        rest = behind;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&digits);
            }
        }
    }
}

/// Appends `{"S":"…"}` and its like.
pub fn value(value: &Value, out: &mut Vec<u8>) {
    let open = |name: &str, out: &mut Vec<u8>| {
        out.extend_from_slice(b"{\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
    };
    open(value.kind().name(), out);
    match value {
        Value::S(text) => string(text, out),
        Value::N(number) => quoted(out, |out| number.write(out)),
        Value::B(bytes) => quoted(out, |out| base64::encode(bytes, out)),
        Value::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::Null => out.extend_from_slice(b"true"),
        Value::Ss(texts) => list(texts, out, |text, out| string(text, out)),
        Value::Ns(numbers) => list(numbers, out, |number, out| quoted(out, |out| number.write(out))),
        Value::Bs(blobs) => list(blobs, out, |bytes, out| quoted(out, |out| base64::encode(bytes, out))),
        Value::L(values) => list(values, out, self::value),
        Value::M(map) => item(map, out),
    }
    out.push(b'}');
}

/// Appends `{"name":{"S":"…"},…}`.
pub fn item(item: &Item, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, (name, attribute)) in item.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        string(name, out);
        out.push(b':');
        value(attribute, out);
    }
    out.push(b'}');
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

fn list<T>(elements: &[T], out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// An object that is being written: commas are its business.
pub struct Writer<'a> {
    pub out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Writer<'a> {
    /// Opens an object.
    pub fn object(out: &'a mut Vec<u8>) -> Writer<'a> {
        out.push(b'{');
        Writer { out, first: true }
    }

    /// Goes on with an object that has members already.
    pub fn within(out: &'a mut Vec<u8>) -> Writer<'a> {
        Writer { out, first: false }
    }

    /// Appends a key; the caller writes its value to `out`.
    pub fn key(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        string(name, self.out);
        self.out.push(b':');
        self.out
    }

    pub fn string(&mut self, name: &str, text: &str) {
        string(text, self.key(name));
    }

    pub fn integer(&mut self, name: &str, value: i64) {
        let text = value.to_string();
        self.key(name).extend_from_slice(text.as_bytes());
    }

    pub fn boolean(&mut self, name: &str, truth: bool) {
        self.key(name).extend_from_slice(if truth { b"true" } else { b"false" });
    }

    /// A count of capacity units: always with a fraction, as the service writes them.
    pub fn units(&mut self, name: &str, value: f64) {
        let text = format!("{value:.1}");
        self.key(name).extend_from_slice(text.as_bytes());
    }

    /// A number that is finite.
    pub fn double(&mut self, name: &str, value: f64) {
        let text = format!("{:?}", if value.is_finite() { value } else { 0.0 });
        self.key(name).extend_from_slice(text.as_bytes());
    }

    /// Epoch seconds with milliseconds.
    pub fn time(&mut self, name: &str, millis: i64) {
        let text = format!("{}.{:03}", millis.div_euclid(1000), millis.rem_euclid(1000));
        self.key(name).extend_from_slice(text.trim_end_matches('0').trim_end_matches('.').as_bytes());
    }

    pub fn item(&mut self, name: &str, attributes: &Item) {
        item(attributes, self.key(name));
    }

    /// A list whose elements `write` appends.
    pub fn list<T>(&mut self, name: &str, elements: &[T], write: impl FnMut(&T, &mut Vec<u8>)) {
        list(elements, self.key(name), write);
    }

    pub fn nested(&mut self, name: &str) -> Writer<'_> {
        Writer::object(self.key(name))
    }

    pub fn end(self) {
        self.out.push(b'}');
    }
}
