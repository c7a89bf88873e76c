//! Expressions as tokens. Nothing is refused here: what cannot be read is a token of its own, which the parser meets.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Identifier,
    /// `#name`
    Name,
    /// `:value`
    Value,
    /// Digits of an index.
    Digits,
    Word(Word),
    /// One or two characters of punctuation.
    Symbol(&'static str),
    Unreadable,
    End,
}

/// Words with a meaning of their own, in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    And,
    Or,
    Not,
    Between,
    In,
    Set,
    Remove,
    Add,
    Delete,
}

const WORDS: [(&str, Word); 9] = [
    ("AND", Word::And),
    ("OR", Word::Or),
    ("NOT", Word::Not),
    ("BETWEEN", Word::Between),
    ("IN", Word::In),
    ("SET", Word::Set),
    ("REMOVE", Word::Remove),
    ("ADD", Word::Add),
    ("DELETE", Word::Delete),
];

/// Longer ones first.
const SYMBOLS: [&str; 14] = ["<>", "<=", ">=", "=", "<", ">", "(", ")", ",", ".", "[", "]", "+", "-"];

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub start: usize,
}

/// The tokens, with `End` as the last one.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(source.len() / 4 + 2);
    let mut at = 0;
    loop {
        let rest = &source[at..];
        let blank = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).count();
        at += blank;
        let rest = &rest[blank..];
        if rest.is_empty() {
            tokens.push(Token { kind: Kind::End, text: "", start: at });
            return tokens;
        }
        let (kind, length) = next(rest);
        tokens.push(Token { kind, text: &rest[..length], start: at });
        at += length;
    }
}

fn next(rest: &str) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let run =
        |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    match bytes[0] {
        b'a'..=b'z' | b'A'..=b'Z' => {
            let length = run(0);
            let word = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(&rest[..length]));
            (word.map_or(Kind::Identifier, |(_, word)| Kind::Word(*word)), length)
        }
        b'#' | b':' if run(1) > 0 => {
            let kind = if bytes[0] == b'#' { Kind::Name } else { Kind::Value };
            (kind, 1 + run(1))
        }
        b'0' => (Kind::Digits, 1),
        b'1'..=b'9' => (Kind::Digits, bytes.iter().take_while(|b| b.is_ascii_digit()).count()),
        _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            None => (Kind::Unreadable, rest.chars().next().map_or(1, char::len_utf8)),
            Some(symbol) => (Kind::Symbol(symbol), symbol.len()),
        },
    }
}
