//! The HCL that Terraform files are written in: blocks with labels, attributes, literals, lists, objects, heredocs, comments.
//! Any other expression stays text. A block's labels become nested maps, as in Terraform's JSON form.

use super::{DEPTH_MAX, Entry, Kind, Node, Parsed, Unreadable, is_number};
use cql_syntax::Span;

/// A whole file.
pub fn parse(text: &str) -> Result<Parsed, Unreadable> {
    let mut reader =
        Reader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 }, comments: Vec::new() };
    let entries = reader.body(0, None)?;
    let root = Node { kind: Kind::Map(entries), span: Span::new(0, text.len() as u32) };
    Ok(Parsed { root, comments: reader.comments })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    comments: Vec<Span>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips blanks and comments, over lines too when asked.
    fn skip(&mut self, over_lines: bool) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() && (over_lines || c != '\n'));
            self.at += rest.len() - trimmed.len();
            let length = if trimmed.starts_with('#') || trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.comments.push(Span::new(self.at as u32, (self.at + length) as u32));
            self.at += length;
        }
    }

    fn word(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let end =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    /// Attributes and blocks up to the closing brace, or to the end of the file.
    fn body(&mut self, depth: usize, open: Option<usize>) -> Result<Vec<Entry>, Unreadable> {
        if depth > DEPTH_MAX {
            return Err(Unreadable::at(self.at, "blocks are nested too deeply"));
        }
        let mut entries = Vec::new();
        loop {
            self.skip(true);
            let start = self.at;
            match (self.peek(), open) {
                (None, None) => return Ok(entries),
                (None, Some(open)) => return Err(Unreadable::at(open, "this { is never closed")),
                (Some('}'), Some(_)) => {
                    self.at += 1;
                    return Ok(entries);
                }
                (Some('"'), _) => {
                    let key = self.string()?;
                    entries.push(self.after_name(key, start, depth)?);
                }
                _ => match self.word() {
                    Some(name) => entries.push(self.after_name(name.to_string(), start, depth)?),
                    None => {
                        return Err(Unreadable::at(
                            start,
                            "the name of a block or an attribute should be here",
                        ));
                    }
                },
            }
        }
    }

    /// What follows a name: `= value`, or labels and a block.
    fn after_name(&mut self, name: String, start: usize, depth: usize) -> Result<Entry, Unreadable> {
        let key_span = Span::new(start as u32, self.at as u32);
        let mut labels: Vec<(String, Span)> = Vec::new();
        loop {
            self.skip(false);
            let at = self.at;
            match self.peek() {
                Some('=') if labels.is_empty() => {
                    self.at += 1;
                    let value = self.value(depth + 1)?;
                    self.skip(false);
                    return Ok(Entry { key: name, key_span, value });
                }
                Some('"') => {
                    let label = self.string()?;
                    labels.push((label, Span::new(at as u32, self.at as u32)));
                }
                Some('{') => {
                    self.at += 1;
                    let entries = self.body(depth + 1, Some(at))?;
                    let span = Span::new(start as u32, self.at as u32);
                    let mut value = Node { kind: Kind::Map(entries), span };
                    for (label, label_span) in labels.into_iter().rev() {
                        let entry = Entry { key: label, key_span: label_span, value };
                        value = Node { kind: Kind::Map(vec![entry]), span };
                    }
                    return Ok(Entry { key: name, key_span, value });
                }
                Some(c) if c.is_alphabetic() => {
                    let label = self.word().unwrap_or("").to_string();
                    labels.push((label, Span::new(at as u32, self.at as u32)));
                }
                _ => {
                    let at = at.min(self.text.len().saturating_sub(1));
                    return Err(Unreadable::at(
                        at,
                        format!("{name} needs a value (= ...) or a block ({{ ... }})"),
                    ));
                }
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Unreadable> {
        if depth > DEPTH_MAX {
            return Err(Unreadable::at(self.at, "the value is nested too deeply"));
        }
        self.skip(false);
        let start = self.at;
        let kind = match self.peek() {
            Some('"') => Kind::Text(self.string()?),
            Some('[') => self.list(depth)?,
            Some('{') => self.object(depth)?,
            Some('<') if self.rest().starts_with("<<") => Kind::Text(self.heredoc()?),
            _ => return self.expression(start),
        };
        let end = self.at;
        self.skip(false);
        if self.ends_value() {
            return Ok(Node { kind, span: Span::new(start as u32, end as u32) });
        }
        // An operator follows: the whole is an expression.
        self.expression(start)
    }

    fn ends_value(&self) -> bool {
        matches!(self.peek(), None | Some('\n' | ',' | '}' | ']'))
    }

    /// Any other expression, to the end of its line, or as far as its brackets reach.
    fn expression(&mut self, start: usize) -> Result<Node, Unreadable> {
        self.at = start;
        let mut open = 0_usize;
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.string()?;
                    continue;
                }
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' if open > 0 => open -= 1,
                '}' | ']' | ')' => break,
                ',' | '\n' if open == 0 => break,
                '#' if open == 0 => break,
                '/' if open == 0 && self.rest().starts_with("//") => break,
                _ => {}
            }
            self.at += c.len_utf8();
        }
        let text = self.text[start..self.at].trim();
        if text.is_empty() || open > 0 {
            return Err(Unreadable::at(
                start.min(self.text.len().saturating_sub(1)),
                "a value should be here",
            ));
        }
        let kind = match text {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "null" => Kind::Null,
            _ if is_number(text) => Kind::Number(text.to_string()),
            _ => Kind::Text(text.to_string()),
        };
        Ok(Node { kind, span: Span::new(start as u32, (start + text.len()) as u32) })
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Unreadable> {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip(true);
            match self.peek() {
                None => return Err(Unreadable::at(open, "this [ is never closed")),
                Some(']') => {
                    self.at += 1;
                    return Ok(Kind::List(items));
                }
                Some(',') => self.at += 1,
                // `[for x in y : z]` is not evaluated.
                Some('f') if items.is_empty() && self.rest().starts_with("for ") => {
                    self.at = open;
                    let node = self.expression(open)?;
                    return Ok(node.kind);
                }
                Some(_) => {
                    items.push(self.value(depth + 1)?);
                    self.skip(true);
                    if !matches!(self.peek(), Some(',' | ']')) {
                        return Err(Unreadable::at(
                            self.at.min(self.text.len().saturating_sub(1)),
                            "a , or ] should be here",
                        ));
                    }
                }
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Kind, Unreadable> {
        let open = self.at;
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.skip(true);
            let start = self.at;
            match self.peek() {
                None => return Err(Unreadable::at(open, "this { is never closed")),
                Some('}') => {
                    self.at += 1;
                    return Ok(Kind::Map(entries));
                }
                Some(',') => self.at += 1,
                Some(first) => {
                    if first == 'f' && entries.is_empty() && self.rest().starts_with("for ") {
                        self.at = open;
                        return Ok(self.expression(open)?.kind);
                    }
                    let key = match first {
                        '"' => self.string()?,
                        // A computed key: `(var.name)`.
                        '(' => {
                            let length = self.rest().find(')').map_or(self.rest().len(), |end| end + 1);
                            self.at += length;
                            self.text[start..self.at].to_string()
                        }
                        _ => self.word().unwrap_or("").to_string(),
                    };
                    let key_span = Span::new(start as u32, self.at as u32);
                    self.skip(false);
                    if key.is_empty() || !matches!(self.peek(), Some('=' | ':')) {
                        return Err(Unreadable::at(
                            self.at.min(self.text.len().saturating_sub(1)),
                            "a key and = should be here",
                        ));
                    }
                    self.at += 1;
                    let value = self.value(depth + 1)?;
                    entries.push(Entry { key, key_span, value });
                }
            }
        }
    }

    /// A quoted text; interpolations stay as they are, quotes inside them included.
    fn string(&mut self) -> Result<String, Unreadable> {
        let open = self.at;
        let mut out = String::new();
        let mut nested = 0_usize;
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' if nested == 0 => {
                    self.at = open + at + 1;
                    return Ok(out);
                }
                '$' | '%' if chars.peek().is_some_and(|(_, next)| *next == '{') => {
                    chars.next();
                    nested += 1;
                    out.push(c);
                    out.push('{');
                }
                '{' if nested > 0 => {
                    nested += 1;
                    out.push(c);
                }
                '}' if nested > 0 => {
                    nested -= 1;
                    out.push(c);
                }
                '\\' if nested == 0 => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, c)) => out.push(c),
                    None => break,
                },
                '\n' if nested == 0 => break,
                c => out.push(c),
            }
        }
        Err(Unreadable::at(open, "this text is never closed"))
    }

    fn heredoc(&mut self) -> Result<String, Unreadable> {
        let open = self.at;
        let rest = self.rest();
        let first = rest.find('\n').unwrap_or(rest.len());
        let mark = rest[..first].trim_start_matches(['<', '-']).trim();
        let mut at = first + 1;
        let mut out: Vec<&str> = Vec::new();
        while let Some(line) =
            rest.get(at..).filter(|rest| !rest.is_empty()).map(|rest| rest.lines().next().unwrap_or(""))
        {
            if line.trim() == mark && !mark.is_empty() {
                self.at = open + (at + line.len()).min(rest.len());
                return Ok(out.join("\n"));
            }
            out.push(line);
            at += line.len() + 1;
        }
        Err(Unreadable::at(open, "this heredoc is never closed"))
    }
}
