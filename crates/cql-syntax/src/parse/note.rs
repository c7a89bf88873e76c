//! COMMENT ON, SECURITY LABEL ON, and tables like others. The leading words have been read by the caller.

use super::property::Words;
use super::{Parse, Parser};
use crate::ast::{CopyTable, Ident, NoteObject, QualifiedName, SetNote};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    /// After COMMENT, or after SECURITY.
    pub fn set_note(&mut self, is_label: bool) -> Parse<SetNote> {
        let mut provider = None;
        if is_label {
            self.expect_word(Keyword::Label, "after SECURITY")?;
            if self.eat_name("for") {
                provider = Some(self.name("the name of a provider")?);
            }
        }
        self.expect_word(Keyword::On, "before what the note is about")?;
        let object = match self.kind() {
            TokenKind::Keyword(Keyword::Keyspace) => {
                self.bump();
                NoteObject::Keyspace(self.keyspace_name()?)
            }
            TokenKind::Keyword(Keyword::Table) => {
                self.bump();
                NoteObject::Table(self.table_name()?)
            }
            TokenKind::Keyword(Keyword::Type) => {
                self.bump();
                NoteObject::Type(self.qualified_name("a type")?)
            }
            TokenKind::Keyword(Keyword::Field) => {
                self.bump();
                let (of, field) = self.part("a field")?;
                NoteObject::Field(of, field)
            }
            _ if self.eat_name("column") => {
                let (of, column) = self.part("a column")?;
                NoteObject::Column(of, column)
            }
            _ => return Err(self.no_viable("expected KEYSPACE, TABLE, COLUMN, TYPE or FIELD")),
        };
        self.expect_word(Keyword::Is, "before the text")?;
        let text = match self.eat_word(Keyword::Null) {
            true => None,
            false => Some(self.string("as the text, or NULL")?),
        };
        Ok(SetNote { is_label, provider, object, text })
    }

    /// `[keyspace.]thing.part`
    fn part(&mut self, what: &str) -> Parse<(QualifiedName, Ident)> {
        let first = self.name(what)?;
        self.expect(TokenKind::Dot, "between a thing and its part")?;
        let second = self.name(what)?;
        Ok(match self.eat(TokenKind::Dot) {
            true => (QualifiedName { keyspace: Some(first), name: second }, self.name(what)?),
            false => (QualifiedName { keyspace: None, name: first }, second),
        })
    }

    /// After LIKE.
    pub fn copy_table(&mut self, if_not_exists: bool, name: QualifiedName) -> Parse<CopyTable> {
        let source = self.table_name()?;
        let (mut with_indexes, mut properties) = (false, Vec::new());
        if self.eat_word(Keyword::With) {
            loop {
                match self.is_word(Keyword::Indexes) && !self.is_at(1, TokenKind::Eq) {
                    true => {
                        self.bump();
                        with_indexes = true;
                    }
                    false => properties.push(self.property(Words::Keywords)?),
                }
                if !self.eat_word(Keyword::And) {
                    break;
                }
            }
        }
        self.check_properties(properties.iter())?;
        Ok(CopyTable { if_not_exists, name, source, with_indexes, properties })
    }

    /// Takes a word that is no keyword.
    fn eat_name(&mut self, word: &str) -> bool {
        let is_it = self.text_of(self.token()).eq_ignore_ascii_case(word);
        if is_it {
            self.bump();
        }
        is_it
    }
}
