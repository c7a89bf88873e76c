//! Whether a session may execute a statement, and whether it sees clear values. Costs nothing without a role, two hash lookups with one.
//!
//! Statements on roles check for themselves when they are executed, because what they need depends on what they find.

use super::grants;
use crate::CqlError;
use crate::bind::types::text_of;
use crate::ddl::DdlPlan;
use crate::prepared::{Plan, Prepared, transaction_reads};
use crate::session::{Dialect, Session};
use cql_syntax::ast::{AlterView, DropNamed, NoteObject, Statement};
use database::grants::{Grants, Permission, Resource};
use query::function::Choice;
use query::select::SelectPlan;
use query::write::WritePlan;
use schema::{Catalogue, Table};
use std::sync::Arc;
use store::Store;

/// What a reader sees of masked columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    Clear,
    Masked,
}

/// Checks everything but statements on roles.
pub async fn authorize<S: Store>(
    dialect: &Dialect<S>,
    session: &Session,
    prepared: &Prepared,
    now_micros: i64,
) -> Result<Sight, CqlError> {
    let Some(role) = &session.role else { return Ok(Sight::Clear) };
    let allowed = match &prepared.plan {
        Plan::Select(plan) => return select(&*grants(dialect, role, now_micros).await?, plan),
        Plan::Write(plan) => {
            return writes(&*grants(dialect, role, now_micros).await?, std::slice::from_ref(plan));
        }
        Plan::Batch(batch) => return writes(&*grants(dialect, role, now_micros).await?, &batch.statements),
        Plan::Transaction(plan) => {
            let grants = grants(dialect, role, now_micros).await?;
            let mut sight = writes(&grants, &plan.writes)?;
            for read in transaction_reads(plan) {
                if select(&grants, read)? == Sight::Masked {
                    sight = Sight::Masked;
                }
            }
            return Ok(sight);
        }
        Plan::Ddl(plan) => ddl(&*grants(dialect, role, now_micros).await?, plan, &dialect.catalogue().1),
        Plan::Job(plan) => match plan.needs(dialect) {
            Some((permission, resource)) => {
                let grants = grants(dialect, role, now_micros).await?;
                grants.require_unbound(&resource)?;
                grants.require(permission, &resource).map_err(CqlError::from)
            }
            None => Ok(()),
        },
        // The schema is readable by all, so what only tells about the schema needs no permission.
        Plan::Use(_) | Plan::Describe(_) | Plan::Explain(_) | Plan::Role(_) | Plan::ServiceLevel(_) => Ok(()),
        // The statement inside is checked when it is executed.
        Plan::Analyze(_) => Ok(()),
    };
    allowed.map(|()| Sight::Clear)
}

/// Masked values are shown in clear only to who may unmask; asking which rows have one tells it as well.
fn select(grants: &Grants, plan: &SelectPlan) -> Result<Sight, CqlError> {
    grants.require_on_table(Permission::Select, &plan.table)?;
    execute(grants, &plan.calls)?;
    if plan.masked.is_none() || grants.may_on_table(Permission::Unmask, &plan.table) {
        return Ok(Sight::Clear);
    }
    may_query(grants, &plan.table, &plan.queried_masked)?;
    Ok(Sight::Masked)
}

/// Functions that somebody made need a permission of their own; an aggregate those of its functions as well.
fn execute(grants: &Grants, calls: &[Choice]) -> Result<(), CqlError> {
    for (keyspace, name, types) in calls.iter().flat_map(Choice::executed) {
        grants.require(Permission::Execute, &Resource::function(&keyspace, &name, &types))?;
    }
    Ok(())
}

/// Refuses a question about masked columns to who may neither see them nor ask about them.
fn may_query(grants: &Grants, table: &Table, masked: &[Arc<str>]) -> Result<(), CqlError> {
    if masked.is_empty() || grants.may_on_table(Permission::SelectMasked, table) {
        return Ok(());
    }
    Err(CqlError::Unauthorized(format!(
        "User {} has no UNMASK nor SELECT_MASKED permission on table {}.{}, cannot query masked columns [{}]",
        grants.role,
        table.keyspace,
        table.name,
        masked.join(", ")
    )))
}

/// Checks the statements of a batch message.
pub async fn authorize_writes<S: Store>(
    dialect: &Dialect<S>,
    session: &Session,
    plans: &[Arc<WritePlan>],
    now_micros: i64,
) -> Result<Sight, CqlError> {
    match &session.role {
        None => Ok(Sight::Clear),
        Some(role) => writes(&*grants(dialect, role, now_micros).await?, plans),
    }
}

