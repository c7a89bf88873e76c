//! The YAML that CloudFormation, SAM and serverless files are written in: block maps and lists, flow values, quoted, plain and
//! block scalars, comments. Tags (`!Ref`, `!Sub`) and anchors are skipped; an alias is kept as text.

use super::flow::Flow;
use super::{DEPTH_MAX, Entry, Kind, Node, Parsed, Unreadable, plain};
use cql_syntax::Span;

/// The first document of a text.
pub fn parse(text: &str) -> Result<Parsed, Unreadable> {
    let mut reader = Reader { text, lines: lines(text), line: 0, begun: false, comments: Vec::new() };
    let root = match reader.current() {
        Some(line) => reader.block(line.indent, 0)?,
        None => Node { kind: Kind::Null, span: Span::new(0, 0) },
    };
    if let Some(line) = reader.current() {
        return Err(Unreadable::at(line.start, "this line is indented less than what it belongs to"));
    }
    Ok(Parsed { root, comments: reader.comments })
}

/// A line: where its first letter stands, where it ends. Letters before `start` that were read already are gone.
#[derive(Clone, Copy)]
struct Line {
    indent: usize,
    start: usize,
    end: usize,
    ends_document: bool,
}

fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut begin = 0;
    for raw in text.split_inclusive('\n') {
        let content = raw.trim_end();
        let indent = content.len() - content.trim_start_matches([' ', '\t', '\u{feff}']).len();
        let ends_document = content.starts_with("---") || content.starts_with("...");
        lines.push(Line { indent, start: begin + indent, end: begin + content.len(), ends_document });
        begin += raw.len();
    }
    lines
}

struct Reader<'t> {
    text: &'t str,
    lines: Vec<Line>,
    line: usize,
    /// Content was seen: the next `---` ends the document.
    begun: bool,
    comments: Vec<Span>,
}

