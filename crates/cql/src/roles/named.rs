//! What statements call permissions and resources.

use crate::CqlError;
use crate::bind::Scope;
use crate::bind::types::text_of;
use cql_syntax::ast;
use database::grants::{PermissionSet, Resource};

/// The permissions that a statement names.
pub fn permissions(written: &ast::Permissions) -> PermissionSet {
    match written {
        ast::Permissions::All => PermissionSet::ALL,
        ast::Permissions::These(list) => {
            let one = |permission: &ast::Permission| PermissionSet::stored(permission.name());
            list.iter().map(one).fold(PermissionSet::default(), PermissionSet::with)
        }
    }
}

/// The resource that a statement names; a table without keyspace is one of the session's.
pub fn resource(scope: Scope<'_>, written: &ast::Resource) -> Result<Resource, CqlError> {
    let name = |ident: &ast::Ident| ident.as_str().to_string();
    Ok(match written {
        ast::Resource::AllKeyspaces => Resource::Data,
        ast::Resource::Keyspace(keyspace) => Resource::Keyspace(name(keyspace)),
        ast::Resource::AllTablesIn(keyspace) => Resource::AllTables(name(keyspace)),
        ast::Resource::Table(table) => {
            let keyspace = scope.keyspace_name(table.keyspace_str())?;
            Resource::Table(keyspace.to_string(), table.as_str().to_string())
        }
        ast::Resource::AllRoles => Resource::Roles,
        ast::Resource::Role(role) => Resource::Role(name(role)),
        ast::Resource::AllFunctions => Resource::Functions,
        ast::Resource::AllFunctionsIn(keyspace) => Resource::FunctionsIn(name(keyspace)),
        ast::Resource::Function { name, arg_types } => {
            // The spelling is Cassandra's.
            let text = "In this context function name must be explictly qualified by a keyspace";
            let keyspace = name.keyspace_str().ok_or_else(|| CqlError::invalid(text))?;
            let types: Vec<String> = arg_types.iter().map(text_of).collect();
            Resource::function(keyspace, name.as_str(), &types)
        }
        ast::Resource::OfTenant(whole, tenant) => {
            let whole = resource(scope, whole)?;
            if !matches!(whole, Resource::Keyspace(_) | Resource::AllTables(_) | Resource::Table(..)) {
                return Err(CqlError::Syntax("FOR TENANT follows a keyspace or a table".into()));
            }
            Resource::OfTenant(Box::new(whole), tenant.value.clone())
        }
        ast::Resource::AllMbeans => Resource::Beans,
        ast::Resource::Mbean(bean) | ast::Resource::Mbeans(bean) => Resource::Bean(bean.value.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use database::grants::Permission;

    #[test]
    fn the_grammar_and_the_middle_know_the_same_permissions() {
        let written = ast::Permission::ALL.map(|permission| permission.name());
        assert_eq!(written, Permission::ALL.map(Permission::name));
        assert_eq!(permissions(&ast::Permissions::These(ast::Permission::ALL.to_vec())), PermissionSet::ALL);
    }
}
