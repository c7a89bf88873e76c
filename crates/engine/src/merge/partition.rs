//! Reading one partition from several sources: deletions, static row, slices in either direction.

use super::inputs::Input;
use super::ranges::SourceRanges;
use super::select::{head, is_due, nearer, nearest_waiting, select};
use crate::cursor::{AT_DELETION, Cursor, Entry, RunCursor, is_inside};
use model::deletion::Deletion;
use model::key::{KIND_PARTITION_DELETION, KIND_ROW, KIND_STATIC, PartitionKey};
use model::merge::RowMerger;
use model::row::RowView;
use std::borrow::Cow;
use store::{Flow, Position, Read, Sink, Slice, StoreError};

/// How a reader goes on after a partition.
pub(super) enum Step {
    Continue,
    Stop,
    Pause(Position),
}

/// How the rows of a partition ended.
enum Body {
    /// All delivered, or the sink wants the next partition.
    Done,
    Stop,
    /// The scan limit was reached at this row.
    Pause(Vec<u8>),
}

pub(super) struct PartitionReader<'r> {
    read: &'r Read,
    sink: &'r mut dyn Sink,
    merger: RowMerger,
    /// Scratch for positions to seek, and for where another source comes in.
    target: Vec<u8>,
    scanned: u64,
    /// Of rows that were delivered.
    bytes: u64,
    tombstones: u64,
    partitions: u64,
    /// Ends of partitions, which count as scanned.
    ends: u64,
}

/// Inside one partition: what lies over its rows.
struct Cover<'a> {
    partition: Deletion,
    ranges: Vec<SourceRanges<'a>>,
}

impl Cover<'_> {
    /// Whether nothing lies over any row.
    fn is_nothing(&self) -> bool {
        self.partition.is_none() && self.ranges.is_empty()
    }

    #[inline]
    fn over(&mut self, clustering: &[u8], reverse: bool, met: &mut u64) -> Result<Deletion, StoreError> {
        let mut strongest = self.partition;
        for ranges in &mut self.ranges {
            strongest = strongest.max(ranges.covering(clustering, reverse, met)?);
        }
        Ok(strongest)
    }
}

