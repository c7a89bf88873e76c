//! JSON read by a shape: a tree whose types are right, or the service's sentence for the first that is not.

use super::model::{Kind, Shape};
use super::value::{self, ReadValue};
use crate::error::{ApiError, ErrorName};
use crate::json::{Kind as Json, Malformed, Reader, well_formed};
use std::borrow::Cow;

/// Strings, numbers and values of one request, lists included: memory is bounded by this and the body's length.
const NODES_MAX: usize = 1_000_000;

/// Why a body cannot be read.
#[derive(Debug)]
pub enum Fault {
    Malformed,
    Type(String),
}

impl From<Malformed> for Fault {
    fn from(_: Malformed) -> Fault {
        Fault::Malformed
    }
}

pub(super) type Read<T> = Result<T, Fault>;

/// A request's member of any shape.
#[derive(Clone, Debug)]
pub enum Node<'a> {
    Text(Cow<'a, str>),
    Boolean(bool),
    Integer(i64),
    Double(f64),
    Value(ReadValue),
    Attributes(Vec<(Cow<'a, str>, ReadValue)>),
    List(Vec<Node<'a>>),
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
    Structure(Members<'a>),
}

/// The members of a structure that are there.
#[derive(Clone, Debug, Default)]
pub struct Members<'a> {
    members: Vec<(&'static str, Node<'a>)>,
}

impl<'a> Members<'a> {
    pub fn get(&self, name: &str) -> Option<&Node<'a>> {
        debug_assert!(name.starts_with(|c: char| c.is_ascii_uppercase()));
        self.members.iter().find(|(known, _)| *known == name).map(|(_, node)| node)
    }

    pub fn take(&mut self, name: &str) -> Option<Node<'a>> {
        let at = self.members.iter().position(|(known, _)| *known == name)?;
        Some(self.members.swap_remove(at).1)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Node::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn take_text(&mut self, name: &str) -> Option<String> {
        match self.take(name) {
            Some(Node::Text(text)) => Some(text.into_owned()),
            _ => None,
        }
    }

    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Some(Node::Boolean(truth)) => Some(*truth),
            _ => None,
        }
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Node::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    pub fn double(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Node::Double(value)) => Some(*value),
            _ => None,
        }
    }

    pub fn structure(&self, name: &str) -> Option<&Members<'a>> {
        match self.get(name) {
            Some(Node::Structure(members)) => Some(members),
            _ => None,
        }
    }

    pub fn list(&self, name: &str) -> Option<&[Node<'a>]> {
        match self.get(name) {
            Some(Node::List(list)) => Some(list),
            _ => None,
        }
    }

    pub fn take_list(&mut self, name: &str) -> Option<Vec<Node<'a>>> {
        match self.take(name) {
            Some(Node::List(list)) => Some(list),
            _ => None,
        }
    }

    pub fn take_map(&mut self, name: &str) -> Option<Vec<(Cow<'a, str>, Node<'a>)>> {
        match self.take(name) {
            Some(Node::Map(map)) => Some(map),
            _ => None,
        }
    }

    pub fn take_attributes(&mut self, name: &str) -> Option<Vec<(Cow<'a, str>, ReadValue)>> {
        match self.take(name) {
            Some(Node::Attributes(map)) => Some(map),
            _ => None,
        }
    }

    pub fn attributes(&self, name: &str) -> Option<&[(Cow<'a, str>, ReadValue)]> {
        match self.get(name) {
            Some(Node::Attributes(map)) => Some(map),
            _ => None,
        }
    }
}

/// Reads a request's body.
pub fn read_body<'a>(body: &'a [u8], shape: &'static Shape) -> Result<Members<'a>, ApiError> {
    let read = || -> Read<Members<'a>> {
        let mut reader = Reader::new(body)?;
        let mut budget = NODES_MAX;
        let node = node(&mut reader, shape, false, &mut budget)?;
        reader.end()?;
        match node {
            Node::Structure(members) => Ok(members),
            _ => Err(Fault::Malformed),
        }
    };
    read().map_err(|fault| match fault {
        // A type that is wrong counts only if all of the text is JSON.
        Fault::Type(message) if well_formed(body) => ApiError::new(ErrorName::Serialization, message),
        _ => ApiError::bare(ErrorName::Serialization),
    })
}

