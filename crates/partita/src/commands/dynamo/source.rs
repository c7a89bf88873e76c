//! The files of an import: which they are, and their items one by one.

use super::{Failure, Format, csv};
use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line: an item of 400 KB in its longest form.
const LINE_BYTES_MAX: u64 = 4 << 20;
const DEPTH_MAX: usize = 32;

/// The files with items under a path, by name.
pub fn files(path: &Path, format: Format) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    if fs::metadata(path).map_err(failed)?.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let ending = match format {
        Format::DynamodbJson => ".json",
        Format::Csv => ".csv",
    };
    let mut found = Vec::new();
    walk(path, ending, 0, &mut found).map_err(failed)?;
    found.sort();
    if found.is_empty() {
        let path = path.display();
        return Err(Failure::Failed(format!("{path}: no file there ends in {ending} or {ending}.gz")));
    }
    Ok(found)
}

fn walk(folder: &Path, ending: &str, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other("folders are nested too deeply"));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            walk(&path, ending, depth + 1, found)?;
        } else if kind.is_file()
            && name.trim_end_matches(".gz").ends_with(ending)
            && !name.starts_with("manifest-")
            && name != "table.json"
        {
            found.push(path);
        }
    }
    Ok(())
}

/// The definition that an export left beside its files.
pub fn definition(path: &Path) -> Option<PathBuf> {
    let mut folders = vec![(path.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let here = folder.join("table.json");
        if here.is_file() {
            return Some(here);
        }
        if depth < 3 {
            let inside = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
            folders.extend(inside.filter(|path| path.is_dir()).map(|path| (path, depth + 1)));
        }
    }
    None
}

/// One file, item by item.
pub struct Source<'t> {
    reader: BufReader<Box<dyn Read>>,
    format: Format,
    header: Option<Vec<String>>,
    /// Types of keys, by name.
    types: &'t Map<String, Value>,
    pub line: u64,
}

impl<'t> Source<'t> {
    pub fn open(path: &Path, format: Format, types: &'t Map<String, Value>) -> io::Result<Source<'t>> {
        let file = File::open(path)?;
        let packed = path.extension().is_some_and(|ending| ending == "gz");
        let reader: Box<dyn Read> = if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        Ok(Source { reader: BufReader::new(reader), format, header: None, types, line: 0 })
    }

    /// The next record; empty lines are passed over.
    fn record(&mut self) -> io::Result<Option<String>> {
        let mut record = String::new();
        loop {
            let before = record.len();
            let read = (&mut self.reader).take(LINE_BYTES_MAX).read_line(&mut record)?;
            if read == 0 && record.trim().is_empty() {
                return Ok(None);
            }
            self.line += 1;
            if record.len() as u64 >= LINE_BYTES_MAX {
                return Err(io::Error::other("a line is longer than any item can be"));
            }
            if read > 0 && self.format == Format::Csv && csv::is_open(&record) {
                continue;
            }
            if record[before..].trim().is_empty() && read > 0 {
                record.clear();
                continue;
            }
            record.truncate(record.trim_end_matches(['\n', '\r']).len());
            return Ok(Some(record));
        }
    }

    /// The next item with the bytes of its record, or what is wrong with it; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<(Result<Value, String>, usize)>> {
        loop {
            let Some(record) = self.record()? else { return Ok(None) };
            if self.format == Format::DynamodbJson {
                return Ok(Some((item_of(&record), record.len())));
            }
            match &self.header {
                None => self.header = Some(csv::fields(&record)),
                Some(header) => return Ok(Some((Ok(csv::item(header, &record, self.types)), record.len()))),
            }
        }
    }
}

/// `{"Item": {...}}` as the service writes it, or the item alone.
fn item_of(record: &str) -> Result<Value, String> {
    let mut value: Value = serde_json::from_str(record).map_err(|error| error.to_string())?;
    let wrapped = value.as_object().is_some_and(|object| object.len() == 1 && object["Item"].is_object());
    let item = if wrapped { value["Item"].take() } else { value };
    match item.is_object() {
        true => Ok(item),
        false => Err("the line is not an item".into()),
    }
}
