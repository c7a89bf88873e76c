//! What belongs to no table: client tokens of transactions, and which exports and imports there were.
//!
//! Both are stores of one hidden table, which is made when the first of them is needed.

use super::counting::all_rows;
use super::layout::{STORE_COLUMN, internal};
use super::settings::Transfer;
use super::token::expiring_row;
use super::{Caller, Dynamo, store_error};
use crate::error::ApiError;
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::types::DataType;
use schema::{
    Applied, Catalogue, Change, NewColumn, NewForeign, NewStore, NewTable, Properties, PropertyValue, Setting,
};
use std::collections::BTreeMap;
use store::{
    Decide, Flow, Moment, Mutation, ReadEnd, Sink, Store, StoreError, TableId, Transaction, WantedRow,
};

/// The keyspace of the hidden table, and its name.
const KEYSPACE: &str = "dynamo_account";
const TABLE: &str = "account";
pub const TOKENS: &str = "tokens";
const TRANSFERS: &str = "transfers";
/// The service lists exports and imports of 90 days.
const TRANSFER_SECONDS: u32 = 90 * 86_400;

impl<S: Store> Dynamo<S> {
    /// The store of this name, which is made if it is not there.
    pub(super) async fn account_store(&self, caller: &Caller<'_>, name: &str) -> Result<TableId, ApiError> {
        if let Some(store) = self.known_account_store(name) {
            return Ok(store);
        }
        let compute = |catalogue: &Catalogue, setting: &Setting| -> Result<Applied, ApiError> {
            let apply = |catalogue: &Catalogue, change: &Change| {
                catalogue.apply(change, setting).map_err(ApiError::from)
            };
            let made = apply(catalogue, &keyspace())?;
            // Somebody else may have made it meanwhile.
            if made.catalogue.table(KEYSPACE, TABLE).is_some() {
                return Ok(made);
            }
            apply(&made.catalogue, &Change::CreateTable(Box::new(table())))
        };
        let changed = self.runtime.shared.change_aside(&self.runtime.store, caller.now_micros, compute).await;
        changed?;
        self.known_account_store(name).ok_or_else(|| internal("a store that was made is not there"))
    }

    fn known_account_store(&self, name: &str) -> Option<TableId> {
        let (_, catalogue) = self.runtime.catalogue();
        let table = catalogue.table(KEYSPACE, TABLE)?;
        Some(TableId(table.foreign.as_deref()?.store(name)?.id))
    }

    /// Keeps an export or import for whoever asks about it later.
    pub(super) async fn remember(&self, caller: &Caller<'_>, transfer: Transfer) -> Result<(), ApiError> {
        let store = self.account_store(caller, TRANSFERS).await?;
        let key = PartitionKey::of(transfer.arn.as_bytes()).ok_or_else(|| internal("an ARN is too long"))?;
        let value = serde_json::to_vec(&transfer).map_err(internal)?;
        let rows = vec![WantedRow { table: store, key: key.clone(), clustering: Vec::new() }];
        let decide = Keep { store, key, value };
        let transaction = Transaction { rows, decide, now_seconds: caller.now_seconds() };
        self.runtime.store.transact(transaction).await.map_err(store_error)?;
        self.shared.remember(transfer);
        Ok(())
    }

    /// What was remembered before the server started.
    pub async fn recall_transfers(&self, caller: &Caller<'_>) {
        let Some(store) = self.known_account_store(TRANSFERS) else { return };
        let mut read = all_rows(store, caller.now_seconds());
        let mut found = Found { now_seconds: caller.now_seconds(), transfers: Vec::new() };
        loop {
            match self.runtime.store.read(&read, &mut found).await {
                Ok(done) => match done.end {
                    ReadEnd::Paused(position) => read.after = Some(position),
                    ReadEnd::Complete | ReadEnd::Stopped => break,
                },
                Err(error) => {
                    tracing::warn!(%error, "the list of exports and imports could not be read");
                    break;
                }
            }
        }
        found.transfers.sort_by_key(|transfer| transfer.started_ms);
        for transfer in found.transfers {
            self.shared.remember(transfer);
        }
    }
}

fn keyspace() -> Change {
    let replication: BTreeMap<String, String> =
        [("class", "SimpleStrategy"), ("replication_factor", "1")].map(|(k, v)| (k.into(), v.into())).into();
    let mut properties = Properties::default();
    // The first of its name, so it cannot be there twice.
    let added = properties.add("replication", PropertyValue::Map(replication));
    debug_assert!(added.is_ok());
    Change::CreateKeyspace { name: KEYSPACE.into(), if_not_exists: true, properties }
}

/// A table without rows of its own.
fn table() -> NewTable {
    let stores = vec![
        NewStore { name: TOKENS.into(), window_seconds: Some(3_600) },
        NewStore { name: TRANSFERS.into(), window_seconds: None },
    ];
    NewTable {
        keyspace: KEYSPACE.into(),
        name: TABLE.into(),
        columns: vec![NewColumn::regular("key", DataType::Blob)],
        partition_key: vec!["key".into()],
        foreign: Some(NewForeign { definition: serde_json::Value::Null, stores }),
        ..NewTable::default()
    }
}

/// Writes one row that is kept for a while.
struct Keep {
    store: TableId,
    key: PartitionKey,
    value: Vec<u8>,
}

impl Decide for Keep {
    type Outcome = ();

    fn decide(self, _: &[Option<RowView<'_>>], moment: Moment) -> Result<((), Vec<Mutation>), StoreError> {
        let mut writer = RowWriter::with_capacity(self.value.len() + 32);
        expiring_row(&mut writer, moment, TRANSFER_SECONDS, &self.value);
        let mut mutation = Mutation::new(self.store, self.key);
        mutation.row(&[], writer.view());
        Ok(((), vec![mutation]))
    }
}

struct Found {
    now_seconds: u32,
    transfers: Vec<Transfer>,
}

impl Sink for Found {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        let cell = row.cells().find(|cell| cell.column == STORE_COLUMN);
        let value = cell.and_then(|cell| cell.live_value(self.now_seconds));
        self.transfers.extend(value.and_then(|value| serde_json::from_slice(value).ok()));
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
