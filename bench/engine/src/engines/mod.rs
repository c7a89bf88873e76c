//! What the work asks of an engine, and the engines.

#[cfg(feature = "fjall")]
pub mod fjall;
pub mod partita;
#[cfg(feature = "redb")]
pub mod redb;
#[cfg(feature = "rocks")]
pub mod rocks;

use crate::workload::{Key, Row};
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

impl<T: Shared> Shared for &T {
    fn put(&self, row: Row, safety: Safety) {
        (**self).put(row, safety);
    }

    fn put_batch(&self, rows: &[Row], safety: Safety) {
        (**self).put_batch(rows, safety);
    }
}

/// An engine of keys and values. What the work asks is the same for all of them.
pub trait KeyValue {
    fn writes(&self) -> impl Shared + '_;

    /// Shows the value of a key; returns whether there is one.
    fn look(&self, key: &Key, show: impl FnOnce(&[u8])) -> bool;

    /// Touches up to `limit` rows of `[from, to)`, in either direction; returns how many there were.
    fn walk(&self, from: &[u8], to: &[u8], reverse: bool, limit: usize) -> usize;

    fn settle(&self);
}

impl<T: KeyValue> Engine for T {
    fn load(&self, from: u64, to: u64, batch: u64, safety: Safety) {
        self.writes().load_rows(from, to, batch, safety);
    }

    fn write_durably(&self, writers: u64, time: Duration) -> Vec<u32> {
        self.writes().write_in_threads(writers, time)
    }

    fn get(&self, row: Row, checked: bool) -> bool {
        self.look(&row.key(), |value| {
            touch(value);
            assert!(!checked || value == row.value(), "{row:?}");
        })
    }

    fn get_missing(&self, row: Row) -> bool {
        let mut key = row.key();
        key[31] ^= 1;
        self.look(&key, touch)
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
        KeyValue::settle(self);
    }

    fn close(self: Box<Self>) {}
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
