//! Reading a whole file to see whether every byte of it is as it was written.

use super::block::Block;
use super::file::{FOOTER_BYTES, HEADER_BYTES};
use super::frame::{self, FrameAt};
use super::{Table, file};
use model::row::RowView;
use model::vint;
use store::StoreError;

/// What a verification has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub blocks: u64,
    pub entries: u64,
    pub bytes: u64,
}

impl Table {
    /// Checks every frame, the order of all keys, every row image, that counts fit the statistics and
    /// that the parts of the file lie without gaps. `progress` gets the bytes read so far.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<Verified, StoreError> {
        let properties = file::check_ends(&self.file)?;
        frame::read(&self.file, properties)?;
        let mut frames: Vec<FrameAt> = vec![properties];
        let pages =
            self.properties.partition_filter.pages.iter().chain(&self.properties.special_filter.pages);
        for (_, at) in pages {
            frame::read(&self.file, *at)?;
            frames.push(*at);
        }
        let mut verified = Verified::default();
        let mut last: Option<(Vec<u8>, Vec<u8>)> = None;
        for top in &self.properties.index {
            frames.push(top.at);
            let index = self.read_block(top.at)?;
            for entry in 0..index.entries() {
                let at = index.payload(entry).and_then(|(_, start, end)| {
                    let mut bytes = index.raw().get(start as usize..end as usize)?;
                    Some(FrameAt { offset: vint::take(&mut bytes)?, len: vint::take_u32(&mut bytes)? })
                });
                let at = at.ok_or_else(|| self.file.corrupt(top.at.offset, "an index entry is malformed"))?;
                frames.push(at);
                let block = self.read_block(at)?;
                self.verify_block(&block, at, &mut last)?;
                verified.blocks += 1;
                verified.entries += block.entries() as u64;
                progress(at.offset + u64::from(at.len));
            }
        }
        self.verify_tiling(frames)?;
        let statistics = self.statistics();
        let counted = statistics.rows
            + statistics.static_rows
            + statistics.range_tombstones
            + statistics.partition_deletions;
        if counted != verified.entries {
            let what = format!("statistics count {counted} entries, the blocks hold {}", verified.entries);
            return Err(self.file.corrupt(properties.offset, what));
        }
        verified.bytes = self.file.len;
        Ok(verified)
    }

    fn verify_block(
        &self,
        block: &Block,
        at: FrameAt,
        last: &mut Option<(Vec<u8>, Vec<u8>)>,
    ) -> Result<(), StoreError> {
        let corrupt = |what: &str| self.file.corrupt(at.offset, what);
        if !block.check() {
            return Err(corrupt("keys of a block are out of order"));
        }
        for partition in 0..block.partitions() {
            for entry in block.entries_of(partition) {
                let key = (
                    block.prefix(partition).to_vec(),
                    [block.common(partition), block.suffix(entry)].concat(),
                );
                if last.as_ref().is_some_and(|last| *last >= key) {
                    return Err(corrupt("keys are out of order"));
                }
                let kind = key.1.first().copied().unwrap_or_default();
                let payload = block.payload(entry).and_then(|(timestamp, start, end)| {
                    Some((timestamp, block.raw().get(start as usize..end as usize)?))
                });
                let good = payload.is_some_and(|(timestamp, rest)| match kind {
                    model::key::KIND_PARTITION_DELETION => rest.len() == 4,
                    model::key::KIND_RANGE => rest.len() > 4,
                    _ => RowView::from_parts(timestamp, rest).check(),
                });
                if !good {
                    return Err(corrupt("an entry is malformed"));
                }
                *last = Some(key);
            }
        }
        Ok(())
    }

    /// Whether header, frames and footer cover the file without gaps.
    fn verify_tiling(&self, mut frames: Vec<FrameAt>) -> Result<(), StoreError> {
        frames.sort_by_key(|at| at.offset);
        let mut next = HEADER_BYTES as u64;
        for at in frames {
            if at.offset != next {
                return Err(self.file.corrupt(next, "bytes that belong to nothing"));
            }
            next += u64::from(at.len);
        }
        if next + FOOTER_BYTES as u64 != self.file.len {
            return Err(self.file.corrupt(next, "bytes that belong to nothing"));
        }
        Ok(())
    }
}
