//! redb: no compression; without a sync a commit is `Durability::None`, with one durable commit per 100,000 rows,
//! because redb reuses pages only then.

use super::{CACHE_BYTES, KeyValue, Safety, Shared, touch};
use crate::workload::{Key, Row};
use ::redb::{Builder, Database, Durability, ReadOnlyTable, ReadableDatabase, TableDefinition};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

const ROWS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("t");
const DURABLE_EVERY: u64 = 100_000;

pub struct Redb {
    database: Database,
    since_durable: AtomicU64,
    /// A read transaction that reads share, opened with the first one.
    reader: RefCell<Option<ReadOnlyTable<&'static [u8], &'static [u8]>>>,
}

impl Redb {
    pub fn open(dir: &str) -> Redb {
        std::fs::create_dir_all(dir).expect("directory");
        let database =
            Builder::new().set_cache_size(CACHE_BYTES).create(format!("{dir}/db.redb")).expect("open");
        let transaction = database.begin_write().expect("begin");
        drop(transaction.open_table(ROWS).expect("table"));
        transaction.commit().expect("commit");
        Redb { database, since_durable: AtomicU64::new(0), reader: RefCell::new(None) }
    }

    fn reading<T>(&self, body: impl FnOnce(&ReadOnlyTable<&'static [u8], &'static [u8]>) -> T) -> T {
        let mut reader = self.reader.borrow_mut();
        body(reader.get_or_insert_with(|| {
            let transaction = self.database.begin_read().expect("begin");
            transaction.open_table(ROWS).expect("table")
        }))
    }
}

/// What writes need; apart from the reader, which belongs to one thread.
struct Writer<'a>(&'a Database, &'a AtomicU64);

impl Shared for Writer<'_> {
    fn put(&self, row: Row, safety: Safety) {
        self.put_batch(&[row], safety);
    }

    fn put_batch(&self, rows: &[Row], safety: Safety) {
        let since = self.1.fetch_add(rows.len() as u64, Ordering::Relaxed);
        let durable = safety == Safety::Synced || since >= DURABLE_EVERY;
        if durable {
            self.1.store(0, Ordering::Relaxed);
        }
        let mut transaction = self.0.begin_write().expect("begin");
        let durability = if durable { Durability::Immediate } else { Durability::None };
        transaction.set_durability(durability).expect("durability");
        {
            let mut table = transaction.open_table(ROWS).expect("table");
            for row in rows {
                table.insert(&row.key()[..], &row.value()[..]).expect("insert");
            }
        }
        transaction.commit().expect("commit");
    }
}

impl KeyValue for Redb {
    fn writes(&self) -> impl Shared + '_ {
        Writer(&self.database, &self.since_durable)
    }

    fn look(&self, key: &Key, show: impl FnOnce(&[u8])) -> bool {
        self.reading(|table| table.get(&key[..]).expect("get").map(|value| show(value.value())).is_some())
    }

    fn walk(&self, from: &[u8], to: &[u8], reverse: bool, limit: usize) -> usize {
        self.reading(|table| {
            let rows = table.range::<&[u8]>(from..to).expect("range");
            let rows: Box<dyn Iterator<Item = _>> =
                if reverse { Box::new(rows.rev()) } else { Box::new(rows) };
            rows.take(limit)
                .map(|row| {
                    let (key, value) = row.expect("row");
                    touch(key.value());
                    touch(value.value());
                })
                .count()
        })
    }

    fn settle(&self) {
        self.writes().put_batch(&[], Safety::Synced);
    }
}
