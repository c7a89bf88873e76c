//! Names, strings and small clauses that many statements share.

use super::{Parse, Parser};
use crate::ast::{BindMarker, Ident, QualifiedName, Text};
use crate::lex::{Keyword, KeywordClass, Token, TokenKind};
use crate::quote;

/// Whether the token may be a name: a word, a quoted name, or a keyword that is not reserved.
pub(super) fn is_name(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Word | TokenKind::QuotedName => true,
        TokenKind::Keyword(keyword) => !keyword.is_reserved(),
        _ => false,
    }
}

impl Parser<'_> {
    /// A name; `what` completes "expected ...".
    pub fn name(&mut self, what: &str) -> Parse<Ident> {
        if !is_name(self.kind()) {
            return Err(self.not_a_name(what));
        }
        let token = self.bump();
        Ok(self.ident_of(token))
    }

    /// A name that something new gets: it may not be empty.
    pub fn new_name(&mut self, what: &str) -> Parse<Ident> {
        if self.is(TokenKind::QuotedName) && self.text_of(self.token()) == "\"\"" {
            return Err(self.no_viable(&format!("{what} may not be empty")));
        }
        self.name(what)
    }

    fn not_a_name(&self, what: &str) -> crate::SyntaxError {
        match self.kind() {
            TokenKind::Keyword(keyword) => {
                let text = self.text_of(self.token());
                let quoted = quote::identifier(&text.to_ascii_lowercase());
                let hint = format!(
                    "expected {what}; {} is a reserved word, write {quoted} to use it as a name",
                    keyword.text().to_uppercase()
                );
                self.no_viable(&hint)
            }
            TokenKind::Question => {
                let plural = what.strip_prefix("a ").map_or(what.to_string(), |what| format!("{what}s"));
                self.refused(self.token().span(), format!("Bind variables cannot be used for {plural}"))
            }
            TokenKind::String => self.no_viable(&format!("expected {what}; names are not in single quotes")),
            _ => self.no_viable(&format!("expected {what}")),
        }
    }

    /// The folded name of a token that [`is_name`] accepts.
    pub fn ident_of(&self, token: Token) -> Ident {
        let text = self.text_of(token);
        let name = match token.kind {
            TokenKind::QuotedName => quote::unquote(text, '"'),
            _ => text.to_ascii_lowercase(),
        };
        Ident { name, span: token.span() }
    }

    pub fn qualified_name(&mut self, what: &str) -> Parse<QualifiedName> {
        let first = self.name(what)?;
        if !self.eat(TokenKind::Dot) {
            return Ok(QualifiedName { keyspace: None, name: first });
        }
        let name = self.name(what)?;
        Ok(QualifiedName { keyspace: Some(first), name })
    }

    pub fn table_name(&mut self) -> Parse<QualifiedName> {
        self.qualified_name("a table name")
    }

    /// The name of a user-defined type: not that of a native type, nor one that Cassandra keeps for itself.
    pub fn type_name(&mut self, what: &str) -> Parse<QualifiedName> {
        const KEPT: [&str; 6] = ["byte", "complex", "enum", "interval", "macaddr", "bitstring"];
        let keyspace = if is_name(self.kind()) && self.is_at(1, TokenKind::Dot) {
            let keyspace = self.name("a keyspace name")?;
            self.bump();
            Some(keyspace)
        } else {
            None
        };
        let token = self.token();
        let allowed = match token.kind {
            TokenKind::Keyword(keyword) => keyword.class() == KeywordClass::Free || keyword == Keyword::Key,
            kind => is_name(kind),
        };
        if !allowed {
            return Err(self.no_viable(&format!("expected {what}")));
        }
        self.bump();
        let name = self.ident_of(token);
        if token.kind == TokenKind::Word && KEPT.contains(&name.as_str()) {
            return Err(self.refused(name.span, format!("Invalid (reserved) user type name {}", name.name)));
        }
        Ok(QualifiedName { keyspace, name })
    }

    /// The name of a function: also `token` and `count`, which mean something else elsewhere.
    pub fn function_name(&mut self) -> Parse<QualifiedName> {
        let first = self.function_part()?;
        if !self.eat(TokenKind::Dot) {
            return Ok(QualifiedName { keyspace: None, name: first });
        }
        let name = self.function_part()?;
        Ok(QualifiedName { keyspace: Some(first), name })
    }

    /// A function name without keyspace.
    pub fn function_part(&mut self) -> Parse<Ident> {
        if self.is_word(Keyword::Token) {
            let token = self.bump();
            return Ok(self.ident_of(token));
        }
        self.name("a function name")
    }

    /// A string literal and nothing else.
    pub fn string(&mut self, place: &str) -> Parse<Text> {
        match self.kind() {
            TokenKind::String | TokenKind::DollarString => {
                let token = self.bump();
                Ok(Text { value: self.string_value(token), span: token.span() })
            }
            _ => Err(self.mismatched(TokenKind::String, place)),
        }
    }

    /// The content of a string token.
    pub fn string_value(&self, token: Token) -> String {
        let text = self.text_of(token);
        match token.kind {
            TokenKind::DollarString => text.get(2..text.len() - 2).unwrap_or("").to_string(),
            _ => quote::unquote(text, '\''),
        }
    }

    /// `?` or `:name`, numbered in order of appearance.
    pub fn marker(&mut self) -> Parse<BindMarker> {
        let start = self.start();
        let name = if self.eat(TokenKind::Question) {
            None
        } else {
            self.expect(TokenKind::Colon, "before the name of a bind marker")?;
            Some(self.name("the name of a bind marker")?)
        };
        let marker = BindMarker { index: self.markers.len() as u32, name, span: self.since(start) };
        self.markers.push(marker.clone());
        Ok(marker)
    }

    pub fn is_marker(&self) -> bool {
        matches!(self.kind(), TokenKind::Question | TokenKind::Colon)
    }

    /// `[IF NOT EXISTS]`
    pub fn if_not_exists(&mut self) -> Parse<bool> {
        if !self.eat_word(Keyword::If) {
            return Ok(false);
        }
        self.expect_word(Keyword::Not, "after IF")?;
        self.expect_word(Keyword::Exists, "after IF NOT")?;
        Ok(true)
    }

    /// `[IF EXISTS]`
    pub fn if_exists(&mut self) -> Parse<bool> {
        if !self.eat_word(Keyword::If) {
            return Ok(false);
        }
        self.expect_word(Keyword::Exists, "after IF")?;
        Ok(true)
    }
}
