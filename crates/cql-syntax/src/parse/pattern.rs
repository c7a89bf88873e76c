//! Our own statements: access patterns and EXPLAIN. The leading words have been read by the caller.

use super::property::Words;
use super::{Parse, Parser};
use crate::ast::{AlterPattern, CreatePattern, Explain, Statement};
use crate::lex::{Keyword, TokenKind};
use crate::span::Span;

impl Parser<'_> {
    pub fn explain(&mut self) -> Parse<Explain> {
        let analyze = self.eat_word(Keyword::Analyze);
        if self.is_word(Keyword::Explain) {
            return Err(self.no_viable("EXPLAIN explains a statement, not another EXPLAIN"));
        }
        let start = self.start();
        let statement = Box::new(self.statement()?);
        Ok(Explain { analyze, statement, span: self.since(start) })
    }

    pub fn create_pattern(&mut self) -> Parse<CreatePattern> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.qualified_name("the name of an access pattern")?;
        self.expect_word(Keyword::As, "after the name of the access pattern")?;
        let (statement, statement_span) = self.pattern_statement()?;
        let properties =
            if self.eat_word(Keyword::With) { self.properties(Words::Names)? } else { Vec::new() };
        Ok(CreatePattern { if_not_exists, name, statement, statement_span, properties })
    }

    pub fn alter_pattern(&mut self) -> Parse<AlterPattern> {
        let if_exists = self.if_exists()?;
        let name = self.qualified_name("the name of an access pattern")?;
        let statement = if self.eat_word(Keyword::As) { Some(self.pattern_statement()?) } else { None };
        let properties =
            if self.eat_word(Keyword::With) { self.properties(Words::Names)? } else { Vec::new() };
        if statement.is_none() && properties.is_empty() {
            return Err(self.no_viable("say what changes: AS statement, WITH key = value, or both"));
        }
        Ok(AlterPattern { if_exists, name, statement, properties })
    }

    fn pattern_statement(&mut self) -> Parse<(Statement, Span)> {
        let start = self.start();
        let statement = match self.kind() {
            TokenKind::Keyword(Keyword::Select) => Statement::Select(Box::new(self.select()?)),
            TokenKind::Keyword(Keyword::Insert) => Statement::Insert(Box::new(self.insert()?)),
            TokenKind::Keyword(Keyword::Update) => Statement::Update(Box::new(self.update()?)),
            TokenKind::Keyword(Keyword::Delete) => Statement::Delete(Box::new(self.delete()?)),
            _ => return Err(self.no_viable("an access pattern is a SELECT, INSERT, UPDATE or DELETE")),
        };
        Ok((statement, self.since(start)))
    }
}
