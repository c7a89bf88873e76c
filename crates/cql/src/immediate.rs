//! Statements without waiting: reads that are ready at once, writes up to the commit they make.
//!
//! A server with many requests under way asks here first, because what needs no waiting needs no task either.
//! Guarantees: `None` means that nothing has happened, and that [`Dialect::execute`] is the way.

use crate::CqlError;
use crate::prepared::{Plan, Prepared};
use crate::roles;
use crate::session::{Answer, Dialect, Session, through};
use crate::tenants::{self, Passage};
use query::write::{self, BatchPlan, WritePlan};
use query::{Request, Rows, Values};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use store::{CasOutcome, Commit, ConditionalCommit, Store};

/// A write that has only to be given to the store.
pub enum Write {
    /// There is nothing to change.
    Nothing,
    Plain(Commit),
    /// The outcome becomes an answer with [`decided`].
    Conditional(ConditionalCommit),
}

impl<S: Store> Dialect<S> {
    /// Executes the statement if it is a read that does not have to wait for anything.
    pub fn read_now(
        &self,
        session: &Session,
        prepared: &Prepared,
        request: Request<'_>,
    ) -> Option<Result<Answer, CqlError>> {
        match &prepared.plan {
            Plan::Select(_) if prepared.calls_functions => None,
            Plan::Select(select) => at_once(self.select(session, prepared, select, request)),
            _ => None,
        }
    }

    /// What the statement wants to commit, if it is a write.
    pub fn write_now(
        &self,
        session: &Session,
        prepared: &Prepared,
        request: Request<'_>,
    ) -> Option<Result<Write, CqlError>> {
        // Whether a statement of no pattern passes may have to be asked for.
        let long = prepared.undeclared.is_some() || prepared.calls_functions;
        if !matches!(prepared.plan, Plan::Write(_) | Plan::Batch(_)) || long {
            return None;
        }
        if let Err(error) = self.check_values(prepared, &request) {
            return Some(Err(error));
        }
        if session.role.is_some() {
            match at_once(roles::authorize(self, session, prepared, request.now_micros))? {
                Ok(roles::Sight::Clear) => {}
                // The answer has masks.
                Ok(roles::Sight::Masked) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        let passage = match prepared.tenanted {
            true => match at_once(self.passage(session, request.now_micros))? {
                Ok(passage) => Some(passage),
                Err(error) => return Some(Err(error)),
            },
            false => None,
        };
        let ctx = self.context(through(&passage, request));
        let write = match &prepared.plan {
            Plan::Write(plan) if plan.json.is_some() || plan.spans_buckets() => return None,
            // What a failed condition shows would need another read.
            Plan::Write(plan) if plan.is_conditional() && write::needs_first_row(plan) => return None,
            Plan::Write(plan) if plan.is_conditional() => {
                write::conditional_commit(&ctx, &[plan], &[ctx.request.values])
                    .map(Write::Conditional)
                    .map_err(CqlError::from)
            }
            Plan::Write(plan) => write::commit(&ctx, plan).map(Write::of).map_err(CqlError::from),
            Plan::Batch(batch) => {
                let values = vec![ctx.request.values; batch.statements.len()];
                batch_commit(&ctx, batch, &values)?
            }
            _ => return None,
        };
        // A statement with warnings takes the long way, which passes warnings on.
        let silent = ctx.warnings.into_inner().is_empty();
        finish(passage, silent, &request);
        silent.then_some(write)
    }

    /// What the protocol's BATCH message wants to commit; conditional batches are not for here.
    pub fn batch_now(
        &self,
        session: &Session,
        batch: &BatchPlan,
        values: &[Values<'_>],
        request: Request<'_>,
    ) -> Option<Result<Write, CqlError>> {
        if batch.statements.iter().any(|plan| !plan.calls.is_empty()) {
            return None;
        }
        if session.role.is_some()
            && let Err(error) =
                at_once(roles::authorize_writes(self, session, &batch.statements, request.now_micros))?
        {
            return Some(Err(error));
        }
        if let Err(error) = batch.check() {
            return Some(Err(error.into()));
        }
        let passage = match tenants::concerns_writes(&batch.statements) {
            true => match at_once(self.passage(session, request.now_micros))? {
                Ok(passage) => Some(passage),
                Err(error) => return Some(Err(error)),
            },
            false => None,
        };
        let ctx = self.context(through(&passage, request));
        let write = batch_commit(&ctx, batch, values)?;
        let silent = ctx.warnings.into_inner().is_empty();
        finish(passage, silent, &request);
        silent.then_some(write)
    }
}

/// Counts a request that was served here; one that takes the long way is counted there.
fn finish<S: Store>(passage: Option<Passage<'_, S>>, served: bool, request: &Request<'_>) {
    if let Some(passage) = passage.filter(|_| served) {
        passage.finish(request.account);
    }
}

fn batch_commit<S: Store>(
    ctx: &query::Context<'_, S>,
    batch: &BatchPlan,
    values: &[Values<'_>],
) -> Option<Result<Write, CqlError>> {
    if batch.statements.iter().any(|s| s.is_conditional()) || batch.spans_buckets() {
        return None;
    }
    Some(batch.commit(ctx, values).map(Write::of).map_err(CqlError::from))
}

impl Write {
    fn of(commit: Option<Commit>) -> Write {
        commit.map_or(Write::Nothing, Write::Plain)
    }
}

/// The answer to a conditional statement (no batch) whose commit was decided.
pub fn decided(plan: &WritePlan, outcome: &CasOutcome, now_seconds: u32) -> Rows {
    write::conditional_answer(plan, outcome, now_seconds)
}

/// The result of a future that is ready when it is first asked. Inlined, or the future would be copied.
#[inline(always)]
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
