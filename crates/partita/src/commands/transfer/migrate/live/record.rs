//! What a migration remembers between two runs of `partita migrate`: whom it is between, and which ranges are copied.

use crate::commands::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const FILE: &str = "migrate.json";
const PAUSED: &str = "paused";
const FORMAT: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    format: u32,
    pub from: String,
    pub to: String,
    pub user: String,
    pub to_user: String,
    #[serde(default)]
    pub keyspaces: Vec<String>,
    /// `keyspace.table`
    pub tables: Vec<String>,
    /// How often a run has begun; lists that were copied by an earlier one are written a microsecond later.
    #[serde(default)]
    pub runs: i64,
    /// Parts of the ring that there are, of all tables.
    #[serde(default)]
    pub parts: usize,
    /// Parts of the ring that are copied, by table; a table is in here from its first part on.
    #[serde(default)]
    pub copied: BTreeMap<String, BTreeSet<usize>>,
    #[serde(default)]
    pub rows: u64,
    /// When this run began, and how many parts were copied then: for an estimate.
    #[serde(default)]
    pub since_millis: i64,
    #[serde(default)]
    pub parts_before: usize,
    /// Indexes and views are made.
    #[serde(default)]
    pub copies_made: bool,
    /// Sides whose tombstones are held.
    #[serde(default)]
    pub held: Vec<String>,
    /// What the last comparison said.
    #[serde(default)]
    pub compared: String,
}

/// Parts of the ring that a table is copied in.
pub const PARTS: usize = 128;

impl Record {
    pub fn open(folder: &Path) -> Result<Option<Record>, Failure> {
        let path = folder.join(FILE);
        let told = |error: &dyn std::fmt::Display| Failure::Failed(format!("{}: {error}", path.display()));
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| told(&error))?,
        };
        let record: Record = serde_json::from_slice(&text).map_err(|error| told(&error))?;
        match record.format {
            FORMAT => Ok(Some(record)),
            other => Err(told(&format_args!("format {other}, this version reads {FORMAT}"))),
        }
    }

    /// The file is the old one or the new one, whatever happens.
    pub fn store(&mut self, folder: &Path) -> Result<(), Failure> {
        self.format = FORMAT;
        let write = || -> io::Result<()> {
            let beside = folder.join("migrate.json.new");
            let mut file = File::create(&beside)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.sync_all()?;
            std::fs::rename(&beside, folder.join(FILE))?;
            File::open(folder)?.sync_all()
        };
        write().map_err(|error| Failure::Failed(format!("{}: {error}", folder.display())))
    }

    /// Seconds that copying may still take, at the pace of this run so far.
    pub fn seconds_left(&self, all: usize, now_millis: i64) -> Option<i64> {
        let done = self.parts_copied();
        let here = i64::try_from(done.checked_sub(self.parts_before)?).ok().filter(|parts| *parts > 0)?;
        let left = i64::try_from(all.saturating_sub(done)).ok()?;
        Some((now_millis - self.since_millis).max(0) * left / here / 1000)
    }

    pub fn parts_copied(&self) -> usize {
        self.copied.values().map(BTreeSet::len).sum()
    }
}

/// Only one worker at a time.
pub fn take(folder: &Path) -> Result<File, Failure> {
    let told = |error: io::Error| Failure::Failed(format!("{}: {error}", folder.display()));
    let lock = File::create(folder.join("migrate.lock")).map_err(told)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(_) => {
            Err(Failure::Failed(format!("{}: another partita migrate run is at work", folder.display())))
        }
    }
}

fn paused(folder: &Path) -> PathBuf {
    folder.join(PAUSED)
}

pub fn is_paused(folder: &Path) -> bool {
    paused(folder).exists()
}

pub fn pause(folder: &Path, pause: bool) -> Result<(), Failure> {
    let path = paused(folder);
    let done = match pause {
        true => File::create(&path).map(|_| ()),
        false => match std::fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    done.map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}
