//! A JSON document: reading, and the Java forms of its parts that error sentences quote.

use std::fmt;

use crate::number::java_double;

/// Levels of arrays and objects. Deeper texts are refused, so reading cannot exhaust the stack.
pub const JSON_DEPTH_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub enum JsonValue {
    Null,
    Boolean(bool),
    /// Fits 64 bits.
    Integer(i64),
    /// An integer beyond 64 bits, as its digits.
    BigInteger(String),
    Double(f64),
    String(String),
    List(Vec<JsonValue>),
    /// In the order of the text; of equal keys the last value, at the place of the first.
    Object(Vec<(String, JsonValue)>),
}

/// Where and why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub at: usize,
    pub reason: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.at)
    }
}

impl std::error::Error for JsonError {}

impl JsonValue {
    /// Reads the first value of a text. What follows it is ignored, as Cassandra's reader does.
    pub fn parse(text: &str) -> Result<JsonValue, JsonError> {
        let mut reader = Reader { text, at: 0, exact: false };
        reader.value(0)
    }

    /// Reads a text that is one value. Numbers with a fraction or an exponent are strings in it, so that a decimal keeps all its
    /// digits; [`super::from_json`] reads them as any number.
    pub fn parse_exactly(text: &str) -> Result<JsonValue, JsonError> {
        let mut reader = Reader { text, at: 0, exact: true };
        let value = reader.value(0)?;
        match text[reader.at..].trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            true => Ok(value),
            false => reader.error("something follows the value"),
        }
    }

    /// Whether the whole text is one value.
    pub fn is_document(text: &str) -> bool {
        let mut reader = Reader { text, at: 0, exact: false };
        reader.value(0).is_ok() && text[reader.at..].trim_matches([' ', '\t', '\r', '\n']).is_empty()
    }

    /// The Java class the value would have, for error sentences.
    pub fn java_class(&self) -> &'static str {
        match self {
            JsonValue::Null => "null",
            JsonValue::Boolean(_) => "Boolean",
            JsonValue::Integer(number) if i32::try_from(*number).is_ok() => "Integer",
            JsonValue::Integer(_) => "Long",
            JsonValue::BigInteger(_) => "BigInteger",
            JsonValue::Double(_) => "Double",
            JsonValue::String(_) => "String",
            JsonValue::List(_) => "ArrayList",
            JsonValue::Object(_) => "LinkedHashMap",
        }
    }
}

/// As Java prints the value: strings bare, lists in brackets, objects as `{key=value}`.
impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonValue::Null => f.write_str("null"),
            JsonValue::Boolean(value) => write!(f, "{value}"),
            JsonValue::Integer(number) => write!(f, "{number}"),
            JsonValue::BigInteger(digits) => f.write_str(digits),
            JsonValue::Double(number) => f.write_str(&java_double(*number)),
            JsonValue::String(text) => f.write_str(text),
            JsonValue::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            JsonValue::Object(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}={value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Appends text with JSON's escapes, without the quotes around it.
pub fn quote_json(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04X}", control as u32)),
            other => out.push(other),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Numbers that are no integers stay text.
    exact: bool,
}

impl Reader<'_> {
    fn error<T>(&self, reason: &'static str) -> Result<T, JsonError> {
        Err(JsonError { at: self.at, reason })
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn accept(&mut self, symbol: u8) -> bool {
        self.skip_blanks();
        let found = self.byte() == Some(symbol);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: JsonValue) -> Result<JsonValue, JsonError> {
        let rest = self.text.get(self.at..).unwrap_or("");
        let ends = rest.as_bytes().get(word.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        if rest.starts_with(word) && ends {
            self.at += word.len();
            return Ok(value);
        }
        self.error("unrecognized token")
    }

    fn value(&mut self, depth: usize) -> Result<JsonValue, JsonError> {
        if depth > JSON_DEPTH_MAX {
            return self.error("nesting is too deep");
        }
        self.skip_blanks();
        match self.byte() {
            None => self.error("no content"),
            Some(b'n') => self.word("null", JsonValue::Null),
            Some(b't') => self.word("true", JsonValue::Boolean(true)),
            Some(b'f') => self.word("false", JsonValue::Boolean(false)),
            Some(b'"') => Ok(JsonValue::String(self.string()?)),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.error("unexpected character"),
        }
    }

    fn list(&mut self, depth: usize) -> Result<JsonValue, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        if self.accept(b']') {
            return Ok(JsonValue::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.accept(b']') {
                return Ok(JsonValue::List(items));
            }
            if !self.accept(b',') {
                return self.error("expected a comma or the end of the array");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<JsonValue, JsonError> {
        self.at += 1;
        let mut entries: Vec<(String, JsonValue)> = Vec::new();
        // Small objects are searched; large ones keep an index, so that a long text does not take quadratic time.
        let mut index = std::collections::HashMap::new();
        if self.accept(b'}') {
            return Ok(JsonValue::Object(entries));
        }
        loop {
            self.skip_blanks();
            if self.byte() != Some(b'"') {
                return self.error("expected a field name in double quotes");
            }
            let key = self.string()?;
            if !self.accept(b':') {
                return self.error("expected a colon after the field name");
            }
            let value = self.value(depth + 1)?;
            let known: Option<&usize> = index.get(&key);
            match known.and_then(|at| entries.get_mut(*at)) {
                Some(entry) => entry.1 = value,
                None => {
                    index.insert(key.clone(), entries.len());
                    entries.push((key, value));
                }
            }
            if self.accept(b'}') {
                return Ok(JsonValue::Object(entries));
            }
            if !self.accept(b',') {
                return self.error("expected a comma or the end of the object");
            }
        }
    }

    fn number(&mut self) -> Result<JsonValue, JsonError> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        let whole = self.digits();
        let leading_zero = self.text.as_bytes().get(self.at - whole) == Some(&b'0');
        if whole == 0 || (whole > 1 && leading_zero) {
            return self.error("a number must have digits and no leading zeros");
        }
        let mut fractional = false;
        if self.byte() == Some(b'.') {
            fractional = true;
            self.at += 1;
            if self.digits() == 0 {
                return self.error("a decimal point must be followed by digits");
            }
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            fractional = true;
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return self.error("an exponent must have digits");
            }
        }
        if !matches!(self.byte(), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}')) {
            return self.error("unexpected character after a number");
        }
        let text = self.text.get(start..self.at).unwrap_or("0");
        if fractional && self.exact {
            return Ok(JsonValue::String(text.to_string()));
        }
        if fractional {
            return Ok(JsonValue::Double(text.parse().unwrap_or(f64::NAN)));
        }
        Ok(match text.parse() {
            Ok(number) => JsonValue::Integer(number),
            Err(_) => JsonValue::BigInteger(text.to_string()),
        })
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ');
            let Some(len) = plain else { return self.error("the string is not closed") };
            out.push_str(rest.get(..len).unwrap_or(""));
            self.at += len;
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                _ => return self.error("a control character must be escaped"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let symbol = self.byte();
        self.at += 1;
        Ok(match symbol {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.error("unrecognized escape"),
        })
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(digits) = digits else { return self.error("expected four hex digits") };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or(0))
    }

    /// One code unit, or a surrogate pair of two. Half a pair cannot be text.
    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        let code = if (0xd800..0xdc00).contains(&first) {
            if !self.text.get(self.at..).unwrap_or("").starts_with("\\u") {
                return self.error("half a surrogate pair");
            }
            self.at += 2;
            let second = self.hex4()?;
            0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff)
        } else {
            first
        };
        char::from_u32(code).map_or_else(|| self.error("half a surrogate pair"), Ok)
    }
}
