//! The simulation itself: every table at every scale, its partitions drawn, placed on the ring and loaded.

use super::placement::{self, Bucket};
use super::population::{Inner, Key, Population, Shape};
use super::random::Random;
use super::report::{HotPartition, NodeLoad, PatternAt, RingReport, TableAt};
use super::ring::Ring;
use super::settings::{Grows, Settings};
use super::sizes::{Sizes, quantile};
use super::workload::{Operation, Reach, Rows, TableModel};
use crate::catalogue::Table;
use crate::growth::PARTITION_BYTES_MAX;

/// Partitions of one table that are placed one by one, at most about this many.
const PLACED_MAX: u64 = 100_000;
/// Older buckets of one key that are placed one by one; more than these are spread as the ring is.
const PLACED_PER_KEY_MAX: u64 = 64;
/// Partitions of a key whose sizes are drawn; more stand for each other.
const DRAWN_PER_KEY_MAX: u64 = 64;
const HOTTEST: usize = 10;

/// The ring and what it carries at one scale.
pub struct Load<'a> {
    ring: &'a Ring,
    ownership: Vec<f64>,
    nodes: Vec<NodeLoad>,
    hot: Vec<HotPartition>,
    read_replicas: f64,
}

impl<'a> Load<'a> {
    pub fn new(ring: &'a Ring, settings: &Settings) -> Load<'a> {
        let ownership = ring.ownership();
        let nodes = ownership
            .iter()
            .enumerate()
            .map(|(node, share)| NodeLoad { node: node + 1, ownership: *share, ..NodeLoad::default() })
            .collect();
        let read_replicas = settings.consistency.replicas(settings.replication) as f64;
        Load { ring, ownership, nodes, hot: Vec::new(), read_replicas }
    }

    /// Puts one partition on its replicas; returns its primary.
    fn place(&mut self, token: model::token::Token, bytes: f64, reads: f64, writes: f64) -> usize {
        let replicas = self.ring.replicas(token);
        let per_replica = self.read_replicas / replicas.len().max(1) as f64;
        for node in replicas {
            if let Some(load) = self.nodes.get_mut(usize::from(*node)) {
                load.bytes += bytes;
                load.reads += reads * per_replica;
                load.writes += writes;
            }
        }
        replicas.first().map_or(0, |node| usize::from(*node) + 1)
    }

    /// Spreads what is made of many small partitions as the ring is divided.
    fn spread(&mut self, bytes: f64, reads: f64, writes: f64) {
        let replication: f64 = self.ownership.iter().sum();
        for (load, share) in self.nodes.iter_mut().zip(&self.ownership) {
            load.bytes += bytes * share;
            load.reads += reads * share * self.read_replicas / replication.max(1.0);
            load.writes += writes * share;
        }
    }

    /// A read of everything asks every node.
    fn everywhere(&mut self, operations: f64, is_read: bool) {
        for load in &mut self.nodes {
            *if is_read { &mut load.reads } else { &mut load.writes } += operations;
        }
    }

    pub fn finish(mut self, scale: f64) -> RingReport {
        self.hot.sort_by(|a, b| a.table.cmp(&b.table).then_with(|| a.key.cmp(&b.key)));
        self.hot.dedup_by(|a, b| a.table == b.table && a.key == b.key);
        let mut largest = self.hot.clone();
        largest.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
        largest.truncate(HOTTEST);
        let mut hottest = self.hot;
        hottest.retain(|p| p.reads + p.writes > 0.0);
        hottest.sort_by(|a, b| (b.reads + b.writes).total_cmp(&(a.reads + a.writes)));
        hottest.truncate(HOTTEST);
        RingReport { scale, nodes: self.nodes, hottest, largest }
    }
}

/// One table at one scale.
pub struct Run<'a> {
    model: &'a TableModel,
    table: &'a Table,
    settings: &'a Settings,
    scale: f64,
    population: Population,
    /// All rows; for a table without clustering key there is one per key instead.
    rows: Option<f64>,
    write_rate: f64,
    busiest: Option<Key>,
    keys: f64,
}

