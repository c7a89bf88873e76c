//! What a history reads, in pages, and how two answers are compared.

use super::{ANY_TIME, COUNTERS, PURGED, World};
use crate::harness::partition;
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowView};
use store::{Flow, Partitions, Position, Read, ReadEnd, Sink, Slice, Store};

impl World {
    fn random_read(&mut self) -> Read {
        let partitions = match self.random.below(4) {
            0 => {
                self.count("read of all partitions");
                Partitions::all()
            }
            1 => {
                self.count("read of some partitions");
                let (a, b) = (partition(&self.key()), partition(&self.key()));
                Partitions::Range { start: a.prefix().to_vec(), end: b.prefix().to_vec() }
            }
            _ => {
                self.count("read of one partition");
                Partitions::One(partition(&self.key()))
            }
        };
        let mut bounds: Vec<Vec<u8>> = (0..2 * self.random.below(4)).map(|_| self.bound()).collect();
        bounds.sort();
        bounds.dedup();
        let slices = match bounds.len() {
            0 => vec![Slice::all()],
            _ => {
                self.count("read of slices");
                let slice = |b: &[Vec<u8>]| Slice { start: b[0].clone(), end: b[1].clone() };
                bounds.chunks_exact(2).map(slice).collect()
            }
        };
        let reverse = self.random.one_in(2);
        if reverse {
            self.count("read backwards");
        }
        Read {
            reverse,
            statics: self.random.one_in(2),
            scan_limit: if self.random.one_in(2) { u64::MAX } else { 1 + self.random.below(20) },
            ..Read::of(
                [ANY_TIME, COUNTERS, PURGED][self.random.below(3) as usize],
                partitions,
                slices,
                self.now_seconds(),
            )
        }
    }

    pub(super) async fn compare_read(&mut self) {
        self.count("read");
        let read = self.random_read();
        let page = if self.random.one_in(2) { usize::MAX } else { 1 + self.random.below(7) as usize };
        if page != usize::MAX {
            self.count("read in pages");
        }
        let ours = self.read_pages(read.clone(), page).await;
        let whole = Read { scan_limit: u64::MAX, ..read.clone() };
        let mut theirs = Page { now_seconds: read.now_seconds, left: usize::MAX, ..Page::default() };
        self.naive.read(&whole, &mut theirs).await.unwrap();
        if ours != theirs.lines {
            let text = |lines: &[Line]| lines.iter().map(Line::text).collect::<Vec<_>>();
            let (ours, theirs) = (text(&ours), text(&theirs.lines));
            panic!("{read:#?} in pages of {page}:\nengine {ours:#?}\nnaive {theirs:#?}");
        }
    }

    /// However often the store pauses: without a limit the engine never does.
    pub(super) async fn read_to_its_end(&mut self, mut read: Read, sink: &mut dyn Sink) {
        loop {
            match self.store().read(&read, sink).await.unwrap().end {
                ReadEnd::Complete => return,
                ReadEnd::Paused(position) if self.remote.is_some() => read.after = Some(position),
                end => panic!("{end:?}"),
            }
        }
    }

    /// Reads everything in pages. Between pages the engine may flush, compact or be restarted: nothing is
    /// written meanwhile, so the answer must not change.
    async fn read_pages(&mut self, mut read: Read, page: usize) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        loop {
            let mut sink = Page { now_seconds: read.now_seconds, left: page, ..Page::default() };
            let end = self.store().read(&read, &mut sink).await.unwrap().end;
            for line in sink.lines {
                // A page begins with its partition's static row, which the page before may have had too.
                if !line.is_static || !lines.contains(&line) {
                    lines.push(line);
                }
            }
            read.after = match end {
                ReadEnd::Complete => return lines,
                ReadEnd::Paused(position) => Some(position),
                ReadEnd::Stopped => sink.last,
            };
            match self.random.below(400) {
                0..=3 => {
                    if let Some(harness) = &self.harness {
                        harness.engine.flush().await;
                        self.count("flush between pages");
                    }
                }
                4..=7 => self.background().await,
                8 if self.harness.is_some() => {
                    self.count("restart between pages");
                    self.reopen().await;
                }
                _ => {}
            }
        }
    }
}

/// What a client can see of a row, in a form that depends on nothing else.
#[derive(PartialEq, Eq)]
struct Line {
    is_static: bool,
    bytes: Vec<u8>,
    key_len: usize,
}

impl Line {
    fn text(&self) -> String {
        let (key, rest) = self.bytes.split_at(self.key_len);
        let kind = if self.is_static { "static" } else { "row" };
        format!("{} {kind} {}", String::from_utf8_lossy(key), rest.escape_ascii())
    }
}

#[derive(Default)]
struct Page {
    lines: Vec<Line>,
    key: Option<PartitionKey>,
    last: Option<Position>,
    left: usize,
    now_seconds: u32,
}

impl Page {
    fn push(&mut self, clustering: Option<&[u8]>, row: RowView<'_>) {
        let key = self.key.as_ref().map_or(&[][..], |key| key.bytes());
        let (mut bytes, key_len) = (key.to_vec(), key.len());
        put(&mut bytes, clustering.unwrap_or_default());
        if let Some(marker) = row.marker().filter(|marker| marker.is_live(self.now_seconds)) {
            bytes.push(b'm');
            bytes.extend_from_slice(&marker.timestamp.to_be_bytes());
            bytes.extend_from_slice(&marker.ttl.to_be_bytes());
            bytes.extend_from_slice(&marker.expiry.to_be_bytes());
        }
        for cell in row.cells() {
            self.put_cell(&mut bytes, &cell);
        }
        self.lines.push(Line { is_static: clustering.is_none(), bytes, key_len });
    }

    fn put_cell(&self, bytes: &mut Vec<u8>, cell: &Cell<'_>) {
        let Some(value) = cell.live_value(self.now_seconds) else { return };
        bytes.push(b'c');
        bytes.extend_from_slice(&cell.column.to_be_bytes());
        bytes.extend_from_slice(&cell.timestamp.to_be_bytes());
        if let CellState::Expiring { ttl, expiry, .. } = cell.state {
            bytes.extend_from_slice(&ttl.to_be_bytes());
            bytes.extend_from_slice(&expiry.to_be_bytes());
        }
        bytes.push(u8::from(cell.path.is_some()));
        put(bytes, cell.path.unwrap_or_default());
        put(bytes, value);
    }
}

fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&(part.len() as u32).to_be_bytes());
    bytes.extend_from_slice(part);
}

impl Sink for Page {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.push(None, row);
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.push(Some(clustering), row);
        self.left -= 1;
        if self.left > 0 {
            return Flow::Continue;
        }
        self.last = self.key.clone().map(|key| Position { key, clustering: Some(clustering.to_vec()) });
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
