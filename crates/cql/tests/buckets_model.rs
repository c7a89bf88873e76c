//! Bucketed tables against one sorted list: random plans, writes, deletions, restrictions, orders and page sizes, with writes
//! between pages, changes of the plan, flushes and crashes. Every page must be exactly the next rows of the list behind the last one.
//!
//! The seed is fixed; `BUCKETS_SEED` and `BUCKETS_OPERATIONS` run others, and more of them.

#[path = "buckets_model/crash.rs"]
mod crash;
#[path = "buckets_model/spill.rs"]
mod spill;

use cql::CqlError;
use cql::roles::NoPasswords;
use cql::session::{Dialect, Response, Session};
use cql::system::{NodeInfo, SystemTables};
use database::ids::ShardIds;
use engine::{EmbeddedStore, Engine, EngineOptions};
use query::{Request, Values};
use rt::{Clock, CrashImage, ManualClock, SimDisk};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use store::Store;

const START_MICROS: i64 = 1_700_000_000_000_000;
const HOUR: i64 = 3_600_000;
const OPERATIONS: usize = 100_000;
/// More than the microseconds that statements are numbered with between two changes: a read may have thousands of pages.
const TICK_MICROS: i64 = 1_000_000;
/// Rows that a job copies at a time: few, so that much happens between its pages.
const PAGE_ROWS: usize = 15;

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

    fn of<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// The clustering columns in the order of the key, each with whether it descends.
