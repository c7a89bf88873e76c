//! Roles, users, permissions, identities.

use std::fmt::{Display, Formatter, Result};

use super::{if_exists, if_not_exists, join, name, parenthesised};
use crate::ast::{
    AddIdentity, AlterRole, CreateRole, DropIdentity, DropRole, GrantPermissions, GrantRole, Ident,
    ListPermissions, ListRoles, Permission, Permissions, Resource, RevokePermissions, RevokeRole,
    RoleKeyword, RoleOption, RoleOptionKind,
};
use crate::quote;

fn keyword(keyword: RoleKeyword) -> &'static str {
    match keyword {
        RoleKeyword::Role => "ROLE",
        RoleKeyword::User => "USER",
    }
}

/// A user's name is written as a string: unquoted it would keep its case, in double quotes it is refused.
fn role_name(f: &mut Formatter<'_>, keyword: RoleKeyword, name: &Ident) -> Result {
    match keyword {
        RoleKeyword::Role => write!(f, "{name}"),
        RoleKeyword::User => f.write_str(&quote::string(&name.name)),
    }
}

impl Display for CreateRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE {} ", keyword(self.keyword))?;
        if_not_exists(f, self.if_not_exists)?;
        role_name(f, self.keyword, &self.name)?;
        options(f, self.keyword, &self.options)
    }
}

impl Display for AlterRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "ALTER {} ", keyword(self.keyword))?;
        if_exists(f, self.if_exists)?;
        role_name(f, self.keyword, &self.name)?;
        options(f, self.keyword, &self.options)
    }
}

impl Display for DropRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP {} ", keyword(self.keyword))?;
        if_exists(f, self.if_exists)?;
        role_name(f, self.keyword, &self.name)
    }
}

fn options(f: &mut Formatter<'_>, keyword: RoleKeyword, options: &[RoleOption]) -> Result {
    match keyword {
        RoleKeyword::Role => super::property::with_clause(f, options),
        RoleKeyword::User => options.iter().try_for_each(|option| user_option(f, &option.kind)),
    }
}

/// USER has no equals signs, and SUPERUSER stands outside WITH.
fn user_option(f: &mut Formatter<'_>, option: &RoleOptionKind) -> Result {
    match option {
        RoleOptionKind::Password(secret) => write!(f, " WITH PASSWORD {}", quote::string(&secret.0)),
        RoleOptionKind::HashedPassword(secret) => {
            write!(f, " WITH HASHED PASSWORD {}", quote::string(&secret.0))
        }
        RoleOptionKind::GeneratedPassword => f.write_str(" WITH GENERATED PASSWORD"),
        RoleOptionKind::Superuser(true) => f.write_str(" SUPERUSER"),
        RoleOptionKind::Superuser(false) => f.write_str(" NOSUPERUSER"),
        // The parser gives a user no other options.
        _ => Ok(()),
    }
}

impl Display for RoleOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            RoleOptionKind::Password(secret) => write!(f, "PASSWORD = {}", quote::string(&secret.0)),
            RoleOptionKind::HashedPassword(secret) => {
                write!(f, "HASHED PASSWORD = {}", quote::string(&secret.0))
            }
            RoleOptionKind::GeneratedPassword => f.write_str("GENERATED PASSWORD"),
            RoleOptionKind::Options(entries) => {
                f.write_str("OPTIONS = ")?;
                super::property::map(f, entries)
            }
            RoleOptionKind::Superuser(value) => write!(f, "SUPERUSER = {value}"),
            RoleOptionKind::Login(value) => write!(f, "LOGIN = {value}"),
            RoleOptionKind::AccessToAllDatacenters => f.write_str("ACCESS TO ALL DATACENTERS"),
            RoleOptionKind::AccessToDatacenters(names) => listed(f, "ACCESS TO DATACENTERS", names),
            RoleOptionKind::AccessFromAllCidrs => f.write_str("ACCESS FROM ALL CIDRS"),
            RoleOptionKind::AccessFromCidrs(names) => listed(f, "ACCESS FROM CIDRS", names),
        }
    }
}

fn listed<T: Display>(f: &mut Formatter<'_>, what: &str, items: &[T]) -> Result {
    write!(f, "{what} {{")?;
    join(f, items, ", ")?;
    f.write_str("}")
}

impl Display for GrantRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "GRANT {} TO {}", self.role, self.grantee)
    }
}

impl Display for RevokeRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "REVOKE {} FROM {}", self.role, self.revokee)
    }
}

impl Display for GrantPermissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "GRANT {} ON {} TO {}", self.permissions, self.resource, self.grantee)
    }
}

impl Display for RevokePermissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "REVOKE {} ON {} FROM {}", self.permissions, self.resource, self.revokee)
    }
}

impl Display for Permissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Permissions::All => f.write_str("ALL PERMISSIONS"),
            Permissions::These(permissions) => join(f, permissions, ", "),
        }
    }
}

impl Display for Permission {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

impl Display for Resource {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Resource::AllKeyspaces => f.write_str("ALL KEYSPACES"),
            Resource::Keyspace(name) => write!(f, "KEYSPACE {name}"),
            Resource::AllTablesIn(name) => write!(f, "ALL TABLES IN KEYSPACE {name}"),
            Resource::Table(name) => write!(f, "TABLE {name}"),
            Resource::AllRoles => f.write_str("ALL ROLES"),
            Resource::Role(name) => write!(f, "ROLE {name}"),
            Resource::AllFunctions => f.write_str("ALL FUNCTIONS"),
            Resource::AllFunctionsIn(name) => write!(f, "ALL FUNCTIONS IN KEYSPACE {name}"),
            Resource::Function { name, arg_types } => {
                f.write_str("FUNCTION ")?;
                name::function(f, name)?;
                parenthesised(f, arg_types)
            }
            Resource::AllMbeans => f.write_str("ALL MBEANS"),
            Resource::Mbean(name) => write!(f, "MBEAN {name}"),
            Resource::Mbeans(name) => write!(f, "MBEANS {name}"),
            Resource::OfTenant(whole, tenant) => write!(f, "{whole} FOR TENANT {tenant}"),
        }
    }
}

fn of_role(f: &mut Formatter<'_>, of: &Option<Ident>, recursive: bool) -> Result {
    if let Some(role) = of {
        write!(f, " OF {role}")?;
    }
    if recursive { Ok(()) } else { f.write_str(" NORECURSIVE") }
}

impl Display for ListRoles {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("LIST ROLES")?;
        of_role(f, &self.of, self.recursive)
    }
}

impl Display for ListPermissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "LIST {}", self.permissions)?;
        if let Some(resource) = &self.resource {
            write!(f, " ON {resource}")?;
        }
        of_role(f, &self.of, self.recursive)
    }
}

impl Display for AddIdentity {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("ADD IDENTITY ")?;
        if_not_exists(f, self.if_not_exists)?;
        write!(f, "{} TO ROLE {}", self.identity, self.role)
    }
}

impl Display for DropIdentity {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DROP IDENTITY ")?;
        if_exists(f, self.if_exists)?;
        write!(f, "{}", self.identity)
    }
}
