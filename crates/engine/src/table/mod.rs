//! Tables on disk: immutable files, each one sorted run of entries (layout: docs/format/table.md).
//!
//! Guarantees: every byte of a file is under a checksum, so damage is reported with file and offset and
//! never changes an answer or panics. Reading the newest rows of a partition touches as few blocks as
//! reading the oldest. A [`Table`] is shared between threads; blocks go through the cache of the shard
//! that reads, or through none. Does not know which files make up a table: see the manifest.

pub mod block;
mod block_builder;
mod cursor;
pub mod file;
mod filter;
pub mod frame;
#[cfg(test)]
mod golden;
mod pack;
pub mod properties;
mod row_filter;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use cursor::TableCursor;
pub use file::TableFile;
pub use verify::Verified;
pub use writer::{BLOCK_BYTES, Finished, TableWriter, WriterOptions};

use crate::cache::{BlockCache, BlockKey};
use crate::statistics::Statistics;
use block::Block;
use filter::{Directory, Filter};
use frame::FrameAt;
use model::deletion::Timestamp;
use model::key::token_of;
use properties::Properties;
use rt::Disk;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use store::StoreError;

/// An open table file.
#[derive(Debug)]
pub struct Table {
    file: TableFile,
    path: PathBuf,
    number: u64,
    properties: Properties,
    partition_filter: Filter,
    special_filter: Filter,
    /// Index blocks that were read, of a file whose index is small enough to stay in memory.
    index_blocks: Vec<OnceLock<Block>>,
}

/// Indexes up to this size (compressed) stay in memory once read; larger ones go through the cache. An
/// index is about 0.3 % of its file, so this is the index of some gigabytes.
const RESIDENT_INDEX_BYTES_MAX: u64 = 8 << 20;

/// A block, lent by the table or held together with the cache.
#[derive(Clone)]
enum BlockRef<'a> {
    Resident(&'a Block),
    Shared(Arc<Block>),
}

impl std::ops::Deref for BlockRef<'_> {
    type Target = Block;

    #[inline]
    fn deref(&self) -> &Block {
        match self {
            BlockRef::Resident(block) => block,
            BlockRef::Shared(block) => block,
        }
    }
}

impl Table {
    /// Opens a file and checks everything but its blocks. `number` is unique in the database.
    pub fn open(disk: &dyn Disk, path: &Path, number: u64) -> Result<Table, StoreError> {
        let io = |error: std::io::Error| StoreError::Io {
            context: format!("opening {}: {error}", path.display()),
        };
        let file = disk.open(path).map_err(io)?;
        let len = file.len().map_err(io)?;
        let file = TableFile { file, name: path.display().to_string(), len };
        let at = file::check_ends(&file)?;
        let properties = frame::read(&file, at)?;
        let properties = Properties::decode(&properties)
            .ok_or_else(|| file.corrupt(at.offset, "the properties are malformed"))?;
        let partition_filter = read_filter(&file, &properties.partition_filter)?;
        let special_filter = read_filter(&file, &properties.special_filter)?;
        let index_bytes: u64 = properties.index.iter().map(|top| u64::from(top.at.len)).sum();
        let resident = if index_bytes <= RESIDENT_INDEX_BYTES_MAX { properties.index.len() } else { 0 };
        let index_blocks = (0..resident).map(|_| OnceLock::new()).collect();
        let path = path.to_path_buf();
        Ok(Table { file, path, number, properties, partition_filter, special_filter, index_blocks })
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// Length of the file.
    pub fn bytes(&self) -> u64 {
        self.file.len
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path, as error messages name it.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    pub fn statistics(&self) -> &Statistics {
        &self.properties.statistics
    }

    /// Memory held besides cached blocks.
    pub fn memory_bytes(&self) -> usize {
        let top = self.properties.index.iter().map(|t| t.prefix.len() + t.position.len() + 64).sum::<usize>();
        let index = self.index_blocks.iter().filter_map(OnceLock::get).map(Block::bytes).sum::<usize>();
        self.partition_filter.bytes() + self.special_filter.bytes() + top + index
    }

    /// Whether the partition may be here; `false` is certain.
    #[inline]
    pub fn may_contain(&self, prefix: &[u8]) -> bool {
        let properties = &self.properties;
        properties.first_prefix.as_slice() <= prefix
            && prefix <= properties.last_prefix.as_slice()
            && self.partition_filter.may_contain(token_of(prefix).ring_position(), filter::hash_of(prefix))
    }

    /// Whether the partition may have a deletion, a static row or range tombstones here.
    #[inline]
    pub fn may_have_special(&self, prefix: &[u8]) -> bool {
        !self.properties.special_filter.pages.is_empty()
            && self.special_filter.may_contain(token_of(prefix).ring_position(), filter::hash_of(prefix))
    }

    /// Whether a partition here lies in `[start, end)`; an empty `end` means no bound.
    pub fn overlaps(&self, start: &[u8], end: &[u8]) -> bool {
        self.properties.last_prefix.as_slice() >= start
            && (end.is_empty() || self.properties.first_prefix.as_slice() < end)
    }

    /// No row, static row or deletion here is newer.
    #[inline]
    pub fn max_timestamp(&self) -> Timestamp {
        self.properties.statistics.max_timestamp
    }

    /// First and last clustering position of any row here, if known.
    #[inline]
    pub fn row_bounds(&self) -> Option<(&[u8], &[u8])> {
        self.properties.statistics.row_bounds.as_ref().map(|(low, high)| (low.as_slice(), high.as_slice()))
    }

    /// A cursor that reads through `cache`, or straight from the file.
    pub fn cursor<'a>(&'a self, cache: Option<&'a BlockCache>) -> TableCursor<'a> {
        TableCursor::new(self, cache)
    }

    /// The index block with this number.
    fn index_block<'a>(
        &'a self,
        top: usize,
        cache: Option<&BlockCache>,
    ) -> Result<Option<BlockRef<'a>>, StoreError> {
        let Some(at) = self.properties.index.get(top).map(|top| top.at) else { return Ok(None) };
        let Some(resident) = self.index_blocks.get(top) else {
            return self.block(at, cache).map(|block| Some(BlockRef::Shared(block)));
        };
        let block = match resident.get() {
            Some(block) => block,
            None => {
                let block = self.read_block(at)?;
                resident.get_or_init(|| block)
            }
        };
        Ok(Some(BlockRef::Resident(block)))
    }

    fn block(&self, at: FrameAt, cache: Option<&BlockCache>) -> Result<Arc<Block>, StoreError> {
        let Some(cache) = cache else { return self.read_block(at).map(Arc::new) };
        let key = BlockKey { file: self.number, offset: at.offset };
        if let Some(block) = cache.get(key) {
            return Ok(block);
        }
        let block = Arc::new(self.read_block(at)?);
        cache.insert(key, block.clone());
        Ok(block)
    }

    fn read_block(&self, at: FrameAt) -> Result<Block, StoreError> {
        let raw = frame::read(&self.file, at)?;
        Block::decode(raw).ok_or_else(|| self.file.corrupt(at.offset, "a block is malformed"))
    }
}

fn read_filter(file: &TableFile, directory: &Directory) -> Result<Filter, StoreError> {
    let mut filter = Filter::default();
    for (first_token, at) in &directory.pages {
        let page = frame::read(file, *at)?;
        filter
            .push_page(*first_token, &page)
            .ok_or_else(|| file.corrupt(at.offset, "a filter page is malformed"))?;
    }
    Ok(filter)
}
