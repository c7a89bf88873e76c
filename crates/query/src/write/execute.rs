//! Runs one write statement.

use super::buckets;
use super::build::Builder;
use super::conditional;
use super::json;
use super::plan::WritePlan;
use super::room::Room;
use crate::context::Context;
use crate::error::QueryError;
use crate::full;
use crate::spec::Rows;
use model::key::PartitionKey;
use store::{Commit, Store};

/// Commits above this give way before they are logged.
const SHORT_BYTES: usize = 128 << 10;

/// Whether making a commit has taken a while, and logging it will as well.
pub(super) fn is_long(commit: &Commit) -> bool {
    commit.mutations.iter().map(|m| m.encoded().len()).sum::<usize>() > SHORT_BYTES
}

/// Executes the statement; conditional ones answer with a row whose first column is `[applied]`.
pub async fn execute<S: Store>(ctx: &Context<'_, S>, plan: &WritePlan) -> Result<Option<Rows>, QueryError> {
    match &plan.json {
        None => execute_with(ctx, plan).await,
        // Conditional writes read the document themselves, as batches do.
        Some(_) if plan.is_conditional() => execute_with(ctx, plan).await,
        Some(source) => {
            let document = json::Document::parse_aside(source, &ctx.request, ctx.ids).await?;
            let bound = document.bound(source);
            let mut request = ctx.request;
            request.values = crate::values::Values(&bound);
            let inner = Context {
                store: ctx.store,
                virtuals: ctx.virtuals,
                ids: ctx.ids,
                limits: ctx.limits,
                memory: ctx.memory,
                request,
                warnings: Default::default(),
            };
            let answer = execute_with(&inner, plan).await;
            ctx.warnings.borrow_mut().append(&mut inner.warnings.borrow_mut());
            answer
        }
    }
}

async fn execute_with<S: Store>(ctx: &Context<'_, S>, plan: &WritePlan) -> Result<Option<Rows>, QueryError> {
    if plan.is_conditional() {
        return conditional::execute(ctx, &[plan], false).await.map(Some);
    }
    let partitions = match plan.spans_buckets() {
        true => Some(buckets::look_up(ctx, plan, &ctx.request).await?),
        false => None,
    };
    if let Some(commit) = commit_to(ctx, plan, partitions.as_deref())? {
        if is_long(&commit) {
            rt::turn::give_way().await;
        }
        ctx.store.commit(commit).await?;
    }
    Ok(None)
}

/// What a statement without conditions and JSON, and that does not span buckets, commits; `None` when it writes nothing.
pub fn commit<S: Store>(ctx: &Context<'_, S>, plan: &WritePlan) -> Result<Option<Commit>, QueryError> {
    commit_to(ctx, plan, None)
}

fn commit_to<S: Store>(
    ctx: &Context<'_, S>,
    plan: &WritePlan,
    partitions: Option<&[PartitionKey]>,
) -> Result<Option<Commit>, QueryError> {
    let builder = Builder {
        request: &ctx.request,
        ids: ctx.ids,
        batch_timestamp: None,
        conditional: false,
        statement: 0,
        room: &Room::new(&ctx.limits),
        partitions,
    };
    let stamp = builder.stamp(plan)?;
    let targets = builder.targets(plan)?;
    let mut mutations = builder.mutations(plan, targets, &stamp)?;
    mutations.retain(|m| !m.is_empty());
    if ctx.store.is_crowded() {
        full::warn(ctx, &mutations, |_| Some(&plan.table));
    }
    let now_seconds = ctx.request.now_seconds;
    Ok((!mutations.is_empty()).then_some(Commit { mutations, now_seconds }))
}
