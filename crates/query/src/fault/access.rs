//! What a role or a tenant may not do.

use super::Kind;

#[derive(Clone, Debug, PartialEq)]
pub enum AccessFault {
    /// A table has tenants, and the request does not say for whom it is.
    TenantUnsaid {
        keyspace: String,
        table: String,
    },
    NoPrivilege {
        role: String,
    },
    NoPermission {
        role: String,
        permission: String,
        resource: String,
    },
    /// No permission of the ones named means anything for this kind of resource.
    NoSuchPermission {
        class: String,
    },
    SystemKeyspace {
        keyspace: String,
    },
    SystemResource {
        permission: String,
        resource: String,
    },
    /// The role is bound to tenants, and this concerns all of them.
    AllTenants {
        role: String,
        resource: String,
    },
    /// The statement does not keep to the tenants of the role.
    OtherTenants {
        role: String,
        keyspace: String,
        table: String,
        column: String,
    },
    /// `what` is used up: `number` a second, in `place`.
    TenantLimit {
        tenant: String,
        number: f64,
        what: &'static str,
        place: String,
    },
}

impl AccessFault {
    pub fn kind(&self) -> Kind {
        match self {
            AccessFault::NoSuchPermission { .. } => Kind::Syntax,
            AccessFault::TenantLimit { .. } => Kind::Overloaded,
            AccessFault::TenantUnsaid { .. }
            | AccessFault::NoPrivilege { .. }
            | AccessFault::NoPermission { .. }
            | AccessFault::SystemKeyspace { .. }
            | AccessFault::SystemResource { .. }
            | AccessFault::AllTenants { .. }
            | AccessFault::OtherTenants { .. } => Kind::Unauthorized,
        }
    }
}
