//! Names and strings.

use std::fmt::{Display, Formatter, Result};

use crate::ast::{Ident, QualifiedName, Text};
use crate::lex::{Keyword, KeywordClass};
use crate::quote;

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // Only a string can say the empty name (of a role): in double quotes it would not be read again.
        if self.name.is_empty() {
            return f.write_str("''");
        }
        f.write_str(&quote::identifier(&self.name))
    }
}

impl Display for QualifiedName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(keyspace) = &self.keyspace {
            write!(f, "{keyspace}.")?;
        }
        write!(f, "{}", self.name)
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&quote::string(&self.value))
    }
}

/// A name in double quotes if it is one of `words` or needs them anyway.
fn quoted_if(f: &mut Formatter<'_>, name: &str, must: bool) -> Result {
    if !must || quote::needs_quotes(name) {
        return f.write_str(&quote::identifier(name));
    }
    write!(f, "\"{name}\"")
}

/// A column of a SELECT clause. These words would be read as part of the clause in some places.
pub(super) fn selected_column(f: &mut Formatter<'_>, column: &Ident) -> Result {
    quoted_if(f, &column.name, matches!(column.name.as_str(), "json" | "distinct" | "as"))
}

/// A function's name. `token` is a function although it is reserved; `cast` and its like are not, unless quoted.
pub(super) fn function(f: &mut Formatter<'_>, name: &QualifiedName) -> Result {
    if let Some(keyspace) = &name.keyspace {
        write!(f, "{keyspace}.")?;
    }
    if name.name.name == "token" {
        return f.write_str("token");
    }
    let special = Keyword::lookup(name.name.name.as_bytes())
        .is_some_and(|keyword| keyword.class() == KeywordClass::Special && keyword != Keyword::Count);
    quoted_if(f, &name.name.name, special)
}

/// A user-defined type's name, which must not look like a native type or a name that Cassandra keeps for itself.
pub(super) fn user_type(f: &mut Formatter<'_>, name: &QualifiedName) -> Result {
    if let Some(keyspace) = &name.keyspace {
        write!(f, "{keyspace}.")?;
    }
    let word = name.name.name.as_str();
    let kept = matches!(word, "byte" | "complex" | "enum" | "interval" | "macaddr" | "bitstring");
    let taken = Keyword::lookup(word.as_bytes()).is_some_and(|keyword| {
        matches!(keyword.class(), KeywordClass::NativeType | KeywordClass::Special) && keyword != Keyword::Key
    });
    quoted_if(f, word, kept || taken)
}
