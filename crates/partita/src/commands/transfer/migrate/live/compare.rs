//! Comparing both sides while they are written to: sums by range, then by partition, then value by value; what differs is mended.

use super::super::copy::each_page_of;
use super::super::verify::{Side as Sums, Sum, texts};
use super::super::{Failure, Server};
use super::front::Side;
use super::mend::{Mended, Mender};
use super::pace::Pace;
use super::record::PARTS;
use crate::commands::transfer::ranges::{Range, part};
use crate::commands::transfer::table::{Kind, Table};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rows of a range whose partitions are looked at one by one; larger ranges are halved.
const ROWS_MAX: u64 = 20_000;

/// What a comparison has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub rows: u64,
    /// Partitions whose sums differed.
    pub looked_at: u64,
    pub mended: u64,
    pub different: u64,
}

impl Found {
    fn add(&mut self, other: Found) {
        self.rows += other.rows;
        self.looked_at += other.looked_at;
        self.mended += other.mended;
        self.different += other.different;
    }
}

/// Compares a table, and mends what differs, on several connections.
pub fn compare(
    (source, target): (Server<'_>, Server<'_>),
    table: &Table,
    (answers, connections): (Side, usize),
    pace: &Pace,
) -> Result<Found, Failure> {
    let texts = texts(&mut source.connect()?, &mut target.connect()?, table, true);
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    std::thread::scope(|scope| {
        let work = || -> Result<(), Failure> {
            let mut worker = Worker {
                sums: [Sums::open(source, &texts)?, Sums::open(target, &texts)?],
                mender: Mender::open(source, target)?,
                table,
                answers,
                keys: table.of_kind(Kind::Partition).count(),
                pace,
            };
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= PARTS {
                    return Ok(());
                }
                let found = worker.range(part(at, PARTS))?;
                all.lock().unwrap_or_else(PoisonError::into_inner).add(found);
            }
        };
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            let panicked = |_| Err(Failure::Failed("a thread of the comparison panicked".into()));
            thread.join().unwrap_or_else(panicked)
        })
    })?;
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}

struct Worker<'a> {
    /// Of source and target.
    sums: [Sums; 2],
    mender: Mender,
    table: &'a Table,
    answers: Side,
    keys: usize,
    pace: &'a Pace,
}

impl Worker<'_> {
    fn range(&mut self, range: Range) -> Result<Found, Failure> {
        let sums = [self.sums[0].sum(range)?, self.sums[1].sum(range)?];
        let rows = sums[0].rows.max(sums[1].rows);
        let mut found = Found { rows: sums[self.answers as usize].rows, ..Found::default() };
        if !self.pace.passed(rows) {
            return Err(Failure::Failed("stopped".into()));
        }
        if sums[0] == sums[1] {
            return Ok(found);
        }
        let middle = range.after.midpoint(range.until);
        if rows > ROWS_MAX && middle > range.after && middle < range.until {
            found.add(self.range(Range { until: middle, ..range })?);
            found.add(self.range(Range { after: middle, ..range })?);
            // The halves have counted the same rows.
            found.rows = sums[self.answers as usize].rows;
            return Ok(found);
        }
        let [ours, theirs] = [self.partitions(range, 0)?, self.partitions(range, 1)?];
        let name = format!("{}.{}", quoted(&self.table.keyspace), quoted(&self.table.name));
        let keys = ours.keys().chain(theirs.keys()).filter(|key| ours.get(*key) != theirs.get(*key));
        let keys: std::collections::BTreeSet<&Vec<Vec<u8>>> = keys.collect();
        for key in keys {
            found.looked_at += 1;
            match self.mender.mend(&name, (key, &[]), self.answers)? {
                Mended::Same => {}
                Mended::Changed => found.mended += 1,
                Mended::Different => found.different += 1,
            }
        }
        Ok(found)
    }

    /// The sums of the partitions of a range.
    fn partitions(&mut self, range: Range, side: usize) -> Result<BTreeMap<Vec<Vec<u8>>, Sum>, Failure> {
        let mut found: BTreeMap<Vec<Vec<u8>>, Sum> = BTreeMap::new();
        let keys = self.keys;
        let Sums { client, statements } = &mut self.sums[side];
        for (statement, compared) in statements.iter() {
            each_page_of(client, statement, range, &mut |cells| {
                for row in cells.chunks(compared.len().max(1)) {
                    let key = row.iter().take(keys).map(|cell| cell.unwrap_or_default().to_vec()).collect();
                    found.entry(key).or_default().add(row, compared);
                }
                Ok(true)
            })?;
        }
        Ok(found)
    }
}

fn quoted(name: &str) -> String {
    crate::commands::transfer::table::quoted_name(name)
}