/// A condition tells about data, so it needs the permission to read as well, and the answer shows what the reader may see.
fn writes(grants: &Grants, plans: &[Arc<WritePlan>]) -> Result<Sight, CqlError> {
    let mut sight = Sight::Clear;
    for plan in plans {
        grants.require_on_table(Permission::Modify, &plan.table)?;
        execute(grants, &plan.calls)?;
        if !plan.is_conditional() {
            continue;
        }
        grants.require_on_table(Permission::Select, &plan.table)?;
        if !plan.masks.shown.is_empty() && !grants.may_on_table(Permission::Unmask, &plan.table) {
            may_query(grants, &plan.table, &plan.masks.queried)?;
            sight = Sight::Masked;
        }
    }
    Ok(sight)
}

/// The only function or aggregate of a name, if there is just one.
fn only_function(catalogue: &Catalogue, keyspace: &str, name: &str) -> Option<Resource> {
    let place = catalogue.keyspace(keyspace)?;
    let functions =
        place.functions_named(name).map(|f| Resource::function(keyspace, name, &f.argument_types()));
    let aggregates = place.aggregates_named(name).map(|a| Resource::function(keyspace, name, &a.arguments));
    let mut all = functions.chain(aggregates);
    all.next().filter(|_| all.next().is_none())
}

fn ddl(grants: &Grants, plan: &DdlPlan, catalogue: &Catalogue) -> Result<(), CqlError> {
    let keyspace = || plan.keyspace.clone();
    let table = |name: &str| Resource::Table(keyspace(), name.to_string());
    let (permission, resource) = match &plan.statement {
        Statement::CreateKeyspace(_) => (Permission::Create, Resource::Data),
        Statement::AlterKeyspace(_) => (Permission::Alter, Resource::Keyspace(keyspace())),
        Statement::DropKeyspace(_) => (Permission::Drop, Resource::Keyspace(keyspace())),
        Statement::CreateTable(_) | Statement::CopyTable(_) | Statement::CreateType(_) => {
            (Permission::Create, Resource::AllTables(keyspace()))
        }
        Statement::AlterTable(s) => (Permission::Alter, table(s.name.as_str())),
        Statement::SetNote(s) => match &s.object {
            NoteObject::Table(name) | NoteObject::Column(name, _) => {
                (Permission::Alter, table(name.as_str()))
            }
            _ => (Permission::Alter, Resource::Keyspace(keyspace())),
        },
        Statement::CreateIndex(s) => (Permission::Alter, table(s.table.as_str())),
        Statement::DropIndex(s) => {
            let indexed = catalogue.keyspace(&plan.keyspace).and_then(|k| k.index(s.name.as_str()));
            // Executing will say that it is not there.
            let Some((indexed, _)) = indexed else { return Ok(()) };
            (Permission::Alter, table(&indexed.name))
        }
        Statement::CreateView(s) => (Permission::Alter, table(s.base.as_str())),
        Statement::AlterView(AlterView { name, .. }) | Statement::DropView(DropNamed { name, .. }) => {
            let found = catalogue.table(&plan.keyspace, name.as_str());
            // Executing will say that it is not there.
            let Some(view) = found.and_then(|found| found.view.as_ref()) else { return Ok(()) };
            (Permission::Alter, table(&view.base))
        }
        Statement::DropTable(s) => (Permission::Drop, table(s.name.as_str())),
        Statement::AlterType(_) => (Permission::Alter, Resource::AllTables(keyspace())),
        Statement::DropType(_) => (Permission::Drop, Resource::AllTables(keyspace())),
        // Ours: a pattern says how the tables of its keyspace are used.
        Statement::CreatePattern(_) | Statement::AlterPattern(_) | Statement::DropPattern(_) => {
            (Permission::Alter, Resource::Keyspace(keyspace()))
        }
        Statement::Truncate(name) => (Permission::Modify, table(name.as_str())),
        Statement::CreateFunction(_) | Statement::CreateAggregate(_) => {
            (Permission::Create, Resource::FunctionsIn(keyspace()))
        }
        Statement::DropFunction(s) | Statement::DropAggregate(s) => match &s.arg_types {
            Some(types) => {
                let types: Vec<String> = types.iter().map(text_of).collect();
                let function = Resource::function(&plan.keyspace, s.name.as_str(), &types);
                // Executing will say that it is not there.
                if !function.exists(catalogue) {
                    return Ok(());
                }
                (Permission::Drop, function)
            }
            None => match only_function(catalogue, &plan.keyspace, s.name.as_str()) {
                Some(function) => (Permission::Drop, function),
                None => return Ok(()),
            },
        },
        // Of triggers there are none to protect: executing will say so.
        _ => return Ok(()),
    };
    resource.guard(permission)?;
    // What a role makes anew cannot reach what was there; everything else is about the rows of all tenants.
    if permission != Permission::Create {
        grants.require_unbound(&resource)?;
    }
    Ok(grants.require(permission, &resource)?)
}
