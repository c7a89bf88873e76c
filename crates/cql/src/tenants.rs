//! Statements on tables that have tenants, and on the server's own tables that show whose data is where.
//!
//! Whether a statement is concerned is found out once, when it is bound; the others pay one look at a flag. A statement that is
//! concerned gets an [`Admission`], which every partition key of its plan has to pass.

use crate::CqlError;
use crate::bind::Scope;
use crate::prepared::{Plan, Prepared};
use crate::roles::{self, Tables};
use crate::session::{Dialect, Session};
use cql_syntax::ast::{Property, Statement, TableChange};
use database::grants::{Resource, is_of_tenant};
use database::tenants::Admission;
use query::Request;
use query::restrict::PartitionSet;
use query::select::SelectPlan;
use query::write::WritePlan;
use rt::{Clock, SystemClock};
use schema::Table;
use std::sync::Arc;
use store::{Account, Store};

const TRACES: &str = "system_traces";

/// Tables of the server that name keys, roles or statements of everybody and cannot be shown in part.
const CLOSED: [(&str, &str); 4] = [
    ("system", "prepared_statements"),
    ("system_views", "audit"),
    ("system_views", "clients"),
    ("system_views", "findings"),
];

/// Whether statements on these tables have to pass the gate.
pub(crate) fn concerns(tables: &[Arc<Table>]) -> bool {
    tables.iter().any(|table| table.has_tenants() || table.is_virtual() || &*table.keyspace == TRACES)
}

/// The same of plans.
pub(crate) fn concerns_writes(plans: &[Arc<WritePlan>]) -> bool {
    plans.iter().any(|plan| plan.table.has_tenants())
}

/// One request at the gate, and what its work is counted by.
pub(crate) struct Passage<'d, S: Store> {
    admission: Admission<'d, S>,
    account: Arc<Account>,
    began_micros: i64,
}

