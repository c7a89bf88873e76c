//! From syntax to plans: names are settled, what the text alone shows to be wrong is refused.

use super::named;
use crate::CqlError;
use crate::bind::Scope;
use cql_syntax::ast::{
    self, AddIdentity, DropIdentity, ListRoles, RoleKeyword, RoleOption, RoleOptionKind, Secret, Statement,
};
use database::grants::{PermissionSet, Resource};

/// A statement on roles, ready to be executed.
#[derive(Clone, Debug)]
pub enum RolePlan {
    Create(CreateRole),
    Alter(AlterRole),
    Drop { name: String, if_exists: bool },
    GrantRole { role: String, member: String },
    RevokeRole { role: String, member: String },
    Grant(PermissionChange),
    Revoke(PermissionChange),
    AddIdentity(AddIdentity),
    DropIdentity(DropIdentity),
    ListRoles(ListRoles),
    ListUsers,
    ListSuperusers,
    ListPermissions(ListPermissions),
}

#[derive(Clone, Debug)]
pub struct CreateRole {
    pub name: String,
    pub if_not_exists: bool,
    pub options: Options,
}

#[derive(Clone, Debug)]
pub struct AlterRole {
    pub name: String,
    pub if_exists: bool,
    pub options: Options,
}

/// What a statement says about a role; `None` is nothing.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub password: Option<Secret>,
    pub hashed_password: Option<Secret>,
    /// The server makes one and tells it once.
    pub generated_password: bool,
    pub superuser: Option<bool>,
    pub login: Option<bool>,
    /// `OPTIONS = {...}`, which nothing here understands.
    pub custom: bool,
    /// Data centers the role may reach; empty means all.
    pub datacenters: Option<Vec<String>>,
    /// Address groups the role may come from; empty means all.
    pub cidrs: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub struct PermissionChange {
    /// Only what makes sense for the resource.
    pub permissions: PermissionSet,
    pub resource: Resource,
    pub role: String,
}

#[derive(Clone, Debug)]
pub struct ListPermissions {
    pub permissions: PermissionSet,
    pub resource: Option<Resource>,
    pub of: Option<String>,
    pub recursive: bool,
}

/// The plan of a statement on roles; `None` if it is something else.
pub fn bind(scope: Scope<'_>, statement: &Statement) -> Result<Option<RolePlan>, CqlError> {
    let name = |ident: &ast::Ident| ident.as_str().to_string();
    Ok(Some(match statement {
        Statement::CreateRole(s) => {
            let mut options = Options::read(&s.options)?;
            if s.keyword == RoleKeyword::User {
                options.login = Some(true);
            }
            RolePlan::Create(CreateRole { name: name(&s.name), if_not_exists: s.if_not_exists, options })
        }
        Statement::AlterRole(s) => {
            let options = Options::read(&s.options)?;
            RolePlan::Alter(AlterRole { name: name(&s.name), if_exists: s.if_exists, options })
        }
        Statement::DropRole(s) => RolePlan::Drop { name: name(&s.name), if_exists: s.if_exists },
        Statement::GrantRole(s) => RolePlan::GrantRole { role: name(&s.role), member: name(&s.grantee) },
        Statement::RevokeRole(s) => RolePlan::RevokeRole { role: name(&s.role), member: name(&s.revokee) },
        Statement::GrantPermissions(s) => {
            RolePlan::Grant(PermissionChange::read(scope, &s.permissions, &s.resource, &s.grantee)?)
        }
        Statement::RevokePermissions(s) => {
            RolePlan::Revoke(PermissionChange::read(scope, &s.permissions, &s.resource, &s.revokee)?)
        }
        Statement::ListRoles(s) => RolePlan::ListRoles(s.clone()),
        Statement::ListUsers => RolePlan::ListUsers,
        Statement::ListSuperUsers => RolePlan::ListSuperusers,
        Statement::ListPermissions(s) => RolePlan::ListPermissions(ListPermissions {
            permissions: named::permissions(&s.permissions),
            resource: s.resource.as_ref().map(|resource| named::resource(scope, resource)).transpose()?,
            of: s.of.as_ref().map(name),
            recursive: s.recursive,
        }),
        Statement::AddIdentity(s) => RolePlan::AddIdentity(s.clone()),
        Statement::DropIdentity(s) => RolePlan::DropIdentity(s.clone()),
        _ => return Ok(None),
    }))
}

impl PermissionChange {
    fn read(
        scope: Scope<'_>,
        permissions: &ast::Permissions,
        resource: &ast::Resource,
        role: &ast::Ident,
    ) -> Result<PermissionChange, CqlError> {
        let resource = named::resource(scope, resource)?;
        let permissions = resource.restrict(named::permissions(permissions))?;
        Ok(PermissionChange { permissions, resource, role: role.as_str().to_string() })
    }
}

impl Options {
    fn read(written: &[RoleOption]) -> Result<Options, CqlError> {
        let mut options = Options::default();
        for option in written {
            let twice = match &option.kind {
                RoleOptionKind::Password(secret) => {
                    options.password.replace(secret.clone()).map(|_| "PASSWORD")
                }
                RoleOptionKind::HashedPassword(secret) => {
                    options.hashed_password.replace(secret.clone()).map(|_| "HASHED_PASSWORD")
                }
                RoleOptionKind::Superuser(value) => options.superuser.replace(*value).map(|_| "SUPERUSER"),
                RoleOptionKind::Login(value) => options.login.replace(*value).map(|_| "LOGIN"),
                RoleOptionKind::Options(_) => {
                    std::mem::replace(&mut options.custom, true).then_some("OPTIONS")
                }
                RoleOptionKind::AccessToAllDatacenters => {
                    options.datacenters = Some(Vec::new());
                    None
                }
                RoleOptionKind::AccessToDatacenters(names) => {
                    options.datacenters = Some(names.iter().map(|name| name.value.clone()).collect());
                    None
                }
                RoleOptionKind::AccessFromAllCidrs => {
                    options.cidrs = Some(Vec::new());
                    None
                }
                RoleOptionKind::AccessFromCidrs(names) => {
                    options.cidrs = Some(names.iter().map(|name| name.value.clone()).collect());
                    None
                }
                RoleOptionKind::GeneratedPassword => {
                    std::mem::replace(&mut options.generated_password, true).then_some("GENERATED_PASSWORD")
                }
            };
            if let Some(property) = twice {
                return Err(CqlError::Syntax(format!("Multiple definition for property '{property}'")));
            }
        }
        Ok(options)
    }
}
