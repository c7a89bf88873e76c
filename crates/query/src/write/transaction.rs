//! Transactions: look at rows, decide, write, at one moment.
//!
//! The partitions of everything that is read or written are locked first; then the SELECTs run as they always do, the
//! conditions are evaluated, and the writes become one commit. No other transaction and no
//! conditional statement changes the state that it sees before it is done. Plain writes take no locks, as everywhere.

use super::build::Builder;
use super::json::Document;
use super::plan::WritePlan;
use super::room::Room;
use crate::context::{Context, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::restrict::PartitionSet;
use crate::select::{self, SelectPlan};
use crate::spec::{ColumnSpec, Rows, put_value};
use crate::tenant;
use crate::values::{Bound, Values};
use model::key::PartitionKey;
use model::types::DataType;
use std::sync::Arc;
use store::{Comparison, Mutation, Stamped, Store, TableId};

/// See the module. Markers from `references_at` on are values that LETs have found.
pub struct TransactionPlan {
    pub lets: Vec<SelectPlan>,
    pub returning: Returned,
    pub conditions: Vec<TransactionTest>,
    pub writes: Vec<Arc<WritePlan>>,
    /// For each marker from `references_at` on: the value that stands there.
    pub references: Vec<Found>,
    pub references_at: usize,
}

/// A column of what a LET found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub found_by: usize,
    pub column: usize,
}

/// What a transaction answers.
pub enum Returned {
    Nothing,
    Rows(Box<SelectPlan>),
    Values(Vec<Found>, Arc<[ColumnSpec]>),
}

/// One condition on what LETs have found.
pub enum TransactionTest {
    RowIsNull { found_by: usize, is_null: bool },
    ValueIsNull { value: Found, is_null: bool },
    Compare { value: Found, data_type: DataType, comparison: Comparison, operand: Expr },
}

/// The row that each LET found, value by value; `None`: there was none.
type Rowed = Vec<Option<Vec<Option<Vec<u8>>>>>;

impl TransactionPlan {
    /// The columns of the answer, if it has rows.
    pub fn columns(&self) -> Option<Arc<[ColumnSpec]>> {
        match &self.returning {
            Returned::Nothing => None,
            Returned::Rows(select) => Some(select.columns.clone()),
            Returned::Values(_, columns) => Some(columns.clone()),
        }
    }

