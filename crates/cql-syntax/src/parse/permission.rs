//! GRANT, REVOKE and LIST. The leading word has been read by the caller.

use super::name::is_name;
use super::{Parse, Parser};
use crate::ast::{
    GrantPermissions, GrantRole, ListPermissions, ListRoles, Permission, Permissions, Resource,
    RevokePermissions, RevokeRole, Statement, Text,
};
use crate::lex::{Keyword, TokenKind};

impl Parser<'_> {
    pub fn grant(&mut self) -> Parse<Statement> {
        if self.is_role_before(Keyword::To) {
            let role = self.role_name()?;
            self.bump();
            let grantee = self.role_name()?;
            return Ok(Statement::GrantRole(GrantRole { role, grantee }));
        }
        let permissions = self.permissions()?;
        self.expect_word(Keyword::On, "after the permissions")?;
        let resource = self.resource()?;
        self.expect_word(Keyword::To, "before the role")?;
        let grantee = self.role_name()?;
        Ok(Statement::GrantPermissions(Box::new(GrantPermissions { permissions, resource, grantee })))
    }

    pub fn revoke(&mut self) -> Parse<Statement> {
        if self.is_role_before(Keyword::From) {
            let role = self.role_name()?;
            self.bump();
            let revokee = self.role_name()?;
            return Ok(Statement::RevokeRole(RevokeRole { role, revokee }));
        }
        let permissions = self.permissions()?;
        self.expect_word(Keyword::On, "after the permissions")?;
        let resource = self.resource()?;
        self.expect_word(Keyword::From, "before the role")?;
        let revokee = self.role_name()?;
        Ok(Statement::RevokePermissions(Box::new(RevokePermissions { permissions, resource, revokee })))
    }

    /// Whether a role's name and then `keyword` follow.
    fn is_role_before(&self, keyword: Keyword) -> bool {
        let named =
            is_name(self.kind()) || matches!(self.kind(), TokenKind::String | TokenKind::DollarString);
        named && self.is_word_at(1, keyword)
    }

    pub fn list(&mut self) -> Parse<Statement> {
        if self.eat_word(Keyword::Users) {
            return Ok(Statement::ListUsers);
        }
        if self.eat_word(Keyword::Superusers) {
            return Ok(Statement::ListSuperUsers);
        }
        if self.eat_word(Keyword::Roles) {
            let of = if self.eat_word(Keyword::Of) { Some(self.role_name()?) } else { None };
            let recursive = !self.eat_word(Keyword::Norecursive);
            return Ok(Statement::ListRoles(ListRoles { of, recursive }));
        }
        if let Some(level) = self.list_service_levels()? {
            return Ok(Statement::ServiceLevel(Box::new(level)));
        }
        let permissions = self.permissions()?;
        let resource = if self.eat_word(Keyword::On) { Some(self.resource()?) } else { None };
        let of = if self.eat_word(Keyword::Of) { Some(self.role_name()?) } else { None };
        let recursive = !self.eat_word(Keyword::Norecursive);
        Ok(Statement::ListPermissions(Box::new(ListPermissions { permissions, resource, of, recursive })))
    }

    /// `ALL [PERMISSIONS]` or `p [PERMISSION], ...`
    fn permissions(&mut self) -> Parse<Permissions> {
        if self.eat_word(Keyword::All) {
            self.eat_word(Keyword::Permissions);
            return Ok(Permissions::All);
        }
        Ok(Permissions::These(self.comma_list(Self::permission)?))
    }

    fn permission(&mut self) -> Parse<Permission> {
        let TokenKind::Keyword(keyword) = self.kind() else { return Err(self.not_a_permission()) };
        let permission = match keyword {
            Keyword::Create => Permission::Create,
            Keyword::Alter => Permission::Alter,
            Keyword::Drop => Permission::Drop,
            Keyword::Select => Permission::Select,
            Keyword::Modify => Permission::Modify,
            Keyword::Authorize => Permission::Authorize,
            Keyword::Describe => Permission::Describe,
            Keyword::Execute => Permission::Execute,
            Keyword::Unmask => Permission::Unmask,
            Keyword::SelectMasked => Permission::SelectMasked,
            _ => return Err(self.not_a_permission()),
        };
        self.bump();
        self.eat_word(Keyword::Permission);
        Ok(permission)
    }

    fn not_a_permission(&self) -> crate::SyntaxError {
        self.no_viable(
            "expected ALL or a permission: CREATE, ALTER, DROP, SELECT, MODIFY, AUTHORIZE, DESCRIBE, EXECUTE, UNMASK, \
             SELECT_MASKED",
        )
    }

    /// A resource, or what of it belongs to one tenant.
    fn resource(&mut self) -> Parse<Resource> {
        let whole = self.untenanted()?;
        if !(self.is_plain_word(0, "for") && self.is_plain_word(1, "tenant")) {
            return Ok(whole);
        }
        self.bump();
        self.bump();
        let tenant = match self.kind() {
            TokenKind::Integer | TokenKind::Uuid => {
                let token = self.bump();
                Text { value: self.text_of(token).to_ascii_lowercase(), span: token.span() }
            }
            _ => self.string("after FOR TENANT")?,
        };
        Ok(Resource::OfTenant(Box::new(whole), tenant))
    }

    /// These are no words of the grammar: columns and tables may be called so everywhere else.
    pub(super) fn is_plain_word(&self, ahead: usize, word: &str) -> bool {
        self.kind_at(ahead) == TokenKind::Word
            && self.text_of(self.token_at(ahead)).eq_ignore_ascii_case(word)
    }

    fn untenanted(&mut self) -> Parse<Resource> {
        // `all`, `role`, `function` and so on may be tables too; what follows tells.
        let followed = |parser: &Self| {
            is_name(parser.kind_at(1))
                || matches!(parser.kind_at(1), TokenKind::String | TokenKind::DollarString)
        };
        match self.kind() {
            TokenKind::Keyword(Keyword::All) if followed(self) => self.whole_resource(),
            TokenKind::Keyword(Keyword::Keyspace | Keyword::Schema) => {
                self.bump();
                Ok(Resource::Keyspace(self.keyspace_name()?))
            }
            TokenKind::Keyword(Keyword::Table) => {
                self.bump();
                Ok(Resource::Table(self.table_name()?))
            }
            TokenKind::Keyword(Keyword::Role) if followed(self) => {
                self.bump();
                Ok(Resource::Role(self.role_name()?))
            }
            TokenKind::Keyword(Keyword::Function) if followed(self) || self.is_word_at(1, Keyword::Token) => {
                self.bump();
                let name = self.function_name()?;
                Ok(Resource::Function { name, arg_types: self.type_list()? })
            }
            TokenKind::Keyword(Keyword::Mbean) if followed(self) => {
                self.bump();
                Ok(Resource::Mbean(self.string("with the name of the bean")?))
            }
            TokenKind::Keyword(Keyword::Mbeans) if followed(self) => {
                self.bump();
                Ok(Resource::Mbeans(self.string("with the pattern of beans")?))
            }
            _ => Ok(Resource::Table(self.table_name()?)),
        }
    }

    /// `ALL KEYSPACES`, `ALL TABLES IN KEYSPACE k`, `ALL ROLES`, `ALL FUNCTIONS [IN KEYSPACE k]`, `ALL MBEANS`
    fn whole_resource(&mut self) -> Parse<Resource> {
        self.bump();
        if self.eat_word(Keyword::Keyspaces) {
            return Ok(Resource::AllKeyspaces);
        }
        if self.eat_word(Keyword::Roles) {
            return Ok(Resource::AllRoles);
        }
        if self.eat_word(Keyword::Mbeans) {
            return Ok(Resource::AllMbeans);
        }
        if self.eat_word(Keyword::Tables) {
            self.expect_word(Keyword::In, "after ALL TABLES")?;
            return Ok(Resource::AllTablesIn(self.in_keyspace()?));
        }
        if self.eat_word(Keyword::Functions) {
            if !self.eat_word(Keyword::In) {
                return Ok(Resource::AllFunctions);
            }
            return Ok(Resource::AllFunctionsIn(self.in_keyspace()?));
        }
        Err(self.no_viable("expected KEYSPACES, TABLES, ROLES, FUNCTIONS or MBEANS after ALL"))
    }

    fn in_keyspace(&mut self) -> Parse<crate::ast::Ident> {
        if !self.eat_word(Keyword::Schema) {
            self.expect_word(Keyword::Keyspace, "after IN")?;
        }
        self.keyspace_name()
    }
}
