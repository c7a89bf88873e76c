//! The catalogue file: entities with their fields, access patterns with what they know, want and expect. TOML.
//!
//! The fields of a pattern are those of the table in section 8 of "Wide-Column Database Design". Every problem of a file
//! is reported with its line and what to do, not only the first.

use super::problem::{InputError, Problem, locate};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The file as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub keyspace: Option<String>,
    /// Copies of each row; 3 unless said otherwise.
    pub replication: Option<u32>,
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
    #[serde(alias = "duplicate_source_of_truth")]
    pub source_of_truth: Option<String>,
    #[serde(alias = "repair_mechanism")]
    pub repair: Option<String>,
    /// Writes per second at peak, all tables of the entity together get this many each.
    pub write_rate: Option<f64>,
}

/// One read; the fields follow the pattern table of the seeds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    pub operation: String,
    pub entity: String,
    /// What the caller knows exactly.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// A column that the caller gives a range of.
    pub range: Option<String>,
    /// Rows that are in the table at all: `status = 'OPEN'`. Part of the table's meaning, not of its key.
    pub filter: Option<String>,
    /// `due_at ASC`
    #[serde(alias = "result_order")]
    pub order: Option<String>,
    /// First so many rows.
    #[serde(alias = "result_size")]
    pub limit: Option<u64>,
    /// Reads per second at peak.
    pub frequency: Option<f64>,
    /// Writes per second at peak.
    pub write_rate: Option<f64>,
    /// Rows that one value of the inputs can reach.
    pub growth: Option<f64>,
    /// Rows that one value of the inputs gains in a day.
    pub rows_per_day: Option<f64>,
    /// How many different values of the inputs there are.
    pub keys: Option<f64>,
    pub row_bytes: Option<f64>,
    /// Share of the traffic on the busiest key, 0 to 1.
    pub hot_share: Option<f64>,
    /// `7 years`
    pub retention: Option<String>,
    /// How far back one read looks: `30 days`.
    pub lookback: Option<String>,
    pub p99_ms: Option<f64>,
    pub freshness: Option<String>,
    pub consistency: Option<String>,
    pub hotspot: Option<String>,
    pub write_source: Option<String>,
    #[serde(alias = "duplicate_source_of_truth")]
    pub source_of_truth: Option<String>,
    #[serde(alias = "repair_mechanism")]
    pub repair: Option<String>,
    pub owner: Option<String>,
}

/// Reads and checks the file; every problem it has.
pub fn read(text: &str) -> Result<Request, Vec<InputError>> {
    let request: Request = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line_of(text, span.start));
        vec![InputError { line, problem: Problem::Malformed(error.message().trim().to_string()) }]
    })?;
    let mut check = Check { text, errors: Vec::new() };
    check.request(&request);
    if check.errors.is_empty() { Ok(request) } else { Err(check.errors) }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

struct Check<'t> {
    text: &'t str,
    errors: Vec<InputError>,
}

