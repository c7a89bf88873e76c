//! Writing a table file, in one pass over entries in storage order.
//!
//! Memory is bounded: a block, an index block, a filter page and a write buffer are held, besides the
//! top of the index. Nothing is published here: until `finish` returned and the caller made the name
//! durable, the file does not count. A writer that is dropped leaves a file for the caller to remove.

use super::block_builder::BlockBuilder;
use super::file::{VERSION_PACKED, VERSION_PLAIN, footer, header};
use super::filter::{FilterBuilder, FilterPage};
use super::frame::{FrameAt, FrameEncoder};
use super::properties::{IndexTop, Properties};
use super::{filter, row_filter};
use crate::cursor::Entry;
use crate::statistics::{Collector, Floor, Statistics};
use model::key::{KIND_END, KIND_ROW};
use model::vint;
use rt::{Disk, DiskFile};
use std::io;
use std::path::Path;
use std::sync::Arc;
use store::{Compression, TableConfig, TableId};

/// Entries are collected to blocks of about this size before compression: larger ones compress better,
/// smaller ones cost less to read when they are not cached.
pub const BLOCK_BYTES: usize = 16 << 10;
/// Written to the file in pieces of about this size.
const WRITE_BYTES: usize = 256 << 10;

#[derive(Clone, Debug)]
pub struct WriterOptions {
    pub table: TableId,
    pub incarnation: u32,
    pub compression: Compression,
    /// [`BLOCK_BYTES`] unless a test wants small blocks.
    pub block_bytes: usize,
    /// First and last log segment the data comes from.
    pub log_segments: Option<(u64, u64)>,
    /// From where on the ledger names a partition; `None`: no ledger, as files once were.
    pub floor: Option<Floor>,
}

impl WriterOptions {
    pub fn new(config: &TableConfig) -> WriterOptions {
        WriterOptions {
            table: config.id,
            incarnation: config.incarnation,
            compression: config.compression,
            block_bytes: BLOCK_BYTES,
            log_segments: None,
            floor: Some(Floor::for_limit(config.limit.as_ref())),
        }
    }
}

/// What `finish` leaves.
#[derive(Clone, Debug)]
pub struct Finished {
    pub bytes: u64,
    pub statistics: Statistics,
}

pub struct TableWriter {
    options: WriterOptions,
    out: Output,
    version: u8,
    data: BlockBuilder,
    index: IndexBuilder,
    partition_filter: FilterBuilder,
    special_filter: FilterBuilder,
    statistics: Collector,
    /// The partition of the last entry.
    prefix: Vec<u8>,
    /// The partition that the next entry begins, if it does.
    pending: Option<Vec<u8>>,
    in_special_filter: bool,
    first_prefix: Vec<u8>,
    /// A finished data block that waits for the next key: that decides its separator.
    waiting: Option<Waiting>,
    /// Of the entries of the block under construction, for its row filter.
    row_hashes: Vec<u64>,
    prefix_hash: u64,
    raw_bytes: u64,
}

/// A data block without its index entry.
struct Waiting {
    at: FrameAt,
    last_position: Vec<u8>,
    row_filter: Vec<u8>,
}

/// The file, the write buffer and the frame encoder.
struct Output {
    file: Arc<dyn DiskFile>,
    encoder: FrameEncoder,
    buffer: Vec<u8>,
    /// Offset of the start of `buffer`.
    flushed: u64,
}

