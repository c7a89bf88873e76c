//! A read: of the side that answers. A share of them is asked of both, and answers that differ are counted.

use super::super::peer::Peer;
use super::serve::{Kept, answering, finish};
use super::{dual, lane_of};
use crate::front::request;
use cluster::{Class, Exchanged, Owned, Statement, Task, exchange, lost_error};
use cql_wire::{Envelope, ErrorKind, ErrorMessage, QueryParams, Response};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A write may have reached one side only when both are asked, so what differs is asked once more after so long.
const SECOND_LOOK: Duration = Duration::from_secs(1);

pub fn query(peer: &Rc<Peer>, envelope: &Envelope<'_>, query: &str, params: &QueryParams<'_>) {
    match is_shadowed(peer, params) {
        true => begin(peer, Kept::of(envelope), Some(query.to_string())),
        false => request::forward(peer, answering(peer), envelope, Task::Query(Class::Read), None),
    }
}

pub fn execute(
    peer: &Rc<Peer>,
    envelope: &Envelope<'_>,
    statement: &Arc<Statement>,
    params: &QueryParams<'_>,
) {
    let Some(mirror) = &peer.shard.mirror else { return };
    let side = mirror.shared.mode().answers;
    let shadowed = is_shadowed(peer, params);
    match mirror.known_at(side, &statement.id) {
        Some(there) if there.id == statement.id && !shadowed => {
            let token = cluster::key::token(&there.partition_key, &params.values, &mut Vec::new());
            request::forward(peer, lane_of(peer, side), envelope, Task::Execute(there), token);
        }
        _ => begin(peer, Kept::of(envelope), shadowed.then(|| statement.text.to_string())),
    }
}

/// Only first pages: a paging state is of one cluster.
fn is_shadowed(peer: &Peer, params: &QueryParams<'_>) -> bool {
    let Some(mirror) = &peer.shard.mirror else { return false };
    params.paging_state.is_none() && mirror.shared.is_shadowed()
}

fn begin(peer: &Rc<Peer>, kept: Kept, shadow: Option<String>) {
    let shard = &peer.shard;
    shard.asked.set(shard.asked.get() + kept.body.len());
    shard.counters().forwarded.add(1);
    peer.in_flight.set(peer.in_flight.get() + 1);
    tokio::task::spawn_local(perform(peer.clone(), kept, shadow));
}

async fn perform(peer: Rc<Peer>, kept: Kept, shadow: Option<String>) {
    let answer = one(&peer, &kept).await;
    match &answer {
        Ok(owned) => finish(&peer, &kept, Ok(owned.reply())),
        Err(error) => finish(&peer, &kept, Err(error.clone())),
    }
    let (Some(text), Some(mirror), Ok(first)) = (shadow, &peer.shard.mirror, answer) else { return };
    mirror.shared.counters.shadowed.add(1);
    if other(&peer, &kept).await.is_some_and(|other| is_same(&first, &other)) {
        return;
    }
    tokio::time::sleep(SECOND_LOOK).await;
    if let (Ok(first), Some(other)) = (one(&peer, &kept).await, other(&peer, &kept).await)
        && !is_same(&first, &other)
    {
        mirror.shared.differs(&text);
    }
}

/// What the side that answers says.
async fn one(peer: &Rc<Peer>, kept: &Kept) -> Result<Owned, ErrorMessage> {
    let stopping = || ErrorMessage::new(ErrorKind::Server, "The front end is stopping");
    let mirror = peer.shard.mirror.as_ref().ok_or_else(stopping)?;
    let side = mirror.shared.mode().answers;
    let lane = lane_of(peer, side).ok_or_else(stopping)?;
    let asked = dual::asked_of(peer, mirror, kept, side).await?;
    let Exchanged { job, outcome } = exchange(&lane, asked).await.ok_or_else(stopping)?;
    outcome.map_err(|lost| lost_error(&job, kept.version, lost))
}

/// What the other says, if it says anything.
async fn other(peer: &Rc<Peer>, kept: &Kept) -> Option<Owned> {
    let mirror = peer.shard.mirror.as_ref()?;
    let side = mirror.shared.mode().answers.other();
    let asked = dual::asked_of(peer, mirror, kept, side).await.ok()?;
    exchange(&lane_of(peer, side)?, asked).await?.outcome.ok()
}

/// Whether two answers have the same rows in the same order, as far as both go.
fn is_same(one: &Owned, other: &Owned) -> bool {
    if !dual::is_result(one) || !dual::is_result(other) {
        return dual::is_result(one) == dual::is_result(other);
    }
    let rows = |owned: &Owned| {
        owned.read(|response| match response {
            Response::Rows(rows) => {
                let cells: Vec<Option<Vec<u8>>> =
                    rows.iter_cells().map(|cell| cell.map(<[u8]>::to_vec)).collect();
                Some((rows.column_count, cells, rows.paging_state.is_some()))
            }
            _ => None,
        })
    };
    let (Ok(Some(one)), Ok(Some(other))) = (rows(one), rows(other)) else { return true };
    let more = one.2 || other.2;
    let (shorter, longer) = if one.1.len() <= other.1.len() { (one.1, other.1) } else { (other.1, one.1) };
    one.0 == other.0 && longer.starts_with(&shorter) && (more || longer.len() == shorter.len())
}
