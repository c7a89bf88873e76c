//! Commands of cqlsh in a file of statements: they are no CQL and are left out, with a note.

use cql_syntax::Span;
use std::borrow::Cow;

/// Words that begin a command of cqlsh and no statement.
const COMMANDS: &[&str] = &[
    "SOURCE",
    "CONSISTENCY",
    "SERIAL",
    "PAGING",
    "TRACING",
    "EXPAND",
    "CAPTURE",
    "COPY",
    "SHOW",
    "LOGIN",
    "EXIT",
    "QUIT",
    "HELP",
    "CLEAR",
    "CLS",
    "UNICODE",
    "ELAPSED",
    "DEBUG",
    "HISTORY",
];

/// The text with every command blanked out, so that places stay what they are, and where the commands stood.
pub fn without_commands(text: &str) -> (Cow<'_, str>, Vec<(Span, String)>) {
    let mut found: Vec<(Span, String)> = Vec::new();
    let mut scan = Scan { text, at: 0 };
    while let Some(start) = scan.next_statement() {
        match scan.command(start) {
            Some((end, word)) => {
                found.push((Span { start: start as u32, end: end as u32 }, word));
                scan.at = end;
            }
            None => scan.skip_statement(),
        }
    }
    if found.is_empty() {
        return (Cow::Borrowed(text), found);
    }
    let mut bytes = text.as_bytes().to_vec();
    for (span, _) in &found {
        for byte in &mut bytes[span.start as usize..span.end as usize] {
            if !byte.is_ascii_whitespace() {
                *byte = b' ';
            }
        }
    }
    // Whole characters were replaced by spaces, so what is left is still UTF-8.
    (String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned), found)
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Where the next statement begins, behind spaces, semicolons and comments.
    fn next_statement(&mut self) -> Option<usize> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';').len();
            self.at += blank;
            let length = comment(self.rest());
            if length == 0 {
                return (!self.rest().is_empty()).then_some(self.at);
            }
            self.at += length;
        }
    }

    /// The end of a command that begins here, and its word.
    fn command(&self, start: usize) -> Option<(usize, String)> {
        let rest = self.text.get(start..)?;
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let word = rest.get(..end)?.to_ascii_uppercase();
        if !COMMANDS.contains(&word.as_str()) {
            return None;
        }
        let line = rest.find('\n').unwrap_or(rest.len());
        // A COPY may go on to its semicolon.
        let whole = match rest.find(';') {
            Some(semicolon) if semicolon > line && word == "COPY" && continues(&rest[line..]) => semicolon,
            _ => line,
        };
        Some((start + whole, word))
    }

    /// To the semicolon that ends the statement, which quotes and comments may hide.
    fn skip_statement(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let length = comment(self.rest());
            if length > 0 {
                self.at += length;
            } else if c == '\'' || c == '"' {
                let inside = self.rest().get(1..).unwrap_or("");
                self.at += 1 + inside.find(c).map_or(inside.len(), |end| end + 1);
            } else if self.rest().starts_with("$$") {
                let inside = self.rest().get(2..).unwrap_or("");
                self.at += 2 + inside.find("$$").map_or(inside.len(), |end| end + 2);
            } else {
                self.at += c.len_utf8();
                if c == ';' {
                    return;
                }
            }
        }
    }
}

fn continues(next: &str) -> bool {
    let word: String = next.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    ["WITH", "AND", "FROM", "TO"].contains(&word.to_ascii_uppercase().as_str())
        || next.trim_start().starts_with('(')
}

/// The length of a comment that begins here; 0 when none does.
fn comment(text: &str) -> usize {
    if text.starts_with("--") || text.starts_with("//") {
        text.find('\n').map_or(text.len(), |end| end + 1)
    } else if text.starts_with("/*") {
        text.get(2..).and_then(|inside| inside.find("*/")).map_or(text.len(), |end| end + 4)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::without_commands;

    #[test]
    fn commands_are_blanked_where_a_statement_may_begin() {
        let text = "CONSISTENCY QUORUM\nSOURCE 'a.cql';\n-- SHOW x\nSELECT * FROM t WHERE a = 'x; PAGING OFF';\nCOPY t (a)\n  FROM 'x.csv' WITH HEADER = true;\nPAGING 10";
        let (left, found) = without_commands(text);
        let words: Vec<&str> = found.iter().map(|(_, word)| word.as_str()).collect();
        assert_eq!(words, ["CONSISTENCY", "SOURCE", "COPY", "PAGING"]);
        assert_eq!(left.len(), text.len());
        assert_eq!(left.trim(), "-- SHOW x\nSELECT * FROM t WHERE a = 'x; PAGING OFF';\n          \n                                 ;".trim());
    }

    #[test]
    fn a_file_without_commands_is_left_as_it_is() {
        let text = "CREATE TABLE show (copy int PRIMARY KEY);";
        assert!(without_commands(text).1.is_empty());
    }
}