impl<'r> PartitionReader<'r> {
    pub fn new(read: &'r Read, sink: &'r mut dyn Sink) -> PartitionReader<'r> {
        PartitionReader {
            read,
            sink,
            merger: RowMerger::new(),
            target: Vec::with_capacity(64),
            scanned: 0,
            bytes: 0,
            tombstones: 0,
            partitions: 0,
            ends: 0,
        }
    }

    /// That were looked at.
    pub fn partitions(&self) -> u64 {
        self.partitions
    }

    pub fn tombstones(&self) -> u64 {
        self.tombstones
    }

    /// (entries that were looked at, bytes that were delivered)
    pub fn work(&self) -> (u64, u64) {
        (self.scanned - self.ends, self.bytes)
    }

    /// Whether the whole partition lies behind the position the read resumes from.
    pub fn is_behind(&self, key: &PartitionKey) -> bool {
        let after = self.read.after.as_ref();
        after.is_some_and(|after| after.key > *key || (after.key == *key && after.clustering.is_none()))
    }

    /// No partition before this prefix is of interest.
    pub fn resume_prefix(&self) -> Option<Vec<u8>> {
        self.read.after.as_ref().map(|after| after.key.prefix().to_vec())
    }

    /// Delivers one partition; every input stands in it.
    pub fn deliver(&mut self, key: &PartitionKey, inputs: &mut [Input<'_>]) -> Result<Step, StoreError> {
        self.partitions += 1;
        match self.sink.partition(key) {
            Flow::Stop => return Ok(Step::Stop),
            Flow::NextPartition => return Ok(self.end(key)),
            Flow::Continue => {}
        }
        Ok(match self.body(key, inputs)? {
            Body::Done => self.end(key),
            Body::Stop => Step::Stop,
            Body::Pause(clustering) => {
                Step::Pause(Position { key: key.clone(), clustering: Some(clustering) })
            }
        })
    }

    fn end(&mut self, key: &PartitionKey) -> Step {
        if self.sink.partition_end() == Flow::Stop {
            return Step::Stop;
        }
        // A partition costs something even if it holds no row.
        self.scanned += 1;
        self.ends += 1;
        if self.scanned >= self.read.scan_limit {
            return Step::Pause(Position { key: key.clone(), clustering: None });
        }
        Step::Continue
    }

    fn body(&mut self, key: &PartitionKey, inputs: &mut [Input<'_>]) -> Result<Body, StoreError> {
        let mut cover = Cover { partition: Deletion::NONE, ranges: Vec::new() };
        if inputs.iter().any(|input| input.special) {
            cover.partition = find_deletion(inputs)?;
            match self.static_row(inputs, cover.partition)? {
                Flow::Continue => {}
                Flow::NextPartition => return Ok(Body::Done),
                Flow::Stop => return Ok(Body::Stop),
            }
            self.begin_rows(key, inputs, &mut cover)?;
        }
        let read = self.read;
        let after = read.after.as_ref().filter(|after| after.key == *key);
        let after = after.and_then(|after| after.clustering.as_deref());
        for i in 0..read.slices.len() {
            let slice = &read.slices[if read.reverse { read.slices.len() - 1 - i } else { i }];
            let Some((start, end)) = ahead_of(slice, after, read.reverse) else { continue };
            cover.ranges.iter_mut().for_each(SourceRanges::reset);
            inputs.iter_mut().for_each(|input| input.begin_slice((&start, &end)));
            if is_one_row((&start, &end)) {
                self.ask_for_row(inputs, &start)?;
            }
            let mut wanted = inputs.iter_mut().filter(|input| input.wanted);
            let outcome = match (wanted.next(), wanted.next()) {
                (None, _) => continue,
                (Some(input), None) => self.slice_of_one(input, &mut cover, (&start, &end))?,
                _ => self.slice_of_many(inputs, &mut cover, (&start, &end))?,
            };
            if let Some(body) = outcome {
                return Ok(body);
            }
        }
        Ok(Body::Done)
    }

    /// One row is wanted: leaves out the sources that say they do not hold it.
    fn ask_for_row(&mut self, inputs: &mut [Input<'_>], clustering: &[u8]) -> Result<(), StoreError> {
        self.target.clear();
        self.target.push(KIND_ROW);
        self.target.extend_from_slice(clustering);
        inputs.iter_mut().try_for_each(|input| input.ask_for_row(&self.target))
    }

    /// Delivers the static row; every special input stands on it if it has one.
    fn static_row(&mut self, inputs: &[Input<'_>], deletion: Deletion) -> Result<Flow, StoreError> {
        if !self.read.statics {
            return Ok(Flow::Continue);
        }
        let special = inputs.iter().filter(|input| input.special);
        let entries = special.filter_map(|input| input.rows.entry()).filter(|e| e.kind() == KIND_STATIC);
        let views: Vec<RowView<'_>> = entries.map(|entry| entry.row()).collect();
        if views.is_empty() {
            return Ok(Flow::Continue);
        }
        self.scanned += views.len() as u64;
        self.merger.merge(&views, deletion, None);
        let row = self.merger.row();
        Ok(if row.is_live(self.read.now_seconds) { self.sink.static_row(row) } else { Flow::Continue })
    }

    /// Leaves out the inputs that the partition's deletion hides, and finds range tombstones.
    fn begin_rows<'a>(
        &mut self,
        key: &PartitionKey,
        inputs: &mut [Input<'a>],
        cover: &mut Cover<'a>,
    ) -> Result<(), StoreError> {
        for input in inputs {
            input.active = !cover.partition.covers(input.max_timestamp);
            if !input.special || !input.active || self.read.slices.is_empty() {
                continue;
            }
            if input.rows.entry().is_some_and(|e| e.kind() == KIND_STATIC) {
                input.rows.next()?;
            }
            if input.rows.entry().is_some_and(|e| e.is_range()) {
                cover.ranges.push(input.ranges(key.prefix()));
            }
        }
        Ok(())
    }

    /// Stands `input` on the first row of the slice, in the direction of the read.
    fn seek(&mut self, input: &mut Input<'_>, (start, end): (&[u8], &[u8])) -> Result<(), StoreError> {
        let bound = if self.read.reverse { end } else { start };
        self.target.clear();
        self.target.push(KIND_ROW);
        self.target.extend_from_slice(bound);
        if self.read.reverse {
            return input.rows.seek_before(&self.target);
        }
        // A scan stands on the first row already.
        if bound.is_empty() && input.rows.entry().is_some_and(|e| e.is_row()) {
            return Ok(());
        }
        input.rows.seek(&self.target)
    }

    #[inline]
    fn advance(&self, input: &mut Input<'_>) -> Result<(), StoreError> {
        if self.read.reverse { input.rows.prev() } else { input.rows.next() }
    }

    /// One source holds rows: no comparisons, no copies.
    fn slice_of_one(
        &mut self,
        input: &mut Input<'_>,
        cover: &mut Cover<'_>,
        bounds: (&[u8], &[u8]),
    ) -> Result<Option<Body>, StoreError> {
        self.seek(input, bounds)?;
        let one_row = is_one_row(bounds);
        if cover.is_nothing() {
            return match &mut input.rows {
                RunCursor::Memtable(cursor) => self.plain_slice(cursor, bounds, one_row),
                RunCursor::Table(cursor) => self.plain_slice(cursor, bounds, one_row),
            };
        }
        loop {
            let Some((clustering, row)) = head(input, bounds, self.read.reverse) else { return Ok(None) };
            let covering = cover.over(clustering, self.read.reverse, &mut self.tombstones)?;
            let (flow, dead) = self.row(clustering, &[row], covering)?;
            if let Some(body) = self.after_row(flow, clustering) {
                return Ok(Some(body));
            }
            if one_row {
                return Ok(None);
            }
            if dead && self.skip_hidden(std::slice::from_mut(input), &[0], cover, covering)? {
                continue;
            }
            self.advance(input)?;
        }
    }

    /// One source holds rows and nothing lies over them: what is stored is what is delivered.
    fn plain_slice<C: Cursor>(
        &mut self,
        cursor: &mut C,
        bounds: (&[u8], &[u8]),
        one_row: bool,
    ) -> Result<Option<Body>, StoreError> {
        let (reverse, now_seconds) = (self.read.reverse, self.read.now_seconds);
        loop {
            let Some(entry) = cursor.entry().filter(Entry::is_row) else { return Ok(None) };
            let (clustering, row) = (entry.clustering(), entry.row());
            if !is_inside(clustering, bounds, reverse) {
                return Ok(None);
            }
            self.scanned += 1;
            let live = row.is_live(now_seconds);
            let flow = if live {
                self.bytes += row.body().len() as u64;
                self.sink.row(clustering, row)
            } else {
                self.dead_row()?;
                Flow::Continue
            };
            if let Some(body) = self.after_row(flow, clustering) {
                return Ok(Some(body));
            }
            if one_row {
                return Ok(None);
            }
            if !live {
                // Short of the limits: what reaches them is looked at row by row.
                let at_most = (self.read.scan_limit - self.scanned - 1)
                    .min(self.read.tombstone_limit.saturating_sub(self.tombstones));
                let passed = cursor.pass_dead(now_seconds, reverse, bounds, at_most);
                self.scanned += passed;
                self.tombstones += passed;
            }
            if reverse { cursor.prev()? } else { cursor.next()? }
        }
    }

    /// Notes where the next source comes in; `false`: nowhere.
    fn put_fence(&mut self, fence: Option<&[u8]>) -> bool {
        self.target.clear();
        self.target.extend_from_slice(fence.unwrap_or_default());
        if self.read.reverse {
            // The smallest byte string behind it.
            self.target.push(0);
        }
        fence.is_some()
    }

    /// Delivers the rows of one source up to the fence: no other source has any before it.
    fn stretch(
        &mut self,
        input: &mut Input<'_>,
        fenced: bool,
        (start, end): (&[u8], &[u8]),
    ) -> Result<Option<Body>, StoreError> {
        let fence = std::mem::take(&mut self.target);
        let bounds = match (fenced, self.read.reverse) {
            (false, _) => (start, end),
            (true, false) => (start, fence.as_slice()),
            (true, true) => (fence.as_slice(), end),
        };
        let outcome = match &mut input.rows {
            RunCursor::Memtable(cursor) => self.plain_slice(cursor, bounds, false),
            RunCursor::Table(cursor) => self.plain_slice(cursor, bounds, false),
        };
        self.target = fence;
        outcome
    }

    /// Several sources hold rows: the smallest (largest, in reverse) position is next.
    fn slice_of_many(
        &mut self,
        inputs: &mut [Input<'_>],
        cover: &mut Cover<'_>,
        bounds: (&[u8], &[u8]),
    ) -> Result<Option<Body>, StoreError> {
        let one_row = is_one_row(bounds);
        let reverse = self.read.reverse;
        let mut tied: Vec<usize> = Vec::with_capacity(inputs.len());
        let mut waiting = nearest_waiting(inputs, reverse);
        loop {
            // An input is opened only when the merge has come to where its rows begin.
            let second = select(inputs, bounds, reverse, &mut tied);
            if let Some(next) = waiting
                && is_due(&inputs[next], tied.first().map(|&i| &inputs[i]), reverse)
            {
                self.seek(&mut inputs[next], bounds)?;
                inputs[next].open = true;
                waiting = nearest_waiting(inputs, reverse);
                continue;
            }
            let Some(&first) = tied.first() else { return Ok(None) };
            if tied.len() == 1 && !one_row && cover.is_nothing() {
                let bound = waiting.and_then(|next| inputs[next].nearest(reverse));
                let head = second.and_then(|second| head(&inputs[second], bounds, reverse));
                let fenced = self.put_fence(nearer(bound, head.map(|(clustering, _)| clustering), reverse));
                if let Some(body) = self.stretch(&mut inputs[first], fenced, bounds)? {
                    return Ok(Some(body));
                }
                continue;
            }
            let Some(entry) = inputs[first].rows.entry() else { return Ok(None) };
            let clustering = entry.clustering();
            let covering = cover.over(clustering, reverse, &mut self.tombstones)?;
            const INLINE: usize = 8;
            let mut inline = [RowView::from_parts(0, &[]); INLINE];
            let versions = tied.iter().filter_map(|&i| inputs[i].rows.entry()).map(|entry| entry.row());
            let (flow, dead) = if tied.len() <= INLINE {
                let mut count = 0;
                for version in versions {
                    inline[count] = version;
                    count += 1;
                }
                self.row(clustering, &inline[..count], covering)?
            } else {
                let versions: Vec<RowView<'_>> = versions.collect();
                self.row(clustering, &versions, covering)?
            };
            if let Some(body) = self.after_row(flow, clustering) {
                return Ok(Some(body));
            }
            if one_row {
                return Ok(None);
            }
            if dead && self.skip_hidden(inputs, &tied, cover, covering)? {
                continue;
            }
            for &i in &tied {
                self.advance(&mut inputs[i])?;
            }
        }
    }

    /// Merges the versions of a row and delivers it if it is live. Also returns whether it is dead.
    #[inline]
    fn row(
        &mut self,
        clustering: &[u8],
        versions: &[RowView<'_>],
        covering: Deletion,
    ) -> Result<(Flow, bool), StoreError> {
        self.scanned += versions.len() as u64;
        let untouched = match versions {
            [only] if covering.is_none() => Some(*only),
            [only] => only.timestamps().is_some_and(|(min, _)| !covering.covers(min)).then_some(*only),
            _ => None,
        };
        let row = match untouched {
            Some(row) => row,
            None => {
                self.merger.merge(versions, covering, None);
                self.merger.row()
            }
        };
        if row.is_live(self.read.now_seconds) {
            self.bytes += row.body().len() as u64;
            return Ok((self.sink.row(clustering, row), false));
        }
        self.dead_row()?;
        Ok((Flow::Continue, true))
    }

    fn dead_row(&mut self) -> Result<(), StoreError> {
        self.tombstones += 1;
        if self.tombstones > self.read.tombstone_limit {
            let (scanned, limit) = (self.tombstones, self.read.tombstone_limit);
            return Err(StoreError::TooManyTombstones { scanned, limit });
        }
        Ok(())
    }

    #[inline]
    fn after_row(&self, flow: Flow, clustering: &[u8]) -> Option<Body> {
        match flow {
            Flow::Stop => Some(Body::Stop),
            Flow::NextPartition => Some(Body::Done),
            Flow::Continue if self.scanned >= self.read.scan_limit => Some(Body::Pause(clustering.to_vec())),
            Flow::Continue => None,
        }
    }

    /// After a dead row: when a range tombstone is as new as everything in every input that held the
    /// row, those inputs can go to the end of the range at once. Returns whether they did.
    fn skip_hidden(
        &mut self,
        inputs: &mut [Input<'_>],
        tied: &[usize],
        cover: &Cover<'_>,
        covering: Deletion,
    ) -> Result<bool, StoreError> {
        if !tied.iter().all(|&i| covering.covers(inputs[i].max_timestamp)) {
            return Ok(false);
        }
        let Some(entry) = tied.first().and_then(|&i| inputs[i].rows.entry()) else { return Ok(false) };
        let found = cover.ranges.iter().find_map(|r| r.bounds_of(entry.clustering(), covering));
        let Some((start, end)) = found else { return Ok(false) };
        self.target.clear();
        self.target.push(KIND_ROW);
        self.target.extend_from_slice(if self.read.reverse { start } else { end });
        for &i in tied {
            let rows = &mut inputs[i].rows;
            if self.read.reverse { rows.seek_before(&self.target)? } else { rows.seek(&self.target)? }
        }
        Ok(true)
    }
}

/// The strongest deletion of the partition. Leaves special inputs on the entry behind their deletion.
fn find_deletion(inputs: &mut [Input<'_>]) -> Result<Deletion, StoreError> {
    let mut strongest = Deletion::NONE;
    for input in inputs.iter_mut().filter(|input| input.special) {
        input.rows.seek(AT_DELETION)?;
        if let Some(entry) = input.rows.entry().filter(|e| e.kind() == KIND_PARTITION_DELETION) {
            strongest = strongest.max(entry.deletion());
            input.rows.next()?;
        }
    }
    Ok(strongest)
}

/// Half-open bounds of clustering bytes.
type Bounds<'s> = (Cow<'s, [u8]>, Cow<'s, [u8]>);

/// The part of a slice that lies ahead of the position the read resumes from.
fn ahead_of<'s>(slice: &'s Slice, after: Option<&[u8]>, reverse: bool) -> Option<Bounds<'s>> {
    let (mut start, mut end) = (Cow::from(&slice.start), Cow::from(&slice.end));
    if let Some(after) = after {
        if reverse && after < &*end {
            end = Cow::from(after.to_vec());
        }
        // The smallest byte string behind `after` is `after` with a zero byte.
        if !reverse && after >= &*start {
            start = Cow::from([after, &[0]].concat());
        }
    }
    (start < end).then_some((start, end))
}

/// Whether the slice can hold one row only: `[c, c ++ 00)`.
fn is_one_row((start, end): (&[u8], &[u8])) -> bool {
    end.split_last() == Some((&0, start))
}
