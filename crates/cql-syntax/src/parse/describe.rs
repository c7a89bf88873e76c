//! DESCRIBE. The leading word has been read by the caller.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{Describe, DescribeTarget};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn describe(&mut self) -> Parse<Describe> {
        let target = self.describe_target()?;
        let internals = self.eat_word(Keyword::With);
        if internals {
            self.expect_word(Keyword::Internals, "after WITH")?;
        }
        Ok(Describe { target, internals })
    }

    fn describe_target(&mut self) -> Parse<DescribeTarget> {
        if let Some(listing) = self.listing() {
            return Ok(listing);
        }
        let named = is_name(self.kind_at(1)) || self.is_word_at(1, Keyword::Token);
        let TokenKind::Keyword(keyword) = self.kind() else {
            return Ok(DescribeTarget::Any(
                self.qualified_name("a name or KEYSPACE, TABLE, TYPE and so on")?,
            ));
        };
        let target = match keyword {
            Keyword::Full => {
                self.bump();
                self.expect_word(Keyword::Schema, "after FULL")?;
                DescribeTarget::Schema { full: true }
            }
            Keyword::Schema => {
                self.bump();
                DescribeTarget::Schema { full: false }
            }
            Keyword::Only if self.is_word_at(1, Keyword::Keyspace) => {
                self.at += 2;
                self.described_keyspace(true)?
            }
            Keyword::Keyspace => {
                self.bump();
                self.described_keyspace(false)?
            }
            Keyword::Table => {
                self.bump();
                DescribeTarget::Table(self.table_name()?)
            }
            Keyword::Index => {
                self.bump();
                DescribeTarget::Index(self.qualified_name("the name of an index")?)
            }
            Keyword::Materialized => {
                self.bump();
                self.expect_word(Keyword::View, "after MATERIALIZED")?;
                DescribeTarget::View(self.qualified_name("a view name")?)
            }
            Keyword::Type if named => {
                self.bump();
                DescribeTarget::Type(self.type_name("the name of a user-defined type")?)
            }
            Keyword::Function if named => {
                self.bump();
                DescribeTarget::Function(self.function_name()?)
            }
            Keyword::Aggregate if named => {
                self.bump();
                DescribeTarget::Aggregate(self.function_name()?)
            }
            Keyword::Access if self.is_word_at(1, Keyword::Pattern) => {
                self.at += 2;
                DescribeTarget::Pattern(self.qualified_name("the name of an access pattern")?)
            }
            _ => DescribeTarget::Any(self.qualified_name("a name")?),
        };
        Ok(target)
    }

    /// The forms without a name. They are names themselves if a dot follows.
    fn listing(&mut self) -> Option<DescribeTarget> {
        if self.is_at(1, TokenKind::Dot) {
            return None;
        }
        if self.eat_words(&[Keyword::Access, Keyword::Patterns]) {
            return Some(DescribeTarget::Patterns);
        }
        let TokenKind::Keyword(keyword) = self.kind() else { return None };
        let listing = match keyword {
            Keyword::Cluster => DescribeTarget::Cluster,
            Keyword::Keyspaces => DescribeTarget::Keyspaces,
            Keyword::Tables => DescribeTarget::Tables,
            Keyword::Types => DescribeTarget::Types,
            Keyword::Functions => DescribeTarget::Functions,
            Keyword::Aggregates => DescribeTarget::Aggregates,
            _ => return None,
        };
        self.bump();
        Some(listing)
    }

    fn described_keyspace(&mut self, only: bool) -> Parse<DescribeTarget> {
        let name = if is_name(self.kind()) { Some(self.keyspace_name()?) } else { None };
        Ok(DescribeTarget::Keyspace { only, name })
    }
}
