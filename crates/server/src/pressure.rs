//! How long the requests of clients take at present, for jobs that slow down when they suffer.

use crate::metrics::{BUCKETS, bucket_bound_micros};
use crate::shard::{Shard, Shared};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Looks that a number is made of: what was answered in the last two seconds.
const LOOKS: usize = 4;
/// Fewer requests tell nothing, and nobody suffers.
const REQUESTS_MIN: u64 = 20;

type Counts = [u64; BUCKETS + 1];

/// Looks while a job wants to know; for one task of the server.
pub async fn watch(shard: Rc<Shard>) {
    let mut looks: VecDeque<Counts> = VecDeque::with_capacity(LOOKS + 1);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let jobs = shard.shared.catalogue.jobs();
        if !jobs.wants_p99() {
            looks.clear();
            continue;
        }
        looks.push_back(counts(&shard.shared));
        if looks.len() > LOOKS {
            looks.pop_front();
        }
        if let (Some(first), Some(last)) = (looks.front(), looks.back()) {
            jobs.p99().note(p99_micros(first, last));
        }
    }
}

/// Requests of all kinds and shards, by how long they took at most.
fn counts(shared: &Shared) -> Counts {
    let mut sum = [0; BUCKETS + 1];
    let latencies = shared.metrics.iter().flat_map(|shard| &shard.latency);
    for (counts, _) in latencies.map(crate::metrics::Histogram::cumulative) {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sum
}

/// What 99 of 100 requests between two looks did not exceed, at most twice too high; 0: there were too few.
fn p99_micros(first: &Counts, last: &Counts) -> u64 {
    let between = |bucket: usize| last[bucket].saturating_sub(first[bucket]);
    let all = between(BUCKETS);
    if all < REQUESTS_MIN {
        return 0;
    }
    let wanted = all - all / 100;
    (0..BUCKETS).find(|bucket| between(*bucket) >= wanted).map_or(u64::MAX, bucket_bound_micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Histogram;

    #[test]
    fn the_last_looks_count_and_nothing_before() {
        let histogram = Histogram::default();
        histogram.record_many(8_000_000, 1_000);
        let first = histogram.cumulative().0;
        assert_eq!(p99_micros(&first, &first), 0, "nobody asks for anything");
        histogram.record_many(900, 990);
        histogram.record_many(30_000, 10);
        let second = histogram.cumulative().0;
        assert!((900..2_000).contains(&p99_micros(&first, &second)));
        histogram.record_many(30_000, 10);
        let third = histogram.cumulative().0;
        assert!((30_000..60_000).contains(&p99_micros(&first, &third)));
        assert!((30_000..60_000).contains(&p99_micros(&second, &third)) || p99_micros(&second, &third) == 0);
    }
}
