//! DESCRIBE.

use std::fmt::{Display, Formatter, Result};

use super::name;
use crate::ast::{Describe, DescribeTarget};
use crate::lex::Keyword;

impl Display for Describe {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DESCRIBE {}", self.target)?;
        if self.internals { f.write_str(" WITH INTERNALS") } else { Ok(()) }
    }
}

impl Display for DescribeTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            DescribeTarget::Cluster => f.write_str("CLUSTER"),
            DescribeTarget::Schema { full: true } => f.write_str("FULL SCHEMA"),
            DescribeTarget::Schema { full: false } => f.write_str("SCHEMA"),
            DescribeTarget::Keyspaces => f.write_str("KEYSPACES"),
            DescribeTarget::Keyspace { only, name } => {
                f.write_str(if *only { "ONLY KEYSPACE" } else { "KEYSPACE" })?;
                name.as_ref().map_or(Ok(()), |name| write!(f, " {name}"))
            }
            DescribeTarget::Tables => f.write_str("TABLES"),
            DescribeTarget::Table(name) => write!(f, "TABLE {name}"),
            DescribeTarget::Index(name) => write!(f, "INDEX {name}"),
            DescribeTarget::View(name) => write!(f, "MATERIALIZED VIEW {name}"),
            DescribeTarget::Types => f.write_str("TYPES"),
            DescribeTarget::Type(name) => {
                f.write_str("TYPE ")?;
                name::user_type(f, name)
            }
            DescribeTarget::Functions => f.write_str("FUNCTIONS"),
            DescribeTarget::Function(name) => {
                f.write_str("FUNCTION ")?;
                name::function(f, name)
            }
            DescribeTarget::Aggregates => f.write_str("AGGREGATES"),
            DescribeTarget::Aggregate(name) => {
                f.write_str("AGGREGATE ")?;
                name::function(f, name)
            }
            DescribeTarget::Any(name) => {
                // Quotes keep a name such as `tables` from being read as a listing.
                let word = name.name.name.as_str();
                if name.keyspace.is_none()
                    && Keyword::lookup(word.as_bytes()).is_some_and(|found| found.text() == word)
                {
                    return write!(f, "\"{word}\"");
                }
                write!(f, "{name}")
            }
            DescribeTarget::Patterns => f.write_str("ACCESS PATTERNS"),
            DescribeTarget::Pattern(name) => write!(f, "ACCESS PATTERN {name}"),
        }
    }
}
