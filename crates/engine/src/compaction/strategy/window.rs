//! Time-window compaction: files of one window of write time are merged with each other only, so that
//! data written together stays together and goes together when it has expired.

use super::{FileFacts, MERGE_FILES_MAX, Situation, deepest_overlap, overlapping_groups, unified};
use std::collections::BTreeMap;

/// Inside the newest window files are merged as tiers of four.
const NEWEST_SCALING: i32 = 2;

/// The files to merge; fewer than two: nothing to do.
pub(super) fn merge(files: &[FileFacts], window_seconds: u64, situation: &Situation) -> Vec<u64> {
    let window_micros = i64::try_from(window_seconds.max(1).saturating_mul(1_000_000)).unwrap_or(i64::MAX);
    let mut windows: BTreeMap<i64, Vec<&FileFacts>> = BTreeMap::new();
    for file in files {
        windows.entry(file.max_timestamp.div_euclid(window_micros)).or_default().push(file);
    }
    let Some((_, newest)) = windows.pop_last() else { return vec![] };
    // A window that is over becomes one run, once.
    for (_, files) in windows.into_iter().rev() {
        let idle = files.into_iter().filter(|file| !file.busy).collect();
        let group = overlapping_groups(idle).into_iter().find(|group| deepest_overlap(group) > 1);
        if let Some(group) = group {
            return group.iter().take(MERGE_FILES_MAX).map(|file| file.number).collect();
        }
    }
    unified::merge_of(newest.into_iter().filter(|file| !file.busy).collect(), NEWEST_SCALING, situation)
}