impl<S: Store> Dialect<S> {
    pub(crate) async fn passage(
        &self,
        session: &Session,
        now_micros: i64,
    ) -> Result<Passage<'_, S>, CqlError> {
        let grants = match &session.role {
            None => None,
            Some(role) => Some(roles::grants(self, role, now_micros).await?),
        };
        Ok(Passage {
            admission: Admission::new(&self.runtime, grants, now_micros),
            account: Arc::new(Account::timed()),
            began_micros: SystemClock.micros(),
        })
    }

    /// Refuses to take the tenants away from tables while roles are bound to them: they would be free.
    pub(crate) async fn guard_bound(
        &self,
        statement: &Statement,
        keyspace: &str,
        now_micros: i64,
    ) -> Result<(), CqlError> {
        let takes = |properties: &[Property]| {
            properties.iter().any(|p| p.name.as_str() == "tenant" && p.value.text() == Some(""))
        };
        let resource = match statement {
            Statement::AlterKeyspace(s) if takes(&s.properties) => Resource::Keyspace(keyspace.into()),
            Statement::AlterTable(s) => match &s.change {
                TableChange::With(properties) if takes(properties) => {
                    Resource::Table(keyspace.into(), s.name.as_str().into())
                }
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let granted = Tables::new(self, now_micros).granted_resources().await?;
        let inside = format!("{}/", resource.name());
        let holds = |name: &&String| {
            let in_it = |resource: Resource| is_of_tenant(name, &resource);
            let below = matches!(Resource::stored(name), Some(Resource::OfTenant(..)));
            resource.chain().any(in_it) || (name.starts_with(&inside) && below)
        };
        match granted.iter().find(holds) {
            None => Ok(()),
            Some(_) => Err(CqlError::invalid(format!(
                "Roles are bound to tenants in {resource}, and without the tenant they would be bound to nothing. Revoke first \
                 what was granted FOR TENANT (LIST ALL PERMISSIONS shows it)"
            ))),
        }
    }
}

impl<'d, S: Store> Passage<'d, S> {
    /// The request with everything that it has to pass.
    pub fn through<'r>(&'r self, request: Request<'r>) -> Request<'r> {
        Request { gate: Some(&self.admission), account: Some(&self.account), ..request }
    }

    /// Checks a read of the server's own tables.
    pub fn system(
        &self,
        dialect: &Dialect<S>,
        plan: &SelectPlan,
        request: &Request<'_>,
    ) -> Result<(), CqlError> {
        let Some(grants) = self.admission.bound() else { return Ok(()) };
        let table = &*plan.table;
        let place = (&*table.keyspace, &*table.name);
        let refused = || {
            Err(CqlError::Unauthorized(format!(
                "User {} is bound to tenants: {}.{} shows what belongs to others",
                grants.role, table.keyspace, table.name
            )))
        };
        if CLOSED.contains(&place) {
            return refused();
        }
        if &*table.keyspace == TRACES {
            let own = |id: &[u8]| dialect.shared.tenants.is_trace_of(id, &grants.role);
            return match plan.restrictions.partitions(request, &*dialect.ids)? {
                PartitionSet::Keys(keys) if keys.iter().all(|key| own(key.bytes())) => Ok(()),
                _ => refused(),
            };
        }
        Ok(())
    }

    /// Whether what a statement did may be told: how much a scan looked at is not only about its own tenant.
    pub fn may_analyze(&self, prepared: &Prepared) -> Result<(), CqlError> {
        let Some(grants) = self.admission.bound() else { return Ok(()) };
        match &prepared.plan {
            Plan::Select(plan)
                if plan.index.is_some()
                    || plan.table.view.is_some()
                    || !plan.restrictions.partitions.names_keys() =>
            {
                Err(CqlError::Unauthorized(format!(
                    "User {} is bound to tenants: EXPLAIN ANALYZE is for statements that name their partitions, because others \
                     look at rows of other tenants too",
                    grants.role
                )))
            }
            _ => Ok(()),
        }
    }

    /// The request is done; `outer` has its own account of what it did.
    pub fn finish(self, outer: Option<&Arc<Account>>) {
        let mut work = self.account.sum();
        if let Some(outer) = outer {
            outer.add(0, &work);
        }
        if work.nanos == 0 {
            // A write: the time that its commit took to make.
            work.nanos = u64::try_from(SystemClock.micros() - self.began_micros).unwrap_or(0) * 1000;
        }
        self.admission.finish(&work);
    }
}

/// What GRANT … FOR TENANT needs: somebody whose rows can be told from those of others.
pub(crate) fn check_grant(scope: Scope<'_>, whole: &Resource, tenant: &str) -> Result<(), CqlError> {
    let missing = |place: &str| {
        CqlError::invalid(format!(
            "{place} has no tenants: say which column they are in first, ALTER … WITH tenant = '<first partition key column>'"
        ))
    };
    match whole {
        Resource::Table(keyspace, name) => {
            let Some(table) = scope.catalogue.table(keyspace, name) else { return Ok(()) };
            if table.view.is_some() {
                return Err(CqlError::invalid(
                    "Permissions on a view are those of its table: grant them there",
                ));
            }
            let Some(column) = table.tenant_column() else { return Err(missing(&whole.to_string())) };
            match database::grants::wire_value(&column.data_type, tenant) {
                Some(_) => Ok(()),
                None => Err(CqlError::invalid(format!(
                    "'{tenant}' is no value of {}, which has the type {}",
                    column.name, column.data_type
                ))),
            }
        }
        Resource::Keyspace(name) | Resource::AllTables(name) => {
            let Some(keyspace) = scope.catalogue.keyspace(name) else { return Ok(()) };
            let any =
                !keyspace.tenant.is_empty() || keyspace.tables.values().any(|table| table.has_tenants());
            if any { Ok(()) } else { Err(missing(&whole.to_string())) }
        }
        _ => Err(CqlError::Syntax("FOR TENANT follows a keyspace or a table".into())),
    }
}
