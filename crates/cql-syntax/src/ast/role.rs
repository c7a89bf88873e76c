//! Roles, users, permissions and identities.

use super::name::{Ident, QualifiedName, Text};
use super::property::MapEntry;
use super::types::DataType;
use crate::span::Span;

/// ROLE, or the older USER. A user may log in unless told otherwise and its unquoted name keeps its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoleKeyword {
    Role,
    User,
}

/// `CREATE ROLE|USER [IF NOT EXISTS] name [WITH ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateRole {
    pub keyword: RoleKeyword,
    pub if_not_exists: bool,
    pub name: Ident,
    pub options: Vec<RoleOption>,
}

/// `ALTER ROLE|USER [IF EXISTS] name [WITH ...]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterRole {
    pub keyword: RoleKeyword,
    pub if_exists: bool,
    pub name: Ident,
    pub options: Vec<RoleOption>,
}

/// `DROP ROLE|USER [IF EXISTS] name`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropRole {
    pub keyword: RoleKeyword,
    pub if_exists: bool,
    pub name: Ident,
}

/// One option of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleOption {
    pub kind: RoleOptionKind,
    pub span: Span,
}

/// The options of a role. Of PASSWORD, HASHED PASSWORD and GENERATED PASSWORD at most one is present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleOptionKind {
    Password(Secret),
    HashedPassword(Secret),
    GeneratedPassword,
    Options(Vec<MapEntry>),
    Superuser(bool),
    Login(bool),
    AccessToAllDatacenters,
    AccessToDatacenters(Vec<Text>),
    AccessFromAllCidrs,
    AccessFromCidrs(Vec<Text>),
}

/// A password. Its debug form hides it, so that logging a statement does not leak it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(*******)")
    }
}

/// `GRANT role TO grantee`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRole {
    pub role: Ident,
    pub grantee: Ident,
}

/// `REVOKE role FROM revokee`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokeRole {
    pub role: Ident,
    pub revokee: Ident,
}

/// `GRANT permissions ON resource TO grantee`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantPermissions {
    pub permissions: Permissions,
    pub resource: Resource,
    pub grantee: Ident,
}

/// `REVOKE permissions ON resource FROM revokee`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevokePermissions {
    pub permissions: Permissions,
    pub resource: Resource,
    pub revokee: Ident,
}

/// `LIST ROLES [OF role] [NORECURSIVE]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRoles {
    pub of: Option<Ident>,
    pub recursive: bool,
}

/// `LIST permissions [ON resource] [OF role] [NORECURSIVE]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPermissions {
    pub permissions: Permissions,
    pub resource: Option<Resource>,
    pub of: Option<Ident>,
    pub recursive: bool,
}

/// `ALL [PERMISSIONS]` or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permissions {
    All,
    /// Never empty; as written, duplicates included.
    These(Vec<Permission>),
}

/// The permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Permission {
    Create,
    Alter,
    Drop,
    Select,
    Modify,
    Authorize,
    Describe,
    Execute,
    Unmask,
    SelectMasked,
}

impl Permission {
    /// Every permission, in Cassandra's order.
    pub const ALL: [Permission; 10] = [
        Permission::Create,
        Permission::Alter,
        Permission::Drop,
        Permission::Select,
        Permission::Modify,
        Permission::Authorize,
        Permission::Describe,
        Permission::Execute,
        Permission::Unmask,
        Permission::SelectMasked,
    ];

    /// The name in capitals, as stored in `system_auth`.
    pub const fn name(self) -> &'static str {
        match self {
            Permission::Create => "CREATE",
            Permission::Alter => "ALTER",
            Permission::Drop => "DROP",
            Permission::Select => "SELECT",
            Permission::Modify => "MODIFY",
            Permission::Authorize => "AUTHORIZE",
            Permission::Describe => "DESCRIBE",
            Permission::Execute => "EXECUTE",
            Permission::Unmask => "UNMASK",
            Permission::SelectMasked => "SELECT_MASKED",
        }
    }
}

/// What permissions are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    AllKeyspaces,
    Keyspace(Ident),
    /// `ALL TABLES IN KEYSPACE k`
    AllTablesIn(Ident),
    /// `[TABLE] t`
    Table(QualifiedName),
    AllRoles,
    Role(Ident),
    AllFunctions,
    /// `ALL FUNCTIONS IN KEYSPACE k`
    AllFunctionsIn(Ident),
    /// `FUNCTION f(types)`
    Function {
        name: QualifiedName,
        arg_types: Vec<DataType>,
    },
    AllMbeans,
    Mbean(Text),
    /// `MBEANS 'pattern'`
    Mbeans(Text),
    /// `... FOR TENANT value`: what of it belongs to one tenant.
    OfTenant(Box<Resource>, Text),
}

/// `ADD IDENTITY [IF NOT EXISTS] 'identity' TO ROLE 'role'`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddIdentity {
    pub if_not_exists: bool,
    pub identity: Text,
    pub role: Text,
}

/// `DROP IDENTITY [IF EXISTS] 'identity'`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropIdentity {
    pub if_exists: bool,
    pub identity: Text,
}
