//! Client tokens of transactions: a row that says which actions a token was used for, for ten minutes.

use super::layout::STORE_COLUMN;
use model::deletion::Deletion;
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowView, RowWriter};
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
    pub fn new(store: TableId, text: &str, digest: u64) -> Option<Token> {
        Some(Token { store, key: PartitionKey::of(text.as_bytes())?, digest })
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
