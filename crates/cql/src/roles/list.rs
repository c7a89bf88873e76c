//! LIST ROLES, USERS, SUPERUSERS and PERMISSIONS.

use super::Asked;
use super::bind::ListPermissions;
use super::permissions::exists;
use super::tables::Role;
use crate::CqlError;
use cql_syntax::ast::ListRoles;
use database::grants::{Permission, PermissionSet, Resource, is_of_tenant};
use model::types::DataType;
use model::value::encode_map;
use query::spec::put_value;
use query::{ColumnSpec, Rows};
use std::collections::BTreeMap;
use store::Store;

/// Access is never limited to some data centers.
const DATA_CENTERS: &[u8] = b"ALL";

pub(super) async fn roles<S: Store>(asked: &Asked<'_, S>, query: &ListRoles) -> Result<Rows, CqlError> {
    let of = query.of.as_ref().map(|role| role.as_str());
    let found = visible(asked, of, query.recursive).await?;
    let options = encode_map(&DataType::Text, Vec::<(Vec<u8>, Vec<u8>)>::new());
    let columns = [
        ("role", DataType::Text),
        ("super", DataType::Boolean),
        ("login", DataType::Boolean),
        ("options", DataType::map(DataType::Text, DataType::Text)),
        ("datacenters", DataType::Text),
    ];
    let mut result = Listing::new("roles", columns.to_vec());
    for (name, role) in &found {
        let (superuser, login) = ([u8::from(role.is_superuser)], [u8::from(role.can_login)]);
        result.row(&[name.as_bytes(), &superuser, &login, &options, DATA_CENTERS]);
    }
    Ok(result.finish())
}

/// Roles that can log in; superusers by membership are shown as such.
pub(super) async fn users<S: Store>(asked: &Asked<'_, S>) -> Result<Rows, CqlError> {
    let found = visible(asked, None, true).await?;
    let columns = [("name", DataType::Text), ("super", DataType::Boolean), ("datacenters", DataType::Text)];
    let mut result = Listing::new("users", columns.to_vec());
    for name in found.values().filter(|role| role.can_login).map(|role| &role.name) {
        result.row(&[name.as_bytes(), &[u8::from(is_super(asked, name).await?)], DATA_CENTERS]);
    }
    Ok(result.finish())
}

/// Roles with superuser status, their own or through others. Cassandra has this from 5.1 on.
pub(super) async fn superusers<S: Store>(asked: &Asked<'_, S>) -> Result<Rows, CqlError> {
    let found = visible(asked, None, true).await?;
    let mut result = Listing::new("roles", vec![("role", DataType::Text)]);
    for name in found.keys() {
        if is_super(asked, name).await? {
            result.row(&[name.as_bytes()]);
        }
    }
    Ok(result.finish())
}

async fn is_super<S: Store>(asked: &Asked<'_, S>, role: &str) -> Result<bool, CqlError> {
    Ok(asked.tables.with_parents(role, true).await?.values().any(|role| role.is_superuser))
}

/// The roles that the asker may see: with the right to describe all, every role; else only what it is a member of.
async fn visible<S: Store>(
    asked: &Asked<'_, S>,
    of: Option<&str>,
    recursive: bool,
) -> Result<BTreeMap<String, Role>, CqlError> {
    let grants = asked.grants()?;
    let tables = &asked.tables;
    if let Some(of) = of {
        if tables.role(of).await?.is_none() {
            return Err(CqlError::invalid(format!("<role {of}> doesn't exist")));
        }
        if !may_describe_all(asked)? && !grants.roles.contains(of) {
            // The space at the end is Cassandra's.
            let text = format!("You are not authorized to view roles granted to {of} ");
            return Err(CqlError::Unauthorized(text));
        }
        return tables.with_parents(of, recursive).await;
    }
    if may_describe_all(asked)? {
        let all = tables.all_roles().await?;
        return Ok(all.into_iter().map(|role| (role.name.clone(), role)).collect());
    }
    tables.with_parents(&grants.role, recursive).await
}

