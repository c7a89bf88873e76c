//! The list of known differences: `scenario :: statement :: reason`, one per line. `*` as statement stands for all.
//!
//! An entry that no longer differs is a failure, so the list cannot rot.

use crate::run::Difference;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub scenario: String,
    pub statement: String,
    pub reason: String,
}

pub fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let mut parts = line.split(" :: ").map(str::trim);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(scenario), Some(statement), Some(reason), None) if !reason.is_empty() => {
                Ok(Entry { scenario: scenario.into(), statement: statement.into(), reason: reason.into() })
            }
            _ => Err(format!("not `scenario :: statement :: reason`: {line}")),
        }
    };
    lines.map(entry).collect()
}

impl Entry {
    fn covers(&self, difference: &Difference) -> bool {
        self.scenario == difference.scenario
            && (self.statement == "*" || self.statement == difference.statement)
    }
}

/// Differences that nobody knows, and entries that no difference needs.
pub fn judge<'a>(
    entries: &'a [Entry],
    differences: &'a [Difference],
) -> (Vec<&'a Difference>, Vec<&'a Entry>) {
    let unknown = differences.iter().filter(|d| !entries.iter().any(|e| e.covers(d))).collect();
    let passing = entries.iter().filter(|e| !differences.iter().any(|d| e.covers(d))).collect();
    (unknown, passing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_differences_and_needless_entries_are_found() {
        let entries = parse("# note\n\na :: SELECT 1; :: because\nb :: * :: because\n").unwrap();
        let difference = |scenario: &str, statement: &str| Difference {
            scenario: scenario.into(),
            statement: statement.into(),
            expected: vec![],
            actual: vec![],
        };
        let differences = [difference("a", "SELECT 1;"), difference("a", "SELECT 2;")];
        let (unknown, passing) = judge(&entries, &differences);
        assert_eq!(unknown, [&differences[1]]);
        assert_eq!(passing, [&entries[1]]);
        assert!(parse("a :: b").is_err());
    }
}
