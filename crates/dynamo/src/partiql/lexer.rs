//! PartiQL text as tokens.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bare word; keywords are told by their place.
    Word,
    /// `"quoted"`: a name, whatever it holds.
    Quoted(String),
    /// `'text'`
    Text(String),
    Number,
    Parameter,
    Symbol(&'static str),
    End,
    Unreadable,
}

#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub line: usize,
    pub column: usize,
}

/// Longer ones first.
const SYMBOLS: [&str; 24] = [
    "<<", ">>", "<>", "<=", ">=", "!=", "||", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ".", ":",
    "+", "-", "*", "/", ";",
];

pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let (mut line, mut line_start) = (1, 0);
    loop {
        let skipped = blanks(&source[at..]);
        for (offset, byte) in source.as_bytes()[at..at + skipped].iter().enumerate() {
            if *byte == b'\n' {
                line += 1;
                line_start = at + offset + 1;
            }
        }
        at += skipped;
        let rest = &source[at..];
        let column = source[line_start..at].chars().count() + 1;
        if rest.is_empty() {
            tokens.push(Token { kind: Kind::End, text: "", line, column });
            return tokens;
        }
        let (kind, length) = next(rest);
        tokens.push(Token { kind, text: &rest[..length], line, column });
        at += length;
    }
}

/// Bytes of blanks and comments.
fn blanks(rest: &str) -> usize {
    let mut at = 0;
    loop {
        let here = &rest[at..];
        let run = here.len() - here.trim_start().len();
        let here = &here[run..];
        let comment = if here.starts_with("--") {
            here.find('\n').unwrap_or(here.len())
        } else if here.starts_with("/*") {
            match here.find("*/") {
                Some(end) => end + 2,
                None => return at + run,
            }
        } else {
            return at + run;
        };
        at += run + comment;
    }
}

fn next(rest: &str) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    match bytes[0] {
        b'\'' => {
            quoted(rest, '\'').map_or((Kind::Unreadable, 1), |(text, length)| (Kind::Text(text), length))
        }
        b'"' => {
            quoted(rest, '"').map_or((Kind::Unreadable, 1), |(text, length)| (Kind::Quoted(text), length))
        }
        b'?' => (Kind::Parameter, 1),
        b'0'..=b'9' => (Kind::Number, number(bytes)),
        b'.' if bytes.get(1).is_some_and(u8::is_ascii_digit) => (Kind::Number, number(bytes)),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
            let word = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
            (Kind::Word, bytes.iter().take_while(word).count())
        }
        _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            Some(symbol) => (Kind::Symbol(symbol), symbol.len()),
            None => (Kind::Unreadable, rest.chars().next().map_or(1, char::len_utf8)),
        },
    }
}

/// Text up to the closing quote; a doubled quote stands for itself.
fn quoted(rest: &str, quote: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return Some((text, at + 1));
        }
    }
    None
}

fn number(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = digits(0);
    // `5.` is a number too.
    if bytes.get(at) == Some(&b'.') {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let power = digits(at + 1 + sign);
        if power > 0 {
            at += 1 + sign + power;
        }
    }
    at
}
