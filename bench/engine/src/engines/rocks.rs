//! RocksDB: LZ4 on all levels, bloom filters of 10 bits, blocks of 4 KiB, the rest as it comes.

use super::{CACHE_BYTES, KeyValue, MEMTABLE_BYTES, Safety, Shared, touch};
use crate::workload::{Key, Row};
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, Options, ReadOptions, WriteBatch, WriteOptions,
};
use std::time::Duration;

pub struct Rocks {
    db: DB,
}

impl Rocks {
    pub fn open(dir: &str) -> Rocks {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_write_buffer_size(MEMTABLE_BYTES);
        options.set_max_write_buffer_number(4);
        options.set_max_background_jobs(2);
        options.set_compression_type(DBCompressionType::Lz4);
        let mut blocks = BlockBasedOptions::default();
        blocks.set_block_cache(&Cache::new_lru_cache(CACHE_BYTES));
        blocks.set_bloom_filter(10.0, false);
        blocks.set_block_size(4096);
        options.set_block_based_table_factory(&blocks);
        Rocks { db: DB::open(&options, dir).expect("open") }
    }
}

fn options_of(safety: Safety) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(safety == Safety::Synced);
    options
}

impl Shared for Rocks {
    fn put(&self, row: Row, safety: Safety) {
        match safety {
            Safety::Written => self.db.put(row.key(), row.value()),
            Safety::Synced => self.db.put_opt(row.key(), row.value(), &options_of(safety)),
        }
        .expect("put");
    }

    fn put_batch(&self, rows: &[Row], safety: Safety) {
        let mut batch = WriteBatch::default();
        rows.iter().for_each(|row| batch.put(row.key(), row.value()));
        self.db.write_opt(batch, &options_of(safety)).expect("write");
    }
}

impl KeyValue for Rocks {
    fn writes(&self) -> impl Shared + '_ {
        self
    }

    fn look(&self, key: &Key, show: impl FnOnce(&[u8])) -> bool {
        self.db.get_pinned(key).expect("get").map(|value| show(&value)).is_some()
    }

    fn walk(&self, from: &[u8], to: &[u8], reverse: bool, limit: usize) -> usize {
        let mut options = ReadOptions::default();
        options.set_iterate_lower_bound(from);
        options.set_iterate_upper_bound(to);
        let mut iterator = self.db.raw_iterator_opt(options);
        if reverse {
            iterator.seek_for_prev(to)
        } else {
            iterator.seek(from)
        }
        let mut rows = 0;
        while rows < limit
            && let (Some(key), Some(value)) = (iterator.key(), iterator.value())
        {
            touch(key);
            touch(value);
            rows += 1;
            if reverse { iterator.prev() } else { iterator.next() }
        }
        rows
    }

    fn settle(&self) {
        self.db.flush().expect("flush");
        let busy =
            ["rocksdb.num-running-compactions", "rocksdb.num-running-flushes", "rocksdb.compaction-pending"];
        let count = |name: &&str| self.db.property_int_value(*name).expect("property").unwrap_or(0);
        while busy.iter().map(count).sum::<u64>() > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
