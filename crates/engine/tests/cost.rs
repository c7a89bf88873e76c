//! What operations cost, where that is a number without noise: allocations per operation and bytes written to disk for
//! each byte of rows, compared with `cost.baseline`. More than 5 % above it fails.
//!
//! `PARTITA_WRITE_BASELINE=1 cargo test -p engine --test cost` writes a new baseline: say in the commit why it grew.
//! Instructions per operation need callgrind: `bench/engine-cost`.

use allocation_counter::measure;
use engine::{Durability, EmbeddedStore, Engine, EngineOptions};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use rt::{Disk, DiskFile, DiskLock, LockError, ManualClock, SimDisk};
use std::fmt::Write as _;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use store::{Commit, Flow, Mutation, Partitions, Read, Sink, Slice, Store, TableConfig, TableId};

const TABLE: TableId = TableId(1);
const PARTITIONS: u64 = 50;
const STEPS: u64 = 400;
const ROW_BYTES: u64 = 132;
const MEASURED: u64 = 500;
const MAY_GROW: f64 = 1.05;

/// A disk that counts the bytes handed to it. Zeros for a log segment to come are not counted: segments are reused.
struct Counting {
    disk: SimDisk,
    written: Arc<AtomicU64>,
}

#[derive(Debug)]
struct CountingFile {
    file: Arc<dyn DiskFile>,
    written: Arc<AtomicU64>,
}

impl Counting {
    fn file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(CountingFile { file, written: self.written.clone() })
    }
}

impl Disk for Counting {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(path).map(|file| self.file(file))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.create(path).map(|file| self.file(file))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.remove_dir(dir)
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.link(from, to)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk.list(dir)
    }
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir_all(dir)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
    fn len_of(&self, path: &Path) -> io::Result<u64> {
        self.disk.len_of(path)
    }
    fn is_plain(&self, path: &Path) -> io::Result<bool> {
        self.disk.is_plain(path)
    }
    fn is_open_to_others(&self, dir: &Path) -> io::Result<bool> {
        self.disk.is_open_to_others(dir)
    }
    fn lock(&self, path: &Path) -> Result<Box<dyn DiskLock>, LockError> {
        self.disk.lock(path)
    }
}

impl DiskFile for CountingFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buf)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_at(offset, bytes)
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn preallocate(&self, len: u64) -> io::Result<()> {
        self.file.preallocate(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn partition(p: u64) -> PartitionKey {
    PartitionKey::of(&mix(p + 1).to_be_bytes()).unwrap()
}

fn clustering(step: u64) -> Vec<u8> {
    [&[0x20][..], &(1_700_000_000_000 + step * 1000).to_be_bytes()].concat()
}

/// A row of the engine comparison (bench/engine).
fn commit(p: u64, step: u64) -> Commit {
    let noise = mix(p * 1_000_003 + step);
    let timestamp = (1_700_000_000_000_000 + step * 1_000_000 + noise % 1_000_000) as i64;
    let mut writer = RowWriter::new();
    writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
    writer.live(1, &(15.0 + (noise % 2000) as f64 / 100.0).to_be_bytes());
    writer.live(2, &((noise >> 20) as u32 % 1024).to_be_bytes());
    writer.live(3, [b"status=ok;site0", b"status=warn;st2"][(noise >> 63) as usize]);
    let digits = format!("{:016x}{:016x}{:016x}{:014x}", noise, mix(noise), mix(!noise), mix(noise + 1) >> 8);
    writer.live(4, digits.as_bytes());
    let mut mutation = Mutation::new(TABLE, partition(p));
    mutation.row(&clustering(step), writer.view());
    Commit { mutations: vec![mutation], now_seconds: 0 }
}

fn read(p: u64, slice: Slice, reverse: bool) -> Read {
    Read { reverse, ..Read::of(TABLE, Partitions::One(partition(p)), vec![slice], 0) }
}

struct Count {
    rows: u64,
    limit: u64,
}

impl Sink for Count {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }
    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }
    fn row(&mut self, _: &[u8], _: RowView<'_>) -> Flow {
        self.rows += 1;
        if self.rows == self.limit { Flow::Stop } else { Flow::Continue }
    }
    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Polls once: inline, nothing waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("an inline operation waited"),
    }
}

