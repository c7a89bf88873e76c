//! `partita load`: rows of files into a table, many under way at once on several connections.
//!
//! A row that cannot be read or that the server refuses is named with its file and line; the others go in. Loading the same
//! file again changes nothing, except for counters.

use super::table::{Column, Table, quoted_name};
use super::unload::{FIRST_PAUSE, TRIES};
use super::values::{from_field, from_member};
use super::{Failure, Format, Server, csv, failed};
use crate::commands::tally::Tally;
use client::column_type::data_type;
use client::{Client, Refusal, Statement};
use cql_wire::{Consistency, QueryParams, Request, Value, ValueList};
use model::json::JsonValue;
use model::types::DataType;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Rows that travel together from the reader to a connection.
const PART_ROWS: usize = 256;
/// The longest record of a file.
const RECORD_BYTES_MAX: u64 = 64 << 20;
/// Faults that are shown one by one.
const FAULTS_SHOWN: u64 = 10;

pub struct Load<'o> {
    pub server: Server<'o>,
    pub table: &'o str,
    pub from: &'o Path,
    pub format: Format,
    pub connections: usize,
    /// Nulls delete what is there instead of leaving it alone.
    pub write_nulls: bool,
    /// Read and check everything, send nothing.
    pub dry_run: bool,
}

/// A record of a file, with where it stands.
struct Record {
    at: String,
    bytes: usize,
    /// In the order of [`Plan::columns`].
    values: Vec<Given>,
}

/// What a record says of a column.
enum Given {
    Nothing,
    Null,
    Value(Vec<u8>),
}

enum News {
    Done {
        rows: u64,
        bytes: u64,
    },
    Fault(String),
    /// Nothing more can be done.
    Broken(Failure),
}

/// What a row becomes: a statement with a marker for each column, in this order.
struct Plan {
    text: String,
    columns: Vec<(Column, DataType)>,
    /// Sending a row twice does no harm.
    is_repeatable: bool,
}

impl Plan {
    fn new(client: &mut Client, table: &Table) -> Result<Plan, Failure> {
        let text = insert_or_add(table);
        let order: Vec<Column> = match table.is_counter() {
            true => table.columns.iter().filter(|c| !c.is_key()).chain(table.key()).cloned().collect(),
            false => table.columns.clone(),
        };
        let prepared = client.prepare(&text).map_err(failed)?;
        let types = prepared.bind.iter().map(|marker| data_type(&marker.column_type));
        let columns = order.into_iter().zip(types).collect();
        Ok(Plan { text, columns, is_repeatable: !table.is_counter() })
    }
}

/// The statement that writes a row: its markers are the columns, of counters first those that are added to.
pub fn insert_or_add(table: &Table) -> String {
    if table.is_counter() { counter_text(table) } else { insert_text(table) }
}

fn insert_text(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| quoted_name(&column.name)).collect();
    let markers = vec!["?"; names.len()];
    format!("INSERT INTO {} ({}) VALUES ({})", table.path(), names.join(", "), markers.join(", "))
}

/// Counters can only be added to.
fn counter_text(table: &Table) -> String {
    let named = |column: &Column| quoted_name(&column.name);
    let added: Vec<String> =
        table.columns.iter().filter(|c| !c.is_key()).map(|c| format!("{0} = {0} + ?", named(c))).collect();
    let key: Vec<String> = table.key().map(|column| format!("{} = ?", named(column))).collect();
    format!("UPDATE {} SET {} WHERE {}", table.path(), added.join(", "), key.join(" AND "))
}