impl Check<'_> {
    fn fail(&mut self, section: (&str, usize), word: &str, problem: Problem) {
        self.errors.push(InputError { line: locate(self.text, section.0, section.1, word), problem });
    }

    fn request(&mut self, request: &Request) {
        if let Some(keyspace) = &request.keyspace {
            self.name(("", 0), keyspace);
        }
        for (number, entity) in request.entities.iter().enumerate() {
            self.entity(("entity", number), entity);
            if request.entities.iter().take(number).any(|other| other.name == entity.name) {
                self.fail(("entity", number), &entity.name, Problem::Twice(entity.name.clone()));
            }
        }
        if request.patterns.is_empty() {
            self.errors.push(InputError { line: None, problem: Problem::NoPattern });
        }
        for (number, pattern) in request.patterns.iter().enumerate() {
            let section = ("pattern", number);
            if request.patterns.iter().take(number).any(|other| other.operation == pattern.operation) {
                self.fail(section, &pattern.operation, Problem::Twice(pattern.operation.clone()));
            }
            match request.entities.iter().find(|e| e.name == pattern.entity) {
                Some(entity) => self.pattern(section, pattern, entity),
                None => {
                    let known = request.entities.iter().map(|e| e.name.clone()).collect();
                    let (pattern, entity) = (pattern.operation.clone(), pattern.entity.clone());
                    let problem = Problem::UnknownEntity { pattern, entity: entity.clone(), known };
                    self.fail(section, &entity, problem);
                }
            }
        }
    }

    fn name(&mut self, section: (&str, usize), name: &str) {
        let good = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.len() <= NAME_MAX
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !good {
            self.fail(section, name, Problem::BadName(name.to_string()));
        }
    }

    fn entity(&mut self, section: (&str, usize), entity: &Entity) {
        self.name(section, &entity.name);
        for (field, data_type) in &entity.fields {
            self.name(section, field);
            if RESERVED.contains(&field.as_str()) {
                self.fail(section, field, Problem::Reserved(field.clone()));
            }
            if !is_type(data_type) {
                let problem = Problem::BadType { field: field.clone(), data_type: data_type.clone() };
                self.fail(section, field, problem);
            }
        }
        if entity.key.is_empty() {
            self.fail(section, "key", Problem::NoKey(entity.name.clone()));
        }
        self.fields(section, entity, &format!("the key of entity {}", entity.name), &entity.key);
    }

    fn pattern(&mut self, section: (&str, usize), pattern: &Pattern, entity: &Entity) {
        self.name(section, &pattern.operation);
        let of = format!("pattern {}", pattern.operation);
        self.fields(section, entity, &of, &pattern.inputs);
        self.fields(section, entity, &of, pattern.range.as_slice());
        let order: Vec<String> = pattern.order_columns().into_iter().map(|(name, _)| name).collect();
        self.fields(section, entity, &of, &order);
        for (what, length) in [("retention", &pattern.retention), ("lookback", &pattern.lookback)] {
            if let Some(text) = length.as_ref().filter(|text| crate::numbers::parse_days(text).is_none()) {
                let problem = Problem::BadLength { what: what.into(), text: text.clone() };
                self.fail(section, what, problem);
            }
        }
        for (what, number) in pattern.numbers() {
            if number.is_some_and(|n| !n.is_finite() || n < 0.0) {
                self.fail(section, what, Problem::BadNumber(what.to_string()));
            }
        }
    }

    fn fields(&mut self, section: (&str, usize), entity: &Entity, of: &str, fields: &[String]) {
        for field in fields.iter().filter(|field| !entity.fields.contains_key(*field)) {
            let known = entity.fields.keys().cloned().collect();
            let problem = Problem::UnknownField { of: of.to_string(), field: field.clone(), known };
            self.fail(section, field, problem);
        }
    }
}

/// Names that bucket columns have.
const RESERVED: &[&str] = &["bucket", "minute", "hour", "day", "week", "month", "year"];
/// CQL's limit for names of tables; the derived names add a little.
const NAME_MAX: usize = 40;

/// Whether a text is one CQL type and nothing else: a type cannot smuggle in a column or an option.
fn is_type(data_type: &str) -> bool {
    let probe = format!("CREATE TABLE t (k int PRIMARY KEY, v {data_type})");
    match cql_syntax::parse_statement(&probe).map(|parsed| parsed.statement) {
        Ok(cql_syntax::Statement::CreateTable(create)) => {
            create.options.is_empty() && create.columns.len() == 2 && create.primary_keys.len() == 1
        }
        _ => false,
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

    fn numbers(&self) -> [(&'static str, Option<f64>); 8] {
        [
            ("frequency", self.frequency),
            ("write_rate", self.write_rate),
            ("growth", self.growth),
            ("rows_per_day", self.rows_per_day),
            ("keys", self.keys),
            ("row_bytes", self.row_bytes),
            ("hot_share", self.hot_share),
            ("p99_ms", self.p99_ms),
        ]
    }
}
