//! Time to live: items whose attribute lies in the past are deleted, each under its lock and only if the attribute still says so.
//!
//! Deletions go through the same path as everybody's, so indexes and streams follow; the stream's records say that the service did it.

use super::counting::all_rows;
use super::layout;
use super::table::{KEYSPACE, OpenTable};
use super::write::Change;
use super::{Caller, Dynamo, store_error};
use crate::error::{ApiError, ErrorName};
use crate::expression::{Comparison, Condition, Operand, Path};
use crate::number::Number;
use crate::request::WriteOptions;
use crate::value::{Item, Type, Value};
use model::key::PartitionKey;
use model::row::RowView;
use std::sync::Arc;
use store::{Flow, Position, ReadEnd, Sink, Store};

/// A time so long ago is taken for a mistake, as the service takes it.
const PAST_SECONDS_MAX: i64 = 5 * 366 * 86_400;
/// Expired items deleted before the scan goes on.
const ITEMS_PER_TURN: usize = 100;

impl<S: Store> Dynamo<S> {
    /// Deletes what has expired in all tables; returns how many items that were.
    pub async fn sweep(&self, caller: &Caller<'_>) -> usize {
        let (_, catalogue) = self.runtime.catalogue();
        let Some(keyspace) = catalogue.keyspace(KEYSPACE) else { return 0 };
        let mut swept = 0;
        for table in keyspace.tables.values().filter(|table| table.foreign.is_some()) {
            let Ok(open) = self.open(&table.name) else { continue };
            let Some(attribute) = open.definition.time_to_live.clone() else { continue };
            match self.sweep_table(caller, &open, &attribute).await {
                Ok(count) => swept += count,
                Err(error) => {
                    tracing::warn!(table = %table.name, %error, "expired items could not be deleted")
                }
            }
        }
        swept
    }

    async fn sweep_table(
        &self,
        caller: &Caller<'_>,
        open: &Arc<OpenTable>,
        attribute: &str,
    ) -> Result<usize, ApiError> {
        let now = caller.now_micros / 1_000_000;
        let mut read = all_rows(open.id, caller.now_seconds());
        let mut swept = 0;
        loop {
            let mut expired = Expired { open, attribute, now, found: Vec::new(), key: None, last: None };
            let end = self.runtime.store.read(&read, &mut expired).await.map_err(store_error)?.end;
            let last = expired.last;
            for (key, time) in expired.found {
                let equal = Condition::Compare(
                    Comparison::Equal,
                    Operand::Path(Path::of_name(attribute)),
                    Operand::Value(Value::N(time)),
                );
                let options = WriteOptions { condition: Some(equal), ..WriteOptions::default() };
                let name = &open.definition.name;
                match self.write_one(caller, name, Change::Delete(key), &options, true).await {
                    Ok(_) => swept += 1,
                    // Changed meanwhile: it lives on.
                    Err(error) if error.name() == ErrorName::ConditionalCheckFailed => {}
                    Err(error) => return Err(error),
                }
            }
            read.after = match end {
                ReadEnd::Complete => return Ok(swept),
                ReadEnd::Paused(position) => Some(position),
                ReadEnd::Stopped => last,
            };
            tokio::task::yield_now().await;
        }
    }
}

/// Finds items that have expired.
struct Expired<'t> {
    open: &'t OpenTable,
    attribute: &'t str,
    now: i64,
    /// Keys, and the times that were found.
    found: Vec<(Item, Number)>,
    key: Option<PartitionKey>,
    last: Option<Position>,
}

impl Expired<'_> {
    fn look(&self, row: &RowView<'_>) -> Option<(Item, Number)> {
        let now_seconds = self.now.clamp(0, i64::from(u32::MAX)) as u32;
        let document = layout::document(row, self.open.column, now_seconds).ok()?;
        let value = document.get(self.attribute).ok()??;
        if value.kind() != Type::N {
            return None;
        }
        let time = Number::from_bytes(value.key_bytes()?)?;
        let seconds = time.to_f64();
        if seconds > self.now as f64 || seconds < (self.now - PAST_SECONDS_MAX) as f64 {
            return None;
        }
        let item = document.decode().ok()?;
        Some((self.open.definition.key_attributes(&item), time))
    }
}

impl Sink for Expired<'_> {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let Some(found) = self.look(&row) else { return Flow::Continue };
        self.found.push(found);
        if self.found.len() < ITEMS_PER_TURN {
            return Flow::Continue;
        }
        self.last = self.key.clone().map(|key| Position { key, clustering: Some(clustering.to_vec()) });
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