    pub async fn execute<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        sees_clear: bool,
    ) -> Result<Option<Rows>, QueryError> {
        let partitions = self.partitions(ctx)?;
        let stamped =
            Stamped { provisional_timestamp: ctx.request.now_micros, now_seconds: ctx.request.now_seconds };
        let work = async || {
            let mut found: Rowed = Vec::with_capacity(self.lets.len());
            for plan in &self.lets {
                let rows = select::execute(plan.for_reader(sees_clear), &unpaged(ctx)).await?;
                let owned = |row: Vec<Option<&[u8]>>| row.iter().map(|v| v.map(<[u8]>::to_vec)).collect();
                found.push(rows.values().next().map(owned));
            }
            let answer = match &self.returning {
                Returned::Nothing => None,
                Returned::Rows(plan) => {
                    Some(select::execute(plan.for_reader(sees_clear), &unpaged(ctx)).await?)
                }
                Returned::Values(values, columns) => {
                    let mut body = Vec::new();
                    values.iter().for_each(|value| put_value(&mut body, value.of(&found)));
                    Some(Rows { columns: columns.clone(), count: 1, body, paging_state: None })
                }
            };
            let bound = self.bound(ctx.request.values, &found);
            let request = Request { values: Values(&bound), ..ctx.request };
            let mutations = match self.holds(ctx, &request, &found)? {
                true => mutations(ctx, &request, &self.writes)?,
                false => Vec::new(),
            };
            Ok::<_, QueryError>((answer, mutations))
        };
        ctx.store.exclusively(partitions, stamped, work).await
    }

    /// Everything that is read or written.
    fn partitions<S: Store>(&self, ctx: &Context<'_, S>) -> Result<Vec<(TableId, PartitionKey)>, QueryError> {
        let mut partitions = Vec::new();
        let returned = match &self.returning {
            Returned::Rows(select) => Some(&**select),
            _ => None,
        };
        for select in self.lets.iter().chain(returned) {
            let keys = select.restrictions.keys(&ctx.request, ctx.ids)?;
            let named = PartitionSet::Keys(keys);
            tenant::read(select, &named, &ctx.request, ctx.ids)?;
            let PartitionSet::Keys(keys) = named else { continue };
            partitions.extend(keys.into_iter().map(|key| (TableId(select.table.id), key)));
        }
        // What LETs find is not known yet: a partition key cannot be made of it.
        let mut values: Vec<Bound<'_>> = ctx.request.values.0.to_vec();
        values.resize(self.references_at.max(values.len()), Bound::Null);
        values.resize(values.len() + self.references.len(), Bound::Unset);
        let request = Request { values: Values(&values), ..ctx.request };
        let room = Room::new(&ctx.limits);
        for (place, write) in self.writes.iter().enumerate() {
            let keys = match document(write, &request, ctx.ids)? {
                Some(document) => {
                    let Some(source) = &write.json else { continue };
                    let bound = document.bound(source);
                    let request = Request { values: Values(&bound), ..ctx.request };
                    builder(ctx, &request, &room, place).partitions(write)?
                }
                None => builder(ctx, &request, &room, place).partitions(write)?,
            };
            partitions.extend(keys.into_iter().map(|key| (TableId(write.table.id), key)));
        }
        Ok(partitions)
    }

    /// The client's values, and behind them those that were found.
    fn bound<'v>(&self, values: Values<'v>, found: &'v Rowed) -> Vec<Bound<'v>> {
        let mut bound: Vec<Bound<'v>> = values.0.to_vec();
        bound.resize(self.references_at.max(bound.len()), Bound::Null);
        let value = |reference: &Found| reference.of(found).map_or(Bound::Null, Bound::Value);
        bound.extend(self.references.iter().map(value));
        bound
    }

    fn holds<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        request: &Request<'_>,
        found: &Rowed,
    ) -> Result<bool, QueryError> {
        for test in &self.conditions {
            let holds = match test {
                TransactionTest::RowIsNull { found_by, is_null } => {
                    found.get(*found_by).is_none_or(Option::is_none) == *is_null
                }
                TransactionTest::ValueIsNull { value, is_null } => value.of(found).is_none() == *is_null,
                TransactionTest::Compare { value, data_type, comparison, operand } => {
                    match (value.of(found), operand.evaluate(request, ctx.ids)?) {
                        (Some(value), Evaluated::Value(operand)) => {
                            store::evaluate::holds_of(*comparison, data_type, value, &[Some(&operand)])
                        }
                        // Null is equal to nothing, and not different from anything: Cassandra skips such writes too.
                        _ => false,
                    }
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What writes that were decided under [`Store::exclusively`] commit; for a dialect that decides itself.
pub fn exclusive_mutations<S: Store>(
    ctx: &Context<'_, S>,
    writes: &[Arc<WritePlan>],
) -> Result<Vec<Mutation>, QueryError> {
    mutations(ctx, &ctx.request, writes)
}

fn mutations<S: Store>(
    ctx: &Context<'_, S>,
    request: &Request<'_>,
    writes: &[Arc<WritePlan>],
) -> Result<Vec<Mutation>, QueryError> {
    let room = Room::new(&ctx.limits);
    let mut mutations = Vec::new();
    for (place, write) in writes.iter().enumerate() {
        let read = document(write, request, ctx.ids)?;
        let bound = match (&read, &write.json) {
            (Some(document), Some(source)) => Some(document.bound(source)),
            _ => None,
        };
        let values = bound.as_ref().map_or(request.values, |bound| Values(bound));
        let own = Request { values, ..*request };
        let builder = builder(ctx, &own, &room, place);
        let stamp = builder.stamp(write)?;
        let targets = builder.targets(write)?;
        mutations.extend(builder.mutations(write, targets, &stamp)?);
    }
    for operation in mutations.iter_mut().flat_map(|mutation| &mut mutation.deferred) {
        operation.make_steady();
    }
    mutations.retain(|mutation| !mutation.is_empty());
    Ok(mutations)
}

impl Found {
    fn of(self, found: &Rowed) -> Option<&[u8]> {
        found.get(self.found_by)?.as_ref()?.get(self.column)?.as_deref()
    }
}

fn builder<'a, 'r, S: Store>(
    ctx: &'r Context<'_, S>,
    request: &'r Request<'a>,
    room: &'r Room,
    place: usize,
) -> Builder<'a, 'r> {
    Builder {
        request,
        ids: ctx.ids,
        batch_timestamp: None,
        conditional: true,
        statement: place as u32,
        room,
        // Bucketed tables take no part in transactions.
        partitions: None,
    }
}

/// SELECTs of a transaction answer at once: there is no later moment to page in.
fn unpaged<'a, S: Store>(ctx: &Context<'a, S>) -> Context<'a, S> {
    Context {
        store: ctx.store,
        virtuals: ctx.virtuals,
        ids: ctx.ids,
        limits: ctx.limits,
        memory: ctx.memory,
        request: Request { page_size: None, paging_state: None, ..ctx.request },
        warnings: Default::default(),
    }
}

/// The document of INSERT JSON.
fn document(
    write: &WritePlan,
    request: &Request<'_>,
    ids: &dyn crate::context::Ids,
) -> Result<Option<Document>, QueryError> {
    write.json.as_ref().map(|source| Document::parse(source, request, ids)).transpose()
}
