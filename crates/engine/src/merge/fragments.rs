//! The merged fragment stream: everything the sources hold, reconciled, for flush and compaction.
//!
//! Guarantees: the stream follows the grammar of `store::fragment` (checked in debug builds), with all
//! range tombstones of a partition before its rows; nothing in it is shadowed; a reader of the result
//! sees what a reader of the sources saw. With a [`Purge`] per partition, what it allows to go is gone.
//! Memory: one entry per source, whatever the size of a partition.

use super::Sources;
use super::inputs::{self, Input, Walk};
use super::ranges::SourceRanges;
use super::sweep::RangeSweep;
use crate::cursor::{AT_DELETION, AT_ROWS, Cursor};
use model::deletion::Deletion;
use model::key::{KIND_PARTITION_DELETION, KIND_STATIC, PartitionKey};
use model::merge::{Purge, RowMerger};
use model::row::RowView;
use store::fragment::Validator;
use store::{Fragment, StoreError};

/// Receives the stream; an error ends it.
pub type FragmentSink<'s, E> = dyn FnMut(Fragment<'_>) -> Result<(), E> + 's;

/// Sends everything the sources hold to `out`. `purge` says, for a storage prefix, what may go.
pub fn fragments<E: From<StoreError>>(
    sources: &Sources<'_>,
    purge: &mut dyn FnMut(&[u8]) -> Option<Purge>,
    out: &mut FragmentSink<'_, E>,
) -> Result<(), E> {
    let mut validator = Validator::new();
    let mut checked = |fragment: Fragment<'_>| {
        if cfg!(debug_assertions)
            && let Err(rule) = validator.check(&fragment)
        {
            panic!("a merged stream breaks its grammar: {rule}: {fragment:?}");
        }
        out(fragment)
    };
    let mut merge = PartitionMerge { out: &mut checked, merger: RowMerger::new() };
    let mut walk = Walk::new(inputs::of_range(sources, &[], &[])?);
    while let Some(key) = walk.next(&[])? {
        let purge = purge(key.prefix());
        merge.partition(&key, walk.inputs(), purge)?;
    }
    Ok(())
}

/// Whether a deletion may go.
fn drops(purge: Option<Purge>, deletion: Deletion) -> bool {
    purge.is_some_and(|p| deletion.timestamp < p.below_timestamp && deletion.local_seconds < p.before_seconds)
}

struct PartitionMerge<'s, E> {
    out: &'s mut FragmentSink<'s, E>,
    merger: RowMerger,
}

impl<E: From<StoreError>> PartitionMerge<'_, E> {
    fn partition(
        &mut self,
        key: &PartitionKey,
        inputs: &mut [Input<'_>],
        purge: Option<Purge>,
    ) -> Result<(), E> {
        let mut deletion = Deletion::NONE;
        for input in inputs.iter_mut().filter(|input| input.special) {
            input.rows.seek(AT_DELETION)?;
            if let Some(entry) = input.rows.entry().filter(|e| e.kind() == KIND_PARTITION_DELETION) {
                deletion = deletion.max(entry.deletion());
                input.rows.next()?;
            }
        }
        let kept = if drops(purge, deletion) { Deletion::NONE } else { deletion };
        (self.out)(Fragment::Partition { key, deletion: kept })?;
        self.static_row(inputs, deletion, purge)?;
        let mut ranges = self.ranges(key, inputs, deletion, purge)?;
        self.rows(inputs, &mut ranges, deletion, purge)?;
        (self.out)(Fragment::End)
    }

    /// Special inputs stand behind their deletion; leaves them behind their static row.
    fn static_row(
        &mut self,
        inputs: &mut [Input<'_>],
        deletion: Deletion,
        purge: Option<Purge>,
    ) -> Result<(), E> {
        let is_static =
            |input: &Input<'_>| input.special && input.rows.entry().is_some_and(|e| e.kind() == KIND_STATIC);
        let entries = inputs.iter().filter(|i| is_static(i)).filter_map(|input| input.rows.entry());
        let views: Vec<RowView<'_>> = entries.map(|entry| entry.row()).collect();
        if !views.is_empty() && self.merger.merge(&views, deletion, purge) {
            (self.out)(Fragment::Static(self.merger.row()))?;
        }
        for input in inputs.iter_mut() {
            if is_static(input) {
                input.rows.next()?;
            }
        }
        Ok(())
    }

    /// Sends the range tombstones, merged, and returns the sources of them for the rows.
    fn ranges<'a>(
        &mut self,
        key: &PartitionKey,
        inputs: &mut [Input<'a>],
        deletion: Deletion,
        purge: Option<Purge>,
    ) -> Result<Vec<SourceRanges<'a>>, E> {
        let holds = |input: &Input<'_>| input.special && input.rows.entry().is_some_and(|e| e.is_range());
        let ranges: Vec<_> =
            inputs.iter().filter(|i| holds(i)).map(|input| input.ranges(key.prefix())).collect();
        let mut sweep =
            RangeSweep::new(inputs.iter_mut().filter(|i| holds(i)).map(|i| &mut i.rows), deletion);
        while let Some(range) = sweep.next()? {
            if !drops(purge, range.deletion) {
                let (start, end) = (range.start.as_slice(), range.end.as_slice());
                (self.out)(Fragment::Range { start, end, deletion: range.deletion })?;
            }
        }
        Ok(ranges)
    }

    fn rows(
        &mut self,
        inputs: &mut [Input<'_>],
        ranges: &mut [SourceRanges<'_>],
        deletion: Deletion,
        purge: Option<Purge>,
    ) -> Result<(), E> {
        for input in inputs.iter_mut() {
            if input.rows.entry().is_none_or(|e| !e.is_row()) {
                input.rows.seek(AT_ROWS)?;
            }
        }
        let mut tied: Vec<usize> = Vec::with_capacity(inputs.len());
        let mut met = 0;
        loop {
            let mut best: Option<&[u8]> = None;
            for (i, input) in inputs.iter().enumerate() {
                let Some(entry) = input.rows.entry().filter(|e| e.is_row()) else { continue };
                match best.map(|best| entry.clustering().cmp(best)) {
                    Some(std::cmp::Ordering::Greater) => continue,
                    Some(std::cmp::Ordering::Equal) => {}
                    Some(std::cmp::Ordering::Less) | None => {
                        tied.clear();
                        best = Some(entry.clustering());
                    }
                }
                tied.push(i);
            }
            let Some(clustering) = best else { return Ok(()) };
            let mut covering = deletion;
            for ranges in ranges.iter_mut() {
                covering = covering.max(ranges.covering(clustering, false, &mut met)?);
            }
            let mut versions = tied.iter().filter_map(|&i| inputs[i].rows.entry()).map(|entry| entry.row());
            let alone = versions.next().filter(|_| tied.len() == 1 && purge.is_none());
            let untouched = alone.filter(|row| {
                covering.is_none() || row.timestamps().is_some_and(|(min, _)| !covering.covers(min))
            });
            if let Some(row) = untouched {
                (self.out)(Fragment::Row { clustering, row })?;
            } else {
                let versions: Vec<RowView<'_>> =
                    tied.iter().filter_map(|&i| inputs[i].rows.entry()).map(|entry| entry.row()).collect();
                if self.merger.merge(&versions, covering, purge) {
                    (self.out)(Fragment::Row { clustering, row: self.merger.row() })?;
                }
            }
            for &i in &tied {
                inputs[i].rows.next()?;
            }
        }
    }
}
