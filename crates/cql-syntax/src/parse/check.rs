//! Constraints of columns.

use super::expr::Names;
use super::{Parse, Parser};
use crate::ast::{CheckKind, ColumnCheck, RelationOp};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    /// `[NOT NULL] [CHECK constraint AND ...]` of a new column. NOT NULL counts as the last constraint.
    pub fn new_column_checks(&mut self) -> Parse<Vec<ColumnCheck>> {
        let start = self.start();
        let not_null = self.eat_words(&[Keyword::Not, Keyword::Null]);
        let not_null = not_null.then(|| ColumnCheck { kind: CheckKind::NotNull, span: self.since(start) });
        let mut checks = self.column_checks()?;
        checks.extend(not_null);
        Ok(checks)
    }

    /// `[CHECK constraint AND ...]`
    pub fn column_checks(&mut self) -> Parse<Vec<ColumnCheck>> {
        if !self.eat_word(Keyword::Check) {
            return Ok(Vec::new());
        }
        let mut checks = vec![self.column_check()?];
        while self.eat_word(Keyword::And) {
            checks.push(self.column_check()?);
        }
        Ok(checks)
    }

    fn column_check(&mut self) -> Parse<ColumnCheck> {
        let start = self.start();
        let kind = if self.eat_words(&[Keyword::Not, Keyword::Null]) {
            CheckKind::NotNull
        } else if self.is_at(1, TokenKind::LeftParen) {
            let name = self.name("the name of a constraint")?;
            let args = self.arguments(Names::Columns)?;
            let compared = match self.comparison() {
                Some(op) => Some((op, self.term()?)),
                None => None,
            };
            CheckKind::Function { name, args, compared }
        } else {
            let column = self.name("a column or the name of a constraint")?;
            let Some(op) = self.comparison() else {
                return Err(self.no_viable("expected a comparison: =, !=, <, <=, > or >="));
            };
            CheckKind::Column { column, op, term: self.term()? }
        };
        Ok(ColumnCheck { kind, span: self.since(start) })
    }

    pub fn comparison(&mut self) -> Option<RelationOp> {
        let op = match self.kind() {
            TokenKind::Eq => RelationOp::Eq,
            TokenKind::Ne => RelationOp::Ne,
            TokenKind::Lt => RelationOp::Lt,
            TokenKind::Le => RelationOp::Le,
            TokenKind::Gt => RelationOp::Gt,
            TokenKind::Ge => RelationOp::Ge,
            _ => return None,
        };
        self.bump();
        Some(op)
    }
}
