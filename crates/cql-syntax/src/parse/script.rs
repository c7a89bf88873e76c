//! Files of many statements: all errors, not only the first, and the comments.

use super::Parser;
use super::statement::check_length;
use crate::ast::ParsedStatement;
use crate::error::SyntaxError;
use crate::lex::{Keyword, TokenKind, lex};
use crate::script::Script;
use crate::span::LineIndex;

/// Every statement of the text. Behind an error it goes on at the next statement.
pub(crate) fn parse_all(text: &str) -> Script {
    if let Err(error) = check_length(text) {
        return Script { statements: Vec::new(), errors: vec![error], comments: Vec::new() };
    }
    let mut comments = Vec::new();
    let tokens = lex(text, Some(&mut comments));
    let mut parser = Parser::new(text, tokens);
    parser.collected = Some(Vec::new());
    parser.lines = Some(LineIndex::new(text));
    let mut statements = Vec::new();
    loop {
        while parser.eat(TokenKind::Semicolon) {}
        if parser.is(TokenKind::Eof) {
            break;
        }
        if let Some(statement) = parser.next_statement() {
            statements.push(statement);
        }
    }
    Script { statements, errors: parser.collected.unwrap_or_default(), comments }
}

impl Parser<'_> {
    /// One statement and its separator, or its errors noted and the position behind it. Always moves on.
    fn next_statement(&mut self) -> Option<ParsedStatement> {
        let begin = self.at;
        let start = self.start();
        let earlier = self.error_count();
        let result = self.statement();
        let markers = std::mem::take(&mut self.markers);
        self.depth = 0;
        match result {
            Ok(statement) => {
                let span = self.since(start);
                self.expect_separator();
                // A batch with errors inside is not what was written: better none than a wrong one.
                (self.error_count() == earlier || self.only_separator_missing(earlier, span.end))
                    .then_some(ParsedStatement { statement, markers, span })
            }
            Err(error) => {
                self.note(error);
                self.skip_statement(begin);
                None
            }
        }
    }

    fn error_count(&self) -> usize {
        self.collected.as_ref().map_or(0, Vec::len)
    }

    fn note(&mut self, error: SyntaxError) {
        if let Some(collected) = &mut self.collected {
            collected.push(error);
        }
    }

    /// Whether all errors since `earlier` lie behind the statement that ends at `end`.
    fn only_separator_missing(&self, earlier: usize, end: u32) -> bool {
        let noted = self.collected.as_deref().unwrap_or(&[]);
        noted.iter().skip(earlier).all(|error| error.span.start >= end)
    }

    /// A semicolon or the end. If it is missing but another statement begins, that one is not lost.
    fn expect_separator(&mut self) {
        if self.is(TokenKind::Semicolon) || self.is(TokenKind::Eof) {
            return;
        }
        let error = self.mismatched(TokenKind::Semicolon, "between two statements");
        self.note(error);
        if !self.begins_statement() {
            self.skip_to_semicolon();
        }
    }

    fn begins_statement(&self) -> bool {
        use Keyword::*;
        let TokenKind::Keyword(keyword) = self.kind() else { return false };
        matches!(
            keyword,
            Select
                | Insert
                | Update
                | Delete
                | Begin
                | Use
                | Truncate
                | Create
                | Alter
                | Drop
                | Grant
                | Revoke
                | Describe
        )
    }

    fn skip_to_semicolon(&mut self) {
        while !self.is(TokenKind::Semicolon) && !self.is(TokenKind::Eof) {
            self.bump();
        }
    }

    /// Goes behind the statement that began at token `begin` and failed at the current one. The semicolons of a batch
    /// do not end it.
    fn skip_statement(&mut self, begin: usize) {
        let is = |at: usize, keyword: Keyword| {
            self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Keyword(keyword))
        };
        if is(begin, Keyword::Begin) {
            let end = (begin + 1..self.tokens.len())
                .take_while(|at| !is(*at, Keyword::Begin))
                .find(|at| is(*at, Keyword::Apply) && is(*at + 1, Keyword::Batch));
            if let Some(apply) = end {
                self.at = self.at.max(apply + 2);
            }
        }
        self.skip_to_semicolon();
    }
}
