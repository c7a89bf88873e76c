//! The catalogue file: entities with their fields, access patterns with what they know, want and expect. TOML.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The file as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub keyspace: Option<String>,
    #[serde(default, rename = "entity")]
    pub entities: Vec<Entity>,
    #[serde(default, rename = "pattern")]
    pub patterns: Vec<Pattern>,
}

/// A thing of the domain.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    pub name: String,
    /// The columns that identify one.
    pub key: Vec<String>,
    /// Column name to CQL type.
    pub fields: BTreeMap<String, String>,
    /// Where the truth lives: a table here, an event stream, another system.
    pub source_of_truth: Option<String>,
    pub repair: Option<String>,
}

/// One read; the fields follow the pattern table of the seeds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    pub operation: String,
    pub entity: String,
    /// What the caller knows exactly.
    pub inputs: Vec<String>,
    /// A column that the caller gives a range of.
    pub range: Option<String>,
    /// Rows that are in the table at all: `status = 'OPEN'`. Part of the table's meaning, not of its key.
    pub filter: Option<String>,
    /// `due_at ASC`
    pub order: Option<String>,
    /// First so many rows.
    pub limit: Option<u64>,
    /// Reads per second at peak.
    pub frequency: Option<f64>,
    /// Writes per second at peak.
    pub write_rate: Option<f64>,
    /// Rows that one value of the inputs can reach.
    pub growth: Option<f64>,
    pub rows_per_day: Option<f64>,
    pub row_bytes: Option<f64>,
    /// Share of the traffic on the busiest key, 0 to 1.
    pub hot_share: Option<f64>,
    /// `7 years`
    pub retention: Option<String>,
    pub p99_ms: Option<f64>,
    pub freshness: Option<String>,
    pub consistency: Option<String>,
    pub hotspot: Option<String>,
    pub write_source: Option<String>,
    pub source_of_truth: Option<String>,
    pub repair: Option<String>,
}

/// Why a catalogue cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputError {
    /// Not TOML, or not these fields.
    Malformed(String),
    /// A pattern names an entity that the file does not have.
    UnknownEntity { pattern: String, entity: String },
    /// A pattern or key names a field that its entity does not have.
    UnknownField { of: String, field: String },
    /// A type is not CQL.
    BadType { field: String, data_type: String },
    /// A name cannot be a CQL name as it stands.
    BadName(String),
    /// There is no pattern, so there is nothing to design for.
    NoPattern,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Malformed(text) => write!(f, "the catalogue cannot be read: {text}"),
            InputError::UnknownEntity { pattern, entity } => {
                write!(f, "pattern {pattern} reads entity {entity}, which is not declared")
            }
            InputError::UnknownField { of, field } => {
                write!(f, "{of} names field {field}, which its entity does not have")
            }
            InputError::BadType { field, data_type } => {
                write!(f, "field {field} has type {data_type}, which is not a CQL type")
            }
            InputError::BadName(name) => {
                write!(f, "{name:?} cannot be a name: use small letters, digits and underscores")
            }
            InputError::NoPattern => {
                f.write_str("the catalogue has no [[pattern]]: tables are designed from patterns")
            }
        }
    }
}

impl std::error::Error for InputError {}

/// Reads and checks the file.
pub fn read(text: &str) -> Result<Request, InputError> {
    let request: Request = toml::from_str(text).map_err(|e| InputError::Malformed(e.to_string()))?;
    for entity in &request.entities {
        check_name(&entity.name)?;
        for (field, data_type) in &entity.fields {
            check_name(field)?;
            // Exactly two columns must come out, so that a type cannot smuggle in a third.
            let probe = format!("CREATE TABLE t (k int PRIMARY KEY, v {data_type})");
            let columns = match cql_syntax::parse_statement(&probe).map(|parsed| parsed.statement) {
                Ok(cql_syntax::Statement::CreateTable(create)) if create.options.is_empty() => {
                    create.columns.len()
                }
                _ => 0,
            };
            if columns != 2 {
                return Err(InputError::BadType { field: field.clone(), data_type: data_type.clone() });
            }
        }
        check_fields(entity, &format!("entity {}", entity.name), &entity.key)?;
    }
    if request.patterns.is_empty() {
        return Err(InputError::NoPattern);
    }
    for pattern in &request.patterns {
        check_name(&pattern.operation)?;
        let entity = request.entities.iter().find(|e| e.name == pattern.entity).ok_or_else(|| {
            InputError::UnknownEntity { pattern: pattern.operation.clone(), entity: pattern.entity.clone() }
        })?;
        let of = format!("pattern {}", pattern.operation);
        check_fields(entity, &of, &pattern.inputs)?;
        check_fields(entity, &of, pattern.range.as_slice())?;
        let order: Vec<String> = pattern.order_columns().into_iter().map(|(name, _)| name).collect();
        check_fields(entity, &of, &order)?;
    }
    Ok(request)
}

fn check_name(name: &str) -> Result<(), InputError> {
    let good = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if good { Ok(()) } else { Err(InputError::BadName(name.to_string())) }
}

fn check_fields(entity: &Entity, of: &str, fields: &[String]) -> Result<(), InputError> {
    match fields.iter().find(|field| !entity.fields.contains_key(*field)) {
        Some(field) => Err(InputError::UnknownField { of: of.to_string(), field: field.clone() }),
        None => Ok(()),
    }
}

impl Pattern {
    /// The columns of `order`, with whether they descend.
    pub fn order_columns(&self) -> Vec<(String, bool)> {
        let parts = self.order.as_deref().unwrap_or("").split(',');
        parts
            .filter_map(|part| {
                let mut words = part.split_whitespace();
                let name = words.next()?.to_string();
                Some((name, words.next().is_some_and(|word| word.eq_ignore_ascii_case("desc"))))
            })
            .collect()
    }
}
