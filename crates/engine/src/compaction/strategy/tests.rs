//! Strategies as tables: files in, choice out.

use super::*;

const MIB: u64 = 1 << 20;

/// A file over the part `[from, to)` of the ring, in hundredths.
fn file(number: u64, bytes: u64, (from, to): (u64, u64)) -> FileFacts {
    let prefix = |hundredth: u64| {
        let position = u64::MAX / 100 * hundredth;
        [&position.to_be_bytes()[..], &[0, 1, b'k']].concat()
    };
    FileFacts {
        number,
        bytes,
        first_prefix: prefix(from),
        last_prefix: prefix(to),
        rows: 1000,
        tombstones: 0,
        expiring: 0,
        min_timestamp: number as i64 * 1000,
        max_timestamp: number as i64 * 1000 + 999,
        max_local_seconds: 0,
        max_expiry: 0,
        all_expired_at: NEVER,
        log_max: 1,
        busy: false,
    }
}

fn situation() -> Situation {
    Situation {
        now_seconds: 1000,
        grace_seconds: 100,
        oldest_live_segment: 10,
        memtables_min_timestamp: None,
        flush_bytes: 64 * MIB,
        shards: 1,
    }
}

fn whole(number: u64, bytes: u64) -> FileFacts {
    file(number, bytes, (0, 99))
}

#[test]
fn unified_merges_when_enough_files_of_a_level_overlap() {
    let tiered = Compaction::Unified { scaling: 2 };
    let levelled = Compaction::Unified { scaling: -2 };
    let small = |count: u64| (1..=count).map(|n| whole(n, 60 * MIB)).collect::<Vec<_>>();
    let cases: Vec<(&str, Compaction, Vec<FileFacts>, Choice)> = vec![
        ("no files", tiered, vec![], Choice::Nothing),
        ("three of four", tiered, small(3), Choice::Nothing),
        ("four of four", tiered, small(4), Choice::Merge(vec![1, 2, 3, 4])),
        ("levelled merges two", levelled, small(2), Choice::Merge(vec![1, 2])),
        ("off", Compaction::Off, small(9), Choice::Nothing),
        (
            "different levels do not add up",
            tiered,
            vec![whole(1, 60 * MIB), whole(2, 60 * MIB), whole(3, 60 * MIB), whole(4, 600 * MIB)],
            Choice::Nothing,
        ),
        (
            "files side by side do not overlap",
            tiered,
            (0..8).map(|n| file(n + 1, 30 * MIB, (n * 10, n * 10 + 9))).collect(),
            Choice::Nothing,
        ),
        (
            "outputs that were split keep the level of their run",
            tiered,
            (0..10)
                .map(|n| file(n + 1, 60 * MIB, (n * 10, n * 10 + 9)))
                .chain((11..14).map(|n| whole(n, 60 * MIB)))
                .collect(),
            Choice::Nothing,
        ),
        (
            "busy files are left alone",
            tiered,
            small(5).into_iter().map(|f| FileFacts { busy: f.number < 3, ..f }).collect(),
            Choice::Nothing,
        ),
    ];
    for (name, strategy, files, expected) in cases {
        assert_eq!(choose(strategy, &files, &situation()), expected, "{name}");
    }
    let many: Vec<FileFacts> = (1..=100).map(|n| whole(n, MIB)).collect();
    let Choice::Merge(chosen) = choose(tiered, &many, &situation()) else { panic!() };
    assert_eq!(chosen, (1..=MERGE_FILES_MAX as u64).collect::<Vec<_>>(), "the oldest, up to the limit");
}

#[test]
fn unified_settles_with_bounded_rewriting_and_overlap() {
    // Flush after flush; merges happen at once. Count bytes written and files that lie over each other.
    for (scaling, rewritten_max, files_max) in [(2, 6.0, 16), (0, 12.0, 14), (-4, 40.0, 8), (8, 5.0, 40)] {
        let mut files: Vec<FileFacts> = vec![];
        let (mut number, mut written, mut deepest) = (0, 0u64, 0);
        let flushes = 400;
        for _ in 0..flushes {
            number += 1;
            files.push(whole(number, 64 * MIB));
            written += 64 * MIB;
            while let Choice::Merge(chosen) = choose(Compaction::Unified { scaling }, &files, &situation()) {
                let (inputs, rest): (Vec<_>, Vec<_>) =
                    files.into_iter().partition(|f| chosen.contains(&f.number));
                assert!(inputs.len() > 1, "a merge of one file would never end");
                let bytes: u64 = inputs.iter().map(|f| f.bytes).sum();
                files = rest;
                number += 1;
                written += bytes;
                files.push(whole(number, bytes));
            }
            deepest = deepest.max(files.len());
        }
        let amplification = written as f64 / (flushes * 64 * MIB) as f64;
        assert!(amplification < rewritten_max, "W = {scaling}: {amplification}");
        assert!(deepest <= files_max, "W = {scaling}: {deepest} files");
    }
}

