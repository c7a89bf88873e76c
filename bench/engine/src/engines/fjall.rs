//! fjall: LZ4 on all levels, the rest as it comes (bloom filters of 10 bits, blocks of 4 KiB).

use super::{CACHE_BYTES, KeyValue, MEMTABLE_BYTES, Safety, Shared, touch};
use crate::workload::{Key, Row};
use ::fjall::config::CompressionPolicy;
use ::fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use std::time::Duration;

pub struct Fjall {
    database: Database,
    rows: Keyspace,
}

impl Fjall {
    pub fn open(dir: &str) -> Fjall {
        let builder = Database::builder(dir).cache_size(CACHE_BYTES as u64).worker_threads(2);
        let database = builder.open().expect("open");
        let options = || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(MEMTABLE_BYTES as u64)
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        };
        let rows = database.keyspace("t", options).expect("keyspace");
        Fjall { database, rows }
    }
}

impl Shared for Fjall {
    fn put(&self, row: Row, safety: Safety) {
        self.rows.insert(&row.key()[..], &row.value()[..]).expect("insert");
        if safety == Safety::Synced {
            self.database.persist(PersistMode::SyncData).expect("persist");
        }
    }

    fn put_batch(&self, rows: &[Row], safety: Safety) {
        let mode = if safety == Safety::Synced { PersistMode::SyncData } else { PersistMode::Buffer };
        let mut batch = self.database.batch().durability(Some(mode));
        rows.iter().for_each(|row| batch.insert(&self.rows, &row.key()[..], &row.value()[..]));
        batch.commit().expect("commit");
    }
}

impl KeyValue for Fjall {
    fn writes(&self) -> impl Shared + '_ {
        self
    }

    fn look(&self, key: &Key, show: impl FnOnce(&[u8])) -> bool {
        self.rows.get(key).expect("get").map(|value| show(&value)).is_some()
    }

    fn walk(&self, from: &[u8], to: &[u8], reverse: bool, limit: usize) -> usize {
        let rows = self.rows.range(from..to);
        let one = |row: ::fjall::Guard| {
            let (key, value) = row.into_inner().expect("row");
            touch(&key);
            touch(&value);
        };
        match reverse {
            true => rows.rev().take(limit).map(one).count(),
            false => rows.take(limit).map(one).count(),
        }
    }

    fn settle(&self) {
        self.rows.rotate_memtable_and_wait().expect("flush");
        let mut idle = 0;
        while idle < 15 {
            std::thread::sleep(Duration::from_millis(20));
            let busy = self.database.outstanding_flushes() + self.database.active_compactions() > 0;
            idle = if busy { 0 } else { idle + 1 };
        }
    }
}
