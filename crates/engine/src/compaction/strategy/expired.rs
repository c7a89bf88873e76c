//! Files in which nothing is live any more and which hide nothing: they go without being read.

use super::{FileFacts, Situation, lives_for_ever, purge_is_allowed};
use model::deletion::Timestamp;

/// The numbers of the files that may be dropped together.
pub(super) fn expired(files: &[FileFacts], situation: &Situation) -> Vec<u64> {
    let mut candidates: Vec<&FileFacts> = files
        .iter()
        .filter(|file| !file.busy && !lives_for_ever(file))
        .filter(|file| file.all_expired_at <= situation.now_seconds && purge_is_allowed(file, situation))
        .collect();
    // Dropping a file must not uncover older data in a file that stays; one that stays may force another
    // to stay, so repeat until nothing changes.
    loop {
        let before = candidates.len();
        let staying: Vec<&FileFacts> =
            files.iter().filter(|file| !candidates.iter().any(|c| c.number == file.number)).collect();
        candidates.retain(|candidate| {
            let beneath =
                staying.iter().filter(|file| file.overlaps(candidate)).map(|file| file.min_timestamp);
            let oldest = beneath.chain(situation.memtables_min_timestamp).min().unwrap_or(Timestamp::MAX);
            oldest > candidate.max_timestamp
        });
        if candidates.len() == before {
            return candidates.iter().map(|file| file.number).collect();
        }
    }
}
