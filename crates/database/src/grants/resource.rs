//! What permissions are about: names as stored in `system_auth`, names as shown, parents, what can be granted.

use super::permission::{Permission, PermissionSet};
use query::QueryError;
use query::fault::AccessFault;
use schema::{Catalogue, is_local_system_name, is_system_name, is_virtual_system_name};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// All keyspaces.
    Data,
    Keyspace(String),
    AllTables(String),
    Table(String, String),
    Roles,
    Role(String),
    Functions,
    FunctionsIn(String),
    /// There are no user-defined functions, so this names nothing.
    Function {
        keyspace: String,
        name: String,
        types: Vec<String>,
    },
    Beans,
    /// One bean, or a pattern of beans. Nothing here is controlled by them; tools may still grant them.
    Bean(String),
    /// What of some data belongs to one tenant.
    OfTenant(Box<Resource>, String),
}

use Permission::*;

const TABLE: PermissionSet =
    PermissionSet::of(&[Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked]);
const KEYSPACE: PermissionSet =
    PermissionSet::of(&[Create, Alter, Drop, Select, Modify, Authorize, Unmask, SelectMasked]);
const ROLE: PermissionSet = PermissionSet::of(&[Alter, Drop, Authorize, Describe]);
const ROLES: PermissionSet = PermissionSet::of(&[Create, Alter, Drop, Authorize, Describe]);
const FUNCTION: PermissionSet = PermissionSet::of(&[Alter, Drop, Authorize, Execute]);
const FUNCTIONS: PermissionSet = PermissionSet::of(&[Create, Alter, Drop, Authorize, Execute]);
const BEANS: PermissionSet = PermissionSet::of(&[Select, Modify, Authorize, Describe, Execute]);

/// Between a resource and the tenant that a permission is for. No name of a keyspace or table holds it.
pub(super) const TENANT: &str = "?tenant=";

/// What can be granted for one tenant: what is done to rows.
const OF_TENANT: PermissionSet = PermissionSet::of(&[Select, Modify, Unmask, SelectMasked]);

impl Resource {
    /// The function or aggregate of this name with these arguments.
    pub fn function<T: AsRef<str>>(keyspace: &str, name: &str, types: &[T]) -> Resource {
        let types = types.iter().map(|text| text.as_ref().to_string()).collect();
        Resource::Function { keyspace: keyspace.into(), name: name.into(), types }
    }

