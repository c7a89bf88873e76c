//! Properties.

use std::collections::HashSet;

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind, Literal, MapEntry, Property, PropertyValue};
use crate::lex::{Keyword, TokenKind};
use crate::span::Span;

/// Which bare words may be the value of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// Unreserved keywords, as in Cassandra.
    Keywords,
    /// Any name, as in an access pattern.
    Names,
}

impl Parser<'_> {
    /// `property AND ...`
    pub fn properties(&mut self, words: Words) -> Parse<Vec<Property>> {
        let mut properties = vec![self.property(words)?];
        while self.eat_word(Keyword::And) {
            properties.push(self.property(words)?);
        }
        self.check_properties(properties.iter())?;
        Ok(properties)
    }

    /// A property may be given once.
    pub fn check_properties<'p>(&self, properties: impl Iterator<Item = &'p Property>) -> Parse<()> {
        let mut seen = HashSet::new();
        for Property { name, .. } in properties {
            if !seen.insert(&name.name) {
                let message = format!("Multiple definitions for property '{}'", name.name);
                return Err(self.refused(name.span, message));
            }
        }
        Ok(())
    }

    pub fn property(&mut self, words: Words) -> Parse<Property> {
        let start = self.start();
        let name = self.name("the name of a property")?;
        self.expect(TokenKind::Eq, "after the name of a property")?;
        let value = self.property_value(words, &name.name)?;
        Ok(Property { name, value, span: self.since(start) })
    }

    fn property_value(&mut self, words: Words, property: &str) -> Parse<PropertyValue> {
        if self.is(TokenKind::LeftBrace) {
            let start = self.start();
            let entries = self.property_map()?;
            return Ok(PropertyValue::Map(entries, self.since(start)));
        }
        if let Some((literal, span)) = self.constant() {
            return Ok(PropertyValue::Literal(literal, span));
        }
        let token = self.token();
        let allowed = match words {
            Words::Names => is_name(token.kind),
            Words::Keywords => matches!(token.kind, TokenKind::Keyword(_)) && is_name(token.kind),
        };
        if allowed {
            return Ok(PropertyValue::Name(self.name("a value")?));
        }
        if is_name(token.kind) {
            let string = crate::quote::string(&self.ident_of(token).name);
            return Err(
                self.no_viable(&format!("the value of {property} is a constant or a map; write {string}"))
            );
        }
        Err(self.no_viable(&format!(
            "expected a constant or a map such as {{'k': 'v'}} as the value of {property}"
        )))
    }

    /// `{constant: constant, ...}`, possibly empty.
    pub fn property_map(&mut self) -> Parse<Vec<MapEntry>> {
        self.expect(TokenKind::LeftBrace, "to begin the map")?;
        let mut entries = Vec::new();
        if self.eat(TokenKind::RightBrace) {
            return Ok(entries);
        }
        entries.push(self.map_entry()?);
        while self.eat(TokenKind::Comma) {
            entries.push(self.map_entry()?);
        }
        self.expect(TokenKind::RightBrace, "to close the map")?;
        let mut seen = HashSet::new();
        for entry in &entries {
            if !seen.insert(entry.key.text()) {
                let message = format!("Multiple definition for property {}", entry.key.text());
                return Err(self.refused(entry.key_span, message));
            }
        }
        Ok(entries)
    }

    fn map_entry(&mut self) -> Parse<MapEntry> {
        let (key, key_span) = self.map_constant(None)?;
        self.expect(TokenKind::Colon, "between the key and the value of a map entry")?;
        let (value, value_span) = self.map_constant(Some(&key))?;
        Ok(MapEntry { key, key_span, value, value_span })
    }

    /// A constant as the key of an entry or, behind `key`, as its value. Other terms are refused in Cassandra's words.
    fn map_constant(&mut self, key: Option<&Literal>) -> Parse<(Literal, Span)> {
        let term = self.term()?;
        let marker = if term.as_marker().is_some() {
            " (bind variables are not supported in DDL queries)"
        } else {
            ""
        };
        match (term.kind, key) {
            (ExprKind::Literal(literal), _) => Ok((literal, term.span)),
            (kind, None) => {
                let message = format!("Invalid property name: {}{marker}", Expr::new(kind));
                Err(self.refused(term.span, message))
            }
            (kind, Some(key)) => {
                let message =
                    format!("Invalid property value: {} for property: {key}{marker}", Expr::new(kind));
                Err(self.refused(term.span, message))
            }
        }
    }
}
