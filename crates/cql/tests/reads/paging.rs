//! Pages: any page size gives the same rows, in any order of connections.

use crate::harness::Bench;
use cql::CqlError;

fn bench() -> Bench {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, s int static, v int, PRIMARY KEY (k, c))");
    for k in 0..7 {
        for c in 0..k {
            bench.run(&format!("INSERT INTO t (k, c, v) VALUES ({k}, {c}, {})", k * 10 + c)).unwrap();
        }
        if k % 3 != 1 {
            bench.run(&format!("INSERT INTO t (k, s) VALUES ({k}, {k})")).unwrap();
        }
    }
    bench
}

const STATEMENTS: &[&str] = &[
    "SELECT * FROM t",
    "SELECT * FROM t LIMIT 9",
    "SELECT * FROM t PER PARTITION LIMIT 2",
    "SELECT * FROM t PER PARTITION LIMIT 2 LIMIT 5",
    "SELECT DISTINCT k, s FROM t",
    "SELECT k, c FROM t WHERE k IN (6, 0, 3, 4)",
    "SELECT k, c FROM t WHERE k IN (6, 0, 3, 4) ORDER BY c DESC",
    "SELECT k, c FROM t WHERE k IN (6, 0, 3, 4) ORDER BY c ASC LIMIT 7",
    "SELECT k, c FROM t WHERE k IN (6, 5, 3, 4) ORDER BY c ASC PER PARTITION LIMIT 2",
    "SELECT k, c, s FROM t WHERE k IN (6, 0, 3, 4, 2) ORDER BY c DESC PER PARTITION LIMIT 3 LIMIT 8",
    "SELECT k, c, s FROM t WHERE k IN (6, 0, 3, 4, 2) ORDER BY c ASC",
    "SELECT k, c, v FROM t WHERE k IN (6, 0, 3, 4, 2) AND v > 31 ORDER BY c DESC ALLOW FILTERING",
    "SELECT k, c FROM t WHERE k IN (6, 0, 3, 4, 2) AND c > 1 AND c <= 4 ORDER BY c DESC",
    "SELECT k, c FROM t WHERE k IN (6, 0, 3, 4, 2) AND c IN (1, 3, 5) ORDER BY c",
    "SELECT * FROM t WHERE k = 6",
    "SELECT * FROM t WHERE k = 6 ORDER BY c DESC",
    "SELECT * FROM t WHERE k = 6 AND c > 1 AND c < 5 ORDER BY c DESC",
    "SELECT * FROM t WHERE k = 6 AND c IN (5, 1, 3)",
    "SELECT * FROM t WHERE v > 30 ALLOW FILTERING",
    "SELECT * FROM t WHERE token(k) > -4069959284402364209",
    "SELECT k, sum(v) FROM t GROUP BY k",
    "SELECT k, c, count(*) FROM t GROUP BY k, c",
    "SELECT k, c, count(*) FROM t GROUP BY k, c PER PARTITION LIMIT 2",
    "SELECT k, c, count(*) FROM t GROUP BY k, c LIMIT 8",
    "SELECT count(*) FROM t",
    "SELECT JSON k, v FROM t",
];

#[test]
fn any_page_size_gives_the_same_rows() {
    let mut bench = bench();
    for statement in STATEMENTS {
        let whole = bench.run_with(statement, &[]);
        assert!(!whole.is_empty(), "{statement}");
        for size in 1..=whole.len() as u32 + 2 {
            let pages = bench.pages(statement, size);
            assert_eq!(pages.concat(), whole, "{statement} by {size}");
            let fits = pages.iter().all(|page| page.len() <= size as usize);
            assert!(fits, "{statement} by {size}: {pages:?}");
            // Only behind a full page may another one be empty.
            let (last, others) = pages.split_last().unwrap();
            assert!(others.iter().all(|page| !page.is_empty()), "{statement} by {size}: {pages:?}");
            let full = others.last().is_some_and(|page| page.len() == size as usize);
            assert!(!last.is_empty() || full, "{statement} by {size}: {pages:?}");
        }
    }
}

#[test]
fn merged_pages_stay_correct_while_rows_are_written() {
    let mut bench = bench();
    let statement = "SELECT k, c FROM t WHERE k IN (4, 5) ORDER BY c";
    let (first, state) = bench.page(statement, 3, None);
    assert_eq!(first, ["4 | 0", "5 | 0", "4 | 1"]);
    // Behind the cursor: not seen. Ahead of it: seen.
    bench.run("INSERT INTO t (k, c, v) VALUES (5, -1, 0)").unwrap();
    bench.run("INSERT INTO t (k, c, v) VALUES (4, 9, 0)").unwrap();
    bench.run("DELETE FROM t WHERE k = 5 AND c = 2").unwrap();
    let (rest, state) = bench.page(statement, 100, state.as_deref());
    assert_eq!(rest, ["5 | 1", "4 | 2", "4 | 3", "5 | 3", "5 | 4", "4 | 9"]);
    assert_eq!(state, None);
}

/// A cursor of a merge holds one place, however many partitions are merged.
#[test]
fn the_cursor_of_a_merge_does_not_grow_with_its_partitions() {
    let mut bench = Bench::new("CREATE TABLE w (k int, c text, d int, PRIMARY KEY (k, c, d))");
    for k in 0..300 {
        bench.run(&format!("INSERT INTO w (k, c, d) VALUES ({k}, 'some text {}', {k})", k % 7)).unwrap();
    }
    let statement = |count: i32, order: &str| {
        let keys: Vec<String> = (0..count).map(|k| k.to_string()).collect();
        format!("SELECT k, c FROM w WHERE k IN ({}) ORDER BY c {order}", keys.join(", "))
    };
    for order in ["ASC", "DESC"] {
        let sizes: Vec<usize> = [3, 300]
            .map(|count| {
                let statement = statement(count, order);
                let whole = bench.run_with(&statement, &[]);
                let (page, state) = bench.page(&statement, 2, None);
                assert_eq!(page, whole[..2]);
                // Ties of the ordered column are given by the number of the partition, each row once.
                assert_eq!(bench.pages(&statement, 7).concat(), whole);
                state.unwrap().len()
            })
            .into();
        assert!(sizes[1] <= sizes[0] + 2, "{sizes:?}");
        // For the same partitions in the same order only.
        let (_, state) = bench.page(&statement(3, order), 2, None);
        let other = if order == "ASC" { "DESC" } else { "ASC" };
        for foreign in [statement(4, order), statement(3, other)] {
            assert!(bench.try_page(&foreign, 2, state.as_deref()).is_err(), "{foreign}");
        }
    }
}

#[test]
fn a_paging_state_that_is_not_ours_is_refused() {
    let mut bench = bench();
    let (_, state) = bench.page("SELECT * FROM t", 2, None);
    let state = state.unwrap();
    let mut damaged = state.clone();
    damaged[3] ^= 1;
    for bad in [&damaged[..], b"", b"\x01", &state[1..]] {
        assert_eq!(
            bench.try_page("SELECT * FROM t", 2, Some(bad)).unwrap_err(),
            CqlError::Protocol("Invalid value for the paging state".into())
        );
    }
    // Of another table, or for partitions the statement does not name.
    bench.run("CREATE TABLE other (k int PRIMARY KEY)").unwrap();
    assert!(bench.try_page("SELECT * FROM other", 2, Some(&state)).is_err());
    assert!(bench.try_page("SELECT * FROM t WHERE k = 99", 2, Some(&state)).is_err());
}