/// A key with what its busiest partition carries.
struct Loaded {
    key: Key,
    bytes: f64,
    reads: f64,
    writes: f64,
    node: usize,
}

impl<'a> Run<'a> {
    pub fn new(model: &'a TableModel, table: &'a Table, settings: &'a Settings, scale: f64) -> Run<'a> {
        let rows = match model.rows {
            Rows::OnePerKey => None,
            Rows::Total(rows) => Some(rows * scale),
        };
        let more_keys = settings.grows == Grows::Keys || rows.is_none();
        let shape = if more_keys { grown(&model.shape, scale) } else { model.shape.clone() };
        let placed_per_key = (model.time_buckets * model.hash_buckets).min(PLACED_PER_KEY_MAX);
        let population = shape.populate((PLACED_MAX / placed_per_key).max(1_000));
        let busiest = population.exact.iter().copied().reduce(|a, b| if b.weight > a.weight { b } else { a });
        let tail: f64 = population.tail.iter().map(|s| s.count as f64).sum();
        let keys = population.exact.len() as f64 + tail;
        let mut run = Run { model, table, settings, scale, population, rows, write_rate: 0.0, busiest, keys };
        run.write_rate = run.undeclared_writes();
        run
    }

    /// Writes that the rows imply when no pattern declares them; the average, for want of a peak.
    fn undeclared_writes(&self) -> f64 {
        let declared = self.model.operations.iter().any(|o| !o.is_read && o.rate.is_some());
        match self.rows {
            Some(rows) if !declared => rows / (self.model.kept_days * 86_400.0),
            _ => 0.0,
        }
    }

    fn partitions_per_key(&self) -> f64 {
        (self.model.time_buckets * self.model.hash_buckets) as f64
    }

    /// Rows that one partition of a key is expected to have.
    fn mean_rows(&self, weight: f64) -> f64 {
        self.rows.map_or(1.0, |rows| rows * weight / self.partitions_per_key())
    }

    /// Partition sizes, placed on the ring and loaded.
    pub fn measure(&self, load: &mut Load<'_>) -> TableAt {
        let mut sizes = Sizes::default();
        let mut random = Random::stream(self.settings.seed, &self.model.name);
        let mut largest: (f64, Option<Key>) = (0.0, None);
        let mut loaded = Vec::with_capacity(self.population.exact.len());
        for key in &self.population.exact {
            let rows = self.draw(&mut sizes, &mut random, key.weight);
            if rows > largest.0 {
                largest = (rows, Some(*key));
            }
            loaded.push(self.load_key(load, *key, rows));
        }
        self.name_hottest(load, loaded);
        for stratum in &self.population.tail {
            let (count, mean) = (stratum.count as f64, self.mean_rows(stratum.weight));
            let partitions = count * self.partitions_per_key();
            if self.rows.is_some() {
                sizes.add_by_chance(mean, partitions);
            } else {
                sizes.add(1.0, partitions);
            }
            let (reads, writes) = self.rates(stratum.weight * count, count, false);
            load.spread(mean * self.model.row_bytes * partitions, reads, writes);
        }
        for operation in &self.model.operations {
            if let (Reach::Everything, Some(rate)) = (operation.reach, operation.rate) {
                load.everywhere(rate * self.scale, operation.is_read);
            }
        }
        self.table_at(sizes, largest)
    }

    fn table_at(&self, mut sizes: Sizes, largest: (f64, Option<Key>)) -> TableAt {
        let bytes = self.model.row_bytes;
        let [p50, p90, p99, p999] = sizes.quantiles([0.5, 0.9, 0.99, 0.999]).map(|rows| rows * bytes);
        TableAt {
            scale: self.scale,
            partitions: sizes.partitions().round(),
            rows: sizes.rows().round(),
            bytes: sizes.rows() * bytes,
            partition_bytes_p50: p50,
            partition_bytes_p90: p90,
            partition_bytes_p99: p99,
            partition_bytes_p999: p999,
            partition_bytes_max: sizes.largest() * bytes,
            over_limit: sizes.over(PARTITION_BYTES_MAX / bytes).round(),
            largest: largest
                .1
                .map_or(String::new(), |key| placement::describe(self.model, self.table, key, false)),
            histogram: sizes.histogram(bytes),
        }
    }

    /// Draws the sizes of a key's partitions; returns the largest.
    fn draw(&self, sizes: &mut Sizes, random: &mut Random, weight: f64) -> f64 {
        let (mean, partitions) = (self.mean_rows(weight), self.partitions_per_key());
        if self.rows.is_none() {
            sizes.add(1.0, partitions);
            return 1.0;
        }
        let drawn = partitions.min(DRAWN_PER_KEY_MAX as f64) as u64;
        let mut largest: f64 = 0.0;
        for _ in 0..drawn {
            let rows = random.poisson(mean);
            sizes.add(rows, partitions / drawn as f64);
            largest = largest.max(rows);
        }
        largest
    }

    /// Places a key's partitions; gives its busiest one.
    fn load_key(&self, load: &mut Load<'_>, key: Key, rows: f64) -> Loaded {
        let model = self.model;
        let (all_reads, all_writes) = self.rates(key.weight, 1.0, self.is_busiest(key));
        let hash = model.hash_buckets as f64;
        let bytes = self.mean_rows(key.weight) * model.row_bytes;
        let token =
            |time, hash| placement::token(model, self.table, self.settings.seed, key, Bucket { time, hash });
        // All of today's traffic is on the current time bucket; operations on older ones are the rest of the reads.
        let older = (model.time_buckets - 1) as f64;
        let (current_reads, older_reads) = self.split_reads(all_reads, key);
        let mut primary = 0;
        for bucket in 0..model.hash_buckets {
            let node = load.place(token(0, bucket), bytes, current_reads / hash, all_writes / hash);
            if bucket == 0 {
                primary = node;
            }
        }
        let placed = (PLACED_PER_KEY_MAX / model.hash_buckets.max(1)).min(model.time_buckets - 1);
        for time in 1..=placed {
            for bucket in 0..model.hash_buckets {
                load.place(token(time, bucket), bytes, older_reads / older.max(1.0) / hash, 0.0);
            }
        }
        let rest = older - placed as f64;
        if rest > 0.0 {
            load.spread(bytes * rest * hash, older_reads * rest / older, 0.0);
        }
        let (reads, writes) = (current_reads / hash, all_writes / hash);
        Loaded { key, bytes: rows * model.row_bytes, reads, writes, node: primary }
    }

    /// Keeps the busiest and the largest, with names.
    fn name_hottest(&self, load: &mut Load<'_>, mut loaded: Vec<Loaded>) {
        let named = |one: &Loaded| HotPartition {
            table: self.model.name.clone(),
            key: placement::describe(self.model, self.table, one.key, true),
            bytes: one.bytes,
            reads: one.reads,
            writes: one.writes,
            node: one.node,
        };
        loaded.sort_by(|a, b| (b.reads + b.writes).total_cmp(&(a.reads + a.writes)));
        load.hot.extend(loaded.iter().take(HOTTEST).map(named));
        loaded.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
        load.hot.extend(loaded.iter().take(HOTTEST).map(named));
    }

    fn is_busiest(&self, key: Key) -> bool {
        self.busiest == Some(key)
    }

    /// Partition reads and writes per second of keys that take this share of the traffic, hash buckets included.
    fn rates(&self, share: f64, count: f64, is_busiest: bool) -> (f64, f64) {
        let mut reads = 0.0;
        let mut writes = self.write_rate * share;
        for operation in &self.model.operations {
            let Reach::Key { keys, time_buckets, all_hash_buckets } = operation.reach else { continue };
            let share = self.share(operation, share, count, is_busiest);
            let rate = operation.rate.unwrap_or(0.0) * self.scale * share * keys;
            if operation.is_read {
                let hash = if all_hash_buckets { self.model.hash_buckets as f64 } else { 1.0 };
                reads += rate * time_buckets * hash;
            } else {
                writes += rate;
            }
        }
        (reads, writes)
    }

    /// The share of an operation that so many keys of this weight take together. What a declared hot share leaves for
    /// the others is split by weight; where a key is a row, every key is inserted once.
    fn share(&self, operation: &Operation, weight: f64, count: f64, is_busiest: bool) -> f64 {
        let top = self.top_weight();
        if self.rows.is_none() && operation.is_insert && operation.hot_share.is_none() {
            return count / self.keys;
        }
        match operation.hot_share.filter(|share| *share > top && top < 1.0) {
            Some(share) if is_busiest => share,
            Some(share) => weight * (1.0 - share) / (1.0 - top),
            None => weight,
        }
    }

    fn top_weight(&self) -> f64 {
        self.busiest.map_or(0.0, |key| key.weight)
    }

    /// Reads of the current time bucket, and of the older ones.
    fn split_reads(&self, reads: f64, key: Key) -> (f64, f64) {
        if self.model.time_buckets == 1 || reads <= 0.0 {
            return (reads, 0.0);
        }
        let busiest = self.is_busiest(key);
        let mut current = 0.0;
        for operation in self.model.operations.iter().filter(|o| o.is_read) {
            let Reach::Key { keys, all_hash_buckets, .. } = operation.reach else { continue };
            let hash = if all_hash_buckets { self.model.hash_buckets as f64 } else { 1.0 };
            let share = self.share(operation, key.weight, 1.0, busiest);
            current += operation.rate.unwrap_or(0.0) * self.scale * share * keys * hash;
        }
        (current, (reads - current).max(0.0))
    }

    /// Fan-out of one operation.
    pub fn pattern(&self, operation: &Operation) -> PatternAt {
        let nodes = self.settings.nodes as f64;
        let rate = operation.rate.map(|rate| rate * self.scale);
        let top = self.top_weight();
        let mut at = PatternAt {
            scale: self.scale,
            rate,
            partitions: self.keys * self.partitions_per_key(),
            nodes,
            buckets_to_fill_p50: None,
            buckets_to_fill_p99: None,
            busiest_key_rate: rate.map(|rate| rate * self.share(operation, top, 1.0, true)),
        };
        if let Reach::Key { keys, time_buckets, all_hash_buckets } = operation.reach {
            let hash = if all_hash_buckets { self.model.hash_buckets as f64 } else { 1.0 };
            at.partitions = keys * time_buckets * hash + operation.copies as f64;
            // Partitions fall on nodes at random.
            at.nodes = nodes * (1.0 - (1.0 - 1.0 / nodes).powf(at.partitions));
            if let Some(limit) = operation.limit.filter(|_| operation.is_read && self.model.time_buckets > 1)
            {
                let mut to_fill = self.buckets_to_fill(limit);
                at.buckets_to_fill_p50 = Some(quantile(&mut to_fill, 0.5));
                at.buckets_to_fill_p99 = Some(quantile(&mut to_fill, 0.99));
            }
        } else {
            at.busiest_key_rate = None;
        }
        at
    }

    /// Time buckets until a limit is full, with the share of operations that need so many.
    fn buckets_to_fill(&self, limit: f64) -> Vec<(f64, f64)> {
        let buckets = self.model.time_buckets as f64;
        let needed = |weight: f64| {
            let rows = self.mean_rows(weight) * self.model.hash_buckets as f64;
            (limit / rows.max(1e-9)).ceil().clamp(1.0, buckets)
        };
        let exact = self.population.exact.iter().map(|key| (needed(key.weight), key.weight));
        let tail = self.population.tail.iter().map(|s| (needed(s.weight), s.weight * s.count as f64));
        exact.chain(tail).collect()
    }
}

/// The same skew over more keys.
fn grown(shape: &Shape, scale: f64) -> Shape {
    let more = |keys: u64| ((keys as f64 * scale).round() as u64).max(1);
    let inner = match shape.inner {
        Inner::Total(keys) => Inner::Total(more(keys)),
        other => other,
    };
    Shape { outer: more(shape.outer), inner, ..shape.clone() }
}
