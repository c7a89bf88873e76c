//! What a role may do: everything granted to it and to the roles it is a member of, kept per shard for a moment.
//!
//! A change made by a statement is seen by every shard at once, because it moves the shared [`Generation`] on. A change
//! made by writing to the tables directly is seen within [`VALIDITY_MICROS`].

mod permission;
mod resource;
mod tenant;

pub use permission::{Permission, PermissionSet};
pub use resource::Resource;
pub use tenant::{Bound, is_of_tenant, wire_value};

use crate::Runtime;
use query::QueryError;
use query::fault::AccessFault;
use resource::is_readable_by_all;
use schema::Table;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::Store;

const VALIDITY_MICROS: i64 = 2_000_000;

/// Roles kept per shard before all are forgotten; each costs a few hundred bytes and 100 per permission.
const ROLES_MAX: usize = 10_000;

/// Grows whenever roles or permissions change. One for all shards.
#[derive(Debug, Default)]
pub struct Generation(AtomicU64);

impl Generation {
    pub fn current(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Call it after the change can be read.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// The roles that this shard has met lately.
#[derive(Default)]
pub struct Cache {
    by_role: RefCell<HashMap<Arc<str>, Rc<Grants>>>,
}

/// By table; `None`: it is bound to nothing there.
type BoundByTable = HashMap<(u32, bool), Option<Rc<Bound>>>;

/// See the module.
pub struct Grants {
    pub role: Arc<str>,
    /// Itself or through a role it is a member of.
    pub superuser: bool,
    /// Itself and every role it is a member of.
    pub roles: BTreeSet<String>,
    by_resource: HashMap<String, PermissionSet>,
    /// Worked out on first use, parents included. Ids of tables are never used twice.
    by_table: RefCell<HashMap<(u32, bool), PermissionSet>>,
    /// What is granted for single tenants, by the stored name of the resource.
    for_tenants: Vec<(String, String, PermissionSet)>,
    /// Which tenants of a table it is bound to, worked out on first use. A table may get tenants later.
    bound: RefCell<BoundByTable>,
    generation: u64,
    loaded_micros: i64,
}

impl Cache {
    fn fresh(&self, role: &str, generation: u64, now_micros: i64) -> Option<Rc<Grants>> {
        let by_role = self.by_role.borrow();
        let found = by_role.get(role)?;
        let age = now_micros - found.loaded_micros;
        (found.generation == generation && (0..VALIDITY_MICROS).contains(&age)).then(|| found.clone())
    }

    fn keep(&self, grants: &Rc<Grants>) {
        let mut by_role = self.by_role.borrow_mut();
        if by_role.len() >= ROLES_MAX {
            by_role.clear();
        }
        by_role.insert(grants.role.clone(), grants.clone());
    }
}

/// A role as it is stored, with all that it is a member of.
#[derive(Debug, Default)]
pub struct StoredRole {
    /// Itself or through a role it is a member of.
    pub superuser: bool,
    /// Itself and every role it is a member of; empty if it does not exist.
    pub roles: BTreeSet<String>,
    /// What these were granted: stored names of resources, permissions.
    pub granted: Vec<(String, PermissionSet)>,
}

/// What this role may do now. `read` reads it from the tables when this shard does not know it.
pub async fn grants<S: Store, E>(
    runtime: &Runtime<S>,
    role: &Arc<str>,
    now_micros: i64,
    read: impl AsyncFnOnce() -> Result<StoredRole, E>,
) -> Result<Rc<Grants>, E> {
    // Read before the tables: a change in between makes the result stale, never wrong for long.
    let generation = runtime.shared.grants.current();
    if let Some(fresh) = runtime.grants.fresh(role, generation, now_micros) {
        return Ok(fresh);
    }
    let stored = read().await?;
    let mut by_resource: HashMap<String, PermissionSet> = HashMap::new();
    let mut for_tenants = Vec::new();
    for (resource, permissions) in stored.granted {
        if let Some(Resource::OfTenant(whole, tenant)) = Resource::stored(&resource) {
            for_tenants.push((whole.name(), tenant, permissions));
            continue;
        }
        let entry = by_resource.entry(resource).or_default();
        *entry = entry.with(permissions);
    }
    let grants = Rc::new(Grants {
        role: role.clone(),
        superuser: stored.superuser,
        roles: stored.roles,
        by_resource,
        by_table: RefCell::default(),
        for_tenants,
        bound: RefCell::default(),
        generation,
        loaded_micros: now_micros,
    });
    runtime.grants.keep(&grants);
    Ok(grants)
}

/// Whether reading it can be granted without its table: of our projections, not of materialized views, whose rules are Cassandra's.
fn may_be_granted(table: &Table) -> bool {
    table.view.as_ref().is_some_and(|view| view.projection.is_some())
}

fn named(table: &Table) -> Resource {
    Resource::Table(table.keyspace.to_string(), table.name.to_string())
}

/// The table whose permissions count: for a view those of its base.
fn protected(table: &Table) -> Resource {
    let name = table.view.as_ref().map_or(&table.name, |view| &view.base);
    Resource::Table(table.keyspace.to_string(), name.to_string())
}

impl Grants {
    /// Permissions on a resource, those on its parents included.
    pub fn on(&self, resource: &Resource) -> PermissionSet {
        if self.superuser {
            return resource.applicable();
        }
        let system = resource.is_system_data();
        // What is granted on all keyspaces does not reach the server's own.
        let chain = resource.chain().filter(|r| !(system && *r == Resource::Data));
        let granted = chain.filter_map(|r| self.by_resource.get(&r.name()).copied());
        granted.fold(PermissionSet::default(), PermissionSet::with)
    }

    /// Permissions on a table, from memory after the first time.
    fn on_table(&self, table: &Table) -> PermissionSet {
        let place = (table.id, table.has_tenants());
        let known = self.by_table.borrow().get(&place).copied();
        known.unwrap_or_else(|| {
            let mut found = self.on(&protected(table));
            if may_be_granted(table) && self.on(&named(table)).contains(Permission::Select) {
                found = found.with(PermissionSet::of(&[Permission::Select]));
            }
            if is_readable_by_all(&table.keyspace, &table.name) {
                found = found.with(PermissionSet::of(&[Permission::Select]));
            }
            // Of which tenants is asked for when their values are known.
            if let Some(bound) = self.tenants(table) {
                found = found.with(bound.any());
            }
            self.by_table.borrow_mut().insert(place, found);
            found
        })
    }

    pub fn require(&self, permission: Permission, resource: &Resource) -> Result<(), QueryError> {
        if self.superuser || self.on(resource).contains(permission) {
            return Ok(());
        }
        Err(self.refusal(permission, resource))
    }

    pub fn may_on_table(&self, permission: Permission, table: &Table) -> bool {
        self.superuser || self.on_table(table).contains(permission)
    }

    pub fn require_on_table(&self, permission: Permission, table: &Table) -> Result<(), QueryError> {
        if self.may_on_table(permission, table) {
            return Ok(());
        }
        Err(self.refusal(permission, &protected(table)))
    }

    /// The same for statements on roles, which say less.
    pub fn require_on_roles(&self, permission: Permission, resource: &Resource) -> Result<(), QueryError> {
        self.require(permission, resource)
            .map_err(|_| AccessFault::NoPrivilege { role: self.role.to_string() }.into())
    }

    fn refusal(&self, permission: Permission, resource: &Resource) -> QueryError {
        AccessFault::NoPermission {
            role: self.role.to_string(),
            permission: permission.name().to_string(),
            resource: resource.to_string(),
        }
        .into()
    }
}
