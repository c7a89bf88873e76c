//! Our engine, one shard, called as the server calls it: from the shard's own thread.
//!
//! Rows have four columns and a marker. Writers are tasks on the shard, as connections are; engines made for
//! threads get threads.

use super::{CACHE_BYTES, Engine, MEMTABLE_BYTES, Safety, Wanted, touch};
use crate::workload::{Columns, Row};
use engine::{Durability, EngineOptions};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::token::Token;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use store::{Commit, Flow, Mutation, Partitions, Read, Sink, Slice, Store, TableConfig, TableId};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

const TABLE: TableId = TableId(1);

pub struct Partita {
    runtime: Runtime,
    tasks: LocalSet,
    engine: engine::Engine,
    store: engine::EmbeddedStore,
}

impl Partita {
    /// Durability belongs to the database, not to a write: `synced` decides for all.
    pub fn open(dir: &str, synced: bool) -> Partita {
        let mut options = EngineOptions::new(dir);
        options.shards = 1;
        options.durability =
            if synced { Durability::Sync } else { Durability::Periodic { interval_ms: 1000 } };
        // One memtable fills while the one before it is flushed.
        options.memtable_bytes_max = 2 * MEMTABLE_BYTES;
        options.cache_bytes_max = CACHE_BYTES;
        options.compaction_bytes_per_second = 0;
        let (engine, opened) =
            engine::Engine::open(Arc::new(rt::RealDisk), Arc::new(rt::SystemClock), options).expect("open");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        let tasks = LocalSet::new();
        let store = tasks.block_on(&runtime, async { engine.store(0) }).expect("the only shard");
        let partita = Partita { runtime, tasks, engine, store };
        if opened.catalogue.is_none() {
            let alter = partita.store.alter(b"bench".to_vec(), vec![TableConfig::new(TABLE)]);
            partita.block_on(alter).expect("create the table");
        }
        partita
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.tasks.block_on(&self.runtime, future)
    }

    /// Local reads are synchronous: they are done when they are first polled (docs/adr/0003).
    fn read(&self, read: &Read, sink: &mut dyn Sink) {
        let mut future = pin!(self.store.read(read, sink));
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => _ = outcome.expect("read"),
            Poll::Pending => panic!("a local read waited"),
        }
    }
}

fn partition(row: Row) -> PartitionKey {
    let (token, key) = row.partition_key();
    PartitionKey::new(Token::from_ring_position(token), &key).expect("a short key")
}

/// The comparable form of an ascending timestamp: a marker byte, the sign bit flipped.
fn clustering(time: u64) -> [u8; 9] {
    let mut bytes = [0x20; 9];
    bytes[1..].copy_from_slice(&(time ^ 1 << 63).to_be_bytes());
    bytes
}

fn put(mutation: &mut Mutation, writer: &mut RowWriter, row: Row) {
    let Columns { written_at, reading, count, status, digits } = row.columns();
    let timestamp = written_at as i64;
    writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
    writer.live(1, &reading.to_be_bytes());
    writer.live(2, &count.to_be_bytes());
    writer.live(3, status);
    writer.live(4, &digits);
    mutation.row(&clustering(row.time()), writer.view());
}

fn commit_of(rows: impl Iterator<Item = Row>, writer: &mut RowWriter) -> Commit {
    let mutations = rows.map(|row| {
        let mut mutation = Mutation::new(TABLE, partition(row));
        put(&mut mutation, writer, row);
        mutation
    });
    Commit { mutations: mutations.collect(), now_seconds: 0 }
}

fn read_of(row: Row, slice: Slice, reverse: bool) -> Read {
    Read {
        table: TABLE,
        partitions: Partitions::One(partition(row)),
        slices: vec![slice],
        reverse,
        statics: false,
        after: None,
        now_seconds: 0,
        scan_limit: u64::MAX,
        tombstone_limit: u64::MAX,
        account: Default::default(),
    }
}

/// Counts and touches rows.
struct Touch {
    rows: usize,
    limit: usize,
}

