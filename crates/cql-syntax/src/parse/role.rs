//! Roles, users and identities. The leading words have been read by the caller.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{
    AddIdentity, AlterRole, CreateRole, DropIdentity, DropRole, Ident, RoleKeyword, RoleOption,
    RoleOptionKind, Secret, Text,
};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn create_role(&mut self, keyword: RoleKeyword) -> Parse<CreateRole> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.role_or_user_name(keyword)?;
        let options = self.role_options(keyword)?;
        Ok(CreateRole { keyword, if_not_exists, name, options })
    }

    pub fn alter_role(&mut self, keyword: RoleKeyword) -> Parse<AlterRole> {
        let if_exists = self.if_exists()?;
        let name = self.role_or_user_name(keyword)?;
        let options = self.role_options(keyword)?;
        Ok(AlterRole { keyword, if_exists, name, options })
    }

    pub fn drop_role(&mut self, keyword: RoleKeyword) -> Parse<DropRole> {
        let if_exists = self.if_exists()?;
        Ok(DropRole { keyword, if_exists, name: self.role_or_user_name(keyword)? })
    }

    /// A role's name may also be a string.
    pub fn role_name(&mut self) -> Parse<Ident> {
        match self.kind() {
            TokenKind::String | TokenKind::DollarString => {
                let token = self.bump();
                Ok(Ident { name: self.string_value(token), span: token.span() })
            }
            _ => self.name("a role name"),
        }
    }

    fn role_or_user_name(&mut self, keyword: RoleKeyword) -> Parse<Ident> {
        match keyword {
            RoleKeyword::Role => self.role_name(),
            RoleKeyword::User => {
                let text =
                    self.unquoted_text("a user name", "user names and USER is deprecated, please use ROLE")?;
                Ok(Ident { name: text.value, span: text.span })
            }
        }
    }

    /// An unquoted name, which keeps its case here, or a string.
    fn unquoted_text(&mut self, what: &str, purpose: &str) -> Parse<Text> {
        let token = self.token();
        let value = match token.kind {
            TokenKind::String | TokenKind::DollarString => self.string_value(token),
            TokenKind::QuotedName => {
                // The doubled word is Cassandra's own.
                let message = format!("Quoted strings are are not supported for {purpose}");
                return Err(self.refused(token.span(), message));
            }
            kind if is_name(kind) => self.text_of(token).to_string(),
            _ => return Err(self.no_viable(&format!("expected {what}"))),
        };
        self.bump();
        Ok(Text { value, span: token.span() })
    }

    fn role_options(&mut self, keyword: RoleKeyword) -> Parse<Vec<RoleOption>> {
        let options = match keyword {
            RoleKeyword::Role => self.options_of_role()?,
            RoleKeyword::User => self.options_of_user()?,
        };
        self.check_passwords(&options)?;
        Ok(options)
    }

    /// `[WITH option AND ...]`
    fn options_of_role(&mut self) -> Parse<Vec<RoleOption>> {
        let mut options = Vec::new();
        if !self.eat_word(Keyword::With) {
            return Ok(options);
        }
        loop {
            let start = self.start();
            let kind = self.role_option()?;
            options.push(RoleOption { kind, span: self.since(start) });
            if !self.eat_word(Keyword::And) {
                return Ok(options);
            }
        }
    }

    fn role_option(&mut self) -> Parse<RoleOptionKind> {
        if self.eat_words(&[Keyword::Generated, Keyword::Password]) {
            return Ok(RoleOptionKind::GeneratedPassword);
        }
        let hashed = self.eat_word(Keyword::Hashed);
        if self.eat_word(Keyword::Password) {
            self.expect(TokenKind::Eq, "after PASSWORD")?;
            return self.password(hashed);
        }
        if hashed {
            return Err(self.mismatched(TokenKind::Keyword(Keyword::Password), "after HASHED"));
        }
        if self.eat_word(Keyword::Options) {
            self.expect(TokenKind::Eq, "after OPTIONS")?;
            return Ok(RoleOptionKind::Options(self.property_map()?));
        }
        if self.eat_word(Keyword::Superuser) {
            return Ok(RoleOptionKind::Superuser(self.boolean_option()?));
        }
        if self.eat_word(Keyword::Login) {
            return Ok(RoleOptionKind::Login(self.boolean_option()?));
        }
        if self.eat_word(Keyword::Access) {
            return self.access_option();
        }
        Err(self.no_viable("expected PASSWORD, SUPERUSER, LOGIN, OPTIONS or ACCESS"))
    }

    fn password(&mut self, hashed: bool) -> Parse<RoleOptionKind> {
        let secret = Secret(self.string("as the password")?.value);
        Ok(if hashed { RoleOptionKind::HashedPassword(secret) } else { RoleOptionKind::Password(secret) })
    }

    fn boolean_option(&mut self) -> Parse<bool> {
        self.expect(TokenKind::Eq, "before true or false")?;
        let value = self.eat_word(Keyword::True);
        if !value && !self.eat_word(Keyword::False) {
            return Err(self.no_viable("expected true or false"));
        }
        Ok(value)
    }

    fn access_option(&mut self) -> Parse<RoleOptionKind> {
        let to = self.eat_word(Keyword::To);
        if !to && !self.eat_word(Keyword::From) {
            return Err(self.no_viable("expected TO [ALL] DATACENTERS or FROM [ALL] CIDRS after ACCESS"));
        }
        let all = self.eat_word(Keyword::All);
        let what = if to { Keyword::Datacenters } else { Keyword::Cidrs };
        self.expect_word(what, "after ACCESS")?;
        if all {
            return Ok(match to {
                true => RoleOptionKind::AccessToAllDatacenters,
                false => RoleOptionKind::AccessFromAllCidrs,
            });
        }
        self.expect(TokenKind::LeftBrace, "before the list")?;
        let items = self.comma_list(|parser| parser.string("in the list"))?;
        self.expect(TokenKind::RightBrace, "after the list")?;
        Ok(if to {
            RoleOptionKind::AccessToDatacenters(items)
        } else {
            RoleOptionKind::AccessFromCidrs(items)
        })
    }

    /// `[WITH [HASHED] PASSWORD 'p' | WITH GENERATED PASSWORD] [SUPERUSER|NOSUPERUSER]`, without equals signs.
    fn options_of_user(&mut self) -> Parse<Vec<RoleOption>> {
        let mut options = Vec::new();
        if self.eat_word(Keyword::With) {
            let start = self.start();
            let kind = if self.eat_words(&[Keyword::Generated, Keyword::Password]) {
                RoleOptionKind::GeneratedPassword
            } else {
                let hashed = self.eat_word(Keyword::Hashed);
                self.expect_word(Keyword::Password, "after WITH")?;
                self.password(hashed)?
            };
            options.push(RoleOption { kind, span: self.since(start) });
        }
        let start = self.start();
        if self.eat_word(Keyword::Superuser) {
            options.push(RoleOption { kind: RoleOptionKind::Superuser(true), span: self.since(start) });
        } else if self.eat_word(Keyword::Nosuperuser) {
            options.push(RoleOption { kind: RoleOptionKind::Superuser(false), span: self.since(start) });
        }
        Ok(options)
    }

    fn check_passwords(&self, options: &[RoleOption]) -> Parse<()> {
        let name = |option: &RoleOption| match option.kind {
            RoleOptionKind::Password(_) => Some("password"),
            RoleOptionKind::HashedPassword(_) => Some("hashed password"),
            RoleOptionKind::GeneratedPassword => Some("generated password"),
            _ => None,
        };
        let mut first: Option<&str> = None;
        for option in options {
            match (first, name(option)) {
                (None, found) => first = found,
                (Some(first), Some(second)) if first != second => {
                    let message = format!("Options '{first}' and '{second}' are mutually exclusive");
                    return Err(self.refused(option.span, message));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub fn add_identity(&mut self) -> Parse<AddIdentity> {
        let if_not_exists = self.if_not_exists()?;
        let identity = self.unquoted_text("an identity", "identity")?;
        self.expect_word(Keyword::To, "after the identity")?;
        self.expect_word(Keyword::Role, "after TO")?;
        let role = self.unquoted_text("a role name", "identity")?;
        Ok(AddIdentity { if_not_exists, identity, role })
    }

    pub fn drop_identity(&mut self) -> Parse<DropIdentity> {
        let if_exists = self.if_exists()?;
        Ok(DropIdentity { if_exists, identity: self.unquoted_text("an identity", "identity")? })
    }
}
