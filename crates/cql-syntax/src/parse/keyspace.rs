//! Keyspaces, USE, TRUNCATE and the plain DROP statements. The leading words have been read by the caller.

use super::property::Words;
use super::{Parse, Parser};
use crate::ast::{AlterKeyspace, CreateKeyspace, DropKeyspace, DropNamed, Ident, QualifiedName};
use crate::lex::Keyword;

impl Parser<'_> {
    pub fn keyspace_name(&mut self) -> Parse<Ident> {
        self.name("a keyspace name")
    }

    pub fn create_keyspace(&mut self) -> Parse<CreateKeyspace> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.new_name("a keyspace name")?;
        self.expect_word(Keyword::With, "after the keyspace; a keyspace needs WITH replication = {...}")?;
        let properties = self.properties(Words::Keywords)?;
        Ok(CreateKeyspace { if_not_exists, name, properties })
    }

    pub fn alter_keyspace(&mut self) -> Parse<AlterKeyspace> {
        let if_exists = self.if_exists()?;
        let name = self.keyspace_name()?;
        self.expect_word(Keyword::With, "after the keyspace")?;
        let properties = self.properties(Words::Keywords)?;
        Ok(AlterKeyspace { if_exists, name, properties })
    }

    pub fn drop_keyspace(&mut self) -> Parse<DropKeyspace> {
        let if_exists = self.if_exists()?;
        Ok(DropKeyspace { if_exists, name: self.keyspace_name()? })
    }

    /// `[IF EXISTS] name`
    pub fn drop_named(&mut self, what: &str) -> Parse<DropNamed> {
        let if_exists = self.if_exists()?;
        Ok(DropNamed { if_exists, name: self.qualified_name(what)? })
    }

    pub fn drop_type(&mut self) -> Parse<DropNamed> {
        let if_exists = self.if_exists()?;
        Ok(DropNamed { if_exists, name: self.type_name("the name of a user-defined type")? })
    }

    pub fn truncate(&mut self) -> Parse<QualifiedName> {
        self.eat_word(Keyword::Table);
        self.table_name()
    }
}
