//! Statements on service levels. Their words are no keywords: everything named so stays a name.

use super::property::Words;
use super::{Parse, Parser};
use crate::ast::{Ident, Property, ServiceLevel};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    /// Whether `SERVICE LEVEL` or `SERVICE_LEVEL` comes next.
    pub fn is_service_level(&self) -> bool {
        self.is_plain_word(0, "service_level")
            || (self.is_plain_word(0, "service") && self.is_plain_word(1, "level"))
    }

    /// What stands behind CREATE.
    pub fn create_service_level(&mut self) -> Parse<ServiceLevel> {
        self.service_level(false)?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.service_level_name()?;
        Ok(ServiceLevel::Create { if_not_exists, name, properties: self.service_level_properties()? })
    }

    pub fn alter_service_level(&mut self) -> Parse<ServiceLevel> {
        self.service_level(false)?;
        let name = self.service_level_name()?;
        Ok(ServiceLevel::Alter { name, properties: self.service_level_properties()? })
    }

    pub fn drop_service_level(&mut self) -> Parse<ServiceLevel> {
        self.service_level(false)?;
        let if_exists = self.if_exists()?;
        Ok(ServiceLevel::Drop { if_exists, name: self.service_level_name()? })
    }

    /// `ATTACH ...` or `DETACH ...`, if that is what comes.
    pub fn attach_service_level(&mut self) -> Parse<Option<ServiceLevel>> {
        if self.eat_plain_word("attach") {
            self.service_level(false)?;
            let name = self.service_level_name()?;
            self.expect_word(Keyword::To, "after the service level")?;
            return Ok(Some(ServiceLevel::Attach { name, role: self.role_name()? }));
        }
        if self.eat_plain_word("detach") {
            self.service_level(false)?;
            self.expect_word(Keyword::From, "before the role")?;
            return Ok(Some(ServiceLevel::Detach { role: self.role_name()? }));
        }
        Ok(None)
    }

    /// What stands behind LIST, if it is about service levels.
    pub fn list_service_levels(&mut self) -> Parse<Option<ServiceLevel>> {
        let all = usize::from(self.is_word(Keyword::All));
        let attached = self.is_plain_word(all, "attached");
        if !attached
            && !["service", "service_level", "service_levels"]
                .iter()
                .any(|word| self.is_plain_word(all, word))
        {
            if !self.eat_plain_word("effective") {
                return Ok(None);
            }
            self.service_level(false)?;
            self.expect_word(Keyword::Of, "before the role")?;
            return Ok(Some(ServiceLevel::ListEffective(self.role_name()?)));
        }
        self.at += all + usize::from(attached);
        self.service_level(all == 1)?;
        Ok(Some(match (all == 1, attached) {
            (true, true) => ServiceLevel::ListAttached(None),
            (true, false) => ServiceLevel::List(None),
            (false, true) => {
                self.expect_word(Keyword::Of, "before the role")?;
                ServiceLevel::ListAttached(Some(self.role_name()?))
            }
            (false, false) => ServiceLevel::List(Some(self.service_level_name()?)),
        }))
    }

    fn service_level(&mut self, several: bool) -> Parse<()> {
        let (one_word, last) =
            if several { ("service_levels", "levels") } else { ("service_level", "level") };
        let found =
            self.eat_plain_word(one_word) || (self.eat_plain_word("service") && self.eat_plain_word(last));
        if found { Ok(()) } else { Err(self.no_viable("expected SERVICE LEVEL, in one word or two")) }
    }

    fn service_level_name(&mut self) -> Parse<Ident> {
        match self.kind() {
            TokenKind::String => {
                let token = self.bump();
                Ok(Ident { name: self.string_value(token), span: token.span() })
            }
            _ => self.name("the name of a service level"),
        }
    }

    fn service_level_properties(&mut self) -> Parse<Vec<Property>> {
        match self.eat_word(Keyword::With) {
            true => self.properties(Words::Names),
            false => Ok(Vec::new()),
        }
    }

    fn eat_plain_word(&mut self, word: &str) -> bool {
        let found = self.is_plain_word(0, word);
        if found {
            self.bump();
        }
        found
    }
}
