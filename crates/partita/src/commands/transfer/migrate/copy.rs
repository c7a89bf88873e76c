//! Copying the rows of a table, range by range, on several connections.

use super::super::load::{insert_or_add, send};
use super::super::ranges::{Range, Ranges};
use super::super::table::{Kind, Table, quoted_name};
use super::super::unload::page_of;
use super::cells::{Group, Layout, Stamp, Written};
use super::{Failure, Server, failed};
use crate::commands::tally::Tally;
use client::column_type::data_type;
use client::{Client, REQUESTS_MAX, Statement};
use cql_wire::{Value, ValueList};
use model::types::DataType;
use std::sync::mpsc::{Sender, channel};
use std::time::{SystemTime, UNIX_EPOCH};

/// Rows of a page: each may become several statements.
const PAGE_ROWS: u32 = 1000;

pub struct Copying<'o> {
    pub source: Server<'o>,
    pub target: Server<'o>,
    pub connections: usize,
    /// Lists were mended one by one, so their times are their own.
    pub live: bool,
}

/// Rows of a page that are on the target.
struct Done {
    rows: u64,
    bytes: u64,
}

pub fn now_micros() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_micros() as i64)
}

/// Whether the source tells the times of elements: Cassandra does since 5.0.
pub fn tells_elements(client: &mut Client, table: &Table) -> bool {
    let layouts = [false, true].map(|is_static| Layout::new(table, is_static, true));
    layouts.iter().flatten().all(|layout| client.prepare(&layout.select()).is_ok())
}

impl Copying<'_> {
    pub fn copy(&self, table: &Table) -> Result<(), Failure> {
        let mut tally = Tally::begin("copied", "rows");
        let mut client = self.source.connect()?;
        if table.is_counter() {
            self.each_range(&mut tally, |range, told| self.counters(table, range, told))?;
        } else {
            let elements = tells_elements(&mut client, table);
            let statics = Layout::new(table, true, elements);
            for layout in statics.iter().chain(&Layout::new(table, false, elements)) {
                self.each_range(&mut tally, |ranges, told| self.rows(layout, ranges, told))?;
            }
        }
        tally.end(&format!(" of {}", table.path()));
        Ok(())
    }

    fn each_range(
        &self,
        tally: &mut Tally,
        work: impl Fn(&Ranges, &Sender<Result<Done, Failure>>) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        let ranges = Ranges::for_connections(self.connections);
        let (told, news) = channel::<Result<Done, Failure>>();
        std::thread::scope(|scope| {
            for _ in 0..self.connections {
                let (told, ranges, work) = (told.clone(), &ranges, &work);
                scope.spawn(move || {
                    if let Err(failure) = work(ranges, &told) {
                        // Whoever listens has heard of another failure.
                        let _ = told.send(Err(failure));
                    }
                });
            }
            drop(told);
            for done in news {
                let Done { rows, bytes } = done?;
                tally.add(rows, bytes);
            }
            Ok(())
        })
    }

    fn rows(
        &self,
        layout: &Layout,
        ranges: &Ranges,
        told: &Sender<Result<Done, Failure>>,
    ) -> Result<(), Failure> {
        let (mut from, mut to) = (self.source.connect()?, self.target.connect()?);
        let select = from.prepare(&layout.select()).map_err(failed)?;
        let types: Vec<DataType> = select.result.iter().map(|c| data_type(&c.column_type)).collect();
        let statements = Statements::prepare(&mut to, layout)?;
        let now = now_micros();
        each_page(&mut from, &select, ranges, |cells| {
            let mut writes = Vec::new();
            let mut rows = 0;
            for row in cells.chunks(types.len().max(1)) {
                // Partitions without static values have a row of nulls here.
                let written = layout.row(row, &types, now).map_err(Failure::Failed)?;
                if layout.is_static() && written.groups.is_empty() {
                    continue;
                }
                rows += 1;
                statements.writes_of(layout, &written, now, &mut writes);
            }
            let bytes = cells.iter().flatten().map(|cell| cell.len() as u64).sum();
            statements.send(&mut to, &writes)?;
            Ok(told.send(Ok(Done { rows, bytes })).is_ok())
        })
    }

    /// Counters have no times: what they count is added to the target, which has nothing.
    fn counters(
        &self,
        table: &Table,
        ranges: &Ranges,
        told: &Sender<Result<Done, Failure>>,
    ) -> Result<(), Failure> {
        let (mut from, mut to) = (self.source.connect()?, self.target.connect()?);
        let in_order = table.columns.iter().filter(|c| !c.is_key()).chain(table.key());
        // A static counter is the partition's, and would be added once for each of its rows.
        if table.of_kind(Kind::Static).next().is_some() {
            return Err(Failure::Failed(format!("{}: static counters are not copied", table.path())));
        }
        let names: Vec<String> = in_order.map(|column| quoted_name(&column.name)).collect();
        let (path, token) = (table.path(), table.token());
        let select = format!("SELECT {} FROM {path} WHERE {token} > ? AND {token} <= ?", names.join(", "));
        let select = from.prepare(&select).map_err(failed)?;
        let add = to.prepare(&insert_or_add(table)).map_err(failed)?;
        each_page(&mut from, &select, ranges, |cells| {
            let rows: Vec<&[Option<&[u8]>]> = cells.chunks(names.len().max(1)).collect();
            for part in rows.chunks(REQUESTS_MAX) {
                let lists: Vec<ValueList> = part.iter().map(|row| list_of(row)).collect();
                let all: Vec<(&Statement, &ValueList, bool)> =
                    lists.iter().map(|list| (&add, list, false)).collect();
                all_accepted(send(&mut to, &all)?)?;
            }
            let bytes = cells.iter().flatten().map(|cell| cell.len() as u64).sum();
            Ok(told.send(Ok(Done { rows: rows.len() as u64, bytes })).is_ok())
        })
    }
}

