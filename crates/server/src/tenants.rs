//! How much each tenant has stored: counted by reading its tables now and then, slowly.
//!
//! Files know the sizes of tables and of large partitions, not whose the many small ones are; a count of every write would be wrong
//! after the first compaction. So the rows are read, a few thousand at a time with pauses between, and the next count begins when
//! twenty times as long has passed as this one took.

use crate::shard::Shard;
use database::tenants::NAMED_MAX;
use model::key::PartitionKey;
use model::row::RowView;
use query::tenant::first_value;
use schema::Table;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use store::{Flow, Partitions, Read, ReadEnd, Sink, Slice, Store, TableId};
use tokio::time::Instant;

/// Entries that are looked at before others have their turn, and the pause that follows: at most a tenth of a shard.
const ENTRIES_PER_TURN: u64 = 2_000;
const PAUSE: Duration = Duration::from_millis(10);
/// Before the first count, and the least between two.
const FIRST: Duration = Duration::from_secs(5);
const PERIOD_MIN: Duration = Duration::from_secs(60);
/// So many times as long as a count took passes before the next.
const REST: u32 = 20;

/// Rows and bytes by keyspace and tenant.
type Counted = HashMap<(String, String), (u64, u64)>;

/// Counts until the shard ends.
pub async fn keep_measured(shard: Rc<Shard>) {
    tokio::time::sleep(FIRST).await;
    loop {
        let began = Instant::now();
        let (_, catalogue) = shard.dialect.catalogue();
        let mut counted = Counted::new();
        let tables = catalogue.tables().filter(|table| table.has_tenants() && table.view.is_none());
        for table in tables {
            count(&shard, table, &mut counted).await;
        }
        let at_millis = shard.ids.now_micros() / 1000;
        for used in shard.shared.catalogue.tenants.all() {
            // Whoever has nothing left is not in the count.
            counted.entry((used.keyspace, used.tenant)).or_default();
        }
        for ((keyspace, tenant), (rows, bytes)) in counted {
            let used = shard.shared.catalogue.tenants.of(&keyspace, &tenant);
            used.stored_rows.store(rows, Relaxed);
            used.stored_bytes.store(bytes, Relaxed);
            used.stored_at_millis.store(at_millis, Relaxed);
        }
        tokio::time::sleep(PERIOD_MIN.max(began.elapsed() * REST)).await;
    }
}

async fn count(shard: &Shard, table: &Table, counted: &mut Counted) {
    let mut read = Read {
        statics: true,
        scan_limit: ENTRIES_PER_TURN,
        ..Read::of(
            TableId(table.id),
            Partitions::all(),
            vec![Slice::all()],
            (shard.ids.now_micros() / 1_000_000) as u32,
        )
    };
    let mut rows =
        Rows { composite: table.partition_key.len() > 1, by_tenant: HashMap::new(), tenant: Vec::new() };
    loop {
        match shard.dialect.store.read(&read, &mut rows).await {
            Ok(done) => match done.end {
                ReadEnd::Paused(position) => read.after = Some(position),
                ReadEnd::Complete | ReadEnd::Stopped => break,
            },
            Err(error) => {
                tracing::warn!(%error, keyspace = &*table.keyspace, table = &*table.name, "what tenants store could not be counted");
                return;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    let types: Vec<_> = table.tenant_column().map(|column| &column.data_type).into_iter().collect();
    for (tenant, (count, bytes)) in rows.by_tenant {
        let name = query::full::key_text(&types, &tenant);
        let entry = counted.entry((table.keyspace.to_string(), name)).or_default();
        *entry = (entry.0 + count, entry.1 + bytes);
    }
}

/// Counts what comes by, for the tenant of the partition at hand.
struct Rows {
    composite: bool,
    by_tenant: HashMap<Vec<u8>, (u64, u64)>,
    tenant: Vec<u8>,
}

impl Rows {
    fn add(&mut self, rows: u64, bytes: usize) {
        if self.by_tenant.len() >= NAMED_MAX && !self.by_tenant.contains_key(&self.tenant) {
            return;
        }
        // One look-up per row is enough: rows of a partition follow each other.
        match self.by_tenant.get_mut(&self.tenant) {
            Some(known) => *known = (known.0 + rows, known.1 + bytes as u64),
            None => {
                self.by_tenant.insert(self.tenant.clone(), (rows, bytes as u64));
            }
        }
    }
}

impl Sink for Rows {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.tenant.clear();
        self.tenant.extend_from_slice(first_value(self.composite, key.bytes()));
        self.add(0, key.bytes().len());
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.add(0, row.body().len());
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.add(1, clustering.len() + row.body().len());
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
