//! GRANT and REVOKE of permissions; the rows that hold them.

use super::Asked;
use super::bind::PermissionChange;
use super::tables::{Tables, Write, text_set};
use crate::CqlError;
use crate::bind::Scope;
use crate::tenants;
use database::grants::{Permission, PermissionSet, Resource};
use store::Store;

pub(super) async fn grant<S: Store>(asked: &Asked<'_, S>, change: &PermissionChange) -> Result<(), CqlError> {
    may_change(asked, change)?;
    if asked.grants.is_some() && !change.resource.is_grantable(change.permissions) {
        let text =
            "Granting permissions on system keyspaces is strictly limited, this operation is not permitted";
        return Err(CqlError::Unauthorized(text.into()));
    }
    check(asked, change).await?;
    let PermissionChange { permissions, resource, role } = change;
    let held = asked.tables.permissions_on(role, &resource.name()).await?;
    let already = held.both(*permissions);
    let fresh = permissions.without(held);
    if !fresh.is_empty() {
        asked.tables.write(granting(role, resource, fresh)).await?;
    }
    if !already.is_empty() {
        asked.ctx.warn(format!("Role '{role}' was already granted {already} on {resource}"));
    }
    Ok(())
}

pub(super) async fn revoke<S: Store>(
    asked: &Asked<'_, S>,
    change: &PermissionChange,
) -> Result<(), CqlError> {
    may_change(asked, change)?;
    check(asked, change).await?;
    let PermissionChange { permissions, resource, role } = change;
    let name = resource.name();
    let held = asked.tables.permissions_on(role, &name).await?;
    let gone = held.both(*permissions);
    let absent = permissions.without(held);
    if !gone.is_empty() {
        let text = "UPDATE system_auth.role_permissions SET permissions = permissions - ? WHERE role = ? AND resource = ?";
        let mut writes = vec![Write::new(text, &[role, &name]).first(names(gone))];
        if held.without(gone).is_empty() {
            let text =
                "DELETE FROM system_auth.resource_role_permissons_index WHERE resource = ? AND role = ?";
            writes.push(Write::new(text, &[&name, role]));
        }
        asked.tables.write(writes).await?;
    }
    if !absent.is_empty() {
        asked.ctx.warn(format!("Role '{role}' was not granted {absent} on {resource}"));
    }
    Ok(())
}

/// One gives and takes only what one has.
fn may_change<S: Store>(asked: &Asked<'_, S>, change: &PermissionChange) -> Result<(), CqlError> {
    let Some(grants) = &asked.grants else { return Ok(()) };
    grants.require_unbound(&change.resource)?;
    grants.require(Permission::Authorize, &change.resource)?;
    for permission in change.permissions.iter() {
        grants.require(permission, &change.resource)?;
    }
    Ok(())
}

async fn check<S: Store>(asked: &Asked<'_, S>, change: &PermissionChange) -> Result<(), CqlError> {
    asked.grants()?;
    let PermissionChange { resource, role, .. } = change;
    if asked.tables.role(role).await?.is_none() {
        return Err(CqlError::invalid(format!("Role {role} doesn't exist")));
    }
    if let Resource::Function { keyspace, .. } = resource
        && keyspace == "system"
    {
        return Err(CqlError::invalid("Altering permissions on builtin functions is not supported"));
    }
    if !exists(asked, resource).await? {
        return Err(CqlError::invalid(format!("Resource {resource} doesn't exist")));
    }
    if let Resource::OfTenant(whole, tenant) = resource {
        let (_, catalogue) = asked.dialect.catalogue();
        tenants::check_grant(Scope { catalogue: &catalogue, keyspace: None }, whole, tenant)?;
    }
    Ok(())
}

pub(super) async fn exists<S: Store>(asked: &Asked<'_, S>, resource: &Resource) -> Result<bool, CqlError> {
    match resource {
        Resource::Role(role) => Ok(asked.tables.role(role).await?.is_some()),
        other => Ok(other.exists(&asked.dialect.catalogue().1)),
    }
}

/// What gives these permissions to a role.
pub(super) fn granting(role: &str, resource: &Resource, permissions: PermissionSet) -> Vec<Write> {
    let name = resource.name();
    let text = "UPDATE system_auth.role_permissions SET permissions = permissions + ? WHERE role = ? AND resource = ?";
    let index = "INSERT INTO system_auth.resource_role_permissons_index (resource, role) VALUES (?, ?)";
    vec![Write::new(text, &[role, &name]).first(names(permissions)), Write::new(index, &[&name, role])]
}

/// What takes all permissions on a resource from everybody.
pub(super) async fn revoking_all_on<S: Store>(
    tables: &Tables<'_, S>,
    resource: &Resource,
) -> Result<Vec<Write>, CqlError> {
    let name = resource.name();
    let mut writes = Vec::new();
    for role in tables.holders(&name).await? {
        let text = "DELETE FROM system_auth.role_permissions WHERE role = ? AND resource = ?";
        writes.push(Write::new(text, &[&role, &name]));
    }
    if !writes.is_empty() {
        let text = "DELETE FROM system_auth.resource_role_permissons_index WHERE resource = ?";
        writes.push(Write::new(text, &[&name]));
    }
    Ok(writes)
}

fn names(permissions: PermissionSet) -> Option<Vec<u8>> {
    text_set(permissions.iter().map(Permission::name))
}
