//! INSERT, UPDATE, DELETE and BATCH.

use std::collections::HashMap;

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{
    Assignment, AssignmentOp, Batch, BatchKind, Delete, Expr, ExprKind, Ident, Insert, InsertSource, Literal,
    Modification, Target, Update, Using, UsingItem, UsingKind,
};
use crate::error::SyntaxError;
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn insert(&mut self) -> Parse<Insert> {
        let start = self.start();
        self.expect_word(Keyword::Insert, "to begin an INSERT")?;
        self.expect_word(Keyword::Into, "after INSERT")?;
        let table = self.table_name()?;
        let source = if self.eat_word(Keyword::Json) { self.json_source()? } else { self.values_source()? };
        let condition = self.start();
        let if_not_exists = if self.if_not_exists()? { Some(self.since(condition)) } else { None };
        let using = self.using(&[UsingKind::Timestamp, UsingKind::Ttl, UsingKind::Timeout])?;
        if self.is_word(Keyword::If) {
            return Err(self.mismatched_hint(TokenKind::Eof, "IF NOT EXISTS stands before USING"));
        }
        Ok(Insert { table, source, if_not_exists, using, span: self.since(start) })
    }

    fn values_source(&mut self) -> Parse<InsertSource> {
        if !self.eat(TokenKind::LeftParen) {
            return Err(self.no_viable("expected the columns in parentheses, or JSON, after the table"));
        }
        let columns = self.comma_list(|parser| parser.name("a column"))?;
        self.expect(TokenKind::RightParen, "after the columns")?;
        self.expect_word(Keyword::Values, "after the columns")?;
        self.expect(TokenKind::LeftParen, "before the values")?;
        let values = self.comma_list(Self::term)?;
        self.expect(TokenKind::RightParen, "after the values")?;
        Ok(InsertSource::Values { columns, values })
    }

    fn json_source(&mut self) -> Parse<InsertSource> {
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::String | TokenKind::DollarString => {
                let token = self.bump();
                ExprKind::Literal(Literal::String(self.string_value(token)))
            }
            _ if self.is_marker() => ExprKind::Marker(self.marker()?),
            _ => return Err(self.no_viable("expected a string or a bind marker after JSON")),
        };
        let value = Expr { kind, span: self.since(start) };
        let mut default_unset = false;
        if self.eat_word(Keyword::Default) {
            default_unset = self.eat_word(Keyword::Unset);
            if !default_unset && !self.eat_word(Keyword::Null) {
                return Err(self.no_viable("expected NULL or UNSET after DEFAULT"));
            }
        }
        Ok(InsertSource::Json { value, default_unset })
    }

    /// `[USING item AND ...]`
    fn using(&mut self, allowed: &[UsingKind]) -> Parse<Using> {
        let mut using = Using::default();
        if !self.eat_word(Keyword::Using) {
            return Ok(using);
        }
        loop {
            let start = self.start();
            let kind = match self.kind() {
                TokenKind::Keyword(Keyword::Timestamp) => UsingKind::Timestamp,
                TokenKind::Keyword(Keyword::Ttl) => UsingKind::Ttl,
                TokenKind::Keyword(Keyword::Timeout) => UsingKind::Timeout,
                _ => return Err(self.no_viable("expected TIMESTAMP, TTL or TIMEOUT after USING")),
            };
            if !allowed.contains(&kind) {
                let hint = "a DELETE has no TTL; expected TIMESTAMP or TIMEOUT";
                return Err(self.mismatched_hint(TokenKind::Keyword(Keyword::Timestamp), hint));
            }
            self.bump();
            let value = match kind {
                UsingKind::Timestamp => self.int_value("after TIMESTAMP")?,
                UsingKind::Ttl => self.int_value("after TTL")?,
                UsingKind::Timeout => self.timeout()?,
            };
            using.items.push(UsingItem { kind, value, span: self.since(start) });
            if !self.eat_word(Keyword::And) {
                return Ok(using);
            }
        }
    }

    pub fn update(&mut self) -> Parse<Update> {
        let start = self.start();
        self.expect_word(Keyword::Update, "to begin an UPDATE")?;
        let table = self.table_name()?;
        let using = self.using(&[UsingKind::Timestamp, UsingKind::Ttl, UsingKind::Timeout])?;
        self.expect_word(Keyword::Set, "after the table")?;
        let assignments = self.comma_list(Self::assignment)?;
        self.check_assignments(&assignments)?;
        let relations = self.required_where_clause()?;
        let condition = self.condition()?;
        Ok(Update { table, using, assignments, relations, condition, span: self.since(start) })
    }

    fn assignment(&mut self) -> Parse<Assignment> {
        let start = self.start();
        let target = self.target()?;
        let whole = matches!(target, Target::Column(_));
        let (op, value) = match self.kind() {
            TokenKind::PlusEq if whole => (AssignmentOp::Add, self.assigned_term()?),
            TokenKind::MinusEq if whole => (AssignmentOp::Subtract, self.assigned_term()?),
            TokenKind::Eq if whole => self.column_assignment(target.column())?,
            TokenKind::Eq => (AssignmentOp::Set, self.assigned_term()?),
            _ if whole => return Err(self.no_viable("expected =, += or -= after the column")),
            _ => return Err(self.mismatched(TokenKind::Eq, "after what is set")),
        };
        Ok(Assignment { target, op, value, span: self.since(start) })
    }

    /// Skips the operator, reads the value.
    fn assigned_term(&mut self) -> Parse<Expr> {
        self.bump();
        self.term()
    }

    /// Behind `c`: `= value`, `= value + c`, `= c + value`, `= c - value`, `= c -3`.
    fn column_assignment(&mut self, column: &Ident) -> Parse<(AssignmentOp, Expr)> {
        self.bump();
        let is_reference = self.references.is_some() && self.is_at(1, TokenKind::Dot);
        if self.is_column_at(0) && !is_reference {
            let other = self.name("a column")?;
            let (op, sign) = match self.kind() {
                TokenKind::Plus => (AssignmentOp::Add, "+"),
                TokenKind::Minus => (AssignmentOp::Subtract, "-"),
                TokenKind::Integer | TokenKind::Float | TokenKind::Duration => (AssignmentOp::Add, "- "),
                _ => {
                    self.at -= 1;
                    let hint = "expected a value; a column may stand here only as in c = c + 1 or c = c - 1";
                    return Err(self.no_viable(hint));
                }
            };
            if other != *column {
                let message = format!("Only expressions of the form X = X {sign}<value> are supported.");
                return Err(self.refused(other.span, message));
            }
            // A negative number directly behind the column is what is added.
            if self.is(TokenKind::Plus) || self.is(TokenKind::Minus) {
                self.bump();
            }
            return Ok((op, self.term()?));
        }
        let value = self.term()?;
        if !self.is(TokenKind::Plus) {
            return Ok((AssignmentOp::Set, value));
        }
        self.bump();
        let other = self.name("a column")?;
        if other != *column {
            let message = "Only expressions of the form X = <value> + X are supported.";
            return Err(self.refused(other.span, message));
        }
        Ok((AssignmentOp::Prepend, value))
    }

    /// A column may be set as a whole once, or in parts, not both.
    fn check_assignments(&self, assignments: &[Assignment]) -> Parse<()> {
        if assignments.len() < 2 {
            return Ok(());
        }
        // For each column, whether it has been set as a whole.
        let mut seen: HashMap<&str, bool> = HashMap::with_capacity(assignments.len());
        for assignment in assignments {
            let column = assignment.target.column();
            let whole = matches!(assignment.target, Target::Column(_)) && assignment.op == AssignmentOp::Set;
            let earlier = seen.insert(&column.name, whole);
            if earlier.is_some_and(|earlier| earlier || whole) {
                let message = format!("Multiple incompatible setting of column {}", column.name);
                return Err(self.refused(column.span, message));
            }
        }
        Ok(())
    }

    /// `c`, `c[key]` or `c.field`
    fn target(&mut self) -> Parse<Target> {
        let column = self.name("a column")?;
        if self.eat(TokenKind::LeftBracket) {
            let key = self.term()?;
            self.expect(TokenKind::RightBracket, "after the element")?;
            return Ok(Target::Element { column, key });
        }
        if self.eat(TokenKind::Dot) {
            return Ok(Target::Field { column, field: self.name("the name of a field")? });
        }
        Ok(Target::Column(column))
    }

    pub fn delete(&mut self) -> Parse<Delete> {
        let start = self.start();
        self.expect_word(Keyword::Delete, "to begin a DELETE")?;
        let targets = if is_name(self.kind()) { self.comma_list(Self::target)? } else { Vec::new() };
        self.expect_word(Keyword::From, "in a DELETE")?;
        let table = self.table_name()?;
        let using = self.using(&[UsingKind::Timestamp, UsingKind::Timeout])?;
        let relations = self.required_where_clause()?;
        let condition = self.condition()?;
        Ok(Delete { targets, table, using, relations, condition, span: self.since(start) })
    }

    pub fn batch(&mut self) -> Parse<Batch> {
        let start = self.start();
        self.expect_word(Keyword::Begin, "to begin a BATCH")?;
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Unlogged) => BatchKind::Unlogged,
            TokenKind::Keyword(Keyword::Counter) => BatchKind::Counter,
            _ => BatchKind::Logged,
        };
        if kind != BatchKind::Logged || self.is_word(Keyword::Logged) {
            self.bump();
        }
        self.expect_word(Keyword::Batch, "after BEGIN")?;
        let using = self.using(&[UsingKind::Timestamp, UsingKind::Ttl, UsingKind::Timeout])?;
        let end = if self.collected.is_some() { self.end_of_batch() } else { None };
        let mut statements = Vec::new();
        while !self.is_word(Keyword::Apply) {
            match self.modification() {
                Ok(statement) => statements.push(statement),
                Err(error) => self.recover_in_batch(error, end)?,
            }
            self.eat(TokenKind::Semicolon);
        }
        self.bump();
        self.expect_word(Keyword::Batch, "after APPLY")?;
        Ok(Batch { kind, using, statements, span: self.since(start) })
    }

    fn modification(&mut self) -> Parse<Modification> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Insert) => Ok(Modification::Insert(Box::new(self.insert()?))),
            TokenKind::Keyword(Keyword::Update) => Ok(Modification::Update(Box::new(self.update()?))),
            TokenKind::Keyword(Keyword::Delete) => Ok(Modification::Delete(Box::new(self.delete()?))),
            _ => {
                let hint = "a batch holds INSERT, UPDATE and DELETE statements and ends with APPLY BATCH";
                Err(self.mismatched_hint(TokenKind::Keyword(Keyword::Apply), hint))
            }
        }
    }

    /// In a script, notes the error and goes on at the next semicolon of the batch; else gives the error back.
    fn recover_in_batch(&mut self, error: SyntaxError, end: Option<usize>) -> Parse<()> {
        let (Some(collected), Some(end)) = (&mut self.collected, end) else { return Err(error) };
        if self.at > end {
            return Err(error);
        }
        collected.push(error);
        while self.at < end && !self.is(TokenKind::Semicolon) {
            self.bump();
        }
        Ok(())
    }

    /// Where the APPLY of this batch stands; none if another batch begins before it.
    fn end_of_batch(&self) -> Option<usize> {
        let rest = self.tokens.get(self.at..)?;
        let (apply, begin) = (TokenKind::Keyword(Keyword::Apply), TokenKind::Keyword(Keyword::Begin));
        let end = rest.iter().position(|token| token.kind == apply || token.kind == begin)?;
        rest.get(end).is_some_and(|token| token.kind == apply).then_some(self.at + end)
    }
}
