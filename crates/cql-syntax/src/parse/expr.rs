//! Expressions: operators and accesses. What they are made of is in `primary.rs`.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Literal};
use crate::lex::{Keyword, TokenKind};

/// Whether names in an expression may be columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// In a SELECT or GROUP BY clause.
    Columns,
    /// In a value that is compared or written.
    None,
}

impl Parser<'_> {
    /// A value that is compared or written.
    pub fn term(&mut self) -> Parse<Expr> {
        self.expr(Names::None)
    }

    pub fn expr(&mut self, names: Names) -> Parse<Expr> {
        self.nested(|parser| parser.sum(names))
    }

    /// An integer literal or a marker.
    pub fn int_value(&mut self, place: &str) -> Parse<Expr> {
        let start = self.start();
        if self.is_marker() {
            let marker = self.marker()?;
            return Ok(Expr { kind: ExprKind::Marker(marker), span: self.since(start) });
        }
        let token = self.token();
        if token.kind != TokenKind::Integer {
            return Err(self.no_viable(&format!("expected a whole number or a bind marker {place}")));
        }
        self.bump();
        let literal = Literal::Integer(self.text_of(token).to_string());
        Ok(Expr { kind: ExprKind::Literal(literal), span: token.span() })
    }

    fn sum(&mut self, names: Names) -> Parse<Expr> {
        let start = self.start();
        let mut left = self.product(names)?;
        loop {
            let op = match self.kind() {
                // `x + c` in a SET clause: the column is not part of the value, the caller takes it.
                TokenKind::Plus if names == Names::None && self.is_column_at(1) => return Ok(left),
                TokenKind::Plus => BinaryOp::Add,
                TokenKind::Minus => BinaryOp::Subtract,
                _ if self.split_minus() => BinaryOp::Subtract,
                _ => return Ok(left),
            };
            self.count_operator()?;
            if self.is(TokenKind::Plus) || self.is(TokenKind::Minus) {
                self.bump();
            }
            let right = self.product(names)?;
            left = Expr {
                kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) },
                span: self.since(start),
            };
        }
    }

    /// Between two operands the minus of a number is an operator: `a -3` and `2-1`. Cassandra refuses these; we read
    /// them as everyone means them. The token loses its minus.
    fn split_minus(&mut self) -> bool {
        let token = self.token();
        let rest = match token.kind {
            TokenKind::Integer | TokenKind::Float | TokenKind::Duration
                if self.text_of(token).starts_with('-') =>
            {
                token.kind
            }
            TokenKind::NegativeNan => TokenKind::Keyword(Keyword::Nan),
            TokenKind::NegativeInfinity => TokenKind::Keyword(Keyword::Infinity),
            _ => return false,
        };
        if let Some(token) = self.tokens.get_mut(self.at) {
            token.kind = rest;
            token.start += 1;
        }
        true
    }

    fn product(&mut self, names: Names) -> Parse<Expr> {
        let start = self.start();
        let mut left = self.signed(names)?;
        loop {
            let op = match self.kind() {
                TokenKind::Star => BinaryOp::Multiply,
                TokenKind::Slash => BinaryOp::Divide,
                TokenKind::Percent => BinaryOp::Modulo,
                _ => return Ok(left),
            };
            self.count_operator()?;
            self.bump();
            let right = self.signed(names)?;
            left = Expr {
                kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) },
                span: self.since(start),
            };
        }
    }

    fn signed(&mut self, names: Names) -> Parse<Expr> {
        let start = self.start();
        if !self.eat(TokenKind::Minus) {
            let primary = self.primary(names)?;
            return if names == Names::Columns { self.accesses(primary, start) } else { Ok(primary) };
        }
        let operand = self.nested(|parser| parser.signed(names))?;
        Ok(Expr { kind: ExprKind::Negate(Box::new(operand)), span: self.since(start) })
    }

    /// `.field`, `[key]` and `[from..to]`, any number of them.
    pub fn accesses(&mut self, mut of: Expr, start: u32) -> Parse<Expr> {
        loop {
            let kind = if self.eat(TokenKind::Dot) {
                self.count_operator()?;
                ExprKind::Field { of: Box::new(of), field: self.name("the name of a field")? }
            } else if self.eat(TokenKind::LeftBracket) {
                self.count_operator()?;
                self.element_or_slice(of)?
            } else {
                return Ok(of);
            };
            of = Expr { kind, span: self.since(start) };
        }
    }

    fn element_or_slice(&mut self, of: Expr) -> Parse<ExprKind> {
        let of = Box::new(of);
        let from = if self.is(TokenKind::Range) { None } else { Some(Box::new(self.term()?)) };
        let kind = if self.eat(TokenKind::Range) {
            let open = from.is_some() && self.is(TokenKind::RightBracket);
            let to = if open { None } else { Some(Box::new(self.term()?)) };
            ExprKind::Slice { of, from, to }
        } else if let Some(key) = from {
            ExprKind::Element { of, key }
        } else {
            return Err(self.no_viable("expected an element or a range between brackets"));
        };
        self.expect(TokenKind::RightBracket, "after the element")?;
        Ok(kind)
    }

    /// Whether a column, and not a function call, stands `ahead` tokens on.
    pub fn is_column_at(&self, ahead: usize) -> bool {
        is_name(self.kind_at(ahead))
            && !self.is_at(ahead + 1, TokenKind::LeftParen)
            && !(self.is_at(ahead + 1, TokenKind::Dot) && self.is_at(ahead + 3, TokenKind::LeftParen))
    }
}
