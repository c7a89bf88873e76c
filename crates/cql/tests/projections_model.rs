//! Projections against their definition: random writes with any timestamps, deletions of every kind, batches over partitions and
//! conditions, several at a time on several shards, with backfills, flushes, crashes and changes of the number of shards between. After every step the
//! projections must be what their definition makes of the rows of the table; those that follow later, when they have caught up. Every second piece has
//! rows that expire, and no totals.
//!
//! The seed is fixed; `PROJECTIONS_SEED` and `PROJECTIONS_OPERATIONS` run others, and more of them.

#[path = "projections_model/crash.rs"]
mod crash;
#[path = "projections_model/definition.rs"]
mod definition;
#[path = "projections_model/later.rs"]
mod later;
#[path = "projections_model/node.rs"]
mod node;

use definition::{DEFINITIONS, Definition, Kind, TABLE};
use node::{Node, START_MICROS, run};
use rt::{CrashImage, ManualClock, SimDisk};
use std::sync::Arc;

const OPERATIONS: usize = 100_000;
/// Histories are cut in pieces, because a simulated disk keeps all that was ever written.
const PIECE: usize = 5_000;
const TICK_MICROS: i64 = 1_000;
/// Rows that a job copies at a time: few, so that much happens between its pages.
const PAGE_ROWS: usize = 7;

/// A generator that needs no crate: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

struct World {
    disk: SimDisk,
    clock: Arc<ManualClock>,
    node: Node,
    random: Random,
    operations: usize,
    compared: usize,
    built: usize,
    /// Rows expire, and so there are no totals.
    expires: bool,
}

impl World {
    fn value(&mut self, below: u64) -> String {
        match self.random.below(8) {
            0 => "null".into(),
            _ => self.random.below(below).to_string(),
        }
    }

    /// Sometimes long ago, sometimes ahead.
    fn using(&mut self) -> String {
        let now = self.clock_micros();
        match self.random.below(12) {
            3 | 4 if self.expires => format!(" USING TTL {}", 1 + self.random.below(3)),
            0 => format!(" USING TIMESTAMP {}", 100 + self.random.below(1_000)),
            1 => format!(" USING TIMESTAMP {}", now + self.random.below(20_000) as i64),
            2 => format!(" USING TIMESTAMP {}", now - self.random.below(20_000) as i64),
            _ => String::new(),
        }
    }

    fn clock_micros(&self) -> i64 {
        rt::Clock::micros(&*self.clock)
    }

    fn statement(&mut self) -> String {
        let (k, c) = (self.random.below(5), self.random.below(7));
        let using = self.using();
        let column = ["g", "h", "v", "d"][self.random.below(4) as usize];
        match self.random.below(20) {
            0..=5 if using.contains("TTL") => format!("DELETE FROM ks.t WHERE k = {k} AND c = {c}"),
            0 => format!("DELETE FROM ks.t{using} WHERE k = {k}"),
            1 | 2 => format!(
                "DELETE FROM ks.t{using} WHERE k = {k} AND c >= {c} AND c < {}",
                c + self.random.below(4)
            ),
            3 | 4 => format!("DELETE FROM ks.t{using} WHERE k = {k} AND c = {c}"),
            5 => format!("DELETE {column} FROM ks.t{using} WHERE k = {k} AND c = {c}"),
            6..=9 => {
                let value = self.value(5);
                format!("UPDATE ks.t{using} SET {column} = {value} WHERE k = {k} AND c = {c}")
            }
            10 => {
                let (value, was) = (self.value(5), self.random.below(5));
                format!("UPDATE ks.t SET v = {value} WHERE k = {k} AND c = {c} IF g = {was}")
            }
            _ => {
                let (g, h, v, d) = (self.value(3), self.value(3), self.value(9), self.value(4));
                format!("INSERT INTO ks.t (k, c, g, h, v, d) VALUES ({k}, {c}, {g}, {h}, {v}, {d}){using}")
            }
        }
    }

    fn write(&mut self) -> String {
        self.operations += 1;
        if !self.random.chance(15) {
            return self.statement();
        }
        let mut batch = String::from("BEGIN UNLOGGED BATCH ");
        for _ in 0..2 + self.random.below(4) {
            let statement = self.statement();
            // Conditions cannot span partitions.
            if !statement.contains(" IF ") {
                self.operations += 1;
                batch += &(statement + "; ");
            }
        }
        batch + "APPLY BATCH"
    }

