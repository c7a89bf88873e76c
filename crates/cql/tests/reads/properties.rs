//! Random WHERE clauses: what slices give is what filtering every row gives, in order, reversed, in pages.

use crate::harness::Bench;
use proptest::prelude::*;
use std::cell::RefCell;

/// One value per clustering column.
type Row = [i32; 3];

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Equalities and INs on leading columns, then bounds on the columns behind them.
#[derive(Clone, Debug)]
struct Clause {
    /// One list of alternatives per leading column; a list of one is an equality.
    among: Vec<Vec<i32>>,
    start: Option<Bound>,
    end: Option<Bound>,
}

#[derive(Clone, Debug)]
struct Bound {
    /// A tuple of this many values, cut to the columns that are left.
    values: Vec<i32>,
    inclusive: bool,
}

fn bound() -> impl Strategy<Value = Option<Bound>> {
    let values = prop::collection::vec(-1..4i32, 1..4);
    prop::option::of((values, any::<bool>()).prop_map(|(values, inclusive)| Bound { values, inclusive }))
}

fn clause() -> impl Strategy<Value = Clause> {
    let alternatives = prop::collection::vec(0..3i32, 1..4);
    (prop::collection::vec(alternatives, 0..4), bound(), bound()).prop_map(|(among, start, end)| {
        let left = 3 - among.len();
        let cut = |bound: Option<Bound>| {
            bound
                .filter(|_| left > 0)
                .map(|b| Bound { values: b.values[..b.values.len().min(left)].to_vec(), ..b })
        };
        Clause { start: cut(start), end: cut(end), among }
    })
}

impl Clause {
    fn text(&self) -> String {
        let mut text = String::from("k = 1");
        for (name, values) in NAMES.iter().zip(&self.among) {
            let list = |v: &[i32]| v.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
            match values.as_slice() {
                [one] => text.push_str(&format!(" AND {name} = {one}")),
                many => text.push_str(&format!(" AND {name} IN ({})", list(many))),
            }
        }
        for (bound, strict, inclusive) in [(&self.start, ">", ">="), (&self.end, "<", "<=")] {
            let Some(bound) = bound else { continue };
            let names = NAMES[self.among.len()..][..bound.values.len()].join(", ");
            let values = bound.values.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
            let op = if bound.inclusive { inclusive } else { strict };
            text.push_str(&format!(" AND ({names}) {op} ({values})"));
        }
        text
    }

    fn holds(&self, row: &Row) -> bool {
        let rest = &row[self.among.len()..];
        let beyond = |bound: &Bound, wanted: std::cmp::Ordering| {
            let order = rest[..bound.values.len()].cmp(&bound.values);
            order == wanted || (bound.inclusive && order.is_eq())
        };
        self.among.iter().zip(row).all(|(values, value)| values.contains(value))
            && self.start.as_ref().is_none_or(|b| beyond(b, std::cmp::Ordering::Greater))
            && self.end.as_ref().is_none_or(|b| beyond(b, std::cmp::Ordering::Less))
    }
}

/// All rows of the domain with a hole, in storage order: a ascending, b descending, c ascending.
fn all_rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for a in 0..3 {
        for b in (0..3).rev() {
            for c in 0..3 {
                if (a + b + c) % 7 != 5 {
                    rows.push([a, b, c]);
                }
            }
        }
    }
    rows
}

fn bench() -> Bench {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, a int, b int, c int, PRIMARY KEY (k, a, b, c)) \
         WITH CLUSTERING ORDER BY (a ASC, b DESC, c ASC)",
    );
    for [a, b, c] in all_rows() {
        bench.run(&format!("INSERT INTO t (k, a, b, c) VALUES (1, {a}, {b}, {c})")).unwrap();
        bench.run(&format!("INSERT INTO t (k, a, b, c) VALUES (2, {a}, {b}, {c})")).unwrap();
    }
    bench
}

#[test]
fn slices_are_filters() {
    let bench = RefCell::new(bench());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    runner
        .run(&(clause(), 1..9u32), |(clause, size)| {
            let mut bench = bench.borrow_mut();
            let shown = |row: &Row| format!("{} | {} | {}", row[0], row[1], row[2]);
            let expected: Vec<String> = all_rows().iter().filter(|r| clause.holds(r)).map(shown).collect();
            let statement = format!("SELECT a, b, c FROM t WHERE {}", clause.text());
            prop_assert_eq!(&bench.run_with(&statement, &[]), &expected, "{}", &statement);
            prop_assert_eq!(&bench.pages(&statement, size).concat(), &expected, "{} by {}", &statement, size);
            let reversed = format!("{statement} ORDER BY a DESC, b ASC, c DESC");
            let backwards: Vec<String> = expected.iter().rev().cloned().collect();
            prop_assert_eq!(&bench.run_with(&reversed, &[]), &backwards, "{}", &reversed);
            prop_assert_eq!(&bench.pages(&reversed, size).concat(), &backwards, "{} by {}", &reversed, size);
            let limited = format!("{statement} LIMIT {size}");
            let first: Vec<String> = expected.iter().take(size as usize).cloned().collect();
            prop_assert_eq!(&bench.run_with(&limited, &[]), &first, "{}", &limited);
            Ok(())
        })
        .unwrap();
}

#[test]
fn merged_partitions_are_sorted_rows() {
    let bench = RefCell::new(bench());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    runner
        .run(&(clause(), 1..9u32, any::<bool>()), |(clause, size, descending)| {
            let mut bench = bench.borrow_mut();
            let where_clause = clause.text().replace("k = 1", "k IN (2, 1)");
            let order = if descending { "a DESC" } else { "a ASC" };
            let statement = format!("SELECT k, a, b, c FROM t WHERE {where_clause} ORDER BY {order}");
            let mut rows: Vec<Row> = all_rows().into_iter().filter(|r| clause.holds(r)).collect();
            if descending {
                rows.reverse();
            }
            // Rows with equal values in the ordered column come partition by partition.
            let mut expected = Vec::new();
            for a in if descending { vec![2, 1, 0] } else { vec![0, 1, 2] } {
                for k in [1, 2] {
                    let of_a = rows.iter().filter(|r| r[0] == a);
                    expected.extend(of_a.map(|r| format!("{k} | {} | {} | {}", r[0], r[1], r[2])));
                }
            }
            prop_assert_eq!(&bench.run_with(&statement, &[]), &expected, "{}", &statement);
            prop_assert_eq!(&bench.pages(&statement, size).concat(), &expected, "{} by {}", &statement, size);
            Ok(())
        })
        .unwrap();
}
