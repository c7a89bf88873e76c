//! What happens to permissions when keyspaces and tables come and go.
//!
//! The creator of something may do everything with it. What is dropped takes the permissions on it along. Should a
//! crash fall between a drop and that, creating something of the same name removes what was left, so permissions on a
//! thing never outlive it.

use super::permissions::{granting, revoking_all_on};
use super::tables::Tables;
use crate::CqlError;
use crate::ddl::{ChangeKind, ChangeTarget, SchemaChange};
use crate::session::{Dialect, Session};
use database::grants::{Resource, is_of_tenant};
use store::Store;

/// Call it after a change of the schema has become visible.
pub(crate) async fn schema_changed<S: Store>(
    dialect: &Dialect<S>,
    session: &Session,
    change: &SchemaChange,
    now_micros: i64,
) -> Result<(), CqlError> {
    let keyspace = &change.keyspace;
    let resources = match &change.target {
        ChangeTarget::Keyspace => {
            vec![Resource::Keyspace(keyspace.clone()), Resource::FunctionsIn(keyspace.clone())]
        }
        ChangeTarget::Table(table) => vec![Resource::Table(keyspace.clone(), table.clone())],
        ChangeTarget::Type(_) => return Ok(()),
        ChangeTarget::Function(name, types) | ChangeTarget::Aggregate(name, types) => {
            vec![Resource::function(keyspace, name, types)]
        }
    };
    let tables = Tables::new(dialect, now_micros);
    match change.kind {
        ChangeKind::Updated => Ok(()),
        ChangeKind::Dropped => revoke(&tables, change, &resources, now_micros).await,
        ChangeKind::Created => {
            // As of the moment before, so that what is granted now stays.
            revoke(&tables, change, &resources, now_micros - 1).await?;
            let Some(creator) = &session.role else { return Ok(()) };
            let writes = resources.iter().flat_map(|r| granting(creator, r, r.applicable())).collect();
            tables.write(writes).await
        }
    }
}

/// The same for a view or projection, on which only reading can be granted: whoever made it gets nothing, and nothing outlives it.
pub(crate) async fn view_changed<S: Store>(
    dialect: &Dialect<S>,
    (keyspace, name): (&str, &str),
    change: &SchemaChange,
    now_micros: i64,
) -> Result<(), CqlError> {
    let resources = [Resource::Table(keyspace.to_string(), name.to_string())];
    // As of the moment before, so that what is granted now stays.
    revoke(&Tables::new(dialect, now_micros), change, &resources, now_micros - 1).await
}

/// Takes all permissions on these and on everything in them from everybody.
async fn revoke<S: Store>(
    tables: &Tables<'_, S>,
    change: &SchemaChange,
    resources: &[Resource],
    micros: i64,
) -> Result<(), CqlError> {
    let mut writes = Vec::new();
    for resource in resources {
        writes.extend(revoking_all_on(tables, resource).await?);
    }
    let all = tables.granted_resources().await?;
    for name in all.iter().filter(|name| resources.iter().any(|resource| is_of_tenant(name, resource))) {
        if let Some(of_tenant) = Resource::stored(name) {
            writes.extend(revoking_all_on(tables, &of_tenant).await?);
        }
    }
    if change.target == ChangeTarget::Keyspace {
        let inside: Vec<String> = resources.iter().map(|resource| format!("{}/", resource.name())).collect();
        for name in all {
            if inside.iter().any(|prefix| name.starts_with(prefix))
                && let Some(resource) = Resource::stored(&name)
            {
                writes.extend(revoking_all_on(tables, &resource).await?);
            }
        }
    }
    tables.write_at(writes, micros).await
}
