//! GRANT and REVOKE of roles to roles.

use super::Asked;
use super::tables::{Write, text_set};
use crate::CqlError;
use database::grants::{Permission, Resource};
use store::Store;

pub(super) async fn grant<S: Store>(asked: &Asked<'_, S>, role: &str, member: &str) -> Result<(), CqlError> {
    check(asked, role, member).await?;
    let tables = &asked.tables;
    if tables.with_parents(member, true).await?.contains_key(role) {
        return Err(CqlError::invalid(format!("{member} is a member of {role}")));
    }
    if tables.with_parents(role, true).await?.contains_key(member) {
        return Err(CqlError::invalid(format!("{role} is a member of {member}")));
    }
    let membership = "UPDATE system_auth.roles SET member_of = member_of + ? WHERE role = ?";
    let index = "INSERT INTO system_auth.role_members (role, member) VALUES (?, ?)";
    let writes =
        vec![Write::new(membership, &[member]).first(text_set([role])), Write::new(index, &[role, member])];
    tables.write(writes).await
}

pub(super) async fn revoke<S: Store>(asked: &Asked<'_, S>, role: &str, member: &str) -> Result<(), CqlError> {
    check(asked, role, member).await?;
    let tables = &asked.tables;
    let found = tables.role(member).await?;
    if !found.is_some_and(|found| found.member_of.iter().any(|parent| parent == role)) {
        return Err(CqlError::invalid(format!("{member} is not a member of {role}")));
    }
    let membership = "UPDATE system_auth.roles SET member_of = member_of - ? WHERE role = ?";
    let index = "DELETE FROM system_auth.role_members WHERE role = ? AND member = ?";
    let writes =
        vec![Write::new(membership, &[member]).first(text_set([role])), Write::new(index, &[role, member])];
    tables.write(writes).await
}

async fn check<S: Store>(asked: &Asked<'_, S>, role: &str, member: &str) -> Result<(), CqlError> {
    if let Some(grants) = &asked.grants {
        grants.require_on_roles(Permission::Authorize, &Resource::Role(role.to_string()))?;
    }
    asked.grants()?;
    for name in [role, member] {
        if asked.tables.role(name).await?.is_none() {
            return Err(CqlError::invalid(format!("{name} doesn't exist")));
        }
    }
    Ok(())
}
