//! Names and quoted texts.

use crate::span::Span;

/// A name as the database knows it: lower-cased unless it was written in double quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The name, folded and without quotes.
    pub name: String,
    pub span: Span,
}

impl Ident {
    /// A name that was not read from a text.
    pub fn new(name: impl Into<String>) -> Self {
        Ident { name: name.into(), span: Span::default() }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// `[keyspace.]name`: of a table, view, type, index, function or access pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualifiedName {
    pub keyspace: Option<Ident>,
    pub name: Ident,
}

impl QualifiedName {
    /// A name without keyspace that was not read from a text.
    pub fn unqualified(name: impl Into<String>) -> Self {
        QualifiedName { keyspace: None, name: Ident::new(name) }
    }

    /// A name with keyspace that was not read from a text.
    pub fn qualified(keyspace: impl Into<String>, name: impl Into<String>) -> Self {
        QualifiedName { keyspace: Some(Ident::new(keyspace)), name: Ident::new(name) }
    }

    /// The name without its keyspace.
    pub fn as_str(&self) -> &str {
        &self.name.name
    }

    /// The keyspace as written, if any.
    pub fn keyspace_str(&self) -> Option<&str> {
        self.keyspace.as_ref().map(Ident::as_str)
    }

    /// The place of the whole name.
    pub fn span(&self) -> Span {
        self.keyspace.as_ref().map_or(self.name.span, |keyspace| keyspace.span.to(self.name.span))
    }
}

/// A string literal where the grammar wants a string and nothing else (a class name, a function body).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The content, without quotes and with escapes resolved.
    pub value: String,
    pub span: Span,
}
