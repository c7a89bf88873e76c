//! fjall: LZ4 on all levels, the rest as it comes (bloom filters of 10 bits, blocks of 4 KiB).

use super::{CACHE_BYTES, Engine, MEMTABLE_BYTES, Safety, Shared, Wanted, touch};
use crate::workload::Row;
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

impl Engine for Fjall {
    fn load(&self, from: u64, to: u64, batch: u64, safety: Safety) {
        self.load_rows(from, to, batch, safety);
    }

    fn write_durably(&self, writers: u64, time: Duration) -> Vec<u32> {
        self.write_in_threads(writers, time)
    }

    fn get(&self, row: Row, checked: bool) -> bool {
        let found = self.rows.get(row.key()).expect("get");
        if let Some(value) = &found {
            touch(value);
            assert!(!checked || value[..] == row.value(), "{row:?}");
        }
        found.is_some()
    }

    fn get_missing(&self, row: Row) -> bool {
        let mut key = row.key();
        key[31] ^= 1;
        self.rows.get(key).expect("get").is_some()
    }

    fn slice(&self, wanted: Wanted, limit: usize) -> usize {
        match wanted {
            Wanted::From(row) => self.walk(&row.key(), &row.bounds().1, false, limit),
            Wanted::Newest(row) => self.walk(&row.bounds().0, &row.bounds().1, true, limit),
        }
    }

    fn scan(&self) -> u64 {
        self.walk(&[0; 24], &[0xff; 24], false, usize::MAX) as u64
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

    fn close(self: Box<Self>) {}
}
