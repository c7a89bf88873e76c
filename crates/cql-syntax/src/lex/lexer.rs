//! The lexer: the whole text to tokens in one pass.
//!
//! It never fails: a text that is no token becomes [`TokenKind::Bad`], which the parser reports when it gets there.
//! The last token is always [`TokenKind::Eof`].

use super::keyword::Keyword;
use super::number::{is_word, iso_duration, number, skip_while, uuid};
use super::token::{Comment, Fault, Token, TokenKind};
use crate::span::Span;

/// Tokens of `text`, which must be shorter than 4 GiB. Comments are kept only if there is a place for them.
pub(crate) fn lex(text: &str, comments: Option<&mut Vec<Comment>>) -> Vec<Token> {
    debug_assert!(u32::try_from(text.len()).is_ok());
    // An average token with its blank is five bytes; large texts are mostly literals, so the guess is bounded.
    let tokens = Vec::with_capacity((text.len() / 5 + 4).min(4096));
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, tokens, comments };
    while lexer.step() {}
    lexer.push(TokenKind::Eof, lexer.at);
    lexer.tokens
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    comments: Option<&'a mut Vec<Comment>>,
}

impl Lexer<'_> {
    /// Reads one token, comment or run of blanks; false at the end.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else { return false };
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'a'..=b'z' | b'A'..=b'Z' => self.word(byte),
            b'0'..=b'9' => {
                let (kind, end) = match uuid(self.bytes, self.at) {
                    Some(end) => (TokenKind::Uuid, end),
                    None => number(self.bytes, self.at),
                };
                self.push(kind, end);
            }
            b'\'' => self.quoted(b'\'', TokenKind::String, Fault::UnterminatedString),
            b'"' => self.quoted(b'"', TokenKind::QuotedName, Fault::UnterminatedName),
            b'-' => self.minus(),
            b'/' => self.slash(),
            b'$' if self.next() == b'$' => self.dollar_string(),
            _ => self.punctuation(byte),
        }
        true
    }

    fn next(&self) -> u8 {
        self.bytes.get(self.at + 1).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        self.tokens.push(Token { kind, start: self.at as u32, end: end as u32 });
        self.at = end;
    }

    fn word(&mut self, first: u8) {
        if first.is_ascii_hexdigit()
            && let Some(end) = uuid(self.bytes, self.at)
        {
            return self.push(TokenKind::Uuid, end);
        }
        if first == b'P'
            && let Some(end) = iso_duration(self.bytes, self.at)
        {
            return self.push(TokenKind::Duration, end);
        }
        let end = skip_while(self.bytes, self.at + 1, is_word);
        let keyword = self.bytes.get(self.at..end).and_then(Keyword::lookup);
        self.push(keyword.map_or(TokenKind::Word, TokenKind::Keyword), end);
    }

    /// A name or string up to its closing quote; a doubled quote stands for one.
    fn quoted(&mut self, quote: u8, kind: TokenKind, fault: Fault) {
        let mut end = self.at + 1;
        loop {
            end = skip_while(self.bytes, end, |byte| byte != quote);
            match (self.bytes.get(end), self.bytes.get(end + 1)) {
                (None, _) => return self.push(TokenKind::Bad(fault), end),
                (Some(_), Some(following)) if *following == quote => end += 2,
                // A name must have a letter; Cassandra's lexer does not know an empty one either.
                _ if kind == TokenKind::QuotedName && end == self.at + 1 => {
                    return self.push(TokenKind::Bad(Fault::EmptyName), end + 1);
                }
                _ => return self.push(kind, end + 1),
            }
        }
    }

    fn dollar_string(&mut self) {
        let content = self.bytes.get(self.at + 2..).unwrap_or(&[]);
        match content.windows(2).position(|pair| pair == b"$$") {
            Some(length) => self.push(TokenKind::DollarString, self.at + 2 + length + 2),
            None => self.push(TokenKind::Bad(Fault::UnterminatedDollarString), self.bytes.len()),
        }
    }

    fn minus(&mut self) {
        match self.next() {
            b'-' => self.line_comment(),
            b'=' => self.push(TokenKind::MinusEq, self.at + 2),
            b'0'..=b'9' => {
                let (kind, end) = number(self.bytes, self.at);
                self.push(kind, end);
            }
            b'P' => match iso_duration(self.bytes, self.at) {
                Some(end) => self.push(TokenKind::Duration, end),
                None => self.push(TokenKind::Minus, self.at + 1),
            },
            b'n' | b'N' | b'i' | b'I' => {
                let end = skip_while(self.bytes, self.at + 1, is_word);
                let kind = match self.bytes.get(self.at + 1..end).and_then(Keyword::lookup) {
                    Some(Keyword::Nan) => TokenKind::NegativeNan,
                    Some(Keyword::Infinity) => TokenKind::NegativeInfinity,
                    _ => return self.push(TokenKind::Minus, self.at + 1),
                };
                self.push(kind, end);
            }
            _ => self.push(TokenKind::Minus, self.at + 1),
        }
    }

    fn slash(&mut self) {
        match self.next() {
            b'/' => self.line_comment(),
            b'*' => {
                let content = self.bytes.get(self.at + 2..).unwrap_or(&[]);
                match content.windows(2).position(|pair| pair == b"*/") {
                    Some(length) => self.comment(self.at + 2 + length + 2),
                    None => self.push(TokenKind::Bad(Fault::UnterminatedComment), self.bytes.len()),
                }
            }
            _ => self.push(TokenKind::Slash, self.at + 1),
        }
    }

    fn line_comment(&mut self) {
        self.comment(skip_while(self.bytes, self.at, |byte| byte != b'\n' && byte != b'\r'));
    }

    fn comment(&mut self, end: usize) {
        if let Some(comments) = &mut self.comments {
            comments.push(Comment { span: Span::new(self.at as u32, end as u32) });
        }
        self.at = end;
    }

    fn punctuation(&mut self, byte: u8) {
        let (kind, length) = match (byte, self.next()) {
            (b'.', b'.') => (TokenKind::Range, 2),
            (b'+', b'=') => (TokenKind::PlusEq, 2),
            (b'<', b'=') => (TokenKind::Le, 2),
            (b'>', b'=') => (TokenKind::Ge, 2),
            (b'!', b'=') => (TokenKind::Ne, 2),
            (b'(', _) => (TokenKind::LeftParen, 1),
            (b')', _) => (TokenKind::RightParen, 1),
            (b'[', _) => (TokenKind::LeftBracket, 1),
            (b']', _) => (TokenKind::RightBracket, 1),
            (b'{', _) => (TokenKind::LeftBrace, 1),
            (b'}', _) => (TokenKind::RightBrace, 1),
            (b',', _) => (TokenKind::Comma, 1),
            (b';', _) => (TokenKind::Semicolon, 1),
            (b':', _) => (TokenKind::Colon, 1),
            (b'.', _) => (TokenKind::Dot, 1),
            (b'?', _) => (TokenKind::Question, 1),
            (b'+', _) => (TokenKind::Plus, 1),
            (b'*', _) => (TokenKind::Star, 1),
            (b'%', _) => (TokenKind::Percent, 1),
            (b'=', _) => (TokenKind::Eq, 1),
            (b'<', _) => (TokenKind::Lt, 1),
            (b'>', _) => (TokenKind::Gt, 1),
            _ => return self.unknown_character(),
        };
        self.push(kind, self.at + length);
    }

    /// One whole character, so that spans never split one.
    fn unknown_character(&mut self) {
        let end = skip_while(self.bytes, self.at + 1, |byte| byte & 0xC0 == 0x80);
        self.push(TokenKind::Bad(Fault::UnknownCharacter), end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens as `Kind:text`, without the final Eof.
    fn shown(text: &str) -> String {
        let tokens = lex(text, None);
        assert_eq!(tokens.last().map(|token| token.kind), Some(TokenKind::Eof));
        let shown: Vec<String> = tokens[..tokens.len() - 1]
            .iter()
            .map(|token| {
                let kind = match token.kind {
                    TokenKind::Keyword(_) => "K".to_string(),
                    other if !other.symbol().is_empty() => return token.span().text(text).to_string(),
                    other => format!("{other:?}"),
                };
                format!("{kind}:{}", token.span().text(text))
            })
            .collect();
        shown.join(" ")
    }

    #[test]
    fn tokens() {
        let cases = [
            ("", ""),
            (" \t\r\n", ""),
            ("SELECT a_1 From \"T\"\"x\"", "K:SELECT Word:a_1 K:From QuotedName:\"T\"\"x\""),
            ("''", "String:''"),
            ("'it''s' 'a\nb'", "String:'it''s' String:'a\nb'"),
            ("'''' ''''''", "String:'''' String:''''''"),
            ("$$ a 'b' $ c $$x", "DollarString:$$ a 'b' $ c $$ Word:x"),
            ("$$$$", "DollarString:$$$$"),
            ("$$a", "Bad(UnterminatedDollarString):$$a"),
            ("'a", "Bad(UnterminatedString):'a"),
            ("'a''", "Bad(UnterminatedString):'a''"),
            ("\"a", "Bad(UnterminatedName):\"a"),
            ("/* a", "Bad(UnterminatedComment):/* a"),
            ("a -- b\nc // d\re /* f\n * / */ g", "Word:a Word:c Word:e Word:g"),
            ("--x", ""),
            ("/**/a/*/*/", "Word:a"),
            ("é#", "Bad(UnknownCharacter):é Bad(UnknownCharacter):#"),
            ("$ ! _a", "Bad(UnknownCharacter):$ Bad(UnknownCharacter):! Bad(UnknownCharacter):_ Word:a"),
            (
                "( ) [ ] { } , ; : . .. ? + += - -= * / % = != < <= > >=",
                "( ) [ ] { } , ; : . .. ? + += - -= * / % = != < <= > >=",
            ),
            ("a<=b>=c!=d", "Word:a <= Word:b >= Word:c != Word:d"),
            (
                "nan Infinity -NaN -infinity -nano - nan",
                "K:nan K:Infinity NegativeNan:-NaN NegativeInfinity:-infinity - Word:nano - K:nan",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers() {
        let cases = [
            ("1 -1 007", "Integer:1 Integer:-1 Integer:007"),
            ("X = X -3", "Word:X = Word:X Integer:-3"),
            ("a-1 a- 1", "Word:a Integer:-1 Word:a - Integer:1"),
            (
                "1.5 1. -1.5e10 1e5 1E+5 1e-5 1.e2",
                "Float:1.5 Float:1. Float:-1.5e10 Float:1e5 Float:1E+5 Float:1e-5 Float:1.e2",
            ),
            ("1e 1e+", "Integer:1 Word:e Integer:1 Word:e +"),
            ("1..5 1...5 1.5..2", "Integer:1 .. Integer:5 Float:1. .. Integer:5 Float:1.5 .. Integer:2"),
            ("m[1..] m[..2]", "Word:m [ Integer:1 .. ] Word:m [ .. Integer:2 ]"),
            (
                "0x 0xAb09 0XfF -0x1 00x1",
                "Blob:0x Blob:0xAb09 Blob:0XfF Integer:-0 Word:x1 Integer:00 Word:x1",
            ),
            ("0xZ", "Blob:0x Word:Z"),
            (
                "1h30m -2d 1Y2MO3w 5us 5µs 5ns 10ms",
                "Duration:1h30m Duration:-2d Duration:1Y2MO3w Duration:5us Duration:5µs Duration:5ns Duration:10ms",
            ),
            ("1hour 1h3", "Integer:1 Word:hour Integer:1 Word:h3"),
            (
                "P1Y2M PT5S P1W -P1D P1Y2M3DT4H5M6S",
                "Duration:P1Y2M Duration:PT5S Duration:P1W Duration:-P1D Duration:P1Y2M3DT4H5M6S",
            ),
            (
                "P0001-02-03T04:05:06 p1d P PT P1 P1X P1YX",
                "Duration:P0001-02-03T04:05:06 Word:p1d Word:P Word:PT Word:P1 Word:P1X Word:P1YX",
            ),
            ("LIMIT 10ALLOW", "K:LIMIT Integer:10 K:ALLOW"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn uuids() {
        let id = "123e4567-e89b-12d3-a456-426614174000";
        assert_eq!(shown(id), format!("Uuid:{id}"));
        let id = "ABCDEF01-e89b-12d3-a456-426614174000";
        assert_eq!(shown(id), format!("Uuid:{id}"));
        assert_eq!(shown("abcdef01-e89b"), "Word:abcdef01 - Word:e89b");
        assert_eq!(shown("2020-01-01"), "Integer:2020 Integer:-01 Integer:-01");
    }

    #[test]
    fn comments_are_kept_on_request() {
        let text = "a -- one \nb /* two */ // three";
        let mut comments = Vec::new();
        lex(text, Some(&mut comments));
        let found: Vec<&str> = comments.iter().map(|comment| comment.content(text)).collect();
        assert_eq!(found, ["one", "two", "three"]);
        assert_eq!(comments[0].span.text(text), "-- one ");
    }
}