    /// What a stored name means.
    pub fn stored(name: &str) -> Option<Resource> {
        if let Some((whole, tenant)) = name.split_once(TENANT).filter(|_| name.starts_with("data")) {
            let whole = Resource::stored(whole)?;
            return Some(Resource::OfTenant(Box::new(whole), tenant.into()));
        }
        let (kind, rest) = match name.split_once('/') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (name, None),
        };
        Some(match (kind, rest) {
            ("data", None) => Resource::Data,
            ("data", Some(rest)) => match rest.split_once('/') {
                None => Resource::Keyspace(rest.into()),
                Some((keyspace, "*")) => Resource::AllTables(keyspace.into()),
                Some((keyspace, table)) => Resource::Table(keyspace.into(), table.into()),
            },
            ("roles", None) => Resource::Roles,
            ("roles", Some(role)) => Resource::Role(role.into()),
            ("functions", None) => Resource::Functions,
            ("functions", Some(rest)) => match rest.split_once('/') {
                None => Resource::FunctionsIn(rest.into()),
                Some((keyspace, function)) => {
                    let (name, types) = function.strip_suffix(']')?.split_once('[')?;
                    let types: Vec<&str> = types.split('^').filter(|text| !text.is_empty()).collect();
                    Resource::function(keyspace, name, &types)
                }
            },
            ("mbean", None) => Resource::Beans,
            ("mbean", Some(bean)) => Resource::Bean(bean.into()),
            _ => return None,
        })
    }

    /// The name it is stored by.
    pub fn name(&self) -> String {
        match self {
            Resource::Data => "data".into(),
            Resource::Keyspace(keyspace) => format!("data/{keyspace}"),
            Resource::AllTables(keyspace) => format!("data/{keyspace}/*"),
            Resource::Table(keyspace, table) => format!("data/{keyspace}/{table}"),
            Resource::Roles => "roles".into(),
            Resource::Role(role) => format!("roles/{role}"),
            Resource::Functions => "functions".into(),
            Resource::FunctionsIn(keyspace) => format!("functions/{keyspace}"),
            Resource::Function { keyspace, name, types } => {
                format!("functions/{keyspace}/{name}[{}]", types.join("^"))
            }
            Resource::Beans => "mbean".into(),
            Resource::Bean(bean) => format!("mbean/{bean}"),
            Resource::OfTenant(whole, tenant) => format!("{}{TENANT}{tenant}", whole.name()),
        }
    }

    pub fn parent(&self) -> Option<Resource> {
        match self {
            Resource::Data | Resource::Roles | Resource::Functions | Resource::Beans => None,
            Resource::Keyspace(_) => Some(Resource::Data),
            Resource::AllTables(keyspace) => Some(Resource::Keyspace(keyspace.clone())),
            Resource::Table(keyspace, _) => Some(Resource::AllTables(keyspace.clone())),
            Resource::Role(_) => Some(Resource::Roles),
            Resource::FunctionsIn(_) => Some(Resource::Functions),
            Resource::Function { keyspace, .. } => Some(Resource::FunctionsIn(keyspace.clone())),
            Resource::Bean(_) => Some(Resource::Beans),
            // A permission on all of it includes every part.
            Resource::OfTenant(whole, _) => Some((**whole).clone()),
        }
    }

    /// Itself and its parents, nearest first.
    pub fn chain(&self) -> impl Iterator<Item = Resource> {
        std::iter::successors(Some(self.clone()), Resource::parent)
    }

    /// The keyspace it is or is in, for data.
    pub fn data_keyspace(&self) -> Option<&str> {
        match self {
            Resource::Keyspace(keyspace) | Resource::AllTables(keyspace) | Resource::Table(keyspace, _) => {
                Some(keyspace)
            }
            Resource::OfTenant(whole, _) => whole.data_keyspace(),
            _ => None,
        }
    }

    /// Whether it is data of the server's own. What is granted on all keyspaces is not granted on these.
    pub fn is_system_data(&self) -> bool {
        self.data_keyspace().is_some_and(is_system_name)
    }

    /// Whether GRANT may give these permissions. Of the server's own stored tables few can be given.
    pub fn is_grantable(&self, permissions: PermissionSet) -> bool {
        let limited = self
            .data_keyspace()
            .is_some_and(|keyspace| is_system_name(keyspace) && !is_virtual_system_name(keyspace));
        !limited || permissions.without(PermissionSet::of(&[Alter, Select])).is_empty()
    }

    /// The permissions that make sense for it.
    pub fn applicable(&self) -> PermissionSet {
        match self {
            Resource::Data | Resource::Keyspace(_) | Resource::AllTables(_) => KEYSPACE,
            Resource::Table(..) => TABLE,
            Resource::Roles => ROLES,
            Resource::Role(_) => ROLE,
            Resource::Functions | Resource::FunctionsIn(_) => FUNCTIONS,
            Resource::Function { .. } => FUNCTION,
            Resource::Beans | Resource::Bean(_) => BEANS,
            Resource::OfTenant(..) => OF_TENANT,
        }
    }

    /// Of the permissions that a statement names, those that make sense for it.
    pub fn restrict(&self, named: PermissionSet) -> Result<PermissionSet, QueryError> {
        let applicable = self.applicable().both(named);
        if !applicable.is_empty() {
            return Ok(applicable);
        }
        let class = match self {
            Resource::Data
            | Resource::Keyspace(_)
            | Resource::AllTables(_)
            | Resource::Table(..)
            | Resource::OfTenant(..) => "DataResource",
            Resource::Roles | Resource::Role(_) => "RoleResource",
            Resource::Functions | Resource::FunctionsIn(_) | Resource::Function { .. } => "FunctionResource",
            Resource::Beans | Resource::Bean(_) => "JMXResource",
        };
        Err(AccessFault::NoSuchPermission { class: class.to_string() }.into())
    }

    /// Whether it exists, as far as the catalogue can tell: a role's existence is for the caller to check.
    pub fn exists(&self, catalogue: &Catalogue) -> bool {
        match self {
            Resource::Keyspace(keyspace)
            | Resource::AllTables(keyspace)
            | Resource::FunctionsIn(keyspace) => catalogue.keyspace(keyspace).is_some(),
            Resource::Table(keyspace, table) => catalogue.table(keyspace, table).is_some(),
            Resource::Function { keyspace, name, types } => {
                catalogue.keyspace(keyspace).is_some_and(|place| {
                    let types: Vec<&str> = types.iter().map(String::as_str).collect();
                    place.function(name, &types).is_some() || place.aggregate(name, &types).is_some()
                })
            }
            Resource::Bean(bean) => bean.contains(['*', '?']),
            Resource::OfTenant(whole, _) => whole.exists(catalogue),
            Resource::Data | Resource::Roles | Resource::Role(_) | Resource::Functions | Resource::Beans => {
                true
            }
        }
    }

    /// Refuses schema changes of what belongs to the server, for every role.
    pub fn guard(&self, permission: Permission) -> Result<(), QueryError> {
        let Some(keyspace) = self.data_keyspace().filter(|keyspace| is_system_name(keyspace)) else {
            return Ok(());
        };
        if !matches!(permission, Create | Alter | Drop) {
            return Ok(());
        }
        if is_local_system_name(keyspace) {
            return Err(AccessFault::SystemKeyspace { keyspace: keyspace.to_string() }.into());
        }
        match (permission, self) {
            (Alter, Resource::Keyspace(_)) => Ok(()),
            _ => Err(AccessFault::SystemResource {
                permission: permission.name().to_string(),
                resource: self.to_string(),
            }
            .into()),
        }
    }
}

