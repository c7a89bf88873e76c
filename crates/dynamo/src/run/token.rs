//! Client tokens of transactions: a row that says which actions a token was used for, for ten minutes. Those of transactions on tables of
//! CQL, which have no place for such rows, are held in memory.

use super::Caller;
use super::layout::STORE_COLUMN;
use crate::error::ApiError;
use crate::messages::Rule;
use model::deletion::Deletion;
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowView, RowWriter};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::{Moment, Mutation, TableId, WantedRow};

/// How long a token is remembered.
const SECONDS: u32 = 600;

#[derive(Clone, Debug)]
pub struct Token {
    pub store: TableId,
    pub key: PartitionKey,
    /// Of the actions.
    pub digest: u64,
}

impl Token {
    /// Callers that are bound to tenants have tokens of their own: nobody else's can get in their way.
    pub fn new(store: TableId, caller: &Caller<'_>, text: &str, digest: u64) -> Option<Token> {
        let key = match caller.grants.filter(|grants| grants.is_bound()) {
            None => PartitionKey::of(text.as_bytes()),
            Some(grants) => PartitionKey::of(format!("{}\0{text}", grants.role).as_bytes()),
        };
        Some(Token { store, key: key?, digest })
    }

    pub fn wanted(&self) -> WantedRow {
        WantedRow { table: self.store, key: self.key.clone(), clustering: Vec::new() }
    }

    /// What the token was used for.
    pub fn digest_of(&self, row: &RowView<'_>, now_seconds: u32) -> Option<u64> {
        let cell = row.cells().find(|cell| cell.column == STORE_COLUMN)?;
        cell.live_value(now_seconds)?.try_into().ok().map(u64::from_be_bytes)
    }

    pub fn mutation(&self, moment: Moment) -> Mutation {
        let mut writer = RowWriter::new();
        expiring_row(&mut writer, moment, SECONDS, &self.digest.to_be_bytes());
        let mut mutation = Mutation::new(self.store, self.key.clone());
        mutation.row(&[], writer.view());
        mutation
    }
}

/// A row that is gone after so many seconds.
pub fn expiring_row(writer: &mut RowWriter, moment: Moment, seconds: u32, value: &[u8]) {
    writer.begin(moment.ballot, None, Deletion::NONE);
    let expiry = moment.now_seconds.saturating_add(seconds);
    let state = CellState::Expiring { value, ttl: seconds, expiry };
    writer.cell(&Cell { column: STORE_COLUMN, path: None, timestamp: moment.ballot, state });
}

/// Tokens held in memory, at most.
const HELD_MAX: usize = 100_000;

/// See the module. Lives as long as the server.
#[derive(Debug, Default)]
pub struct HeldTokens(Mutex<HashMap<String, Use>>);

/// What a token was used for.
#[derive(Clone, Copy, Debug)]
struct Use {
    digest: u64,
    /// When it is forgotten; `None` while its transaction is under way.
    until_ms: Option<i64>,
}

/// A token whose transaction is under way; forgotten unless it is kept.
pub struct HeldToken<'h> {
    held: &'h HeldTokens,
    token: String,
}

impl HeldTokens {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Use>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a token for these actions; `None`: they were done with it already.
    pub fn hold(&self, token: &str, digest: u64, now_ms: i64) -> Result<Option<HeldToken<'_>>, ApiError> {
        let mut known = self.lock();
        let is_over = |seen: &Use| seen.until_ms.is_some_and(|until| until < now_ms);
        if known.len() >= HELD_MAX {
            known.retain(|_, seen| !is_over(seen));
        }
        match known.get(token).filter(|seen| !is_over(seen)) {
            Some(seen) if seen.digest != digest => Err(Rule::TokenMismatch.refuse(&[])),
            Some(Use { until_ms: None, .. }) => Err(Rule::TokenInProgress.refuse(&[])),
            Some(_) => Ok(None),
            None if known.len() >= HELD_MAX => Err(Rule::TokenInProgress.refuse(&[])),
            None => {
                known.insert(token.to_string(), Use { digest, until_ms: None });
                Ok(Some(HeldToken { held: self, token: token.to_string() }))
            }
        }
    }
}

impl HeldToken<'_> {
    /// The transaction was committed.
    pub fn keep(self, now_ms: i64) {
        if let Some(seen) = self.held.lock().get_mut(&self.token) {
            seen.until_ms = Some(now_ms + i64::from(SECONDS) * 1_000);
        }
    }
}

impl Drop for HeldToken<'_> {
    fn drop(&mut self) {
        let mut known = self.held.lock();
        if known.get(&self.token).is_some_and(|seen| seen.until_ms.is_none()) {
            known.remove(&self.token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_held_kept_and_forgotten() {
        let tokens = HeldTokens::default();
        let held = tokens.hold("a", 1, 0).unwrap().unwrap();
        assert!(tokens.hold("a", 1, 0).is_err(), "under way");
        drop(held);
        tokens.hold("a", 1, 0).unwrap().unwrap().keep(0);
        assert!(tokens.hold("a", 1, 1_000).unwrap().is_none(), "done already");
        assert!(tokens.hold("a", 2, 1_000).is_err(), "for other actions");
        assert!(tokens.hold("a", 2, 600_001).unwrap().is_some(), "ten minutes later it is free");
    }
}