#[derive(Clone)]
struct Shape {
    columns: Vec<(&'static str, bool)>,
    plan: String,
}

impl Shape {
    fn any(random: &mut Random) -> Shape {
        let orders: [&[&'static str]; 4] = [&["at", "id"], &["at", "id"], &["id", "at"], &["at"]];
        let order = *random.of(&orders);
        let columns: Vec<(&'static str, bool)> =
            order.iter().map(|name| (*name, random.chance(50))).collect();
        let plan = Shape::any_plan(random, &columns);
        Shape { columns, plan }
    }

    /// Without buckets now and then.
    fn any_plan(random: &mut Random, columns: &[(&'static str, bool)]) -> String {
        let every = *random.of(&["1h", "1d", "week", "week", "month", "month"]);
        let into = 2 + random.below(4);
        let by = random.of(columns).0;
        let spill = *random.of(&["6h", "1d", "3d", "week"]);
        let at = *random.of(&["100", "300", "1KB"]);
        let (coarse, fine) = (schema::Every::parse(every).unwrap(), schema::Every::parse(spill).unwrap());
        let spill = match columns[0].0 == "at" && fine.seconds() < coarse.seconds() && random.chance(85) {
            true => format!(", 'spill': '{spill}', 'at': '{at}'"),
            false => String::new(),
        };
        let every = format!("{every}'{spill}, 'column': 'bucket");
        match random.below(10) {
            0..=2 => format!("{{'by': 'at', 'every': '{every}'}}"),
            3..=5 => format!("{{'by': '{by}', 'into': {into}}}"),
            6..=8 => format!("{{'by': 'at', 'every': '{every}', 'hash': '{by}', 'into': {into}}}"),
            _ => "{}".to_string(),
        }
    }

    fn ddl(&self, name: &str) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let order: Vec<String> = self
            .columns
            .iter()
            .map(|(n, desc)| format!("{n} {}", if *desc { "DESC" } else { "ASC" }))
            .collect();
        let id = if names.contains(&"id") { "id int, " } else { "" };
        let plan = if self.plan == "{}" { String::new() } else { format!(" AND bucketing = {}", self.plan) };
        format!(
            "CREATE TABLE ks.{name} (k int, at timestamp, {id}v int, PRIMARY KEY (k, {})) WITH CLUSTERING ORDER BY ({}){plan}",
            names.join(", "),
            order.join(", ")
        )
    }

    /// A clustering key as numbers that sort as it is stored.
    fn key(&self, at: i64, id: i64) -> Vec<i64> {
        let value = |name: &str| if name == "at" { at } else { id };
        self.columns.iter().map(|(name, desc)| if *desc { -value(name) } else { value(name) }).collect()
    }

    fn value(&self, key: &[i64], name: &str) -> i64 {
        let at = self.columns.iter().position(|(n, _)| *n == name);
        at.map_or(0, |at| if self.columns[at].1 { -key[at] } else { key[at] })
    }

    fn condition(&self, key: &[i64]) -> String {
        let parts = self.columns.iter().map(|(name, _)| format!("{name} = {}", self.value(key, name)));
        parts.collect::<Vec<_>>().join(" AND ")
    }
}

type Rows = BTreeMap<(i64, Vec<i64>), i64>;

/// What a read asks for, for the statement and for the list.
struct Asked {
    keys: Vec<i64>,
    low: Option<i64>,
    high: Option<i64>,
    among: Option<Vec<i64>>,
    /// Leading columns of ORDER BY, and whether it turns the stored order around.
    order: Option<usize>,
    reverse: bool,
    limit: Option<usize>,
    each: Option<usize>,
    above: Option<i64>,
    page: usize,
}

impl Asked {
    fn any(random: &mut Random, shape: &Shape) -> Asked {
        let first_is_time = shape.columns[0].0 == "at";
        let keys: Vec<i64> = match random.chance(70) {
            true => vec![random.below(4) as i64],
            false => (0..4).filter(|_| random.chance(60)).collect(),
        };
        let keys = if keys.is_empty() { vec![1] } else { keys };
        let (mut low, mut high, mut among) = (None, None, None);
        if first_is_time {
            match random.below(5) {
                0 => low = Some(moment(random)),
                1 => high = Some(moment(random)),
                2 => {
                    let (a, b) = (moment(random), moment(random));
                    (low, high) = (Some(a.min(b)), Some(a.max(b)));
                }
                3 => among = Some((0..1 + random.below(4)).map(|_| moment(random)).collect()),
                _ => {}
            }
        }
        let order = random.chance(60).then(|| 1 + random.below(shape.columns.len() as u64) as usize);
        Asked {
            keys,
            low,
            high,
            among,
            reverse: order.is_some() && random.chance(50),
            order,
            limit: random.chance(30).then(|| 1 + random.below(30) as usize),
            each: random.chance(15).then(|| 1 + random.below(6) as usize),
            above: random.chance(10).then(|| random.below(1000) as i64),
            page: *random.of(&[1, 2, 3, 7, 20, 100, 5000]),
        }
    }

    fn statement(&self, table: &str, shape: &Shape) -> String {
        let columns: Vec<&str> = shape.columns.iter().map(|(name, _)| *name).collect();
        let list = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let mut text = format!("SELECT k, {}, v FROM ks.{table} WHERE ", columns.join(", "));
        text += &match &self.keys[..] {
            [one] => format!("k = {one}"),
            several => format!("k IN ({})", list(several)),
        };
        text += &self.low.map_or(String::new(), |low| format!(" AND at >= {low}"));
        text += &self.high.map_or(String::new(), |high| format!(" AND at < {high}"));
        text += &self.among.as_ref().map_or(String::new(), |among| format!(" AND at IN ({})", list(among)));
        text += &self.above.map_or(String::new(), |above| format!(" AND v > {above}"));
        if let Some(count) = self.order {
            let ordered =
                shape.columns.iter().take(count).map(|(name, desc)| {
                    format!("{name} {}", if *desc != self.reverse { "DESC" } else { "ASC" })
                });
            text += &format!(" ORDER BY {}", ordered.collect::<Vec<_>>().join(", "));
        }
        text += &self.each.map_or(String::new(), |each| format!(" PER PARTITION LIMIT {each}"));
        text += &self.limit.map_or(String::new(), |limit| format!(" LIMIT {limit}"));
        if self.above.is_some() {
            text += " ALLOW FILTERING";
        }
        text
    }

    fn wants(&self, shape: &Shape, k: i64, key: &[i64], v: i64) -> bool {
        let at = shape.value(key, "at");
        self.keys.contains(&k)
            && self.low.is_none_or(|low| at >= low)
            && self.high.is_none_or(|high| at < high)
            && self.among.as_ref().is_none_or(|among| among.contains(&at))
            && self.above.is_none_or(|above| v > above)
    }

    /// Where a row is in the order of the answer.
    fn place(&self, k: i64, key: &[i64]) -> (Vec<i64>, i64, Vec<i64>) {
        let directed: Vec<i64> = key.iter().map(|part| if self.reverse { -part } else { *part }).collect();
        let merged = if self.keys.len() > 1 { self.order.unwrap_or(0) } else { 0 };
        (directed[..merged].to_vec(), k, directed)
    }
}

const DAYS: u64 = 60;

/// Times on few hours of two months, so that rows and bounds meet.
fn moment(random: &mut Random) -> i64 {
    let day = random.below(DAYS);
    time_of(random, day)
}

fn time_of(random: &mut Random, day: u64) -> i64 {
    1_700_000_000_000 + day as i64 * 24 * HOUR + random.below(4) as i64 * 6 * HOUR
}

struct Node {
    engine: Engine,
    /// That of the first shard, which has the background too, and those of the others.
    dialect: Dialect<EmbeddedStore>,
    others: Vec<Dialect<EmbeddedStore>>,
    ids: Rc<ShardIds>,
    clock: Arc<ManualClock>,
    /// Whose turn it is to take a statement.
    turn: Cell<usize>,
}

impl Node {
    async fn start(disk: &SimDisk, clock: Arc<ManualClock>, shards: usize) -> Node {
        let mut options = EngineOptions::new("/db");
        options.shards = shards;
        // Disks of earlier crashes stay in memory, and each has two segments of the log.
        options.log_segment_bytes = 256 << 10;
        options.inline = true;
        let (engine, opened) = Engine::open(Arc::new(disk.clone()), clock.clone(), options).unwrap();
        let shared = Arc::new(cql::open_catalogue(opened.catalogue.as_deref(), clock.micros()).unwrap());
        let system = Arc::new(SystemTables::new(NodeInfo::default(), shared.clone()));
        let ids = Rc::new(ShardIds::new(clock.clone(), 0, 7));
        let dialect = |shard: usize| {
            let (store, limits) = (engine.store(shard).unwrap(), Default::default());
            let (shared, system) = (shared.clone(), system.clone());
            Dialect::new(store, shared, system, Box::new(ids.clone()), limits, Box::new(NoPasswords))
        };
        let (dialect, others) = (dialect(0), (1..shards).map(dialect).collect());
        dialect.shared.jobs().work_in_pages_of(PAGE_ROWS);
        dialect.shared.bootstrap(&dialect.store).await.unwrap();
        Node { engine, dialect, others, ids, clock, turn: Cell::new(0) }
    }

    async fn page(&self, text: &str, size: Option<usize>, state: Option<&[u8]>) -> Page {
        self.try_page(text, size, state).await.unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    async fn try_page(
        &self,
        text: &str,
        size: Option<usize>,
        state: Option<&[u8]>,
    ) -> Result<Page, CqlError> {
        let session = Session::default();
        self.turn.set((self.turn.get() + 1) % (1 + self.others.len()));
        let dialect = self.others.get(self.turn.get()).unwrap_or(&self.dialect);
        let prepared = dialect.prepare(&session, None, text)?;
        let mut request = Request::new(Values::NONE, self.ids.now_micros());
        request.page_size = size.map(|size| size as u32);
        request.paging_state = state;
        Ok(match dialect.execute(&session, &prepared, request).await?.response {
            Response::Rows(rows) => {
                let number = |bytes: Option<&[u8]>| match bytes.unwrap() {
                    [applied] => i64::from(*applied),
                    four if four.len() == 4 => i64::from(i32::from_be_bytes(four.try_into().unwrap())),
                    eight => i64::from_be_bytes(eight.try_into().unwrap()),
                };
                let values = rows.values().map(|row| row.into_iter().map(number).collect()).collect();
                (values, rows.paging_state)
            }
            _ => (Vec::new(), None),
        })
    }

    async fn run(&self, text: &str) {
        self.page(text, None, None).await;
    }
}

type Page = (Vec<Vec<i64>>, Option<Vec<u8>>);

struct World {
    disk: SimDisk,
    clock: Arc<ManualClock>,
    node: Node,
    random: Random,
    table: String,
    shape: Shape,
    rows: Rows,
    operations: usize,
    pages: usize,
    shards: usize,
    /// The day of the newest rows: time goes on as rows are written, and some come late.
    day: u64,
    spills: usize,
    /// The background, as long as the plan of the table is being changed.
    job: Option<Job>,
    turns: usize,
}

type Job = tokio::task::JoinHandle<Result<(), query::QueryError>>;

/// The clock moves before every change, so that conditions, whose timestamps are the store's, come behind what was there.
impl World {
    async fn write(&mut self) {
        self.clock.advance_micros(TICK_MICROS);
        let count = 1 + self.random.below(20);
        if self.day + 1 < DAYS && self.random.chance(30) {
            self.day += 1;
        }
        let mut batch = String::from("BEGIN UNLOGGED BATCH ");
        let mut written = BTreeSet::new();
        for _ in 0..count {
            let day = match self.random.chance(70) {
                true => self.day.saturating_sub(self.random.below(3)),
                false => self.random.below(self.day + 1),
            };
            let at = time_of(&mut self.random, day);
            let (k, id) = (self.random.below(4) as i64, self.random.below(6));
            let v = self.random.below(1000) as i64;
            let key = self.shape.key(at, id as i64);
            // All of a batch has one timestamp: of two values for a row the larger would count.
            if !written.insert((k, key.clone())) {
                continue;
            }
            let names: Vec<&str> = self.shape.columns.iter().map(|(name, _)| *name).collect();
            let values: Vec<String> = names.iter().map(|n| self.shape.value(&key, n).to_string()).collect();
            batch += &format!(
                "INSERT INTO ks.{} (k, {}, v) VALUES ({k}, {}, {v}); ",
                self.table,
                names.join(", "),
                values.join(", ")
            );
            self.rows.insert((k, key), v);
        }
        self.operations += count as usize;
        self.node.run(&(batch + "APPLY BATCH")).await;
    }

    async fn delete(&mut self) {
        self.clock.advance_micros(TICK_MICROS);
        self.operations += 1;
        let k = self.random.below(4) as i64;
        let table = &self.table;
        if self.shape.columns[0].0 == "at" && self.random.chance(30) {
            let (a, b) = (moment(&mut self.random), moment(&mut self.random));
            let (low, high) = (a.min(b), a.min(b) + (a.max(b) - a.min(b)) / 4);
            self.node
                .run(&format!("DELETE FROM ks.{table} WHERE k = {k} AND at >= {low} AND at < {high}"))
                .await;
            let shape = &self.shape;
            self.rows.retain(|(of, key), _| *of != k || !(low..high).contains(&shape.value(key, "at")));
            return;
        }
        if self.random.chance(5) {
            self.node.run(&format!("DELETE FROM ks.{table} WHERE k = {k}")).await;
            self.rows.retain(|(of, _), _| *of != k);
            return;
        }
        let place = self.random.below(self.rows.len().max(1) as u64) as usize;
        let Some(((k, key), _)) = self.rows.iter().nth(place).map(|(place, v)| (place.clone(), *v)) else {
            return;
        };
        let condition = self.shape.condition(&key);
        match self.random.chance(50) {
            true => {
                self.node.run(&format!("DELETE FROM ks.{table} WHERE k = {k} AND {condition}")).await;
                self.rows.remove(&(k, key));
            }
            false => {
                let v = self.random.below(1000) as i64;
                self.node
                    .run(&format!("UPDATE ks.{table} SET v = {v} WHERE k = {k} AND {condition} IF EXISTS"))
                    .await;
                self.rows.insert((k, key), v);
            }
        }
    }

    async fn restart(&mut self) {
        self.clock.advance_micros(TICK_MICROS);
        match self.random.chance(30) {
            true => {
                // A crash: what was acknowledged is there, nothing else is sure to be.
                if let Some(job) = self.job.take() {
                    job.abort();
                }
                self.disk = self.disk.image(CrashImage::DropUnsynced);
                self.node = Node::start(&self.disk, self.clock.clone(), self.shards).await;
                self.work();
            }
            false => {
                self.node.engine.flush().await;
                self.node.engine.run_jobs();
            }
        }
    }

    /// Reads all pages, with writes between some of them.
    async fn read(&mut self) {
        let asked = Asked::any(&mut self.random, &self.shape);
        let text = asked.statement(&self.table, &self.shape);
        let mut state: Option<Vec<u8>> = None;
        let mut last = None;
        let mut given: BTreeMap<i64, usize> = BTreeMap::new();
        let mut left = asked.limit.unwrap_or(usize::MAX);
        let (plan, paged) = (self.shape.plan.clone(), asked.page < 5000);
        loop {
            self.operations += 1;
            self.pages += 1;
            let mut expected: Vec<_> = self
                .rows
                .iter()
                .filter(|((k, key), v)| asked.wants(&self.shape, *k, key, **v))
                .map(|((k, key), v)| (asked.place(*k, key), *k, key.clone(), *v))
                .filter(|(place, ..)| last.as_ref().is_none_or(|last| place > last))
                .collect();
            expected.sort();
            let mut page = Vec::new();
            for (place, k, key, v) in expected {
                let count = given.entry(k).or_default();
                if page.len() == asked.page.min(left) || asked.each.is_some_and(|each| *count >= each) {
                    continue;
                }
                *count += 1;
                let columns = self.shape.columns.iter().map(|(name, _)| self.shape.value(&key, name));
                page.push([k].into_iter().chain(columns).chain([v]).collect::<Vec<i64>>());
                last = Some(place);
            }
            left -= page.len();
            let size = paged.then_some(asked.page);
            let (rows, next) = match self.node.try_page(&text, size, state.as_deref()).await {
                Ok(page) => page,
                // Numbers of rows per entity are not brought over into another plan.
                Err(error) if asked.each.is_some() && error.to_string().contains("begin it anew") => return,
                Err(error) => panic!("{text}: {error}"),
            };
            assert_eq!(rows, page, "{text} with {plan}, page {size:?}");
            assert!(rows.len() == asked.page || next.is_none(), "{text}: a short page has no next");
            assert!(next.as_ref().is_none_or(|state| state.len() < 160), "{text}: the cursor is short");
            if next.is_none() {
                return;
            }
            state = next;
            if self.random.chance(25) {
                self.write().await;
                self.delete().await;
            }
            if self.random.chance(4) {
                self.change_plan().await;
            }
            if self.random.chance(2) {
                self.restart().await;
            }
            self.step().await;
        }
    }

    /// Begins to change the plan of the table, or stops it.
    async fn change_plan(&mut self) {
        self.clock.advance_micros(TICK_MICROS);
        let (_, catalogue) = self.node.dialect.shared.load();
        let table = catalogue.table("ks", &self.table).unwrap();
        if let Some(next) = table.rebucketing() {
            if self.random.chance(20) {
                self.node.run(&format!("CANCEL JOB {}", next.id)).await;
            }
            return;
        }
        let plan = Shape::any_plan(&mut self.random, &self.shape.columns);
        self.node.run(&format!("ALTER TABLE ks.{} WITH bucketing = {plan}", self.table)).await;
        self.work();
    }

    /// Has a task do what is left to the background.
    fn work(&mut self) {
        if self.job.is_none() && database::builds::builds_left(&self.node.dialect.shared) > 0 {
            let (shared, store) = (self.node.dialect.shared.clone(), self.node.dialect.store.clone());
            let now = self.node.ids.now_micros();
            self.job = Some(tokio::task::spawn_local(async move {
                database::builds::resume_builds(&shared, &store, now).await
            }));
        }
    }

    /// Lets the background have a few turns.
    async fn step(&mut self) {
        if self.random.chance(20) {
            self.spills += self.node.dialect.store.spill().await.unwrap();
        }
        for _ in 0..self.random.below(4) {
            tokio::task::yield_now().await;
        }
        if self.job.as_ref().is_some_and(|job| job.is_finished())
            && let Some(job) = self.job.take()
        {
            job.await.unwrap().unwrap();
            self.turns += 1;
            self.work();
        }
    }

    /// Another table with another plan.
    async fn begin(&mut self, number: usize) {
        if number > 0 {
            self.node.run(&format!("DROP TABLE ks.{}", self.table)).await;
        }
        self.table = format!("t{number}");
        self.shape = Shape::any(&mut self.random);
        self.rows.clear();
        self.day = 0;
        self.node.run(&self.shape.ddl(&self.table)).await;
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_plans_answer_as_one_sorted_list() {
    against_one_sorted_list(1, setting("BUCKETS_OPERATIONS", OPERATIONS));
}

/// The same, with statements taken by every shard in turn.
#[test]
fn random_plans_on_several_shards_answer_as_one_sorted_list() {
    against_one_sorted_list(3, setting("BUCKETS_OPERATIONS", OPERATIONS) / 4);
}

fn against_one_sorted_list(shards: usize, operations: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let disk = SimDisk::new();
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let node = Node::start(&disk, clock.clone(), shards).await;
        node.run(
            "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        )
        .await;
        let mut random = Random(setting("BUCKETS_SEED", 7) as u64 * 2 + 1);
        let shape = Shape::any(&mut random);
        let (table, rows) = (String::new(), Rows::new());
        let (job, turns) = (None, 0);
        let mut world = World {
            disk,
            clock,
            node,
            random,
            table,
            shape,
            rows,
            operations: 0,
            pages: 0,
            shards,
            day: 0,
            spills: 0,
            job,
            turns,
        };
        let mut tables = 0;
        while world.operations < operations {
            world.begin(tables).await;
            tables += 1;
            for _ in 0..40 + world.random.below(60) {
                match world.random.below(20) {
                    0..=11 => world.write().await,
                    12..=15 => world.delete().await,
                    16 => world.change_plan().await,
                    _ => world.read().await,
                }
                world.step().await;
                if world.random.chance(1) {
                    world.restart().await;
                }
            }
        }
        println!(
            "{} operations, {} pages, {tables} tables, {} changes of a plan, {} buckets spilled",
            world.operations, world.pages, world.turns, world.spills
        );
        assert!(operations < 20_000 || world.spills > operations / 2500, "{} buckets spilled", world.spills);
        assert!(world.turns > operations / 2000, "{} changes of a plan", world.turns);
        assert!(world.pages > operations / 100, "{} pages", world.pages);
    });
}

/// What the newest 100 rows of an entity cost, however many buckets it has: reads of partitions and rows that were looked at.
#[test]
fn the_newest_rows_cost_the_newest_bucket() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let node = Node::start(&SimDisk::new(), clock, 1).await;
        node.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            .await;
        let table = |name: &str, plan: &str| {
            format!(
                "CREATE TABLE ks.{name} (k int, at timestamp, PRIMARY KEY (k, at)) WITH CLUSTERING ORDER BY (at DESC){plan}"
            )
        };
        node.run(&table("plain", "")).await;
        node.run(&table("days", " AND bucketing = {'by': 'at', 'every': '1d'}")).await;
        node.run(&table("hashed", " AND bucketing = {'by': 'at', 'into': 16}")).await;
        for (k, buckets) in [(1, 1), (2, 16), (3, 365), (4, 10_000)] {
            let old = (1..buckets).map(|day| 1_700_000_000_000 - day * 24 * HOUR);
            let rows: Vec<i64> = old.chain((0..100).map(|n| 1_700_000_000_000 + n * 1000)).collect();
            for name in ["plain", "days", "hashed"] {
                // The old buckets of the largest are what the record is about; the others need not have them.
                let rows = if name == "days" { &rows[..] } else { &rows[rows.len().saturating_sub(400)..] };
                for some in rows.chunks(100) {
                    let insert = |at: &i64| format!("INSERT INTO ks.{name} (k, at) VALUES ({k}, {at}); ");
                    let batch: String = some.iter().map(insert).collect();
                    node.run(&format!("BEGIN UNLOGGED BATCH {batch} APPLY BATCH")).await;
                }
            }
            let plain = node.cost("plain", k).await;
            assert_eq!((plain.reads, plain.rows), (1, 100));
            let days = node.cost("days", k).await;
            let hashed = node.cost("hashed", k).await;
            println!("{buckets} buckets: plain {plain:?}, days {days:?}, 16 hashed {hashed:?}");
            assert!(days.reads <= 2 && days.rows <= 104, "{days:?}");
            assert!(hashed.reads <= 40 && hashed.rows <= 400, "{hashed:?}");
        }
    });
}

impl Node {
    /// What reading the newest 100 rows of an entity takes.
    async fn cost(&self, table: &str, k: i64) -> store::Work {
        let text = format!("SELECT at FROM ks.{table} WHERE k = {k} LIMIT 100");
        let session = Session::default();
        let prepared = self.dialect.prepare(&session, None, &text).unwrap();
        let account = Arc::new(store::Account::default());
        let mut request = Request::new(Values::NONE, self.ids.now_micros());
        request.account = Some(&account);
        match self.dialect.execute(&session, &prepared, request).await.unwrap().response {
            Response::Rows(rows) => assert_eq!(rows.count, 100),
            other => panic!("{other:?}"),
        }
        account.sum()
    }
}