impl Load<'_> {
    pub fn run(&self) -> Result<(), Failure> {
        let mut client = self.server.connect()?;
        let table = Table::find(&mut client, self.table)?;
        let plan = Plan::new(&mut client, &table)?;
        let files = files(self.from, self.format)?;
        let (news, told) = channel();
        let (sender, parts) = sync_channel::<Vec<Record>>(2 * self.connections);
        let parts = Mutex::new(parts);
        std::thread::scope(|scope| {
            for _ in 0..self.connections {
                let (news, parts, plan) = (news.clone(), &parts, &plan);
                scope.spawn(move || {
                    if let Err(failure) = self.write(plan, parts, &news) {
                        // Whoever listens has heard of another failure.
                        let _ = news.send(News::Broken(failure));
                    }
                });
            }
            let reader = news.clone();
            let plan = &plan;
            scope.spawn(move || {
                if let Err(failure) = self.read(plan, &files, sender, &reader) {
                    let _ = reader.send(News::Broken(failure));
                }
            });
            drop(news);
            self.watch(&told)
        })
    }

    fn watch(&self, told: &Receiver<News>) -> Result<(), Failure> {
        let mut tally = Tally::begin(if self.dry_run { "checked" } else { "loaded" }, "rows");
        let mut faults = 0;
        for news in told {
            match news {
                News::Done { rows, bytes } => tally.add(rows, bytes),
                News::Fault(text) => {
                    faults += 1;
                    if faults <= FAULTS_SHOWN {
                        eprintln!("{text}");
                    }
                }
                News::Broken(failure) => return Err(failure),
            }
        }
        let more = if faults > 0 { format!(", {faults} refused") } else { String::new() };
        tally.end(&more);
        match faults {
            0 => Ok(()),
            _ => Err(Failure::Failed(format!("{faults} rows were refused; the others are in the table"))),
        }
    }

    fn read(
        &self,
        plan: &Plan,
        files: &[PathBuf],
        parts: SyncSender<Vec<Record>>,
        news: &Sender<News>,
    ) -> Result<(), Failure> {
        let mut part = Vec::with_capacity(PART_ROWS);
        for path in files {
            let mut source = Source::open(path, self.format)?;
            while let Some((line, text)) = source.next()? {
                let at = format!("{}:{line}", path.display());
                let values = match source.values(plan, &text) {
                    Ok(values) => values,
                    Err(fault) => {
                        if news.send(News::Fault(format!("{at}: {fault}"))).is_err() {
                            return Ok(());
                        }
                        continue;
                    }
                };
                part.push(Record { at, bytes: text.len(), values });
                // All connections have gone: one of them has said why.
                if part.len() == PART_ROWS && parts.send(std::mem::take(&mut part)).is_err() {
                    return Ok(());
                }
            }
        }
        let _ = parts.send(part);
        Ok(())
    }

    fn write(
        &self,
        plan: &Plan,
        parts: &Mutex<Receiver<Vec<Record>>>,
        news: &Sender<News>,
    ) -> Result<(), Failure> {
        let mut client = self.server.connect()?;
        let statement = client.prepare(&plan.text).map_err(failed)?;
        loop {
            let next = parts.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(part) = next else { return Ok(()) };
            let bytes = part.iter().map(|record| record.bytes as u64).sum();
            let faults =
                if self.dry_run { Vec::new() } else { self.send(&mut client, &statement, plan, &part)? };
            let rows = (part.len() - faults.len()) as u64;
            for (at, refusal) in faults {
                let text = format!("{}: {}", part[at].at, refusal.message);
                if news.send(News::Fault(text)).is_err() {
                    return Ok(());
                }
            }
            if news.send(News::Done { rows, bytes }).is_err() {
                return Ok(());
            }
        }
    }

    fn send(
        &self,
        client: &mut Client,
        statement: &Statement,
        plan: &Plan,
        part: &[Record],
    ) -> Result<Vec<(usize, Refusal)>, Failure> {
        let lists: Vec<ValueList> = part.iter().map(|record| self.list(record)).collect();
        let all: Vec<_> = lists.iter().map(|list| (statement, list, plan.is_repeatable)).collect();
        send(client, &all)
    }

    fn list(&self, record: &Record) -> ValueList {
        let mut list = ValueList::new();
        for value in &record.values {
            list.push(match value {
                Given::Value(bytes) => Value::Bytes(bytes),
                Given::Null if self.write_nulls => Value::Null,
                Given::Null | Given::Nothing => Value::Unset,
            });
        }
        list
    }
}

/// Sends statements with their values, and whether they may be sent twice, all at once (at most [`client::REQUESTS_MAX`]). What the server
/// finds too much for now is sent again, ever later. Those that were refused, by their place.
pub fn send(
    client: &mut Client,
    all: &[(&Statement, &ValueList, bool)],
) -> Result<Vec<(usize, Refusal)>, Failure> {
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut faults = Vec::new();
    let mut pause = FIRST_PAUSE;
    for tried in 1..=TRIES {
        let level = (client.consistency, client.now_in_seconds);
        let requests: Vec<Request<'_>> =
            left.iter().map(|at| execute(all[*at].0, all[*at].1, level)).collect();
        let refused = client.send_all(&requests).map_err(failed)?;
        let again = |at: usize, refusal: &Refusal| {
            let may_repeat = all[left[at]].2 || refusal.was_not_tried();
            may_repeat && tried < TRIES && refusal.is_passing()
        };
        let (later, lost): (Vec<_>, Vec<_>) =
            refused.into_iter().partition(|(at, refusal)| again(*at, refusal));
        faults.extend(lost.into_iter().map(|(at, refusal)| (left[at], refusal)));
        left = later.into_iter().map(|(at, _)| left[at]).collect();
        if left.is_empty() {
            break;
        }
        std::thread::sleep(pause);
        pause *= 2;
    }
    faults.sort_by_key(|(at, _)| *at);
    Ok(faults)
}

fn execute<'r>(
    statement: &'r Statement,
    values: &'r ValueList,
    (level, now_in_seconds): (Consistency, Option<u32>),
) -> Request<'r> {
    let params = QueryParams { values: values.as_values(), now_in_seconds, ..QueryParams::new(level) };
    Request::Execute { id: &statement.id, result_metadata_id: Some(&statement.result_metadata_id), params }
}

