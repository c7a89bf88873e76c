//! A pull reader of JSON: the caller says what it wants next, nothing is built that nobody asked for.
//!
//! Every byte is looked at a bounded number of times and depth has a limit, so a hostile body costs what its length
//! allows. Type mistakes are the caller's to find: the reader only knows whether the text is JSON.

use std::borrow::Cow;

/// Lists and objects within each other. A legal item needs about 70.
const DEPTH_MAX: usize = 400;

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, Malformed>;

/// True if `body` is one JSON value and nothing else.
pub fn well_formed(body: &[u8]) -> bool {
    let Ok(mut reader) = Reader::new(body) else { return false };
    reader.skip().and_then(|()| reader.end()).is_ok()
}

impl<'a> Reader<'a> {
    pub fn new(body: &'a [u8]) -> Read<Reader<'a>> {
        let text = std::str::from_utf8(body).map_err(|_| Malformed)?;
        Ok(Reader { text, at: 0, depth: 0 })
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn blanks(&mut self) {
        while matches!(self.bytes().get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub fn peek(&mut self) -> Read<Kind> {
        self.blanks();
        match self.bytes().get(self.at) {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't') => Ok(Kind::True),
            Some(b'f') => Ok(Kind::False),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(Malformed),
        }
    }

    /// Nothing but blanks may follow the value.
    pub fn end(&mut self) -> Read<()> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(Malformed) }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        if !self.bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads `null`, `true` or `false`, whichever `peek` said.
    pub fn literal(&mut self, kind: Kind) -> Read<()> {
        self.blanks();
        match kind {
            Kind::Null => self.word("null"),
            Kind::True => self.word("true"),
            Kind::False => self.word("false"),
            _ => Err(Malformed),
        }
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while matches!(self.bytes().get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Malformed) }
    }

    /// A number as it is written.
    pub fn number(&mut self) -> Read<&'a str> {
        self.blanks();
        let start = self.at;
        if self.bytes().get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.bytes().get(self.at) {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.bytes().get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes().get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes().get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    /// A string; borrowed unless it has escapes.
    pub fn string(&mut self) -> Read<Cow<'a, str>> {
        self.blanks();
        if self.bytes().get(self.at) != Some(&b'"') {
            return Err(Malformed);
        }
        self.at += 1;
        let start = self.at;
        let run = self.plain();
        match self.bytes().get(self.at) {
            Some(b'"') => {
                self.at += 1;
                Ok(Cow::Borrowed(&self.text[start..start + run]))
            }
            Some(b'\\') => self.escaped(start).map(Cow::Owned),
            _ => Err(Malformed),
        }
    }

    /// Moves over characters that stand for themselves; how many bytes they are.
    fn plain(&mut self) -> usize {
        let rest = &self.bytes()[self.at..];
        let run = super::scan::plain(rest);
        self.at += run;
        run
    }

    fn escaped(&mut self, start: usize) -> Read<String> {
        let mut string = self.text[start..self.at].to_string();
        loop {
            match self.bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => {
                    self.at += 1;
                    string.push(self.escape()?);
                }
                Some(0x20..) => {
                    let start = self.at;
                    let run = self.plain();
                    string.push_str(&self.text[start..start + run]);
                }
                _ => return Err(Malformed),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let byte = *self.bytes().get(self.at).ok_or(Malformed)?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                if !(0xd800..0xdc00).contains(&first) {
                    // Half a pair has no character; the service puts a question mark.
                    return Ok(char::from_u32(first).unwrap_or('?'));
                }
                let back = self.at;
                if self.bytes()[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let second = self.hex()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        return char::from_u32(code).ok_or(Malformed);
                    }
                    self.at = back;
                }
                '?'
            }
            _ => return Err(Malformed),
        })
    }

    fn hex(&mut self) -> Read<u32> {
        let digits = self.bytes().get(self.at..self.at + 4).ok_or(Malformed)?;
        let mut value = 0;
        for &digit in digits {
            value = value << 4 | char::from(digit).to_digit(16).ok_or(Malformed)?;
        }
        self.at += 4;
        Ok(value)
    }

    fn open(&mut self, bracket: u8) -> Read<()> {
        self.blanks();
        if self.bytes().get(self.at) != Some(&bracket) || self.depth == DEPTH_MAX {
            return Err(Malformed);
        }
        self.at += 1;
        self.depth += 1;
        Ok(())
    }

    pub fn open_object(&mut self) -> Read<()> {
        self.open(b'{')
    }

    pub fn open_array(&mut self) -> Read<()> {
        self.open(b'[')
    }

    /// At the start, or behind a value: true if another one follows, false once the bracket closed.
    fn more(&mut self, first: bool, close: u8) -> Read<bool> {
        self.blanks();
        let byte = *self.bytes().get(self.at).ok_or(Malformed)?;
        if byte == close {
            self.at += 1;
            self.depth -= 1;
            return Ok(false);
        }
        if first {
            return Ok(true);
        }
        if byte != b',' {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(true)
    }

    /// The next key of an object; none once it has closed.
    pub fn key(&mut self, first: bool) -> Read<Option<Cow<'a, str>>> {
        if !self.more(first, b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.blanks();
        if self.bytes().get(self.at) != Some(&b':') {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// True if a list has another element.
    pub fn element(&mut self, first: bool) -> Read<bool> {
        self.more(first, b']')
    }

    /// Moves over one value, whatever it is; no recursion, no building.
    pub fn skip(&mut self) -> Read<()> {
        // The brackets that are open: true for an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            let mut first = false;
            match self.peek()? {
                Kind::Object => {
                    self.open_object()?;
                    open.push(true);
                    first = true;
                }
                Kind::Array => {
                    self.open_array()?;
                    open.push(false);
                    first = true;
                }
                Kind::String => drop(self.string()?),
                Kind::Number => drop(self.number()?),
                literal => self.literal(literal)?,
            }
            // Behind a value: close what closes, until another value follows.
            loop {
                let Some(&object) = open.last() else { return Ok(()) };
                let more = if object { self.key(first)?.is_some() } else { self.element(first)? };
                if more {
                    break;
                }
                open.pop();
                first = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn well_formed_or_not() {
        for good in [
            "{}",
            " [1, 2.5e3, \"a\\u00e9\\n\", null, true, false] ",
            "{\"a\":{\"b\":[]}}",
            "0",
            "-0.1",
            "\"\"",
        ] {
            assert!(well_formed(good.as_bytes()), "{good}");
        }
        let bad = [
            "",
            "{",
            "[",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "+1",
            "nul",
            "{} x",
            "\"\\x\"",
            "\"\n\"",
            "[1 2]",
            "\"\\ud8\"",
            "{,}",
            "]",
        ];
        for bad in bad {
            assert!(!well_formed(bad.as_bytes()), "{bad}");
        }
        assert!(!well_formed(&[0xff]));
    }

    #[test]
    fn depth_has_a_limit_and_costs_no_stack() {
        assert!(!well_formed("[".repeat(1_000_000).as_bytes()));
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(well_formed(nested(DEPTH_MAX).as_bytes()));
        assert!(!well_formed(nested(DEPTH_MAX + 1).as_bytes()));
    }

    #[test]
    fn strings() {
        let read =
            |text: &str| Reader::new(text.as_bytes()).and_then(|mut r| r.string().map(Cow::into_owned));
        assert_eq!(read(r#""a\"\\\/\b\f\n\r\tz""#).as_deref(), Ok("a\"\\/\u{8}\u{c}\n\r\tz"));
        assert_eq!(read(r#""\u00e9\ud83d\ude00""#).as_deref(), Ok("é😀"));
        assert_eq!(read(r#""\ud83dx\udc00""#).as_deref(), Ok("?x?"));
    }

    proptest! {
        #[test]
        fn agrees_with_another_reader(text in r#"[\[\]{}",:a1e.\\u0\-tn ]{0,40}"#) {
            // serde_json refuses numbers beyond a double; nothing here can reach that but `1e111`.
            let other = serde_json::from_str::<serde_json::Value>(&text);
            let range = matches!(&other, Err(error) if error.to_string().contains("out of range"));
            // It refuses half a surrogate pair, which we read as a question mark.
            prop_assert!(range || other.is_ok() == well_formed(text.as_bytes()), "{}", text);
        }
    }
}
