//! Seeded randomness: the same seed gives the same numbers on every machine. Not for secrets.

/// SplitMix64: tiny, and every seed is a good one.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// A stream of its own for one purpose, so that a question more in one place changes no answer elsewhere.
    pub fn stream(seed: u64, purpose: &str) -> Random {
        let hash = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Random::new(mix(seed ^ hash))
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// Above 0 and at most 1, so that its logarithm is finite.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 1.0) / (1u64 << 53) as f64
    }

    /// A count with this mean: how many of very many rows fall on one key.
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean <= 0.0 {
            return 0.0;
        }
        if mean > EXACT_MEAN_MAX {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0);
        }
        let floor = (-mean).exp();
        let (mut count, mut product) = (0.0, self.unit());
        while product > floor {
            count += 1.0;
            product *= self.unit();
        }
        count
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Up to here counts are drawn exactly; beyond, the normal curve differs by less than a per cent.
const EXACT_MEAN_MAX: f64 = 40.0;

/// A well-spread number from any number.
pub fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_mean_and_spread_they_should() {
        for mean in [0.2, 3.0, 40.0, 900.0] {
            let mut random = Random::stream(7, "test");
            let n = 20_000;
            let draws: Vec<f64> = (0..n).map(|_| random.poisson(mean)).collect();
            let average = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|d| (d - average).powi(2)).sum::<f64>() / f64::from(n);
            assert!((average / mean - 1.0).abs() < 0.03, "mean {mean}: {average}");
            assert!((variance / mean - 1.0).abs() < 0.06, "mean {mean}: variance {variance}");
        }
    }
}
