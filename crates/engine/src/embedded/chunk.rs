//! Rows on their way between shards: a compact buffer that one shard fills and another replays.
//!
//! ```text
//! chunk ::= (1 partition slice prefix | 2 static  base i64 BE  slice body | 3 row  slice clustering  base i64 BE  slice body | 4 end)*
//! ```

use model::key::PartitionKey;
use model::row::RowView;
use model::vint;
use store::{Flow, Position, Sink};

const PARTITION: u8 = 1;
const STATIC: u8 = 2;
const ROW: u8 = 3;
const END: u8 = 4;

/// Collects rows until it holds enough; then it stops the read and remembers where.
pub(super) struct ChunkWriter {
    bytes: Vec<u8>,
    bytes_max: usize,
    rows_left: u64,
    key: Option<PartitionKey>,
    full_at: Option<Position>,
}

impl ChunkWriter {
    pub fn new(bytes_max: usize) -> ChunkWriter {
        let bytes = Vec::with_capacity(bytes_max.min(4096));
        ChunkWriter { bytes, bytes_max, rows_left: u64::MAX, key: None, full_at: None }
    }

    /// Also ends after this many rows.
    pub fn of_rows(self, rows: u64) -> ChunkWriter {
        ChunkWriter { rows_left: rows, ..self }
    }

    /// The bytes, and the position behind the last row if the buffer was full.
    pub fn finish(self) -> (Vec<u8>, Option<Position>) {
        (self.bytes, self.full_at)
    }

    fn put_row(&mut self, row: RowView<'_>) {
        self.bytes.extend_from_slice(&row.base().to_be_bytes());
        vint::put_slice(&mut self.bytes, row.body());
    }

    fn stop_if_full(&mut self, clustering: Option<&[u8]>) -> Flow {
        if self.bytes.len() < self.bytes_max && self.rows_left > 0 {
            return Flow::Continue;
        }
        let clustering = clustering.map(<[u8]>::to_vec);
        self.full_at = self.key.clone().map(|key| Position { key, clustering });
        Flow::Stop
    }
}

impl Sink for ChunkWriter {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.bytes.push(PARTITION);
        vint::put_slice(&mut self.bytes, key.prefix());
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.bytes.push(STATIC);
        self.put_row(row);
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.bytes.push(ROW);
        self.rows_left = self.rows_left.saturating_sub(1);
        vint::put_slice(&mut self.bytes, clustering);
        self.put_row(row);
        self.stop_if_full(Some(clustering))
    }

    fn partition_end(&mut self) -> Flow {
        self.bytes.push(END);
        self.stop_if_full(None)
    }
}

/// Replays chunks into a sink, as one read, although each chunk announces its first partition again.
pub(super) struct Replay<'s> {
    sink: &'s mut dyn Sink,
    /// The partition that was announced to the sink and has not ended.
    open: Option<PartitionKey>,
    /// The sink wants no more rows of the open partition.
    skipping: bool,
}

impl<'s> Replay<'s> {
    pub fn new(sink: &'s mut dyn Sink) -> Replay<'s> {
        Replay { sink, open: None, skipping: false }
    }

    /// `false` when the sink wants nothing more. `None` when the bytes are malformed, which would be our fault.
    pub fn play(&mut self, mut bytes: &[u8]) -> Option<bool> {
        let mut resumed = false;
        while let Some((&tag, rest)) = bytes.split_first() {
            bytes = rest;
            let flow = match tag {
                PARTITION => {
                    let key = PartitionKey::from_prefix(vint::take_slice(&mut bytes)?)?;
                    resumed = self.open.as_ref() == Some(&key);
                    if resumed { Flow::Continue } else { self.begin(key) }
                }
                STATIC => {
                    let row = take_row(&mut bytes)?;
                    if resumed || self.skipping { Flow::Continue } else { self.sink.static_row(row) }
                }
                ROW => {
                    let clustering = vint::take_slice(&mut bytes)?;
                    let row = take_row(&mut bytes)?;
                    if self.skipping { Flow::Continue } else { self.sink.row(clustering, row) }
                }
                END => self.end(),
                _ => return None,
            };
            match flow {
                Flow::Continue => {}
                Flow::NextPartition => self.skipping = true,
                Flow::Stop => return Some(false),
            }
        }
        Some(true)
    }

    fn begin(&mut self, key: PartitionKey) -> Flow {
        let flow = self.sink.partition(&key);
        self.open = Some(key);
        self.skipping = false;
        flow
    }

    fn end(&mut self) -> Flow {
        self.open = None;
        self.skipping = false;
        self.sink.partition_end()
    }

    /// A chunk ended inside a partition: where the next one should begin. `None`: the sink wants nothing more.
    pub fn next_after(&mut self, full_at: Position) -> Option<Position> {
        if self.skipping && full_at.clustering.is_some() {
            let flow = self.end();
            return (flow != Flow::Stop).then_some(Position { key: full_at.key, clustering: None });
        }
        Some(full_at)
    }
}

fn take_row<'a>(bytes: &mut &'a [u8]) -> Option<RowView<'a>> {
    let (base, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(RowView::from_parts(i64::from_be_bytes(*base), vint::take_slice(bytes)?))
}
