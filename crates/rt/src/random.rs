//! Seeded pseudo-random numbers (splitmix64): fast, repeatable, not for secrets.

#[derive(Clone, Debug)]
pub struct Random(u64);

/// A number that nobody can foresee: the standard library takes the keys of its hashers from the system.
pub fn unforeseen() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

impl Random {
    pub fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`; zero when `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True once in `n` calls on average.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_bounds_hold() {
        let run = |seed| -> Vec<u64> {
            let mut random = Random::seeded(seed);
            (1..100).map(|bound| random.below(bound)).collect()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        assert!(run(9).iter().zip(1..).all(|(&n, bound)| n < bound));
        assert_ne!(unforeseen(), unforeseen());
        let mut bytes = [0; 13];
        Random::seeded(1).fill(&mut bytes);
        assert!(bytes.iter().any(|&b| b != 0));
    }
}
