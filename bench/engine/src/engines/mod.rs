//! What the work asks of an engine, and the engines.

#[cfg(feature = "fjall")]
pub mod fjall;
pub mod partita;
#[cfg(feature = "redb")]
pub mod redb;
#[cfg(feature = "rocks")]
pub mod rocks;

use crate::workload::Row;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The budget every engine gets: everything fits into the cache.
pub const CACHE_BYTES: usize = 1 << 30;
pub const MEMTABLE_BYTES: usize = 64 << 20;

/// How a batch is made safe before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safety {
    /// With the operating system.
    Written,
    /// On the disk.
    Synced,
}

/// Which rows of one partition a slice wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// From this row on.
    From(Row),
    /// The newest of the row's partition, in descending order.
    Newest(Row),
}

pub trait Engine {
    /// Writes rows number `from` to `to` of the arrival order, `batch` rows in each atomic write.
    fn load(&self, from: u64, to: u64, batch: u64, safety: Safety);

    /// `writers` write rows one at a time, each safe before the writer's next, for so long. Latencies in microseconds.
    fn write_durably(&self, writers: u64, time: Duration) -> Vec<u32>;

    /// Whether the row is there. `checked`: its columns must be right, else only its last byte is looked at.
    fn get(&self, row: Row, checked: bool) -> bool;

    /// A key next to the row's, which does not exist.
    fn get_missing(&self, row: Row) -> bool;

    /// Touches up to `limit` rows; returns how many there were.
    fn slice(&self, wanted: Wanted, limit: usize) -> usize;

    /// Touches every row.
    fn scan(&self) -> u64;

    /// Everything is in files and merged as far as it will be by itself.
    fn settle(&self);

    /// Closes in good order.
    fn close(self: Box<Self>);
}

/// An engine that any thread may call: gives the loops that differ only in who calls.
pub trait Shared: Sync {
    fn put(&self, row: Row, safety: Safety);
    fn put_batch(&self, rows: &[Row], safety: Safety);

    fn load_rows(&self, from: u64, to: u64, batch: u64, safety: Safety) {
        if batch == 1 {
            return (from..to).for_each(|i| self.put(Row::arriving(i), safety));
        }
        let mut rows = Vec::with_capacity(batch as usize);
        for start in (from..to).step_by(batch as usize) {
            rows.clear();
            rows.extend((start..to.min(start + batch)).map(Row::arriving));
            self.put_batch(&rows, safety);
        }
    }

    fn write_in_threads(&self, writers: u64, time: Duration) -> Vec<u32> {
        let stop = AtomicBool::new(false);
        let latencies = Mutex::new(Vec::new());
        let next = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..writers {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let row = Row::arriving(next.fetch_add(1, Ordering::Relaxed));
                        let begun = Instant::now();
                        self.put(row, Safety::Synced);
                        mine.push(begun.elapsed().as_micros() as u32);
                    }
                    latencies.lock().unwrap().extend(mine);
                });
            }
            std::thread::sleep(time);
            stop.store(true, Ordering::Relaxed);
        });
        latencies.into_inner().unwrap()
    }
}

/// Keeps the optimiser from dropping a row that was read.
pub fn touch(bytes: &[u8]) {
    std::hint::black_box(bytes.last());
}

/// Opens or creates the database in `dir`. `synced`: writes will be asked to be durable.
pub fn open(engine: &str, dir: &str, synced: bool) -> Box<dyn Engine> {
    match engine {
        "partita" => Box::new(partita::Partita::open(dir, synced)),
        #[cfg(feature = "rocks")]
        "rocksdb" => Box::new(rocks::Rocks::open(dir)),
        #[cfg(feature = "fjall")]
        "fjall" => Box::new(fjall::Fjall::open(dir)),
        #[cfg(feature = "redb")]
        "redb" => Box::new(redb::Redb::open(dir)),
        other => panic!("no engine {other}: see the features of this crate"),
    }
}
