//! Indexes. The leading words have been read by the caller.

use super::property::Words;
use super::{Parse, Parser};
use crate::ast::{CreateIndex, IndexTarget, IndexTargetKind};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn create_index(&mut self, custom: bool) -> Parse<CreateIndex> {
        let if_not_exists = self.if_not_exists()?;
        let name = if self.is_word(Keyword::On) {
            None
        } else {
            Some(self.new_name("the name of an index, or ON")?)
        };
        self.expect_word(Keyword::On, "before the table")?;
        let table = self.table_name()?;
        self.expect(TokenKind::LeftParen, "before the indexed columns")?;
        let targets =
            if self.is(TokenKind::RightParen) { Vec::new() } else { self.comma_list(Self::index_target)? };
        self.expect(TokenKind::RightParen, "after the indexed columns")?;
        let using = if self.eat_word(Keyword::Using) {
            Some(self.string("with the index class after USING")?)
        } else {
            None
        };
        let properties =
            if self.eat_word(Keyword::With) { self.properties(Words::Keywords)? } else { Vec::new() };
        Ok(CreateIndex { custom, if_not_exists, name, table, targets, using, properties })
    }

    fn index_target(&mut self) -> Parse<IndexTarget> {
        let start = self.start();
        let kind = match self.kind() {
            _ if !self.is_at(1, TokenKind::LeftParen) => IndexTargetKind::Simple,
            TokenKind::Keyword(Keyword::Values) => IndexTargetKind::Values,
            TokenKind::Keyword(Keyword::Keys) => IndexTargetKind::Keys,
            TokenKind::Keyword(Keyword::Entries) => IndexTargetKind::Entries,
            TokenKind::Keyword(Keyword::Full) => IndexTargetKind::Full,
            _ => IndexTargetKind::Simple,
        };
        if kind == IndexTargetKind::Simple {
            let column = self.name("a column, or values(), keys(), entries() or full() of one")?;
            return Ok(IndexTarget { kind, column, span: self.since(start) });
        }
        self.at += 2;
        let column = self.name("a column")?;
        self.expect(TokenKind::RightParen, "after the column")?;
        Ok(IndexTarget { kind, column, span: self.since(start) })
    }
}
