//! Why a catalogue cannot be used: each problem with its line, and what to do about it.

use std::fmt;

/// One problem of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// From 1; none when the problem has no place.
    pub line: Option<usize>,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Not TOML, or not these fields.
    Malformed(String),
    /// A pattern names an entity that the file does not have.
    UnknownEntity { pattern: String, entity: String, known: Vec<String> },
    /// A pattern or key names a field that its entity does not have.
    UnknownField { of: String, field: String, known: Vec<String> },
    /// A type is not CQL.
    BadType { field: String, data_type: String },
    /// A name cannot be a CQL name as it stands.
    BadName(String),
    /// A field has a name that the design needs for buckets.
    Reserved(String),
    /// Two entities or two patterns share a name.
    Twice(String),
    /// An entity that nothing identifies.
    NoKey(String),
    /// Not a length of time.
    BadLength { what: String, text: String },
    /// Negative, or not a number.
    BadNumber(String),
    /// There is no pattern, so there is nothing to design for.
    NoPattern,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for InputError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Malformed(text) => write!(f, "this is not a catalogue: {text}"),
            Problem::UnknownEntity { pattern, entity, known } => {
                write!(f, "pattern {pattern} reads entity {entity}, which is not declared")?;
                suggestion(f, entity, known, "add an [[entity]] with that name; the file has")
            }
            Problem::UnknownField { of, field, known } => {
                write!(f, "{of} names {field}, which is no field of the entity")?;
                suggestion(f, field, known, "add it under fields; there are")
            }
            Problem::BadType { field, data_type } => write!(
                f,
                "field {field} has type {data_type:?}, which is not a CQL type; use text, int, bigint, uuid, timestamp, decimal, list<text> and the like"
            ),
            Problem::BadName(name) => {
                write!(f, "{name:?} cannot be a name: use up to 40 small letters, digits and underscores, beginning with a letter")
            }
            Problem::Reserved(name) => {
                write!(f, "{name} is what a bucket column is called; say which one it is, such as due_{name}")
            }
            Problem::Twice(name) => write!(f, "{name} is declared twice; give one of them another name"),
            Problem::NoKey(name) => {
                write!(f, "entity {name} has an empty key; name the fields that identify one {name}")
            }
            Problem::BadLength { what, text } => write!(
                f,
                "{what} {text:?} is no length of time; write '90 days', '24h', '7 years' or 'forever'"
            ),
            Problem::BadNumber(what) => write!(f, "{what} must be a number that is not negative"),
            Problem::NoPattern => f.write_str(
                "the catalogue has no [[pattern]]: tables are designed from what is read, so add one for every screen, job or API call",
            ),
        }
    }
}

/// `; did you mean case_id?`, or what there is.
fn suggestion(f: &mut fmt::Formatter<'_>, wrong: &str, known: &[String], otherwise: &str) -> fmt::Result {
    let nearest = known.iter().map(|name| (distance(wrong, name), name)).min();
    match nearest.filter(|(distance, name)| *distance <= 1 + name.len() / 4) {
        Some((_, name)) => write!(f, "; did you mean {name}?"),
        None if known.is_empty() => Ok(()),
        None => write!(f, "; {otherwise} {}", known.join(", ")),
    }
}

/// Letters to change, add or remove until both are equal.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let changed = before + usize::from(ca != *cb);
            before = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

/// The line of a word in the n-th `[[section]]`; the line of the section when the word is not in it.
pub fn locate(text: &str, section: &str, number: usize, word: &str) -> Option<usize> {
    let header = format!("[[{section}]]");
    let is_header = |line: &str| line.split('#').next().unwrap_or("").replace(' ', "").trim_end() == header;
    let lines: Vec<&str> = text.lines().collect();
    let begin = if section.is_empty() {
        0
    } else {
        lines.iter().enumerate().filter(|(_, line)| is_header(line)).nth(number)?.0
    };
    let end = lines.iter().skip(begin + 1).position(|line| line.trim_start().starts_with("[["));
    let end = end.map_or(lines.len(), |length| begin + 1 + length);
    let has = |line: &&str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        line.split(|c: char| !is_part(c)).any(|part| part == word)
            || (!word.chars().all(is_part) && line.contains(word))
    };
    let found = lines.get(begin..end)?.iter().position(has);
    Some(found.map_or(begin, |at| begin + at) + 1)
}
