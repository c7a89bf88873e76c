//! Properties.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{MapEntry, Property, PropertyValue};
use crate::lex::{Keyword, TokenKind};

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
        let mut properties: Vec<Property> = Vec::new();
        loop {
            let property = self.property(words)?;
            self.check_new_property(&property, properties.iter())?;
            properties.push(property);
            if !self.eat_word(Keyword::And) {
                return Ok(properties);
            }
        }
    }

    pub fn check_new_property<'p>(
        &self,
        property: &Property,
        mut earlier: impl Iterator<Item = &'p Property>,
    ) -> Parse<()> {
        if earlier.any(|other| other.name == property.name) {
            let message = format!("Multiple definition for property '{}'", property.name.name);
            return Err(self.refused(property.name.span, message));
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
        let mut entries: Vec<MapEntry> = Vec::new();
        if self.eat(TokenKind::RightBrace) {
            return Ok(entries);
        }
        loop {
            let Some((key, key_span)) = self.constant() else {
                return Err(self.not_in_map("name"));
            };
            self.expect(TokenKind::Colon, "between the key and the value of a map entry")?;
            let Some((value, value_span)) = self.constant() else {
                return Err(self.not_in_map("value"));
            };
            if entries.iter().any(|entry| entry.key.text() == key.text()) {
                let message = format!("Multiple definition for property {}", key.text());
                return Err(self.refused(key_span, message));
            }
            entries.push(MapEntry { key, key_span, value, value_span });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBrace, "to close the map")?;
        Ok(entries)
    }

    fn not_in_map(&self, role: &str) -> crate::SyntaxError {
        if self.is_marker() {
            let message =
                format!("Invalid property {role}: ? (bind variables are not supported in DDL queries)");
            return self.refused(self.token().span(), message);
        }
        self.no_viable(&format!("expected a constant as the {role} of a property in a map"))
    }
}
