//! Properties: `name = value` after WITH.

use super::expr::Literal;
use super::name::Ident;
use crate::span::Span;

/// `name = value`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    pub name: Ident,
    pub value: PropertyValue,
    pub span: Span,
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyValue {
    Literal(Literal, Span),
    /// A bare word. In Cassandra's statements only an unreserved keyword; in an access pattern any name.
    Name(Ident),
    /// `{'k': 'v', ...}`; may be empty. Keys are distinct.
    Map(Vec<MapEntry>, Span),
}

/// One entry of a property map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapEntry {
    pub key: Literal,
    pub key_span: Span,
    pub value: Literal,
    pub value_span: Span,
}

impl PropertyValue {
    /// The text of a simple value, as Cassandra stores it; none for a map.
    pub fn text(&self) -> Option<&str> {
        match self {
            PropertyValue::Literal(literal, _) => Some(literal.text()),
            PropertyValue::Name(name) => Some(&name.name),
            PropertyValue::Map(..) => None,
        }
    }

    /// The entries of a map as texts; none for a simple value.
    pub fn map(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
        match self {
            PropertyValue::Map(entries, _) => {
                Some(entries.iter().map(|entry| (entry.key.text(), entry.value.text())))
            }
            _ => None,
        }
    }

    /// The place of the value.
    pub fn span(&self) -> Span {
        match self {
            PropertyValue::Literal(_, span) | PropertyValue::Map(_, span) => *span,
            PropertyValue::Name(name) => name.span,
        }
    }
}