fn node<'a>(
    reader: &mut Reader<'a>,
    shape: &'static Shape,
    within: bool,
    budget: &mut usize,
) -> Read<Node<'a>> {
    *budget = budget.checked_sub(1).ok_or(Fault::Malformed)?;
    Ok(match &shape.kind {
        Kind::Structure(_) => Node::Structure(structure(reader, shape, within, budget)?),
        Kind::List { .. } => {
            value::open_list(reader)?;
            let mut list = Vec::new();
            let mut first = true;
            while reader.element(first)? {
                first = false;
                if reader.peek()? == Json::Null {
                    reader.literal(Json::Null)?;
                    continue;
                }
                list.push(node(reader, shape.element(), true, budget)?);
            }
            Node::List(list)
        }
        Kind::Map { .. } => {
            value::open_map(reader, shape.element().name)?;
            let mut map: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
            let mut first = true;
            while let Some(key) = reader.key(first)? {
                first = false;
                if reader.peek()? == Json::Null {
                    reader.literal(Json::Null)?;
                    continue;
                }
                map.push((key, node(reader, shape.element(), true, budget)?));
            }
            Node::Map(value::last_of_each(map))
        }
        Kind::Attributes => Node::Attributes(value::attributes(reader, 0)?),
        Kind::Value => Node::Value(value::value(reader, 0, within)?),
        Kind::Text { .. } => Node::Text(text(reader)?),
        Kind::Boolean => Node::Boolean(value::boolean(reader)?),
        Kind::Integer { .. } => {
            Node::Integer(number(reader, "Integer")?.clamp(i32::MIN.into(), i32::MAX.into()) as i64)
        }
        Kind::Long { .. } => Node::Integer(number(reader, "Long")? as i64),
        Kind::Double | Kind::Timestamp => Node::Double(number(reader, "Double")?),
    })
}

fn structure<'a>(
    reader: &mut Reader<'a>,
    shape: &'static Shape,
    within: bool,
    budget: &mut usize,
) -> Read<Members<'a>> {
    let Kind::Structure(known) = &shape.kind else { return Err(Fault::Malformed) };
    match reader.peek()? {
        Json::Object => reader.open_object()?,
        found => return Err(struct_fault(found, shape.name, within)),
    }
    let mut members: Vec<(&'static str, Node<'a>)> = Vec::new();
    let mut first = true;
    while let Some(key) = reader.key(first)? {
        first = false;
        let Some(member) = known.iter().find(|member| member.name == key) else {
            reader.skip()?;
            continue;
        };
        // A later member of the same name takes the place of an earlier one, even if it is null.
        members.retain(|(name, _)| *name != member.name);
        if reader.peek()? == Json::Null {
            reader.literal(Json::Null)?;
            continue;
        }
        members.push((member.name, node(reader, member.shape(), false, budget)?));
    }
    Ok(Members { members })
}

pub(super) fn struct_fault(found: Json, shape: &str, within: bool) -> Fault {
    Fault::Type(match found {
        Json::Array => format!("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.{shape}"),
        _ if within => "Unexpected value type in payload".to_string(),
        _ => "Unexpected field type".to_string(),
    })
}

/// The sentence for JSON of another kind where a scalar of Java's type `wanted` should be.
pub(super) fn scalar_fault(reader: &mut Reader<'_>, found: Json, wanted: &str) -> Read<Fault> {
    let what = match found {
        Json::Array => {
            return Ok(Fault::Type(format!("Unrecognized collection type class java.lang.{wanted}")));
        }
        Json::Object => return Ok(Fault::Type("Start of structure or map found where not expected".into())),
        Json::Number if reader.number()?.contains(['.', 'e', 'E']) => "DECIMAL_VALUE",
        Json::Number => "NUMBER_VALUE",
        Json::True => "TRUE_VALUE",
        Json::False => "FALSE_VALUE",
        Json::String => "STRING_VALUE",
        Json::Null => "NULL_VALUE",
    };
    Ok(Fault::Type(format!("{what} cannot be converted to {wanted}")))
}

pub(super) fn text<'a>(reader: &mut Reader<'a>) -> Read<Cow<'a, str>> {
    match reader.peek()? {
        Json::String => Ok(reader.string()?),
        found => Err(scalar_fault(reader, found, "String")?),
    }
}

/// Fractions are cut off and too large ones saturate where the caller makes a whole number of it.
fn number(reader: &mut Reader<'_>, wanted: &str) -> Read<f64> {
    match reader.peek()? {
        Json::Number => Ok(reader.number()?.parse().unwrap_or(0.0)),
        found => Err(scalar_fault(reader, found, wanted)?),
    }
}
