//! Locks that a commit holds, on its own shard and on others.
//!
//! A hold on another shard is known there by a ticket; it ends when the commit's part is applied there, or
//! when the holder gives up (its guard here is dropped, which sends a release).

use super::locks::{Guard, LockKey};
use super::{Errand, Shard};
use rt::Mail;
use std::collections::HashMap;
use std::rc::Rc;
use store::StoreError;
use tokio::sync::oneshot;

/// Names a hold on another shard.
pub(crate) type Ticket = u64;

/// What other shards hold here.
#[derive(Default)]
pub(super) struct Held {
    guards: HashMap<Ticket, Vec<Guard>>,
    next: Ticket,
}

/// Locks of one commit.
#[derive(Default)]
pub(super) struct Holds {
    pub local: Vec<Guard>,
    pub remote: Vec<RemoteHold>,
    /// What is locked, here and there.
    pub keys: Vec<LockKey>,
}

impl Holds {
    /// Takes over what others hold too.
    pub fn join(&mut self, other: Holds) {
        self.local.extend(other.local);
        self.remote.extend(other.remote);
        self.keys.extend(other.keys);
    }
}

/// Locks on another shard; dropped without being used, it releases them.
pub(crate) struct RemoteHold {
    pub shard: usize,
    /// No ballot that the other shard has given for these partitions is above this one.
    pub ballot: i64,
    ticket: Option<Ticket>,
    mail: Mail<Errand>,
}

impl RemoteHold {
    /// The ticket, for the errand that will release it.
    pub fn into_ticket(mut self) -> Ticket {
        self.ticket.take().unwrap_or_default()
    }
}

impl Drop for RemoteHold {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let _ = self.mail.send(self.shard, Box::new(move |owner| owner.release(ticket)));
        }
    }
}

impl Shard {
    /// Takes the locks of all keys, wherever they live, in the one order everybody follows: members of groups come last, because a
    /// commit learns which of them it changes when it holds its other locks already.
    pub(super) async fn hold(self: &Rc<Self>, keys: Vec<LockKey>) -> Result<Holds, StoreError> {
        let place = |key: &LockKey| (self.has_groups(key.0), self.owner_of(&key.1));
        let mut keys: Vec<((bool, usize), LockKey)> =
            keys.into_iter().map(|key| (place(&key), key)).collect();
        keys.sort();
        keys.dedup();
        let mut holds = Holds::default();
        for group in keys.chunk_by(|a, b| a.0 == b.0) {
            let Some(((_, owner), _)) = group.first() else { continue };
            let keys: Vec<LockKey> = group.iter().map(|(_, key)| key.clone()).collect();
            holds.keys.extend_from_slice(&keys);
            if *owner == self.index {
                for key in keys {
                    holds.local.push(self.locks.acquire(key).await);
                }
            } else {
                holds.remote.push(self.hold_remote(*owner, keys).await?);
            }
        }
        Ok(holds)
    }

    async fn hold_remote(&self, owner: usize, keys: Vec<LockKey>) -> Result<RemoteHold, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let mail = self.shared.mail.clone();
        self.send(
            owner,
            Box::new(move |owner| {
                let owner = owner.clone();
                tokio::task::spawn_local(async move {
                    let mut guards = Vec::with_capacity(keys.len());
                    for key in keys {
                        guards.push(owner.locks.acquire(key).await);
                    }
                    let ticket = owner.keep(guards);
                    // Sent as a guard: if the asker is gone, dropping it releases the locks.
                    let (shard, ballot) = (owner.index, owner.ballot.get());
                    let _ = sender.send(RemoteHold { shard, ballot, ticket: Some(ticket), mail });
                });
            }),
        )?;
        receiver.await.map_err(|_| StoreError::Closed)
    }

    fn keep(&self, guards: Vec<Guard>) -> Ticket {
        let mut held = self.held.borrow_mut();
        held.next += 1;
        let ticket = held.next;
        held.guards.insert(ticket, guards);
        ticket
    }

    /// Ends a hold that another shard had here.
    pub(super) fn release(&self, ticket: Ticket) {
        let guards = self.held.borrow_mut().guards.remove(&ticket);
        drop(guards);
    }
}
