//! The one place where the outcome of every request is recorded with its statement's identity.
//!
//! Nothing here decides anything: requests are answered elsewhere, and reported here. A statement that nobody records
//! costs a look at one field.

use super::connection::{Failure, Peer};
use super::errors::error_message;
use super::statements::Statement;
use crate::audit::{Category, Entry, Outcome, Rules, cut};
use crate::seldom::shown;
use crate::shard::Shard;
use cql::CqlError;
use cql::prepared::{Plan, Prepared};
use cql::roles::{RolePlan, without_secrets, without_values};
use cql::session::Answer;
use std::sync::Arc;
use std::time::Duration;

const ROLES_KEYSPACE: &str = "system_auth";

/// Of an error message.
const MESSAGE_BYTES_MAX: usize = 512;

/// As what a statement's outcomes are recorded; found out once, when it is bound.
pub fn category(prepared: &Prepared, rules: &Rules) -> Option<Category> {
    if let Plan::Analyze(plan) = &prepared.plan {
        return category(&plan.inner, rules);
    }
    let of_roles = prepared.tables.iter().any(|table| &*table.keyspace == ROLES_KEYSPACE);
    let category = match &prepared.plan {
        Plan::Select(_) => Category::Reads,
        // Whoever writes to the tables of roles changes roles.
        Plan::Write(_) | Plan::Batch(_) | Plan::Transaction(_) if of_roles => Category::Roles,
        Plan::Write(_) | Plan::Batch(_) | Plan::Transaction(_) => Category::Writes,
        Plan::Ddl(_) | Plan::Job(_) => Category::Schema,
        Plan::Role(plan) if changes_roles(plan) => Category::Roles,
        Plan::Role(_)
        | Plan::Use(_)
        | Plan::Describe(_)
        | Plan::Explain(_)
        | Plan::Analyze(_)
        | Plan::ServiceLevel(_) => return None,
    };
    let tables = prepared.tables.iter().map(|table| (&*table.keyspace, &*table.name));
    rules.records(category, tables).then_some(category)
}

fn changes_roles(plan: &RolePlan) -> bool {
    match plan {
        RolePlan::Create(_)
        | RolePlan::Alter(_)
        | RolePlan::Drop { .. }
        | RolePlan::GrantRole { .. }
        | RolePlan::RevokeRole { .. }
        | RolePlan::Grant(_)
        | RolePlan::Revoke(_)
        | RolePlan::AddIdentity(_)
        | RolePlan::DropIdentity(_) => true,
        RolePlan::ListRoles(_)
        | RolePlan::ListUsers
        | RolePlan::ListSuperusers
        | RolePlan::ListPermissions(_) => false,
    }
}

/// A statement was executed, or refused.
#[inline]
pub fn answered(
    shard: &Shard,
    peer: &Peer,
    statement: &Statement,
    outcome: Result<&Answer, &Failure>,
    elapsed: Duration,
) {
    let failure = match outcome {
        Ok(answer) => {
            let (rows, bytes) = answer.size();
            statement.answered(rows, bytes);
            None
        }
        Err(failure) => {
            statement.failed(matches!(failure, Failure::Query(error, _) if error.is_overload()));
            Some(failure)
        }
    };
    statement.took(elapsed.as_micros() as u64, 1);
    if let Some(category) = statement.audited {
        record(shard, peer, category, &statement.prepared, failure);
    }
}

#[cold]
fn record(shard: &Shard, peer: &Peer, category: Category, prepared: &Prepared, failure: Option<&Failure>) {
    let mut entry = entry(shard, peer, category, failure);
    if !shard.shared.audit.rules().concerns(category, entry.role.as_deref()) {
        return;
    }
    let table = prepared.tables.first();
    let of_plan = || match &prepared.plan {
        Plan::Ddl(plan) => Some(plan.keyspace.as_str().into()),
        _ => None,
    };
    entry.keyspace = table.map(|table| Arc::from(&*table.keyspace)).or_else(of_plan);
    entry.table = table.map(|table| Arc::from(&*table.name));
    entry.statement = Some(without_secrets(cut(&prepared.text)).into_owned());
    shard.shared.audit.record(entry);
}

/// A text could not be parsed or bound.
pub fn unbound(shard: &Shard, peer: &Peer, text: &str, failure: &Failure) {
    let text = cut(text);
    let Some(category) = Category::of_text(text) else { return };
    let rules = shard.shared.audit.rules();
    if !rules.records(category, std::iter::empty()) {
        return;
    }
    let mut entry = entry(shard, peer, category, Some(failure));
    if !rules.concerns(category, entry.role.as_deref()) {
        return;
    }
    // A text that is no statement may hold a password anywhere.
    let is_statement = !matches!(failure, Failure::Query(CqlError::Syntax(_), _));
    let shown = if is_statement { without_secrets(text) } else { without_values(text) };
    entry.statement = Some(shown.into_owned());
    if !is_statement && let Outcome::Refused { message, .. } = &mut entry.outcome {
        // The parser quotes what it does not understand.
        *message = "no CQL statement".into();
    }
    shard.shared.audit.record(entry);
}

/// Somebody tried to log in.
pub fn login(shard: &Shard, peer: &Peer, user: &str, failure: Option<&Failure>) {
    if shard.shared.audit.rules().records(Category::Logins, std::iter::empty()) {
        let role = Some(shown(user).into());
        shard.shared.audit.record(Entry { role, ..entry(shard, peer, Category::Logins, failure) });
    }
}

fn entry(shard: &Shard, peer: &Peer, category: Category, failure: Option<&Failure>) -> Entry {
    let refused = |code: i32, message: &str| {
        let message = message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)].to_string();
        Outcome::Refused { code, message }
    };
    let outcome = match failure {
        None => Outcome::Done,
        Some(Failure::Wire(error)) => refused(error.kind.code(), &error.message),
        Some(Failure::Query(error, attempt)) => {
            let error = error_message(error, *attempt);
            refused(error.kind.code(), &error.message)
        }
    };
    Entry {
        number: 0,
        at_micros: shard.ids.now_micros(),
        event: category.event(),
        role: peer.session.borrow().role.clone(),
        address: peer.address,
        keyspace: None,
        table: None,
        statement: None,
        outcome,
    }
}