impl Sink for Touch {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }
    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }
    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        touch(clustering);
        touch(row.body());
        self.rows += 1;
        if self.rows == self.limit { Flow::Stop } else { Flow::Continue }
    }
    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Compares a row with what was written.
struct Check {
    row: Row,
    found: bool,
}

impl Sink for Check {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }
    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }
    fn row(&mut self, found: &[u8], row: RowView<'_>) -> Flow {
        let mut mutation = Mutation::new(TABLE, partition(self.row));
        put(&mut mutation, &mut RowWriter::new(), self.row);
        let expected =
            mutation.entries().next().and_then(|e| RowView::from_payload(e.payload)).expect("a row");
        assert_eq!((found, row), (&clustering(self.row.time())[..], expected), "{:?}", self.row);
        self.found = true;
        Flow::Stop
    }
    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

impl Engine for Partita {
    fn load(&self, from: u64, to: u64, batch: u64, _: Safety) {
        self.block_on(async {
            let mut writer = RowWriter::new();
            for start in (from..to).step_by(batch as usize) {
                let rows = (start..to.min(start + batch)).map(Row::arriving);
                self.store.commit(commit_of(rows, &mut writer)).await.expect("commit");
            }
        });
    }

    fn write_durably(&self, writers: u64, time: Duration) -> Vec<u32> {
        let latencies = Rc::new(RefCell::new(Vec::new()));
        let next = Rc::new(Cell::new(0));
        let end = Instant::now() + time;
        self.block_on(async {
            let tasks: Vec<_> = (0..writers)
                .map(|_| {
                    let (store, latencies, next) = (self.store.clone(), latencies.clone(), next.clone());
                    tokio::task::spawn_local(async move {
                        let mut writer = RowWriter::new();
                        while Instant::now() < end {
                            let row = Row::arriving(next.replace(next.get() + 1));
                            let begun = Instant::now();
                            let commit = commit_of(std::iter::once(row), &mut writer);
                            store.commit(commit).await.expect("commit");
                            latencies.borrow_mut().push(begun.elapsed().as_micros() as u32);
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("a writer");
            }
        });
        latencies.take()
    }

    fn get(&self, row: Row, checked: bool) -> bool {
        let read = read_of(row, Slice::one(&clustering(row.time())), false);
        if checked {
            let mut sink = Check { row, found: false };
            self.read(&read, &mut sink);
            return sink.found;
        }
        let mut sink = Touch { rows: 0, limit: 1 };
        self.read(&read, &mut sink);
        sink.rows == 1
    }

    fn get_missing(&self, row: Row) -> bool {
        let read = read_of(row, Slice::one(&clustering(row.time() ^ 1)), false);
        let mut sink = Touch { rows: 0, limit: 1 };
        self.read(&read, &mut sink);
        sink.rows == 1
    }

    fn slice(&self, wanted: Wanted, limit: usize) -> usize {
        let read = match wanted {
            Wanted::From(row) => {
                read_of(row, Slice { start: clustering(row.time()).to_vec(), end: vec![0xff] }, false)
            }
            Wanted::Newest(row) => read_of(row, Slice::all(), true),
        };
        let mut sink = Touch { rows: 0, limit };
        self.read(&read, &mut sink);
        sink.rows
    }

    fn scan(&self) -> u64 {
        let mut read = read_of(Row::arriving(0), Slice::all(), false);
        read.partitions = Partitions::all();
        let mut sink = Touch { rows: 0, limit: usize::MAX };
        self.read(&read, &mut sink);
        sink.rows as u64
    }

    fn settle(&self) {
        self.block_on(async {
            assert!(self.engine.flush().await, "flush");
            let mut idle = 0;
            while idle < 5 {
                tokio::time::sleep(Duration::from_millis(10)).await;
                idle = if self.engine.metrics().jobs_waiting.get() == 0 { idle + 1 } else { 0 };
            }
        });
    }

    fn close(self: Box<Self>) {
        self.block_on(self.engine.close());
    }
}
