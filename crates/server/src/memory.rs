//! The server's memory, divided: what each kind of use may have of it, so that together they stay below one number.
//!
//! Memtables, the cache and the texts of prepared statements have fixed sizes of their own. What is left is for requests
//! under way, for answers, and for work: receiving long messages, parsing, planning, sorting, batches, which take their
//! shares from one [`Budget`] as they need them. Who finds it empty is told that the server is overloaded; who is in the
//! middle of sending a long message is not read further until there is room.

use crate::config::Limits;
use rt::Budget;

/// Of what is left after the fixed parts, in eighths.
const REQUESTS_EIGHTHS: usize = 2;
const ANSWERS_EIGHTHS: usize = 3;
/// With less, ordinary requests would be refused.
const LEFT_BYTES_MIN: usize = 64 << 20;
/// Of the machine's memory, unless somebody says otherwise: 3 / 4.
const MACHINE_QUARTERS: u64 = 3;

/// The limits with every part within the whole, and the budget for work.
pub fn divide(limits: Limits, shards: usize) -> Result<(Limits, Budget), String> {
    divide_of(limits, shards, machine_bytes())
}

fn divide_of(mut limits: Limits, shards: usize, machine: Option<u64>) -> Result<(Limits, Budget), String> {
    // Every shard binds the statements it is asked for.
    let statements = limits.statement_bytes_max.saturating_mul(1 + shards);
    let fixed = limits.memtable_bytes_max.saturating_add(limits.cache_bytes_max).saturating_add(statements);
    let all = match (limits.memory_bytes_max, machine) {
        (Some(all), _) => all,
        (None, Some(machine)) => {
            // A small machine is the operator's choice: the parts that he may set are.
            let part = usize::try_from(machine / 4 * MACHINE_QUARTERS).unwrap_or(usize::MAX);
            part.max(fixed.saturating_add(LEFT_BYTES_MIN))
        }
        (None, None) => usize::MAX,
    };
    let left = all.checked_sub(fixed).filter(|left| *left >= LEFT_BYTES_MIN).ok_or_else(|| {
        let (needed, mib) = ((fixed + LEFT_BYTES_MIN) >> 20, |bytes: usize| bytes >> 20);
        format!(
            "--memory-mib {} is not enough: {} MiB for memtables, {} for the cache, {} for statements and {} for requests make \
             {needed}. Give more, or lower --memtable-mib, --cache-mib or --statements-mib-max",
            mib(all),
            mib(limits.memtable_bytes_max),
            mib(limits.cache_bytes_max),
            mib(statements),
            mib(LEFT_BYTES_MIN)
        )
    })?;
    let eighths = |count: usize| left / 8 * count;
    limits.in_flight_bytes_max = limits.in_flight_bytes_max.min(eighths(REQUESTS_EIGHTHS) / shards);
    limits.answer_bytes_max = limits.answer_bytes_max.min(eighths(ANSWERS_EIGHTHS) / shards);
    limits.memory_bytes_max = Some(all);
    // What requests and answers leave is for work.
    let taken = (limits.in_flight_bytes_max + limits.answer_bytes_max).saturating_mul(shards);
    Ok((limits, Budget::new(left - taken)))
}

/// What this process may have: of its control group, else of the machine. `None` where nobody says.
fn machine_bytes() -> Option<u64> {
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse::<u64>().ok());
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
    });
    group.into_iter().chain(machine).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(limits: &Limits, work: &Budget, shards: usize) -> usize {
        limits.memtable_bytes_max
            + limits.cache_bytes_max
            + limits.statement_bytes_max * (1 + shards)
            + (limits.in_flight_bytes_max + limits.answer_bytes_max) * shards
            + work.bytes_max()
    }

    #[test]
    fn the_parts_make_the_whole() {
        for shards in [1, 2, 8, 64] {
            for mib in [1700, 2048, 8192, 1 << 20] {
                let limits = Limits { memory_bytes_max: Some(mib << 20), ..Limits::default() };
                let (limits, work) = divide_of(limits, shards, None).unwrap();
                assert_eq!(total(&limits, &work, shards), mib << 20);
                assert!(work.bytes_max() >= 16 << 20 && limits.in_flight_bytes_max > 0);
            }
        }
    }

    #[test]
    fn a_large_machine_changes_nothing_and_a_small_one_still_starts() {
        let usual = Limits::default();
        let (limits, _) = divide_of(usual.clone(), 4, Some(64 << 30)).unwrap();
        assert_eq!(limits.in_flight_bytes_max, usual.in_flight_bytes_max);
        assert_eq!(limits.answer_bytes_max, usual.answer_bytes_max);
        let (limits, work) = divide_of(usual.clone(), 2, Some(256 << 20)).unwrap();
        assert!(limits.in_flight_bytes_max >= 8 << 20 && work.bytes_max() >= 16 << 20, "{limits:?}");
        assert!(divide_of(usual, 2, None).is_ok());
    }

    #[test]
    fn too_little_is_refused_with_the_sum() {
        let limits = Limits { memory_bytes_max: Some(400 << 20), ..Limits::default() };
        let text = divide_of(limits, 2, None).err().unwrap();
        assert!(text.contains("--memory-mib 400") && text.contains("496"), "{text}");
    }
}