    async fn step(&mut self) {
        let tick = if self.expires && self.random.chance(3) { 700_000 } else { TICK_MICROS };
        self.clock.advance_micros(tick);
        match self.random.below(100) {
            0 => drop(self.node.engine.flush().await),
            1 | 2 => drop(self.node.engine.run_jobs()),
            3 if self.random.chance(30) => self.restart().await,
            4 | 5 => self.drop_or_create().await,
            // Several at once, on whatever shard their clients have reached.
            6..=25 => {
                let writes: Vec<String> = (0..2 + self.random.below(5)).map(|_| self.write()).collect();
                let tasks: Vec<_> = writes.into_iter().map(|text| self.spawn(text)).collect();
                for task in tasks {
                    task.await.unwrap();
                }
            }
            _ => {
                let text = self.write();
                let shard = self.random.below(self.node.dialects.len() as u64) as usize;
                self.node.run(shard, &text).await;
            }
        }
        self.compare().await;
    }

    fn spawn(&mut self, text: String) -> tokio::task::JoinHandle<()> {
        let shard = self.random.below(self.node.dialects.len() as u64) as usize;
        let (dialect, ids) = (self.node.dialects[shard].clone(), self.node.ids.clone());
        tokio::task::spawn_local(async move {
            node::execute(&dialect, &ids, &text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
        })
    }

    async fn restart(&mut self) {
        self.node.stop();
        self.disk = self.disk.image(CrashImage::DropUnsynced);
        let shards = 1 + self.random.below(3) as usize;
        self.node = Node::start(&self.disk, self.clock.clone(), shards, PAGE_ROWS).await;
        // A backfill that the crash has cut goes on.
        self.node.work();
    }

    /// Projections come and go; their backfill runs while everything else goes on.
    async fn drop_or_create(&mut self) {
        let definition = self.definition();
        match self.node.has(definition.name) {
            true if self.random.chance(50) => {
                self.node.run(0, &format!("DROP PROJECTION ks.{}", definition.name)).await
            }
            true => {}
            false => {
                self.node.run(0, definition.statement).await;
                self.node.work();
                self.built += 1;
            }
        }
    }

    fn definition(&mut self) -> &'static Definition {
        loop {
            let definition = &DEFINITIONS[self.random.below(DEFINITIONS.len() as u64) as usize];
            if !self.expires || definition.kind != Kind::Totals {
                return definition;
            }
        }
    }

    /// One of the projections that are built.
    async fn compare(&mut self) {
        let definition = self.definition();
        if self.node.is_built(definition.name) {
            definition.compare(&self.node).await;
            self.compared += 1;
        }
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs a history of its own; how many operations, comparisons and backfills it had.
fn piece(seed: u64, expires: bool) -> [usize; 3] {
    run(async {
        let disk = SimDisk::new();
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let node = Node::start(&disk, clock.clone(), 2, PAGE_ROWS).await;
        let keyspace =
            "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
        node.run(0, keyspace).await;
        node.run(0, TABLE).await;
        let mut world =
            World { disk, clock, node, random: Random(seed), operations: 0, compared: 0, built: 0, expires };
        while world.operations < PIECE {
            world.step().await;
            if world.random.chance(1) {
                world.node.check_all().await;
            }
        }
        [world.operations, world.compared, world.built]
    })
}

#[test]
fn projections_are_their_definition_after_every_step() {
    let seed = setting("PROJECTIONS_SEED", 7) as u64;
    let operations = setting("PROJECTIONS_OPERATIONS", OPERATIONS);
    let mut all = [0; 3];
    for number in 0.. {
        let done = piece((seed + number) * 2 + 1, number % 2 == 1);
        all.iter_mut().zip(done).for_each(|(all, done)| *all += done);
        if all[0] >= operations {
            break;
        }
    }
    let [done, compared, built] = all;
    println!("{done} operations, {compared} comparisons, {built} backfills, seeds from {seed}");
    assert!(compared > operations / 10 && built > operations / 1_000);
}
