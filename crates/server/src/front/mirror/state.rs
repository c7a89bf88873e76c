//! What a front end remembers of a migration: a small file that is replaced as a whole.

use cluster::written::{Facts, Tables};
use model::types::DataType;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const FILE: &str = "front.json";
/// Raised when an older server would misread what is written.
const FORMAT: u32 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The second cluster hears of nothing yet.
    #[default]
    Waiting,
    /// Writes go to both.
    Dual,
    /// It is over: the side that answers is the only one.
    Ended,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The cluster of `--engine`.
    #[default]
    Source,
    /// The cluster of `--mirror`.
    Target,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::Source => Side::Target,
            Side::Target => Side::Source,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Side::Source => "source",
            Side::Target => "target",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub type_text: String,
}

/// A table that is being migrated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    pub keyspace: String,
    pub name: String,
    pub partition: Vec<Column>,
    pub clustering: Vec<Column>,
    #[serde(default)]
    pub sets_and_maps: Vec<String>,
    #[serde(default)]
    pub lists: Vec<String>,
    #[serde(default)]
    pub counter: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    format: u32,
    pub phase: Phase,
    /// Who answers.
    pub answers: Side,
    #[serde(default)]
    pub tables: Vec<TableEntry>,
    /// Writes may be under way; whoever finds it so at a start knows that they were interrupted.
    #[serde(default)]
    pub running: bool,
    /// When that was last so, about.
    #[serde(default)]
    pub alive_millis: i64,
    /// Dual writes were interrupted from, to.
    #[serde(default)]
    pub interruptions: Vec<(i64, i64)>,
    /// Something may differ without being marked, since it happened at this time or before.
    #[serde(default)]
    pub unverified: Option<i64>,
    /// A comparison that began then has found everything equal, or made it so.
    #[serde(default)]
    pub verified: Option<i64>,
    /// Of 10,000 reads, how many are asked of both.
    #[serde(default)]
    pub shadow: u32,
}

/// Interruptions that are told; older ones are forgotten.
const INTERRUPTIONS_MAX: usize = 100;

impl State {
    pub fn open(folder: &Path) -> Result<State, String> {
        let path = folder.join(FILE);
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::default()),
            text => text.map_err(|error| told(&error))?,
        };
        let state: State = serde_json::from_slice(&text).map_err(|error| told(&error))?;
        match state.format {
            FORMAT => Ok(state),
            other => Err(told(&format_args!("format {other}, this server reads {FORMAT}"))),
        }
    }

    /// The file is the old one or the new one, whatever happens.
    pub fn store(&mut self, folder: &Path) -> io::Result<()> {
        self.format = FORMAT;
        let beside = folder.join("front.json.new");
        let mut file = File::create(&beside)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.sync_all()?;
        std::fs::rename(&beside, folder.join(FILE))?;
        File::open(folder)?.sync_all()
    }

    /// What a start finds: writes of the run before may have reached one side only.
    pub fn found_running(&mut self, now_millis: i64) {
        if self.running && self.phase == Phase::Dual {
            self.interruptions.push((self.alive_millis, now_millis));
            let spare = self.interruptions.len().saturating_sub(INTERRUPTIONS_MAX);
            self.interruptions.drain(..spare);
            self.unverified = Some(now_millis);
        }
    }

    /// A comparison that began at this time is over, and nothing differs.
    pub fn verified_at(&mut self, began_millis: i64) {
        self.verified = Some(began_millis);
        self.unverified = self.unverified.filter(|since| *since >= began_millis);
    }

    pub fn facts(&self) -> Tables {
        let columns = |columns: &[Column]| {
            let known =
                |column: &Column| (column.name.clone(), DataType::parse_native(&column.type_text).ok());
            columns.iter().map(known).collect()
        };
        let facts = |table: &TableEntry| Facts {
            keyspace: table.keyspace.clone(),
            name: table.name.clone(),
            partition: columns(&table.partition),
            clustering: columns(&table.clustering),
            sets_and_maps: table.sets_and_maps.iter().cloned().collect(),
            lists: table.lists.iter().cloned().collect(),
            is_counter: table.counter,
        };
        Tables::new(self.tables.iter().map(facts).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_must_be_verified_by_a_comparison_that_began_later() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = State { phase: Phase::Dual, running: true, alive_millis: 40, ..State::default() };
        state.store(dir.path()).unwrap();
        let mut again = State::open(dir.path()).unwrap();
        again.found_running(100);
        assert_eq!((again.interruptions.clone(), again.unverified), (vec![(40, 100)], Some(100)));
        again.verified_at(100);
        assert_eq!(again.unverified, Some(100), "it had begun before");
        again.verified_at(101);
        assert_eq!((again.unverified, again.verified), (None, Some(101)));
        again.running = false;
        again.found_running(200);
        assert_eq!(again.interruptions.len(), 1);
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        assert!(State::open(dir.path()).is_err());
    }
}
