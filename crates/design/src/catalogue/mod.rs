//! What the files declare: tables, views, indexes, types, access patterns and plain statements, each with its place.
//!
//! The catalogue says what the texts say. Names are resolved as far as the texts allow; a statement on a table that no
//! file declares is kept without table, and rules leave it alone.

mod access;
mod bucketing;
mod build;
mod names;
mod shell;
mod table;

pub use access::{Access, BatchUse, Limit, Restriction, Verb};
pub use bucketing::{Bucketing, HashBuckets, TimeBuckets, every};
pub(crate) use shell::without_commands;
pub use table::{Clustering, Column, Index, IndexKind, Role, Table, TableKind};

use crate::dynamo::{self, Model};
use crate::finding::ReadError;
use crate::source::{Place, SourceFile};
use cql_syntax::Script;
use std::collections::{HashMap, HashSet};

/// Everything the files declare.
#[derive(Debug, Default)]
pub struct Catalogue {
    pub files: Vec<SourceFile>,
    /// Tables and views.
    pub tables: Vec<Table>,
    pub indexes: Vec<Index>,
    /// Access patterns and plain statements.
    pub accesses: Vec<Access>,
    pub batches: Vec<BatchUse>,
    pub errors: Vec<ReadError>,
    /// Statements in order, for the reach of a suppression.
    pub statements: Vec<Place>,
    /// What was left out, and why: commands of cqlsh.
    pub notes: Vec<ReadError>,
    /// What files of DynamoDB declare.
    pub dynamo: Model,
    pub(crate) comments: Vec<Place>,
    /// Tables that a file drops: a statement on one may be from before.
    dropped: HashSet<String>,
    by_name: HashMap<String, Vec<usize>>,
    accesses_of: Vec<Vec<usize>>,
    indexes_of: Vec<Vec<usize>>,
}

impl Catalogue {
    /// Reads the files. Statements that do not parse are in `errors`; the rest is read all the same.
    pub fn read(files: Vec<SourceFile>) -> Catalogue {
        let mut notes = Vec::new();
        let read = |(at, file): (usize, &SourceFile)| {
            if dynamo::is_dynamo(file) {
                return Script::default();
            }
            let (text, skipped) = shell::without_commands(&file.text);
            notes.extend(skipped.into_iter().map(|(span, word)| ReadError {
                place: Place { file: at, span },
                message: format!("{word} is a command of cqlsh, not a statement: it was skipped"),
            }));
            cql_syntax::parse_script(&text)
        };
        let scripts: Vec<Script> = files.iter().enumerate().map(read).collect();
        let mut catalogue = build::build(files, scripts);
        let (model, reading) = dynamo::read(&catalogue.files);
        catalogue.dynamo = model;
        catalogue.errors.extend(reading.errors);
        catalogue.comments.extend(reading.comments);
        catalogue.statements.extend(reading.statements);
        notes.extend(reading.notes);
        catalogue.notes = notes;
        catalogue
    }

    /// The table of this name; without keyspace, or with one that no table has, the name alone decides.
    pub fn find(&self, keyspace: Option<&str>, name: &str) -> Option<usize> {
        let named = self.by_name.get(name)?;
        let exact = named.iter().rev().find(|at| {
            keyspace.is_some() && self.tables.get(**at).is_some_and(|t| t.keyspace.as_deref() == keyspace)
        });
        exact.or_else(|| named.last()).copied()
    }

    /// Reads and writes of a table: patterns and statements.
    pub fn accesses_of(&self, table: usize) -> impl Iterator<Item = &Access> {
        self.accesses_of.get(table).into_iter().flatten().filter_map(|at| self.accesses.get(*at))
    }

    pub fn indexes_of(&self, table: usize) -> impl Iterator<Item = &Index> {
        self.indexes_of.get(table).into_iter().flatten().filter_map(|at| self.indexes.get(*at))
    }

    pub fn table(&self, access: &Access) -> Option<&Table> {
        self.tables.get(access.table?)
    }

    /// Whether the files declare any access pattern: then what no pattern reads is not read.
    pub fn has_patterns(&self) -> bool {
        self.accesses.iter().any(|access| access.pattern.is_some())
    }
}
