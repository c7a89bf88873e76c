//! EXPLAIN ANALYZE: executes the statement and tells what happened, behind what EXPLAIN says.

use crate::CqlError;
use crate::explain::{self, ExplainPlan};
use crate::prepared::{Plan, Prepared};
use crate::session::{Answer, Dialect, Response, Session};
use model::types::quote_identifier;
use query::Request;
use rt::{Clock, SystemClock};
use std::sync::Arc;
use store::{Account, Store};

/// A statement that is explained and then executed.
pub struct AnalyzePlan {
    pub explain: ExplainPlan,
    pub inner: Prepared,
    /// How long binding it took.
    pub bind_micros: i64,
}

/// What each step took, in the order they happen.
fn millis(micros: i64) -> String {
    format!("{:.3} ms", micros.max(0) as f64 / 1000.0)
}

pub async fn execute<S: Store>(
    dialect: &Dialect<S>,
    session: &Session,
    plan: &AnalyzePlan,
    mut request: Request<'_>,
) -> Result<Answer, CqlError> {
    let account = Arc::new(Account::timed());
    request.account = Some(&account);
    let clock = SystemClock;
    let began = clock.micros();
    crate::roles::authorize(dialect, session, &plan.inner, request.now_micros).await?;
    if plan.inner.tenanted {
        dialect.passage(session, request.now_micros).await?.may_analyze(&plan.inner)?;
    }
    let authorized = clock.micros();
    let answer = Box::pin(dialect.execute(session, &plan.inner, request)).await?;
    let executed = clock.micros() - authorized;
    let work = account.sum();
    let (rows, bytes) = answer.size();
    let mut lines = plan.explain.lines.clone();
    let mut say = |property: &'static str, value: String| lines.push((property, value));
    if let Response::Rows(page) = &answer.response {
        let more = if page.paging_state.is_some() { ", and there are more pages" } else { "" };
        say("rows returned", format!("{rows} ({bytes} bytes{more})"));
    }
    let is_read = matches!(plan.inner.plan, Plan::Select(_));
    if is_read || work.reads > 0 {
        say("partitions read", work.partitions.to_string());
        say("rows examined", work.rows.to_string());
        say("tombstones met", work.tombstones.to_string());
        say("blocks from cache", work.blocks_cached.to_string());
        say("blocks read", work.blocks_read.to_string());
        say("bytes read", work.bytes.to_string());
        say("shards", account.shards().to_string());
    }
    for (name, work) in account.indexes() {
        let mut told = format!("{}: {} entries read", quote_identifier(&name), work.entries);
        if work.windows > 0 {
            told.push_str(&format!("; led in {} of {} parts of the table", work.chosen, work.windows));
        }
        if work.given_up > 0 {
            told.push_str(&format!("; in {} it had so many that every row was read", work.given_up));
        }
        say("index", told);
    }
    let store = i64::try_from(work.nanos / 1000).unwrap_or(i64::MAX);
    say("time: bind", millis(plan.bind_micros));
    say("time: authorize", millis(authorized - began));
    if is_read || work.reads > 0 {
        say("time: reading in shards", millis(store));
        say("time: waiting, filtering, assembling", millis(executed - store));
    } else {
        say("time: commit", millis(executed));
    }
    say("time: total", millis(plan.bind_micros + authorized - began + executed));
    Ok(Answer { response: Response::Rows(explain::rows(&lines)), warnings: answer.warnings })
}
