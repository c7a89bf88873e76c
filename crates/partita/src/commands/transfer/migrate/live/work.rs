//! What `partita migrate run` does until the migration is finished: keys that were marked are mended all the time; beside that, rows are
//! copied, then both sides compared, whenever something may have come to differ.

use super::super::cells::Layout;
use super::super::copy::{Statements, each_page_of, now_micros, tells_elements};
use super::super::schema::Schema;
use super::super::{Failure, Server, failed};
use super::compare::{Found, compare};
use super::counters;
use super::front::{Front, Mark, Status};
use super::mend::{Mended, Mender};
use super::pace::Pace;
use super::record::{PARTS, Record};
use crate::commands::transfer::ranges::{Range, part};
use crate::commands::transfer::table::{Table, quoted_name};
use client::column_type::data_type;
use client::{Client, Statement};
use model::types::DataType;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After something has failed: a server restarts, or is too busy.
const RETRY: Duration = Duration::from_millis(500);
const IDLE: Duration = Duration::from_millis(50);
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A key that could not be made equal is looked at again after so long: it is being written.
const AGAIN_MILLIS: i64 = 2_000;
/// The checkpoint is stored so often; what was copied since is copied again, which changes nothing.
const STORE_EVERY: Duration = Duration::from_millis(500);

pub struct Work<'o> {
    pub front: Front,
    pub source: Server<'o>,
    pub target: Server<'o>,
    pub connections: usize,
    pub tables: Vec<Table>,
    pub schema: Schema,
    pub record: Mutex<Record>,
    pub pace: Pace,
    /// End when everything is copied and compared, instead of when the migration is finished.
    pub until_verified: bool,
}

