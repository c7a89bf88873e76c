//! Keys that must be looked at again on both clusters: a durable, bounded queue.
//!
//! A mark is in the file, synced, before the client of its write is answered; it goes when somebody has made the key equal on both
//! sides. The file is a list of lines: a key that was marked, or a number that is done. A line that was torn by a crash is the last
//! one and belongs to a write that was never acknowledged. A thread of its own writes what has gathered, so that a sync serves many.

use cluster::written::RowKey;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Marks that wait at most. Beyond, writes are refused before any cluster hears of them.
pub const MARKS_MAX: usize = 200_000;
/// A file larger than this, most of which is done, is written anew.
const REWRITE_BYTES: u64 = 16 << 20;
const FILE: &str = "marks";

/// A row or partition of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// `keyspace.table`
    pub table: Arc<str>,
    pub key: RowKey,
}

#[derive(Clone, Debug)]
struct Entry {
    place: Place,
    /// Not before this time: what was sent may still arrive.
    due_millis: i64,
    taken: bool,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Marked { n: u64, t: String, p: Vec<String>, c: Vec<String>, due: i64 },
    Done { done: u64 },
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    entries: BTreeMap<u64, Entry>,
    /// Those that nobody has taken yet.
    waiting: HashMap<Place, u64>,
    worker: String,
}

enum Order {
    /// Bytes to write; who wants to hear when they are safe.
    Write(Vec<u8>, Option<oneshot::Sender<bool>>),
}

/// See the module. Cheap to share.
pub struct Marks {
    inner: Arc<Mutex<Inner>>,
    orders: Sender<Order>,
}

