//! What expressions are made of: constants, markers, columns, calls, collections, tuples, hints.

use super::cursor::DEPTH_MAX;
use super::expr::Names;
use super::name::is_name;
use super::types::native;
use super::{Parse, Parser};
use crate::ast::{CellInfo, Expr, ExprKind, Literal};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn primary(&mut self, names: Names) -> Parse<Expr> {
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::Question | TokenKind::Colon => ExprKind::Marker(self.marker()?),
            TokenKind::LeftParen => self.parenthesis(names)?,
            TokenKind::LeftBracket => self.list_literal(names)?,
            TokenKind::LeftBrace => self.brace(names)?,
            TokenKind::Keyword(Keyword::Null) => {
                self.bump();
                ExprKind::Null
            }
            _ => match self.constant() {
                Some((literal, _)) => ExprKind::Literal(literal),
                None => self.named(names)?,
            },
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// A constant, if one stands here.
    pub fn constant(&mut self) -> Option<(Literal, crate::Span)> {
        let token = self.token();
        let owned = || self.text_of(token).to_string();
        let literal = match token.kind {
            TokenKind::String | TokenKind::DollarString => Literal::String(self.string_value(token)),
            TokenKind::Integer => Literal::Integer(owned()),
            TokenKind::Float => Literal::Float(owned()),
            TokenKind::Duration => Literal::Duration(owned()),
            TokenKind::Uuid => Literal::Uuid(owned()),
            TokenKind::Blob => Literal::Blob(owned()),
            // A negative NaN is no different from a positive one.
            TokenKind::Keyword(Keyword::Nan) | TokenKind::NegativeNan => Literal::Float("NaN".into()),
            TokenKind::Keyword(Keyword::Infinity) => Literal::Float("Infinity".into()),
            TokenKind::NegativeInfinity => Literal::Float("-Infinity".into()),
            TokenKind::Keyword(Keyword::True) => Literal::Boolean(true),
            TokenKind::Keyword(Keyword::False) => Literal::Boolean(false),
            _ => return None,
        };
        self.bump();
        Some((literal, token.span()))
    }

    /// A type hint or a tuple.
    fn parenthesis(&mut self, names: Names) -> Parse<ExprKind> {
        self.bump();
        if let Some(end) = self.skip_type(0, DEPTH_MAX)
            && self.is_at(end, TokenKind::RightParen)
            && self.hint_applies(end + 1, names)
        {
            let to = self.data_type()?;
            self.bump();
            let expr = Box::new(self.nested(|parser| parser.primary(names))?);
            return Ok(ExprKind::TypeHint { to, expr });
        }
        let items = self.comma_list(|parser| parser.expr(names))?;
        self.expect(TokenKind::RightParen, "to close the parenthesis")?;
        Ok(ExprKind::Tuple(items))
    }

    /// Whether a value follows a type in parentheses, so that it is a hint and no column in parentheses.
    fn hint_applies(&self, ahead: usize, names: Names) -> bool {
        let next = self.token_at(ahead);
        match next.kind {
            TokenKind::Integer | TokenKind::Float | TokenKind::Duration => {
                // `(a) -3` subtracts from a column unless `a` can only be a type.
                !self.text_of(next).starts_with('-') || names == Names::None || native(self.kind()).is_some()
            }
            TokenKind::String | TokenKind::DollarString | TokenKind::Uuid | TokenKind::Blob => true,
            TokenKind::NegativeNan | TokenKind::NegativeInfinity => true,
            TokenKind::Question => true,
            // Else the colon of a map entry: `{(a): 1}`.
            TokenKind::Colon => is_name(self.kind_at(ahead + 1)),
            TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::LeftBrace => true,
            TokenKind::Keyword(Keyword::Null | Keyword::True | Keyword::False) => true,
            TokenKind::Keyword(Keyword::Nan | Keyword::Infinity | Keyword::Token) => true,
            // These are names too, but here they go on with the statement.
            TokenKind::Keyword(Keyword::As) => !self.is_column_at(ahead),
            TokenKind::Keyword(Keyword::Per) => !self.is_word_at(ahead + 1, Keyword::Partition),
            TokenKind::Keyword(Keyword::Bypass) => !self.is_word_at(ahead + 1, Keyword::Cache),
            kind => is_name(kind) && (names == Names::Columns || !self.is_column_at(ahead)),
        }
    }

    fn list_literal(&mut self, names: Names) -> Parse<ExprKind> {
        self.bump();
        if self.eat(TokenKind::RightBracket) {
            return Ok(ExprKind::List(Vec::new()));
        }
        let items = self.comma_list(|parser| parser.expr(names))?;
        self.expect(TokenKind::RightBracket, "to close the list")?;
        Ok(ExprKind::List(items))
    }

    /// A set, a map or a user-defined type's value.
    fn brace(&mut self, names: Names) -> Parse<ExprKind> {
        self.bump();
        if self.eat(TokenKind::RightBrace) {
            return Ok(ExprKind::Set(Vec::new()));
        }
        let kind = if names == Names::None && is_name(self.kind()) && self.is_at(1, TokenKind::Colon) {
            self.user_type()?
        } else {
            let first = self.expr(names)?;
            if self.is(TokenKind::Colon) { self.map(first, names)? } else { self.set(first, names)? }
        };
        self.expect(TokenKind::RightBrace, "to close the collection")?;
        Ok(kind)
    }

    fn map(&mut self, first: Expr, names: Names) -> Parse<ExprKind> {
        self.bump();
        let mut entries = vec![(first, self.expr(names)?)];
        while self.eat(TokenKind::Comma) {
            let key = self.expr(names)?;
            self.expect(TokenKind::Colon, "between the key and the value of a map entry")?;
            entries.push((key, self.expr(names)?));
        }
        // Where names may be columns, a user-defined type's value can be told only when all keys have been read.
        if entries.iter().all(|(key, _)| key.as_column().is_some()) {
            let named = entries.into_iter().filter_map(|(key, value)| match key.kind {
                ExprKind::Column(field) => Some((field, value)),
                _ => None,
            });
            return Ok(ExprKind::UserType(named.collect()));
        }
        Ok(ExprKind::Map(entries))
    }

    fn user_type(&mut self) -> Parse<ExprKind> {
        let fields = self.comma_list(|parser| {
            let field = parser.name("the name of a field")?;
            parser.expect(TokenKind::Colon, "after the name of a field")?;
            Ok((field, parser.term()?))
        })?;
        Ok(ExprKind::UserType(fields))
    }

    fn set(&mut self, first: Expr, names: Names) -> Parse<ExprKind> {
        let mut items = vec![first];
        while self.eat(TokenKind::Comma) {
            items.push(self.expr(names)?);
        }
        Ok(ExprKind::Set(items))
    }

    /// What begins with a name: a call or a column.
    fn named(&mut self, names: Names) -> Parse<ExprKind> {
        let kind = self.kind();
        if self.is_at(1, TokenKind::LeftParen) {
            match kind {
                TokenKind::Keyword(Keyword::Cast) => return self.cast(names),
                TokenKind::Keyword(Keyword::Count)
                    if self.is_at(2, TokenKind::Star) && self.is_at(3, TokenKind::RightParen) =>
                {
                    self.at += 4;
                    return Ok(ExprKind::CountRows);
                }
                TokenKind::Keyword(keyword) if names == Names::Columns => {
                    if let Some(info) = cell_info(keyword) {
                        return self.cell_info(info);
                    }
                }
                _ => {}
            }
            if is_name(kind) || kind == TokenKind::Keyword(Keyword::Token) {
                return self.call(names);
            }
        }
        if !is_name(kind) {
            return Err(self.not_a_value(names));
        }
        if self.is_at(1, TokenKind::Dot) && self.is_at(3, TokenKind::LeftParen) {
            return self.call(names);
        }
        if let Some(reference) = self.reference_term().filter(|_| names == Names::None) {
            return reference;
        }
        match names {
            Names::Columns => Ok(ExprKind::Column(self.name("a column")?)),
            Names::None => Err(self.not_a_value(names)),
        }
    }

    fn not_a_value(&self, names: Names) -> crate::SyntaxError {
        let token = self.token();
        match (token.kind, names) {
            (TokenKind::QuotedName, _) => {
                let name = self.ident_of(token).name;
                let string = crate::quote::string(&name);
                self.no_viable(&format!(
                    "expected a value; double quotes make a name, write a string as {string}"
                ))
            }
            (kind, Names::None) if is_name(kind) => {
                self.no_viable("expected a value: a constant, a bind marker or a function call, not a column")
            }
            (TokenKind::Keyword(_), Names::Columns) => {
                self.no_viable("expected a column, a function or a value; reserved words need double quotes")
            }
            (_, Names::Columns) => self.no_viable("expected a column, a function or a value"),
            _ => self.no_viable("expected a value"),
        }
    }

    fn call(&mut self, names: Names) -> Parse<ExprKind> {
        let name = self.function_name()?;
        let args = self.arguments(names)?;
        Ok(ExprKind::Function { name, args })
    }

    /// `(expr, ...)`, possibly empty.
    pub fn arguments(&mut self, names: Names) -> Parse<Vec<Expr>> {
        self.expect(TokenKind::LeftParen, "before the arguments")?;
        if self.eat(TokenKind::RightParen) {
            return Ok(Vec::new());
        }
        let args = self.comma_list(|parser| parser.expr(names))?;
        self.expect(TokenKind::RightParen, "after the arguments")?;
        Ok(args)
    }

    fn cast(&mut self, names: Names) -> Parse<ExprKind> {
        self.at += 2;
        let expr = Box::new(self.expr(names)?);
        self.expect_word(Keyword::As, "before the type to cast to")?;
        let to = self.native_type()?;
        self.expect(TokenKind::RightParen, "after the type to cast to")?;
        Ok(ExprKind::Cast { expr, to })
    }

    fn cell_info(&mut self, info: CellInfo) -> Parse<ExprKind> {
        self.at += 2;
        let start = self.start();
        let column = self.name("a column")?;
        let column = Expr { span: column.span, kind: ExprKind::Column(column) };
        let of = Box::new(self.accesses(column, start)?);
        self.expect(TokenKind::RightParen, "after the column")?;
        Ok(ExprKind::CellInfo { info, of })
    }
}

fn cell_info(keyword: Keyword) -> Option<CellInfo> {
    match keyword {
        Keyword::Writetime => Some(CellInfo::WriteTime),
        Keyword::Maxwritetime => Some(CellInfo::MaxWriteTime),
        Keyword::Ttl => Some(CellInfo::Ttl),
        _ => None,
    }
}
