//! Tokens.

use super::keyword::Keyword;
use crate::span::Span;

/// A token: what it is and where it stands. Its text is in the source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
}

impl Token {
    pub fn span(self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// The kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Keyword(Keyword),
    /// An unquoted name that is no keyword.
    Word,
    /// A name in double quotes, quotes included; may be empty.
    QuotedName,
    /// A string in single quotes, quotes included.
    String,
    /// A string between `$$`, dollars included.
    DollarString,
    /// A minus directly before the digits belongs to the number: `a -3` is a name and an integer.
    Integer,
    Float,
    Duration,
    Uuid,
    Blob,
    NegativeNan,
    NegativeInfinity,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Colon,
    Dot,
    Range,
    Question,
    Plus,
    PlusEq,
    Minus,
    MinusEq,
    Star,
    Slash,
    Percent,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// A text that is no token. It is reported when the parser comes to it.
    Bad(Fault),
    Eof,
}

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    UnknownCharacter,
    UnterminatedString,
    UnterminatedName,
    EmptyName,
    UnterminatedDollarString,
    UnterminatedComment,
}

impl TokenKind {
    /// How Cassandra names the token in "expecting ...".
    pub fn expecting(self) -> String {
        match self {
            TokenKind::Keyword(keyword) => format!("K_{}", keyword.text().to_uppercase()),
            TokenKind::Word => "IDENT".into(),
            TokenKind::QuotedName => "QUOTED_NAME".into(),
            TokenKind::String | TokenKind::DollarString => "STRING_LITERAL".into(),
            TokenKind::Integer => "INTEGER".into(),
            TokenKind::Float | TokenKind::NegativeNan | TokenKind::NegativeInfinity => "FLOAT".into(),
            TokenKind::Duration => "DURATION".into(),
            TokenKind::Uuid => "UUID".into(),
            TokenKind::Blob => "HEXNUMBER".into(),
            TokenKind::Eof => "EOF".into(),
            TokenKind::Bad(_) => "a token".into(),
            other => format!("'{}'", other.symbol()),
        }
    }

    /// The characters of a punctuation token; empty for the others.
    pub const fn symbol(self) -> &'static str {
        match self {
            TokenKind::LeftParen => "(",
            TokenKind::RightParen => ")",
            TokenKind::LeftBracket => "[",
            TokenKind::RightBracket => "]",
            TokenKind::LeftBrace => "{",
            TokenKind::RightBrace => "}",
            TokenKind::Comma => ",",
            TokenKind::Semicolon => ";",
            TokenKind::Colon => ":",
            TokenKind::Dot => ".",
            TokenKind::Range => "..",
            TokenKind::Question => "?",
            TokenKind::Plus => "+",
            TokenKind::PlusEq => "+=",
            TokenKind::Minus => "-",
            TokenKind::MinusEq => "-=",
            TokenKind::Star => "*",
            TokenKind::Slash => "/",
            TokenKind::Percent => "%",
            TokenKind::Eq => "=",
            TokenKind::Ne => "!=",
            TokenKind::Lt => "<",
            TokenKind::Le => "<=",
            TokenKind::Gt => ">",
            TokenKind::Ge => ">=",
            _ => "",
        }
    }
}

/// A comment of a script, for tools that give comments a meaning (such as suppressing a finding).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comment {
    /// The whole comment with its marks; a line comment without its line end.
    pub span: Span,
}

impl Comment {
    /// What the comment says, without `--`, `//`, `/*` and `*/` and without blanks around it.
    pub fn content(self, text: &str) -> &str {
        let raw = self.span.text(text);
        let inner = match raw.strip_prefix("/*") {
            Some(inner) => inner.strip_suffix("*/").unwrap_or(inner),
            None => raw.get(2..).unwrap_or(""),
        };
        inner.trim()
    }
}
