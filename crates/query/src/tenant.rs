//! Whose partitions a request touches: asked once values are bound, before anything is read or written.
//!
//! There are two places where a plan becomes partitions, and each asks the request's [`Gate`]: [`read`] where a SELECT has bound its
//! restrictions, whatever its form (keys, token ranges, scans, indexes, views, transactions), and [`write`] where an INSERT, UPDATE
//! or DELETE has bound its keys, alone, in a batch, with a condition or in a transaction. There is no other way from a plan to a partition.
//!
//! A request without a gate touches no table that has tenants: if a caller forgets to bring one, the request is refused.

use crate::context::{Ids, Request};
use crate::error::QueryError;
use crate::expr::Node;
use crate::fault::AccessFault;
use crate::restrict::{Nulls, PartitionRestriction, PartitionSet, Receiver, Terms};
use crate::select::{SelectPlan, Source};
use crate::write::WritePlan;
use model::key::PartitionKey;
use schema::Table;
use std::fmt::Debug;
use store::Comparison;

/// What is done to a tenant's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// Decides for one request whose rows it may touch, and counts them.
pub trait Gate: Debug {
    /// The request is about the rows of this tenant (a wire value).
    fn tenant(&self, table: &Table, access: Access, tenant: &[u8]) -> Result<(), QueryError>;
    /// The request may touch rows of any tenant.
    fn all(&self, table: &Table, access: Access) -> Result<(), QueryError>;
    /// The request writes so much for this tenant.
    fn wrote(&self, table: &Table, tenant: &[u8], bytes: usize);
    /// Whether the role is bound to tenants of some table.
    fn is_bound(&self) -> bool;
    /// Whether a partition key of this table may be shown.
    fn shows(&self, table: &Table, key: &[u8]) -> bool;
    /// Whether what this tenant uses may be shown.
    fn shows_tenant(&self, keyspace: &str, tenant: &str) -> bool;
}

/// The value of a partition key's first column.
pub fn lead<'k>(table: &Table, key: &'k PartitionKey) -> &'k [u8] {
    first_value(table.partition_key.len() > 1, key.bytes())
}

/// The same of a key's bytes.
pub fn first_value(composite: bool, bytes: &[u8]) -> &[u8] {
    if !composite {
        return bytes;
    }
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return &[] };
    rest.get(..u16::from_be_bytes(*length) as usize).unwrap_or(&[])
}

fn gate<'r>(table: &Table, request: &Request<'r>) -> Result<&'r dyn Gate, QueryError> {
    request.gate.ok_or_else(|| {
        AccessFault::TenantUnsaid { keyspace: table.keyspace.to_string(), table: table.name.to_string() }
            .into()
    })
}

