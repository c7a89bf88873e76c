//! Member constraints: required members, lengths, values, patterns, enumerations; collected as the service does.

use super::model::{Kind, Range, Shape};
use super::read::{Members, Node};
use crate::error::ApiError;

/// The service names at most this many faults.
const FAULTS_MAX: usize = 10;
pub const TABLE_NAME_PATTERN: &str = "[a-zA-Z0-9_.-]+";

/// Where a member is, made only when it is at fault.
type PathOf<'p> = &'p dyn Fn() -> String;

/// Faults in the order in which they were found.
#[derive(Debug, Default)]
pub struct Faults {
    faults: Vec<String>,
}

impl Faults {
    pub fn push(&mut self, fault: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// `2 validation errors detected: a; b`.
    pub fn finish(self) -> Result<(), ApiError> {
        match self.faults.len() {
            0 => Ok(()),
            1 => Err(ApiError::validation(format!("1 validation error detected: {}", self.faults[0]))),
            n => Err(ApiError::validation(format!(
                "{n} validation errors detected: {}",
                self.faults.join("; ")
            ))),
        }
    }

    pub fn missing(&mut self, path: &str) {
        self.push(format!("Value null at '{path}' failed to satisfy constraint: Member must not be null"));
    }

    pub fn broken(&mut self, value: &str, path: &str, rule: &str) {
        self.push(format!("Value '{value}' at '{path}' failed to satisfy constraint: {rule}"));
    }

    /// All members of a request but those of the names in `skip`.
    pub fn check(&mut self, members: &Members<'_>, shape: &'static Shape, skip: &[&str]) {
        self.structure(members, shape, None, skip);
    }

    fn structure(
        &mut self,
        members: &Members<'_>,
        shape: &'static Shape,
        path: Option<PathOf<'_>>,
        skip: &[&str],
    ) {
        let Kind::Structure(known) = &shape.kind else { return };
        for member in known.iter().filter(|member| !skip.contains(&member.name)) {
            let path = &|| match path {
                None => lower_camel(member.name),
                Some(path) => format!("{}.{}", path(), lower_camel(member.name)),
            };
            match members.get(member.name) {
                Some(Node::Text(name)) if member.name == "TableName" && member.shape().name == "TableArn" => {
                    for rule in table_name_faults(table_of(name)) {
                        self.broken(name, &path(), &rule);
                    }
                }
                Some(node) => self.node(node, member.shape(), path),
                None if member.required => self.missing(&path()),
                None => {}
            }
        }
    }

    fn node(&mut self, node: &Node<'_>, shape: &'static Shape, path: PathOf<'_>) {
        match (&shape.kind, node) {
            (Kind::Text { range, pattern, allowed }, Node::Text(text)) => {
                self.text(text, range, *pattern, allowed, path);
            }
            (Kind::Integer { range } | Kind::Long { range }, Node::Integer(value)) => {
                if range.least.is_some_and(|least| *value < least) {
                    let rule = format!(
                        "Member must have value greater than or equal to {}",
                        range.least.unwrap_or(0)
                    );
                    self.broken(&value.to_string(), &path(), &rule);
                }
                if range.most.is_some_and(|most| *value > most) {
                    let rule =
                        format!("Member must have value less than or equal to {}", range.most.unwrap_or(0));
                    self.broken(&value.to_string(), &path(), &rule);
                }
            }
            (Kind::List { range, .. }, Node::List(list)) => {
                self.length(list.len(), range, path, || shown(node, shape));
                for (at, element) in list.iter().enumerate() {
                    self.node(element, shape.element(), &|| format!("{}.{}.member", path(), at + 1));
                }
            }
            (Kind::Map { range, .. }, Node::Map(map)) => {
                self.length(map.len(), range, path, || shown(node, shape));
                for (key, element) in map {
                    self.node(element, shape.element(), &|| format!("{}.{key}.member", path()));
                }
            }
            (Kind::Structure(_), Node::Structure(members)) => self.structure(members, shape, Some(path), &[]),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, range: &Range, pattern: Option<&str>, allowed: &[&str], path: PathOf<'_>) {
        if !allowed.is_empty() && !allowed.contains(&text) {
            let rule = format!("Member must satisfy enum value set: [{}]", allowed.join(", "));
            self.broken(text, &path(), &rule);
        }
        if let Some(pattern) = pattern
            && !is_name(text)
        {
            self.broken(text, &path(), &format!("Member must satisfy regular expression pattern: {pattern}"));
        }
        self.length(text.chars().count(), range, path, || text.to_string());
    }

    fn length(&mut self, length: usize, range: &Range, path: PathOf<'_>, show: impl Fn() -> String) {
        let length = length as i64;
        if let Some(least) = range.least.filter(|least| length < *least) {
            let rule = format!("Member must have length greater than or equal to {least}");
            self.broken(&show(), &path(), &rule);
        }
        if let Some(most) = range.most.filter(|most| length > *most) {
            let rule = format!("Member must have length less than or equal to {most}");
            self.broken(&show(), &path(), &rule);
        }
    }
}

/// The only pattern of the model that is checked: names of tables, indexes and backups.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// What is wrong with a table's name: the pattern first, then the length.
pub fn table_name_faults(name: &str) -> Vec<String> {
    let mut rules = Vec::new();
    if !is_name(name) && !name.is_empty() {
        rules.push(format!("Member must satisfy regular expression pattern: {TABLE_NAME_PATTERN}"));
    }
    let length = name.chars().count();
    if name.is_empty() {
        rules.push("Member must have length greater than or equal to 1".to_string());
    } else if length < 3 {
        rules.push("Member must have length greater than or equal to 3".to_string());
    }
    if length > 255 {
        rules.push("Member must have length less than or equal to 255".to_string());
    }
    rules
}

/// The name of a table that may be given as an ARN.
pub fn table_of(name: &str) -> &str {
    match name.strip_prefix("arn:").and_then(|rest| rest.split_once(":table/")) {
        Some((_, resource)) => resource.split('/').next().unwrap_or(resource),
        None => name,
    }
}

fn lower_camel(name: &str) -> String {
    // `SSESpecification` and its like become `sSESpecification`.
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// A member in Java's style: `[KeySchemaElement(attributeName=pk, keyType=HASH)]`.
fn shown(node: &Node<'_>, shape: &'static Shape) -> String {
    match node {
        Node::Text(text) => text.to_string(),
        Node::Boolean(truth) => truth.to_string(),
        Node::Integer(value) => value.to_string(),
        Node::Double(value) => value.to_string(),
        Node::List(list) => {
            let all: Vec<String> = list.iter().map(|element| shown(element, shape.element())).collect();
            format!("[{}]", all.join(", "))
        }
        Node::Map(map) => {
            let all: Vec<String> =
                map.iter().map(|(k, v)| format!("{k}={}", shown(v, shape.element()))).collect();
            format!("{{{}}}", all.join(", "))
        }
        Node::Structure(members) => {
            let Kind::Structure(known) = &shape.kind else { return String::new() };
            let one = |member: &super::model::Member| {
                members
                    .get(member.name)
                    .map(|v| format!("{}={}", lower_camel(member.name), shown(v, member.shape())))
            };
            let all: Vec<String> = known.iter().filter_map(one).collect();
            format!("{}({})", shape.name.trim_start_matches("Table"), all.join(", "))
        }
        Node::Value(_) => "AttributeValue".to_string(),
        Node::Attributes(map) => {
            let all: Vec<String> = map.iter().map(|(k, _)| format!("{k}=AttributeValue")).collect();
            format!("{{{}}}", all.join(", "))
        }
    }
}