#[test]
fn windows_are_merged_apart_and_once() {
    let strategy = Compaction::TimeWindow { window_seconds: 60 };
    let at = |number: u64, second: i64| FileFacts {
        max_timestamp: second * 1_000_000,
        min_timestamp: second * 1_000_000 - 10,
        ..whole(number, 10 * MIB)
    };
    let check = |files: Vec<FileFacts>, expected: Choice| {
        assert_eq!(choose(strategy, &files, &situation()), expected);
    };
    check(vec![at(1, 10), at(2, 70), at(3, 130)], Choice::Nothing);
    check(vec![at(1, 10), at(2, 20), at(3, 130)], Choice::Merge(vec![1, 2]));
    check(vec![at(1, 130), at(2, 140), at(3, 150)], Choice::Nothing);
    check(vec![at(1, 130), at(2, 140), at(3, 150), at(4, 160)], Choice::Merge(vec![1, 2, 3, 4]));
    check(vec![at(1, -10), at(2, -20), at(3, 0)], Choice::Merge(vec![1, 2]));
}

#[test]
fn expired_files_are_dropped_unless_they_hide_something() {
    let strategy = Compaction::TimeWindow { window_seconds: 60 };
    let dead = |number: u64| FileFacts {
        all_expired_at: 900,
        max_local_seconds: 850,
        max_expiry: 900,
        expiring: 1000,
        ..whole(number, MIB)
    };
    let check = |name: &str, files: Vec<FileFacts>, situation: Situation, expected: Choice| {
        assert_eq!(choose(strategy, &files, &situation), expected, "{name}");
    };
    check("alone", vec![dead(1)], situation(), Choice::Drop(vec![1]));
    check("newer data over it", vec![dead(1), whole(2, MIB)], situation(), Choice::Drop(vec![1]));
    check("older data beneath it", vec![whole(1, MIB), dead(2)], situation(), Choice::Nothing);
    check("older data that goes too", vec![dead(1), dead(2)], situation(), Choice::Drop(vec![1, 2]));
    let apart =
        vec![file(1, MIB, (0, 9)), FileFacts { first_prefix: file(0, 0, (20, 30)).first_prefix, ..dead(2) }];
    check("older data of other partitions", apart, situation(), Choice::Drop(vec![2]));
    check("grace", vec![dead(1)], Situation { grace_seconds: 151, ..situation() }, Choice::Nothing);
    check("the log", vec![dead(1)], Situation { oldest_live_segment: 1, ..situation() }, Choice::Nothing);
    check(
        "not yet",
        vec![dead(1)],
        Situation { now_seconds: 899, grace_seconds: 0, ..situation() },
        Choice::Nothing,
    );
    let older = Situation { memtables_min_timestamp: Some(1999), ..situation() };
    check("a memtable with older data", vec![dead(1)], older, Choice::Nothing);
    let busy = FileFacts { busy: true, ..dead(1) };
    check("busy", vec![busy.clone(), dead(2)], situation(), Choice::Nothing);
}

#[test]
fn a_file_full_of_tombstones_is_rewritten_alone_if_that_helps() {
    let strategy = Compaction::Unified { scaling: 2 };
    let full = |number| FileFacts { tombstones: 500, max_local_seconds: 900, ..whole(number, MIB) };
    assert_eq!(choose(strategy, &[full(1)], &situation()), Choice::Merge(vec![1]));
    assert_eq!(
        choose(strategy, &[whole(1, MIB), full(2)], &situation()),
        Choice::Nothing,
        "older data beneath"
    );
    let fresh = FileFacts { max_local_seconds: 901, ..full(1) };
    assert_eq!(choose(strategy, &[fresh], &situation()), Choice::Nothing, "grace");
    let few = FileFacts { tombstones: 100, ..full(1) };
    assert_eq!(choose(strategy, &[few], &situation()), Choice::Nothing);
    let unexpired = FileFacts { tombstones: 0, expiring: 900, max_expiry: 1001, ..full(1) };
    assert_eq!(choose(strategy, &[unexpired], &situation()), Choice::Nothing);
}
