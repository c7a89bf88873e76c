//! The parser's state: a position among the tokens, the markers seen so far, limits; and how errors are worded.

use crate::ast::{BindMarker, Reference};
use crate::error::SyntaxError;
use crate::lex::{Fault, Keyword, Token, TokenKind};
use crate::span::{LineIndex, Position, Span};

/// Terms and types may nest this deep. Real statements stay below 10. A level costs about 14 KiB of stack in a debug
/// build, so this is less than half of a thread's usual 2 MiB; every later pass over the tree recurses as deep.
pub const DEPTH_MAX: u32 = 64;

/// Operators and accesses (`+`, `.f`, `[k]`) in one expression: they make the tree deep without nesting in the text.
pub const OPERATORS_MAX: u32 = 256;

pub(super) type Parse<T> = Result<T, SyntaxError>;

pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    pub at: usize,
    pub markers: Vec<BindMarker>,
    /// Present inside a transaction: what terms name of its LETs.
    pub references: Option<Vec<Reference>>,
    pub depth: u32,
    pub operators: u32,
    /// Present when parsing a script: errors inside a batch are collected here, and the batch goes on.
    pub collected: Option<Vec<SyntaxError>>,
    /// Present when parsing a script: finding the line of each of many errors must not walk the file each time.
    pub lines: Option<LineIndex>,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        Parser {
            text,
            tokens,
            at: 0,
            markers: Vec::new(),
            references: None,
            depth: 0,
            operators: 0,
            collected: None,
            lines: None,
        }
    }

    /// The token `ahead` places on; Eof behind the last.
    pub fn token_at(&self, ahead: usize) -> Token {
        let end = self.text.len() as u32;
        let eof = Token { kind: TokenKind::Eof, start: end, end };
        self.tokens.get(self.at + ahead).copied().unwrap_or(eof)
    }

    pub fn token(&self) -> Token {
        self.token_at(0)
    }

    pub fn kind(&self) -> TokenKind {
        self.token().kind
    }

    pub fn kind_at(&self, ahead: usize) -> TokenKind {
        self.token_at(ahead).kind
    }

    pub fn is(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    pub fn is_at(&self, ahead: usize, kind: TokenKind) -> bool {
        self.kind_at(ahead) == kind
    }

    pub fn is_word(&self, keyword: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    pub fn is_word_at(&self, ahead: usize, keyword: Keyword) -> bool {
        self.kind_at(ahead) == TokenKind::Keyword(keyword)
    }

    /// Whether the next tokens are these keywords.
    pub fn are_words(&self, keywords: &[Keyword]) -> bool {
        keywords.iter().enumerate().all(|(ahead, keyword)| self.is_word_at(ahead, *keyword))
    }

    pub fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::Eof {
            self.at += 1;
        }
        token
    }

    pub fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.is(kind);
        if found {
            self.at += 1;
        }
        found
    }

    pub fn eat_word(&mut self, keyword: Keyword) -> bool {
        self.eat(TokenKind::Keyword(keyword))
    }

    /// Eats all of the keywords or none.
    pub fn eat_words(&mut self, keywords: &[Keyword]) -> bool {
        let found = self.are_words(keywords);
        if found {
            self.at += keywords.len();
        }
        found
    }

    pub fn expect(&mut self, kind: TokenKind, place: &str) -> Parse<Token> {
        if self.is(kind) { Ok(self.bump()) } else { Err(self.mismatched(kind, place)) }
    }

    pub fn expect_word(&mut self, keyword: Keyword, place: &str) -> Parse<Token> {
        self.expect(TokenKind::Keyword(keyword), place)
    }

    /// Offset of the next token, to be given to [`Parser::since`].
    pub fn start(&self) -> u32 {
        self.token().start
    }

    /// The span from `start` to the end of the token before this one.
    pub fn since(&self, start: u32) -> Span {
        let end = self
            .at
            .checked_sub(1)
            .and_then(|before| self.tokens.get(before))
            .map_or(start, |token| token.end);
        Span::new(start, end.max(start))
    }

    pub fn text_of(&self, token: Token) -> &'a str {
        token.span().text(self.text)
    }

    /// Runs `inner` one level deeper.
    pub fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEPTH_MAX {
            let message = format!("the statement nests deeper than {DEPTH_MAX} levels here");
            return Err(self.no_viable(&message));
        }
        if self.depth == 0 {
            self.operators = 0;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts one operator of the current expression.
    pub fn count_operator(&mut self) -> Parse<()> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            let message = format!("one expression may have at most {OPERATORS_MAX} operators");
            return Err(self.no_viable(&message));
        }
        Ok(())
    }

    /// `item (',' item)*`
    pub fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        // Not vec![...]: pushing makes room for several at once.
        let mut items = Vec::new();
        items.push(item(self)?);
        while self.eat(TokenKind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// "no viable alternative": several tokens would have been right. `hint` says which, in plain words.
    pub fn no_viable(&self, hint: &str) -> SyntaxError {
        let token = self.token();
        self.located(token, &format!("no viable alternative at input '{}'", self.shown(token)), hint)
    }

    /// "mismatched input": exactly one token would have been right. `place` says where in the statement this is.
    pub fn mismatched(&self, expected: TokenKind, place: &str) -> SyntaxError {
        let wanted = match expected {
            TokenKind::Keyword(keyword) => keyword.text().to_uppercase(),
            TokenKind::String => "a string in single quotes".into(),
            TokenKind::Integer => "a whole number".into(),
            other => other.expecting(),
        };
        self.mismatched_hint(expected, &format!("expected {wanted} {place}"))
    }

    /// "mismatched input" with a hint of its own.
    pub fn mismatched_hint(&self, expected: TokenKind, hint: &str) -> SyntaxError {
        let token = self.token();
        let sentence = format!("mismatched input '{}' expecting {}", self.shown(token), expected.expecting());
        self.located(token, &sentence, hint)
    }

    /// An error whose sentence in Cassandra has no line: the text is well-formed but says something impossible.
    pub fn refused(&self, span: Span, message: impl Into<String>) -> SyntaxError {
        let Position { line, column } = self.position(span);
        SyntaxError { span, line, column, message: message.into() }
    }

    pub fn position(&self, span: Span) -> Position {
        match &self.lines {
            Some(lines) => lines.position(self.text, span.start),
            None => span.position(self.text),
        }
    }

    fn located(&self, token: Token, sentence: &str, hint: &str) -> SyntaxError {
        let span = token.span();
        let Position { line, column } = self.position(span);
        let (sentence, hint) = match token.kind {
            TokenKind::Bad(fault) => fault_sentence(fault, self.text_of(token)),
            _ => (sentence.to_string(), hint.to_string()),
        };
        let message = format!("line {line}:{} {sentence}: {hint}", column - 1);
        SyntaxError { span, line, column, message }
    }

    /// The token as it appears in a message: Cassandra's word at the end, and never a whole large literal.
    fn shown(&self, token: Token) -> String {
        const SHOWN_MAX: usize = 64;
        if token.kind == TokenKind::Eof {
            return "<EOF>".to_string();
        }
        let text = self.text_of(token);
        let inner = match token.kind {
            TokenKind::String | TokenKind::QuotedName if text.len() > 2 => {
                text.get(1..text.len() - 1).unwrap_or(text)
            }
            _ => text,
        };
        match inner.char_indices().nth(SHOWN_MAX) {
            Some((end, _)) => format!("{}...", &inner[..end]),
            None => inner.to_string(),
        }
    }
}

fn fault_sentence(fault: Fault, text: &str) -> (String, String) {
    let unterminated = |quote: &str, what: &str| {
        let sentence = format!("mismatched character '<EOF>' expecting '{quote}'");
        (sentence, format!("{what} begins here and never ends"))
    };
    match fault {
        Fault::UnknownCharacter => {
            let sentence = format!("no viable alternative at character '{text}'");
            (sentence, "this character has no meaning in CQL outside quotes".to_string())
        }
        Fault::UnterminatedString => unterminated("'", "a string"),
        Fault::UnterminatedName => unterminated("\"", "a quoted name"),
        Fault::EmptyName => {
            let sentence = format!("no viable alternative at input '{text}'");
            (sentence, "a name has at least one character".to_string())
        }
        Fault::UnterminatedDollarString => unterminated("$", "a $$ string"),
        Fault::UnterminatedComment => unterminated("*", "a comment"),
    }
}
