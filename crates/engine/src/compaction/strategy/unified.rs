//! Unified compaction: one scaling parameter from tiered (few rewrites) to levelled (few files to read).
//!
//! Files are put into levels by density (bytes per part of the ring they span), each level `fanout` times
//! the one below. When `threshold` files of a level lie over one partition, the group they belong to is merged.
//! W >= 0: tiered, fanout and threshold 2 + W. W < 0: levelled, fanout 2 - W, threshold 2.

use super::{FileFacts, MERGE_FILES_MAX, Situation, deepest_overlap, overlapping_groups};

/// The scaling parameter is kept within what makes sense (a fanout of 34).
const SCALING_MAX: i32 = 32;

struct Shape {
    fanout: f64,
    threshold: usize,
}

fn shape(scaling: i32) -> Shape {
    let w = scaling.clamp(-SCALING_MAX, SCALING_MAX);
    let fanout = 2 + w.unsigned_abs() as usize;
    Shape { fanout: fanout as f64, threshold: if w >= 0 { fanout } else { 2 } }
}

/// The files to merge; fewer than two: nothing to do.
pub(super) fn merge(files: &[FileFacts], scaling: i32, situation: &Situation) -> Vec<u64> {
    let idle: Vec<&FileFacts> = files.iter().filter(|file| !file.busy).collect();
    merge_of(idle, scaling, situation)
}

pub(super) fn merge_of(files: Vec<&FileFacts>, scaling: i32, situation: &Situation) -> Vec<u64> {
    let shape = shape(scaling);
    let mut levels: Vec<Vec<&FileFacts>> = vec![];
    for file in files {
        let level = level(file, &shape, situation);
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[level].push(file);
    }
    // The lowest level first: its merges are short and keep the number of files down.
    for files in levels {
        let groups = overlapping_groups(files).into_iter();
        let deepest = groups.map(|group| (deepest_overlap(&group), group)).max_by_key(|(depth, _)| *depth);
        if let Some((depth, group)) = deepest
            && depth >= shape.threshold
        {
            return oldest(group);
        }
    }
    vec![]
}

/// The level of a file: how often the fanout fits into its density.
fn level(file: &FileFacts, shape: &Shape, situation: &Situation) -> usize {
    let of_shard = u64::MAX as f64 / f64::from(situation.shards.max(1));
    // A file with few partitions spans little; do not let that look like density without bound.
    let share = (file.span() as f64 / of_shard).clamp(0.01, 1.0);
    let density = file.bytes as f64 / share;
    // Flushes differ in size: up to twice the usual size belongs to the lowest level.
    let base = (situation.flush_bytes.max(1) * 2) as f64;
    if density < base { 0 } else { 1 + (density / base).log(shape.fanout) as usize }
}

fn oldest(mut group: Vec<&FileFacts>) -> Vec<u64> {
    group.sort_by_key(|file| (file.max_timestamp, file.number));
    group.iter().take(MERGE_FILES_MAX).map(|file| file.number).collect()
}
