//! Words for what a role or a tenant may not do.

use query::fault::AccessFault;

pub fn words(fault: &AccessFault) -> String {
    match fault {
        AccessFault::TenantUnsaid { keyspace, table } => {
            format!("{keyspace}.{table} has tenants, and this request does not say for whom it is")
        }
        AccessFault::NoPrivilege { role } => {
            format!("User {role} does not have sufficient privileges to perform the requested operation")
        }
        AccessFault::NoPermission { role, permission, resource } => {
            format!("User {role} has no {permission} permission on {resource} or any of its parents")
        }
        AccessFault::NoSuchPermission { class } => {
            format!("Resource type {class} does not support any of the requested permissions")
        }
        AccessFault::SystemKeyspace { keyspace } => format!("{keyspace} keyspace is not user-modifiable."),
        AccessFault::SystemResource { permission, resource } => format!("Cannot {permission} {resource}"),
        AccessFault::AllTenants { role, resource } => {
            format!("User {role} is bound to tenants in {resource}: what concerns all tenants is not for it")
        }
        AccessFault::OtherTenants { role, keyspace, table, column } => format!(
            "User {role} is bound to tenants of {keyspace}.{table}: the statement must restrict {column} to its own, with = or IN"
        ),
        AccessFault::TenantLimit { tenant, number, what, place } => format!(
            "Tenant {tenant} has used its limit of {number} {what} per second in {place}: try again later, or ask for more \
             (tenant_limits)"
        ),
    }
}