impl<'t> Reader<'t> {
    fn content(&self, line: Line) -> &'t str {
        self.text.get(line.start..line.end).unwrap_or("")
    }

    /// The next line with content; the end of the document is the end.
    fn current(&mut self) -> Option<Line> {
        while let Some(line) = self.lines.get(self.line).copied() {
            let content = self.content(line);
            if content.starts_with('#') {
                self.comments.push(Span::new(line.start as u32, line.end as u32));
            } else if line.ends_document && self.begun {
                self.line = self.lines.len();
                return None;
            } else if !content.is_empty() && !line.ends_document {
                self.begun = true;
                return Some(line);
            }
            self.line += 1;
        }
        None
    }

    /// What stands at this indentation: a list, a map, or a scalar.
    fn block(&mut self, indent: usize, depth: usize) -> Result<Node, Unreadable> {
        let Some(line) = self.current() else {
            return Ok(Node { kind: Kind::Null, span: Span::new(0, 0) });
        };
        if depth > DEPTH_MAX {
            return Err(Unreadable::at(line.start, "the value is nested too deeply"));
        }
        let content = self.content(line);
        if is_item(content) {
            self.list(indent, depth)
        } else if key_end(content).is_some() {
            self.map(indent, depth)
        } else {
            self.line_value(line, indent.saturating_sub(1), depth)
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Node, Unreadable> {
        let mut items: Vec<Node> = Vec::new();
        let mut span: Option<Span> = None;
        while let Some(line) = self.current().filter(|line| line.indent == indent) {
            let content = self.content(line);
            if !is_item(content) {
                break;
            }
            let inner = content[1..].trim_start();
            let gap = content.len() - inner.len();
            let item = if inner.is_empty() || inner.starts_with('#') {
                self.line += 1;
                match self.current().filter(|next| next.indent > indent) {
                    Some(next) => self.block(next.indent, depth + 1)?,
                    None => Node { kind: Kind::Null, span: Span::new(line.start as u32, line.end as u32) },
                }
            } else {
                // The item begins behind the dash: its own indentation is there.
                let own = Line { indent: indent + gap, start: line.start + gap, ..line };
                self.lines[self.line] = own;
                self.item(own, indent, depth + 1)?
            };
            span = Some(span.map_or(item.span, |known| known.to(item.span)));
            items.push(item);
        }
        Ok(Node { kind: Kind::List(items), span: span.unwrap_or_default() })
    }

    /// The value behind a dash.
    fn item(&mut self, line: Line, parent: usize, depth: usize) -> Result<Node, Unreadable> {
        let content = self.content(line);
        if is_item(content) || key_end(content).is_some() {
            self.block(line.indent, depth)
        } else {
            self.line_value(line, parent, depth)
        }
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Node, Unreadable> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut span: Option<Span> = None;
        while let Some(line) = self.current().filter(|line| line.indent == indent) {
            let content = self.content(line);
            let Some(end) = key_end(content).filter(|_| !is_item(content)) else { break };
            let key = content[..end].trim().trim_matches(['"', '\'']).to_string();
            let key_span = Span::new(line.start as u32, (line.start + end) as u32);
            let behind = &content[end + 1..];
            let gap = end + 1 + (behind.len() - behind.trim_start().len());
            let rest = Line { start: line.start + gap, ..line };
            let value = self.entry_value(rest, indent, depth)?;
            let whole = key_span.to(if value.span.end == 0 { key_span } else { value.span });
            span = Some(span.map_or(whole, |known| known.to(whole)));
            entries.push(Entry { key, key_span, value });
        }
        if let Some(line) = self.current().filter(|line| line.indent > indent) {
            return Err(Unreadable::at(line.start, "this line is indented more than the one before allows"));
        }
        Ok(Node { kind: Kind::Map(entries), span: span.unwrap_or_default() })
    }

    /// What stands behind `key:`, on this line or below.
    fn entry_value(&mut self, rest: Line, indent: usize, depth: usize) -> Result<Node, Unreadable> {
        let mut rest = rest;
        loop {
            let content = self.content(rest);
            if !content.starts_with(['!', '&']) {
                break;
            }
            let end = content.find(' ').unwrap_or(content.len());
            let behind = &content[end..];
            rest.start += end + (behind.len() - behind.trim_start().len());
        }
        let content = self.content(rest);
        if content.is_empty() || content.starts_with('#') {
            self.comment_at(rest, content);
            self.line += 1;
            let next = self.current();
            return match next {
                Some(next) if next.indent > indent => self.block(next.indent, depth + 1),
                Some(next) if next.indent == indent && is_item(self.content(next)) => {
                    self.list(indent, depth + 1)
                }
                _ => Ok(Node { kind: Kind::Null, span: Span::new(rest.start as u32, rest.start as u32) }),
            };
        }
        if content.starts_with(['|', '>']) {
            return Ok(self.block_scalar(rest, indent));
        }
        self.line_value(rest, indent, depth)
    }

    fn comment_at(&mut self, line: Line, content: &str) {
        if !content.is_empty() {
            self.comments.push(Span::new(line.start as u32, line.end as u32));
        }
    }

    /// A scalar or a flow value that begins on this line; `indent` is that of its parent.
    fn line_value(&mut self, line: Line, indent: usize, depth: usize) -> Result<Node, Unreadable> {
        let content = self.content(line);
        let mut start = line.start;
        if content.starts_with('!') {
            // Behind a dash a tag may stand too.
            let end = content.find(' ').unwrap_or(content.len());
            let behind = &content[end..];
            start += end + (behind.len() - behind.trim_start().len());
        }
        let content = self.text.get(start..line.end).unwrap_or("");
        if content.starts_with(['{', '[', '"', '\'']) {
            let mut flow = Flow { text: self.text, at: start, strict: false, comments: Vec::new() };
            let node = flow.value(depth)?;
            self.comments.append(&mut flow.comments);
            // Go on behind the line where it ends; what follows there can only be a comment.
            while self.lines.get(self.line).is_some_and(|l| l.end < flow.at) {
                self.line += 1;
            }
            let end = self.lines.get(self.line).map_or(flow.at, |l| l.end);
            let rest = self.text.get(flow.at..end).unwrap_or("");
            if rest.trim_start().starts_with('#') {
                let gap = rest.len() - rest.trim_start().len();
                self.comments.push(Span::new((flow.at + gap) as u32, end as u32));
            }
            self.line += 1;
            return Ok(node);
        }
        let (text, comment) = split_comment(content);
        if let Some(at) = comment {
            self.comments.push(Span::new((start + at) as u32, line.end as u32));
        }
        let mut whole = text.to_string();
        let span = Span::new(start as u32, (start + text.len()) as u32);
        self.line += 1;
        // A plain scalar goes on in lines that are indented more.
        while comment.is_none() {
            let Some(next) = self.current().filter(|next| next.indent > indent) else { break };
            let content = self.content(next);
            if key_end(content).is_some() || is_item(content) {
                break;
            }
            whole.push(' ');
            whole.push_str(split_comment(content).0);
            self.line += 1;
        }
        Ok(Node { kind: plain(&whole), span })
    }

    /// `|` and `>`: the lines below that are indented more, as they are.
    fn block_scalar(&mut self, line: Line, indent: usize) -> Node {
        self.line += 1;
        let mut out: Vec<&str> = Vec::new();
        let mut end = line.end;
        let margin = self.lines[self.line..].iter().find(|l| l.end > l.start).map_or(0, |l| l.indent);
        while let Some(next) = self.lines.get(self.line).copied() {
            let is_blank = next.end <= next.start;
            if !is_blank && (next.indent <= indent || next.ends_document) {
                break;
            }
            let begin = next.start - next.indent + margin.min(next.indent);
            out.push(self.text.get(begin..next.end).unwrap_or(""));
            end = next.end.max(end);
            self.line += 1;
        }
        let text = out.join("\n").trim_end().to_string();
        Node { kind: Kind::Text(text), span: Span::new(line.start as u32, end as u32) }
    }
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ") || content.starts_with("-\t")
}

/// Where the colon behind a key stands; none when the line does not begin with a key.
fn key_end(content: &str) -> Option<usize> {
    let mut quote: Option<char> = None;
    for (at, c) in content.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if at == 0 => quote = Some(c),
            (None, '{' | '[') if at == 0 => return None,
            (None, '#') if content[..at].ends_with(' ') => return None,
            (None, ':') => {
                let next = content[at + 1..].chars().next();
                if next.is_none_or(char::is_whitespace) {
                    return (at > 0).then_some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text without a comment behind it, and where the comment begins.
fn split_comment(content: &str) -> (&str, Option<usize>) {
    match content.find(" #") {
        Some(at) => (content[..at].trim_end(), Some(at + 1)),
        None => (content.trim_end(), None),
    }
}
