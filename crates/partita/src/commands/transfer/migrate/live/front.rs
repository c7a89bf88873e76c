//! The front end of a migration, asked by its control socket.

use crate::commands::Failure;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The front end whose `--mirror-state` is this folder.
#[derive(Clone, Debug)]
pub struct Front {
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Source,
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

/// What the front end says of itself.
#[derive(Clone, Debug, Deserialize)]
pub struct Status {
    pub phase: String,
    pub answers: Side,
    pub dual: bool,
    pub marks: u64,
    pub held: bool,
    pub interruptions: Vec<(i64, i64)>,
    pub unverified: Option<i64>,
    pub verified: Option<i64>,
    pub shadow: u32,
    pub shadowed: u64,
    pub different: u64,
    pub differing: Vec<String>,
    pub both: u64,
    pub marked: u64,
    pub refused: u64,
    pub micros: Vec<(u64, u64)>,
}

impl Status {
    /// Nothing can differ that is not marked.
    pub fn is_verified(&self) -> bool {
        self.unverified.is_none() && self.verified.is_some()
    }
}

/// A key that is to be looked at again.
#[derive(Clone, Debug, Deserialize)]
pub struct Mark {
    pub number: u64,
    pub table: String,
    pub partition: Vec<String>,
    pub clustering: Vec<String>,
}

impl Front {
    pub fn at(folder: &Path) -> Front {
        Front { folder: folder.to_owned() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn ask(&self, request: &Value) -> Result<Value, Failure> {
        let folder = self.folder.display();
        let answer = server::control::request_line(&self.folder, &request.to_string());
        let answer = answer.map_err(|error| Failure::Failed(format!("{folder}: {error}")))?;
        let Some(answer) = answer else {
            return Err(Failure::Failed(format!(
                "no front end runs with --mirror-state {folder}. Start it: partita serve --engine cassandra://SOURCE --cluster-writes \
                 --mirror cassandra://TARGET --mirror-state {folder}"
            )));
        };
        let answer: Value =
            serde_json::from_str(&answer).map_err(|error| Failure::Failed(error.to_string()))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(Failure::Failed(error.to_string())),
            None => Ok(answer),
        }
    }

    pub fn status(&self) -> Result<Status, Failure> {
        parsed(self.ask(&json!({ "do": "status" }))?)
    }

    pub fn order(&self, request: &Value) -> Result<(), Failure> {
        self.ask(request).map(|_| ())
    }

    /// Marks that are due, for this worker.
    pub fn marks(&self, worker: &str) -> Result<Vec<Mark>, Failure> {
        let answer = self.ask(&json!({ "do": "marks", "worker": worker }))?;
        parsed(answer.get("marks").cloned().unwrap_or_default())
    }
}

fn parsed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value)
        .map_err(|error| Failure::Failed(format!("the front end's answer is not understood: {error}")))
}