fn may_describe_all<S: Store>(asked: &Asked<'_, S>) -> Result<bool, CqlError> {
    Ok(asked.grants()?.on(&Resource::Roles).contains(Permission::Describe))
}

/// Answers Void when there is nothing to show, as Cassandra does.
pub(super) async fn permissions<S: Store>(
    asked: &Asked<'_, S>,
    query: &ListPermissions,
) -> Result<Option<Rows>, CqlError> {
    check(asked, query).await?;
    let tables = &asked.tables;
    let mut granted: Vec<(String, String, PermissionSet)> = Vec::new();
    match &query.of {
        None => granted = tables.all_permissions().await?,
        Some(of) => {
            for role in tables.with_parents(of, true).await?.into_keys() {
                let own = tables.permissions(&role).await?;
                granted.extend(own.into_iter().map(|(resource, set)| (role.clone(), resource, set)));
            }
        }
    }
    if let Some(resource) = &query.resource {
        let names: Vec<String> = match query.recursive {
            true => resource.chain().map(|resource| resource.name()).collect(),
            false => vec![resource.name()],
        };
        // What is granted for single tenants of it is granted on it.
        let named: Vec<Resource> = names.iter().filter_map(|name| Resource::stored(name)).collect();
        let of_tenant = |name: &str| named.iter().any(|resource| is_of_tenant(name, resource));
        granted.retain(|(_, resource, _)| names.contains(resource) || of_tenant(resource));
    }
    granted.sort_by(|left, right| (&left.0, &left.1).cmp(&(&right.0, &right.1)));
    let columns = ["role", "username", "resource", "permission"].map(|name| (name, DataType::Text));
    let mut result = Listing::new("permissions", columns.to_vec());
    for (role, name, set) in granted {
        let resource = Resource::stored(&name).map_or(name, |resource| resource.to_string());
        for permission in set.both(query.permissions).iter() {
            result.row(&[
                role.as_bytes(),
                role.as_bytes(),
                resource.as_bytes(),
                permission.name().as_bytes(),
            ]);
        }
    }
    let rows = result.finish();
    Ok((rows.count > 0).then_some(rows))
}

async fn check<S: Store>(asked: &Asked<'_, S>, query: &ListPermissions) -> Result<(), CqlError> {
    let grants = asked.grants()?;
    if let Some(resource) = &query.resource
        && !exists(asked, resource).await?
    {
        return Err(CqlError::invalid(format!("{resource} doesn't exist")));
    }
    if let Some(of) = &query.of
        && asked.tables.role(of).await?.is_none()
    {
        return Err(CqlError::invalid(format!("<role {of}> doesn't exist")));
    }
    let may_see = match &query.of {
        None => may_describe_all(asked)?,
        Some(of) => {
            grants.roles.contains(of) || grants.on(&Resource::Role(of.clone())).contains(Permission::Describe)
        }
    };
    if !may_see {
        let whose = query.of.as_deref().unwrap_or("everyone");
        return Err(CqlError::Unauthorized(format!("You are not authorized to view {whose}'s permissions")));
    }
    Ok(())
}

/// The answer to a statement that made a password: it is told here and nowhere else.
pub(super) fn generated(password: &str) -> Rows {
    let mut result = Listing::new("roles", vec![("generated_password", DataType::Text)]);
    result.row(&[password.as_bytes()]);
    result.finish()
}

/// A result under construction.
struct Listing {
    rows: Rows,
}

impl Listing {
    fn new(table: &str, columns: Vec<(&str, DataType)>) -> Listing {
        let spec = |(name, data_type): (&str, DataType)| ColumnSpec {
            keyspace: "system_auth".into(),
            table: table.into(),
            name: name.into(),
            data_type,
        };
        Listing { rows: Rows::empty(columns.into_iter().map(spec).collect()) }
    }

    fn row(&mut self, values: &[&[u8]]) {
        values.iter().for_each(|value| put_value(&mut self.rows.body, Some(value)));
        self.rows.count += 1;
    }

    fn finish(self) -> Rows {
        self.rows
    }
}
