//! Batches: several writes as one commit.

use super::buckets;
use super::build::{Builder, RowTargets, Targets};
use super::cells::as_i64;
use super::conditional;
use super::execute::is_long;
use super::json::Document;
use super::plan::WritePlan;
use super::room::Room;
use crate::context::{Context, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::fault::{NullIn, WriteFault};
use crate::full;
use crate::spec::Rows;
use crate::values::{Bound, Values};
use model::key::PartitionKey;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Commit, Mutation, Store, TableId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchKind {
    Logged,
    Unlogged,
    Counter,
}

/// Statements whose writes are made before others have their turn: a millisecond or two.
const STATEMENTS_PER_TURN: usize = 1_000;
/// The same in bytes of what they write.
const BYTES_PER_TURN: usize = 1 << 20;

/// Batches up to this many partitions are searched one by one, which is cheaper than a map.
const SEARCHED_MAX: usize = 16;

/// Mutations, one per partition, in the order of first appearance: it is the order of the log record.
struct Merged {
    mutations: Vec<Mutation>,
    /// Where each is; filled when there are many.
    places: BTreeMap<(TableId, PartitionKey), usize>,
}

impl Merged {
    fn with_capacity(count: usize) -> Merged {
        Merged { mutations: Vec::with_capacity(count), places: BTreeMap::new() }
    }

    fn add(&mut self, mutation: Mutation) {
        let place = |m: &Mutation| (m.table, m.key.clone());
        if self.mutations.len() > SEARCHED_MAX && self.places.is_empty() {
            self.places = self.mutations.iter().map(place).zip(0..).collect();
        }
        let at = match self.places.is_empty() {
            true => self.mutations.iter().position(|m| m.table == mutation.table && m.key == mutation.key),
            false => self.places.get(&place(&mutation)).copied(),
        };
        match at.and_then(|at| self.mutations.get_mut(at)) {
            Some(earlier) => earlier.extend(mutation),
            None => {
                if !self.places.is_empty() {
                    self.places.insert(place(&mutation), self.mutations.len());
                }
                self.mutations.push(mutation);
            }
        }
    }
}

/// The mutations of a batch in the making: first the partitions of all statements are found, as Cassandra does, because it
/// decides which of two errors is reported; then the rows are written.
struct Making<'m, S: Store> {
    plan: &'m BatchPlan,
    ctx: &'m Context<'m, S>,
    values: &'m [Values<'m>],
    /// The partitions of statements that span buckets.
    looked_up: &'m [Vec<PartitionKey>],
    /// The values of statements that are documents.
    documents: Vec<Option<Vec<Bound<'m>>>>,
    batch_timestamp: Option<i64>,
    room: Room,
    targets: Vec<Targets>,
    /// Statements whose rows are written.
    written: usize,
    merged: Merged,
}

impl<'m, S: Store> Making<'m, S> {
    fn begin(
        plan: &'m BatchPlan,
        ctx: &'m Context<'m, S>,
        values: &'m [Values<'m>],
        looked_up: &'m [Vec<PartitionKey>],
        documents: &'m [Option<Document>],
    ) -> Result<Making<'m, S>, QueryError> {
        let batch_timestamp = match &plan.timestamp {
            None => None,
            Some(expr) => match expr.evaluate(&ctx.request, ctx.ids)? {
                Evaluated::Value(bytes) => Some(as_i64(&bytes)?),
                Evaluated::Null => return Err(NullIn::Timestamp.into()),
                Evaluated::Unset => None,
            },
        };
        let bound = plan.statements.iter().zip(documents).map(|(plan, d)| d.as_ref()?.bound_for(plan));
        let count = plan.statements.len();
        Ok(Making {
            plan,
            ctx,
            values,
            looked_up,
            documents: bound.collect(),
            batch_timestamp,
            room: Room::new(&ctx.limits),
            targets: Vec::with_capacity(count),
            written: 0,
            merged: Merged::with_capacity(count),
        })
    }

    fn request(&'m self, place: usize) -> Request<'m> {
        let own = self.values.get(place).copied().unwrap_or(self.ctx.request.values);
        let values = self.documents.get(place).and_then(Option::as_ref).map_or(own, |bound| Values(bound));
        Request { values, ..self.ctx.request }
    }

    fn builder<'r>(&'r self, request: &'r Request<'m>, place: usize) -> Builder<'m, 'r> {
        Builder {
            request,
            ids: self.ctx.ids,
            batch_timestamp: self.batch_timestamp,
            conditional: false,
            statement: place as u32,
            room: &self.room,
            partitions: None,
        }
    }

    /// Finds the partitions of some statements; whether there are more to find.
    fn find(&mut self) -> Result<bool, QueryError> {
        let statements = &self.plan.statements;
        let end = statements.len().min(self.targets.len() + STATEMENTS_PER_TURN);
        for (place, plan) in statements.iter().enumerate().take(end).skip(self.targets.len()) {
            let request = self.request(place);
            let mut builder = self.builder(&request, place);
            builder.partitions = self.looked_up.get(place).map(Vec::as_slice);
            let targets = match plan.table.bucketing() {
                // The bucket follows from the row, so both are found at once.
                Some(_) => builder.targets(plan)?,
                None => Targets {
                    partitions: builder.partitions(plan)?,
                    rows: RowTargets::None,
                    further: Vec::new(),
                },
            };
            self.targets.push(targets);
        }
        Ok(end < statements.len())
    }

    /// Writes the rows of some statements; whether there are more to write.
    fn put(&mut self) -> Result<bool, QueryError> {
        let (mut of_statement, mut bytes) = (Vec::with_capacity(1), 0);
        let end = self.plan.statements.len().min(self.written + STATEMENTS_PER_TURN);
        while self.written < end && bytes < BYTES_PER_TURN {
            let place = self.written;
            let Some(plan) = self.plan.statements.get(place) else { break };
            let mut targets = std::mem::take(&mut self.targets[place]);
            let request = self.request(place);
            let builder = self.builder(&request, place);
            if plan.table.bucketing().is_none() {
                targets.rows = builder.rows(plan)?;
            }
            let stamp = builder.stamp(plan)?;
            builder.put_mutations(plan, targets, &stamp, &mut of_statement)?;
            for mutation in of_statement.drain(..).filter(|mutation: &Mutation| !mutation.is_empty()) {
                bytes += mutation.encoded().len();
                self.merged.add(mutation);
            }
            self.written += 1;
        }
        Ok(self.written < self.plan.statements.len())
    }
}