impl Work<'_> {
    /// Until the migration is over.
    pub fn run(&self) -> Result<(), Failure> {
        std::thread::scope(|scope| {
            let mending = scope.spawn(|| self.mend_forever());
            let bulk = self.bulk();
            self.pace.stopping.store(true, Ordering::Relaxed);
            let mended = mending.join().unwrap_or_else(|_| Err(Failure::Failed("mending panicked".into())));
            bulk.and(mended)
        })
    }

    fn stopping(&self) -> bool {
        self.pace.stopping.load(Ordering::Relaxed)
    }

    fn record(&self) -> std::sync::MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the front end says; waits while there is none, since it may be restarting.
    fn status(&self) -> Status {
        let mut told = Told::default();
        loop {
            match self.front.status() {
                Ok(status) => return status,
                Err(failure) => told.tell(&failure),
            }
            std::thread::sleep(RETRY);
        }
    }

    /// Does something again and again until it succeeds. `None`: the end.
    fn until_done<T>(&self, mut work: impl FnMut() -> Result<T, Failure>) -> Option<T> {
        let mut told = Told::default();
        while !self.stopping() {
            match work() {
                Ok(done) => return Some(done),
                Err(failure) => told.tell(&failure),
            }
            std::thread::sleep(RETRY);
        }
        None
    }

    fn bulk(&self) -> Result<(), Failure> {
        self.copy_all()?;
        if self.until_done(|| self.make_copies()).is_none() {
            return Ok(());
        }
        loop {
            let status = self.status();
            if status.phase == "ended" {
                println!("the migration is finished; the {} answers", status.answers.name());
                return Ok(());
            }
            if !status.is_verified() && self.compare_all(&status)?.is_none() {
                std::thread::sleep(LOOK_EVERY);
                continue;
            }
            if self.until_verified && self.status().is_verified() {
                return Ok(());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Indexes and views, which the target fills from its rows.
    fn make_copies(&self) -> Result<(), Failure> {
        if self.record().copies_made {
            return Ok(());
        }
        self.schema.make_copies(&mut self.target.connect()?)?;
        let mut record = self.record();
        record.copies_made = true;
        record.store(self.front.folder())
    }

    fn copy_all(&self) -> Result<(), Failure> {
        let plain: Vec<&Table> = self.tables.iter().filter(|table| !table.is_counter()).collect();
        for table in plain {
            let name = raw_name(table);
            let done = self.record().copied.get(&name).cloned().unwrap_or_default();
            let left: Vec<usize> = (0..PARTS).filter(|at| !done.contains(at)).collect();
            if left.is_empty() {
                continue;
            }
            let next = AtomicUsize::new(0);
            let stored = Mutex::new(Instant::now());
            std::thread::scope(|scope| {
                for _ in 0..self.connections {
                    scope.spawn(|| {
                        let mut copier = None;
                        while let Some(at) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                            let copied = self.until_done(|| self.copy_part(table, *at, &mut copier));
                            let Some(rows) = copied else { return };
                            self.part_done(&name, *at, rows, &stored);
                        }
                    });
                }
                while !self.stopping()
                    && self.record().copied.get(&name).map_or(0, |parts| parts.len()) < PARTS
                {
                    std::thread::sleep(IDLE);
                    self.heed(&self.status());
                }
            });
            let mut record = self.record();
            record.store(self.front.folder())?;
            println!("copied {} ({} rows so far)", table.path(), record.rows);
        }
        Ok(())
    }

    fn heed(&self, status: &Status) {
        self.pace.heard(&status.micros);
        std::thread::sleep(LOOK_EVERY / 4);
        if status.phase == "ended" {
            self.pace.stopping.store(true, Ordering::Relaxed);
        }
    }

    fn part_done(&self, name: &str, at: usize, rows: u64, stored: &Mutex<Instant>) {
        let mut record = self.record();
        record.copied.entry(name.to_string()).or_default().insert(at);
        record.rows += rows;
        let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.elapsed() >= STORE_EVERY {
            *stored = Instant::now();
            if let Err(Failure::Failed(why)) = record.store(self.front.folder()) {
                eprintln!("the checkpoint was not stored: {why}");
            }
        }
    }

    fn copy_part(&self, table: &Table, at: usize, copier: &mut Option<Copier>) -> Result<u64, Failure> {
        let mut working = match copier.take() {
            Some(copier) => copier,
            None => {
                let runs = self.record().runs;
                Copier::open(self.source, self.target, table, runs)?
            }
        };
        let rows = working.copy(part(at, PARTS), &self.pace)?;
        // After a failure it is made anew: a connection may be broken, and lists need another time.
        *copier = Some(working);
        Ok(rows)
    }

    /// Compares everything, mends what differs, and tells the front end. `None`: it was not to be had, or differs still.
    fn compare_all(&self, status: &Status) -> Result<Option<()>, Failure> {
        let began = self.until_done(|| {
            let answer = self.front.ask(&json!({ "do": "verifying" }))?;
            answer["began"]
                .as_i64()
                .ok_or_else(|| Failure::Failed("the front end does not say the time".into()))
        });
        let Some(began) = began else { return Ok(Some(())) };
        let mut all = Found::default();
        for table in self.tables.iter().filter(|table| !table.is_counter()) {
            let sides = (self.source, self.target);
            let found = compare(sides, table, (status.answers, self.connections), &self.pace);
            self.heed(&self.status());
            match found {
                Ok(found) => {
                    all = Found {
                        rows: all.rows + found.rows,
                        looked_at: all.looked_at + found.looked_at,
                        mended: all.mended + found.mended,
                        different: all.different + found.different,
                    }
                }
                Err(failure) => {
                    Told::default().tell(&failure);
                    std::thread::sleep(RETRY);
                    return Ok(None);
                }
            }
        }
        let text = format!(
            "compared {} rows: {} partitions looked at twice, {} mended, {} different",
            all.rows, all.looked_at, all.mended, all.different
        );
        println!("{text}");
        let mut record = self.record();
        record.compared = text;
        record.store(self.front.folder())?;
        drop(record);
        // Someone else may answer by now: then it was the wrong question.
        if all.different > 0 || self.status().answers != status.answers {
            return Ok(None);
        }
        Ok(self.until_done(|| self.front.order(&json!({ "do": "verified", "began": began }))))
    }

    fn mend_forever(&self) -> Result<(), Failure> {
        let worker = format!("{}-{}", std::process::id(), now_micros());
        let names: BTreeMap<String, String> =
            self.tables.iter().map(|table| (raw_name(table), quoted_path(table))).collect();
        let mut told = Told::default();
        let mut mender = None;
        while !self.stopping() {
            match self.mend_some(&worker, &names, &mut mender) {
                Ok(0) => std::thread::sleep(IDLE),
                Ok(_) => {}
                Err(failure) => {
                    told.tell(&failure);
                    mender = None;
                    std::thread::sleep(RETRY);
                }
            }
        }
        Ok(())
    }

    fn mend_some(
        &self,
        worker: &str,
        names: &BTreeMap<String, String>,
        mender: &mut Option<Mender>,
    ) -> Result<usize, Failure> {
        let marks = self.front.marks(worker)?;
        if marks.is_empty() {
            return Ok(0);
        }
        let answers = self.front.status()?.answers;
        let working = match mender {
            Some(mender) => mender,
            None => mender.insert(Mender::open(self.source, self.target)?),
        };
        let (mut done, mut again) = (Vec::new(), Vec::new());
        let mut failure = None;
        for mark in &marks {
            if failure.is_some() {
                again.push(mark.number);
                continue;
            }
            match one(working, names, mark, answers) {
                Ok(Mended::Different) => again.push(mark.number),
                Ok(_) => done.push(mark.number),
                Err(why) => {
                    failure = Some(why);
                    again.push(mark.number);
                }
            }
        }
        self.front.order(&json!({ "do": "mended", "numbers": done }))?;
        self.front.order(&json!({ "do": "again", "numbers": again, "millis": AGAIN_MILLIS }))?;
        match failure {
            None => Ok(marks.len()),
            Some(failure) => Err(failure),
        }
    }

    /// Counters, both ways of the answering side; repeated, it only adds what is missing.
    pub fn counters(&self, answers: super::front::Side) -> Result<u64, Failure> {
        let (from, to) = match answers {
            super::front::Side::Source => (self.source, self.target),
            super::front::Side::Target => (self.target, self.source),
        };
        let mut changed = 0;
        for table in self.tables.iter().filter(|table| table.is_counter()) {
            changed += counters::bring_over(from, to, table)?;
        }
        Ok(changed)
    }
}

fn one(
    mender: &mut Mender,
    names: &BTreeMap<String, String>,
    mark: &Mark,
    answers: super::front::Side,
) -> Result<Mended, Failure> {
    let unhex = |texts: &[String]| texts.iter().map(|text| bytes_of(text)).collect::<Option<Vec<_>>>();
    let key = unhex(&mark.partition).zip(unhex(&mark.clustering));
    let (Some(name), Some((partition, clustering))) = (names.get(&mark.table), key) else {
        return Err(Failure::Failed(format!("{}: a mark of a table that is not migrated", mark.table)));
    };
    mender.mend(name, (&partition, &clustering), answers)
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    Some(digits?.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

/// As the front end names it.
pub fn raw_name(table: &Table) -> String {
    format!("{}.{}", table.keyspace, table.name)
}

fn quoted_path(table: &Table) -> String {
    format!("{}.{}", quoted_name(&table.keyspace), quoted_name(&table.name))
}

/// Says what is wrong when that changes.
#[derive(Default)]
struct Told(String);

impl Told {
    fn tell(&mut self, failure: &Failure) {
        let text = match failure {
            Failure::Failed(text) | Failure::Usage(text) => text.clone(),
            Failure::Findings => "it failed".to_string(),
        };
        if self.0 != text {
            eprintln!("{text}; it is tried again");
            self.0 = text;
        }
    }
}

/// Copies parts of a table over a connection to each side.
struct Copier {
    from: Client,
    to: Client,
    layouts: Vec<(Layout, Statement, Vec<DataType>, Statements)>,
}

/// Every attempt of a process gives lists another time, and so does every process.
const ATTEMPTS_PER_RUN: i64 = 1000;

impl Copier {
    fn open(source: Server<'_>, target: Server<'_>, table: &Table, runs: i64) -> Result<Copier, Failure> {
        static ATTEMPT: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);
        let (mut from, mut to) = (source.connect()?, target.connect()?);
        let elements = tells_elements(&mut from, table);
        let layouts = [Layout::new(table, true, elements), Layout::new(table, false, elements)];
        let shift = runs * ATTEMPTS_PER_RUN + ATTEMPT.fetch_add(1, Ordering::Relaxed) % ATTEMPTS_PER_RUN;
        let mut found = Vec::new();
        for mut layout in layouts.into_iter().flatten() {
            layout.list_shift = shift;
            let select = from.prepare(&layout.select()).map_err(failed)?;
            let types = select.result.iter().map(|column| data_type(&column.column_type)).collect();
            let statements = Statements::prepare(&mut to, &layout)?;
            found.push((layout, select, types, statements));
        }
        Ok(Copier { from, to, layouts: found })
    }

    fn copy(&mut self, range: Range, pace: &Pace) -> Result<u64, Failure> {
        let Copier { from, to, layouts } = self;
        let mut copied = 0;
        for (layout, select, types, statements) in layouts.iter() {
            let now = now_micros();
            // What is left of a TTL then counts from then, however long the way takes.
            (from.now_in_seconds, to.now_in_seconds) =
                (u32::try_from(now / 1_000_000).ok(), u32::try_from(now / 1_000_000).ok());
            let whole = each_page_of(from, select, range, &mut |cells| {
                let (mut writes, mut rows) = (Vec::new(), 0);
                for row in cells.chunks(types.len().max(1)) {
                    let written = layout.row(row, types, now).map_err(Failure::Failed)?;
                    // Partitions without static values have a row of nulls here.
                    if layout.is_static() && written.groups.is_empty() {
                        continue;
                    }
                    rows += 1;
                    statements.writes_of(layout, &written, now, &mut writes);
                }
                statements.send(to, &writes)?;
                copied += rows;
                Ok(pace.passed(rows))
            })?;
            if !whole {
                return Err(Failure::Failed("stopped".into()));
            }
        }
        Ok(copied)
    }
}
