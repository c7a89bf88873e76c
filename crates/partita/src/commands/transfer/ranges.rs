//! The ring in parts, so that several connections read a table at once.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Tokens above `after`, up to and with `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub after: i64,
    pub until: i64,
}

/// Parts of the ring, given away one after the other to whoever asks.
pub struct Ranges {
    parts: usize,
    next: AtomicUsize,
}

/// Parts for each connection: enough that they end at about the same time, however skewed the data is.
const PARTS_PER_CONNECTION: usize = 16;

impl Ranges {
    pub fn for_connections(connections: usize) -> Ranges {
        Ranges { parts: connections * PARTS_PER_CONNECTION, next: AtomicUsize::new(0) }
    }

    pub fn all(&self) -> usize {
        self.parts
    }

    pub fn take(&self) -> Option<Range> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        (at < self.parts).then(|| part(at, self.parts))
    }
}

/// Part `at` of `parts`. No key has the lowest token, so nothing is lost below the first.
pub fn part(at: usize, parts: usize) -> Range {
    let bound = |at: usize| {
        let share = (u128::from(u64::MAX) * at as u128 / parts as u128) as u64;
        // Ring positions are unsigned, tokens signed.
        (share ^ (1 << 63)).cast_signed()
    };
    Range { after: bound(at), until: bound(at + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_ring_once() {
        for parts in [1, 2, 7, 64] {
            let all: Vec<Range> = (0..parts).map(|at| part(at, parts)).collect();
            assert_eq!((all[0].after, all[parts - 1].until), (i64::MIN, i64::MAX));
            assert!(
                all.windows(2).all(|pair| pair[0].until == pair[1].after && pair[0].after < pair[0].until)
            );
        }
    }
}
