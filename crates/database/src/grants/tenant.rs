//! Which tenants a role is bound to.
//!
//! A permission FOR TENANT gives a role that permission on the tenant's rows, and binds the role: in a table where it has any, it
//! can touch only the rows of its own tenants, even if something else is granted to it on the whole table. So a forgotten
//! earlier grant opens nothing. Superusers are bound to nothing.

use super::{Grants, Permission, PermissionSet, Resource, protected};
use crate::grants::resource::TENANT;
use model::types::DataType;
use query::QueryError;
use query::fault::AccessFault;
use schema::Table;
use std::rc::Rc;

/// Wire values of tenants, and what may be done to the rows of each.
#[derive(Debug, Default)]
pub struct Bound(Vec<(Vec<u8>, PermissionSet)>);

impl Bound {
    pub fn may(&self, permission: Permission, tenant: &[u8]) -> bool {
        self.0.iter().any(|(value, permissions)| value == tenant && permissions.contains(permission))
    }

    /// What may be done to the rows of some tenant.
    pub fn any(&self) -> PermissionSet {
        self.0.iter().fold(PermissionSet::default(), |all, (_, permissions)| all.with(*permissions))
    }
}

impl Grants {
    /// Whether it is bound to tenants of some table.
    pub fn is_bound(&self) -> bool {
        !self.superuser && !self.for_tenants.is_empty()
    }

    /// The tenants of a table that it is bound to; `None`: all are open to it, as far as it may read and write the table.
    pub fn tenants(&self, table: &Table) -> Option<Rc<Bound>> {
        if !self.is_bound() || !table.has_tenants() {
            return None;
        }
        let place = (table.id, true);
        if let Some(known) = self.bound.borrow().get(&place) {
            return known.clone();
        }
        let found = self.look_up(table).map(Rc::new);
        self.bound.borrow_mut().insert(place, found.clone());
        found
    }

    fn look_up(&self, table: &Table) -> Option<Bound> {
        let data_type = &table.tenant_column()?.data_type;
        let resource = protected(table);
        let names: Vec<String> = resource.chain().map(|resource| resource.name()).collect();
        let whole = self.on(&resource);
        let mut bound: Option<Bound> = None;
        for (_, tenant, permissions) in self.for_tenants.iter().filter(|(name, ..)| names.contains(name)) {
            let bound = bound.get_or_insert_default();
            // A value that is none of this column's is nobody's: the role is bound all the same.
            let Some(value) = wire_value(data_type, tenant) else { continue };
            let permissions = permissions.with(whole);
            match bound.0.iter_mut().find(|(known, _)| *known == value) {
                Some((_, known)) => *known = known.with(permissions),
                None => bound.0.push((value, permissions)),
            }
        }
        bound
    }

    /// Whether it is bound to this tenant somewhere in a keyspace.
    pub fn has_tenant(&self, keyspace: &str, tenant: &str) -> bool {
        let is_in = |name: &str| Resource::stored(name).is_some_and(|r| r.data_keyspace() == Some(keyspace));
        self.for_tenants.iter().any(|(name, known, _)| known == tenant && is_in(name))
    }

    /// Whether it is bound in this resource, or in a part of it, or in what it is a part of.
    pub fn is_bound_in(&self, resource: &Resource) -> bool {
        let name = resource.name();
        let is_part = |inner: &str, outer: &str| {
            Resource::stored(inner).is_some_and(|inner| inner.chain().any(|r| r.name() == outer))
        };
        self.is_bound()
            && self.for_tenants.iter().any(|(known, ..)| is_part(known, &name) || is_part(&name, known))
    }

    /// Refuses a role that is bound to tenants what would reach further than their rows.
    pub fn require_unbound(&self, resource: &Resource) -> Result<(), QueryError> {
        match self.is_bound_in(resource) {
            false => Ok(()),
            true => {
                Err(AccessFault::AllTenants { role: self.role.to_string(), resource: resource.to_string() }
                    .into())
            }
        }
    }
}

/// What a tenant's text means in a column of this type.
pub fn wire_value(data_type: &DataType, text: &str) -> Option<Vec<u8>> {
    Some(match data_type {
        DataType::Text => text.as_bytes().to_vec(),
        DataType::Ascii => Some(text.as_bytes()).filter(|bytes| bytes.is_ascii())?.to_vec(),
        DataType::TinyInt => text.parse::<i8>().ok()?.to_be_bytes().to_vec(),
        DataType::SmallInt => text.parse::<i16>().ok()?.to_be_bytes().to_vec(),
        DataType::Int => text.parse::<i32>().ok()?.to_be_bytes().to_vec(),
        DataType::BigInt => text.parse::<i64>().ok()?.to_be_bytes().to_vec(),
        DataType::Uuid | DataType::TimeUuid => model::timeuuid::parse(text)?.to_vec(),
        _ => return None,
    })
}

/// Whether a stored name is of this resource for some tenant.
pub fn is_of_tenant(name: &str, resource: &Resource) -> bool {
    name.strip_prefix(&resource.name()).is_some_and(|rest| rest.starts_with(TENANT))
}