impl Output {
    fn offset(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    fn frame(&mut self, raw: &[u8]) -> io::Result<FrameAt> {
        let offset = self.offset();
        let frame = self.encoder.encode(raw, offset);
        let at = FrameAt { offset, len: frame.len() as u32 };
        self.buffer.extend_from_slice(frame);
        if self.buffer.len() >= WRITE_BYTES {
            self.flush()?;
        }
        Ok(at)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(self.flushed, &self.buffer)?;
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Index blocks and the list of them.
#[derive(Default)]
struct IndexBuilder {
    block: BlockBuilder,
    prefix: Vec<u8>,
    scratch: Vec<u8>,
    top: Vec<IndexTop>,
}

impl IndexBuilder {
    /// Names a data block; nothing in it lies behind (`prefix`, `position`).
    fn add(
        &mut self,
        out: &mut Output,
        prefix: &[u8],
        position: &[u8],
        waiting: &Waiting,
        target: usize,
    ) -> io::Result<()> {
        if self.block.is_empty() || self.prefix != prefix {
            self.block.begin_partition(prefix);
            self.prefix.clear();
            self.prefix.extend_from_slice(prefix);
        }
        self.scratch.clear();
        vint::put(&mut self.scratch, waiting.at.offset);
        vint::put(&mut self.scratch, u64::from(waiting.at.len));
        self.scratch.extend_from_slice(&waiting.row_filter);
        self.block.add(Entry { position, timestamp: 0, rest: &self.scratch });
        if self.block.is_full(target) { self.cut(out) } else { Ok(()) }
    }

    fn cut(&mut self, out: &mut Output) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let position = self.block.last_position().to_vec();
        let at = out.frame(self.block.finish())?;
        self.top.push(IndexTop { prefix: self.prefix.clone(), position, at });
        Ok(())
    }
}

impl TableWriter {
    /// Creates the file, which must not exist.
    pub fn create(disk: &dyn Disk, path: &Path, options: WriterOptions) -> io::Result<TableWriter> {
        let encoder = FrameEncoder::new(options.compression);
        // Without compression files stay as they always were: nothing to unpack.
        let packed = options.compression != Compression::None;
        let version = if packed { VERSION_PACKED } else { VERSION_PLAIN };
        let data = if packed { BlockBuilder::packed() } else { BlockBuilder::default() };
        let buffer = header(version).to_vec();
        let floor = options.floor;
        let out = Output { file: disk.create(path)?, encoder, buffer, flushed: 0 };
        Ok(TableWriter {
            options,
            out,
            version,
            data,
            index: IndexBuilder::default(),
            partition_filter: FilterBuilder::default(),
            special_filter: FilterBuilder::default(),
            statistics: Collector::new(floor),
            prefix: Vec::new(),
            pending: None,
            in_special_filter: false,
            first_prefix: Vec::new(),
            waiting: None,
            row_hashes: Vec::new(),
            prefix_hash: 0,
            raw_bytes: 0,
        })
    }

    /// The entries that follow belong to this partition; it must sort behind the one before. A
    /// partition without entries leaves no trace.
    pub fn begin_partition(&mut self, prefix: &[u8]) {
        debug_assert!(self.prefix.as_slice() < prefix, "partitions out of order");
        let mut pending = self.pending.take().unwrap_or_default();
        pending.clear();
        pending.extend_from_slice(prefix);
        self.pending = Some(pending);
    }

    /// Adds the next entry of the partition.
    pub fn add(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.place_waiting_block()?;
        if let Some(prefix) = self.pending.take() {
            self.prefix = prefix;
            self.note_partition()?;
        } else if self.data.is_empty() {
            self.data.begin_partition(&self.prefix);
        }
        if !std::mem::replace(&mut self.in_special_filter, true) {
            if entry.kind() < KIND_ROW {
                let page = self.special_filter.add(&self.prefix);
                write_page(&mut self.out, &mut self.special_filter, page)?;
            } else {
                self.in_special_filter = false;
            }
        }
        self.statistics.add(entry);
        self.raw_bytes += (entry.position.len() + entry.rest.len()) as u64;
        if self.version == VERSION_PACKED {
            self.row_hashes.push(row_filter::hash_of(self.prefix_hash, entry.position));
        }
        self.data.add(entry);
        if self.data.is_full(self.options.block_bytes) { self.cut_block() } else { Ok(()) }
    }

    fn note_partition(&mut self) -> io::Result<()> {
        self.data.begin_partition(&self.prefix);
        self.prefix_hash = filter::hash_of(&self.prefix);
        self.statistics.begin_partition(&self.prefix);
        self.in_special_filter = false;
        if self.first_prefix.is_empty() {
            self.first_prefix.clone_from(&self.prefix);
        }
        let page = self.partition_filter.add(&self.prefix);
        write_page(&mut self.out, &mut self.partition_filter, page)
    }

    fn cut_block(&mut self) -> io::Result<()> {
        let last_position = self.data.last_position().to_vec();
        let mut filter = Vec::new();
        row_filter::put(&mut filter, &self.row_hashes, self.data.partitions());
        self.row_hashes.clear();
        let at = self.out.frame(self.data.finish())?;
        self.waiting = Some(Waiting { at, last_position, row_filter: filter });
        Ok(())
    }

    /// Names the block before: up to its last key, or, when its last partition has ended, up to the end
    /// of that partition, so that reading the partition backwards starts in the right block.
    fn place_waiting_block(&mut self) -> io::Result<()> {
        let Some(waiting) = self.waiting.take() else { return Ok(()) };
        let target = self.options.block_bytes;
        let position = if self.pending.is_some() { &[KIND_END][..] } else { &waiting.last_position };
        self.index.add(&mut self.out, &self.prefix, position, &waiting, target)
    }

    /// Bytes of the file so far (the block under construction counts uncompressed).
    pub fn bytes(&self) -> u64 {
        self.out.offset() + self.data.bytes() as u64
    }

    /// Bytes of positions and payloads added: what a throttle counts.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.first_prefix.is_empty()
    }

    /// Completes the file and makes its bytes durable (not its name). At least one entry was added.
    pub fn finish(mut self) -> io::Result<Finished> {
        if self.is_empty() {
            return Err(io::Error::other("a table file without entries"));
        }
        if !self.data.is_empty() {
            self.cut_block()?;
        }
        self.pending = Some(Vec::new());
        self.place_waiting_block()?;
        self.index.cut(&mut self.out)?;
        let page = self.partition_filter.take_page();
        write_page(&mut self.out, &mut self.partition_filter, page)?;
        let page = self.special_filter.take_page();
        write_page(&mut self.out, &mut self.special_filter, page)?;
        let statistics = self.statistics.finish(self.options.log_segments);
        let properties = Properties {
            table: self.options.table.0,
            incarnation: self.options.incarnation,
            statistics,
            first_prefix: self.first_prefix,
            last_prefix: self.prefix,
            index: self.index.top,
            partition_filter: self.partition_filter.directory,
            special_filter: self.special_filter.directory,
        };
        let encoded = properties.encode();
        assert!(properties.first_prefix <= properties.last_prefix && !properties.index.is_empty());
        assert!(Properties::decode(&encoded).is_some(), "properties read back");
        let at = self.out.frame(&encoded)?;
        self.out.buffer.extend_from_slice(&footer(at, self.version));
        self.out.flush()?;
        self.out.file.sync_data()?;
        Ok(Finished { bytes: self.out.flushed, statistics: properties.statistics })
    }
}

fn write_page(out: &mut Output, filter: &mut FilterBuilder, page: Option<FilterPage>) -> io::Result<()> {
    let Some(FilterPage { first_token, bytes }) = page else { return Ok(()) };
    let at = out.frame(&bytes)?;
    filter.page_written(first_token, at);
    Ok(())
}