/// The statements of a batch; each sees its own values.
#[derive(Clone, Debug)]
pub struct BatchPlan {
    pub kind: BatchKind,
    pub statements: Vec<Arc<WritePlan>>,
    pub timestamp: Option<Expr>,
}

impl BatchPlan {
    /// The rules that do not need values.
    pub fn check(&self) -> Result<(), QueryError> {
        let conditional = self.statements.iter().any(|s| s.is_conditional());
        for statement in &self.statements {
            let counter = statement.is_counter();
            match self.kind {
                BatchKind::Logged if counter => {
                    return Err(WriteFault::CounterInLoggedBatch.into());
                }
                BatchKind::Counter if !counter => {
                    return Err(WriteFault::NoCounterInCounterBatch.into());
                }
                _ => {}
            }
            if statement.timestamp.is_some() && self.timestamp.is_some() {
                return Err(WriteFault::TwoTimestamps.into());
            }
        }
        let mixed =
            self.statements.iter().any(|s| s.is_counter()) && self.statements.iter().any(|s| !s.is_counter());
        if mixed {
            return Err(WriteFault::CountersAndOthers.into());
        }
        if self.timestamp.is_some() && conditional {
            return Err(WriteFault::TimestampOfConditionalBatch.into());
        }
        if self.timestamp.is_some() && self.kind == BatchKind::Counter {
            return Err(WriteFault::TimestampOfCounterBatch.into());
        }
        Ok(())
    }

    /// Runs the batch; `values[i]` belong to statement `i`.
    pub async fn execute<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        values: &[Values<'_>],
    ) -> Result<Option<Rows>, QueryError> {
        if self.statements.is_empty() {
            return Ok(None);
        }
        if self.statements.iter().any(|s| s.is_conditional()) {
            let plans: Vec<&WritePlan> = self.statements.iter().map(|s| &**s).collect();
            return conditional::execute_each(ctx, &plans, values, true).await.map(Some);
        }
        let mut looked_up = Vec::new();
        if self.spans_buckets() {
            for (place, plan) in self.statements.iter().enumerate() {
                let values = values.get(place).copied().unwrap_or(ctx.request.values);
                looked_up.push(buckets::look_up(ctx, plan, &Request { values, ..ctx.request }).await?);
            }
        }
        let mutations = match self.statements.len() <= STATEMENTS_PER_TURN {
            true => self.mutations(ctx, values, &looked_up)?,
            false => self.mutations_in_turns(ctx, values, &looked_up).await?,
        };
        if let Some(commit) = self.commit_of(ctx, mutations)? {
            if is_long(&commit) {
                rt::turn::give_way().await;
            }
            ctx.store.commit(commit).await?;
        }
        Ok(None)
    }

    /// Whether some statement has to look up buckets first.
    pub fn spans_buckets(&self) -> bool {
        self.statements.iter().any(|statement| statement.spans_buckets())
    }

