//! Which rows may differ at all: sums over parts of a copy, of what its definition makes and of what is stored.
//!
//! A row belongs to the part that a hash of its place in the copy gives, so parts are alike in size whatever the partitions are. What the
//! table makes is added to the sum of its part, what the copy has is taken away: a part where both are the same ends at zero. Both are read in
//! order, page by page; only rows of other parts have to be looked at one by one.
//!
//! Rows that are written between the two readings make their parts differ, which costs a look at these parts and no more.
//! Guarantee: a row that differs, and is not written meanwhile, is in a part that differs, but for a chance of one in 2^64.

use model::token::murmur3_h1;

/// Half a megabyte of sums. In a table of a million rows a part has fifteen.
const PARTS: usize = 1 << 16;

/// See the module.
pub(super) struct Sums {
    sums: Vec<u64>,
    /// The bytes of the row at hand.
    bytes: Vec<u8>,
}

/// Which side a row is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Definition,
    Copy,
}

impl Sums {
    pub(super) fn new() -> Sums {
        Sums { sums: vec![0; PARTS], bytes: Vec::new() }
    }

    /// Counts a row: where it is in the copy, and what is in it.
    pub(super) fn note<'c>(
        &mut self,
        side: Side,
        place: [&[u8]; 2],
        content: impl IntoIterator<Item = &'c [u8]>,
    ) {
        let part = self.place(place);
        for value in content {
            put(value, &mut self.bytes);
        }
        let sum = murmur3_h1(&self.bytes) as u64;
        if let Some(part) = self.sums.get_mut(part) {
            *part = match side {
                Side::Definition => part.wrapping_add(sum),
                Side::Copy => part.wrapping_sub(sum),
            };
        }
    }

    /// Whether rows at this place may differ.
    pub(super) fn differs(&mut self, place: [&[u8]; 2]) -> bool {
        let part = self.place(place);
        self.sums.get(part).is_some_and(|sum| *sum != 0)
    }

    pub(super) fn any_differs(&self) -> bool {
        self.sums.iter().any(|sum| *sum != 0)
    }

    /// The part of a place, whose bytes are then at hand.
    fn place(&mut self, place: [&[u8]; 2]) -> usize {
        self.bytes.clear();
        for bytes in place {
            put(bytes, &mut self.bytes);
        }
        murmur3_h1(&self.bytes) as usize % PARTS
    }
}

fn put(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(n: u32) -> ([u8; 4], [u8; 1]) {
        (n.to_be_bytes(), [n as u8])
    }

    #[test]
    fn rows_that_are_alike_on_both_sides_cancel_in_any_order() {
        let mut sums = Sums::new();
        for (side, numbers) in
            [(Side::Definition, Vec::from_iter(0..1000u32)), (Side::Copy, (0..1000).rev().collect())]
        {
            for n in numbers {
                let (key, clustering) = place(n);
                sums.note(side, [&key, &clustering], [&b"a"[..], &key]);
            }
        }
        assert!(!sums.any_differs());
    }

    #[test]
    fn a_row_that_is_missing_extra_or_stale_makes_its_part_differ() {
        let with = |change: &dyn Fn(&mut Sums)| {
            let mut sums = Sums::new();
            for n in 0..1000 {
                let (key, clustering) = place(n);
                sums.note(Side::Definition, [&key, &clustering], [&b"v"[..]]);
                if n != 500 {
                    sums.note(Side::Copy, [&key, &clustering], [&b"v"[..]]);
                }
            }
            change(&mut sums);
            let (key, clustering) = place(500);
            let differing = (0..1000).filter(|n| sums.differs([&place(*n).0, &place(*n).1])).count();
            (sums.any_differs(), sums.differs([&key, &clustering]), differing)
        };
        let (key, clustering) = place(500);
        let (any, here, differing) = with(&|_| ());
        assert!(any && here && differing < 10, "missing: {differing}");
        assert_eq!(with(&|sums| sums.note(Side::Copy, [&key, &clustering], [&b"v"[..]])), (false, false, 0));
        for stale in [&[&b"w"[..]][..], &[], &[b"v", b""], &[b"", b"v"]] {
            let stored = stale.to_vec();
            let (any, here, _) =
                with(&|sums| sums.note(Side::Copy, [&key, &clustering], stored.iter().copied()));
            assert!(any && here, "stale: {stale:?}");
        }
        let (any, _, _) = with(&|sums| {
            sums.note(Side::Copy, [&key, &clustering], [&b"v"[..]]);
            sums.note(Side::Copy, [&[9], &[9]], [&b"v"[..]]);
        });
        assert!(any, "extra");
    }
}
