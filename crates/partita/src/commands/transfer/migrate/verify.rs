//! Comparing a table on both sides: an order-free sum over rows, range by range.
//!
//! A row counts with its key, its values and their times; of an expiry only whether there is one, because it is read on each side at
//! another moment, and of the times of a list only the newest, because a copy gives it to all of them.

use super::super::ranges::{Range, Ranges};
use super::super::table::{Table, quoted_name};
use super::super::unload::page_of;
use super::cells::{Compared, Layout, newest};
use super::copy::{Copying, tells_elements};
use super::{Failure, Server, failed};
use client::{Client, Statement};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

const PAGE_ROWS: u32 = 2000;

/// Rows and the sum of their hashes; the order does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub rows: u64,
    low: u64,
    high: u64,
}

impl Sum {
    pub fn add(&mut self, row: &[Option<&[u8]>], compared: &[Compared]) {
        let hash = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            for (cell, compared) in row.iter().zip(compared) {
                match compared {
                    Compared::Bytes => cell.hash(&mut hasher),
                    // A list of them is compared by its length.
                    Compared::Ttl => cell.map(<[u8]>::len).hash(&mut hasher),
                    Compared::Newest => newest(*cell).hash(&mut hasher),
                    Compared::Nothing => {}
                }
            }
            hasher.finish()
        };
        self.rows += 1;
        self.low = self.low.wrapping_add(hash(0));
        self.high = self.high.wrapping_add(hash(1));
    }
}

/// Whether both sides have the same rows; says where they differ.
pub fn compare(copying: &Copying<'_>, table: &Table) -> Result<bool, Failure> {
    let texts = texts(&mut copying.source.connect()?, &mut copying.target.connect()?, table, copying.live);
    let ranges = Ranges::for_connections(copying.connections);
    let different: Mutex<Vec<(Range, Sum, Sum)>> = Mutex::default();
    let rows = Mutex::new(0);
    std::thread::scope(|scope| {
        let compare = || -> Result<(), Failure> {
            let mut sides = [Side::open(copying.source, &texts)?, Side::open(copying.target, &texts)?];
            while let Some(range) = ranges.take() {
                let (ours, theirs) = (sides[0].sum(range)?, sides[1].sum(range)?);
                *lock(&rows) += ours.rows;
                if ours != theirs {
                    lock(&different).push((range, ours, theirs));
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..copying.connections).map(|_| scope.spawn(compare)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(Failure::Failed("a thread of the comparison panicked".into())))
        })
    })?;
    let different = different.into_inner().unwrap_or_default();
    let rows = rows.into_inner().unwrap_or_default();
    if different.is_empty() {
        println!("the same: {rows} rows of {}", table.path());
        return Ok(true);
    }
    println!("different: {} in {} of {} ranges", table.path(), different.len(), ranges.all());
    for (Range { after, until }, ours, theirs) in different.iter().take(5) {
        println!(
            "  tokens above {after} up to {until}: {} rows on the source, {} on the target",
            ours.rows, theirs.rows
        );
    }
    Ok(false)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What is read of both sides, and how it is compared: with all times that both can tell.
pub fn texts(from: &mut Client, to: &mut Client, table: &Table, live: bool) -> Vec<(String, Vec<Compared>)> {
    if table.is_counter() {
        let names: Vec<String> = table.columns.iter().map(|column| quoted_name(&column.name)).collect();
        let (path, token) = (table.path(), table.token());
        let text = format!("SELECT {} FROM {path} WHERE {token} > ? AND {token} <= ?", names.join(", "));
        return vec![(text, vec![Compared::Bytes; names.len()])];
    }
    let elements = tells_elements(from, table) && tells_elements(to, table);
    let layouts = [Layout::new(table, true, elements), Layout::new(table, false, elements)];
    let compared = |layout: &Layout| if live { layout.compared_live() } else { layout.compared() };
    layouts.iter().flatten().map(|layout| (layout.select(), compared(layout))).collect()
}

/// One connection to one side.
pub struct Side {
    pub client: Client,
    pub statements: Vec<(Statement, Vec<Compared>)>,
}

impl Side {
    pub fn open(server: Server<'_>, texts: &[(String, Vec<Compared>)]) -> Result<Side, Failure> {
        let mut client = server.connect()?;
        let mut statements = Vec::new();
        for (text, compared) in texts {
            statements.push((client.prepare(text).map_err(failed)?, compared.clone()));
        }
        Ok(Side { client, statements })
    }

    pub fn sum(&mut self, range: Range) -> Result<Sum, Failure> {
        let mut sum = Sum::default();
        let bounds = [range.after.to_be_bytes(), range.until.to_be_bytes()];
        let values = [Some(&bounds[0][..]), Some(&bounds[1][..])];
        for (statement, compared) in &self.statements {
            let mut state: Option<Vec<u8>> = None;
            loop {
                let place = (PAGE_ROWS, state.as_deref());
                let (page, next) = page_of(&mut self.client, statement, &values, place, |cells| {
                    let mut page = Sum::default();
                    cells.chunks(compared.len().max(1)).for_each(|row| page.add(row, compared));
                    page
                })?;
                sum.rows += page.rows;
                sum.low = sum.low.wrapping_add(page.low);
                sum.high = sum.high.wrapping_add(page.high);
                match next {
                    Some(next) => state = Some(next),
                    None => break,
                }
            }
        }
        Ok(sum)
    }
}