    /// What a batch without conditions, and that does not span buckets, commits; `None` when it writes nothing.
    pub fn commit<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        values: &[Values<'_>],
    ) -> Result<Option<Commit>, QueryError> {
        self.commit_of(ctx, self.mutations(ctx, values, &[])?)
    }

    fn commit_of<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        mutations: Vec<Mutation>,
    ) -> Result<Option<Commit>, QueryError> {
        self.check_size(ctx, &mutations)?;
        if ctx.store.is_crowded() {
            full::warn(ctx, &mutations, |mutation| {
                let plan = self.statements.iter().find(|plan| plan.table.id == mutation.table.0)?;
                Some(&plan.table)
            });
        }
        let now_seconds = ctx.request.now_seconds;
        Ok((!mutations.is_empty()).then_some(Commit { mutations, now_seconds }))
    }

    /// One mutation per (table, partition), so that each partition changes at once.
    fn mutations<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        values: &[Values<'_>],
        looked_up: &[Vec<PartitionKey>],
    ) -> Result<Vec<Mutation>, QueryError> {
        let documents = self.documents(ctx, values)?;
        let mut making = Making::begin(self, ctx, values, looked_up, &documents)?;
        while making.find()? {}
        while making.put()? {}
        Ok(making.merged.mutations)
    }

    /// The same for many statements: others have their turns between.
    async fn mutations_in_turns<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        values: &[Values<'_>],
        looked_up: &[Vec<PartitionKey>],
    ) -> Result<Vec<Mutation>, QueryError> {
        let documents = self.documents(ctx, values)?;
        let mut making = Making::begin(self, ctx, values, looked_up, &documents)?;
        while making.find()? {
            rt::turn::give_way().await;
        }
        while making.put()? {
            rt::turn::give_way().await;
        }
        Ok(making.merged.mutations)
    }

    /// The JSON documents of the statements that have one; nothing when none has.
    fn documents<S: Store>(
        &self,
        ctx: &Context<'_, S>,
        values: &[Values<'_>],
    ) -> Result<Vec<Option<Document>>, QueryError> {
        if self.statements.iter().all(|plan| plan.json.is_none()) {
            return Ok(Vec::new());
        }
        let document = |(plan, values): (&Arc<WritePlan>, &Values<'_>)| {
            let request = Request { values: *values, ..ctx.request };
            plan.json.as_ref().map(|source| Document::parse(source, &request, ctx.ids)).transpose()
        };
        self.statements.iter().zip(values).map(document).collect()
    }

    /// Large batches over several partitions hurt: warn, then refuse, as Cassandra does.
    fn check_size<S: Store>(&self, ctx: &Context<'_, S>, mutations: &[Mutation]) -> Result<(), QueryError> {
        if mutations.len() <= 1 {
            return Ok(());
        }
        let size: usize = mutations.iter().map(|m| m.encoded().len() + m.key.bytes().len()).sum();
        let tables = || {
            let mut names: Vec<String> =
                self.statements.iter().map(|s| format!("{}.{}", s.table.keyspace, s.table.name)).collect();
            names.sort();
            names.dedup();
            names.join(", ")
        };
        let limits = &ctx.limits;
        if size > limits.batch_bytes_fail {
            return Err(WriteFault::BatchTooLarge {
                bytes: size,
                partitions: mutations.len(),
                bytes_max: limits.batch_bytes_fail,
            }
            .into());
        }
        if size > limits.batch_bytes_warn {
            ctx.warn(format!(
                "Batch for [{}] is of size {size}, exceeding specified threshold of {} by {}.",
                tables(),
                limits.batch_bytes_warn,
                size - limits.batch_bytes_warn
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::deletion::Deletion;

    /// With few partitions and with many, each is there once, where it first appeared.
    #[test]
    fn partitions_are_merged_in_the_order_of_first_appearance() {
        let mut merged = Merged::with_capacity(0);
        for n in (0..40u8).chain(0..40).chain(10..20) {
            let mut mutation = Mutation::new(TableId(u32::from(n % 2)), PartitionKey::of(&[n / 2]).unwrap());
            mutation.delete_partition(Deletion { timestamp: i64::from(n), local_seconds: 1 });
            merged.add(mutation);
        }
        let order: Vec<(u32, u8)> = merged.mutations.iter().map(|m| (m.table.0, m.key.bytes()[0])).collect();
        let expected: Vec<(u32, u8)> = (0..40u8).map(|n| (u32::from(n % 2), n / 2)).collect();
        assert_eq!(order, expected);
        let entries: Vec<usize> = merged.mutations.iter().map(|m| m.entries().count()).collect();
        assert!(
            entries.iter().enumerate().all(|(n, count)| *count == 2 + usize::from((10..20).contains(&n)))
        );
    }
}
