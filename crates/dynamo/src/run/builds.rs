//! Indexes that are added to a table with items: filled in the background, from the beginning again after a crash.
//!
//! Writes keep an index in step from the moment the catalogue has it. What was committed before that is waited for
//! (`settle`), then every item is looked at once, some at a time, each under its lock; an entry that a write has made meanwhile is
//! simply made again.

use super::counting::all_rows;
use super::layout::{self, STORE_COLUMN, internal};
use super::table::{KEYSPACE, OpenTable};
use super::write::Entry;
use super::{Caller, Dynamo, store_error};
use crate::document;
use crate::error::ApiError;
use crate::table::{IndexStatus, TableDefinition};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use std::sync::Arc;
use store::{
    Decide, Flow, Moment, Mutation, Position, ReadEnd, Refused, Sink, Store, StoreError, TableId,
    Transaction, WantedRow,
};

/// Items whose entries are made in one commit.
const ITEMS_PER_COMMIT: usize = 64;

impl<S: Store> Dynamo<S> {
    /// Fills every index that is not filled yet. Call it when the server starts and whenever `builds_due` says so.
    pub async fn build_indexes(&self, caller: &Caller<'_>) {
        let (_, catalogue) = self.runtime.catalogue();
        let tables = catalogue.keyspace(KEYSPACE).into_iter().flat_map(|keyspace| keyspace.tables.values());
        let names: Vec<String> =
            tables.filter(|table| table.foreign.is_some()).map(|table| table.name.to_string()).collect();
        for name in names {
            if let Err(error) = self.build_indexes_of(caller, &name).await {
                tracing::warn!(table = name, %error, "an index could not be filled; the next start tries again");
            }
        }
    }

    async fn build_indexes_of(&self, caller: &Caller<'_>, name: &str) -> Result<(), ApiError> {
        loop {
            let open = self.open(name)?;
            let due = open.definition.indexes.iter().position(|index| index.status == IndexStatus::Creating);
            let Some(nth) = due else { return Ok(()) };
            let index = open.definition.indexes.get(nth).map(|index| index.name.clone()).unwrap_or_default();
            self.mark(caller, name, index.clone(), IndexStatus::Creating, Some(true)).await?;
            self.runtime.store.settle().await.map_err(store_error)?;
            let open = self.open(name)?;
            self.fill(caller, &open, &index).await?;
            self.mark(caller, name, index, IndexStatus::Active, None).await?;
        }
    }

    async fn mark(
        &self,
        caller: &Caller<'_>,
        name: &str,
        index: String,
        status: IndexStatus,
        backfilling: Option<bool>,
    ) -> Result<(), ApiError> {
        let edit = move |mut definition: TableDefinition| {
            for known in definition.indexes.iter_mut().filter(|known| known.name == index) {
                known.status = status;
                known.backfilling = backfilling;
            }
            Ok(definition)
        };
        self.alter(caller, name, edit).await.map(|_| ())
    }

    async fn fill(&self, caller: &Caller<'_>, open: &Arc<OpenTable>, index: &str) -> Result<(), ApiError> {
        let Some(nth) = open.definition.indexes.iter().position(|known| known.name == index) else {
            return Ok(());
        };
        let mut read = all_rows(open.id, caller.now_seconds());
        loop {
            let mut places = Places { table: open.id, key: None, rows: Vec::new(), last: None };
            let end = self.runtime.store.read(&read, &mut places).await.map_err(store_error)?.end;
            if !places.rows.is_empty() {
                let decide = Fill { open: open.clone(), nth };
                let transaction =
                    Transaction { rows: places.rows, decide, now_seconds: caller.now_seconds() };
                self.runtime.store.transact(transaction).await.map_err(store_error)?;
            }
            read.after = match end {
                ReadEnd::Complete => return Ok(()),
                ReadEnd::Paused(position) => Some(position),
                ReadEnd::Stopped => places.last,
            };
            tokio::task::yield_now().await;
        }
    }
}

/// Makes the entries of some items.
struct Fill {
    open: Arc<OpenTable>,
    nth: usize,
}

impl Decide for Fill {
    type Outcome = ();

    fn decide(self, rows: &[Option<RowView<'_>>], moment: Moment) -> Result<((), Vec<Mutation>), StoreError> {
        let fault =
            |error: &dyn std::fmt::Display| StoreError::from(Refused::Undecided { why: error.to_string() });
        let definition = &self.open.definition;
        let (Some(index), Some(store)) = (definition.indexes.get(self.nth), self.open.indexes.get(self.nth))
        else {
            return Ok(((), Vec::new()));
        };
        let mut mutations = Vec::new();
        let mut writer = RowWriter::new();
        for row in rows.iter().flatten() {
            let bytes = layout::document_bytes(row, self.open.column, moment.now_seconds).unwrap_or_default();
            let item = document::decode(bytes).map_err(|e| fault(&internal(e)))?;
            let Some(key) = definition.stored_key(&item) else { continue };
            let Some(entry) = definition.index_entry(index, &item) else { continue };
            let entry = Entry::of(entry, &key).map_err(|e| fault(&e))?;
            layout::document_row(&mut writer, moment.ballot, STORE_COLUMN, &entry.document);
            let mut mutation = Mutation::new(*store, entry.place.key);
            mutation.row(&entry.place.clustering, writer.view());
            mutations.push(mutation);
        }
        Ok(((), mutations))
    }
}

/// Where the next items lie.
struct Places {
    table: TableId,
    key: Option<PartitionKey>,
    rows: Vec<WantedRow>,
    last: Option<Position>,
}

impl Sink for Places {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        let Some(key) = self.key.clone() else { return Flow::Stop };
        self.last = Some(Position { key: key.clone(), clustering: Some(clustering.to_vec()) });
        self.rows.push(WantedRow { table: self.table, key, clustering: clustering.to_vec() });
        if self.rows.len() >= ITEMS_PER_COMMIT { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