/// The files under a path that have rows in this form.
fn files(path: &Path, format: Format) -> Result<Vec<PathBuf>, Failure> {
    let named = |error: io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    if path == Path::new("-") || path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(named)? {
        let path = entry.map_err(named)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending
            .is_some_and(|ending| ending == format.ending() || (format == Format::Json && ending == "jsonl"))
        {
            found.push(path);
        }
    }
    found.sort();
    match found.is_empty() {
        true => {
            Err(Failure::Failed(format!("{}: no file there ends in .{}", path.display(), format.ending())))
        }
        false => Ok(found),
    }
}

/// One file, record by record.
struct Source {
    reader: Box<dyn BufRead>,
    name: String,
    format: Format,
    /// Names of the fields of CSV.
    header: Vec<String>,
    line: u64,
}

impl Source {
    fn open(path: &Path, format: Format) -> Result<Source, Failure> {
        let name = path.display().to_string();
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::new(io::stdin()))
        } else {
            Box::new(BufReader::new(File::open(path).map_err(|e| Failure::Failed(format!("{name}: {e}")))?))
        };
        let mut source = Source { reader, name, format, header: Vec::new(), line: 0 };
        if format == Format::Csv {
            let header = source.next()?.map(|(_, text)| csv::fields(&text)).unwrap_or_default();
            source.header = header.into_iter().map(Option::unwrap_or_default).collect();
        }
        Ok(source)
    }

    /// The next record that is not empty, and the line it begins in.
    fn next(&mut self) -> Result<Option<(u64, String)>, Failure> {
        let mut record = String::new();
        let mut begins = self.line + 1;
        loop {
            let left = RECORD_BYTES_MAX.saturating_sub(record.len() as u64);
            let count = io::Read::take(&mut self.reader, left).read_line(&mut record);
            let count = count.map_err(|error| Failure::Failed(format!("{}: {error}", self.name)))?;
            self.line += 1;
            if record.len() as u64 >= RECORD_BYTES_MAX {
                return Err(Failure::Failed(format!("{}:{begins}: a record of more than 64 MiB", self.name)));
            }
            let open = self.format == Format::Csv && csv::is_open(&record);
            if open && count > 0 {
                continue;
            }
            if open {
                return Err(Failure::Failed(format!(
                    "{}:{begins}: a quote is open until the end",
                    self.name
                )));
            }
            while record.ends_with(['\n', '\r']) {
                record.pop();
            }
            if !record.is_empty() {
                return Ok(Some((begins, record)));
            }
            if count == 0 {
                return Ok(None);
            }
            begins = self.line + 1;
        }
    }

    /// The values of a record, in the order of the plan's columns.
    fn values(&self, plan: &Plan, text: &str) -> Result<Vec<Given>, String> {
        match self.format {
            Format::Csv => self.csv_values(plan, csv::fields(text)),
            Format::Json => match JsonValue::parse_exactly(text) {
                Ok(JsonValue::Object(members)) => json_values(plan, &members),
                Ok(_) => Err("not a JSON object".into()),
                Err(error) => Err(format!("not JSON: {error}")),
            },
        }
    }

    fn csv_values(&self, plan: &Plan, fields: Vec<Option<String>>) -> Result<Vec<Given>, String> {
        if fields.len() != self.header.len() {
            return Err(format!("{} fields, the header has {}", fields.len(), self.header.len()));
        }
        unknown(plan, self.header.iter().map(String::as_str))?;
        let value = |(column, kind): &(Column, DataType)| {
            let Some(place) = self.header.iter().position(|name| *name == column.name) else {
                return Ok(Given::Nothing);
            };
            match &fields[place] {
                None => Ok(Given::Null),
                Some(text) => {
                    from_field(kind, text, 0).map(Given::Value).map_err(|e| format!("{}: {e}", column.name))
                }
            }
        };
        plan.columns.iter().map(value).collect()
    }
}

fn json_values(plan: &Plan, members: &[(String, JsonValue)]) -> Result<Vec<Given>, String> {
    unknown(plan, members.iter().map(|(name, _)| name.as_str()))?;
    let value = |(column, kind): &(Column, DataType)| {
        let Some((_, member)) = members.iter().find(|(name, _)| *name == column.name) else {
            return Ok(Given::Nothing);
        };
        match from_member(kind, member, 0).map_err(|e| format!("{}: {e}", column.name))? {
            Some(bytes) => Ok(Given::Value(bytes)),
            None => Ok(Given::Null),
        }
    };
    plan.columns.iter().map(value).collect()
}

/// Refuses a name that is no column: what it holds would be lost.
fn unknown<'n>(plan: &Plan, mut names: impl Iterator<Item = &'n str>) -> Result<(), String> {
    match names.find(|name| !plan.columns.iter().any(|(column, _)| column.name == *name)) {
        Some(name) => Err(format!("the table has no column {name}")),
        None => Ok(()),
    }
}