fn list_of(row: &[Option<&[u8]>]) -> ValueList {
    let mut list = ValueList::new();
    for cell in row {
        list.push(cell.map_or(Value::Unset, Value::Bytes));
    }
    list
}

/// Reads all pages of the ranges that are left; `take` says whether to go on.
pub fn each_page(
    from: &mut Client,
    select: &Statement,
    ranges: &Ranges,
    mut take: impl FnMut(&[Option<&[u8]>]) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    while let Some(range) = ranges.take() {
        if !each_page_of(from, select, range, &mut take)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Reads all pages of one range; `false` if `take` said not to go on.
pub fn each_page_of(
    from: &mut Client,
    select: &Statement,
    range: Range,
    take: &mut impl FnMut(&[Option<&[u8]>]) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let bounds = [range.after.to_be_bytes(), range.until.to_be_bytes()];
    let values = [Some(&bounds[0][..]), Some(&bounds[1][..])];
    let mut state: Option<Vec<u8>> = None;
    loop {
        let (taken, next) = page_of(from, select, &values, (PAGE_ROWS, state.as_deref()), &mut *take)?;
        match (taken?, next) {
            (false, _) => return Ok(false),
            (true, Some(next)) => state = Some(next),
            (true, None) => return Ok(true),
        }
    }
}

pub fn all_accepted(refused: Vec<(usize, client::Refusal)>) -> Result<(), Failure> {
    match refused.into_iter().next() {
        None => Ok(()),
        Some((_, refusal)) => Err(Failure::Failed(format!("the target refuses a row: {}", refusal.message))),
    }
}

/// What rows are written with. A static row has no marker, and so no INSERT.
pub struct Statements {
    insert: Option<Statement>,
    mark: Option<Statement>,
    update: Option<Statement>,
}

#[derive(Clone, Copy)]
enum Which {
    Insert,
    Mark,
    Update,
}

pub struct Write {
    which: Which,
    values: ValueList,
    is_repeatable: bool,
}

impl Statements {
    pub fn prepare(to: &mut Client, layout: &Layout) -> Result<Statements, Failure> {
        let mut prepared =
            |text: Option<String>| text.map(|text| to.prepare(&text)).transpose().map_err(failed);
        let marked = !layout.is_static();
        Ok(Statements {
            insert: prepared(marked.then(|| layout.insert()))?,
            mark: prepared(marked.then(|| layout.mark()))?,
            update: prepared(layout.update())?,
        })
    }

    pub fn writes_of(&self, layout: &Layout, row: &Written, now: i64, writes: &mut Vec<Write>) {
        // Nearly every row was written at once.
        if !layout.is_static()
            && let [(stamp, group)] = &row.groups.iter().collect::<Vec<_>>()[..]
            && layout.is_plain(group)
        {
            let mut values = key_of(row);
            put_group(&mut values, layout.columns(), group);
            put_stamp(&mut values, **stamp);
            writes.push(Write { which: Which::Insert, values, is_repeatable: true });
            return;
        }
        if !layout.is_static() {
            let mut values = key_of(row);
            put_stamp(&mut values, row.marker(now));
            writes.push(Write { which: Which::Mark, values, is_repeatable: true });
        }
        for (stamp, group) in &row.groups {
            let mut values = ValueList::new();
            put_stamp(&mut values, *stamp);
            put_group(&mut values, 0..layout.slots(), group);
            for part in &row.key {
                values.push(Value::Bytes(part));
            }
            let is_repeatable = layout.is_repeatable(group);
            writes.push(Write { which: Which::Update, values, is_repeatable });
        }
    }

    pub fn send(&self, to: &mut Client, writes: &[Write]) -> Result<(), Failure> {
        for part in writes.chunks(REQUESTS_MAX) {
            let statement = |write: &Write| match write.which {
                Which::Insert => self.insert.as_ref(),
                Which::Mark => self.mark.as_ref(),
                Which::Update => self.update.as_ref(),
            };
            let all: Vec<(&Statement, &ValueList, bool)> =
                part.iter().filter_map(|w| Some((statement(w)?, &w.values, w.is_repeatable))).collect();
            all_accepted(send(to, &all)?)?;
        }
        Ok(())
    }
}

fn key_of(row: &Written) -> ValueList {
    let mut values = ValueList::new();
    for part in &row.key {
        values.push(Value::Bytes(part));
    }
    values
}

fn put_group(values: &mut ValueList, slots: impl Iterator<Item = usize>, group: &Group) {
    for at in slots {
        values.push(group.get(&at).map_or(Value::Unset, |value| Value::Bytes(value)));
    }
}

fn put_stamp(values: &mut ValueList, stamp: Stamp) {
    values.push(Value::Bytes(&stamp.micros.to_be_bytes()));
    values.push(Value::Bytes(&stamp.ttl.to_be_bytes()));
}
