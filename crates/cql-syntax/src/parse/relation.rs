//! Relations of WHERE and conditions of IF.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{Condition, Expr, ExprKind, Ident, Operand, Relation, RelationOp, Subject};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    /// `[WHERE relation AND ...]`
    pub fn where_clause(&mut self) -> Parse<Vec<Relation>> {
        if self.eat_word(Keyword::Where) { self.relations() } else { Ok(Vec::new()) }
    }

    /// `WHERE relation AND ...`, as UPDATE and DELETE must have it.
    pub fn required_where_clause(&mut self) -> Parse<Vec<Relation>> {
        self.expect_word(Keyword::Where, "to say which rows")?;
        self.relations()
    }

    fn relations(&mut self) -> Parse<Vec<Relation>> {
        let mut relations = Vec::new();
        relations.push(self.relation()?);
        while self.eat_word(Keyword::And) {
            relations.push(self.relation()?);
        }
        if self.is_word(Keyword::Or) {
            return Err(self.no_viable("relations are joined by AND only; CQL has no OR"));
        }
        Ok(relations)
    }

    fn relation(&mut self) -> Parse<Relation> {
        let start = self.start();
        let subject = match self.kind() {
            TokenKind::LeftParen if !self.is_tuple_of_names() => {
                self.bump();
                let relation = self.nested(Self::relation)?;
                self.expect(TokenKind::RightParen, "after the relation")?;
                return Ok(relation);
            }
            TokenKind::LeftParen => Subject::Columns(self.names_in_parens()?),
            TokenKind::Keyword(Keyword::Token) => {
                self.bump();
                Subject::Token(self.names_in_parens()?)
            }
            TokenKind::Keyword(Keyword::Expr) if self.is_at(1, TokenKind::LeftParen) => {
                return self.index_expression(start);
            }
            _ => self.column_subject()?,
        };
        let op = self.operator(&subject)?;
        let operand = self.operand(&subject, op)?;
        Ok(Relation { subject, op, operand, span: self.since(start) })
    }

    /// `[IF EXISTS | IF condition AND ...]`
    pub fn condition(&mut self) -> Parse<Option<Condition>> {
        let start = self.start();
        if !self.eat_word(Keyword::If) {
            return Ok(None);
        }
        // A column may be called `exists`; then an operator follows it.
        if self.is_word(Keyword::Exists) && !self.is_operator_at(1) {
            self.bump();
            return Ok(Some(Condition::Exists(self.since(start))));
        }
        let mut conditions = vec![self.column_condition()?];
        while self.eat_word(Keyword::And) {
            conditions.push(self.column_condition()?);
        }
        Ok(Some(Condition::Relations(conditions)))
    }

    fn column_condition(&mut self) -> Parse<Relation> {
        let start = self.start();
        let subject = self.column_subject()?;
        if self.is_word(Keyword::Like) || self.is_word(Keyword::Is) {
            return Err(self.no_viable("a condition compares with =, !=, <, <=, >, >=, IN or CONTAINS"));
        }
        let op = self.operator(&subject)?;
        let operand = self.operand(&subject, op)?;
        Ok(Relation { subject, op, operand, span: self.since(start) })
    }

    /// `c`, `c[key]` or `c.field`
    fn column_subject(&mut self) -> Parse<Subject> {
        let column = self.name("a column")?;
        if self.eat(TokenKind::LeftBracket) {
            let key = Box::new(self.term()?);
            self.expect(TokenKind::RightBracket, "after the element")?;
            return Ok(Subject::Element { column, key });
        }
        if self.eat(TokenKind::Dot) {
            return Ok(Subject::Field { column, field: self.name("the name of a field")? });
        }
        Ok(Subject::Column(column))
    }

    fn is_tuple_of_names(&self) -> bool {
        let mut ahead = 1;
        while is_name(self.kind_at(ahead)) {
            match self.kind_at(ahead + 1) {
                TokenKind::Comma => ahead += 2,
                TokenKind::RightParen => return true,
                _ => return false,
            }
        }
        false
    }

    fn names_in_parens(&mut self) -> Parse<Vec<Ident>> {
        self.expect(TokenKind::LeftParen, "before the columns")?;
        let names = self.comma_list(|parser| parser.name("a column"))?;
        self.expect(TokenKind::RightParen, "after the columns")?;
        Ok(names)
    }

    /// `expr(index, value)`
    fn index_expression(&mut self, start: u32) -> Parse<Relation> {
        self.at += 2;
        let subject = Subject::Index(self.name("the name of an index")?);
        self.expect(TokenKind::Comma, "after the name of the index")?;
        let operand = Operand::One(self.term()?);
        self.expect(TokenKind::RightParen, "after the index expression")?;
        Ok(Relation { subject, op: RelationOp::Matches, operand, span: self.since(start) })
    }

    fn is_operator_at(&self, ahead: usize) -> bool {
        use TokenKind::*;
        matches!(self.kind_at(ahead), Eq | Ne | Lt | Le | Gt | Ge | LeftBracket | Dot)
            || matches!(
                self.kind_at(ahead),
                Keyword(
                    self::Keyword::In | self::Keyword::Contains | self::Keyword::Between | self::Keyword::Not
                )
            )
    }

    fn operator(&mut self, subject: &Subject) -> Parse<RelationOp> {
        let simple = match self.kind() {
            TokenKind::Eq => Some(RelationOp::Eq),
            TokenKind::Ne => Some(RelationOp::Ne),
            TokenKind::Lt => Some(RelationOp::Lt),
            TokenKind::Le => Some(RelationOp::Le),
            TokenKind::Gt => Some(RelationOp::Gt),
            TokenKind::Ge => Some(RelationOp::Ge),
            TokenKind::Keyword(Keyword::Between) => Some(RelationOp::Between),
            TokenKind::Keyword(Keyword::In) => Some(RelationOp::In),
            TokenKind::Keyword(Keyword::Like) => Some(RelationOp::Like),
            _ => None,
        };
        let op = match simple {
            Some(op) if op_fits(op, subject) => {
                self.bump();
                return Ok(op);
            }
            Some(_) => None,
            None if matches!(
                subject,
                Subject::Column(_) | Subject::Columns(_) | Subject::Element { .. } | Subject::Field { .. }
            ) =>
            {
                self.worded_operator(subject)?
            }
            None => None,
        };
        op.ok_or_else(|| self.no_viable(operator_hint(subject)))
    }

    /// `NOT IN`, `[NOT] CONTAINS [KEY]`, `IS NOT NULL`
    fn worded_operator(&mut self, subject: &Subject) -> Parse<Option<RelationOp>> {
        let single = matches!(subject, Subject::Column(_));
        if self.eat_words(&[Keyword::Not, Keyword::In]) {
            return Ok(Some(RelationOp::NotIn));
        }
        if single && self.eat_words(&[Keyword::Not, Keyword::Contains]) {
            let key = self.eat_contains_key();
            return Ok(Some(if key { RelationOp::NotContainsKey } else { RelationOp::NotContains }));
        }
        if single && self.eat_word(Keyword::Contains) {
            let key = self.eat_contains_key();
            return Ok(Some(if key { RelationOp::ContainsKey } else { RelationOp::Contains }));
        }
        if single && self.eat_word(Keyword::Is) {
            self.expect_word(Keyword::Not, "after IS")?;
            self.expect_word(Keyword::Null, "after IS NOT")?;
            return Ok(Some(RelationOp::IsNotNull));
        }
        Ok(None)
    }

    fn eat_contains_key(&mut self) -> bool {
        self.eat_word(Keyword::Key)
    }

    fn operand(&mut self, subject: &Subject, op: RelationOp) -> Parse<Operand> {
        let tuples = matches!(subject, Subject::Columns(_));
        Ok(match op {
            RelationOp::IsNotNull => Operand::None,
            RelationOp::In | RelationOp::NotIn => self.in_values(tuples)?,
            RelationOp::Between => {
                let low = Box::new(self.compared(tuples)?);
                self.expect_word(Keyword::And, "between the bounds of BETWEEN")?;
                Operand::Range(low, Box::new(self.compared(tuples)?))
            }
            _ => Operand::One(self.compared(tuples)?),
        })
    }

    fn in_values(&mut self, tuples: bool) -> Parse<Operand> {
        if self.is_marker() {
            let start = self.start();
            let marker = self.marker()?;
            return Ok(Operand::One(Expr { kind: ExprKind::Marker(marker), span: self.since(start) }));
        }
        if !self.eat(TokenKind::LeftParen) {
            return Err(self.no_viable("expected a list in parentheses or a bind marker after IN"));
        }
        if self.eat(TokenKind::RightParen) {
            return Ok(Operand::List(Vec::new()));
        }
        let values = self.comma_list(|parser| parser.compared(tuples))?;
        self.expect(TokenKind::RightParen, "after the list of IN")?;
        Ok(Operand::List(values))
    }

    /// A value to compare with: any, or with several columns a tuple or a marker.
    fn compared(&mut self, tuple: bool) -> Parse<Expr> {
        if !tuple {
            return self.term();
        }
        let start = self.start();
        if self.is_marker() {
            let marker = self.marker()?;
            return Ok(Expr { kind: ExprKind::Marker(marker), span: self.since(start) });
        }
        if !self.eat(TokenKind::LeftParen) {
            return Err(
                self.no_viable("several columns are compared with a tuple, such as (1, 2), or a bind marker")
            );
        }
        let items = self.comma_list(Self::term)?;
        self.expect(TokenKind::RightParen, "after the tuple")?;
        Ok(Expr { kind: ExprKind::Tuple(items), span: self.since(start) })
    }
}

fn op_fits(op: RelationOp, subject: &Subject) -> bool {
    match op {
        RelationOp::Like => matches!(subject, Subject::Column(_)),
        RelationOp::In => !matches!(subject, Subject::Token(_)),
        _ => true,
    }
}

fn operator_hint(subject: &Subject) -> &'static str {
    match subject {
        Subject::Token(_) => "expected =, !=, <, <=, >, >= or BETWEEN after token(...)",
        Subject::Columns(_) => "expected =, !=, <, <=, >, >=, IN or BETWEEN after the columns",
        _ => "expected an operator: =, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, LIKE or IS NOT NULL",
    }
}
