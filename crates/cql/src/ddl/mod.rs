//! Statements that change the schema: bound to a plan, executed against the shared catalogue.
//!
//! Binding settles only what depends on the session (the keyspace of an unqualified name) and refuses what is not
//! supported. Everything else is decided when the plan is executed, under the catalogue's lock and against its newest
//! snapshot, so that a prepared CREATE TABLE means the same on every execution.

mod absent;
mod build;
#[cfg(test)]
mod build_tests;
#[cfg(test)]
mod catalogue_tests;
mod constraint;
mod copies;
mod function;
mod mask;
#[cfg(test)]
mod projection_tests;
mod properties;
mod replace;
#[cfg(test)]
mod replace_tests;
mod review;
mod table;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod totals_tests;
#[cfg(test)]
mod usage_tests;
mod view;

pub(crate) use function::new_function;
pub use mask::{MaskCall, parse_mask};
pub(crate) use review::bind_fault;
pub(crate) use table::new_table;

use crate::CqlError;
use crate::bind::Scope;
use crate::words;
use cql_syntax::ast::{Ident, NoteObject, QualifiedName, Statement, TableChange};
use database::builds::{self, Build, Ended};
use database::catalogue::SharedCatalogue;
use schema::fault::Warning;
use schema::{Effect, EffectKind, TargetKind};
use std::sync::Arc;
use store::Store;

/// A schema statement whose names are settled.
#[derive(Clone, Debug, PartialEq)]
pub struct DdlPlan {
    /// The keyspace that the statement is about.
    pub keyspace: String,
    pub statement: Statement,
    /// As the client wrote it, comments and all; empty when it was not written by one.
    pub text: String,
}

