//! What a run did: how many statements of each kind, how many of them returned rows or were refused.

use super::Found;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    pub sent: usize,
    /// Answers with at least one row.
    pub rows: usize,
    /// Both servers refused it.
    pub refused: usize,
    /// Cassandra failed inside; ours only had to answer.
    pub escaped: usize,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.sent += other.sent;
        self.rows += other.rows;
        self.refused += other.refused;
        self.escaped += other.escaped;
    }
}

#[derive(Debug, Default)]
pub struct Report {
    pub kinds: BTreeMap<&'static str, Count>,
    pub rounds: usize,
    pub found: Vec<Found>,
}

impl Report {
    pub fn count(&mut self, kind: &'static str, answer: &[String]) {
        let refused = answer.iter().any(|line| line.starts_with("error "));
        let escaped = answer
            .iter()
            .any(|line| line.starts_with("error Server") || line.starts_with("error ReadFailure"));
        let is_row = |line: &&String| {
            !["warning: ", "columns: ", "error ", "--"].iter().any(|word| line.starts_with(word))
                && *line != "void"
        };
        let rows = answer.iter().any(|line| is_row(&line));
        let one = Count {
            sent: 1,
            rows: usize::from(rows),
            refused: usize::from(refused),
            escaped: usize::from(escaped),
        };
        self.kinds.entry(kind).or_default().add(one);
    }

    pub fn merge(&mut self, other: Report) {
        for (kind, count) in other.kinds {
            self.kinds.entry(kind).or_default().add(count);
        }
        self.rounds += other.rounds;
        self.found.extend(other.found);
    }

    pub fn total(&self) -> Count {
        let mut total = Count::default();
        self.kinds.values().for_each(|count| total.add(*count));
        total
    }

    /// The mix of kinds, one line each, and the shares.
    pub fn table(&self) -> String {
        let mut text = format!("{:<22}{:>10}{:>12}{:>10}\n", "kind", "sent", "with rows", "refused");
        let mut line = |name: &str, count: &Count| {
            let _ = writeln!(text, "{name:<22}{:>10}{:>12}{:>10}", count.sent, count.rows, count.refused);
        };
        self.kinds.iter().for_each(|(kind, count)| line(kind, count));
        let total = self.total();
        line("all", &total);
        let share = |part: usize| part as f64 * 100.0 / total.sent.max(1) as f64;
        let _ = writeln!(
            text,
            "{:.1} % valid, {:.1} % refused by both, {} failed inside Cassandra, {} tables",
            share(total.sent - total.refused),
            share(total.refused),
            total.escaped,
            self.rounds
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_refusals_are_counted() {
        let mut report = Report::default();
        let own = |lines: &[&str]| lines.iter().map(|l| (*l).to_string()).collect::<Vec<_>>();
        report.count("SELECT", &own(&["columns: k int", "1"]));
        report.count("SELECT", &own(&["columns: k int"]));
        report.count("SELECT", &own(&["error Invalid: no"]));
        report.count("INSERT", &own(&["void"]));
        assert_eq!(report.kinds["SELECT"], Count { sent: 3, rows: 1, refused: 1, escaped: 0 });
        assert_eq!(report.total().sent, 4);
        assert!(report.table().contains("75.0 % valid"), "{}", report.table());
    }
}
