//! `BEGIN TRANSACTION … COMMIT TRANSACTION`.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{
    BindMarker, ExprKind, Ident, Let, Modification, Place, REFERENCE_BASE, Reference, RelationOp, Returning,
    Transaction, TransactionCondition,
};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    /// The words BEGIN TRANSACTION are next.
    pub fn transaction(&mut self) -> Parse<Transaction> {
        let start = self.start();
        self.bump();
        self.bump();
        self.references = Some(Vec::new());
        let outcome = self.transaction_body();
        let references = self.references.take().unwrap_or_default();
        Ok(Transaction { references, span: self.since(start), ..outcome? })
    }

    fn transaction_body(&mut self) -> Parse<Transaction> {
        let mut lets = Vec::new();
        while self.eat_word(Keyword::Let) {
            let name = self.name("the name of what LET finds")?;
            self.expect(TokenKind::Eq, "after the name")?;
            self.expect(TokenKind::LeftParen, "before the SELECT of LET")?;
            let at = self.place();
            let select = Box::new(self.select()?);
            self.expect(TokenKind::RightParen, "after the SELECT of LET")?;
            self.expect(TokenKind::Semicolon, "after LET")?;
            lets.push(Let { name, select, at });
        }
        let returning_at = self.place();
        let returning = match self.is_word(Keyword::Select) {
            true => {
                let returning = self.returning()?;
                self.expect(TokenKind::Semicolon, "after SELECT")?;
                Some(returning)
            }
            false => None,
        };
        let mut conditions = Vec::new();
        let has_condition = self.eat_word(Keyword::If);
        if has_condition {
            conditions.push(self.transaction_condition()?);
            while self.eat_word(Keyword::And) {
                conditions.push(self.transaction_condition()?);
            }
            self.expect_word(Keyword::Then, "after the conditions")?;
        }
        let (mut writes, mut write_places) = (Vec::new(), Vec::new());
        let last = if has_condition { Keyword::End } else { Keyword::Commit };
        while !self.is_word(last) {
            write_places.push(self.place());
            let write = match self.kind() {
                TokenKind::Keyword(Keyword::Insert) => Modification::Insert(Box::new(self.insert()?)),
                TokenKind::Keyword(Keyword::Update) => Modification::Update(Box::new(self.update()?)),
                TokenKind::Keyword(Keyword::Delete) => Modification::Delete(Box::new(self.delete()?)),
                _ => {
                    return Err(self.no_viable(
                        "a transaction is LET statements, at most one SELECT, and INSERT, UPDATE and DELETE, which may stand \
                         between IF … THEN and END IF",
                    ));
                }
            };
            writes.push(write);
            self.expect(TokenKind::Semicolon, "after a statement of the transaction")?;
        }
        if has_condition {
            self.bump();
            self.expect_word(Keyword::If, "after END")?;
        }
        self.expect_word(Keyword::Commit, "to end the transaction")?;
        self.expect_word(Keyword::Transaction, "after COMMIT")?;
        Ok(Transaction {
            lets,
            returning,
            returning_at,
            conditions,
            writes,
            write_places,
            references: Vec::new(),
            span: crate::Span::default(),
        })
    }

    fn place(&self) -> Place {
        let position = self.position(self.token().span());
        Place { line: position.line, column: position.column }
    }

    /// `SELECT a.v, b.w` is of references when no FROM follows.
    fn returning(&mut self) -> Parse<Returning> {
        let mut ahead = 1;
        while !matches!(self.kind_at(ahead), TokenKind::Semicolon | TokenKind::Eof) {
            if self.is_word_at(ahead, Keyword::From) {
                return Ok(Returning::Select(Box::new(self.select()?)));
            }
            ahead += 1;
        }
        self.bump();
        Ok(Returning::References(self.comma_list(Self::reference)?))
    }

    fn reference(&mut self) -> Parse<Reference> {
        let start = self.start();
        let name = self.name("the name of what LET has found")?;
        let field = match self.eat(TokenKind::Dot) {
            true => Some(self.name("a column")?),
            false => None,
        };
        Ok(Reference { name, field, span: self.since(start) })
    }

    fn transaction_condition(&mut self) -> Parse<TransactionCondition> {
        if !is_name(self.kind()) || self.is_at(1, TokenKind::LeftParen) {
            let value = self.term()?;
            let Some(op) = self.comparison() else {
                return Err(self.no_viable("expected a comparison: =, !=, <, <=, > or >="));
            };
            let reference = self.reference()?;
            return Ok(TransactionCondition::Compare { reference, op: turned(op), value });
        }
        let reference = self.reference()?;
        if self.eat_word(Keyword::Is) {
            let is_null = !self.eat_word(Keyword::Not);
            self.expect_word(Keyword::Null, "after IS or IS NOT")?;
            return Ok(TransactionCondition::Null { reference, is_null });
        }
        let Some(op) = self.comparison() else {
            return Err(self.no_viable("expected a comparison (=, !=, <, <=, >, >=) or IS [NOT] NULL"));
        };
        Ok(TransactionCondition::Compare { reference, op, value: self.term()? })
    }

    /// A term that names what LET has found; only inside a transaction.
    pub fn reference_term(&mut self) -> Option<Parse<ExprKind>> {
        let is_reference = self.references.is_some()
            && is_name(self.kind())
            && self.is_at(1, TokenKind::Dot)
            && is_name(self.kind_at(2));
        is_reference.then(|| {
            let reference = self.reference()?;
            let text = match &reference.field {
                Some(field) => format!("{}.{}", reference.name.name, field.name),
                None => reference.name.name.clone(),
            };
            let span = reference.span;
            let references = self.references.get_or_insert_default();
            let index = REFERENCE_BASE + references.len() as u32;
            references.push(reference);
            Ok(ExprKind::Marker(BindMarker { index, name: Some(Ident { name: text, span }), span }))
        })
    }
}

/// The operator with its sides exchanged.
fn turned(op: RelationOp) -> RelationOp {
    match op {
        RelationOp::Lt => RelationOp::Gt,
        RelationOp::Le => RelationOp::Ge,
        RelationOp::Gt => RelationOp::Lt,
        RelationOp::Ge => RelationOp::Le,
        other => other,
    }
}