fn rows_of(store: &EmbeddedStore, read: &Read, limit: u64) -> u64 {
    let mut count = Count { rows: 0, limit };
    now(store.read(read, &mut count)).unwrap();
    count.rows
}

/// Allocations for each of `MEASURED` reads, which are made before they are counted.
fn allocations(store: &EmbeddedStore, limit: u64, make: impl Fn(u64) -> Read) -> f64 {
    let reads: Vec<Read> = (0..MEASURED).map(|i| make(mix(i))).collect();
    let all = || reads.iter().map(|read| rows_of(store, read, limit)).sum::<u64>();
    assert_eq!(all(), MEASURED * limit, "rows, and blocks into the cache");
    let counted = measure(|| {
        all();
    });
    counted.count_total as f64 / MEASURED as f64
}

fn allocations_of_commits(store: &EmbeddedStore) -> f64 {
    let step = STEPS + 1;
    let commits: Vec<Commit> = (0..MEASURED).map(|i| commit(i % PARTITIONS, step + i / PARTITIONS)).collect();
    let counted = measure(|| commits.into_iter().for_each(|commit| now(store.commit(commit)).unwrap()));
    counted.count_total as f64 / MEASURED as f64
}

async fn costs() -> Vec<(&'static str, f64)> {
    let written = Arc::new(AtomicU64::new(0));
    let disk = Counting { disk: SimDisk::new(), written: written.clone() };
    let mut options = EngineOptions::new("/db");
    options.inline = true;
    options.durability = Durability::Sync;
    options.memtable_bytes_max = 256 << 10;
    options.log_segment_bytes = 1 << 20;
    let clock = Arc::new(ManualClock::at_micros(1_000_000_000));
    let (engine, _) = Engine::open(Arc::new(disk), clock, options).unwrap();
    let store = engine.store(0).unwrap();
    store.alter(b"catalogue".to_vec(), vec![TableConfig::new(TABLE)]).await.unwrap();
    for i in 0..PARTITIONS * STEPS {
        store.commit(commit(i % PARTITIONS, i / PARTITIONS)).await.unwrap();
        if i % 100 == 99 {
            drain(&engine).await;
        }
    }
    assert!(engine.flush().await);
    drain(&engine).await;
    let amplification = written.load(Ordering::Relaxed) as f64 / (PARTITIONS * STEPS * ROW_BYTES) as f64;
    let step = |x: u64| (x >> 32) % (STEPS - 100);
    let from = |x: u64| Slice { start: clustering(step(x)), end: vec![0xff] };
    vec![
        ("write_amplification", amplification),
        (
            "point_read_allocations",
            allocations(&store, 1, |x| read(x % PARTITIONS, Slice::one(&clustering(step(x))), false)),
        ),
        ("slice_100_allocations", allocations(&store, 100, |x| read(x % PARTITIONS, from(x), false))),
        ("newest_100_allocations", allocations(&store, 100, |x| read(x % PARTITIONS, Slice::all(), true))),
        ("commit_allocations", allocations_of_commits(&store)),
    ]
}

/// Background work that is due, and what it brings about.
async fn drain(engine: &Engine) {
    while engine.run_jobs() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn operations_cost_what_they_did() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let costs = tokio::task::LocalSet::new().block_on(&runtime, costs());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cost.baseline");
    if std::env::var_os("PARTITA_WRITE_BASELINE").is_some() {
        let mut text = String::from("# Costs of engine operations; see cost.rs.\n");
        costs.iter().for_each(|(name, cost)| _ = writeln!(text, "{name} {cost:.3}"));
        std::fs::write(&path, text).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    for (name, cost) in costs {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or_else(|| panic!("{name} has no baseline"));
        let baseline: f64 = line.trim().parse().unwrap();
        println!("{name}: {cost:.3}, baseline {baseline:.3}");
        assert!(cost <= baseline * MAY_GROW, "{name} grew from {baseline:.3} to {cost:.3}");
    }
}
