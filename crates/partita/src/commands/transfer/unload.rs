//! `partita unload`: the rows of a table into files, read by token ranges on several connections.

use super::ranges::Ranges;
use super::table::{Table, quoted_name};
use super::values::{field, put_member, put_string};
use super::{Failure, Format, Server, csv, failed};
use crate::commands::tally::Tally;
use client::column_type::data_type;
use client::{Client, Statement};
use model::types::DataType;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Rows of a page: a few hundred kilobytes of ordinary rows.
const PAGE_ROWS: u32 = 2000;
/// A read that finds the server busy is tried again so often, each time later.
pub const TRIES: u32 = 6;
pub const FIRST_PAUSE: Duration = Duration::from_millis(100);

pub struct Unload<'o> {
    pub server: Server<'o>,
    pub table: &'o str,
    pub columns: Option<&'o str>,
    pub to: &'o Path,
    pub format: Format,
    pub connections: usize,
}

/// Rows of a page, written out.
struct Done {
    rows: u64,
    bytes: u64,
}

impl Unload<'_> {
    pub fn run(&self) -> Result<(), Failure> {
        let mut client = self.server.connect()?;
        let table = Table::find(&mut client, self.table)?;
        let text = self.statement(&table);
        // Before any file is made: whether the statement can be read, and what it gives.
        let prepared = client.prepare(&text).map_err(failed)?;
        let outputs = Outputs::open(self.to, &table, self.format, &prepared)?;
        let ranges = Ranges::for_connections(self.connections);
        let (told, news) = channel::<Result<Done, Failure>>();
        let mut tally = Tally::begin("unloaded", "rows");
        let outcome = std::thread::scope(|scope| {
            for lane in 0..self.connections {
                let (told, text, outputs, ranges) = (told.clone(), &text, &outputs, &ranges);
                scope.spawn(move || {
                    if let Err(failure) = self.read(lane, text, outputs, ranges, &told) {
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
            outputs.finish()
        });
        outcome?;
        if outputs.to_people() {
            tally.end(&format!(", to {}", self.to.display()));
        }
        Ok(())
    }

    fn statement(&self, table: &Table) -> String {
        let all =
            || table.columns.iter().map(|column| quoted_name(&column.name)).collect::<Vec<_>>().join(", ");
        let columns = self.columns.map_or_else(all, str::to_string);
        let (path, token) = (table.path(), table.token());
        format!("SELECT {columns} FROM {path} WHERE {token} > ? AND {token} <= ?")
    }

    fn read(
        &self,
        lane: usize,
        text: &str,
        outputs: &Outputs,
        ranges: &Ranges,
        told: &Sender<Result<Done, Failure>>,
    ) -> Result<(), Failure> {
        let mut client = self.server.connect()?;
        let statement = client.prepare(text).map_err(failed)?;
        let types: Vec<DataType> = statement.result.iter().map(|c| data_type(&c.column_type)).collect();
        let names: Vec<String> = statement.result.iter().map(|c| c.name.to_string()).collect();
        while let Some(range) = ranges.take() {
            let bounds = [range.after.to_be_bytes(), range.until.to_be_bytes()];
            let mut state: Option<Vec<u8>> = None;
            loop {
                let values = [Some(&bounds[0][..]), Some(&bounds[1][..])];
                let mut page = Vec::new();
                let place = (PAGE_ROWS, state.as_deref());
                let (rows, next) = page_of(&mut client, &statement, &values, place, |cells| {
                    page.clear();
                    for row in cells.chunks(types.len().max(1)) {
                        put_row(&mut page, self.format, &names, &types, row);
                    }
                    cells.len() / types.len().max(1)
                })?;
                outputs.write(lane, &page)?;
                let done = Done { rows: rows as u64, bytes: page.len() as u64 };
                if told.send(Ok(done)).is_err() {
                    return Ok(());
                }
                match next {
                    Some(next) => state = Some(next),
                    None => break,
                }
            }
        }
        Ok(())
    }
}

/// One page, tried again while the server is busy.
pub fn page_of<T>(
    client: &mut Client,
    statement: &Statement,
    values: &[Option<&[u8]>],
    place: (u32, Option<&[u8]>),
    mut read: impl FnMut(&[Option<&[u8]>]) -> T,
) -> Result<(T, Option<Vec<u8>>), Failure> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        let outcome =
            client.page(statement, values, place, |rows| read(&rows.iter_cells().collect::<Vec<_>>()));
        match outcome.map_err(failed)? {
            Ok(page) => return Ok(page),
            Err(refusal) if refusal.is_passing() => std::thread::sleep(pause),
            Err(refusal) => return Err(Failure::Failed(refusal.message)),
        }
        pause *= 2;
    }
    let outcome = client.page(statement, values, place, |rows| read(&rows.iter_cells().collect::<Vec<_>>()));
    outcome.map_err(failed)?.map_err(|refusal| Failure::Failed(refusal.message))
}

fn put_row(out: &mut Vec<u8>, format: Format, names: &[String], types: &[DataType], row: &[Option<&[u8]>]) {
    match format {
        Format::Csv => {
            let fields: Vec<Option<String>> =
                types.iter().zip(row).map(|(kind, cell)| cell.map(|bytes| field(kind, bytes))).collect();
            csv::put(out, fields.iter().map(Option::as_deref));
        }
        Format::Json => {
            let mut text = String::from("{");
            for (place, ((name, kind), cell)) in names.iter().zip(types).zip(row).enumerate() {
                if place > 0 {
                    text.push(',');
                }
                put_string(&mut text, name);
                text.push(':');
                match cell {
                    Some(bytes) => put_member(&mut text, kind, bytes),
                    None => text.push_str("null"),
                }
            }
            text.push_str("}\n");
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Where rows go: standard output, one file, or a file for each connection in a folder.
enum Outputs {
    One {
        out: Mutex<Box<dyn Write + Send>>,
        is_stdout: bool,
    },
    Folder {
        folder: PathBuf,
        name: String,
        format: Format,
        header: Vec<u8>,
        files: Vec<Mutex<Option<BufWriter<File>>>>,
    },
}

/// Connections have numbers below this.
const LANES_MAX: usize = 64;

impl Outputs {
    fn open(to: &Path, table: &Table, format: Format, statement: &Statement) -> Result<Outputs, Failure> {
        let mut header = Vec::new();
        if format == Format::Csv {
            csv::put(&mut header, statement.result.iter().map(|column| Some(&*column.name)));
        }
        let is_file = to.extension().is_some();
        let named = |error: io::Error| Failure::Failed(format!("{}: {error}", to.display()));
        if to == Path::new("-") || is_file {
            let is_stdout = !is_file;
            let mut out: Box<dyn Write + Send> = match is_stdout {
                true => Box::new(BufWriter::new(io::stdout())),
                // Nobody's file is overwritten.
                false => Box::new(BufWriter::new(File::create_new(to).map_err(named)?)),
            };
            out.write_all(&header).map_err(named)?;
            return Ok(Outputs::One { out: Mutex::new(out), is_stdout });
        }
        fs::create_dir_all(to).map_err(named)?;
        if fs::read_dir(to).map_err(named)?.next().is_some() {
            return Err(Failure::Failed(format!(
                "{}: the folder is not empty; name a new one",
                to.display()
            )));
        }
        let name = format!("{}.{}", table.keyspace, table.name).replace(['/', '\0'], "_");
        let files = (0..LANES_MAX).map(|_| Mutex::new(None)).collect();
        Ok(Outputs::Folder { folder: to.to_path_buf(), name, format, header, files })
    }

    fn to_people(&self) -> bool {
        !matches!(self, Outputs::One { is_stdout: true, .. })
    }

    fn write(&self, lane: usize, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        let failed = |error: io::Error| Failure::Failed(format!("writing rows: {error}"));
        match self {
            Outputs::One { out, .. } => lock(out).write_all(bytes).map_err(failed),
            Outputs::Folder { folder, name, format, header, files } => {
                let mut file = lock(&files[lane % LANES_MAX]);
                if file.is_none() {
                    let path = folder.join(format!("{name}-{:03}.{}", lane + 1, format.ending()));
                    let mut made = BufWriter::new(File::create_new(path).map_err(failed)?);
                    made.write_all(header).map_err(failed)?;
                    *file = Some(made);
                }
                file.as_mut().map_or(Ok(()), |file| file.write_all(bytes)).map_err(failed)
            }
        }
    }

    /// Everything is in the files, or said to be not.
    fn finish(&self) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::Failed(format!("writing rows: {error}"));
        match self {
            Outputs::One { out, .. } => lock(out).flush().map_err(failed),
            Outputs::Folder { files, .. } => {
                let mut each = files.iter().filter_map(|file| lock(file).take());
                each.try_for_each(|file| file.into_inner().map_err(|e| e.into_error())?.sync_all())
                    .map_err(failed)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
