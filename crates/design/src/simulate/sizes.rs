//! Partition sizes as weighted counts: quantiles, totals, how many are past a limit.

/// Rows per partition with the number of partitions that have so many. Empty partitions do not exist.
#[derive(Debug, Default, Clone)]
pub struct Sizes {
    counts: Vec<(f64, f64)>,
}

impl Sizes {
    pub fn add(&mut self, rows: f64, partitions: f64) {
        if rows > 0.0 && partitions > 0.0 {
            self.counts.push((rows, partitions));
        }
    }

    /// Partitions whose rows are what chance makes of a mean: some have none, some a few more.
    pub fn add_by_chance(&mut self, mean: f64, partitions: f64) {
        if mean > CHANCE_MEAN_MAX {
            self.add(mean, partitions);
            return;
        }
        let mut probability = (-mean).exp();
        let mut seen = probability;
        let mut rows = 0.0;
        while seen < 1.0 - 1e-9 && rows < 10.0 * CHANCE_MEAN_MAX {
            rows += 1.0;
            probability *= mean / rows;
            seen += probability;
            self.add(rows, partitions * probability);
        }
    }

    pub fn partitions(&self) -> f64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    pub fn rows(&self) -> f64 {
        self.counts.iter().map(|(rows, count)| rows * count).sum()
    }

    pub fn largest(&self) -> f64 {
        // A size that no partition is expected to have is not the largest.
        self.counts.iter().filter(|(_, count)| *count >= 0.5).map(|(rows, _)| *rows).fold(0.0, f64::max)
    }

    /// Partitions with more rows than this.
    pub fn over(&self, rows_max: f64) -> f64 {
        // A sum of nothing is minus zero.
        self.counts.iter().filter(|(rows, _)| *rows > rows_max).map(|(_, count)| count).sum::<f64>() + 0.0
    }

    /// Rows at each quantile.
    pub fn quantiles<const N: usize>(&mut self, wanted: [f64; N]) -> [f64; N] {
        wanted.map(|q| quantile(&mut self.counts, q))
    }

    /// Partitions by power of two of their bytes, from the smallest to the largest that occurs.
    pub fn histogram(&self, row_bytes: f64) -> Vec<(f64, f64)> {
        let mut buckets: Vec<f64> = vec![0.0; 64];
        for (rows, count) in &self.counts {
            let power = (rows * row_bytes).max(1.0).log2().ceil().clamp(0.0, 63.0) as usize;
            buckets[power] += count;
        }
        let first = buckets.iter().position(|n| *n > 0.0).unwrap_or(0);
        let last = buckets.iter().rposition(|n| *n > 0.0).unwrap_or(0);
        (first..=last).map(|power| (2f64.powi(power as i32), buckets[power])).collect()
    }
}

/// Above this mean a count differs from it by a few per cent at most, and the mean stands for it.
const CHANCE_MEAN_MAX: f64 = 30.0;

/// The value at a quantile of weighted values.
pub fn quantile(values: &mut [(f64, f64)], quantile: f64) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = values.iter().map(|(_, count)| count).sum::<f64>() * quantile;
    let mut seen = 0.0;
    for (value, count) in values.iter() {
        seen += count;
        if seen >= wanted - 1e-9 {
            return *value;
        }
    }
    values.last().map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_count_partitions() {
        let mut sizes = Sizes::default();
        sizes.add(1.0, 98.0);
        sizes.add(10.0, 1.0);
        sizes.add(1_000.0, 1.0);
        sizes.add(0.0, 5_000.0);
        assert_eq!(sizes.quantiles([0.5, 0.98, 0.985, 1.0]), [1.0, 1.0, 10.0, 1_000.0]);
        assert_eq!((sizes.partitions(), sizes.rows(), sizes.over(10.0)), (100.0, 1_108.0, 1.0));
        assert_eq!(sizes.histogram(1.0).iter().map(|(_, n)| n).sum::<f64>(), 100.0);
    }

    #[test]
    fn chance_keeps_the_rows() {
        let mut sizes = Sizes::default();
        sizes.add_by_chance(0.3, 10_000.0);
        assert!((sizes.rows() - 3_000.0).abs() < 1.0);
        assert!((sizes.partitions() - 10_000.0 * (1.0 - (-0.3f64).exp())).abs() < 1.0);
    }
}