/// A read has these partitions, and filters where it has none.
#[inline]
pub(crate) fn read(
    plan: &SelectPlan,
    set: &PartitionSet,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<(), QueryError> {
    if !plan.table.has_tenants() {
        return Ok(());
    }
    reads(plan, set, request, ids)
}

/// The same of a read of one partition.
#[inline]
pub(crate) fn read_one(
    plan: &SelectPlan,
    key: &PartitionKey,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<(), QueryError> {
    if !plan.table.has_tenants() {
        return Ok(());
    }
    reads(plan, &PartitionSet::Keys(vec![key.clone()]), request, ids)
}

#[cold]
fn reads(
    plan: &SelectPlan,
    set: &PartitionSet,
    request: &Request<'_>,
    ids: &dyn Ids,
) -> Result<(), QueryError> {
    let table = &*plan.table;
    let gate = gate(table, request)?;
    match set {
        PartitionSet::Keys(keys) if leads(table) => {
            return each(table, keys, table.partition_key.len() > 1, Access::Read, gate);
        }
        PartitionSet::Entities(keys) if leads(table) => return each(table, keys, true, Access::Read, gate),
        _ => {}
    }
    // No partition key bounds the read, so something else must: an equality or IN that holds of every row.
    let Some((terms, at)) = terms(plan) else { return gate.all(table, Access::Read) };
    let name = |_| table.options.tenant.clone();
    let rows = terms.evaluate(&Receiver { name: &name, nulls: Nulls::Filter }, request, ids)?;
    for row in &rows {
        match row.get(at) {
            Some(value) => gate.tenant(table, Access::Read, value)?,
            None => gate.all(table, Access::Read)?,
        }
    }
    Ok(())
}

/// A write has these partitions.
#[inline]
pub(crate) fn write(
    plan: &WritePlan,
    keys: &[PartitionKey],
    request: &Request<'_>,
) -> Result<(), QueryError> {
    if !plan.table.has_tenants() {
        return Ok(());
    }
    writes(plan, keys, plan.table.partition_key.len() > 1, request)
}

/// A write is about these entities of a bucketed table. They are kept as keys of several columns, however few they have.
#[inline]
pub(crate) fn write_entities(
    plan: &WritePlan,
    entities: &[PartitionKey],
    request: &Request<'_>,
) -> Result<(), QueryError> {
    if !plan.table.has_tenants() {
        return Ok(());
    }
    writes(plan, entities, true, request)
}

#[cold]
fn writes(
    plan: &WritePlan,
    keys: &[PartitionKey],
    composite: bool,
    request: &Request<'_>,
) -> Result<(), QueryError> {
    let table = &*plan.table;
    let gate = gate(table, request)?;
    if plan.is_conditional() {
        each(table, keys, composite, Access::Read, gate)?;
    }
    each(table, keys, composite, Access::Write, gate)
}

fn each(
    table: &Table,
    keys: &[PartitionKey],
    composite: bool,
    access: Access,
    gate: &dyn Gate,
) -> Result<(), QueryError> {
    let mut last: Option<&[u8]> = None;
    for key in keys {
        let tenant = first_value(composite, key.bytes());
        if last != Some(tenant) {
            gate.tenant(table, access, tenant)?;
        }
        last = Some(tenant);
    }
    Ok(())
}

/// Whether partition keys begin with the tenant: in views they need not.
fn leads(table: &Table) -> bool {
    table.partition_key.first().is_some_and(|column| *column.name == *table.options.tenant)
}

/// The values that the tenant is restricted to, and its place among the columns that they are for.
fn terms(plan: &SelectPlan) -> Option<(&Terms, usize)> {
    let table = &*plan.table;
    let is_tenant = |column: &schema::Column| *column.name == *table.options.tenant;
    if let PartitionRestriction::Keys { columns, .. } = &plan.restrictions.partitions
        && let Some(at) = table.partition_key.iter().position(is_tenant)
    {
        return columns.get(at).map(|terms| (terms, 0));
    }
    let clustering = table.clustering.iter().position(is_tenant);
    let mut first = 0;
    for step in &plan.restrictions.clustering.steps {
        if let Some(at) = clustering.filter(|at| (first..first + step.columns).contains(at)) {
            return Some((&step.terms, at - first));
        }
        first += step.columns;
    }
    let is_source = |node: &Node| {
        let Node::Input(input) = node else { return false };
        match plan.inputs.get(*input).map(|input| &input.source) {
            Some(Source::PartitionKey(at)) => table.partition_key.get(*at).is_some_and(is_tenant),
            Some(Source::Clustering(at)) => table.clustering.get(*at).is_some_and(is_tenant),
            _ => false,
        }
    };
    let equal = plan.filters.iter().filter(|f| matches!(f.op, Comparison::Equal | Comparison::In));
    let mut found = equal.filter_map(|filter| {
        let at = filter.subjects.iter().position(|subject| is_source(&subject.node))?;
        Some((&filter.terms, at))
    });
    found.next()
}

/// This mutation is about to be committed.
#[inline]
pub(crate) fn wrote(table: &Table, mutation: &store::Mutation, request: &Request<'_>) {
    if table.has_tenants()
        && let Some(gate) = request.gate
    {
        gate.wrote(table, lead(table, &mutation.key), mutation.encoded().len());
    }
}
