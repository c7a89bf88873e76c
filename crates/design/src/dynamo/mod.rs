//! DynamoDB under review: table definitions and operations from JSON, YAML and HCL.
//!
//! [`read`] adds what a file says to a [`Model`]; the rules in `rules/dynamo/` judge it. Nothing is evaluated: variables and
//! references stay text, and names are compared without them.

mod definitions;
pub mod expression;
pub mod facts;
pub mod fix;
mod model;
mod operations;
pub mod template;
mod text;

pub use model::{
    Action, Form, Index, Key, Model, Operation, Projection, Table, is_generic, meaning_of, same_name,
};

use crate::finding::ReadError;
use crate::source::{Place, SourceFile};
use cql_syntax::Span;
use std::collections::HashMap;
use text::{Kind, Language, Node};

/// What reading one file adds to a review besides the model.
#[derive(Debug, Default)]
pub struct Reading {
    pub errors: Vec<ReadError>,
    pub notes: Vec<ReadError>,
    pub comments: Vec<Place>,
    /// Tables and operations, for the reach of a suppression.
    pub statements: Vec<Place>,
}

/// The language of a file that is not CQL: by its name, else by how it begins.
fn language(file: &SourceFile) -> Option<Language> {
    let name = file.name.to_ascii_lowercase();
    let begin = file.text.trim_start_matches('\u{feff}').trim_start();
    let is_json = begin.starts_with('{') || begin.starts_with('[');
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&[".cql", ".sql"]) {
        None
    } else if ends(&[".json"]) || is_json {
        Some(Language::Json)
    } else if ends(&[".tf", ".hcl", ".tofu"]) {
        Some(Language::Hcl)
    } else if ends(&[".yaml", ".yml", ".template"]) {
        Some(Language::Yaml)
    } else if file.text.contains("\"aws_dynamodb_table\"") {
        Some(Language::Hcl)
    } else if file.text.contains("AWS::DynamoDB::") || file.text.contains("AWS::Serverless::SimpleTable") {
        Some(Language::Yaml)
    } else {
        None
    }
}

/// Whether the file speaks of DynamoDB, not CQL.
pub fn is_dynamo(file: &SourceFile) -> bool {
    language(file).is_some()
}

/// Reads the files that are not CQL.
pub fn read(files: &[SourceFile]) -> (Model, Reading) {
    let mut model = Model::default();
    let mut reading = Reading::default();
    for (at, file) in files.iter().enumerate() {
        let Some(language) = language(file) else { continue };
        let parsed = match text::parse(&file.text, language) {
            Ok(parsed) => parsed,
            Err(error) => {
                reading
                    .errors
                    .push(ReadError { place: Place { file: at, span: error.span }, message: error.message });
                continue;
            }
        };
        reading.comments.extend(parsed.comments.iter().map(|span| Place { file: at, span: *span }));
        let before = (model.tables.len(), model.operations.len(), reading.errors.len());
        definitions::read(&parsed.root, at, language == Language::Hcl, &mut model);
        operations::read(&parsed.root, at, &mut model, &mut reading);
        if before == (model.tables.len(), model.operations.len(), reading.errors.len()) {
            let message = "nothing to review here: neither a table of DynamoDB nor a list of operations (objects with \"op\")";
            reading.notes.push(ReadError {
                place: Place { file: at, span: Span::new(0, 1) },
                message: message.into(),
            });
        }
    }
    reading.statements.extend(model.tables.iter().map(|table| table.place));
    reading.statements.extend(model.operations.iter().filter(|o| o.member_of.is_none()).map(|o| o.place));
    link(&mut model, &mut reading);
    (model, reading)
}

/// Finds the table of every operation: by its exact name or label, else by letters and digits alone.
fn link(model: &mut Model, reading: &mut Reading) {
    let Model { tables, operations } = model;
    let mut exact: HashMap<&str, usize> = HashMap::new();
    let mut loose: HashMap<String, usize> = HashMap::new();
    for (at, table) in tables.iter().enumerate() {
        for name in std::iter::once(&table.name).chain(&table.aliases) {
            exact.entry(name).or_insert(at);
            loose.entry(model::plain_name(name)).or_insert(at);
        }
    }
    for operation in operations.iter_mut() {
        operation.table = match &operation.table_name {
            Some(name) => exact.get(name.as_str()).or_else(|| loose.get(&model::plain_name(name))).copied(),
            None if tables.len() == 1 => Some(0),
            None => None,
        };
        if operation.table.is_none() && !operation.action.is_group() {
            let message = match &operation.table_name {
                Some(name) => format!("{} is on table {name}, which no file declares", operation.title()),
                None => {
                    format!("{} names no table, and the files declare {}", operation.title(), tables.len())
                }
            };
            reading.errors.push(ReadError { place: operation.place, message });
        }
    }
}

/// A suppression inside JSON, which has no comments: `"comment": "partita:allow RULE: reason"`.
fn comments_of(node: &Node, file: usize, reading: &mut Reading) {
    for entry in node
        .entries()
        .iter()
        .filter(|e| ["comment", "note", "description"].contains(&e.key.to_ascii_lowercase().as_str()))
    {
        if let Kind::Text(text) = &entry.value.kind
            && text.contains("partita:allow")
        {
            reading.comments.push(Place { file, span: entry.value.span });
        }
    }
}
