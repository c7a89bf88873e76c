//! Tenants: the column that says whose a row is, and what each tenant may use.
//!
//! Guarantees: in a table with tenants the column leads the partition key, so a partition is of one tenant and its key begins
//! with the tenant's value. A view has the tenants of its table, wherever the column is in its own key.

use crate::column::Column;
use crate::fault::{SchemaError, TenantFault};
use crate::keyspace::Keyspace;
use crate::options::TenantLimits;
use crate::properties::Properties;
use crate::table::Table;
use model::types::DataType;

/// The name of the property, on keyspaces and tables.
pub(crate) const PROPERTY: &str = "tenant";

impl Table {
    /// Whether its rows belong to tenants.
    #[inline]
    pub fn has_tenants(&self) -> bool {
        !self.options.tenant.is_empty()
    }

    /// The column that says whose a row is.
    pub fn tenant_column(&self) -> Option<&Column> {
        if !self.has_tenants() {
            return None;
        }
        self.primary_key().find(|column| *column.name == *self.options.tenant)
    }

    /// What a tenant may use of this table alone.
    pub fn tenant_limits(&self) -> TenantLimits<'_> {
        TenantLimits(&self.options.tenant_limits)
    }
}

impl Keyspace {
    /// What a tenant may use of all tables together.
    pub fn tenant_limits(&self) -> TenantLimits<'_> {
        TenantLimits(&self.tenant_limits)
    }
}

/// A new or changed table: takes the keyspace's tenant, and refuses a column that cannot be one.
pub(crate) fn adopt(keyspace: &Keyspace, table: &mut Table) -> Result<(), SchemaError> {
    if !keyspace.tenant.is_empty() && table.options.tenant.is_empty() {
        table.options.tenant = keyspace.tenant.clone();
    }
    let (wanted, of_keyspace) = (&table.options.tenant, &keyspace.tenant);
    if !of_keyspace.is_empty() && wanted != of_keyspace {
        return Err(TenantFault::OfKeyspace {
            keyspace: keyspace.name.to_string(),
            tenant: of_keyspace.to_string(),
            wanted: wanted.to_string(),
        }
        .into());
    }
    check(table)
}

/// The column must lead the partition key, and its values must have one form each.
fn check(table: &Table) -> Result<(), SchemaError> {
    if !table.has_tenants() {
        return match table.options.tenant_limits.is_empty() {
            true => Ok(()),
            false => Err(TenantFault::LimitsAlone { table: table.full_name() }.into()),
        };
    }
    let wanted = &table.options.tenant;
    let lead = table.partition_key.first().filter(|column| *column.name == **wanted);
    let Some(lead) = lead else {
        let first = table.partition_key.first().map(|column| column.name.to_string()).unwrap_or_default();
        return Err(TenantFault::NotFirst {
            tenant: wanted.to_string(),
            table: table.full_name(),
            first: first.to_string(),
        }
        .into());
    };
    if lead.data_type.is_tenant() {
        return Ok(());
    }
    Err(TenantFault::Type {
        tenant: wanted.to_string(),
        table: table.full_name(),
        data_type: lead.data_type.clone(),
    }
    .into())
}

trait OneForm {
    fn is_tenant(&self) -> bool;
}

impl OneForm for DataType {
    fn is_tenant(&self) -> bool {
        use DataType::*;
        matches!(self, Text | Ascii | TinyInt | SmallInt | Int | BigInt | Uuid | TimeUuid)
    }
}

/// A view follows its table and has no say of its own.
pub(crate) fn refuse_on_view(properties: &Properties) -> Result<(), SchemaError> {
    match [PROPERTY, "tenant_limits"].into_iter().find(|name| properties.has(name)) {
        None => Ok(()),
        Some(name) => Err(TenantFault::OfView { option: name }.into()),
    }
}

/// The tables of a keyspace after its tenant has changed.
pub(crate) fn follow(keyspace: &mut Keyspace, before: &str) -> Result<(), SchemaError> {
    let mut changed = Vec::new();
    for table in keyspace.tables.values() {
        let mut next = Table::clone(table);
        // What the keyspace had said goes with it; what a table said for itself stays.
        if next.options.tenant == before && !before.is_empty() {
            next.options.tenant = String::new();
        }
        if next.view.is_some() {
            let base = next.view.as_ref().and_then(|view| keyspace.table(&view.base));
            let own = base.map(|base| base.options.tenant.clone()).filter(|tenant| tenant != before);
            next.options.tenant = match keyspace.tenant.as_str() {
                "" => own.unwrap_or_default(),
                tenant => tenant.to_string(),
            };
        } else {
            adopt(keyspace, &mut next)?;
        }
        changed.push(next);
    }
    for table in changed {
        keyspace.tables.insert(table.name.clone(), std::sync::Arc::new(table));
    }
    Ok(())
}
