//! JSON, and the flow style of YAML (`{a: b, c: [d]}`), which differs in plain scalars, tags and comments.

use super::{DEPTH_MAX, Entry, Kind, Node, Parsed, Unreadable, plain};
use cql_syntax::Span;

/// A whole JSON text.
pub fn json(text: &str) -> Result<Parsed, Unreadable> {
    let mut flow = Flow {
        text,
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
        strict: true,
        comments: Vec::new(),
    };
    let root = flow.value(0)?;
    flow.skip();
    if flow.at < text.len() {
        return Err(Unreadable::at(flow.at, "more text follows the JSON value"));
    }
    Ok(Parsed { root, comments: Vec::new() })
}

/// Reads one value at a time from a position in a text.
pub struct Flow<'t> {
    pub text: &'t str,
    pub at: usize,
    /// JSON rather than YAML.
    pub strict: bool,
    pub comments: Vec<Span>,
}

impl Flow<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if self.strict || self.peek() != Some('#') {
                return;
            }
            let end = self.rest().find('\n').unwrap_or(self.rest().len());
            self.comments.push(Span::new(self.at as u32, (self.at + end) as u32));
            self.at += end;
        }
    }

    pub fn value(&mut self, depth: usize) -> Result<Node, Unreadable> {
        if depth > DEPTH_MAX {
            return Err(Unreadable::at(self.at, "the value is nested too deeply"));
        }
        self.skip();
        if !self.strict {
            self.skip_tag();
        }
        let start = self.at;
        let kind = match self.peek() {
            None => {
                return Err(Unreadable::at(start.saturating_sub(1), "the text ends where a value should be"));
            }
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Kind::Text(self.double_quoted()?),
            Some('\'') if !self.strict => Kind::Text(self.single_quoted()?),
            Some(_) => self.scalar()?,
        };
        Ok(Node { kind, span: Span::new(start as u32, self.at as u32) })
    }

    /// `!Ref`, `!!str`, `&anchor` before a value.
    fn skip_tag(&mut self) {
        while matches!(self.peek(), Some('!' | '&')) {
            let rest = self.rest();
            let end = rest.find([' ', '\n', '\t', ',', ']', '}', '[', '{']).unwrap_or(rest.len());
            self.at += end;
            self.skip();
        }
    }

    fn map(&mut self, depth: usize) -> Result<Kind, Unreadable> {
        let open = self.at;
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some('}') if entries.is_empty() || !self.strict => break,
                None => return Err(Unreadable::at(open, "this { is never closed")),
                _ => {}
            }
            let start = self.at;
            let key = match self.peek() {
                Some('"') => self.double_quoted()?,
                Some('\'') if !self.strict => self.single_quoted()?,
                _ if self.strict => {
                    return Err(Unreadable::at(start, "a key in double quotes should be here"));
                }
                _ => self.plain_text(),
            };
            let key_span = Span::new(start as u32, self.at as u32);
            self.skip();
            let value = if self.peek() == Some(':') {
                self.at += 1;
                self.value(depth + 1)?
            } else if self.strict || key.is_empty() {
                return Err(Unreadable::at(self.at, "a : should be here"));
            } else {
                Node { kind: Kind::Null, span: key_span }
            };
            entries.push(Entry { key, key_span, value });
            if !self.separator('}')? {
                break;
            }
        }
        self.at += 1;
        Ok(Kind::Map(entries))
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Unreadable> {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some(']') if items.is_empty() || !self.strict => break,
                None => return Err(Unreadable::at(open, "this [ is never closed")),
                _ => {}
            }
            items.push(self.value(depth + 1)?);
            if !self.separator(']')? {
                break;
            }
        }
        self.at += 1;
        Ok(Kind::List(items))
    }

    /// Whether a comma follows; the closing bracket is left where it is.
    fn separator(&mut self, close: char) -> Result<bool, Unreadable> {
        self.skip();
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Ok(true)
            }
            Some(c) if c == close => Ok(false),
            _ => Err(Unreadable::at(
                self.at.min(self.text.len().saturating_sub(1)),
                format!("a , or {close} should be here"),
            )),
        }
    }

    fn scalar(&mut self) -> Result<Kind, Unreadable> {
        let start = self.at;
        let text = self.plain_text();
        if text.is_empty() {
            return Err(Unreadable::at(start, "a value should be here"));
        }
        let kind = plain(&text);
        if self.strict && (matches!(kind, Kind::Text(_)) || (matches!(kind, Kind::Null) && text != "null")) {
            return Err(Unreadable::at(
                start,
                format!("{text} is no JSON value; texts stand in double quotes"),
            ));
        }
        Ok(kind)
    }

    fn plain_text(&mut self) -> String {
        let rest = self.rest();
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            let next = rest[at + c.len_utf8()..].chars().next();
            let ends = matches!(c, ',' | ']' | '}' | '[' | '{' | '\n')
                || (c == ':' && (self.strict || next.is_none_or(|n| n.is_whitespace() || n == ',')))
                || (self.strict && c.is_whitespace())
                || (c.is_whitespace() && next == Some('#'));
            if ends {
                end = at;
                break;
            }
        }
        let text = rest[..end].trim_end().to_string();
        self.at += end;
        text
    }

    pub fn double_quoted(&mut self) -> Result<String, Unreadable> {
        let open = self.at;
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = open + at + 1;
                    return Ok(out);
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, 'u')) => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16)
                            .map_err(|_| Unreadable::at(open + at, "\\u takes four hexadecimal digits"))?;
                        // Halves of a pair do not matter for names; they become the replacement sign.
                        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    Some((_, c)) => out.push(c),
                    None => break,
                },
                c => out.push(c),
            }
        }
        Err(Unreadable::at(open, "this text is never closed"))
    }

    pub fn single_quoted(&mut self) -> Result<String, Unreadable> {
        let open = self.at;
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != '\'' {
                out.push(c);
            } else if chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
                out.push('\'');
            } else {
                self.at = open + at + 1;
                return Ok(out);
            }
        }
        Err(Unreadable::at(open, "this text is never closed"))
    }
}