/// Tables that everybody may read: drivers and tools need them.
pub fn is_readable_by_all(keyspace: &str, table: &str) -> bool {
    match keyspace {
        "system" => matches!(table, "local" | "peers" | "peers_v2" | "size_estimates" | "table_estimates"),
        "system_schema" | "system_traces" | "system_virtual_schema" => true,
        _ => false,
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Data => f.write_str("<all keyspaces>"),
            Resource::Keyspace(keyspace) => write!(f, "<keyspace {keyspace}>"),
            Resource::AllTables(keyspace) => write!(f, "<all tables in {keyspace}>"),
            Resource::Table(keyspace, table) => write!(f, "<table {keyspace}.{table}>"),
            Resource::Roles => f.write_str("<all roles>"),
            Resource::Role(role) => write!(f, "<role {role}>"),
            Resource::Functions => f.write_str("<all functions>"),
            Resource::FunctionsIn(keyspace) => write!(f, "<all functions in {keyspace}>"),
            Resource::Function { keyspace, name, types } => {
                write!(f, "<function {keyspace}.{name}({})>", types.join(", "))
            }
            Resource::Beans => f.write_str("<all mbeans>"),
            Resource::Bean(bean) => write!(f, "<mbean {bean}>"),
            Resource::OfTenant(whole, tenant) => {
                let whole = whole.to_string();
                write!(f, "{} for tenant {tenant}>", whole.trim_end_matches('>'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_are_read_back() {
        let all = [
            Resource::Data,
            Resource::Keyspace("ks".into()),
            Resource::AllTables("ks".into()),
            Resource::Table("ks".into(), "t".into()),
            Resource::Roles,
            Resource::Role("a/b".into()),
            Resource::Functions,
            Resource::FunctionsIn("ks".into()),
            Resource::function("ks", "f", &["int", "map<text, int>"]),
            Resource::function("ks", "none", &[] as &[&str]),
            Resource::Beans,
            Resource::Bean("org.x:type=*".into()),
            Resource::Bean("org.x?tenant=a".into()),
            Resource::Role("a?tenant=b".into()),
            Resource::OfTenant(Box::new(Resource::Keyspace("ks".into())), "a/b".into()),
            Resource::OfTenant(Box::new(Resource::AllTables("ks".into())), String::new()),
            Resource::OfTenant(Box::new(Resource::Table("ks".into(), "t".into())), "x?tenant=y".into()),
        ];
        for resource in all {
            assert_eq!(Resource::stored(&resource.name()), Some(resource));
        }
        assert_eq!(Resource::stored("functions/ks/f"), None);
        assert_eq!(Resource::stored("nonsense"), None);
    }

    #[test]
    fn a_table_has_four_places_to_be_granted() {
        let names: Vec<String> = Resource::Table("ks".into(), "t".into()).chain().map(|r| r.name()).collect();
        assert_eq!(names, ["data/ks/t", "data/ks/*", "data/ks", "data"]);
    }
}