impl DdlPlan {
    /// The statement as text: what was written, else its canonical form.
    fn source(&self) -> String {
        if self.text.is_empty() { self.statement.to_string() } else { self.text.clone() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Created,
    Updated,
    Dropped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeTarget {
    Keyspace,
    Table(String),
    Type(String),
    /// Name and types of the arguments.
    Function(String, Vec<String>),
    Aggregate(String, Vec<String>),
}

/// What drivers are told, in the result and in events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaChange {
    pub kind: ChangeKind,
    pub keyspace: String,
    pub target: ChangeTarget,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DdlOutcome {
    /// `None`: answered with Void (a no-op, or TRUNCATE).
    pub change: Option<SchemaChange>,
    pub warnings: Vec<String>,
}

/// Settles the keyspace; refuses statements that are not supported or not schema statements.
pub fn bind(scope: Scope<'_>, statement: &Statement) -> Result<DdlPlan, CqlError> {
    absent::refuse(statement)?;
    let keyspace = match statement {
        Statement::CreateKeyspace(s) => s.name.as_str().to_string(),
        Statement::AlterKeyspace(s) => s.name.as_str().to_string(),
        Statement::DropKeyspace(s) => s.name.as_str().to_string(),
        Statement::SetNote(s) if matches!(s.object, NoteObject::Keyspace(_)) => match &s.object {
            NoteObject::Keyspace(name) => name.as_str().to_string(),
            _ => String::new(),
        },
        other => {
            let name = named(other).ok_or_else(|| CqlError::invalid("This is not a schema statement"))?;
            scope.keyspace_name(name.keyspace_str())?.to_string()
        }
    };
    let mut statement = statement.clone();
    if let Statement::CopyTable(copy) = &mut statement
        && copy.source.keyspace.is_none()
    {
        let own = scope.keyspace_name(None)?;
        copy.source.keyspace = Some(Ident { name: own.to_string(), span: Default::default() });
    }
    let plan = DdlPlan { keyspace, statement, text: String::new() };
    build::check_text(&plan)?;
    Ok(plan)
}

/// The object that a statement on something inside a keyspace is about.
fn named(statement: &Statement) -> Option<&QualifiedName> {
    Some(match statement {
        Statement::Truncate(name) => name,
        Statement::CreateTable(s) => &s.name,
        Statement::CopyTable(s) => &s.name,
        Statement::SetNote(s) => match &s.object {
            NoteObject::Keyspace(_) => return None,
            NoteObject::Table(name)
            | NoteObject::Column(name, _)
            | NoteObject::Type(name)
            | NoteObject::Field(name, _) => name,
        },
        Statement::AlterTable(s) => &s.name,
        Statement::CreateType(s) => &s.name,
        Statement::AlterType(s) => &s.name,
        Statement::CreateIndex(s) => &s.table,
        Statement::CreatePattern(s) => &s.name,
        Statement::AlterPattern(s) => &s.name,
        Statement::CreateView(s) => &s.name,
        Statement::AlterView(s) => &s.name,
        Statement::DropTable(s)
        | Statement::DropType(s)
        | Statement::DropIndex(s)
        | Statement::DropView(s)
        | Statement::DropPattern(s) => &s.name,
        Statement::CreateFunction(s) => &s.name,
        Statement::CreateAggregate(s) => &s.name,
        Statement::DropFunction(s) | Statement::DropAggregate(s) => &s.name,
        Statement::DropTrigger(s) => &s.table,
        _ => return None,
    })
}

/// The catalogue that a statement would make of this one, without review and without anybody noticing.
pub(crate) fn applied(
    plan: &DdlPlan,
    catalogue: &schema::Catalogue,
    setting: &schema::Setting,
) -> Result<schema::Catalogue, CqlError> {
    if absent::is_about_nothing(plan)? {
        return Ok(catalogue.clone());
    }
    let change = build::change(plan, catalogue)?;
    Ok(catalogue.apply(&change, setting)?.catalogue)
}

/// Applies a plan: stored first, then visible. What it answers is in the outcome. A new index is also filled, so that whoever
/// was answered can use it at once.
pub async fn execute<S: Store>(
    plan: &Arc<DdlPlan>,
    shared: &Arc<SharedCatalogue>,
    store: &S,
    now_micros: i64,
) -> Result<DdlOutcome, CqlError> {
    if absent::is_about_nothing(plan)? {
        return Ok(DdlOutcome::default());
    }
    if let Statement::AlterTable(alter) = &plan.statement
        && alter.change == TableChange::RowTtl(None)
        && let Some(table) = shared.load().1.table(&plan.keyspace, alter.name.as_str())
    {
        // What has expired must not be seen again.
        database::row_ttl::sweep(store, table, now_micros).await?;
    }
    let (own_plan, own_shared) = (plan.clone(), shared.clone());
    let compute = move |catalogue: &schema::Catalogue, setting: &schema::Setting| {
        let change = build::change(&own_plan, catalogue)?;
        let mut applied = catalogue.apply(&change, setting)?;
        replace::check_verified(&own_plan, own_shared.jobs(), catalogue)?;
        copies::check(&own_plan, own_shared.reviewer().is_some(), &mut applied)?;
        review::judge(&own_plan, own_shared.reviewer(), catalogue, &mut applied)?;
        Ok::<_, CqlError>(applied)
    };
    let mut applied = shared.change_aside(store, now_micros, compute).await?;
    if let (Statement::CreateIndex(_) | Statement::CreateView(_), Some(effect)) =
        (&plan.statement, &applied.effect)
        && let Some(build) = Build::newest(&applied.catalogue, &effect.keyspace, &effect.name)
        && let Some(fault) = match built_later(&applied.catalogue, &effect.keyspace, &effect.name) {
            true => builds::leave(build, shared).map(|job| {
                format!("job {job} copies them in the background; SELECT * FROM system_views.jobs WHERE id = {job}")
            }),
            false => match builds::run(build, shared, store, now_micros).await {
            Ok(Ended::Built) => None,
            Ok(Ended::Paused(job)) => Some(format!("it was paused; RESUME JOB {job} goes on")),
            Err(fault) => Some(format!("{fault}. Building goes on in the background")),
            },
        }
    {
        // It is there and every write keeps it: only older rows are missing, and somebody will add them.
        applied.warnings.push(Warning::Written(match &plan.statement {
            Statement::CreateView(view) if view.is_projection => {
                format!("The projection cannot be read until it has all older rows: {fault}")
            }
            Statement::CreateView(_) => {
                format!("The materialized view does not have all older rows yet: {fault}")
            }
            _ => format!("The index is not complete yet and is not used until it is: {fault}"),
        }));
    }
    if let (Statement::AlterTable(_), Some(effect)) = (&plan.statement, &applied.effect)
        && let Some(build) = Build::of_rebucketing(&applied.catalogue, &effect.keyspace, &effect.name)
        && !builds::is_known(&build, shared)
        && let Some(job) = builds::leave(build, shared)
    {
        applied.warnings.push(Warning::Written(format!(
            "The rows are moved in the background by job {job}; until it is done the table is read in its old buckets. SELECT * FROM \
             system_views.jobs WHERE id = {job}"
        )));
    }
    let warnings = applied.warnings.into_iter().map(words::schema::warning).collect();
    Ok(DdlOutcome { change: applied.effect.map(told), warnings })
}

/// Whether the statement answers before the copy is filled.
fn built_later(catalogue: &schema::Catalogue, keyspace: &str, name: &str) -> bool {
    let view = catalogue.table(keyspace, name).and_then(|table| table.view.as_ref());
    view.and_then(|view| view.projection.as_ref()).is_some_and(|projection| !projection.wait)
}

fn told(effect: Effect) -> SchemaChange {
    let kind = match effect.kind {
        // Drivers know no access patterns: to them the keyspace has changed.
        _ if effect.target == TargetKind::Pattern => ChangeKind::Updated,
        EffectKind::Created => ChangeKind::Created,
        EffectKind::Updated => ChangeKind::Updated,
        EffectKind::Dropped => ChangeKind::Dropped,
    };
    let target = match effect.target {
        TargetKind::Keyspace | TargetKind::Pattern => ChangeTarget::Keyspace,
        TargetKind::Table => ChangeTarget::Table(effect.name),
        TargetKind::Type => ChangeTarget::Type(effect.name),
        TargetKind::Function => ChangeTarget::Function(effect.name, effect.arguments),
        TargetKind::Aggregate => ChangeTarget::Aggregate(effect.name, effect.arguments),
    };
    SchemaChange { kind, keyspace: effect.keyspace, target }
}