/// A mark as it is given away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub number: u64,
    pub place: Place,
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Marks {
    /// Reads what an earlier run has left. `Err` with what is wrong with the file, if it is not only its last line.
    pub fn open(folder: &Path) -> Result<Marks, String> {
        let path = folder.join(FILE);
        let inner = read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let inner = Arc::new(Mutex::new(inner));
        let (orders, received) = channel();
        let mut writer = Writer { folder: folder.to_owned(), file: None, bytes: 0, inner: inner.clone() };
        // From the start without what is done and what was torn.
        writer.rewrite().map_err(|error| format!("{}: {error}", path.display()))?;
        let thread = std::thread::Builder::new().name("marks".into());
        thread.spawn(move || writer.run(&received)).map_err(|error| format!("threads: {error}"))?;
        Ok(Marks { inner, orders })
    }

    pub fn len(&self) -> usize {
        lock(&self.inner).entries.len()
    }

    pub fn is_full(&self) -> bool {
        self.len() >= MARKS_MAX
    }

    /// Adds marks; the receiver hears when all of them are safe, or that they are not.
    pub fn add(&self, places: Vec<Place>, due_millis: i64) -> oneshot::Receiver<bool> {
        let (sender, receiver) = oneshot::channel();
        let mut inner = lock(&self.inner);
        let mut lines = Vec::new();
        for place in places {
            let waiting = inner.waiting.get(&place).copied();
            if let Some(entry) = waiting.and_then(|number| inner.entries.get_mut(&number)) {
                entry.due_millis = entry.due_millis.max(due_millis);
                continue;
            }
            let number = inner.next;
            inner.next += 1;
            put_marked(&mut lines, number, &place, due_millis);
            inner.waiting.insert(place.clone(), number);
            inner.entries.insert(number, Entry { place, due_millis, taken: false });
        }
        // Even without a line of its own it waits for the line of another, which may not be safe yet. Sent under the lock, so
        // that the file is never written anew without it.
        let _ = self.orders.send(Order::Write(lines, Some(sender)));
        receiver
    }

    /// Gives away what is due. Another worker than before gets what the one before has taken, too.
    pub fn take(&self, worker: &str, max: usize, now_millis: i64) -> Vec<Taken> {
        let mut inner = lock(&self.inner);
        if inner.worker != worker {
            inner.worker = worker.to_string();
            inner.entries.values_mut().for_each(|entry| entry.taken = false);
        }
        let due = inner.entries.iter().filter(|(_, entry)| !entry.taken && entry.due_millis <= now_millis);
        let taken: Vec<Taken> = due
            .take(max)
            .map(|(number, entry)| Taken { number: *number, place: entry.place.clone() })
            .collect();
        for Taken { number, place } in &taken {
            if let Some(entry) = inner.entries.get_mut(number) {
                entry.taken = true;
            }
            // Who writes the key from now on marks it again.
            if inner.waiting.get(place) == Some(number) {
                inner.waiting.remove(place);
            }
        }
        taken
    }

    /// Both sides were made equal, after the marks were taken.
    pub fn done(&self, numbers: &[u64]) {
        let mut inner = lock(&self.inner);
        let mut lines = Vec::new();
        for number in numbers {
            if let Some(entry) = inner.entries.remove(number) {
                if inner.waiting.get(&entry.place) == Some(number) {
                    inner.waiting.remove(&entry.place);
                }
                put_line(&mut lines, &Line::Done { done: *number });
            }
        }
        // Lost, they are only looked at once more.
        let _ = self.orders.send(Order::Write(lines, None));
    }

    /// They could not be made equal yet.
    pub fn again(&self, numbers: &[u64], due_millis: i64) {
        let mut inner = lock(&self.inner);
        for number in numbers {
            if let Some(entry) = inner.entries.get_mut(number) {
                (entry.taken, entry.due_millis) = (false, due_millis);
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What [`hex`] wrote.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The two halves of a key as texts.
pub fn texts(key: &RowKey) -> (Vec<String>, Vec<String>) {
    let all = |parts: &[Vec<u8>]| parts.iter().map(|part| hex(part)).collect();
    (all(&key.partition), all(&key.clustering))
}

fn put_marked(out: &mut Vec<u8>, n: u64, place: &Place, due: i64) {
    let (p, c) = texts(&place.key);
    put_line(out, &Line::Marked { n, t: place.table.to_string(), p, c, due });
}

fn put_line(out: &mut Vec<u8>, line: &Line) {
    // Plain data does not fail.
    if serde_json::to_writer(&mut *out, line).is_ok() {
        out.push(b'\n');
    }
}

fn read(path: &Path) -> Result<Inner, String> {
    let mut inner = Inner::default();
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(inner),
        file => file.map_err(|error| error.to_string())?,
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(|error| error.to_string())? == 0 {
            break;
        }
        // What does not end was never told to anybody as safe.
        if line.last() != Some(&b'\n') {
            break;
        }
        let damaged = || format!("line {number} is damaged");
        match serde_json::from_slice(&line).map_err(|_| damaged())? {
            Line::Done { done } => {
                inner.entries.remove(&done);
            }
            Line::Marked { n, t, p, c, due } => {
                let all = |texts: &[String]| texts.iter().map(|text| unhex(text)).collect::<Option<Vec<_>>>();
                let (Some(partition), Some(clustering)) = (all(&p), all(&c)) else { return Err(damaged()) };
                let place = Place { table: t.into(), key: RowKey { partition, clustering } };
                inner.entries.insert(n, Entry { place, due_millis: due, taken: false });
                inner.next = inner.next.max(n + 1);
            }
        }
    }
    let waiting = inner.entries.iter().map(|(number, entry)| (entry.place.clone(), *number)).collect();
    inner.waiting = waiting;
    Ok(inner)
}

struct Writer {
    folder: PathBuf,
    file: Option<File>,
    bytes: u64,
    inner: Arc<Mutex<Inner>>,
}

impl Writer {
    fn run(mut self, orders: &Receiver<Order>) {
        while let Ok(Order::Write(mut bytes, first)) = orders.recv() {
            let mut hearers: Vec<_> = first.into_iter().collect();
            while let Ok(Order::Write(more, hearer)) = orders.try_recv() {
                bytes.extend_from_slice(&more);
                hearers.extend(hearer);
            }
            let written = self.write(&bytes, !hearers.is_empty());
            if let Err(error) = &written {
                tracing::error!(%error, "marks cannot be written; writes are not acknowledged until they can");
                // What is in the file now is not known: the next attempt writes it from the beginning.
                self.file = None;
            }
            for hearer in hearers {
                // Whose client has gone does not listen.
                let _ = hearer.send(written.is_ok());
            }
        }
    }

    fn write(&mut self, bytes: &[u8], sync: bool) -> io::Result<()> {
        let Some(file) = &mut self.file else { return self.rewrite() };
        file.write_all(bytes)?;
        if sync {
            file.sync_data()?;
        }
        self.bytes += bytes.len() as u64;
        if self.bytes > REWRITE_BYTES { self.rewrite() } else { Ok(()) }
    }

    /// A new file with what is not done. Everything that was ordered before is in it, since orders are given under the lock.
    fn rewrite(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        {
            let inner = lock(&self.inner);
            inner
                .entries
                .iter()
                .for_each(|(number, entry)| put_marked(&mut bytes, *number, &entry.place, entry.due_millis));
        }
        let (path, beside) = (self.folder.join(FILE), self.folder.join("marks.new"));
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&beside)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)?;
        File::open(&self.folder)?.sync_all()?;
        (self.file, self.bytes) = (Some(file), bytes.len() as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(k: u8) -> Place {
        Place {
            table: "app.t".into(),
            key: RowKey { partition: vec![vec![0, k]], clustering: vec![vec![k]] },
        }
    }

    fn add(marks: &Marks, places: &[u8]) {
        assert!(marks.add(places.iter().map(|k| place(*k)).collect(), 0).blocking_recv().unwrap());
    }

    #[test]
    fn marks_survive_and_go_when_they_are_done() {
        let dir = tempfile::tempdir().unwrap();
        let marks = Marks::open(dir.path()).unwrap();
        add(&marks, &[1, 2]);
        add(&marks, &[2, 3]);
        assert_eq!(marks.len(), 3, "the same key waits once");
        let taken = marks.take("a", 2, 0);
        assert_eq!(taken.iter().map(|taken| taken.place.clone()).collect::<Vec<_>>(), [place(1), place(2)]);
        // Written again while it is being looked at: that is a mark of its own.
        add(&marks, &[1]);
        marks.done(&[taken[0].number]);
        assert_eq!(marks.len(), 3);
        assert_eq!(marks.take("a", 9, 0).len(), 2, "not what is taken already");
        marks.again(&[taken[1].number], 50);
        assert!(marks.take("a", 9, 49).is_empty(), "not before its time");
        assert_eq!(marks.take("a", 9, 50).len(), 1);
        assert_eq!(marks.take("b", 9, 50).len(), 3, "the worker before is gone");
        // As after kill -9: nothing was closed.
        add(&marks, &[]);
        let again = Marks::open(dir.path()).unwrap();
        let mut left: Vec<Place> = again.take("c", 9, 50).into_iter().map(|taken| taken.place).collect();
        left.sort_by(|a, b| a.key.cmp(&b.key));
        assert_eq!(left, [place(1), place(2), place(3)]);
    }

    #[test]
    fn a_torn_line_is_nobodys_and_a_damaged_one_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let marks = Marks::open(dir.path()).unwrap();
        add(&marks, &[1]);
        let path = dir.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        for torn in 1..whole.len() {
            std::fs::write(&path, [&whole[..], &whole[..torn]].concat()).unwrap();
            assert_eq!(Marks::open(dir.path()).unwrap().len(), 1);
        }
        std::fs::write(&path, [b"x\n", &whole[..]].concat()).unwrap();
        assert!(Marks::open(dir.path()).err().unwrap().ends_with("line 1 is damaged"));
    }
}
