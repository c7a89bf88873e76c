//! Places in the source text.
//!
//! A [`Span`] is a half-open range of byte offsets. Lines and columns are computed from it on demand, so that
//! parsing never pays for them. A span is not part of the identity of a node: two trees that differ only in
//! spans are equal, which is what "print and parse again gives the same tree" means.

use std::ops::Range;

/// A half-open byte range of the source text.
///
/// Always equal to any other span (see the module documentation). Compare [`Span::range`] to compare places.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The byte range, for slicing the source text.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The source text under this span; empty when the span does not belong to `text`.
    pub fn text(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }

    /// Line and column of the first byte.
    pub fn position(self, text: &str) -> Position {
        Position::of(text, self.start)
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

/// A line and a column, both counted from 1; columns count characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The character within the line, from 1.
    pub column: u32,
}

impl Position {
    /// The position of a byte offset; an offset past the end gives the position of the end.
    pub fn of(text: &str, offset: u32) -> Position {
        let bytes = text.as_bytes();
        let offset = (offset as usize).min(bytes.len());
        let before = &bytes[..offset];
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // Continuation bytes (10xxxxxx) are not characters of their own.
        let column = before[line_start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Position { line: line as u32 + 1, column: column as u32 + 1 }
    }
}

/// Line starts of one text, for many look-ups in a large file.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the line starts of `text`.
    pub fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        LineIndex { starts: std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect() }
    }

    /// The same answer as [`Position::of`], without walking the text from its beginning.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = offset.min(text.len() as u32);
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0) as usize;
        let within = text.as_bytes().get(start..offset as usize).unwrap_or(&[]);
        let column = within.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Position { line: line as u32, column: column as u32 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "ab\nçd\n\nx";
        let index = LineIndex::new(text);
        for (offset, line, column) in
            [(0, 1, 1), (2, 1, 3), (3, 2, 1), (5, 2, 2), (7, 3, 1), (8, 4, 1), (99, 4, 2)]
        {
            let expected = Position { line, column };
            assert_eq!(Position::of(text, offset), expected, "offset {offset}");
            assert_eq!(index.position(text, offset), expected, "offset {offset} by index");
        }
    }

    #[test]
    fn spans_join_and_slice() {
        let span = Span::new(4, 6).to(Span::new(1, 3));
        assert_eq!(span.range(), 1..6);
        assert_eq!(span.text("0123456"), "12345");
        assert_eq!(Span::new(5, 9).text("abc"), "");
    }
}
